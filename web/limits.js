/**
 * Limits of joints in the view: sectors of angles, segments of lengths, cones of balls, each with the present value.
 * All follows from the poses that are shown, so moments of the history and stored runs have them too.
 *
 * @import {Joint, Limits, Scene} from "./types.js"
 * @import {JointFrame} from "./frames.js"
 */
import * as THREE from "three";
import { jointFrames, toWorld, turned } from "./frames.js";
import { Bars, Cones, Dots, Sectors, firstTangent } from "./glyphs.js";
import { massOf, startPose } from "./shapes.js";
import { theme } from "./theme.js";

const LIMIT_COLOR = "#7dd87d";
/** Of values between the stops, over the colours of the view. */
const FREE = { dark: new THREE.Color("#ffffff"), light: new THREE.Color("#22303b") };
/** Of a value that rests on a stop, or is beyond it. */
const STOPPED = new THREE.Color("#ff4d6d");
/** A value this near to a stop, over the range, rests on it; and where the range is none [rad or m]. */
const NEAR = 0.01;
const LOCKED = 1e-3;
/** Shares of the scene: radius of sectors, of rods, and how far an open range is drawn. */
const RADIUS = 0.08;
const ROD = 0.0022;
const OPEN = 0.12;

/**
 * @typedef {object} Placed  where a range is now, in W
 * @property {THREE.Vector3} at     middle of a sector or cone; zero of a length
 * @property {THREE.Vector3} axis   of a sector or cone; along a length
 * @property {THREE.Vector3} zero   from the middle, where the angle is zero
 * @property {THREE.Vector3} needle from the middle, where the angle is now
 * @property {number} value         rad or m
 */
/** @typedef {{joint: string, kind: "angle" | "length" | "swing", lower: number, upper: number, place: (poses: Float32Array) => Placed}} Range  lower, upper: infinite without a stop */
/** @typedef {{joint: string, kind: string, lower: number, upper: number, value: number, stopped: boolean}} Shown */

export class LimitGlyphs {
  /** @param {Scene} scene @param {number} size m */
  constructor(scene, size) {
    this.size = size;
    this.sectors = new Sectors(LIMIT_COLOR);
    this.cones = new Cones(LIMIT_COLOR, 32, 0);
    this.rods = new Bars(LIMIT_COLOR);
    this.needles = new Bars("#ffffff", 13, true);
    this.marks = new Dots("#ffffff", 13, true);
    this.stops = new Dots(LIMIT_COLOR, 10);
    const frames = jointFrames(scene);
    this.ranges = (scene.joints ?? []).map((joint, i) => rangesOf(joint, frames[i], scene));
    /** @type {Shown[]} what was drawn last */
    this.shown = [];
  }

  all() {
    return [this.sectors, this.cones, this.rods, this.needles, this.marks, this.stops];
  }

  /** @param {number} joint @param {Float32Array} poses */
  add(joint, poses) {
    for (const range of this.ranges[joint]) {
      const now = range.place(poses);
      if (!Number.isFinite(now.value)) continue;
      const { kind, lower, upper } = range;
      const value = kind === "angle" ? nearestTurn(now.value, lower, upper) : now.value;
      const width = upper - lower;
      const room = Number.isFinite(width) && width > 0 ? NEAR * width : LOCKED;
      const stopped = value <= lower + room || value >= upper - room;
      this.shown.push({ joint: range.joint, kind, lower, upper, value, stopped });
      const color = stopped ? STOPPED : FREE[theme()];
      if (kind === "length") this.addLength(range, now, color);
      else if (kind === "angle") this.addAngle(range, now, color);
      else this.addSwing(range, now, color);
    }
  }

  /** @param {Range} range @param {Placed} now @param {THREE.Color} color */
  addAngle({ lower, upper }, { at, axis, zero, needle }, color) {
    const radius = RADIUS * this.size;
    const across = new THREE.Vector3().crossVectors(axis, zero);
    const from = Number.isFinite(lower) ? lower : upper - Math.PI;
    const to = Math.min(Number.isFinite(upper) ? upper : lower + Math.PI, from + 2 * Math.PI);
    this.sectors.add(at, zero, across, radius, from, to);
    for (const stop of [lower, upper]) {
      if (!Number.isFinite(stop)) continue;
      const end = zero.clone().multiplyScalar(Math.cos(stop)).addScaledVector(across, Math.sin(stop));
      this.rods.add(at, end, radius, 0.6 * ROD * this.size);
    }
    this.needles.add(at, needle, 1.1 * radius, ROD * this.size, color);
  }

