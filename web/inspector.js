/**
 * The selected body or joint in numbers, and the numbers of the solver. Refreshed about ten times a second.
 *
 * @import {Joint, RunSummary, Scene, Selection} from "./types.js"
 * @import {Numbers} from "./session.js"
 */
import { byId, make, setText } from "./dom.js";
import { brief, quantity, vector } from "./format.js";
import { massesOf, momentumOf } from "./masses.js";
import { massOf, shapeWords } from "./shapes.js";

/** @typedef {[label: string, value: string, key?: string][]} Facts  key: of the channel that a click plots, see pins.js */

/** Joint coordinates that are lengths; all others are angles. @type {Record<string, number[]>} */
const LENGTHS = { slider: [0], cylindrical: [0], planar: [0, 1], distance: [0], rack: [1] };

/** @param {Joint} joint @param {number} coordinate @returns {{q: string, qd: string, force: string}} units */
export function coordinateUnits(joint, coordinate) {
  return LENGTHS[joint.type]?.includes(coordinate)
    ? { q: "m", qd: "m/s", force: "N" } : { q: "rad", qd: "rad/s", force: "N·m" };
}

/**
 * Writes facts into a list, reusing its rows.
 * @param {HTMLElement} list @param {Facts} facts @param {(key: string) => void} [onPin] @param {string[]} [pinned] keys
 */
function write(list, facts, onPin, pinned = []) {
  const kind = facts.map(([label, , key]) => `${label} ${key ?? ""}`).join("\n");
  if (list.dataset.kind !== kind) {
    list.dataset.kind = kind;
    list.replaceChildren(...facts.flatMap(([label, , key]) => [
      make("dt", {}, key && onPin ? make("button", { type: "button", class: "pin", "data-channel": key, title: "Plot this", onclick: () => onPin(key) }, label) : label), make("dd")]));
  }
  facts.forEach(([, value, key], i) => {
    setText(list.children[2 * i + 1], value);
    if (key) list.children[2 * i].firstElementChild?.setAttribute("aria-pressed", String(pinned.includes(key)));
  });
}

export class Inspector {
  /** @param {(key: string) => void} onPin plots a channel, or no longer */
  constructor(onPin) {
    this.onPin = onPin;
    /** @type {string[]} keys of the channels that are plotted */
    this.pinned = [];
    this.host = byId("inspector", HTMLElement);
    this.name = make("p", { class: "inspector-name" });
    this.list = make("dl", { class: "facts" });
    this.solver = byId("solver", HTMLElement);
    /** @type {Scene | null} */
    this.scene = null;
    /** @type {Map<number, ReturnType<typeof massOf>>} */
    this.masses = new Map();
  }

  /** @param {Scene} scene */
  open(scene) {
    this.scene = scene;
    this.masses.clear();
    this.host.replaceChildren(this.name, this.list);
  }

  /**
   * @param {Selection | null} selection
   * @param {{poses: Float32Array}} shown
   * @param {Numbers} numbers
   * @param {RunSummary | null} summary  what the run has made of options that are left to it
   */
  update(selection, shown, numbers, summary) {
    if (!this.scene) return;
    if (!selection) {
      setText(this.name, this.scene.name ?? "Scene");
      write(this.list, sceneFacts(this.scene, numbers, summary), this.onPin, this.pinned);
    } else if (selection.kind === "body") {
      setText(this.name, this.scene.bodies[selection.index].name);
      write(this.list, this.bodyFacts(selection.index, shown.poses, numbers), this.onPin, this.pinned);
    } else {
      const joint = (this.scene.joints ?? [])[selection.index];
      setText(this.name, joint.name);
      write(this.list, jointFacts(joint, selection.index, numbers), this.onPin, this.pinned);
    }
    write(this.solver, solverFacts(this.scene, numbers, summary));
  }

  /**
   * @param {number} index @param {Float32Array} poses @param {Numbers} numbers
   * @returns {Facts}
   */
  bodyFacts(index, poses, numbers) {
    const body = /** @type {Scene} */ (this.scene).bodies[index];
    const known = this.masses.get(index) ?? massOf(body);
    this.masses.set(index, known);
    const at = 7 * index;
    const [x, y, z, w] = poses.subarray(at + 3, at + 7);
    const speed = numbers.velocities && Array.from(numbers.velocities.subarray(6 * index, 6 * index + 3));
    const momentum = momentumOf({ poses, velocities: numbers.velocities }, index, massesOf(/** @type {Scene} */ (this.scene))?.[index]);
    let touching = 0;
    let force = 0;
    const contacts = numbers.contacts;
    for (let i = 0; contacts && i < contacts.count; i += 1) {
      if (contacts.bodies[2 * i] !== index && contacts.bodies[2 * i + 1] !== index) continue;
      touching += 1;
      force += contacts.values[9 * i + 7];
    }
    return [
      ["Kind", body.type ?? "dynamic"],
      ["Shapes", shapeWords(body) || "none"],
      ["Mass", known.mass === null ? "–" : quantity(known.mass, "kg")],
      ["Mass centre in body [m]", vector(known.center.toArray())],
      ["Position [m]", vector(poses.subarray(at, at + 3)), `position:${body.name}`],
      ["Orientation w x y z", vector([w, x, y, z], "", 2).replaceAll("  ", " ")],
      ["Velocity [m/s]", vectorOr(speed), `velocity:${body.name}`],
      ["Speed", speed ? quantity(Math.hypot(...speed), "m/s") : "–", `speed:${body.name}`],
      ...(known.mass === null ? [] : /** @type {Facts} */ ([["Momentum [N·s]", vectorOr(momentum?.linear), `momentum:${body.name}`], ["Spin [N·m·s]", vectorOr(momentum?.spin), `spin:${body.name}`]])),
      ["Contacts", String(touching)],
      ["Normal forces", quantity(force, "N"), `contact:${body.name}`],
    ];
  }
}

