/**
 * The plots below the timeline: energy, time per step, contacts and penetration, residuals, and
 * channels of bodies and joints that a person has pinned. A click in a plot shows that moment.
 * The library that draws them comes once they are in sight: after the first picture, on a small screen when somebody looks at them.
 *
 * @import uPlot from "uplot"
 * @import {Frame, Scene} from "./types.js"
 * @import {PlotKind} from "./plot.js"
 */
import { byId } from "./dom.js";
import { Plot } from "./plot.js";

/** Before the key of a channel: this run less the one beside it. */
export const DIFFERENCE = "difference:";
const REDRAW_MS = 120;
/** and where nothing new is to be seen */
const IDLE_MS = 1000;

/** @param {(energy: NonNullable<Frame["energy"]>) => number} of */
const energy = (of) => (/** @type {Frame} */ frame) => (frame.energy ? of(frame.energy) : NaN);
/** @param {(solver: NonNullable<Frame["solver"]>) => number} of */
const solver = (of) => (/** @type {Frame} */ frame) => (frame.solver ? of(frame.solver) : NaN);
const hasEnergy = (/** @type {Frame} */ frame) => frame.energy !== null;
const hasSolver = (/** @type {Frame} */ frame) => frame.solver !== null;

/** @type {PlotKind[]} */
const STANDARD = [
  { title: "Energy [J]", has: hasEnergy, curves: [
    { label: "kinetic", value: energy((e) => e.kinetic) },
    { label: "potential", value: energy((e) => e.potential) },
    { label: "total", value: energy((e) => e.total) },
    // total less work done, plus what was lost, less what stabilisation added: constant when all is accounted for
    { label: "balance", value: energy((e) => e.total - e.workIn + e.friction + e.impact + e.damping - e.correction) },
  ] },
  { title: "Time per step [µs]", has: hasSolver, robust: true, curves: [
    { label: "collision", value: solver((s) => s.collisionUs) },
    { label: "solve", value: solver((s) => s.solveUs) },
    { label: "all", value: solver((s) => s.stepUs) },
  ] },
  { title: "Contacts, depth [mm]", has: hasSolver, counts: true, folded: true, curves: [
    { label: "contacts", value: solver((s) => s.contacts) },
    { label: "depth", value: solver((s) => s.maxPenetration * 1e3), scale: "right" },
  ] },
  { title: "Solver errors", has: hasSolver, folded: true, log: true, curves: [
    { label: "residual", value: solver((s) => s.residual || NaN) },
    { label: "Coulomb", value: solver((s) => s.coulombError || NaN) },
    { label: "joints", value: solver((s) => s.jointPositionError || NaN) },
  ] },
  { title: "Iterations, rows", has: hasSolver, counts: true, folded: true, curves: [
    { label: "iterations", value: solver((s) => s.iterations) },
    { label: "rows", value: solver((s) => s.rows), scale: "right" },
  ] },
];

export class Charts {
  /** @param {(time: number) => void} onSeek s @param {() => void} onPins the pinned channels have changed */
  constructor(onSeek, onPins) {
    this.onPins = onPins;
    this.handlers = { onSeek, onMore: (/** @type {Plot} */ plot) => this.showTable(plot), onUnpin: (/** @type {string} */ key) => this.toggle(key) };
    this.host = byId("charts", HTMLElement);
    this.shown = 0; // s, the moment in the view
    this.drawn = 0;
    this.stale = true; // something is to be seen that was not drawn yet
    this.standard = STANDARD.map((kind) => new Plot(kind, this.handlers));
    /** @type {Plot[]} of pinned channels, and how far this run is off the one beside it */
    this.pinned = [];
    /** @type {string[]} */
    this.keys = [];
    /** @type {typeof import("./pins.js") | null} loaded with the first of them */
    this.pins = null;
    /** @type {Scene | null} */
    this.scene = null;
    /** @type {import("./ghost.js").Track | null} a run beside this one */
    this.beside = null;
    this.inSight = false;
    /** @type {import("./types.js").RunSummary | null} whose errors the plots show */
    this.summary = null;
    /** @type {import("./trust.js").Trust | null} */
    this.trust = null;
    /** @type {typeof uPlot | null} */
    this.library = null;
    this.loading = false;
    /** @type {(plot: Plot) => void} */
    this.showTrust = () => {};
    this.place();
    new IntersectionObserver(([entry]) => { this.inSight = entry.isIntersecting; }).observe(this.host);
    new ResizeObserver(() => this.all().forEach((plot) => plot.resize())).observe(this.host);
  }

  /** Pinned ones first: somebody asked for them. */
  all() {
    return [...this.pinned, ...this.standard];
  }

