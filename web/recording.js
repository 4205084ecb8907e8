/**
 * The recording of a simulation as frames of the page, made when they are looked at.
 *
 * @import {Npz} from "./npz.js"
 * @import {Contacts, Frame, Scene} from "./types.js"
 */
import { startPoses } from "./shapes.js";

const ENERGY = { kinetic: "kinetic", potential: "potential", total: "total", workIn: "work_in", friction: "dissipated_friction", impact: "dissipated_impact", damping: "dissipated_damping", correction: "correction" };
const SOLVER = { rows: "rows", contacts: "contacts", iterations: "iterations", residual: "residual", coulombError: "coulomb_error", maxPenetration: "max_penetration",
  jointPositionError: "joint_position_error", stepUs: "step_us", realTimeFactor: "real_time_factor", collisionUs: "collision_us", solveUs: "solve_us", otherUs: "other_us" };
const POSE = ["px", "py", "pz", "qx", "qy", "qz", "qw"];
const VELOCITY = ["vx", "vy", "vz", "wx", "wy", "wz"];
const CONTACT = ["px", "py", "pz", "nx", "ny", "nz", "gap", "normal_force", "friction_force"];
const MOMENTUM = ["lx", "ly", "lz", "hx", "hy", "hz"];
const REACTION = ["fx", "fy", "fz", "tx", "ty", "tz"];
const FRICTION = ["friction_x", "friction_y", "friction_z", "friction_coefficient"];

/** One table: its columns as they are asked for, and where the rows of each step begin. */
class Table {
  /** @param {Npz} file @param {string} name */
  constructor(file, name) {
    this.file = file;
    this.name = name;
    /** @type {Map<string, Float64Array>} */
    this.columns = new Map();
    this.there = file.has(`${name}/step`);
    /** @type {Map<number, [number, number]>} rows of a step: first, and behind the last */
    this.rows = new Map();
    const steps = this.there ? this.column("step") : new Float64Array(0);
    for (let i = 0; i < steps.length;) {
      let j = i;
      while (j < steps.length && steps[j] === steps[i]) j += 1;
      this.rows.set(steps[i], [i, j]);
      i = j;
    }
  }

  /** @param {string} name @returns {Float64Array} */
  column(name) {
    const known = this.columns.get(name) ?? this.file.numbers(`${this.name}/${name}`);
    this.columns.set(name, known);
    return known;
  }

  /** @param {string} name */
  has(name) {
    return this.file.has(`${this.name}/${name}`);
  }

  /** @param {string} name */
  texts(name) {
    return this.file.texts(`${this.name}/${name}`);
  }
}

export class Recording {
  /** @param {Npz} file @param {Scene} scene */
  constructor(file, scene) {
    this.scene = scene;
    const [bodies, joints, contacts, energy, solver, momentum] = ["bodies", "joints", "contacts", "energy", "solver", "momentum"].map((name) => new Table(file, name));
    this.tables = { bodies, joints, contacts, energy, solver, momentum };
    const longest = [bodies, energy, solver, momentum].find((table) => table.there) ?? contacts;
    /** recorded steps, ascending */
    this.steps = [...longest.rows.keys()];
    this.times = this.steps.map((step) => longest.column("time")[(longest.rows.get(step) ?? [0])[0]]);
    this.bodyOf = indices(bodies, "body", scene.bodies);
    this.jointOf = indices(joints, "joint", scene.joints ?? []);
    this.start = startPoses(scene);
    this.bodyIndex = new Map(scene.bodies.map((body, i) => [body.name, i]));
  }

  /** Bodies that may move and whose poses were not recorded. @returns {string[]} names */
  get unseen() {
    const seen = this.tables.bodies.has("px") ? new Set(this.bodyOf) : new Set();
    return this.scene.bodies.filter(({ type }, i) => type !== "static" && !seen.has(i)).map(({ name }) => name);
  }

  /** @param {number} time s @returns {number} which frame is the last at or before it */
  indexAt(time) {
    let [low, high] = [0, this.times.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.times[middle] <= time + 1e-9) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }

  /** @param {number} index @returns {Frame} */
  frame(index) {
    const step = this.steps[index];
    return {
      key: true, paused: true, failed: false, gap: false, epoch: 0, sequence: index, step, time: this.times[index], dropped: 0, bytes: 0,
      ...this.motion(step), contacts: this.contacts(step), joints: this.joints(step),
      energy: /** @type {Frame["energy"]} */ (this.numbers("energy", ENERGY, step)), solver: /** @type {Frame["solver"]} */ (this.numbers("solver", SOLVER, step)),
      momentum: this.momentum(step), reactions: this.reactions(step), grab: null, stateHash: null, happenings: null, asleep: null,
    };
  }

