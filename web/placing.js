/**
 * Where a body or a joint of a scene starts, and the fields of the scene that say so.
 *
 * @import {Joint, Scene, Selection} from "./types.js"
 */
import * as THREE from "three";
import { jointFrames, toWorld } from "./frames.js";
import { startPose, startPoses } from "./shapes.js";

/** Digits of a size of the scene that are written: of one metre hundredths of a millimetre. */
const DIGITS = 5;
/** Directions of a joint, which turn with it. */
const DIRECTIONS = /** @type {const} */ (["axis", "axis2", "direction"]);
/** Joints that stand at the centres of their bodies. */
const NOWHERE = ["gear", "rack", "coupling"];

/** @typedef {{p: THREE.Vector3, q: THREE.Quaternion}} Place  in W, at the start; of a joint `q` is the turn since it was taken hold of */

/** @param {Scene} scene @param {Selection} selection @returns {Place | null} null: there is nothing to take hold of */
export function placeOf(scene, selection) {
  if (selection.kind === "body") return scene.bodies[selection.index] ? startPose(scene.bodies[selection.index]) : null;
  const joint = (scene.joints ?? [])[selection.index];
  if (!joint || joint.type === "coupling") return null;
  const [{ parent, anchor }] = jointFrames(scene, [joint]);
  return { p: toWorld(startPoses(scene), parent, anchor), q: new THREE.Quaternion() };
}

/** @param {Scene} scene @param {Selection} selection @returns {{move: boolean, turn: boolean}} what can be done to it */
export function waysOf(scene, selection) {
  if (selection.kind === "body") return { move: true, turn: true };
  const joint = (scene.joints ?? [])[selection.index];
  return { move: !NOWHERE.includes(joint.type), turn: DIRECTIONS.some((name) => joint[name]) };
}

/**
 * The fields that say the place.
 * @param {Scene} scene @param {Selection} selection @param {"move" | "turn"} way @param {Place} place @param {number} size m, of the scene
 * @returns {Record<string, number[]>}
 */
export function fieldsOf(scene, selection, way, { p, q }, size) {
  const length = Math.min(12, Math.max(0, DIGITS - Math.floor(Math.log10(size))));
  if (selection.kind === "body") return way === "move" ? { position: rounded(p.toArray(), length, scene.bodies[selection.index].position) } : { orientation: rounded([q.w, q.x, q.y, q.z], DIGITS + 1) };
  const joint = /** @type {Joint[]} */ (scene.joints)[selection.index];
  const parent = joint.frame === "parent" ? scene.bodies.find(({ name }) => name === joint.parent) : undefined;
  const frame = parent ? startPose(parent) : { p: new THREE.Vector3(), q: new THREE.Quaternion() };
  const back = frame.q.clone().invert();
  if (way === "move") return { anchor: rounded(p.clone().sub(frame.p).applyQuaternion(back).toArray(), length, joint.anchor) };
  const turn = back.clone().multiply(q).multiply(frame.q);
  return Object.fromEntries(DIRECTIONS.flatMap((name) => {
    const direction = joint[name];
    return direction ? [[name, rounded(new THREE.Vector3(...direction).applyQuaternion(turn).toArray(), DIGITS + 1, direction)]] : [];
  }));
}

/** What has not changed keeps the digits it was written with. @param {number[]} values @param {number} digits after the point @param {number[]} [before] */
function rounded(values, digits, before) {
  return values.map((value, k) => {
    const known = before?.[k];
    return known !== undefined && Math.abs(value - known) < 0.5 * 10 ** -digits ? known : +value.toFixed(digits) || 0;
  });
}
