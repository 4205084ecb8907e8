/**
 * One plot over simulated time: curves of a series, drawn by uPlot, with the moment in the view as a
 * vertical line. What is plotted is decided in charts.js.
 *
 * @import uPlot from "uplot"
 * @import {Frame} from "./types.js"
 */
import { icon, make, setText } from "./dom.js";
import { brief, tickLabels } from "./format.js";
import { Series } from "./series.js";
import { theme, themeColor } from "./theme.js";

/** Decades shown below the largest value on a logarithmic axis, and the lowest: powers of ten beyond 1e22 are not exact, and ticks that are made of them have no end. */
const DECADES = 9;
const LOWEST = -22;
/** Share of a value within which others are the same but for rounding: ticks that lie closer have no end. */
const ROUNDING = 1e-12;
/** Share of the times per step that the axis shows in full; rarer ones are cut, and the largest is named. */
const COMMON = 0.99;

/** Width of a digit on an axis [px]. */
const LETTER = 6;

/** Steps between the ticks of an axis that counts things. */
const WHOLE = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5];

/** Apart in lightness for colour-blind readers; in the order of the curves. */
const INK = {
  dark: ["#6fb7e6", "#f0a04b", "#e6ebef", "#ff8fb1"],
  light: ["#0b6296", "#b35c00", "#182028", "#a8326e"],
};

/**
 * @typedef {object} Curve
 * @property {string} label
 * @property {(frame: Frame, other: Frame | null) => number} value  other: of the other run, at the same time
 * @property {"y" | "right"} [scale]
 * @property {number} [like]  of the other run: dashed, in the ink of this curve
 *
 * @typedef {object} PlotKind
 * @property {string} title
 * @property {boolean} [log]
 * @property {boolean} [robust]
 * @property {boolean} [counts]     the left axis counts things: whole numbers only
 * @property {boolean} [folded]     one of those that narrow screens leave out
 * @property {string} [key]         of a pinned one
 * @property {"position" | "velocity"} [quantity]  of a body: its curves have the errors of it
 * @property {(frame: Frame) => boolean} [has]  whether a frame says anything about it
 * @property {Curve[]} curves
 *
 * @typedef {{onSeek: (time: number) => void, onMore: (plot: Plot) => void, onUnpin: (key: string) => void}} PlotHandlers
 */

export class Plot {
  /** @param {PlotKind} kind @param {PlotHandlers} handlers */
  constructor(kind, handlers) {
    this.kind = kind;
    this.handlers = handlers;
    this.log = kind.log ?? false;
    this.shown = 0; // s, the moment in the view
    /** @type {((chart: uPlot, ink: string[]) => void) | null} draws how far the curves can be believed */
    this.trust = null;
    /** @type {string[]} words at the left axis */
    this.ticks = [];
    this.series = new Series(kind.curves.length);
    /** @type {uPlot | null} */
    this.chart = null;
    const { curves, title, key } = kind;
    this.values = curves.map(() => make("span"));
    this.swatches = curves.map(() => make("i"));
    const legend = make("div", { class: "legend" }, ...curves.map((curve, i) => make("span", {}, this.swatches[i], `${curve.label} `, this.values[i])));
    this.area = make("div", { class: "plot" });
    this.title = make("h3", {}, title);
    const more = make("button", { type: "button", class: "tool", "aria-label": `Table and file of ${title}`, title: "Table, CSV, picture, axis", onclick: () => handlers.onMore(this) }, icon("table"));
    const tools = [more, ...(key ? [make("button", { type: "button", class: "tool", "aria-label": `Remove the plot of ${title}`, title: "Remove", onclick: () => handlers.onUnpin(key) }, icon("close"))] : [])];
    this.element = make("section", { class: `chart${kind.folded ? " folded" : ""}`, "aria-label": title, ...(key ? { "data-pin": key } : {}) },
      make("header", {}, this.title, legend, make("span", { class: "tools" }, ...tools)), this.area);
  }

  /** Drawn anew at the next update: with the colours of the theme, or another axis. */
  forget() {
    this.chart?.destroy();
    this.chart = null;
  }

  /** @param {Frame} frame @param {Frame | null} other */
  push(frame, other) {
    if (this.kind.has?.(frame) ?? true) this.series.push(frame.time, this.kind.curves.map((curve) => finite(curve.value(frame, other))));
  }

  /** @param {typeof uPlot} library @param {number} shown s, the moment in the view */
  update(library, shown) {
    this.shown = shown;
    this.area.dataset.empty = String(!this.series.times.length);
    this.chart ??= this.draw(library);
    this.chart.setData(/** @type {uPlot.AlignedData} */ ([this.series.times, ...this.series.values]));
    const row = this.series.at(shown);
    if (this.kind.robust) this.nameCut();
    this.kind.curves.forEach((_, i) => setText(this.values[i], row[i] === null ? "" : brief(/** @type {number} */ (row[i]))));
  }