/** An option, and what the run has taken where it is left to it. @param {string} option @param {string[]} taken */
function resolved(option, taken) {
  const words = taken.map((one) => one.replaceAll("_", " ")).join(", ");
  return option === "auto" && words ? `auto: ${words}` : option.replaceAll("_", " ");
}

/** @param {ArrayLike<number> | null | undefined} values @returns {string} */
function vectorOr(values) {
  return values ? vector(values) : "–";
}

/** @param {Scene} scene @param {Numbers} numbers @param {RunSummary | null} summary @returns {Facts} */
function sceneFacts(scene, { gravity, momentum }, summary) {
  const { dt, duration, formulation, integrator } = scene.simulation ?? {};
  return [
    ["Bodies", String(scene.bodies.length)],
    ["Joints", String(scene.joints?.length ?? 0)],
    ["Gravity", vector(gravity ?? scene.gravity ?? [0, 0, -9.81], "m/s²", 2)],
    ["Time step", dt === undefined ? "–" : `${brief(dt)} s`],
    ["Duration", quantity(duration, "s")],
    ["Coordinates", resolved(formulation ?? "maximal", [summary?.solver.formulation ?? ""])],
    ["Integrator", (integrator ?? "semi_implicit_euler").replaceAll("_", " ")],
    ["Momentum [N·s]", vectorOr(momentum?.slice(0, 3)), "momentum"],
    ["Angular momentum [N·m·s]", vectorOr(momentum?.slice(3)), "angular"],
  ];
}

/** @param {Joint} joint @param {number} index @param {Numbers} numbers @returns {Facts} */
function jointFacts(joint, index, numbers) {
  /** @type {Facts} */
  const facts = [["Kind", joint.type], ["Parent", joint.parent], ["Child", joint.child]];
  const rows = (numbers.joints ?? []).filter((row) => row.joint === index);
  for (const row of rows) {
    const units = coordinateUnits(joint, row.coordinate);
    const tail = rows.length > 1 ? ` ${row.coordinate + 1}` : "";
    facts.push([`${units.q === "m" ? "Travel" : "Angle"}${tail}`, quantity(row.q, units.q), `q${row.coordinate}:${joint.name}`]);
    if (units.q === "rad") facts.push([`in degrees${tail}`, quantity((row.q * 180) / Math.PI, "°")]);
    facts.push([`Rate${tail}`, quantity(row.qd, units.qd), `qd${row.coordinate}:${joint.name}`]);
    if (joint.motor || joint.motor2 || joint.motor3) facts.push([`Motor${tail}`, quantity(row.motorForce, units.force), `motor${row.coordinate}:${joint.name}`],
      [`Power${tail}`, quantity(row.motorForce * row.qd, "W"), `power${row.coordinate}:${joint.name}`]);
  }
  const reaction = numbers.reactions?.subarray(6 * index, 6 * index + 6);
  facts.push(["Reaction force [N]", vectorOr(reaction?.subarray(0, 3)), `force:${joint.name}`], ["Reaction torque [N·m]", vectorOr(reaction?.subarray(3)), `torque:${joint.name}`]);
  for (const [i, limits] of [joint.limits, joint.limits2, joint.limits3].entries()) {
    if (limits && joint.type !== "ball") facts.push([`Limits${i ? ` ${i + 1}` : ""}`, `${quantity(limits.lower ?? -Infinity)} … ${quantity(limits.upper ?? Infinity, coordinateUnits(joint, i).q)}`]);
  }
  if (joint.limits?.swing) facts.push(["Cone", quantity((joint.limits.swing * 180) / Math.PI, "°")]);
  if (joint.limits?.twist) facts.push(["Twist", `± ${quantity((joint.limits.twist * 180) / Math.PI, "°")}`]);
  if (joint.ratio) facts.push(["Ratio", quantity(joint.ratio, joint.type === "rack" ? "m" : "")]);
  if (joint.pitch) facts.push(["Pitch", quantity(joint.pitch, "m")]);
  if (joint.breaking_force) facts.push(["Breaks at", quantity(joint.breaking_force, joint.type === "gear" ? "N·m" : "N")]);
  return facts;
}

/** How far the momentum of a scene that nothing pushes has drifted so far. @param {RunSummary | null} summary @returns {Facts} */
function momentumFacts(summary) {
  const { max_linear_drift: linear = null, max_angular_drift: angular = null } = summary?.momentum ?? {};
  return linear === null ? [] : [["Momentum drift", quantity(linear, "N·s")], ["Angular drift", quantity(angular, "N·m·s")]];
}

/** @param {Scene} scene @param {Numbers} numbers @param {RunSummary | null} summary @returns {Facts} */
function solverFacts(scene, { solver, energy }, summary) {
  const options = scene.simulation?.solver ?? {};
  return [
    ["Method", resolved(options.method ?? "auto", summary?.solver.methods ?? [])],
    ["Rows", solver ? String(solver.rows) : "–"],
    ["Contacts", solver ? String(solver.contacts) : "–"],
    ["Iterations", solver ? quantity(solver.iterations) : "–"],
    ["Residual", quantity(solver?.residual)],
    ["Coulomb error", quantity(solver?.coulombError)],
    ["Penetration", quantity(solver?.maxPenetration, "m")],
    ["Joint error", quantity(solver?.jointPositionError, "m")],
    ["Time per step", quantity(solver?.stepUs, "µs")],
    ["Kinetic energy", quantity(energy?.kinetic, "J")],
    ["Total energy", quantity(energy?.total, "J")],
    ...momentumFacts(summary),
  ];
}
