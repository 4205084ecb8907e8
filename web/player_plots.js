/**
 * The plots of a run in a file of its own: curves as SVG, with the moment that is shown as a line. A click goes to a moment.
 *
 * @typedef {{title: string, log: boolean, times: number[], curves: {label: string, ink: number, dashed: boolean, values: (number | null)[]}[]}} KeptPlot
 */
import { axisOf } from "./axis.js";
import { label, node } from "./svg.js";

const SIZE = { width: 400, height: 150, left: 62, right: 12, top: 8, bottom: 20 };
/** px per unit of a plot that is alone: it is as wide as the window, and as high as one beside others can be. */
const SCALE = 1.6;

/** @param {HTMLElement} host @param {KeptPlot[]} plots @param {(time: number) => void} onSeek s @returns {(time: number) => void} moves the lines to a moment */
export function showPlots(host, plots, onSeek) {
  let [shown, drawn] = [0, 0];
  /** @type {((time: number) => void)[]} */
  let lines = [];
  const fit = () => {
    const width = Math.max(SIZE.width, plots.length === 1 ? host.clientWidth / SCALE : 0);
    if (width === drawn) return;
    drawn = width;
    host.replaceChildren();
    lines = plots.map((plot) => draw(host, plot, onSeek, width));
    lines.forEach((move) => move(shown));
  };
  new ResizeObserver(fit).observe(host);
  fit();
  return (time) => {
    shown = time;
    lines.forEach((move) => move(time));
  };
}

/** @param {HTMLElement} host @param {KeptPlot} plot @param {(time: number) => void} onSeek @param {number} width */
function draw(host, { title, log, times, curves }, onSeek, width) {
  const { height, left, right, top, bottom } = SIZE;
  const known = (/** @type {number | null} */ value) => value !== null && (!log || value > 0);
  const y = axisOf(curves.flatMap(({ values }) => /** @type {number[]} */ (values.filter(known))), log);
  const [first, last] = [times[0], Math.max(times[times.length - 1], times[0] + 1e-9)];
  const px = (/** @type {number} */ time) => left + ((time - first) / (last - first)) * (width - left - right);
  const py = (/** @type {number} */ value) => height - bottom - y.share(value) * (height - top - bottom);
  const svg = node("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${title}: ${curves.map((curve) => curve.label).join(", ")}` });
  const x = axisOf([first, last], false);
  for (const [tick, words] of y.ticks) svg.append(node("line", { class: "grid", x1: left, x2: width - right, y1: py(tick), y2: py(tick) }), label(words, left - 5, py(tick) + 3, "end"));
  for (const [tick, words] of x.ticks.filter(([one]) => one >= first && one <= last)) svg.append(label(`${words} s`, px(tick), height - 5, "middle"));
  for (const { values, ink, dashed } of curves) {
    // a value that is missing ends a piece of the curve
    const pieces = values.map((value, i) => (known(value) ? `${i && known(values[i - 1]) ? "L" : "M"}${px(times[i]).toFixed(1)} ${py(/** @type {number} */ (value)).toFixed(1)}` : ""));
    svg.append(node("path", { class: `curve ink${ink}${dashed ? " dashed" : ""}`, d: pieces.join("") }));
  }
  const line = node("line", { class: "now", y1: top, y2: height - bottom });
  svg.append(line);
  svg.addEventListener("click", (event) => {
    const { left: edge, width: shown } = svg.getBoundingClientRect();
    const at = ((event.clientX - edge) / shown) * width;
    onSeek(Math.min(last, Math.max(first, first + ((at - left) / (width - left - right)) * (last - first))));
  });
  const legend = document.createElement("figcaption");
  legend.append(title, ...curves.map(({ label: name, ink }) => Object.assign(document.createElement("span"), { className: `ink${ink}`, textContent: name })));
  const figure = document.createElement("figure");
  figure.append(legend, svg);
  host.append(figure);
  return (/** @type {number} */ time) => {
    for (const end of ["x1", "x2"]) line.setAttribute(end, px(Math.min(last, Math.max(first, time))).toFixed(1));
  };
}