  /** @param {Range} range @param {Placed} now @param {THREE.Color} color */
  addLength({ lower, upper }, { at, axis, value }, color) {
    const open = OPEN * this.size;
    const from = Number.isFinite(lower) ? lower : Math.min(value, upper) - open;
    const to = Number.isFinite(upper) ? upper : Math.max(value, lower) + open;
    const point = (/** @type {number} */ way) => at.clone().addScaledVector(axis, way);
    this.rods.add(point(from), axis, to - from, ROD * this.size);
    for (const stop of [lower, upper]) if (Number.isFinite(stop)) this.stops.add(point(stop), axis, 5 * ROD * this.size, 0.2);
    this.marks.add(point(value), axis, 3.4 * ROD * this.size, 1, color);
  }

  /** @param {Range} range @param {Placed} now @param {THREE.Color} color */
  addSwing({ upper }, { at, axis, zero, needle }, color) {
    const radius = RADIUS * this.size;
    const height = radius * Math.cos(upper);
    this.cones.add(at, height < 0 ? axis.clone().negate() : axis, zero, Math.max(Math.abs(height), 1e-3 * radius), radius * Math.sin(upper));
    this.needles.add(at, needle, 1.1 * radius, ROD * this.size, color);
  }
}

/** The ranges of a joint's coordinates that have stops. @param {Joint} joint @param {JointFrame} frame @param {Scene} scene @returns {Range[]} */
function rangesOf(joint, frame, scene) {
  const { parent, child } = frame;
  const [parent0, child0] = [parent, child].map((body) => (body < 0 ? { p: new THREE.Vector3(), q: new THREE.Quaternion() } : startPose(scene.bodies[body])));
  const axis0 = frame.axis?.clone().applyQuaternion(parent0.q);
  const anchorOf = (/** @type {Float32Array} */ poses) => toWorld(poses, child, frame.anchorInChild);
  const zeroOf = (/** @type {Float32Array} */ poses) => toWorld(poses, parent, frame.anchor);

  /** Of the child about an axis, both fixed at coordinates zero. */
  const turn = () => {
    const zero0 = acrossOf(/** @type {THREE.Vector3} */ (axis0), armOf(scene, child, frame));
    const [zeroA, zeroB] = [inBody(zero0, parent0), inBody(zero0, child0)];
    return (/** @type {Float32Array} */ poses) => {
      const axis = turned(poses, parent, /** @type {THREE.Vector3} */ (frame.axis));
      return angled(anchorOf(poses), axis, turned(poses, parent, zeroA), turned(poses, child, zeroB));
    };
  };
  const slide = (/** @type {THREE.Vector3} */ alongA) => (/** @type {Float32Array} */ poses) => {
    const [at, axis] = [zeroOf(poses), turned(poses, parent, alongA)];
    return { at, axis, zero: axis, needle: axis, value: anchorOf(poses).sub(at).dot(axis) };
  };
  /** The first angle of two axes: of the second one about the first; the other: of the child about the second. */
  const first = () => {
    const zeroA = inBody(rejected(secondAxis(child0.q), /** @type {THREE.Vector3} */ (axis0)), parent0);
    return (/** @type {Float32Array} */ poses) => {
      const axis = turned(poses, parent, /** @type {THREE.Vector3} */ (frame.axis));
      return angled(zeroOf(poses), axis, turned(poses, parent, zeroA), rejected(turned(poses, child, /** @type {THREE.Vector3} */ (frame.axis2)), axis));
    };
  };
  const second = () => {
    const needleB = inBody(rejected(/** @type {THREE.Vector3} */ (axis0), secondAxis(child0.q)), child0);
    return (/** @type {Float32Array} */ poses) => {
      const axis = turned(poses, child, /** @type {THREE.Vector3} */ (frame.axis2));
      return angled(zeroOf(poses), axis, rejected(turned(poses, parent, /** @type {THREE.Vector3} */ (frame.axis)), axis), turned(poses, child, needleB));
    };
  };
  const secondAxis = (/** @type {THREE.Quaternion} */ q) => /** @type {THREE.Vector3} */ (frame.axis2).clone().applyQuaternion(q);
  const apart = (/** @type {Float32Array} */ poses) => {
    const at = zeroOf(poses);
    const axis = anchorOf(poses).sub(at);
    const value = axis.length();
    axis.divideScalar(value || 1);
    return { at, axis, zero: axis, needle: axis, value };
  };

  const { type, limits, limits2, limits3 } = joint;
  if (type === "ball") return limits && axis0 ? ballRanges(joint, limits, frame, { axis0, parent0, child0 }) : [];
  const axisA = /** @type {THREE.Vector3} */ (frame.axis);
  const between = (/** @type {Limits | null | undefined} */ stops, /** @type {"angle" | "length"} */ kind, /** @type {() => Range["place"]} */ place) => (stops && (stops.lower != null || stops.upper != null)
    ? [{ joint: joint.name, kind, lower: stops.lower ?? -Infinity, upper: stops.upper ?? Infinity, place: place() }] : []);
  switch (type) {
    case "hinge": case "screw": return between(limits, "angle", turn);
    case "slider": return between(limits, "length", () => slide(axisA));
    case "cylindrical": return [...between(limits, "length", () => slide(axisA)), ...between(limits2, "angle", turn)];
    case "universal": case "hinge2": return [...between(limits, "angle", first), ...between(limits2, "angle", second)];
    case "planar": {
      const given = joint.direction && new THREE.Vector3(...joint.direction).applyQuaternion(joint.frame === "parent" ? parent0.q : new THREE.Quaternion());
      const normal = /** @type {THREE.Vector3} */ (axis0);
      const along = inBody(given ? rejected(given, normal) : anyWay(normal), parent0);
      const ways = [...between(limits, "length", () => slide(along)), ...between(limits2, "length", () => slide(new THREE.Vector3().crossVectors(axisA, along)))];
      return [...ways, ...between(limits3, "angle", turn)];
    }
    // a cable that is wound up is longer than what is seen of it
    case "distance": return joint.wheel || joint.wheel2 ? [] : between(limits, "length", () => apart);
    default: return [];
  }
}

