/**
 * A batch as a table of its parameters and metrics, sorted by any column, and a scatter plot of any
 * two of its numbers. A row and a dot open their run.
 *
 * @import {BatchResults} from "./types.js"
 */
import { axisOf } from "./axis.js";
import { make } from "./dom.js";
import { count, quantity } from "./format.js";
import { Rows } from "./rows.js";
import { label, node } from "./svg.js";

const SIZE = { width: 460, height: 300, left: 84, bottom: 40, top: 20, right: 32 };
/** Columns that say nothing a person compares. */
const HIDDEN = new Set(["id", "link", "attempt", "finished_at", "error_code"]);
/** States of runs that have not ended. */
export const GOING = new Set(["queued", "starting", "running", "cancelling"]);

/** @typedef {Record<string, unknown>} Row  one run */

export class BatchView {
  /** @param {(row: Row) => unknown} onOpen a run */
  constructor(onOpen) {
    this.onOpen = onOpen;
    /** @type {Row[]} */
    this.rows = [];
    /** @type {string[]} */
    this.columns = [];
    this.sorted = { by: "run", up: true };
    const [head, body] = [make("tr"), make("tbody")];
    this.heads = new Rows(head, (/** @type {{id: string, sort: string}} */ column) => this.heading(column));
    this.lines = new Rows(body, (/** @type {Row} */ row) => this.line(row));
    const choice = (/** @type {string} */ label) => {
      const select = /** @type {HTMLSelectElement} */ (make("select", { "aria-label": `${label} of the scatter plot` }));
      select.addEventListener("change", () => {
        select.dataset.chosen = select.value;
        this.scatter();
      });
      return select;
    };
    this.across = choice("Horizontal axis");
    this.up = choice("Vertical axis");
    this.plot = node("svg", {});
    this.plot.setAttribute("viewBox", `0 0 ${SIZE.width} ${SIZE.height}`);
    this.plot.setAttribute("class", "scatter");
    this.plot.setAttribute("role", "img");
    this.element = make("div", { class: "batch" },
      make("div", { class: "scrolled", tabindex: "0", role: "region", "aria-label": "Runs of the batch" }, make("table", { class: "numbers" }, make("thead", {}, head), body)),
      make("div", {}, make("div", { class: "row" }, this.up, make("span", { class: "muted" }, "over"), this.across), this.plot));
  }

  /** Sorted and plotted as before, if it was shown before. @param {BatchResults} results */
  show({ columns, rows }) {
    this.rows = rows;
    // a metric may have the name of a column that is there anyway
    const shown = [...new Set(columns)].filter((name) => !HIDDEN.has(name) && !(name === "error" && rows.every((row) => row.error === null)));
    if (shown.join() !== this.columns.join()) this.lines.outdate();
    this.columns = shown;
    const numeric = shown.filter((name) => name !== "run" && rows.some((row) => typeof row[name] === "number"));
    offer(this.across, numeric, numeric[0] ?? "");
    offer(this.up, numeric, numeric.find((name) => !name.startsWith("/")) ?? numeric[0] ?? "");
    this.table();
    this.scatter();
  }

  /** @param {string} name */
  sortBy(name) {
    this.sorted = { by: name, up: this.sorted.by === name ? !this.sorted.up : true };
    this.table();
  }

  table() {
    const { by, up } = this.sorted;
    this.heads.draw(this.columns.map((name) => ({ id: name, sort: name !== by ? "none" : up ? "ascending" : "descending" })));
    this.lines.draw([...this.rows].sort((a, b) => order(a[by], b[by], up ? 1 : -1)));
  }

  /** @param {{id: string, sort: string}} column */
  heading({ id, sort }) {
    const sign = { ascending: " ▲", descending: " ▼" }[sort] ?? "";
    return make("th", { scope: "col", "aria-sort": sort }, make("button", { type: "button", title: id, onclick: () => this.sortBy(id) }, short(id), sign));
  }

