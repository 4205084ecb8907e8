/** The numbers and buttons below a scene that is arranged: everything the handles do, by keyboard too. */
import { make, setText } from "./dom.js";

/** @typedef {{words: string, way: "move" | "turn", ways: {move: boolean, turn: boolean}, titles: string[], unit: string, step: number, ownAxes: boolean}} Fields */

export class ArrangeBar {
  /** @param {HTMLElement} host @param {import("./arrange.js").Arrangement} does @param {string} hint */
  constructor(host, does, hint) {
    const button = (/** @type {string} */ label, /** @type {() => unknown} */ onclick, /** @type {Record<string, string>} */ more = {}) => /** @type {HTMLButtonElement} */ (make("button", { type: "button", onclick, ...more }, label));
    this.words = make("b", { role: "status" });
    this.ways = { move: button("Move", () => does.setWay("move")), turn: button("Turn", () => does.setWay("turn")) };
    this.own = button("Own axes", () => does.setOwn(!does.own), { title: "Handles along the axes of the body, not of the world" });
    this.snap = button("Snap", () => does.setSnap(!does.snap), { "aria-pressed": "false", title: "Handles move in steps; Shift: the other way round" });
    this.inputs = [0, 1, 2].map((k) => /** @type {HTMLInputElement} */ (make("input", { type: "number", onchange: () => does.typed(k, this.inputs[k].valueAsNumber) })));
    this.titles = this.inputs.map(() => make("span"));
    this.undoButton = button("Undo", () => does.undo(), { title: "Ctrl+Z" });
    this.redoButton = button("Redo", () => does.redo(), { title: "Ctrl+Y" });
    this.applyButton = button("Apply", () => does.apply(), { class: "primary", title: "Start the scene as it is arranged" });
    this.element = make("div", { id: "arrange-bar", class: "arrange", role: "group", "aria-label": "Arrange the scene" },
      make("p", {}, this.words, " ", make("span", { class: "muted" }, hint)),
      make("div", { class: "row" }, this.ways.move, this.ways.turn, this.own, this.snap, make("span", { class: "numbers-of" }, ...this.inputs.map((input, k) => make("label", {}, this.titles[k], input)))),
      make("div", { class: "row" }, this.undoButton, this.redoButton, button("Text…", () => does.toText(), { title: "The scene as JSON" }), make("span", { class: "spring" }),
        button("Cancel", () => does.cancel(), { title: "Back to the run; the text keeps what was changed" }), this.applyButton));
    host.append(this.element);
    this.own.setAttribute("aria-pressed", "false");
    this.does = does;
  }

  /** @param {Fields} fields */
  show({ words, way, ways, titles, unit, step, ownAxes }) {
    setText(this.words, words);
    for (const one of /** @type {const} */ (["move", "turn"])) {
      this.ways[one].disabled = !ways[one];
      this.ways[one].setAttribute("aria-pressed", String(ways[one] && one === way));
    }
    this.own.disabled = !ownAxes;
    this.own.setAttribute("aria-pressed", String(ownAxes && this.does.own));
    this.inputs.forEach((input, k) => {
      setText(this.titles[k], unit ? `${titles[k]} [${unit}]` : titles[k]);
      input.disabled = !ways[way];
      input.step = String(step);
    });
  }

  /** @param {number[]} values NaN: none */
  showNumbers(values) {
    values.forEach((value, k) => { this.inputs[k].value = Number.isFinite(value) ? String(+value.toFixed(5) || 0) : ""; });
  }

  /** @param {{undo: boolean, redo: boolean}} can */
  allow({ undo, redo }) {
    this.undoButton.disabled = !undo;
    this.redoButton.disabled = !redo;
  }
}
