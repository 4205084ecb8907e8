/**
 * Joints and points in the frames of their bodies, and back to W at a given moment.
 *
 * @import {Joint, Scene} from "./types.js"
 */
import * as THREE from "three";
import { startPose } from "./shapes.js";

/**
 * @typedef {object} JointFrame  where a joint is drawn: points and axes fixed in its two bodies
 * @property {number} parent     body index, -1 for the world
 * @property {number} child
 * @property {THREE.Vector3} anchor  in the parent
 * @property {THREE.Vector3} anchorInChild
 * @property {THREE.Vector3 | null} axis   in the parent
 * @property {THREE.Vector3 | null} axis2  in the child
 * @property {boolean} both      the axis is one to slide along: arrows both ways
 */

/** @param {Joint} joint @param {Scene} scene @returns {JointFrame} */
export function jointFrame(joint, scene) {
  const index = (/** @type {string} */ name) => scene.bodies.findIndex((body) => body.name === name);
  const [parent, child] = [index(joint.parent), index(joint.child)];
  const inWorld = joint.frame !== "parent";
  const axisOf = (/** @type {number[] | undefined} */ axis, /** @type {number} */ body) => {
    if (!axis) return null;
    const vector = new THREE.Vector3(axis[0], axis[1], axis[2]).normalize();
    return body >= 0 && inWorld ? vector.applyQuaternion(startPose(scene.bodies[body]).q.invert()) : vector;
  };
  const given = new THREE.Vector3(...(joint.anchor ?? [0, 0, 0]));
  const start = parent >= 0 ? startPose(scene.bodies[parent]) : null;
  const inW = start && !inWorld ? given.clone().applyQuaternion(start.q).add(start.p) : given.clone();
  const anchor = start && inWorld ? given.sub(start.p).applyQuaternion(start.q.clone().invert()) : given;
  const own = child >= 0 ? startPose(scene.bodies[child]) : null;
  const anchorInChild = own ? inW.sub(own.p).applyQuaternion(own.q.invert()) : inW;
  return { parent, child, anchor, anchorInChild, axis: axisOf(joint.axis, parent), axis2: axisOf(joint.axis2, child), both: joint.type === "slider" || joint.type === "cylindrical" };
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
