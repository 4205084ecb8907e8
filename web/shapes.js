/**
 * What the page computes from a scene document: poses of shapes and planes, volumes, centres of mass,
 * extents. Quaternions are [x, y, z, w] here.
 *
 * @import {Body, Scene, Shape, Vec3} from "./types.js"
 */
import * as THREE from "three";
import { fromWxyz } from "./decode.js";
import { individual } from "./geometry.js";

/** Nothing is drawn as if it were smaller [m]. */
const SMALLEST = 1e-6;
/** Room about what has no extent [m]. */
const ROOM = 1;
/** A plane counts as floor up to this angle from the horizontal. */
const FLOOR_ANGLE = THREE.MathUtils.degToRad(60);
const UP = new THREE.Vector3(0, 0, 1);
/** Floors that are farther below than so many times the size of a scene are out of its view. */
const FARTHEST_FLOOR = 30;

/** @param {Shape} shape @returns {{p: THREE.Vector3, q: THREE.Quaternion}} pose of the shape in its body */
export function localPose(shape) {
  return { p: new THREE.Vector3(...(shape.position ?? [0, 0, 0])), q: new THREE.Quaternion(...fromWxyz(shape.orientation)) };
}

/** Shapes that no visual stands for. */
const ENDLESS = ["plane", "heightfield"];

/** @param {Shape} shape */
export function isEndless({ type }) {
  return ENDLESS.includes(type);
}

/**
 * What is seen of a body: its visuals, those of a mesh with vertices and faces, or its shapes where it has none.
 * @param {Body} body @param {Scene} scene @returns {Shape[]}
 */
export function seenOf({ shapes = [], visuals = [] }, { meshes = {} }) {
  if (!visuals.length) return shapes;
  return [...shapes.filter(isEndless), ...visuals.map((visual) => ({ ...(visual.mesh ? meshes[visual.mesh] : {}), ...visual }))];
}

/** @param {Body} body @returns {{p: THREE.Vector3, q: THREE.Quaternion}} where the body starts, in W */
export function startPose(body) {
  return { p: new THREE.Vector3(...(body.position ?? [0, 0, 0])), q: new THREE.Quaternion(...fromWxyz(body.orientation)) };
}

/** @param {Shape} shape a plane @returns {{p: THREE.Vector3, q: THREE.Quaternion}} its surface in the body, normal along z */
function planePose(shape) {
  const { p, q } = localPose(shape);
  const normal = new THREE.Vector3(...(shape.normal ?? [0, 0, 1])).normalize();
  const turn = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), normal);
  p.add(normal.clone().multiplyScalar(shape.offset ?? 0).applyQuaternion(q));
  return { p, q: q.clone().multiply(turn) };
}

/** @type {WeakMap<object, Vec3>} half extents of what has many points */
const extents = new WeakMap();

/**
 * Half extents of the smallest box about the shape's origin, in its own axes; null for a plane.
 * @param {Shape} shape
 * @returns {Vec3 | null}
 */
export function halfExtents(shape) {
  const r = shape.radius ?? 0;
  const l = shape.length ?? 0;
  switch (shape.type) {
    case "sphere": return [r, r, r];
    case "box": return /** @type {Vec3} */ ((shape.size ?? [1, 1, 1]).map((edge) => edge / 2));
    case "capsule": return [r, r, l / 2 + r];
    case "cylinder": case "cone": return [r, r, l / 2];
    case "ellipsoid": return shape.radii ?? [1, 1, 1];
    case "tube": return [shape.outer_radius ?? 1, shape.outer_radius ?? 1, l / 2];
    case "bowl": return [shape.outer_radius ?? 1, shape.outer_radius ?? 1, shape.outer_radius ?? 1];
    case "ring": {
      const [major, minor] = [shape.major_radius ?? 1, shape.minor_radius ?? 1];
      return [major + minor, major + minor, minor];
    }
    case "plane": return null;
    default: {
      const known = extents.get(shape.vertices ?? shape);
      if (known) return known;
      const points = shape.points ?? shape.vertices ?? (shape.heights ?? []).flat().map((z) => [(shape.size ?? [1])[0] / 2, (shape.size ?? [1, 1])[1] / 2, z]);
      const half = /** @type {Vec3} */ ([0, 1, 2].map((k) => points.reduce((most, p) => Math.max(most, Math.abs(p[k])), 0)));
      extents.set(shape.vertices ?? shape, half);
      return half;
    }
  }
}

