/**
 * Joints and points in the frames of their bodies, and back to W at a given moment.
 *
 * @import {Joint, Scene} from "./types.js"
 */
import * as THREE from "three";
import { startPose } from "./shapes.js";

/** @typedef {{radius: number, axis: THREE.Vector3}} FramedWheel axis: in its body */

/**
 * @typedef {object} JointFrame  where a joint is drawn: points and axes fixed in its two bodies
 * @property {number} parent     body index, -1 for the world
 * @property {number} child
 * @property {THREE.Vector3} anchor  in the parent
 * @property {THREE.Vector3} anchorInChild
 * @property {THREE.Vector3 | null} axis   in the parent
 * @property {THREE.Vector3 | null} axis2  in the child
 * @property {number} axis2Body   the body axis2 is fixed in, -1: the world
 * @property {boolean} both      the axis is one to slide along: arrows both ways
 * @property {boolean} apart     it holds at two places: one in the parent, one in the child
 * @property {[FramedWheel | null, FramedWheel | null]} wheels  of a distance joint, about its anchors
 */

/** @param {Scene} scene @param {Joint[]} [joints] all, or some of them @returns {JointFrame[]} */
export function jointFrames(scene, joints = scene.joints ?? []) {
  const places = new Map(scene.bodies.map(({ name }, i) => [name, i]));
  return joints.map((joint) => jointFrame(joint, scene, places));
}

/** @param {Joint} joint @param {Scene} scene @param {Map<string, number>} places of bodies by name @returns {JointFrame} */
function jointFrame(joint, scene, places) {
  const [parent, child] = [joint.parent, joint.child].map((name) => places.get(name) ?? -1);
  const inWorld = joint.frame !== "parent";
  const axisOf = (/** @type {number[] | undefined} */ axis, /** @type {number} */ body) => {
    if (!axis) return null;
    const vector = new THREE.Vector3(axis[0], axis[1], axis[2]).normalize();
    if (!inWorld) vector.applyQuaternion(start.q);
    return body >= 0 ? vector.applyQuaternion(startPose(scene.bodies[body]).q.invert()) : vector;
  };
  const [start, own] = [parent, child].map((body) => (body >= 0 ? startPose(scene.bodies[body]) : { p: new THREE.Vector3(), q: new THREE.Quaternion() }));
  const inW = (/** @type {number[]} */ [x, y, z]) => {
    const point = new THREE.Vector3(x, y, z);
    return inWorld ? point : point.applyQuaternion(start.q).add(start.p);
  };
  const inBody = (/** @type {THREE.Vector3} */ point, /** @type {{p: THREE.Vector3, q: THREE.Quaternion}} */ pose) => point.clone().sub(pose.p).applyQuaternion(pose.q.clone().invert());
  // gears and racks have no anchor: they stand at the centres of their bodies; others at that of the child
  const couples = joint.type === "gear" || joint.type === "rack";
  const first = joint.anchor ? inW(joint.anchor) : (couples ? start : own).p;
  const last = joint.anchor2 ? inW(joint.anchor2) : couples ? own.p : first;
  const wheelOf = (/** @type {import("./types.js").Wheel | null | undefined} */ wheel, /** @type {number} */ body) => (wheel ? { radius: wheel.radius, axis: /** @type {THREE.Vector3} */ (axisOf(wheel.axis, body)) } : null);
  return {
    parent, child, anchor: inBody(first, start), anchorInChild: inBody(last, own),
    axis: axisOf(joint.axis, parent),
    // of a rack it is fixed in the world
    axis2: axisOf(joint.axis2 ?? (joint.type === "gear" ? joint.axis : undefined), joint.type === "rack" ? -1 : child),
    axis2Body: joint.type === "rack" ? -1 : child,
    both: ["slider", "cylindrical", "screw"].includes(joint.type), apart: couples || joint.type === "distance",
    wheels: [wheelOf(joint.wheel, parent), wheelOf(joint.wheel2, child)],
  };
}

/** Whether both bodies of a joint are there; an absent one has no pose. @param {{parent: number, child: number}} joint @param {Float32Array} poses */
export function bothPresent({ parent, child }, poses) {
  return [parent, child].every((body) => body < 0 || !Number.isNaN(poses[7 * body]));
}

/** @param {Float32Array} poses @param {number} body -1: the world @param {THREE.Vector3} local @returns {THREE.Vector3} a point in W */
export function toWorld(poses, body, local) {
  if (body < 0) return local.clone();
  const at = 7 * body;
  return turned(poses, body, local).add(new THREE.Vector3(poses[at], poses[at + 1], poses[at + 2]));
}

/** @param {Float32Array} poses @param {number} body @param {THREE.Vector3} local @returns {THREE.Vector3} a direction in W */
export function turned(poses, body, local) {
  if (body < 0) return local.clone();
  const at = 7 * body;
  return local.clone().applyQuaternion(new THREE.Quaternion(poses[at + 3], poses[at + 4], poses[at + 5], poses[at + 6]));
}
