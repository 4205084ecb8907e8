/**
 * The modes of a mechanism: about its equilibrium, or about its start where none is found near it. A list of
 * frequencies and damping ratios; one that is chosen moves pale bodies over the scene, at a chosen amplitude.
 * Loaded when it is opened.
 *
 * @import {Page} from "./main.js"
 */
import { Quaternion, Vector3 } from "three";
import { ProblemError, getSessionScene, getSimulationScene, request } from "./api.js";
import { byId, make, setText } from "./dom.js";
import { quantity } from "./format.js";
import { Ghost } from "./ghost.js";

/** Hz between which a mode is shown at its own speed; others are shown at the nearer of the two. */
const SLOWEST = 0.2;
const FASTEST = 1.5;
/** rad or m, of the largest coordinate */
const AMPLITUDE = { least: 0.02, most: 0.6, step: 0.02, first: 0.2 };
const OPACITY = 0.55;
/** Of the fastest mode: differences have no more digits. */
const NOISE = 1e-6;

/** @typedef {[number, number, number]} Triple */
/** @typedef {{body: string, rotation: [Triple, Triple], displacement: [Triple, Triple]}} BodyShape real and imaginary parts */
/** @typedef {{frequency: number, damping_ratio: number, shape: {coordinates: [number, number][], bodies: BodyShape[]}}} Mode */
/** @typedef {{coordinates: string[], modes: Mode[], left_out: string[]}} Linear */
/** @typedef {{status: string, poses: {body: string, position: Triple, orientation: [number, number, number, number]}[], coordinates: Record<string, number[]>}} Rest */

/** @param {Page} page */
export async function openModes(page) {
  const { session } = page;
  document.getElementById("modes-pane")?.remove();
  if (!session) return;
  if (session.running) session.pause();
  const said = make("p", { class: "muted", role: "status" }, "Looking for an equilibrium…");
  const pane = make("section", { class: "pane", id: "modes-pane", "aria-labelledby": "modes-title" },
    make("h2", { id: "modes-title" }, "Modes"), said);
  byId("pose-pane", HTMLElement).after(pane);
  pane.scrollIntoView({ block: "nearest" });
  try {
    const { rest, linear } = await findModes(await sceneOf(session));
    if (pane.isConnected && page.session === session) new Panel(page, pane, said, rest, linear);
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    setText(said, `${error.problem.title}: ${error.problem.detail ?? ""}`);
    pane.append(closing(() => pane.remove()));
  }
}

/** As the service has it. @param {NonNullable<Page["session"]>} session @returns {Promise<import("./types.js").Scene>} */
async function sceneOf({ kind, id, scene }) {
  if (kind === "scene") return scene;
  return kind === "run" ? getSimulationScene(id) : getSessionScene(id);
}

/** About the equilibrium near the start, else about the start. @param {unknown} scene @returns {Promise<{rest: Rest, linear: Linear}>} */
async function findModes(scene) {
  const ask = async (/** @type {string} */ path, /** @type {object} */ body) => (await request("POST", path, { scene, ...body })).json();
  /** @type {Rest} */
  let rest = await ask("/statics", {});
  // what an unsuccessful search leaves is no place to look at
  if (rest.status !== "equilibrium") rest = { ...await ask("/statics", { search: false }), coordinates: {} };
  return { rest, linear: await ask("/linearization", { q: rest.coordinates }) };
}

/** @param {() => void} end */
function closing(end) {
  return make("button", { type: "button", onclick: end }, "Close modes");
}

/** The list, and the bodies that swing. */
class Panel {
  /** @param {Page} page @param {HTMLElement} pane @param {HTMLElement} said @param {Rest} rest @param {Linear} linear */
  constructor(page, pane, said, rest, linear) {
    const { session } = page;
    this.page = page;
    this.pane = pane;
    this.linear = linear;
    this.session = session;
    /** @type {Mode | null} */
    this.mode = null;
    this.began = 0;
    const scene = /** @type {import("./types.js").Scene} */ (session?.scene);
    const found = new Map(rest.poses.map((pose) => [pose.body, pose]));
    /** @type {Float32Array} 7 per body: p, q as x y z w */
    this.rest = Float32Array.from(scene.bodies.flatMap(({ name }) => {
      const { position, orientation: [w, x, y, z] } = /** @type {Rest["poses"][0]} */ (found.get(name));
      return [...position, x, y, z, w];
    }));
    this.poses = this.rest.slice();
    this.index = new Map(scene.bodies.map(({ name }, i) => [name, i]));
    this.still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    const track = { name: "mode", frames: [], at: () => ({ poses: this.poses }) };
    this.ghost = new Ghost(scene, /** @type {import("./ghost.js").Track} */ (/** @type {unknown} */ (track)));
    for (const { mesh } of this.ghost.bodies.groups) Object.assign(mesh.material, { opacity: OPACITY, depthWrite: true });
    this.ghost.root.visible = false;
    page.view.stage.scene.add(this.ghost.root);
    this.list(said, rest);
    // beside the hooks of hooks.js, for tests and curious people: the origin of a pale body, or null
    /** @type {any} */ (window).cardan.mode = (/** @type {string} */ name) => (this.mode ? [...this.poses.subarray(7 * (this.index.get(name) ?? 0)).slice(0, 3)] : null);
    requestAnimationFrame((now) => this.draw(now));
  }

