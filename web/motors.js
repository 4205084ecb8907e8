/**
 * One slider per motor: its target, sent as `set_motor` while the slider moves.
 *
 * @import {Joint, Scene} from "./types.js"
 * @import {Numbers} from "./session.js"
 */
import { byId, make, setText } from "./dom.js";
import { plain, quantity } from "./format.js";
import { coordinateUnits } from "./inspector.js";

/** @typedef {{joint: string, planned: import("./types.js").Motor["target"], target: import("./types.js").Motor["target"] | null, index: number, axis: number, unit: string, force: string, input: HTMLInputElement, output: HTMLElement, actual: HTMLElement, element: HTMLElement, moves: number, turn: number}} Row moves: by hand; turn: when its target was last set */

const STEPS = 400;
/** More than any joint has. */
const AXES = 8;
/** ms between two targets on the way to the simulation */
const SEND_MS = 40;

export class Motors {
  /**
   * @param {(joint: string, axis: number, target: number) => Promise<boolean>} onTarget whether it was accepted
   * @param {() => unknown} onRefused the sliders show what is not so
   */
  constructor(onTarget, onRefused) {
    this.onTarget = onTarget;
    this.onRefused = onRefused;
    this.host = byId("motors", HTMLElement);
    this.pane = byId("motors-pane", HTMLElement);
    /** @type {Row[]} */
    this.rows = [];
    this.timers = new Map();
    /** counts what has set a target: an answer that was asked for before knows less */
    this.turn = 0;
    /** @type {Set<number>} joints that broke */
    this.broken = new Set();
  }

  /** @param {Scene} scene */
  open(scene) {
    for (const timer of this.timers.values()) clearTimeout(timer);
    this.timers.clear();
    this.rows = [];
    (scene.joints ?? []).forEach((joint, index) => {
      motorsOf(joint).forEach((motor, axis) => {
        if (motor) this.rows.push(this.row(joint, index, axis, motor));
      });
    });
    this.host.replaceChildren(...this.rows.map(({ element }) => element));
    this.setBroken([]);
  }

  /** Of these joints nothing is left to drive; all others are whole. @param {Iterable<number>} joints */
  setBroken(joints) {
    this.broken = new Set(joints);
    for (const { index, element } of this.rows) element.hidden = this.broken.has(index);
    this.pane.hidden = this.rows.every(({ element }) => element.hidden);
  }

  /** @param {number} joint that broke now, or at a moment that is looked at again */
  lose(joint) {
    this.setBroken([...this.broken, joint]);
  }

  /** @param {Joint} joint @param {number} index @param {number} axis @param {import("./types.js").Motor} motor @returns {Row} */
  row(joint, index, axis, motor) {
    const units = coordinateUnits(joint, axis);
    const unit = { velocity: units.qd, position: units.q, force: units.force }[motor.type];
    const start = firstOf(motor.target);
    const range = this.range(joint, axis, motor);
    const input = /** @type {HTMLInputElement} */ (make("input", {
      type: "range", min: range[0], max: range[1], step: (range[1] - range[0]) / STEPS, value: start, "aria-label": `${motor.type} target of ${joint.name}` }));
    const output = make("output", {}, quantity(start, unit));
    const actual = make("span", {}, motor.type);
    const name = make("span", { class: "motor-name" }, axis ? `${joint.name}, axis ${axis + 1}` : joint.name);
    const element = make("label", { class: "motor" }, name, make("small", { class: "muted" }, actual), input, output);
    const row = { joint: joint.name, planned: motor.target, target: motor.target, index, axis, unit, force: units.force, input, output, actual, element, moves: 0, turn: 0 };
    input.addEventListener("input", () => this.changed(row));
    return row;
  }

  /** @param {Joint} joint @param {number} axis @param {import("./types.js").Motor} motor @returns {[number, number]} */
  range(joint, axis, motor) {
    const targets = typeof motor.target === "number" ? [motor.target] : motor.target.values;
    const largest = Math.max(...targets.map(Math.abs), motor.type === "position" ? Math.PI / 4 : 1);
    const limits = joint.type === "ball" ? null : [joint.limits, joint.limits2, joint.limits3][axis];
    if (motor.type === "position" && limits && (limits.lower ?? -Infinity) < (limits.upper ?? Infinity)) {
      return [limits.lower ?? -2 * largest, limits.upper ?? 2 * largest];
    }
    return [-2 * largest, 2 * largest];
  }

