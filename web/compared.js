/**
 * Comparisons of the gallery: one scene simulated twice, with one thing told otherwise. The first run is in
 * the timeline, the second beside it; below stand the numbers that theory gives, and whether each run has them.
 *
 * @import {Comparing, ExpectedNumber, Frame} from "./types.js"
 * @import {StoredRun} from "./stored.js"
 */
import * as api from "./api.js";
import { byId, make } from "./dom.js";
import { quantity, signs } from "./format.js";
import { Track } from "./ghost.js";
import { clearMessages } from "./messages.js";
import { openStored } from "./stored.js";

const AXES = ["x", "y", "z"];
const RATES = ["vx", "vy", "vz"];

/** @param {import("./main.js").Page} page @param {Comparing} comparing */
export async function openComparing(page, { name, title, look, scene, runs, source, numbers }) {
  const wanted = runs.map(({ label, overrides }) => api.createSimulation({ scene, name: `${title}: ${label}`, overrides }));
  const what = `“${title}” starts`;
  const infos = await page.opening.waiting.through(Promise.all(wanted), what);
  const failed = infos.find((info) => info.status !== "succeeded");
  if (failed) throw new api.ProblemError({ title: "A run of the comparison did not end well", code: failed.error?.code ?? failed.status, detail: failed.error?.message ?? `It is ${failed.status}; the list of runs has it.`, retryable: true });
  const [first, second] = await Promise.all(infos.map((info) => openStored(info)));
  clearMessages();
  await page.show(first, null);
  page.gallery?.mark(name);
  byId("scene-name", HTMLElement).textContent = title;
  await (await page.late.loadComparison()).show(new Track(runs[1].label, second.recording.steps.map((_, i) => second.recording.frame(i))), runs[0].label);
  // what the first number is about, and energy, run against run
  const channel = numbers[0].of === "normal_force" ? "contact" : "position";
  for (const key of [`difference:${channel}:${numbers[0].body}`, "difference:energy"]) page.charts.toggle(key, true);
  byId("compare-numbers", HTMLElement).replaceChildren(make("p", {}, look), tableOf(numbers, [first, second], runs.map(({ label }) => label)), make("p", { class: "muted" }, `By theory: ${signs(source)}.`));
  byId("compare-details", HTMLDetailsElement).hidden = false;
}

/** @param {ExpectedNumber[]} numbers @param {StoredRun[]} runs @param {string[]} labels */
function tableOf(numbers, runs, labels) {
  const rows = numbers.map((number) => {
    const reached = measured(runs[number.run], number);
    const met = Math.abs(reached - number.expected) <= number.within;
    return make("tbody", { "data-met": String(met) },
      make("tr", {}, make("th", { scope: "rowgroup", colspan: 3 }, `${labels[number.run]}: ${number.what}`)),
      make("tr", {}, make("td", {}, quantity(number.expected, number.unit)), make("td", {}, quantity(reached, number.unit)), make("td", {}, met ? "✓ met" : `✗ beyond ${quantity(number.within, number.unit)}`)));
  });
  const head = make("tr", {}, ...["Expected", "Reached", "Met"].map((text) => make("th", { scope: "col" }, text)));
  return make("table", {}, make("thead", {}, head), ...rows);
}

/** At the recorded moment nearest to the one that is meant. @param {StoredRun} run @param {ExpectedNumber} number */
export function measured({ recording, scene }, { body, of, at }) {
  const before = recording.indexAt(at);
  const after = Math.min(before + 1, recording.times.length - 1);
  const index = Math.abs(recording.times[after] - at) < Math.abs(recording.times[before] - at) ? after : before;
  return valueOf(recording.frame(index), scene.bodies.findIndex((one) => one.name === body), of);
}

/** @param {Frame} frame @param {number} body @param {string} of @returns {number} m, m/s, rad, N */
function valueOf({ poses, velocities, contacts }, body, of) {
  if (of === "normal_force") {
    let sum = 0;
    for (let i = 0; contacts && i < contacts.count; i += 1) {
      if (contacts.bodies[2 * i] === body || contacts.bodies[2 * i + 1] === body) sum += contacts.values[9 * i + 7];
    }
    return sum;
  }
  if (RATES.includes(of)) return velocities ? velocities[6 * body + RATES.indexOf(of)] : NaN;
  if (!poses) return NaN;
  if (AXES.includes(of)) return poses[7 * body + AXES.indexOf(of)];
  // about z, without whole turns
  const angle = 2 * Math.atan2(poses[7 * body + 5], poses[7 * body + 6]);
  return angle - 2 * Math.PI * Math.round(angle / (2 * Math.PI));
}
