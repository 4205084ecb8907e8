/**
 * What motors do: an arrow along the axis of each that pushes or turns, as long as its force among forces, its torque among torques.
 *
 * @import {JointCoordinate, Scene} from "./types.js"
 * @import {JointFrame} from "./frames.js"
 */
import { bothPresent, toWorld, turned } from "./frames.js";
import { Arrows } from "./glyphs.js";
import { coordinateUnits } from "./inspector.js";

const COLOR = "#ff7ab6";
/** Length of the longest arrow, over the size of the scene. */
const LONGEST = 0.2;
/** Newtons or newton metres below which a motor draws no arrow. */
const NOTHING = 1e-9;

export class Drives {
  /** @param {Scene} scene @param {JointFrame[]} frames of its joints @param {number} size m, of the scene */
  constructor(scene, frames, size) {
    this.scene = scene;
    this.frames = frames;
    this.size = size;
    this.arrows = new Arrows(COLOR, 13);
    /** @type {Record<string, number>} largest so far by unit; falls slowly, so that arrows do not jump */
    this.largest = {};
  }

  /** @param {JointCoordinate[]} rows @param {Float32Array} poses */
  update(rows, poses) {
    this.arrows.clear();
    for (const unit of Object.keys(this.largest)) this.largest[unit] *= 0.99;
    const pushing = rows.flatMap(({ joint, coordinate, motorForce }) => {
      const frame = this.frames[joint];
      const second = coordinate === 1 && frame.axis2 !== null;
      if (Math.abs(motorForce) < NOTHING || coordinate > 1 || !(frame.axis || second) || !bothPresent(frame, poses)) return [];
      const unit = coordinateUnits(/** @type {import("./types.js").Joint[]} */ (this.scene.joints)[joint], coordinate).force;
      this.largest[unit] = Math.max(this.largest[unit] ?? 0, Math.abs(motorForce));
      return [{ frame, second, motorForce, unit }];
    });
    for (const { frame, second, motorForce, unit } of pushing) {
      const local = /** @type {import("three").Vector3} */ (second ? frame.axis2 : frame.axis);
      const axis = turned(poses, second ? frame.axis2Body : frame.parent, local).multiplyScalar(Math.sign(motorForce));
      this.arrows.add(toWorld(poses, frame.parent, frame.anchor), axis, (LONGEST * this.size * Math.abs(motorForce)) / this.largest[unit], this.size * 0.014);
    }
    this.arrows.commit();
  }

  clear() {
    this.arrows.clear();
  }

  dispose() {
    this.arrows.dispose();
  }
}
