/**
 * Channels of bodies and joints that can be plotted, each with a key that links can carry:
 * `position:NAME`, `velocity:NAME`, `speed:NAME`, `momentum:NAME`, `spin:NAME`, `contact:NAME` of a body, `q0:NAME`, `qd0:NAME`,
 * `motor0:NAME`, `power0:NAME` of a coordinate of a joint, `force:NAME`, `torque:NAME` of a joint, `energy`, `momentum`, `angular` of the scene.
 * Beside another run also `difference:KEY`: this run less that one.
 *
 * @import {Frame, Scene, Vec3} from "./types.js"
 * @import {Curve, PlotKind} from "./plot.js"
 */
import { DIFFERENCE } from "./charts.js";
import { coordinateUnits } from "./inspector.js";
import { massesOf, momentumOf } from "./masses.js";

const AXES = ["x", "y", "z"];

/**
 * @param {Scene} scene @param {string} key
 * @param {boolean} compared whether another run is drawn as well
 * @returns {PlotKind | null} null: this scene has no such channel
 */
export function kindOf(scene, key, compared) {
  if (key.startsWith(DIFFERENCE)) return compared ? differenceKind(scene, key) : null;
  const kind = channel(scene, key);
  if (!kind) return null;
  return { ...kind, key, curves: compared ? withOther(kind.curves, channel(scene, key)) : kind.curves };
}

/** @param {Scene} scene @param {string} key @returns {PlotKind | null} */
function channel(scene, key) {
  if (key === "energy") return energyKind();
  if (key === "momentum") return vectorKind("Momentum [N·s]", (frame) => frame.momentum, (frame) => frame.momentum?.slice(0, 3));
  if (key === "angular") return vectorKind("Angular momentum [N·m·s]", (frame) => frame.momentum, (frame) => frame.momentum?.slice(3));
  const [what, ...rest] = key.split(":");
  const name = rest.join(":");
  return bodyKind(scene, what, name) ?? jointKind(scene, what, name);
}

/** @param {Scene} scene @param {string} key @returns {PlotKind | null} */
function differenceKind(scene, key) {
  const [ours, theirs] = [0, 1].map(() => channel(scene, key.slice(DIFFERENCE.length)));
  if (!ours || !theirs) return null;
  return { ...ours, quantity: undefined, key, title: `Difference: ${ours.title[0].toLowerCase()}${ours.title.slice(1)}`, curves: ours.curves.map(({ label, value }, i) => ({
    label, value: (frame, other) => (other ? value(frame, null) - theirs.curves[i].value(other, null) : NaN) })) };
}

/** @returns {PlotKind} */
function energyKind() {
  return { title: "Energy [J]", has: (frame) => frame.energy !== null, curves: /** @type {const} */ (["kinetic", "potential", "total"]).map((label) => ({ label, value: (frame) => frame.energy?.[label] ?? NaN })) };
}

/**
 * Three components in W, and the length.
 * @param {string} title @param {(frame: Frame) => unknown} has @param {(frame: Frame) => ArrayLike<number> | null | undefined} vector @returns {PlotKind}
 */
function vectorKind(title, has, vector) {
  return { title, has: (frame) => Boolean(has(frame)), curves: [
    ...AXES.map((label, k) => ({ label, value: (/** @type {Frame} */ frame) => vector(frame)?.[k] ?? NaN })),
    { label: "size", value: (frame) => Math.hypot(.../** @type {number[]} */ (Array.from(vector(frame) ?? [NaN]))) },
  ] };
}

/** How far the bodies are off the other run. @param {Scene} scene @returns {PlotKind} */
export function offKind(scene) {
  const moving = scene.bodies.flatMap((body, i) => (body.type === "static" ? [] : [i]));
  const gaps = (/** @type {Frame} */ frame, /** @type {Frame | null} */ other) => moving.map((body) => distance(positionOf(frame, body), other && positionOf(other, body)));
  return { title: "Off the other run [m]", has: (frame) => frame.poses !== null, curves: [
    { label: "farthest", value: (frame, other) => Math.max(...gaps(frame, other)) },
    { label: "mean", value: (frame, other) => gaps(frame, other).reduce((sum, gap) => sum + gap, 0) / moving.length },
  ] };
}

/** And the same of the other run, dashed. @param {Curve[]} curves @param {PlotKind | null} other with a memory of its own @returns {Curve[]} */
function withOther(curves, other) {
  return [...curves, ...(other?.curves ?? []).map(({ label, value }, i) => ({ label: `${label}, other run`, like: i, value: (/** @type {Frame} */ _, /** @type {Frame | null} */ there) => (there ? value(there, null) : NaN) }))];
}

