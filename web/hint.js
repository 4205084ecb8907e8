/** One line for the first visit: what hands can do in the view. Gone at the first touch, and never again. */
import { byId } from "./dom.js";
import { inBrowser } from "./storage.js";

const KEPT = "cardan.hinted";
const SHOWN_MS = 20_000;

/** @returns {boolean} whether this browser has been told */
export function wasHinted() {
  return inBrowser.get(KEPT) !== null;
}

export function showHint() {
  const line = byId("stage-hint", HTMLElement);
  const touch = matchMedia("(pointer: coarse)").matches;
  line.textContent = touch ? "Drag to turn. Rest a finger on a body, then pull it." : "Drag to turn. Hold Ctrl and drag a body to pull it.";
  line.hidden = false;
  inBrowser.set(KEPT, "1");
  const hide = () => { line.hidden = true; };
  byId("stage", HTMLElement).addEventListener("pointerdown", hide, { once: true, capture: true });
  window.setTimeout(hide, SHOWN_MS);
}