  /** @param {number} step @returns {{poses: Float32Array, velocities: Float32Array | null}} */
  motion(step) {
    const { bodies } = this.tables;
    const poses = Float32Array.from(this.start);
    const [from, to] = bodies.rows.get(step) ?? [0, 0];
    const known = bodies.has("vx") ? new Float32Array(6 * this.scene.bodies.length) : null;
    for (let row = from; row < to; row += 1) {
      const body = this.bodyOf[row - from];
      if (bodies.has("present") && !bodies.column("present")[row]) poses.fill(NaN, 7 * body, 7 * body + 7);
      else if (bodies.has("px")) POSE.forEach((name, k) => { poses[7 * body + k] = bodies.column(name)[row]; });
      if (known) VELOCITY.forEach((name, k) => { known[6 * body + k] = bodies.column(name)[row]; });
    }
    return { poses, velocities: known };
  }

  /** @param {number} step @returns {Frame["joints"]} */
  joints(step) {
    const { joints } = this.tables;
    const [from, to] = joints.rows.get(step) ?? [0, 0];
    if (!joints.there) return null;
    const value = (/** @type {string} */ name, /** @type {number} */ row) => joints.column(name)[row];
    return Array.from({ length: to - from }, (_, i) => ({
      joint: this.jointOf[i], coordinate: value("coordinate", from + i), q: value("q", from + i), qd: value("qd", from + i), motorForce: value("motor_force", from + i) }));
  }

  /** @param {number} step @returns {Frame["momentum"]} */
  momentum(step) {
    const { momentum } = this.tables;
    const row = momentum.rows.get(step)?.[0];
    return row === undefined || !momentum.has("lx") ? null : MOMENTUM.map((name) => momentum.column(name)[row]);
  }

  /** @param {number} step @returns {Frame["reactions"]} */
  reactions(step) {
    const { joints } = this.tables;
    const [from, to] = joints.rows.get(step) ?? [0, 0];
    if (!joints.has("fx")) return null;
    const found = new Float32Array(6 * (this.scene.joints ?? []).length);
    // rows of one joint say the same
    for (let row = from; row < to; row += 1) REACTION.forEach((name, k) => { found[6 * this.jointOf[row - from] + k] = joints.column(name)[row]; });
    return found;
  }

  /** @param {number} step @returns {Contacts | null} */
  contacts(step) {
    const { contacts } = this.tables;
    if (!contacts.there) return null;
    const [from, to] = contacts.rows.get(step) ?? [0, 0];
    const count = to - from;
    const [a, b] = [contacts.texts("body_a"), contacts.texts("body_b")];
    const values = new Float32Array(9 * count);
    const bodies = new Uint16Array(2 * count);
    for (let i = 0; i < count; i += 1) {
      CONTACT.forEach((name, k) => { values[9 * i + k] = contacts.column(name)[from + i]; });
      [a, b].forEach((name, k) => { bodies[2 * i + k] = this.bodyIndex.get(name(from + i)) ?? 65535; });
    }
    const friction = contacts.has("friction_x") ? new Float32Array(4 * count).fill(NaN) : null;
    FRICTION.filter((name) => contacts.has(name)).forEach((name, k) => { for (let i = 0; friction && i < count; i += 1) friction[4 * i + k] = contacts.column(name)[from + i]; });
    return { count, values, bodies, friction };
  }

  /** @param {"energy" | "solver"} name @param {Record<string, string>} columns @param {number} step @returns {unknown} */
  numbers(name, columns, step) {
    const table = this.tables[name];
    const row = table.rows.get(step)?.[0];
    if (row === undefined) return null;
    return Object.fromEntries(Object.entries(columns).map(([key, column]) => [key, table.has(column) ? table.column(column)[row] : NaN]));
  }
}

/** Which entry of the scene each row of a step is about: the same in every step. @param {Table} table @param {string} column @param {{name: string}[]} named */
function indices(table, column, named) {
  const first = table.rows.values().next().value;
  if (!first) return [];
  const [from, to] = first;
  const text = table.texts(column);
  const places = new Map(named.map((one, i) => [one.name, i]));
  return Array.from({ length: to - from }, (_, i) => places.get(text(from + i)) ?? 0);
}
