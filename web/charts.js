/**
 * Plots over simulated time: energy, time per step, contacts and penetration, residuals. The vertical
 * line is the moment shown in the view; a click in a plot shows that moment.
 *
 * @import {Frame} from "./types.js"
 */
import uPlot from "uplot";
import { byId, make, setText } from "./dom.js";
import { brief } from "./format.js";
import { Series } from "./series.js";
import { theme, themeColor } from "./theme.js";

const REDRAW_MS = 120;
/** Decades shown below the largest value on a logarithmic axis. */
const DECADES = 9;
/** Share of the times per step that the axis shows in full; rarer ones are cut, and the largest is named. */
const COMMON = 0.99;

/** Apart in lightness for colour-blind readers; in the order of the curves. */
const INK = {
  dark: ["#6fb7e6", "#f0a04b", "#e6ebef", "#ff8fb1"],
  light: ["#0b6296", "#b35c00", "#182028", "#a8326e"],
};

/**
 * @typedef {object} Curve
 * @property {string} label
 * @property {(frame: Frame) => number} value
 * @property {"y" | "right"} [scale]
 *
 * @typedef {{title: string, channel: "energy" | "solver", log?: boolean, robust?: boolean, curves: Curve[]}} Plot
 */

/** @param {(energy: NonNullable<Frame["energy"]>) => number} of */
const energy = (of) => (/** @type {Frame} */ frame) => (frame.energy ? of(frame.energy) : NaN);
/** @param {(solver: NonNullable<Frame["solver"]>) => number} of */
const solver = (of) => (/** @type {Frame} */ frame) => (frame.solver ? of(frame.solver) : NaN);

/** @type {Plot[]} */
const PLOTS = [
  { title: "Energy [J]", channel: "energy", curves: [
    { label: "kinetic", value: energy((e) => e.kinetic) },
    { label: "potential", value: energy((e) => e.potential) },
    { label: "total", value: energy((e) => e.total) },
    // total less work done, plus what was lost, less what stabilisation added: constant when all is accounted for
    { label: "balance", value: energy((e) => e.total - e.workIn + e.friction + e.impact + e.damping - e.correction) },
  ] },
  { title: "Time per step [µs]", channel: "solver", robust: true, curves: [
    { label: "collision", value: solver((s) => s.collisionUs) },
    { label: "solve", value: solver((s) => s.solveUs) },
    { label: "all", value: solver((s) => s.stepUs) },
  ] },
  { title: "Contacts, depth [mm]", channel: "solver", curves: [
    { label: "contacts", value: solver((s) => s.contacts) },
    { label: "depth", value: solver((s) => s.maxPenetration * 1e3), scale: "right" },
  ] },
  { title: "Solver errors", channel: "solver", log: true, curves: [
    { label: "residual", value: solver((s) => s.residual || NaN) },
    { label: "Coulomb", value: solver((s) => s.coulombError || NaN) },
    { label: "joints", value: solver((s) => s.jointPositionError || NaN) },
  ] },
];

export class Charts {
  /** @param {(time: number) => void} onSeek s */
  constructor(onSeek) {
    this.onSeek = onSeek;
    this.host = byId("charts", HTMLElement);
    this.shown = 0; // s, the moment in the view
    this.drawn = 0;
    this.charts = PLOTS.map((plot) => this.make(plot));
    this.host.replaceChildren(...this.charts.map((chart) => chart.element));
    new ResizeObserver(() => this.resize()).observe(this.host);
  }

  /** @param {Plot} plot */
  make(plot) {
    const values = plot.curves.map(() => make("span"));
    const swatches = plot.curves.map(() => make("i"));
    const legend = make("div", { class: "legend" }, ...plot.curves.map((curve, i) => make("span", {}, swatches[i], `${curve.label} `, values[i])));
    const area = make("div", { class: "plot" });
    const title = make("h3", {}, plot.title);
    const element = make("section", { class: "chart", "aria-label": plot.title }, make("header", {}, title, legend), area);
    return { plot, title, element, area, values, swatches, series: new Series(plot.curves.length), chart: /** @type {uPlot | null} */ (null) };
  }

  /** Again with the colours of the theme. */
  restyle() {
    for (const chart of this.charts) {
      chart.chart?.destroy();
      chart.chart = null;
    }
    this.drawn = 0;
  }

  clear() {
    for (const { series } of this.charts) series.clear();
    this.drawn = 0;
  }

  /** @param {Frame} frame */
  push(frame) {
    for (const { plot, series } of this.charts) {
      if (frame[plot.channel]) series.push(frame.time, plot.curves.map((curve) => finite(curve.value(frame))));
    }
  }