/** @param {Shape} shape @returns {{volume: number, centroid: THREE.Vector3}} m3 and m, in the frame of the shape */
function volumeOf(shape) {
  const r = shape.radius ?? 0;
  const l = shape.length ?? 0;
  const centroid = new THREE.Vector3();
  switch (shape.type) {
    case "sphere": return { volume: (4 / 3) * Math.PI * r ** 3, centroid };
    case "box": return { volume: (shape.size ?? [0, 0, 0]).reduce((a, b) => a * b, 1), centroid };
    case "capsule": return { volume: Math.PI * r * r * (l + (4 / 3) * r), centroid };
    case "cylinder": return { volume: Math.PI * r * r * l, centroid };
    case "cone": return { volume: (Math.PI * r * r * l) / 3, centroid: centroid.set(0, 0, -l / 4) };
    case "ellipsoid": return { volume: (4 / 3) * Math.PI * (shape.radii ?? [0, 0, 0]).reduce((a, b) => a * b, 1), centroid };
    case "convex": case "mesh": case "tube": case "ring": case "bowl": return polyhedron(individual(shape));
    default: return { volume: 0, centroid };
  }
}

/** Sum of the tetrahedra between the origin and each triangle. @param {THREE.BufferGeometry} geometry */
function polyhedron(geometry) {
  const position = geometry.getAttribute("position");
  const [a, b, c, centroid] = [0, 1, 2, 3].map(() => new THREE.Vector3());
  let volume = 0;
  for (let i = 0; i + 2 < position.count; i += 3) {
    [a, b, c].forEach((corner, k) => corner.fromBufferAttribute(position, i + k));
    const part = a.dot(new THREE.Vector3().crossVectors(b, c)) / 6;
    volume += part;
    centroid.addScaledVector(a.add(b).add(c), part / 4);
  }
  geometry.dispose();
  return { volume, centroid: volume ? centroid.divideScalar(volume) : centroid };
}

/** The kinds of shapes of a body, each once. @param {Body} body @returns {string} */
export function shapeWords({ shapes = [] }) {
  const kinds = [...new Set(shapes.map(({ type }) => type))];
  const count = (/** @type {string} */ kind) => shapes.filter(({ type }) => type === kind).length;
  return kinds.map((kind) => (count(kind) > 1 ? `${count(kind)} × ${kind}` : kind)).join(", ");
}

/**
 * @param {Body} body
 * @returns {{mass: number | null, center: THREE.Vector3}} kg (null: static) and the centre of mass in the body
 */
export function massOf(body) {
  let volume = 0;
  const center = new THREE.Vector3();
  for (const shape of body.shapes ?? []) {
    const part = volumeOf(shape);
    const { p, q } = localPose(shape);
    volume += part.volume;
    center.addScaledVector(part.centroid.applyQuaternion(q).add(p), part.volume);
  }
  if (volume > 0) center.divideScalar(volume);
  if (body.inertia) center.set(0, 0, 0);
  if (body.center_of_mass) center.set(...body.center_of_mass);
  if (body.type === "static") return { mass: null, center };
  return { mass: body.mass ?? (body.density != null ? body.density * volume : null), center };
}

/** @param {Body} body @param {Shape[]} shapes of it @param {THREE.Box3} bounds grows by those that are no planes, at the start */
function addShapes(body, shapes, bounds) {
  const pose = startPose(body);
  for (const shape of shapes) {
    const half = halfExtents(shape);
    if (!half) continue;
    const { p, q } = localPose(shape);
    const matrix = new THREE.Matrix4().compose(pose.p, pose.q, new THREE.Vector3(1, 1, 1))
      .multiply(new THREE.Matrix4().compose(p, q, new THREE.Vector3(1, 1, 1)));
    bounds.union(new THREE.Box3(new THREE.Vector3(...half).negate(), new THREE.Vector3(...half)).applyMatrix4(matrix));
  }
}

/** Where a ground is below all shapes. @param {Scene} scene @returns {number} m, not above zero */
export function lowest(scene) {
  const bounds = new THREE.Box3();
  for (const body of scene.bodies ?? []) addShapes(body, body.shapes ?? [], bounds);
  return Math.min(0, bounds.isEmpty() ? 0 : bounds.min.z);
}