  /** @param {HTMLElement} said @param {Rest} rest */
  list(said, rest) {
    const { coordinates, modes, left_out: leftOut } = this.linear;
    const about = rest.status === "equilibrium" ? "About the equilibrium" : "About the start, which is no equilibrium";
    setText(said, modes.length ? `${about}.${leftOut.length ? ` Left out: ${leftOut.join(", ")}.` : ""}` : `${about}: nothing can swing; motors hold what could move.`);
    if (!modes.length) {
      this.pane.append(closing(() => this.end()));
      return;
    }
    this.amplitude = /** @type {HTMLInputElement} */ (make("input", { type: "range", min: AMPLITUDE.least, max: AMPLITUDE.most, step: AMPLITUDE.step, value: AMPLITUDE.first }));
    const size = make("output", {}, String(AMPLITUDE.first));
    this.amplitude.addEventListener("input", () => setText(size, this.amplitude?.value ?? ""));
    this.buttons = modes.map((mode, i) => make("button", { type: "button", "aria-pressed": "false", onclick: () => this.choose(i) },
      oscillates(mode, modes) ? quantity(mode.frequency, "Hz") : "no oscillation"));
    const rows = modes.map((mode, i) => make("tr", {}, make("td", {}, /** @type {HTMLElement[]} */ (this.buttons)[i]), make("td", {}, isNoise(mode, modes) ? "–" : ratio(mode.damping_ratio))));
    const head = make("tr", {}, make("th", { scope: "col" }, "Frequency"), make("th", { scope: "col" }, "Damping ratio"));
    this.words = make("p", { role: "status", id: "modes-words" }, "Choose one: pale bodies show its shape.");
    this.pane.append(make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows)),
      make("label", { class: "slider" }, make("span", {}, "Amplitude (rad, m)"), this.amplitude, size), this.words, closing(() => this.end()));
    this.names = coordinates;
  }

  /** @param {number} index of the mode */
  choose(index) {
    this.mode = this.mode === this.linear.modes[index] ? null : this.linear.modes[index];
    this.buttons?.forEach((button, i) => button.setAttribute("aria-pressed", String(this.mode === this.linear.modes[i])));
    this.began = performance.now();
    this.ghost.root.visible = this.mode !== null;
    setText(/** @type {HTMLElement} */ (this.words), this.mode ? `${shapeInWords(this.mode, this.names ?? [])}${this.pace()}` : "");
  }

  /** How much slower or faster than it is a mode is shown. */
  pace() {
    const { frequency } = /** @type {Mode} */ (this.mode);
    const shown = Math.min(FASTEST, Math.max(SLOWEST, frequency));
    return frequency === 0 || Math.abs(shown / frequency - 1) < 1e-9 ? "" : ` Shown at ${(shown / frequency).toPrecision(2)} times its speed.`;
  }

  /** @param {number} now ms */
  draw(now) {
    if (!this.pane.isConnected || this.page.session !== this.session) return this.end();
    requestAnimationFrame((next) => this.draw(next));
    if (!this.mode) return undefined;
    const turns = Math.min(FASTEST, Math.max(SLOWEST, this.mode.frequency)) * (now - this.began) / 1000;
    this.place(this.still ? 0 : 2 * Math.PI * turns);
    this.page.pace.wake();
    return undefined;
  }

  /** @param {number} phase rad */
  place(phase) {
    const size = this.amplitude?.valueAsNumber ?? 0;
    const [c, s] = [size * Math.cos(phase), size * Math.sin(phase)];
    const at = (/** @type {[Triple, Triple]} */ [re, im]) => re.map((value, k) => c * value - s * im[k]);
    this.poses.set(this.rest);
    for (const { body, rotation, displacement } of this.mode?.shape.bodies ?? []) {
      const first = 7 * (this.index.get(body) ?? 0);
      at(displacement).forEach((value, k) => { this.poses[first + k] += value; });
      const turn = new Vector3(...at(rotation));
      const angle = turn.length();
      const q = new Quaternion(...this.rest.subarray(first + 3, first + 7));
      if (angle > 0) q.premultiply(new Quaternion().setFromAxisAngle(turn.divideScalar(angle), angle));
      this.poses.set(q.toArray(), first + 3);
    }
    this.ghost.update(0, null);
  }

  end() {
    this.page.view.stage.scene.remove(this.ghost.root);
    this.ghost.dispose();
    this.pane.remove();
    this.page.pace.wake();
  }
}

/** Whether what a mode does is the rounding of a body that is free to go. @param {Mode} mode @param {Mode[]} modes */
function isNoise({ frequency }, modes) {
  return frequency <= NOISE * Math.max(...modes.map((mode) => mode.frequency));
}

/** @param {Mode} mode @param {Mode[]} modes */
function oscillates(mode, modes) {
  return Math.abs(mode.damping_ratio) < 1 && !isNoise(mode, modes);
}

/** A damping ratio; what is rounding of none is none. @param {number} value */
function ratio(value) {
  return Math.abs(value) < 1e-9 ? "0" : value.toPrecision(3);
}

/**
 * What the bodies do, for those who do not see it: coordinates that move most first, and whether with or against the first.
 * @param {Mode} mode @param {string[]} names
 */
function shapeInWords({ shape: { coordinates } }, names) {
  const moving = coordinates.map(([re, im], i) => ({ name: names[i], re, im, size: Math.hypot(re, im) }))
    .filter(({ size }) => size > 1e-3).sort((a, b) => b.size - a.size).slice(0, 8);
  const [first] = moving;
  const share = (/** @type {{re: number, im: number, size: number}} */ { re, im, size }) => {
    const along = (re * first.re + im * first.im) / (size * first.size);
    return `${size.toFixed(2)} ${along > 0.9 ? "with it" : along < -0.9 ? "against it" : "out of phase"}`;
  };
  return moving.map((one, i) => `${one.name} ${i ? share(one) : one.size.toFixed(2)}`).join(", ") + ".";
}
