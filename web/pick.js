/**
 * Which body is under the pointer: the ray against each shape, in the frame of the shape. Written for
 * the shapes themselves because instanced parts are stretched on the graphics card (see geometry.js).
 *
 * @import {Part} from "./bodies.js"
 */
import * as THREE from "three";
import { individual } from "./geometry.js";
import { halfExtents } from "./shapes.js";

/** @type {WeakMap<object, THREE.Mesh>} hulls and meshes, built when first aimed at */
const solids = new WeakMap();

/**
 * @param {THREE.Ray} ray in W
 * @param {Part[]} parts
 * @param {Float32Array} poses 7 per body
 * @returns {{body: number, point: THREE.Vector3} | null} point in W
 */
export function pick(ray, parts, poses) {
  let nearest = Infinity;
  let body = -1;
  const [p, q, inverse] = [new THREE.Vector3(), new THREE.Quaternion(), new THREE.Quaternion()];
  const local = new THREE.Ray();
  for (const part of parts) {
    const at = 7 * part.body;
    q.set(poses[at + 3], poses[at + 4], poses[at + 5], poses[at + 6]);
    p.copy(part.p).applyQuaternion(q).add({ x: poses[at], y: poses[at + 1], z: poses[at + 2] });
    inverse.copy(q).multiply(part.q).invert();
    local.origin.copy(ray.origin).sub(p).applyQuaternion(inverse);
    local.direction.copy(ray.direction).applyQuaternion(inverse);
    const distance = distanceTo(local, part);
    if (distance < nearest) [nearest, body] = [distance, part.body];
  }
  return body < 0 ? null : { body, point: ray.at(nearest, new THREE.Vector3()) };
}

/** @param {THREE.Ray} ray in the frame of the shape @param {Part} part @returns {number} m, Infinity when missed */
function distanceTo(ray, { shape }) {
  const half = halfExtents(shape);
  if (!half) return Infinity;
  const box = slab(ray, half);
  if (box === Infinity) return Infinity;
  const radius = shape.radius ?? 0;
  switch (shape.type) {
    case "sphere": case "ellipsoid": return ellipsoid(ray, half, 0);
    case "capsule": {
      const l = (shape.length ?? 0) / 2;
      const side = tube(ray, radius, l);
      return Math.min(side, ellipsoid(ray, [radius, radius, radius], l), ellipsoid(ray, [radius, radius, radius], -l));
    }
    case "cylinder": return Math.min(tube(ray, radius, half[2]), disc(ray, radius, half[2]), disc(ray, radius, -half[2]));
    case "box": return box;
    case "tube": case "ring": case "bowl": case "cone": case "convex": case "mesh": case "heightfield": return solid(ray, shape);
    default: return box;
  }
}

/** @param {THREE.Ray} ray @param {number[]} half */
function slab({ origin, direction }, half) {
  let [enter, leave] = [-Infinity, Infinity];
  [origin.x, origin.y, origin.z].forEach((o, k) => {
    const d = direction.getComponent(k) || 1e-12;
    const [a, b] = [(-half[k] - o) / d, (half[k] - o) / d];
    enter = Math.max(enter, Math.min(a, b));
    leave = Math.min(leave, Math.max(a, b));
  });
  return leave >= Math.max(enter, 0) ? Math.max(enter, 0) : Infinity;
}

/** Smaller non-negative root of a t^2 + 2 b t + c. @param {number} a @param {number} b @param {number} c */
function root(a, b, c) {
  const d = b * b - a * c;
  if (d < 0 || a < 1e-15) return Infinity;
  const t = (-b - Math.sqrt(d)) / a;
  return t >= 0 ? t : Infinity;
}

/** @param {THREE.Ray} ray @param {number[]} radii @param {number} z of the middle */
function ellipsoid({ origin, direction }, radii, z) {
  const o = [origin.x / radii[0], origin.y / radii[1], (origin.z - z) / radii[2]];
  const d = [direction.x / radii[0], direction.y / radii[1], direction.z / radii[2]];
  return root(dot(d, d), dot(o, d), dot(o, o) - 1);
}

/** Side of a cylinder. @param {THREE.Ray} ray @param {number} radius @param {number} half */
function tube({ origin, direction }, radius, half) {
  const a = direction.x ** 2 + direction.y ** 2;
  const t = root(a, origin.x * direction.x + origin.y * direction.y, origin.x ** 2 + origin.y ** 2 - radius ** 2);
  return Math.abs(origin.z + t * direction.z) <= half ? t : Infinity;
}

/** @param {THREE.Ray} ray @param {number} radius @param {number} z */
function disc({ origin, direction }, radius, z) {
  const t = (z - origin.z) / (direction.z || 1e-12);
  return t >= 0 && Math.hypot(origin.x + t * direction.x, origin.y + t * direction.y) <= radius ? t : Infinity;
}

/** @param {THREE.Ray} ray @param {import("./types.js").Shape} shape */
function solid(ray, shape) {
  let mesh = solids.get(shape);
  if (!mesh) {
    const geometry = shape.type === "cone"
      ? new THREE.ConeGeometry(shape.radius, shape.length, 24).rotateX(Math.PI / 2) : individual(shape);
    mesh = new THREE.Mesh(geometry, new THREE.MeshBasicMaterial({ side: THREE.DoubleSide }));
    solids.set(shape, mesh);
  }
  const hit = new THREE.Raycaster(ray.origin, ray.direction).intersectObject(mesh)[0];
  return hit ? hit.distance : Infinity;
}

/** @param {number[]} a @param {number[]} b */
function dot(a, b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