/** Whether nothing of its bodies is seen. @param {Scene} scene */
export function isBare(scene) {
  return !scene.bodies.some((body) => seenOf(body, scene).length);
}

/** @param {THREE.Box3} bounds @returns {number} m, from corner to corner */
export function sizeOf(bounds) {
  return Math.max(SMALLEST, bounds.getSize(new THREE.Vector3()).length());
}

/**
 * @param {Scene} scene
 * @returns {{body: number, p: THREE.Vector3, q: THREE.Quaternion, isFloor: boolean}[]} the planes at the start; normals along z
 */
export function planesOf(scene) {
  return scene.bodies.flatMap((body, number) => {
    const pose = startPose(body);
    return (body.shapes ?? []).filter(({ type }) => type === "plane").map((shape) => {
      const plane = planePose(shape);
      const q = pose.q.clone().multiply(plane.q);
      return { body: number, p: plane.p.applyQuaternion(pose.q).add(pose.p), q, isFloor: UP.clone().applyQuaternion(q).angleTo(UP) < FLOOR_ANGLE };
    });
  });
}

/** @param {Scene} scene @returns {THREE.Box3} of everything that is not a plane, at the start, joint anchors included */
export function startBounds(scene) {
  const bounds = new THREE.Box3();
  for (const body of scene.bodies) addShapes(body, seenOf(body, scene), bounds);
  for (const joint of scene.joints ?? []) {
    if (joint.anchor && joint.frame !== "parent") bounds.expandByPoint(new THREE.Vector3(...joint.anchor));
  }
  // what has no shape is seen by its marks
  if (bounds.isEmpty()) for (const body of scene.bodies) bounds.expandByPoint(startPose(body).p);
  expandBySwing(scene, bounds);
  if (bounds.min.equals(bounds.max)) bounds.expandByScalar(ROOM);
  expandToFloors(scene, bounds);
  return bounds;
}

/** What flies farther above a floor than it is large falls: room down to there. @param {Scene} scene @param {THREE.Box3} bounds */
function expandToFloors(scene, bounds) {
  const [size, middle] = [sizeOf(bounds), bounds.getCenter(new THREE.Vector3())];
  for (const { p, q, isFloor } of planesOf(scene)) {
    if (!isFloor) continue;
    const normal = UP.clone().applyQuaternion(q);
    const foot = middle.clone().setZ(middle.z + p.clone().sub(middle).dot(normal) / normal.z);
    const gap = bounds.min.z - foot.z;
    if (gap > size && gap < FARTHEST_FLOOR * size) bounds.expandByPoint(foot);
  }
}

/**
 * Chains that hang on one joint to the world swing below it: room for that, up to the height they start from.
 * @param {Scene} scene @param {THREE.Box3} bounds
 */
function expandBySwing(scene, bounds) {
  const joints = scene.joints ?? [];
  const top = bounds.max.z;
  for (const joint of joints) {
    if (joint.parent !== "world" || !joint.anchor || !["hinge", "ball", "universal"].includes(joint.type)) continue;
    const chain = new Set([joint.child]);
    for (const _ of joints) {
      for (const { parent, child } of joints) {
        if (chain.has(parent)) chain.add(child);
        else if (chain.has(child) && parent !== "world") chain.add(parent);
      }
    }
    if (joints.some((other) => other !== joint && other.parent === "world" && chain.has(other.child))) continue;
    const anchor = new THREE.Vector3(...joint.anchor);
    const reach = Math.max(...scene.bodies.filter((body) => chain.has(body.name)).map((body) => startPose(body).p.distanceTo(anchor)));
    const across = joint.type === "hinge" && joint.axis ? new THREE.Vector3(...joint.axis).normalize() : new THREE.Vector3();
    const room = new THREE.Vector3(1 - Math.abs(across.x), 1 - Math.abs(across.y), 1 - Math.abs(across.z)).multiplyScalar(reach);
    bounds.union(new THREE.Box3(anchor.clone().sub(room), anchor.clone().add(room)));
  }
  bounds.max.z = Math.max(top, bounds.min.z);
}

/** @param {Scene} document @returns {Float32Array} 7 per body */
export function startPoses(document) {
  return new Float32Array(document.bodies.flatMap((body) => {
    const { p, q } = startPose(body);
    return [p.x, p.y, p.z, q.x, q.y, q.z, q.w];
  }));
}
