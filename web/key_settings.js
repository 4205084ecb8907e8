/** The list of keys in the help: each can be given another one, and all can be switched off. Loaded with the help. */
import { make } from "./dom.js";
import { GESTURES, choices, keepChoices } from "./keys.js";
import { showNote } from "./messages.js";

/** @import {Binding} from "./keys.js" */

/** How a key is written. @param {KeyboardEvent} event */
function nameOf({ key, shiftKey }) {
  const words = /** @type {Record<string, string>} */ ({ " ": "Space", ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓" });
  const name = words[key] ?? (key.length === 1 ? key.toUpperCase() : key);
  return shiftKey && key.length > 1 ? `Shift ${name}` : name;
}

/** @param {HTMLElement} list @param {Binding[]} bindings */
export function showKeys(list, bindings) {
  const draw = () => list.replaceChildren(
    ...bindings.flatMap((binding) => [make("dt", {}, keyButton(binding, bindings, draw)), make("dd", {}, binding.does)]),
    ...GESTURES.flatMap(([name, does]) => [make("dt", {}, name), make("dd", {}, does)]));
  draw();
  const on = /** @type {HTMLInputElement} */ (make("input", { type: "checkbox", id: "keys-on", checked: !choices.off }));
  on.addEventListener("change", () => keepChoices({ ...choices, off: !on.checked }));
  const back = make("button", { type: "button", onclick: () => {
    for (const binding of bindings) Object.assign(binding, binding.first);
    keepChoices({ off: choices.off, keys: {} });
    draw();
  } }, "All as they were");
  document.getElementById("keys-settings")?.remove();
  list.before(make("div", { class: "row", id: "keys-settings" }, make("label", {}, on, "Single keys act (Ctrl + K does in any case)"), make("span", { class: "spring" }), back));
}

/** @param {Binding} binding @param {Binding[]} all @param {() => void} draw */
function keyButton(binding, all, draw) {
  const button = make("button", { type: "button", class: "key", "data-does": binding.does, title: "Give it another key", "aria-label": `${binding.shown}: ${binding.does}. Give it another key`, onclick: () => {
    button.textContent = "press a key";
    button.addEventListener("blur", draw, { once: true });
    button.addEventListener("keydown", (event) => {
      if (["Shift", "Control", "Alt", "Meta", "Tab"].includes(event.key)) return;
      event.preventDefault();
      event.stopPropagation();
      if (event.key !== "Escape" || binding.key === "escape") choose(binding, all, event);
      button.blur();
    });
  } }, binding.shown);
  return button;
}

/** @param {Binding} binding @param {Binding[]} all @param {KeyboardEvent} event */
function choose(binding, all, event) {
  const key = event.key.toLowerCase();
  const shift = event.key.length > 1 ? event.shiftKey : undefined;
  const other = all.find((one) => one !== binding && one.key === key && (one.shift ?? event.shiftKey) === event.shiftKey);
  if (other) {
    showNote(`${nameOf(event)} is for “${other.does}”. Give that another key first.`);
    return;
  }
  Object.assign(binding, { key, shift, shown: nameOf(event) });
  keepChoices({ ...choices, keys: { ...choices.keys, [binding.does]: { key, shift, shown: binding.shown } } });
}