/**
 * The cone within which the child's axis stays, and the twist that is left when it is swung back by the shortest way.
 * @param {Joint} joint @param {Limits} limits @param {JointFrame} frame
 * @param {{axis0: THREE.Vector3, parent0: {q: THREE.Quaternion}, child0: {q: THREE.Quaternion}}} start
 * @returns {Range[]}
 */
function ballRanges({ name }, { swing, twist }, { parent, child, anchor, axis: axisA }, { axis0, parent0, child0 }) {
  const zero0 = firstTangent(axis0);
  const [zeroA, zeroB, axisB] = [inBody(zero0, parent0), inBody(zero0, child0), inBody(axis0, child0)];
  const place = (/** @type {Float32Array} */ poses) => ({ at: toWorld(poses, parent, anchor), axis: turned(poses, parent, /** @type {THREE.Vector3} */ (axisA)), needle: turned(poses, child, axisB) });
  /** @type {Range[]} */
  const ranges = [];
  if (swing != null) ranges.push({ joint: name, kind: "swing", lower: -Infinity, upper: swing, place: (poses) => {
    const now = place(poses);
    return { ...now, zero: turned(poses, parent, zeroA), value: now.axis.angleTo(now.needle) };
  } });
  if (twist != null) ranges.push({ joint: name, kind: "angle", lower: -twist, upper: twist, place: (poses) => {
    const { at, axis, needle } = place(poses);
    const swung = turned(poses, parent, zeroA).applyQuaternion(new THREE.Quaternion().setFromUnitVectors(axis, needle));
    return angled(at, needle, swung, turned(poses, child, zeroB));
  } });
  return ranges;
}

/** @param {THREE.Vector3} at @param {THREE.Vector3} axis @param {THREE.Vector3} zero @param {THREE.Vector3} needle both across the axis @returns {Placed} */
function angled(at, axis, zero, needle) {
  return { at, axis, zero, needle, value: Math.atan2(new THREE.Vector3().crossVectors(zero, needle).dot(axis), zero.dot(needle)) };
}

/** A direction of W in a body. @param {THREE.Vector3} v @param {{q: THREE.Quaternion}} pose */
function inBody(v, { q }) {
  return v.clone().applyQuaternion(q.clone().invert());
}

/** The first displacement of a planar joint that names none, as the engine takes it. @param {THREE.Vector3} axis */
function anyWay(axis) {
  const sizes = axis.toArray().map(Math.abs);
  const least = sizes.indexOf(Math.min(...sizes));
  return new THREE.Vector3(...[0, 1, 2].map((k) => Number(k === least))).cross(axis).normalize();
}

/** What of a vector is across an axis, of length 1. @param {THREE.Vector3} v @param {THREE.Vector3} axis */
function rejected(v, axis) {
  return v.clone().addScaledVector(axis, -v.dot(axis)).normalize();
}

/** From the axis to the middle of the child, where that is beside the axis. @param {THREE.Vector3} axis @param {THREE.Vector3} arm */
function acrossOf(axis, arm) {
  const across = arm.clone().addScaledVector(axis, -arm.dot(axis));
  return across.length() > 1e-3 * arm.length() ? across.normalize() : firstTangent(axis);
}

/** From the anchor to the centre of mass of the child, as the scene places them. @param {Scene} scene @param {number} child @param {JointFrame} frame */
function armOf(scene, child, { anchorInChild }) {
  if (child < 0) return new THREE.Vector3();
  return massOf(scene.bodies[child]).center.clone().sub(anchorInChild).applyQuaternion(startPose(scene.bodies[child]).q);
}

/** Of all angles that look alike the one nearest to the middle of a range. @param {number} angle @param {number} lower @param {number} upper */
function nearestTurn(angle, lower, upper) {
  const middle = Number.isFinite(lower + upper) ? (lower + upper) / 2 : Number.isFinite(lower) ? lower : upper;
  return angle + 2 * Math.PI * Math.round((middle - angle) / (2 * Math.PI));
}