  /** @param {Row} row */
  line(row) {
    return make("tr", { "data-status": isWrong(row) ? "failed" : String(row.status) }, ...this.columns.map((name) => {
      if (name !== "run") return make("td", typeof row[name] === "number" ? { class: "number" } : {}, text(row[name]));
      return make("td", {}, make("button", { type: "button", "aria-label": `Open run ${row.run}`, onclick: () => this.onOpen(row) }, String(row.run)));
    }));
  }

  scatter() {
    const [x, y] = [this.across.value, this.up.value];
    const points = this.rows.filter((row) => typeof row[x] === "number" && typeof row[y] === "number");
    const { width, height, left, bottom, top, right } = SIZE;
    const [ax, ay] = [axisOf(points.map((row) => Number(row[x]))), axisOf(points.map((row) => Number(row[y])))];
    const px = (/** @type {number} */ v) => left + ax.share(v) * (width - left - right);
    const py = (/** @type {number} */ v) => height - bottom - ay.share(v) * (height - top - bottom);
    const named = (/** @type {string} */ name, /** @type {import("./axis.js").Axis} */ { log }) => `${short(name)}${log ? ", logarithmic" : ""}`;
    this.plot.setAttribute("aria-label", `${short(y)} over ${short(x)}, ${count(points.length, "run")}`);
    this.plot.replaceChildren(
      node("rect", { x: left, y: top, width: width - left - right, height: height - top - bottom, class: "frame" }),
      ...ax.ticks.map(([tick]) => node("line", { x1: px(tick), x2: px(tick), y1: top, y2: height - bottom, class: "frame" })),
      ...ay.ticks.map(([tick]) => node("line", { x1: left, x2: width - right, y1: py(tick), y2: py(tick), class: "frame" })),
      ...ax.ticks.map(([tick, words]) => label(words, px(tick), height - bottom + 14, "middle")),
      ...ay.ticks.map(([tick, words]) => label(words, left - 6, py(tick) + 3, "end")),
      label(named(x, ax), (left + width - right) / 2, height - 6, "middle"),
      label(named(y, ay), left, top - 6, "start"),
      ...points.map((row) => this.dot(row, px(Number(row[x])), py(Number(row[y])))));
  }

  /** @param {Row} row @param {number} cx @param {number} cy */
  dot(row, cx, cy) {
    const dot = node("circle", { cx, cy, r: 4.5, class: GOING.has(String(row.status)) ? "going" : row.status === "succeeded" && !isWrong(row) ? "good" : "bad" });
    const title = node("title", {});
    title.textContent = `Run ${row.run}: ${text(row[this.across.value])}, ${text(row[this.up.value])}`;
    dot.append(title);
    dot.addEventListener("click", () => this.onOpen(row));
    return dot;
  }
}

/** Whether the verdict calls the result of a run wrong, which is no better than none. @param {Row} row */
function isWrong(row) {
  return row["verdict.status"] === "wrong";
}

/** What somebody has chosen stays. @param {HTMLSelectElement} select @param {string[]} names @param {string} first if nobody has */
function offer(select, names, first) {
  if (names.join() === [...select.options].map(({ value }) => value).join()) return;
  select.replaceChildren(...names.map((name) => make("option", { value: name }, short(name))));
  select.value = names.find((name) => name === select.dataset.chosen) ?? first;
}

/** Pointers by their last parts. @param {string} name */
function short(name) {
  return name.startsWith("/") ? name.split("/").slice(-2).join("/") : name.replaceAll("_", " ");
}

/** @param {unknown} value */
function text(value) {
  if (typeof value === "number") return quantity(value);
  if (value === null || value === undefined) return "–";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Numbers by size, texts by letters, nothing last. @param {unknown} a @param {unknown} b @param {number} sign */
function order(a, b, sign) {
  if (a === b) return 0;
  if (a === null || a === undefined) return 1;
  if (b === null || b === undefined) return -1;
  return sign * (typeof a === "number" && typeof b === "number" ? a - b : text(a).localeCompare(text(b)));
}
