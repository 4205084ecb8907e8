/**
 * Thin rods between a joint and its bodies where the anchor lies outside of their shapes: the strings
 * of a cradle, the stem of a top. Pictures only; they weigh nothing and touch nothing.
 *
 * @import {Scene} from "./types.js"
 */
import * as THREE from "three";
import { jointFrame, toWorld } from "./frames.js";
import { halfExtents, localPose, massOf } from "./shapes.js";

const Z = new THREE.Vector3(0, 0, 1);
/** Room around a shape that still counts as inside, over its size. */
const MARGIN = 1.05;

/** @typedef {{body: number, anchor: THREE.Vector3, center: THREE.Vector3}} Link both points in the body */

export class Links {
  /** @param {Scene} scene @param {number} size m */
  constructor(scene, size) {
    this.links = findLinks(scene);
    const geometry = new THREE.CylinderGeometry(1, 1, 1, 8, 1, true).rotateX(Math.PI / 2);
    this.root = new THREE.InstancedMesh(geometry, new THREE.MeshStandardMaterial({ color: "#a9b4bd", roughness: 0.5 }), Math.max(1, this.links.length));
    this.root.count = this.links.length;
    this.root.visible = this.links.length > 0;
    this.root.castShadow = true;
    this.root.frustumCulled = false;
    this.width = size * 0.0022;
    this.matrix = new THREE.Matrix4();
    this.q = new THREE.Quaternion();
  }

  /** @param {Float32Array} poses */
  setPoses(poses) {
    this.links.forEach(({ body, anchor, center }, i) => {
      const a = toWorld(poses, body, anchor);
      const along = toWorld(poses, body, center).sub(a);
      const length = along.length() || 1e-9;
      this.q.setFromUnitVectors(Z, along.clone().divideScalar(length));
      this.matrix.compose(a.addScaledVector(along, 0.5), this.q, new THREE.Vector3(this.width, this.width, length));
      this.root.setMatrixAt(i, this.matrix);
    });
    this.root.instanceMatrix.needsUpdate = true;
  }

  dispose() {
    this.root.geometry.dispose();
    /** @type {THREE.Material} */ (this.root.material).dispose();
    this.root.dispose();
  }
}

/** @param {Scene} scene @returns {Link[]} */
function findLinks(scene) {
  /** @type {Link[]} */
  const links = [];
  for (const joint of scene.joints ?? []) {
    if (!joint.anchor) continue;
    const frame = jointFrame(joint, scene);
    for (const [body, anchor] of /** @type {const} */ ([[frame.parent, frame.anchor], [frame.child, frame.anchorInChild]])) {
      if (body < 0 || !scene.bodies[body].shapes?.length || scene.bodies[body].visuals?.length || scene.bodies[body].type === "static") continue;
      if (!inside(scene.bodies[body], anchor)) links.push({ body, anchor, center: massOf(scene.bodies[body]).center });
    }
  }
  return links;
}

/** @param {import("./types.js").Body} body @param {THREE.Vector3} point in the body */
function inside(body, point) {
  return (body.shapes ?? []).some((shape) => {
    const half = halfExtents(shape);
    if (!half) return true;
    const { p, q } = localPose(shape);
    const local = point.clone().sub(p).applyQuaternion(q.invert());
    return [local.x, local.y, local.z].every((value, k) => Math.abs(value) <= half[k] * MARGIN + 1e-9);
  });
}