  /** @param {number} now ms @param {number} shown s, the moment in the view @param {boolean} force also when just drawn */
  update(now, shown, force = false) {
    this.shown = shown;
    if (!force && now - this.drawn < REDRAW_MS) return;
    this.drawn = now;
    for (const chart of this.charts) {
      if (!chart.element.offsetParent) continue;
      chart.chart ??= this.draw(chart);
      const data = /** @type {uPlot.AlignedData} */ ([chart.series.times, ...chart.series.values]);
      chart.chart.setData(data);
      const row = chart.series.at(shown);
      if (chart.plot.robust) this.nameCut(chart);
      chart.plot.curves.forEach((_, i) => setText(chart.values[i], row[i] === null ? "" : brief(/** @type {number} */ (row[i]))));
    }
  }

  /** @param {Charts["charts"][number]} chart */
  draw({ plot, area, swatches }) {
    const ink = INK[theme()];
    const [muted, line] = [themeColor("muted"), themeColor("line")];
    plot.curves.forEach((_, i) => { swatches[i].style.background = ink[i]; });
    const axis = { stroke: muted, font: "10.5px system-ui, sans-serif", grid: { stroke: line, width: 1 }, ticks: { show: false }, gap: 4 };
    const right = plot.curves.some((curve) => curve.scale === "right");
    const chart = new uPlot({
      width: Math.max(80, area.clientWidth), height: Math.max(60, area.clientHeight), legend: { show: false }, padding: [6, right ? 0 : 8, 0, 0],
      cursor: { sync: { key: "time" }, drag: { x: false, y: false }, points: { size: 5 } },
      scales: { x: { time: false }, y: plot.log ? { distr: 3, range: logRange } : { range: plot.robust ? withoutOutliers : padded }, ...(right ? { right: { range: padded } } : {}) },
      axes: [
        { ...axis, size: 22, space: 60, values: (_, ticks) => ticks.map((tick) => `${+tick.toFixed(3)} s`) },
        { ...axis, ...(plot.log ? { filter: decadesOnly, grid: { ...axis.grid, filter: decadesOnly } } : {}), size: 46, space: 26, values: (_, ticks) => ticks.map((tick) => (tick === null ? "" : short(tick))) },
        ...(right ? [{ ...axis, scale: "right", side: /** @type {1} */ (1), size: 44, space: 26, grid: { show: false }, values: (/** @type {uPlot} */ _, /** @type {number[]} */ ticks) => ticks.map(short) }] : []),
      ],
      series: [{}, ...plot.curves.map((curve, i) => ({ label: curve.label, scale: curve.scale ?? "y", stroke: ink[i], width: 1.5, points: { show: false } }))],
      hooks: { draw: [(u) => this.mark(u)] },
    }, [[], ...plot.curves.map(() => [])], area);
    chart.over.addEventListener("click", (event) => this.onSeek(chart.posToVal(event.offsetX, "x")));
    return chart;
  }

  /** Says what the axis cuts off. @param {Charts["charts"][number]} chart */
  nameCut({ plot, title, series }) {
    const all = series.values[series.values.length - 1];
    const most = all.reduce((/** @type {number} */ top, value) => Math.max(top, value ?? 0), 0);
    const cut = most > 1.15 * commonest(all, most);
    setText(title, cut ? `${plot.title}, most ${brief(most)}` : plot.title);
  }

  /** The moment in the view, as a line. @param {uPlot} chart */
  mark(chart) {
    const x = Math.round(chart.valToPos(this.shown, "x", true));
    const { left, width, top, height } = chart.bbox;
    if (!(x >= left && x <= left + width)) return;
    chart.ctx.fillStyle = themeColor("accent");
    chart.ctx.fillRect(x, top, Math.max(1, window.devicePixelRatio), height);
  }

  resize() {
    for (const { chart, area } of this.charts) {
      if (area.clientWidth) chart?.setSize({ width: area.clientWidth, height: area.clientHeight });
    }
  }
}

/** @param {number} value */
function finite(value) {
  return Number.isFinite(value) ? value : null;
}

/** @param {number} tick */
function short(tick) {
  const size = Math.abs(tick);
  if (size !== 0 && (size < 1e-3 || size >= 1e5)) return tick.toExponential(0).replace("e+", "e");
  return String(+tick.toPrecision(4));
}

/** @type {uPlot.Range.Function} a tenth of room above and below; never an empty range */
function padded(_, low, high) {
  if (low === null || high === null) return [0, 1];
  const room = (high - low) * 0.1 || Math.abs(high) * 0.1 || 1;
  return [low >= 0 && low - room < 0 ? 0 : low - room, high + room];
}

/** @type {uPlot.Range.Function} whole powers of ten */
function logRange(_, low, high) {
  if (low === null || high === null || !(high > 0)) return [1e-12, 1];
  const top = Math.ceil(Math.log10(high) + 1e-9);
  return [10 ** Math.max(top - DECADES, Math.floor(Math.log10(low))), 10 ** top];
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
