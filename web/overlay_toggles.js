/** Switches for what is drawn over the bodies; kept from scene to scene and from visit to visit. */
import { byId, make } from "./dom.js";
import { quantity } from "./format.js";
import { keptChoices } from "./kept.js";
import { inBrowser } from "./storage.js";

/** @import {View} from "./view.js" */

const KEPT = "cardan.overlays";
/** @type {[name: string, label: string, color: string][]} color: none where bodies keep their own */
const TOGGLES = [
  ["contacts", "Contacts", "#ff4d6d"], ["normals", "Normals", "#49c6e5"], ["forces", "Forces", "#ffb000"], ["friction", "Friction", "#c792ff"],
  ["joints", "Joints", "#7dd87d"], ["centers", "Mass centres", "#fff3c4"], ["events", "Events", "#ff9de2"], ["trails", "Trails", "#7dd87d"], ["boxes", "Boxes", "#8fb0cc"], ["inertia", "Inertia boxes", "#ff9e7a"],
  ["motors", "Motor forces", "#ff7ab6"], ["names", "Names", ""], ["islands", "Islands", "#d9c36a"], ["heat", "Solver errors", "#ffe9a8"], ["collision", "Collision shapes", "#c46a6a"], ["transparent", "Transparent", ""], ["wireframe", "Wireframe", ""],
];

/** @param {View} view */
export function overlayToggles(view) {
  /** @type {Record<string, boolean>} */
  const state = { events: true, ...keptChoices(KEPT) };
  /** @type {Map<string, HTMLInputElement>} */
  const inputs = new Map();
  /** @type {Set<string>} those that are shown for one scene */
  const lent = new Set();
  const apply = (/** @type {string} */ name) => {
    if (name in view.look) view.setLook(/** @type {keyof View["look"]} */ (name), Boolean(state[name]));
    else view.shown[/** @type {keyof View["shown"]} */ (name)] = Boolean(state[name]);
  };
  const show = (/** @type {string} */ name, /** @type {boolean} */ on) => {
    state[name] = on;
    const input = inputs.get(name);
    if (input) input.checked = on;
    apply(name);
  };
  const set = (/** @type {string} */ name, /** @type {boolean} */ on) => {
    lent.delete(name);
    show(name, on);
    inBrowser.set(KEPT, JSON.stringify(Object.fromEntries(Object.entries(state).filter(([one]) => !lent.has(one)))));
  };
  byId("overlays", HTMLElement).append(...TOGGLES.map(([name, label, color]) => {
    const input = /** @type {HTMLInputElement} */ (make("input", { type: "checkbox", checked: Boolean(state[name]), "data-overlay": name }));
    input.addEventListener("change", () => set(name, input.checked));
    inputs.set(name, input);
    apply(name);
    return make("label", {}, input, make("span", {}, label), ...(color ? [make("i", { style: `background:${color}` })] : []));
  }));
  const scale = byId("force-scale", HTMLInputElement);
  scale.addEventListener("input", () => {
    view.forceScale = 10 ** scale.valueAsNumber;
    const text = `${quantity(view.forceScale)} times`;
    scale.setAttribute("aria-valuetext", text);
  });
  return {
    /** For this scene alone. @param {string} name */
    lend: (name) => {
      if (state[name]) return;
      lent.add(name);
      show(name, true);
    },
    /** Without what was shown for one scene. */
    restore: () => {
      for (const name of lent) show(name, false);
      lent.clear();
    },
    toggle: (/** @type {string} */ name) => set(name, !state[name]),
    chosen: () => TOGGLES.map(([name]) => name).filter((name) => state[name]),
    /** @param {string[]} names those that are on; all others are off */
    choose: (names) => { for (const [name] of TOGGLES) set(name, names.includes(name)); },
  };
}
