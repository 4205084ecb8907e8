/**
 * Bodies and joints as a list: to search, to select, and the accessible twin of the view.
 *
 * @import {Scene, Selection} from "./types.js"
 */
import { byId, make } from "./dom.js";
import { shapeWords } from "./shapes.js";

/** More would make a long page slow; the search narrows it down. */
const MAX_ENTRIES = 400;

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
    for (const button of this.host.querySelectorAll("button")) {
      const chosen = selection !== null && button.dataset.key === `${selection.kind}-${selection.index}`;
      button.setAttribute("aria-pressed", String(chosen));
      if (chosen) this.reveal(button);
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
    this.mark(this.selection);
  }

  /** @param {{selection: Selection, name: string, kind: string}} entry */
  item({ selection, name, kind }) {
    return make("li", {}, make("button", {
      type: "button", "aria-pressed": "false", "data-key": `${selection.kind}-${selection.index}`,
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
