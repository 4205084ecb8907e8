/**
 * Lines of the view that are made anew in every frame: trails of bodies, boxes around them, and boxes that turn as they do. Loaded when they are first shown.
 *
 * @import {BodyMass} from "./masses.js"
 * @import {Scene} from "./types.js"
 */
import * as THREE from "three";
import { fromWxyz } from "./decode.js";
import { MAX_MOMENTS } from "./timeline.js";
import { halfExtents, localPose } from "./shapes.js";

/** Bodies with a trail, where nothing is selected: more would hide the scene. */
const MAX_BODIES = 24;
/** Boxes that are drawn. */
const MAX_BOXES = 1000;

/** A buffer of line segments that grows to what was asked of it. */
class Segments {
  /** @param {string} color @param {number} most segments @param {number} opacity */
  constructor(color, most, opacity) {
    const geometry = new THREE.BufferGeometry();
    this.position = new THREE.BufferAttribute(new Float32Array(6 * most), 3).setUsage(THREE.DynamicDrawUsage);
    geometry.setAttribute("position", this.position);
    this.lines = new THREE.LineSegments(geometry, new THREE.LineBasicMaterial({ color, transparent: true, opacity, toneMapped: false }));
    this.lines.frustumCulled = false;
    this.lines.renderOrder = 6;
    this.count = 0;
  }

  clear() {
    this.count = 0;
  }

  /** @param {ArrayLike<number>} a @param {ArrayLike<number>} b points in W */
  add(a, b) {
    const out = /** @type {Float32Array} */ (this.position.array);
    if (6 * this.count + 6 > out.length) return;
    for (let k = 0; k < 3; k += 1) {
      out[6 * this.count + k] = a[k];
      out[6 * this.count + 3 + k] = b[k];
    }
    this.count += 1;
  }

  commit() {
    this.lines.geometry.setDrawRange(0, 2 * this.count);
    this.lines.visible = this.count > 0;
    this.position.needsUpdate = true;
  }

  dispose() {
    this.lines.geometry.dispose();
    /** @type {THREE.Material} */ (this.lines.material).dispose();
  }
}

export class Tracks {
  /** @param {Scene} scene @param {import("./bodies.js").Part[]} parts @param {import("./timeline.js").Moments} memory */
  constructor(scene, parts, memory) {
    this.memory = memory;
    this.trails = new Segments("#7dd87d", MAX_BODIES * MAX_MOMENTS, 0.85);
    this.boxes = new Segments("#8fb0cc", 12 * MAX_BOXES, 0.7);
    this.root = new THREE.Group();
    this.inertias = new Segments("#ff9e7a", 12 * MAX_BOXES, 0.9);
    this.root.add(this.trails.lines, this.boxes.lines, this.inertias.lines);
    this.moving = scene.bodies.flatMap((body, i) => (body.type === "static" ? [] : [i]));
    this.halves = halvesOf(parts);
  }

  /**
   * @param {Float32Array} poses @param {number} time s
   * @param {{trails: boolean, boxes: boolean, masses: (BodyMass | null)[] | null, selected: number}} shown masses: whose boxes of inertia are shown; selected: body, -1 for none
   */
  update(poses, time, { trails, boxes, masses, selected }) {
    this.trails.clear();
    this.boxes.clear();
    if (trails) this.addTrails(selected >= 0 ? [selected] : this.moving.slice(0, MAX_BODIES), time);
    if (boxes) this.addBoxes(poses);
    this.inertias.clear();
    masses?.forEach((mass, body) => { if (mass) this.addInertia(poses, body, mass); });
    this.trails.commit();
    this.boxes.commit();
    this.inertias.commit();
  }

  /** @param {number[]} bodies @param {number} until s */
  addTrails(bodies, until) {
    const { moments } = this.memory;
    for (let i = 1; i < moments.length && moments[i].time <= until + 1e-9; i += 1) {
      const [a, b] = [moments[i - 1].points, moments[i].points];
      for (const body of bodies) this.trails.add(a.subarray(3 * body, 3 * body + 3), b.subarray(3 * body, 3 * body + 3));
    }
  }

  /** The smallest boxes along the axes of W. @param {Float32Array} poses */
  addBoxes(poses) {
    const [axis, q] = [new THREE.Vector3(), new THREE.Quaternion()];
    for (const { body, center, half } of this.halves) {
      const at = 7 * body;
      q.set(poses[at + 3], poses[at + 4], poses[at + 5], poses[at + 6]);
      const reach = new THREE.Vector3();
      [[half.x, 0, 0], [0, half.y, 0], [0, 0, half.z]].forEach(([x, y, z]) => {
        axis.set(x, y, z).applyQuaternion(q);
        reach.add(axis.set(Math.abs(axis.x), Math.abs(axis.y), Math.abs(axis.z)));
      });
      const middle = center.clone().applyQuaternion(q).add({ x: poses[at], y: poses[at + 1], z: poses[at + 2] });
      addEdges(this.boxes, (signs) => signs.multiply(reach).add(middle));
    }
  }

  /** The solid box of the same mass and inertia, along the principal axes. @param {Float32Array} poses @param {number} body @param {BodyMass} mass */
  addInertia(poses, body, { center_of_mass: center, principal_axes: axes, box }) {
    const at = 7 * body;
    const turned = new THREE.Quaternion().fromArray(poses, at + 3);
    const middle = new THREE.Vector3(...center).applyQuaternion(turned).add({ x: poses[at], y: poses[at + 1], z: poses[at + 2] });
    turned.multiply(new THREE.Quaternion(...fromWxyz(axes)));
    const half = new THREE.Vector3(...box).multiplyScalar(0.5);
    addEdges(this.inertias, (signs) => signs.multiply(half).applyQuaternion(turned).add(middle));
  }

  dispose() {
    this.trails.dispose();
    this.boxes.dispose();
    this.inertias.dispose();
  }
}

/** The twelve edges of a box. @param {Segments} lines @param {(signs: THREE.Vector3) => THREE.Vector3} corner of the signs of its three coordinates */
function addEdges(lines, corner) {
  const corners = Array.from({ length: 8 }, (_, k) => corner(new THREE.Vector3(k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1)).toArray());
  for (let k = 0; k < 8; k += 1) {
    for (const bit of [1, 2, 4]) if (!(k & bit)) lines.add(corners[k], corners[k | bit]);
  }
}

/** One box per body, in its own axes. @param {import("./bodies.js").Part[]} parts */
function halvesOf(parts) {
  /** @type {Map<number, THREE.Box3>} */
  const boxes = new Map();
  for (const { body, shape } of parts) {
    const half = halfExtents(shape);
    if (!half) continue;
    const { p, q } = localPose(shape);
    const box = new THREE.Box3(new THREE.Vector3(...half).negate(), new THREE.Vector3(...half)).applyMatrix4(new THREE.Matrix4().compose(p, q, new THREE.Vector3(1, 1, 1)));
    boxes.set(body, box.union(boxes.get(body) ?? box));
  }
  return [...boxes].map(([body, box]) => ({ body, center: box.getCenter(new THREE.Vector3()), half: box.getSize(new THREE.Vector3()).multiplyScalar(0.5) }));
}