  /**
   * All targets as they are now, or were at a turn: those of the scene but for what has been commanded. Those that were set since stay.
   * @param {import("./types.js").MotorTarget[]} targets @param {number} [turn]
   */
  setAll(targets, turn = Infinity) {
    for (const row of this.rows.filter((one) => one.turn <= turn)) {
      clearTimeout(this.timers.get(row));
      this.timers.delete(row);
      const commanded = targets.find(({ joint, axis }) => joint === row.joint && axis === row.axis);
      if (commanded) this.set(row.joint, row.axis, commanded.target);
      else {
        row.target = row.planned;
        this.write(row, firstOf(row.planned));
      }
    }
  }

  /** One target, set by a command of anybody. @param {string} joint @param {number} axis @param {number} target */
  set(joint, axis, target) {
    const row = this.rows.find((one) => one.joint === joint && one.axis === axis);
    if (!row) return;
    row.target = null; // from now on what was commanded, no longer what the scene says
    row.turn = ++this.turn;
    this.write(row, target);
  }

  /** @param {Row} row @param {number} target */
  write(row, target) {
    row.input.value = String(target);
    this.label(row, target);
  }

  /** @param {Row} row @param {number} target */
  label(row, target) {
    setText(row.output, quantity(target, row.unit));
    row.input.setAttribute("aria-valuetext", quantity(target, row.unit));
  }

  /** @param {Row} row */
  changed(row) {
    row.target = null;
    row.moves += 1;
    row.turn = Infinity; // on its way
    this.label(row, row.input.valueAsNumber);
    if (this.timers.has(row)) return;
    this.timers.set(row, window.setTimeout(async () => {
      this.timers.delete(row);
      const { moves } = row;
      const taken = await this.onTarget(row.joint, row.axis, row.input.valueAsNumber);
      if (row.moves !== moves) return;
      row.turn = ++this.turn;
      if (!taken) this.onRefused();
    }, SEND_MS));
  }

  /** @param {Numbers} numbers @param {number} time s, of the moment in the view */
  update({ joints }, time) {
    const now = byCoordinate(joints);
    for (const row of this.rows) {
      if (row.target !== null && typeof row.target !== "number") {
        this.write(row, valueAt(row.target, time));
      }
      const actual = now(row.index, row.axis);
      if (actual) setText(row.actual, `${quantity(plain(row.unit === "rad" || row.unit === "m" ? actual.q : actual.qd), row.unit.startsWith("N") ? "" : row.unit)} · ${quantity(plain(actual.motorForce), row.force)}`);
    }
  }
}

/** Where joints are, to be asked for many of them. @param {Numbers["joints"]} joints */
export function byCoordinate(joints) {
  /** @type {Map<number, NonNullable<Numbers["joints"]>[0]>} */
  const found = new Map(joints?.map((one) => [AXES * one.joint + one.coordinate, one]));
  return (/** @type {number} */ joint, /** @type {number} */ coordinate) => found.get(AXES * joint + coordinate);
}

/** @param {import("./types.js").Motor["target"]} target */
function firstOf(target) {
  return typeof target === "number" ? target : target.values[0];
}

/** The motors of a joint by axis; of a ball one for each component of its target. @param {Joint} joint @returns {(import("./types.js").Motor | null | undefined)[]} */
function motorsOf(joint) {
  const { motor, motor2, motor3 } = joint;
  if (joint.type !== "ball" || !motor) return /** @type {import("./types.js").Motor[]} */ ([motor, motor2, motor3]);
  const { type, target } = /** @type {import("./types.js").BallMotor} */ (motor);
  return [0, 1, 2].map((k) => ({
    type, target: Array.isArray(target) ? target[k] : { ...target, values: target.values.map((value) => value[k]) } }));
}

/** A target that follows a table. @param {{times: number[], values: number[], interpolation?: string}} table @param {number} time s */
function valueAt({ times, values, interpolation }, time) {
  const next = times.findIndex((one) => one > time);
  if (next === 0) return values[0];
  if (next < 0) return values[values.length - 1];
  if (interpolation === "step") return values[next - 1];
  const u = (time - times[next - 1]) / (times[next] - times[next - 1]);
  return values[next - 1] + u * (values[next] - values[next - 1]);
}
