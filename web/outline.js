/**
 * Bodies and joints as a list: to search, to select, and the accessible twin of the view.
 *
 * @import {Scene, Selection} from "./types.js"
 */
import { byId, make } from "./dom.js";
import { shapeWords } from "./shapes.js";

/** More would make a long page slow; the search narrows it down. */
const MAX_ENTRIES = 400;
/** Where a key leads from entry i of n. @type {Record<string, (i: number, n: number) => number>} */
const MOVES = { ArrowDown: (i) => i + 1, ArrowUp: (i) => i - 1, Home: () => 0, End: (_, n) => n - 1 };

export class Outline {
  /** @param {(selection: Selection | null) => void} onSelect */
  constructor(onSelect) {
    this.onSelect = onSelect;
    /** @type {{selection: Selection, name: string, kind: string}[]} */
    this.entries = [];
    /** @type {Selection | null} */
    this.selection = null;
    this.host = byId("outline", HTMLElement);
    this.search = byId("outline-search", HTMLInputElement);
    this.search.addEventListener("input", () => this.draw());
    this.host.addEventListener("keydown", (event) => this.move(event));
    this.host.addEventListener("focusin", ({ target }) => this.stopAt(/** @type {HTMLElement} */ (target)));
  }

  /** @returns {HTMLElement[]} the entries */
  get buttons() {
    return [...this.host.querySelectorAll("button")];
  }

  /** The list is one stop of the Tab key: from there arrows lead on, as the pattern of a roving tabindex has it. @param {KeyboardEvent} event */
  move(event) {
    const { buttons } = this;
    const at = buttons.indexOf(/** @type {HTMLElement} */ (event.target));
    const to = at < 0 || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey ? undefined : MOVES[event.key]?.(at, buttons.length);
    if (to === undefined) return;
    // keys of the run are not for here
    event.preventDefault();
    event.stopPropagation();
    buttons[to]?.focus();
  }

  /** @param {HTMLElement | undefined} entry the one that Tab comes to */
  stopAt(entry) {
    if (!entry) return;
    for (const button of this.buttons) button.tabIndex = button === entry ? 0 : -1;
  }

  /** @param {Scene} scene */
  open(scene) {
    this.entries = [
      ...scene.bodies.map((body, index) => ({
        selection: /** @type {Selection} */ ({ kind: "body", index }), name: body.name,
        kind: body.type && body.type !== "dynamic" ? body.type : shapeWords(body) })),
      ...(scene.joints ?? []).map((joint, index) => ({
        selection: /** @type {Selection} */ ({ kind: "joint", index }), name: joint.name, kind: joint.type })),
    ];
    this.search.value = "";
    this.draw();
  }

  /** @param {Selection | null} selection */
  mark(selection) {
    this.selection = selection;
    for (const button of this.buttons) {
      const chosen = selection !== null && button.dataset.key === `${selection.kind}-${selection.index}`;
      button.setAttribute("aria-pressed", String(chosen));
      if (!chosen) continue;
      this.reveal(button);
      this.stopAt(button);
    }
  }

  /** Scrolls the list, and only the list: scrollIntoView would scroll a page on a phone away from the view. @param {HTMLElement} entry */
  reveal(entry) {
    const { host } = this;
    const [list, place] = [host.getBoundingClientRect(), entry.getBoundingClientRect()];
    if (place.top < list.top) host.scrollTop -= list.top - place.top;
    else if (place.bottom > list.bottom) host.scrollTop += place.bottom - list.bottom;
  }

  draw() {
    const wanted = this.search.value.trim().toLowerCase();
    const found = this.entries.filter(({ name, kind }) => !wanted || name.toLowerCase().includes(wanted) || kind.includes(wanted));
    const shown = firstOfEach(found, MAX_ENTRIES);
    const children = [];
    if (found.length > shown.length) {
      const text = `The first ${shown.length} of ${found.length} are listed. Search to see the others.`;
      children.push(make("p", { class: "muted capped" }, text));
    }
    for (const [kind, title] of /** @type {const} */ ([["body", "Bodies"], ["joint", "Joints"]])) {
      const all = found.filter((entry) => entry.selection.kind === kind);
      const entries = shown.filter((entry) => entry.selection.kind === kind);
      if (all.length) children.push(make("h3", {}, `${title} (${all.length})`), make("ul", {}, ...entries.map((entry) => this.item(entry))));
    }
    if (!found.length) children.push(make("p", { class: "muted" }, this.entries.length ? "Nothing has such a name or kind." : "No scene is open."));
    this.host.replaceChildren(...children);
    this.stopAt(this.buttons[0]);
    this.mark(this.selection);
  }

  /** @param {{selection: Selection, name: string, kind: string}} entry */
  item({ selection, name, kind }) {
    return make("li", {}, make("button", {
      type: "button", tabindex: -1, "aria-pressed": "false", "data-key": `${selection.kind}-${selection.index}`,
      onclick: () => this.onSelect(this.isSelected(selection) ? null : selection),
    }, make("span", {}, name), make("span", { class: "muted" }, kind)));
  }

  /** @param {Selection} selection */
  isSelected(selection) {
    return this.selection?.kind === selection.kind && this.selection.index === selection.index;
  }
}

/**
 * The first bodies and the first joints; each kind has half of the room, or what the other leaves.
 * @param {{selection: Selection, name: string, kind: string}[]} entries @param {number} room
 */
function firstOfEach(entries, room) {
  const bodies = entries.filter(({ selection }) => selection.kind === "body");
  const joints = entries.filter(({ selection }) => selection.kind === "joint");
  const forJoints = Math.min(joints.length, Math.max(room / 2, room - bodies.length));
  return [...bodies.slice(0, room - forJoints), ...joints.slice(0, forJoints)];
}
