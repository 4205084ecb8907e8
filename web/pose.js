/**
 * One slider per joint coordinate: while the run is paused a person poses the mechanism, within the limits
 * of its joints, by `set_state`; "Home" brings every joint back to where the scene starts it. What is posed
 * rests. While the run moves the sliders show where the joints are.
 *
 * @import {Joint, Limits, Scene} from "./types.js"
 * @import {Session} from "./session.js"
 * @import {StoredRun} from "./stored.js"
 */
import { byId, make, setText } from "./dom.js";
import { plain, quantity } from "./format.js";
import { coordinateUnits } from "./inspector.js";
import { byCoordinate } from "./motors.js";

/** How many coordinates `set_state` takes for a joint; none of a fixed joint, a coupling or a rod. @type {Record<string, number>} */
const COORDINATES = { hinge: 1, slider: 1, screw: 1, universal: 2, hinge2: 2, cylindrical: 2, planar: 3 };
/** Reach of a slider on either side where the joint has no limit: half a turn, one metre. */
const REACH = { rad: Math.PI, m: 1 };
const STEPS = 400;

/** @typedef {{joint: string, index: number, coordinate: number, unit: string, input: HTMLInputElement, output: HTMLElement, element: HTMLElement}} Row */

export class Pose {
  /** @param {() => Session | StoredRun | null} current @param {{broken: Set<number>}} motors which know the joints that broke */
  constructor(current, motors) {
    this.current = current;
    this.motors = motors;
    this.pane = byId("pose-pane", HTMLDetailsElement);
    this.host = byId("pose", HTMLElement);
    this.note = make("p", { id: "pose-note", class: "muted" });
    this.home = /** @type {HTMLButtonElement} */ (make("button", { type: "button", disabled: true, title: "Every joint where the scene starts it", onclick: () => this.goHome() }, "Home"));
    this.host.before(this.note);
    this.host.after(this.home);
    /** @type {Scene | null} */
    this.scene = null;
    /** @type {Row[]} */
    this.rows = [];
    /** @type {Record<string, number[]>} where the joints are: what was set last, else what came with a frame */
    this.q = {};
    /** @type {Set<string>} joints that have been moved since the last `set_state` */
    this.moved = new Set();
    this.sending = false;
    /** @type {import("./session.js").Numbers["joints"]} of before the last `set_state`: no news of it, though its answer may be here */
    this.before = null;
  }

  /** Whether the coordinates of joints are shown. */
  get needs() {
    return this.pane.open && !this.pane.hidden;
  }

  /** @param {Scene} scene @param {boolean} stored a stored run cannot be posed */
  open(scene, stored) {
    this.scene = scene;
    this.moved.clear();
    const joints = stored ? [] : scene.joints ?? [];
    this.q = Object.fromEntries(joints.filter(({ type }) => COORDINATES[type]).map((joint) => [joint.name, startOf(joint)]));
    this.rows = joints.flatMap((joint, index) => Array.from({ length: COORDINATES[joint.type] ?? 0 }, (_, k) => this.row(joint, index, k)));
    // an axis that is locked stays where it is, but is sent with the others of its joint
    const offered = this.rows.filter(({ index, coordinate }) => !isLocked(limitsOf(joints[index], coordinate)));
    this.pane.hidden = offered.length === 0;
    this.host.replaceChildren(...offered.map(({ element }) => element));
  }

  /** @param {Joint} joint @param {number} index @param {number} coordinate @returns {Row} */
  row(joint, index, coordinate) {
    const unit = coordinateUnits(joint, coordinate).q;
    const [lower, upper] = rangeOf(joint, coordinate, unit);
    const name = coordinate ? `${joint.name}, axis ${coordinate + 1}` : joint.name;
    const start = this.q[joint.name][coordinate];
    const input = /** @type {HTMLInputElement} */ (make("input", { type: "range", min: lower, max: upper, step: (upper - lower) / STEPS, value: start, "aria-label": `Pose of ${name}` }));
    const output = make("output", {}, quantity(plain(start), unit));
    const element = make("label", { class: "motor" }, make("span", { class: "motor-name" }, name), input, output);
    const row = { joint: joint.name, index, coordinate, unit, input, output, element };
    input.addEventListener("input", () => this.drag(row));
    return row;
  }

