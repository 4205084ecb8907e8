/**
 * What the server says of a scene before it runs: size, degrees of freedom, what is redundant, overlaps
 * or hangs on nothing, and the largest step.
 *
 * @import {Preview, Scene} from "./types.js"
 */
import { make } from "./dom.js";
import { quantity } from "./format.js";

const LISTED = 3;

/**
 * @param {Preview} preview @param {Scene} scene @param {number | null} seconds estimated cost of the run
 * @returns {HTMLElement}
 */
export function previewOf(preview, scene, seconds) {
  const { degrees_of_freedom: freedom, redundant, overlaps, loose, steps } = preview;
  const dt = scene.simulation?.dt ?? 0.001;
  /** @type {[string, string, boolean][]} label, value, whether a person should look */
  const facts = [
    ["Bodies, joints", `${scene.bodies.length}, ${scene.joints?.length ?? 0}`, false],
    ["Degrees of freedom", freedom === null ? "too large to count" : String(freedom), false],
  ];
  if (seconds !== null) facts.push(["Estimated cost", quantity(seconds, "s"), false]);
  const redundantWords = redundant.map(({ joint, equations }) => `${joint} (${equations})`);
  if (redundant.length) facts.push(["Redundant equations", `${listed(redundantWords)}: reactions there are not unique`, true]);
  if (overlaps.length) facts.push(["Overlap at the start", listed(overlaps.map(({ body, other_body: other, depth }) => `${body} and ${other} by ${quantity(1000 * depth, "mm")}`)), true]);
  if (loose.length) facts.push(["Falls without end", listed(loose), true]);
  const limits = /** @type {[string, number][]} */ (Object.entries(steps).filter(([, step]) => step !== null)).sort((a, b) => a[1] - b[1]);
  if (limits.length) {
    const [why, largest] = limits[0];
    facts.push(["Largest step", `${quantity(1000 * largest, "ms")} by ${why}; this scene takes ${quantity(1000 * dt, "ms")}`, dt > largest]);
  }
  return make("dl", { class: "preview" }, ...facts.flatMap(([label, value, look]) => [make("dt", {}, label), make("dd", look ? { class: "look" } : {}, value)]));
}

/** @param {string[]} names */
function listed(names) {
  return names.slice(0, LISTED).join(", ") + (names.length > LISTED ? ` and ${names.length - LISTED} more` : "");
}
