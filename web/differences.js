/**
 * The choice of channels whose difference to the run beside this one is plotted. Loaded with the first comparison.
 *
 * @import {Scene} from "./types.js"
 */
import { DIFFERENCE } from "./charts.js";
import { make } from "./dom.js";
import { kindOf } from "./pins.js";

/** Bodies and joints of a scene that are listed; others by their names in the inspector. */
const LISTED = 60;
const OF_BODIES = ["position", "velocity", "speed", "contact"];
const OF_JOINTS = ["q0", "qd0", "motor0"];

/** @param {HTMLSelectElement} select @param {Scene} scene @param {(key: string) => void} onChoose adds a plot, or takes it away */
export function offerDifferences(select, scene, onChoose) {
  const group = (/** @type {string} */ name, /** @type {string[]} */ keys) => make("optgroup", { label: name }, ...keys.flatMap((key) => {
    const kind = kindOf(scene, key, false);
    return kind ? [make("option", { value: DIFFERENCE + key }, kind.title)] : [];
  }));
  const moving = scene.bodies.filter(({ type }) => type !== "static").slice(0, LISTED);
  select.replaceChildren(make("option", { value: "" }, "Difference of…"), make("option", { value: `${DIFFERENCE}energy` }, "Energy [J]"),
    ...moving.map(({ name }) => group(name, OF_BODIES.map((what) => `${what}:${name}`))),
    ...(scene.joints ?? []).slice(0, LISTED).map(({ name }) => group(name, OF_JOINTS.map((what) => `${what}:${name}`))));
  select.onchange = () => {
    onChoose(select.value);
    select.value = "";
  };
}