/** @param {Scene} scene @param {string} what @param {string} name @returns {PlotKind | null} */
function bodyKind(scene, what, name) {
  const body = scene.bodies.findIndex((one) => one.name === name);
  if (body < 0) return null;
  const has = (/** @type {Frame} */ frame) => frame.poses !== null;
  if (what === "position") return { title: `Position of ${name} [m]`, has, quantity: "position", curves: AXES.map((label, k) => ({ label, value: (frame) => positionOf(frame, body)?.[k] ?? NaN })) };
  if (what === "velocity") {
    return { title: `Velocity of ${name} [m/s]`, has, quantity: "velocity", curves: AXES.map((label, k) => {
      const rate = rateOf(body);
      return { label, value: (frame) => rate(frame)?.[k] ?? NaN };
    }) };
  }
  if (what === "speed") {
    const rate = rateOf(body);
    return { title: `Speed of ${name} [m/s]`, has, quantity: "velocity", curves: [{ label: "speed", value: (frame) => Math.hypot(.../** @type {number[]} */ (rate(frame) ?? [NaN])) }] };
  }
  if (what === "momentum" || what === "spin") {
    const moved = (/** @type {Frame} */ frame) => momentumOf(frame, body, massesOf(scene)?.[body]);
    if (what === "momentum") return vectorKind(`Momentum of ${name} [N·s]`, moved, (frame) => moved(frame)?.linear);
    return vectorKind(`Spin of ${name} [N·m·s]`, moved, (frame) => moved(frame)?.spin);
  }
  if (what === "contact") {
    return { title: `Contact forces on ${name} [N]`, has: (frame) => frame.contacts !== null, curves: [
      { label: "normal", value: (frame) => sumOf(frame, body, 7) }, { label: "friction", value: (frame) => sumOf(frame, body, 8) }] };
  }
  return null;
}

/** @param {Scene} scene @param {string} what @param {string} name @returns {PlotKind | null} */
function jointKind(scene, what, name) {
  const found = /^(q|qd|motor|power)(\d)$/.exec(what);
  const index = (scene.joints ?? []).findIndex((one) => one.name === name);
  if (index >= 0 && (what === "force" || what === "torque")) {
    const at = 6 * index + (what === "force" ? 0 : 3);
    return vectorKind(`Reaction ${what} of ${name} [${what === "force" ? "N" : "N·m"}]`, (frame) => frame.reactions, (frame) => frame.reactions?.subarray(at, at + 3));
  }
  if (!found || index < 0) return null;
  const coordinate = Number(found[2]);
  const units = coordinateUnits(/** @type {import("./types.js").Joint[]} */ (scene.joints)[index], coordinate);
  const row = (/** @type {Frame} */ frame) => frame.joints?.find((one) => one.joint === index && one.coordinate === coordinate);
  const tail = coordinate ? ` ${coordinate + 1}` : "";
  const kinds = {
    q: { title: `${units.q === "m" ? "Travel" : "Angle"}${tail} of ${name} [${units.q}]`, label: units.q === "m" ? "travel" : "angle", value: (/** @type {Frame} */ frame) => row(frame)?.q ?? NaN },
    qd: { title: `Rate${tail} of ${name} [${units.qd}]`, label: "rate", value: (/** @type {Frame} */ frame) => row(frame)?.qd ?? NaN },
    motor: { title: `Motor${tail} of ${name} [${units.force}]`, label: "motor", value: (/** @type {Frame} */ frame) => row(frame)?.motorForce ?? NaN },
    power: { title: `Power${tail} of ${name} [W]`, label: "power", value: (/** @type {Frame} */ frame) => powerOf(row(frame)) },
  };
  const { title, label, value } = kinds[/** @type {keyof typeof kinds} */ (found[1])];
  return { title, has: (frame) => frame.joints !== null, curves: [{ label, value }] };
}

/** Of a motor, into the bodies. @param {import("./types.js").JointCoordinate | undefined} row @returns {number} W */
function powerOf(row) {
  return row ? row.motorForce * row.qd : NaN;
}

/** @param {Frame} frame @param {number} body @returns {Vec3 | null} m, in W */
function positionOf(frame, body) {
  const at = 7 * body;
  return frame.poses && at + 2 < frame.poses.length ? [frame.poses[at], frame.poses[at + 1], frame.poses[at + 2]] : null;
}

/**
 * Velocity of a body origin: as it was recorded, else by differences of successive frames.
 * @param {number} body @returns {(frame: Frame) => Vec3 | null} m/s
 */
function rateOf(body) {
  /** @type {{time: number, p: Vec3} | null} */
  let last = null;
  /** @type {Vec3 | null} */
  let rate = null;
  return (frame) => {
    if (frame.velocities) return /** @type {Vec3} */ ([0, 1, 2].map((k) => /** @type {Float32Array} */ (frame.velocities)[6 * body + k]));
    const p = positionOf(frame, body);
    if (!p) return null;
    const [before, elapsed] = [last, frame.time - (last?.time ?? Infinity)];
    if (elapsed !== 0) last = { time: frame.time, p };
    if (before && elapsed > 0) rate = /** @type {Vec3} */ (p.map((value, k) => (value - before.p[k]) / elapsed));
    else if (elapsed !== 0) rate = null;
    return rate;
  };
}

/** @param {Frame} frame @param {number} body @param {number} column @returns {number} N, over the contacts of the body */
function sumOf({ contacts }, body, column) {
  let sum = 0;
  for (let i = 0; contacts && i < contacts.count; i += 1) {
    if (contacts.bodies[2 * i] === body || contacts.bodies[2 * i + 1] === body) sum += contacts.values[9 * i + column];
  }
  return sum;
}

/** @param {Vec3 | null} a @param {Vec3 | null} b */
function distance(a, b) {
  return a && b ? Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]) : NaN;
}