  /** @param {typeof uPlot} library */
  draw(library) {
    const { kind: { curves, robust, counts }, log, area } = this;
    const inks = INK[theme()];
    const ink = curves.map((curve, i) => inks[curve.like ?? i % inks.length]);
    const [muted, line] = [themeColor("muted"), themeColor("line")];
    ink.forEach((color, i) => { this.swatches[i].style.background = color; });
    // uPlot enlarges whole numbers of pixels only where the screen is dense
    const axis = { stroke: muted, font: "11px system-ui, sans-serif", grid: { stroke: line, width: 1 }, ticks: { show: false }, gap: 4 };
    const right = curves.some((curve) => curve.scale === "right");
    const chart = new library({
      width: Math.max(80, area.clientWidth), height: Math.max(60, area.clientHeight), legend: { show: false }, padding: [6, right ? 0 : 14, 0, 0],
      cursor: { sync: { key: "time" }, drag: { x: false, y: false }, points: { size: 5 } },
      scales: { x: { time: false, range: someTime }, y: log ? { distr: 3, range: logRange } : { range: robust ? withoutOutliers : padded }, ...(right ? { right: { range: padded } } : {}) },
      axes: [
        { ...axis, size: 22, space: 60, values: (_, ticks) => tickLabels(ticks).map((label) => label && `${label} s`) },
        { ...axis, ...(log ? { filter: decadesOnly, grid: { ...axis.grid, filter: decadesOnly } } : {}), ...(counts ? { incrs: WHOLE } : {}), size: room(46), space: 26, values: (_, ticks) => (this.ticks = tickLabels(ticks)) },
        ...(right ? [{ ...axis, scale: "right", side: /** @type {1} */ (1), size: room(30), space: 26, grid: { show: false }, values: (/** @type {uPlot} */ _, /** @type {number[]} */ ticks) => tickLabels(ticks) }] : []),
      ],
      series: [{}, ...curves.map((curve, i) => ({
        label: curve.label, scale: curve.scale ?? "y", stroke: ink[i], width: 1.5, points: { show: (/** @type {uPlot} */ { data }) => data[0].length === 1, size: 5 }, ...(curve.like === undefined ? {} : { dash: [5, 4] }) }))],
      hooks: { draw: [(u) => this.trust?.(u, ink), (u) => this.mark(u)] },
    }, [[], ...curves.map(() => [])], area);
    chart.over.addEventListener("click", (event) => this.handlers.onSeek(chart.posToVal(event.offsetX, "x")));
    return chart;
  }

  /** Says what the axis cuts off. */
  nameCut() {
    const all = this.series.values[this.series.values.length - 1];
    const most = all.reduce((/** @type {number} */ top, value) => Math.max(top, value ?? 0), 0);
    const cut = most > 1.15 * commonest(all, most);
    this.area.dataset.most = cut ? `most ${brief(most)}` : "";
  }

  /** The moment in the view, as a line. @param {uPlot} chart */
  mark(chart) {
    const x = Math.round(chart.valToPos(this.shown, "x", true));
    const { left, width, top, height } = chart.bbox;
    if (!(x >= left && x <= left + width)) return;
    chart.ctx.save(); // uPlot remembers which colour it has set
    chart.ctx.fillStyle = themeColor("accent");
    chart.ctx.fillRect(x, top, Math.max(1, window.devicePixelRatio), height);
    chart.ctx.restore();
  }

  resize() {
    const { clientWidth, clientHeight } = this.area;
    if (clientWidth) this.chart?.setSize({ width: clientWidth, height: clientHeight });
  }
}

/** @param {number} value */
function finite(value) {
  return Number.isFinite(value) ? value : null;
}

/** Room for the longest label of an axis. @param {number} least px @returns {uPlot.Axis.Size} */
function room(least) {
  return (_, labels) => Math.max(least, 10 + LETTER * Math.max(0, ...(labels ?? []).map((label) => label?.length ?? 0)));
}

/** @type {uPlot.Range.Function} a second where there is one moment or none */
function someTime({ data: [times] }, first, last) {
  return times.length > 1 ? [first, last] : [times[0] ?? 0, (times[0] ?? 0) + 1];
}

/** @type {uPlot.Range.Function} a tenth of room above and below; never an empty range */
function padded(_, low, high) {
  if (low === null || high === null) return [0, 1];
  const room = Math.max((high - low) * 0.1 || Math.abs(high) * 0.1 || 1, ROUNDING * Math.max(-low, high));
  return [low >= 0 && low - room < 0 ? 0 : low - room, high + room];
}

/** @type {uPlot.Range.Function} whole powers of ten */
function logRange(_, low, high) {
  if (low === null || high === null || !(high > 0)) return [1e-12, 1];
  // zeros and negative values have no place on this axis
  const top = Math.max(LOWEST + 1, Math.ceil(Math.log10(high) + 1e-9));
  return [10 ** Math.max(LOWEST, top - DECADES, low > 0 ? Math.floor(Math.log10(low)) : LOWEST), 10 ** top];
}

/** Every third power of ten: room for the labels. @param {uPlot} _ @param {number[]} splits */
function decadesOnly(_, splits) {
  return splits.map((split) => (Math.abs((Math.log10(split) / 3) % 1) < 1e-6 ? split : null));
}

/** @type {uPlot.Range.Function} */
function withoutOutliers(chart, low, high) {
  if (low === null || high === null) return [0, 1];
  return [0, 1.15 * commonest(chart.data[chart.data.length - 1], high)];
}

/** The value that all but the rarest do not exceed. @param {ArrayLike<number | null | undefined>} column @param {number} fallback */
function commonest(column, fallback) {
  const values = Array.from(column).filter((value) => typeof value === "number").sort((a, b) => a - b);
  return values[Math.floor(COMMON * (values.length - 1))] || fallback;
}
