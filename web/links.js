/**
 * Thin rods between a joint and its bodies where the anchor lies outside of their shapes: the strings
 * of a cradle, the stem of a top; and the rods and cables of distance joints, on wheels from tangent to tangent.
 * Pictures only; they weigh nothing and touch nothing.
 *
 * @import {Scene} from "./types.js"
 */
import * as THREE from "three";
import { straightPart } from "./cables.js";
import { bothPresent, jointFrames, toWorld, turned } from "./frames.js";
import { halfExtents, localPose, massOf } from "./shapes.js";

const Z = new THREE.Vector3(0, 0, 1);
/** Room around a shape that still counts as inside, over its size. */
const MARGIN = 1.05;

/** @typedef {{body: number, anchor: THREE.Vector3, center: THREE.Vector3, parent: number, child: number}} Link both points in the body; of a joint between parent and child */

export class Links {
  /** @param {Scene} scene @param {number} size m */
  constructor(scene, size) {
    this.links = findLinks(scene);
    // what may break is drawn by no rod that would stay
    this.lines = jointFrames(scene, (scene.joints ?? []).filter((joint) => joint.type === "distance" && joint.breaking_force == null));
    const count = this.links.length + this.lines.length;
    const geometry = new THREE.CylinderGeometry(1, 1, 1, 8, 1, true).rotateX(Math.PI / 2);
    this.root = new THREE.InstancedMesh(geometry, new THREE.MeshStandardMaterial({ color: "#a9b4bd", roughness: 0.5 }), Math.max(1, count));
    this.root.castShadow = true;
    this.root.frustumCulled = false;
    this.width = size * 0.0022;
    this.matrix = new THREE.Matrix4();
    this.q = new THREE.Quaternion();
  }

  /** Rods of joints whose bodies are both present. @param {Float32Array} poses */
  setPoses(poses) {
    const links = this.links.filter((link) => bothPresent(link, poses));
    const lines = this.lines.filter((joint) => bothPresent(joint, poses));
    links.forEach(({ body, anchor, center }, i) => this.place(i, toWorld(poses, body, anchor), toWorld(poses, body, center)));
    lines.forEach((joint, i) => this.place(links.length + i, ...lineOf(joint, poses)));
    this.root.count = links.length + lines.length;
    this.root.visible = this.root.count > 0;
    this.root.instanceMatrix.needsUpdate = true;
  }

  /** @param {number} i @param {THREE.Vector3} a @param {THREE.Vector3} b ends in W */
  place(i, a, b) {
    const along = b.sub(a);
    const length = along.length() || 1e-9;
    this.q.setFromUnitVectors(Z, along.clone().divideScalar(length));
    this.matrix.compose(a.addScaledVector(along, 0.5), this.q, new THREE.Vector3(this.width, this.width, length));
    this.root.setMatrixAt(i, this.matrix);
  }

  dispose() {
    this.root.geometry.dispose();
    /** @type {THREE.Material} */ (this.root.material).dispose();
    this.root.dispose();
  }
}

/** The line of a distance joint. @param {import("./frames.js").JointFrame} joint @param {Float32Array} poses @returns {[THREE.Vector3, THREE.Vector3]} ends in W */
function lineOf({ parent, child, anchor, anchorInChild, wheels }, poses) {
  const [first, second] = wheels.map((wheel, k) => wheel && { radius: wheel.radius, axis: turned(poses, k ? child : parent, wheel.axis).toArray() });
  const [a, b] = straightPart(toWorld(poses, parent, anchor).toArray(), toWorld(poses, child, anchorInChild).toArray(), first, second);
  return [new THREE.Vector3(...a), new THREE.Vector3(...b)];
}

/** @param {Scene} scene @returns {Link[]} */
function findLinks(scene) {
  /** @type {Link[]} */
  const links = [];
  for (const frame of jointFrames(scene, (scene.joints ?? []).filter(({ anchor }) => anchor))) {
    for (const [body, anchor] of /** @type {const} */ ([[frame.parent, frame.anchor], [frame.child, frame.anchorInChild]])) {
      if (body < 0 || !scene.bodies[body].shapes?.length || scene.bodies[body].visuals?.length || scene.bodies[body].type === "static") continue;
      if (!inside(scene.bodies[body], anchor)) links.push({ body, anchor, center: massOf(scene.bodies[body]).center, parent: frame.parent, child: frame.child });
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
