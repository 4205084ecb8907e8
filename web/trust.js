/**
 * How far the curves of a run can be believed: the errors that were estimated by smaller steps, as bands about curves, and the
 * horizon, up to which the answer does not depend on the step. Loaded for runs that were verified, or asked for an accuracy.
 *
 * @import uPlot from "uplot"
 * @import {Plot} from "./plot.js"
 * @import {RunSummary} from "./types.js"
 */
import { seconds } from "./format.js";
import { themeColor } from "./theme.js";

/** Of bands, and of the veil over what depends on the step. */
const OPACITY = { band: 0.25, veil: 0.16 };

/**
 * @typedef {object} Trust
 * @property {number} horizon         s; infinite: the whole run
 * @property {number | null} step     of the horizon; null: the whole run
 * @property {{position?: number, velocity?: number}} errors  m, m/s, the largest of all bodies up to the horizon
 * @property {string} words
 */

/** @param {RunSummary | null} summary @returns {Trust | null} null: nothing was estimated */
export function trustOf(summary) {
  const { verification, accuracy } = summary ?? {};
  if (verification) {
    const { horizon, horizon_step: step, within, position_error: position, velocity_error: velocity } = verification;
    return { horizon: within ? Infinity : horizon, step: within ? null : step, errors: { position, velocity },
      words: within ? "Bands: estimated errors" : `Bands: estimated errors. After ${seconds(horizon, step ? horizon / step : undefined)} the answer depends on the step.` };
  }
  return accuracy?.position_error ? { horizon: Infinity, step: null, errors: { position: accuracy.position_error }, words: "Bands: estimated errors" } : null;
}

/** @param {Plot} plot @param {uPlot} chart @param {Trust} trust @param {string[]} ink of the curves */
export function drawTrust({ kind, series }, chart, { horizon, errors }, ink) {
  const { ctx, bbox: { left, top, width, height } } = chart;
  const error = kind.quantity && errors[kind.quantity];
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, top, width, height);
  ctx.clip();
  if (error) {
    ctx.globalAlpha = OPACITY.band;
    kind.curves.forEach((curve, i) => {
      // the run beside this one has errors of its own
      if (curve.like === undefined) fillBand(chart, bandOf(series.times, series.values[i], error, horizon), ink[i]);
    });
  }
  if (horizon < Infinity) {
    const x = chart.valToPos(horizon, "x", true);
    ctx.globalAlpha = OPACITY.veil;
    ctx.fillStyle = themeColor("muted");
    ctx.fillRect(Math.max(left, x), top, left + width - Math.max(left, x), height);
  }
  ctx.restore();
}

/**
 * The outline of a band: there along its upper edge, back along the lower one.
 * @param {ArrayLike<number>} times s @param {ArrayLike<number | null | undefined>} values @param {number} error @param {number} horizon s
 * @returns {[number, number][]}
 */
function bandOf(times, values, error, horizon) {
  const there = Array.from(times, (time, i) => /** @type {[number, number | null | undefined]} */ ([time, values[i]]))
    .filter((point) => point[0] <= horizon && typeof point[1] === "number").map(([time, value]) => /** @type {[number, number]} */ ([time, Number(value)]));
  const edge = (/** @type {number} */ by) => there.map(([time, value]) => /** @type {[number, number]} */ ([time, value + by]));
  return [...edge(error), ...edge(-error).reverse()];
}

/** @param {uPlot} chart @param {[number, number][]} outline @param {string} color */
function fillBand(chart, outline, color) {
  const { ctx } = chart;
  ctx.fillStyle = color;
  ctx.beginPath();
  for (const [time, value] of outline) ctx.lineTo(chart.valToPos(time, "x", true), chart.valToPos(value, "y", true));
  ctx.fill();
}
