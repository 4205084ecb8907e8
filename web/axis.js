/** An axis of a plot in SVG: where values are along it, and which of them get a label. */
import { brief } from "./format.js";

/** Labels of an axis, about; and how far positive values reach, the largest over the least, until it is logarithmic. */
const TICKS = 5;
const DECADES = 100;

/** @typedef {{log: boolean, ticks: [number, string][], share: (value: number) => number}} Axis  ticks: with their labels;  share: 0 at one end, 1 at the other */

/** About values, with room at both ends. @param {number[]} values @param {boolean} [wanted] logarithmic, where all are positive @returns {Axis} */
export function axisOf(values, wanted = true) {
  const [least, most] = values.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);
  const log = wanted && least > 0 && most > DECADES * least;
  const on = log ? Math.log10 : Number;
  let [low, high] = Number.isFinite(least) ? [on(least), on(most)] : [0, 1];
  const room = 0.05 * (high - low) || 0.1 * Math.abs(high) || 1;
  [low, high] = [low - room, high + room];
  const step = log ? Math.ceil((high - low) / TICKS) : roundStep((high - low) / TICKS);
  const first = Math.ceil(low / step);
  const ticks = Array.from({ length: Math.floor(high / step) - first + 1 }, (_, i) => {
    const tick = step * (first + i);
    return /** @type {[number, string]} */ (log ? [10 ** tick, powerText(10 ** tick)] : [tick, tickText(tick, step)]);
  });
  return { log, ticks, share: (value) => (on(value) - low) / (high - low) };
}

/** Powers of ten without their mantissa. @param {number} tick */
function powerText(tick) {
  return brief(tick).replace(/^1\.00·/, "");
}

/** With the digits that tell neighbours apart. @param {number} tick @param {number} step */
function tickText(tick, step) {
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  return digits > 6 || step >= 1e4 ? brief(tick) : String(+tick.toFixed(digits)).replace("-", "−");
}

/** 1, 2 or 5 times a power of ten, no less than a number. @param {number} least */
function roundStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return power * ([1, 2, 5].find((digit) => digit * power >= least) ?? 10);
}
