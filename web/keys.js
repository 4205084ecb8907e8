/** The keyboard: what each key does, and the list of it for people. */
import { keptChoices } from "./kept.js";
import { inBrowser } from "./storage.js";

/**
 * @typedef {object} Binding
 * @property {string} key       of KeyboardEvent, lower case
 * @property {boolean} [shift]  only with or (false) only without Shift; not given: either
 * @property {string} shown     how the help names it
 * @property {string} does
 * @property {() => unknown} run
 * @property {{key: string, shift?: boolean, shown: string}} [first]  what it was before a person chose another key
 *
 * @typedef {{off: boolean, keys: Record<string, {key: string, shift?: boolean, shown: string}>}} Choices  keys: by what they do
 */

const KEPT = "cardan.keys";

/** @type {Choices} of this browser */
export let choices = { off: false, keys: {}, ...keptChoices(KEPT) };

/** @param {Choices} chosen */
export function keepChoices(chosen) {
  choices = chosen;
  inBrowser.set(KEPT, JSON.stringify(chosen));
}

/** @type {[name: string, does: string][]} */
export const GESTURES = [
  ["Drag", "turn"], ["Right drag", "move"], ["Wheel", "zoom to the pointer"], ["Click", "select a body"],
  ["Double click", "frame a body"], ["Ctrl + drag", "pull a body by a spring"], ["Finger at rest", "pull a body by a spring"], ["Ctrl + K", "find a command"],
  ["↑ ↓ Home End", "in the outline: from entry to entry"],
];

/** Keys that a focused control needs for itself. @param {EventTarget | null} target @param {string} key */
function taken(target, key) {
  // whatever has the focus in the dialog, also when that is gone
  if (document.querySelector("dialog[open]")) return true;
  if (target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement) return true;
  if (target instanceof HTMLInputElement) return target.type !== "checkbox" || key === " ";
  if (!(target instanceof Element)) return false;
  // what can be scrolled and has the focus is scrolled
  if (target.matches("[role=region]") && (key.startsWith("arrow") || key === "home" || key === "end")) return true;
  return target.matches("button, summary, a, [role=button]") && (key === " " || key === "enter");
}

/** @param {Binding[]} bindings @param {() => unknown} onPalette for Ctrl+K, wherever the focus is but in a dialog */
export function listen(bindings, onPalette) {
  for (const binding of bindings) {
    const { key, shift, shown } = binding;
    Object.assign(binding, { first: { key, shift, shown } }, choices.keys[binding.does]);
  }
  window.addEventListener("keydown", (event) => {
    const key = event.key.toLowerCase();
    if ((event.ctrlKey || event.metaKey) && key === "k" && !document.querySelector("dialog[open]")) {
      event.preventDefault();
      onPalette();
      return;
    }
    if (choices.off || event.ctrlKey || event.metaKey || event.altKey || taken(event.target, key)) return;
    const found = bindings.find((binding) => binding.key === key && (binding.shift ?? event.shiftKey) === event.shiftKey);
    if (!found) return;
    event.preventDefault();
    found.run();
  });
}
