/**
 * Another run beside the one in the view: its frames over time, and its bodies as a ghost.
 *
 * @import {Frame, Scene} from "./types.js"
 */
import { Group, Vector3 } from "three";
import { Bodies } from "./bodies.js";
import { Links } from "./links.js";
import { Overlays } from "./overlays.js";
import { sizeOf, startBounds, startPoses } from "./shapes.js";
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

/** @typedef {"ghost" | "beside" | "half"} Place  faint where the run in the view is; in full at a distance; in a half of the view of its own */

/** The bodies of a track: faint and without shadows, or in full. */
export class Ghost {
  /** @param {Scene} scene @param {Track} track */
  constructor(scene, track) {
    this.track = track;
    /** whether the track says anything about the moment in the view */
    this.there = true;
    /** @type {Place} */
    this.at = "ghost";
    this.bodies = new Bodies(scene);
    const bounds = startBounds(scene);
    const size = sizeOf(bounds);
    /** m along y, when it stands beside the run in the view */
    this.aside = 1.2 * bounds.getSize(new Vector3()).y + 0.1 * Math.min(1, size);
    // of a half of the view, which has all that the other one has
    this.links = new Links(scene, size);
    this.overlays = new Overlays(scene, size);
    this.root = new Group();
    this.root.add(this.bodies.root, this.links.root, this.overlays.root);
    this.poses = startPoses(scene);
    this.fixed = this.bodies.groups.flatMap(({ parts }) => parts.filter((part) => scene.bodies[part.body].type === "static").map((part) => ({ part, scale: part.scale })));
    this.place("ghost");
  }

  /** @param {Place} place */
  place(place) {
    const [full, half] = [place !== "ghost", place === "half"];
    this.at = place;
    this.root.position.set(0, place === "beside" ? this.aside : 0, 0);
    for (const { mesh } of this.bodies.groups) {
      Object.assign(mesh.material, { transparent: !full, opacity: full ? 1 : OPACITY, depthWrite: full, needsUpdate: true });
      Object.assign(mesh, { castShadow: half, receiveShadow: half, renderOrder: full ? 0 : 5 });
    }
    // what never moves would only veil itself
    for (const { part, scale } of this.fixed) part.scale = half ? scale : [0, 0, 0];
    this.links.root.visible = this.overlays.root.visible = half;
    this.bodies.setPoses(this.poses);
  }

  /** @param {number} time s @param {Overlays | null} beside of the run in the view */
  update(time, beside) {
    const frame = this.track.at(time);
    this.there = frame !== null;
    this.root.visible = this.there;
    if (!frame?.poses) return;
    this.poses = frame.poses;
    this.bodies.setPoses(frame.poses);
    if (this.at !== "half" || !beside) return;
    this.links.setPoses(frame.poses);
    Object.assign(this.overlays.shown, beside.shown);
    // arrows of both halves have one scale
    this.overlays.forceScale = beside.forceScale;
    this.overlays.largestForce = beside.largestForce = Math.max(this.overlays.largestForce, beside.largestForce);
    this.overlays.update(frame, frame.poses, null);
  }

  dispose() {
    this.bodies.dispose();
    this.links.dispose();
    this.overlays.dispose();
  }
}