  place() {
    this.host.replaceChildren(...this.all().map((plot) => plot.element));
  }

  /** Another run: what is pinned stays where the scene has it. @param {Scene} scene */
  open(scene) {
    this.scene = scene;
    this.beside = null;
    this.keys = this.keys.filter((key) => this.pins?.kindOf(scene, key, false));
    this.makePinned();
    this.clear();
  }

  /** @param {import("./ghost.js").Track | null} track */
  async compare(track) {
    const { scene } = this;
    if (track) await this.loadPins();
    if (scene !== this.scene) return;
    this.beside = track;
    if (!track) this.keys = this.keys.filter((key) => !key.startsWith(DIFFERENCE));
    this.makePinned();
  }

  async loadPins() {
    this.pins ??= await import("./pins.js");
  }

  makePinned() {
    const { scene, beside, pins } = this;
    if (!scene || !pins) return;
    const kinds = this.keys.map((key) => pins.kindOf(scene, key, beside !== null)).filter((kind) => kind !== null);
    for (const plot of this.pinned) plot.forget();
    this.pinned = [...(beside ? [pins.offKind(scene)] : []), ...kinds].map((kind) => new Plot(kind, this.handlers));
    this.pinned.forEach(this.showTrust);
    this.place();
  }

  /** Pins a channel, or removes it. @param {string} key see pins.js @param {boolean} [on] */
  async toggle(key, on = !this.keys.includes(key)) {
    await this.loadPins();
    if (on === this.keys.includes(key)) return;
    this.keys = on ? [...this.keys, key] : this.keys.filter((one) => one !== key);
    this.makePinned();
    this.onPins();
  }

  get needs() {
    const some = (/** @type {RegExp} */ kind) => this.keys.some((key) => kind.test(key.replace(DIFFERENCE, "")));
    return { contacts: some(/^contact:/), joints: some(/^(q|qd|motor|power)\d:/), momentum: some(/^(momentum|angular)$/),
      velocities: some(/^(velocity|speed|momentum|spin):/), masses: some(/^(momentum|spin):/), reactions: some(/^(force|torque):/) };
  }

  /** @param {Plot} plot */
  async showTable(plot) {
    const { showTable } = await import("./plot_table.js");
    showTable(plot, document.title);
  }

  /** Again with the colours of the theme. */
  restyle() {
    for (const plot of this.all()) plot.forget();
    this.drawn = 0;
  }

  clear() {
    for (const { series } of this.all()) series.clear();
    this.drawn = 0;
  }

  /** Draws all anew; what is known beyond the last of them stays. @param {Frame[]} frames */
  refill(frames) {
    const { time } = frames[frames.length - 1];
    const tails = this.all().map(({ series }) => series.after(time));
    this.clear();
    frames.forEach((frame) => this.push(frame));
    this.all().forEach(({ series }, i) => tails[i].forEach(([at, row]) => series.push(at, row)));
  }

  /** @param {Frame} frame */
  push(frame) {
    const other = this.beside?.at(frame.time) ?? null;
    for (const plot of this.all()) plot.push(frame, other);
    this.stale = true;
  }

  /** @param {number} now ms @param {number} shown s, the moment in the view @param {boolean} force also when just drawn */
  update(now, shown, force = false) {
    this.stale ||= shown !== this.shown;
    this.shown = shown;
    if (!this.inSight || (!force && now - this.drawn < (this.stale ? REDRAW_MS : IDLE_MS))) return;
    const { library } = this;
    if (!library) {
      this.load();
      return;
    }
    this.drawn = now;
    this.stale = false;
    for (const plot of this.all()) {
      if (plot.element.offsetParent) plot.update(library, shown);
    }
  }

  /** Errors that were estimated, as bands. @param {import("./types.js").RunSummary | null} summary */
  async believe(summary) {
    if (summary === this.summary) return;
    this.summary = summary;
    const estimated = summary?.verification || summary?.accuracy;
    const module = estimated ? await import("./trust.js") : null;
    if (summary !== this.summary) return;
    const trust = this.trust = module?.trustOf(summary) ?? null;
    this.showTrust = (/** @type {Plot} */ plot) => {
      plot.trust = module && trust && ((chart, ink) => module.drawTrust(plot, chart, trust, ink));
      plot.area.title = trust?.words ?? "";
    };
    this.all().forEach(this.showTrust);
  }

  async load() {
    if (this.loading) return;
    this.loading = true;
    // a service that is away for a moment is asked again
    this.library = await import("uplot").then((module) => module.default, () => null);
    this.loading = false;
  }
}
