/**
 * Another run beside the one in the view: its frames over time, and its bodies as a ghost.
 *
 * @import {Frame, Scene} from "./types.js"
 */
import { Vector3 } from "three";
import { Bodies } from "./bodies.js";
import { startBounds } from "./shapes.js";
import { interpolate } from "./timeline.js";

const OPACITY = 0.22;

/** Frames of a run by time. Beyond its last frame it says nothing. */
export class Track {
  /** @param {string} name what the run is called @param {Frame[]} frames with poses, in the order of their times */
  constructor(name, frames) {
    this.name = name;
    this.frames = frames.filter((frame) => frame.poses);
  }

  /** @param {number} time s @returns {Frame | null} the state at this time, poses interpolated */
  at(time) {
    const { frames } = this;
    let [low, high] = [0, frames.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (frames[middle].time <= time) low = middle + 1;
      else high = middle;
    }
    const [a, b] = [frames[low - 1], frames[low]];
    // a single frame stands for its moment only
    if (!a || (!b && time - a.time > 1e-9)) return null;
    if (!b || b.time <= a.time) return a;
    return between(a, b, time, (time - a.time) / (b.time - a.time));
  }
}

/** What is plotted of a run, between two of its frames. @param {Frame} a @param {Frame} b @param {number} time s @param {number} u 0..1 @returns {Frame} */
function between(a, b, time, u) {
  const mix = (/** @type {number} */ from, /** @type {number} */ to) => from + u * (to - from);
  const poses = new Float32Array(/** @type {Float32Array} */ (a.poses).length);
  interpolate(/** @type {Float32Array} */ (a.poses), /** @type {Float32Array} */ (b.poses), u, poses);
  const [rates, energy, joints] = [b.velocities, b.energy, b.joints];
  return { ...a, time, poses,
    velocities: a.velocities && rates && a.velocities.map((value, i) => mix(value, rates[i])),
    energy: a.energy && energy && { ...a.energy, kinetic: mix(a.energy.kinetic, energy.kinetic), potential: mix(a.energy.potential, energy.potential), total: mix(a.energy.total, energy.total) },
    joints: a.joints && joints && a.joints.map((row, i) => (joints[i] ? { ...row, q: mix(row.q, joints[i].q), qd: mix(row.qd, joints[i].qd), motorForce: mix(row.motorForce, joints[i].motorForce) } : row)) };
}

/** The bodies of a track, faint and without shadows. */
export class Ghost {
  /** @param {Scene} scene @param {Track} track */
  constructor(scene, track) {
    this.track = track;
    this.bodies = new Bodies(scene);
    /** m along y, when it stands beside the run in the view */
    this.aside = 1.2 * startBounds(scene).getSize(new Vector3()).y + 0.1;
    this.root = this.bodies.root;
    for (const { mesh, parts } of this.bodies.groups) {
      const material = /** @type {import("three").MeshStandardMaterial} */ (mesh.material);
      Object.assign(material, { transparent: true, opacity: OPACITY, depthWrite: false });
      mesh.castShadow = false;
      mesh.receiveShadow = false;
      mesh.renderOrder = 5;
      // what never moves would only veil itself
      parts.forEach((part) => { if (scene.bodies[part.body].type === "static") part.scale = [0, 0, 0]; });
    }
  }

  /** In full beside the run in the view, or faint in its place. @param {boolean} on */
  place(on) {
    this.root.position.set(0, on ? this.aside : 0, 0);
    for (const { mesh } of this.bodies.groups) Object.assign(mesh.material, { opacity: on ? 1 : OPACITY, depthWrite: on });
  }

  /** @param {number} time s */
  update(time) {
    const frame = this.track.at(time);
    this.root.visible = frame !== null;
    if (frame?.poses) this.bodies.setPoses(frame.poses);
  }

  dispose() {
    this.bodies.dispose();
  }
}