  /** @param {Row} row */
  drag(row) {
    this.q[row.joint][row.coordinate] = row.input.valueAsNumber;
    this.label(row, row.input.valueAsNumber);
    this.moved.add(row.joint);
    this.send();
  }

  goHome() {
    (this.scene?.joints ?? []).forEach(({ name, type, initial }, index) => {
      if (!COORDINATES[type] || this.motors.broken.has(index)) return;
      this.q[name] = startOf({ type, initial });
      this.moved.add(name);
    });
    this.rows.forEach((row) => this.write(row, this.q[row.joint][row.coordinate]));
    this.send();
  }

  /** The newest pose, as soon as the one before has arrived: a drag asks faster than a scene can be placed. */
  async send() {
    if (this.sending) return;
    this.sending = true;
    while (this.moved.size) {
      const names = [...this.moved];
      this.moved.clear();
      const q = Object.fromEntries(names.map((name) => [name, asSent(this.q[name])]));
      const qd = Object.fromEntries(names.map((name) => [name, asSent(this.q[name].map(() => 0))]));
      this.before = this.current()?.numbers.joints ?? null;
      const taken = await this.current()?.command("set_state", { q, qd });
      // also under the hand that asked for it
      if (!taken && !this.moved.size) this.show(() => true);
    }
    this.sending = false;
  }

  /** Where the joints are in the view. @param {(row: Row) => boolean} isFree its slider may move */
  show(isFree) {
    const joints = byCoordinate(this.current()?.numbers.joints ?? null);
    for (const row of this.rows) {
      const now = joints(row.index, row.coordinate);
      if (!now) continue;
      this.q[row.joint][row.coordinate] = now.q;
      if (isFree(row)) this.write(row, now.q);
    }
  }

  /** @param {Row} row @param {number} value */
  write(row, value) {
    row.input.value = String(value);
    this.label(row, value);
  }

  /** @param {Row} row @param {number} value */
  label(row, value) {
    const text = quantity(plain(value), row.unit);
    setText(row.output, text);
    row.input.setAttribute("aria-valuetext", text);
  }

  /** Where the joints are in the view, unless somebody is moving them. */
  update() {
    if (!this.needs) return;
    const session = this.current();
    const free = session?.state === "paused" && session.mode === "live";
    setText(this.note, free ? "Within the limits of the joints; what is posed rests." : "Pause at the live edge to pose.");
    this.home.disabled = !free;
    for (const row of this.rows) {
      row.input.disabled = !free;
      row.element.hidden = this.motors.broken.has(row.index);
    }
    // a slider that is held stays where the hand is
    if (!this.sending && !this.moved.size && session?.numbers.joints !== this.before) this.show(({ input }) => document.activeElement !== input || !free);
  }
}

/** @param {{type: string, initial?: Joint["initial"]}} joint @returns {number[]} its coordinates as the scene starts */
function startOf({ type, initial }) {
  const start = initial?.position ?? 0;
  return Array.isArray(start) ? [...start] : Array.from({ length: COORDINATES[type] }, () => start);
}

/** @param {number[]} q @returns {number | number[]} */
function asSent(q) {
  return q.length === 1 ? q[0] : q;
}

/** @param {Joint} joint @param {number} coordinate */
function limitsOf({ limits, limits2, limits3 }, coordinate) {
  return /** @type {Limits | null | undefined} */ ([limits, limits2, limits3][coordinate]);
}

/** @param {Limits | null | undefined} limits */
function isLocked(limits) {
  return (limits?.lower ?? -Infinity) >= (limits?.upper ?? Infinity);
}

/** @param {Joint} joint @param {number} coordinate @param {string} unit @returns {[number, number]} */
function rangeOf(joint, coordinate, unit) {
  const limits = limitsOf(joint, coordinate);
  const reach = REACH[/** @type {keyof typeof REACH} */ (unit)];
  const start = startOf(joint)[coordinate];
  const [lower, upper] = [limits?.lower ?? Math.min(start, 0) - reach, limits?.upper ?? Math.max(start, 0) + reach];
  return lower < upper ? [lower, upper] : [lower, lower + 1e-6];
}
