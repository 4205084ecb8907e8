/**
 * A batch as a table of its parameters and metrics, sorted by any column, and a scatter plot of any
 * two of its numbers. A row and a dot open their run.
 *
 * @import {BatchResults} from "./types.js"
 */
import { make } from "./dom.js";
import { quantity } from "./format.js";

const SIZE = { width: 460, height: 300, left: 62, bottom: 40, top: 12, right: 14 };
const NS = "http://www.w3.org/2000/svg";
/** Columns that say nothing a person compares. */
const HIDDEN = new Set(["id", "link", "attempt", "finished_at", "error_code"]);

export class BatchView {
  /** @param {BatchResults} results @param {(id: string) => unknown} onOpen a run */
  constructor({ columns, rows }, onOpen) {
    this.onOpen = onOpen;
    this.rows = rows;
    // a metric may have the name of a column that is there anyway
    this.columns = [...new Set(columns)].filter((name) => !HIDDEN.has(name) && !(name === "error" && rows.every((row) => row.error === null)));
    this.numeric = this.columns.filter((name) => name !== "run" && rows.some((row) => typeof row[name] === "number"));
    this.sorted = { by: "run", up: true };
    this.head = make("tr");
    this.body = make("tbody");
    const choice = (/** @type {string} */ label, /** @type {string} */ chosen) => {
      const select = /** @type {HTMLSelectElement} */ (make("select", { "aria-label": `${label} of the scatter plot`, onchange: () => this.scatter() }, ...this.numeric.map((name) => make("option", { value: name }, short(name)))));
      select.value = chosen;
      return select;
    };
    const parameter = this.numeric[0] ?? "";
    this.across = choice("Horizontal axis", parameter);
    this.up = choice("Vertical axis", this.numeric.find((name) => !name.startsWith("/")) ?? parameter);
    this.plot = document.createElementNS(NS, "svg");
    this.plot.setAttribute("viewBox", `0 0 ${SIZE.width} ${SIZE.height}`);
    this.plot.setAttribute("class", "scatter");
    this.plot.setAttribute("role", "img");
    this.element = make("div", { class: "batch" },
      make("div", { class: "scrolled", tabindex: "0", role: "region", "aria-label": "Runs of the batch" }, make("table", { class: "numbers" }, make("thead", {}, this.head), this.body)),
      make("div", {}, make("div", { class: "row" }, this.up, make("span", { class: "muted" }, "over"), this.across), this.plot));
    this.table();
    this.scatter();
  }

  /** @param {string} name */
  sortBy(name) {
    this.sorted = { by: name, up: this.sorted.by === name ? !this.sorted.up : true };
    this.table();
    this.head.querySelector(`[data-column="${CSS.escape(name)}"] button`)?.dispatchEvent(new Event("focus"));
  }

  table() {
    const { by, up } = this.sorted;
    const rows = [...this.rows].sort((a, b) => (up ? 1 : -1) * order(a[by], b[by]));
    this.head.replaceChildren(...this.columns.map((name) => make("th", { scope: "col", "data-column": name, "aria-sort": name === by ? (up ? "ascending" : "descending") : "none" },
      make("button", { type: "button", title: name, onclick: () => this.sortBy(name) }, short(name), name === by ? (up ? " ▲" : " ▼") : ""))));
    this.body.replaceChildren(...rows.map((row) => make("tr", { "data-status": String(row.status) }, ...this.columns.map((name) => {
      if (name !== "run") return make("td", typeof row[name] === "number" ? { class: "number" } : {}, text(row[name]));
      return make("td", {}, make("button", { type: "button", "aria-label": `Open run ${row.run}`, onclick: () => this.onOpen(String(row.id)) }, String(row.run)));
    }))));
  }

  scatter() {
    const [x, y] = [this.across.value, this.up.value];
    const points = this.rows.filter((row) => typeof row[x] === "number" && typeof row[y] === "number");
    const { width, height, left, bottom, top, right } = SIZE;
    const [ax, ay] = [extent(points.map((row) => Number(row[x]))), extent(points.map((row) => Number(row[y])))];
    const px = (/** @type {number} */ v) => left + ((v - ax[0]) / (ax[1] - ax[0])) * (width - left - right);
    const py = (/** @type {number} */ v) => height - bottom - ((v - ay[0]) / (ay[1] - ay[0])) * (height - top - bottom);
    const ticks = [0, 0.5, 1];
    this.plot.setAttribute("aria-label", `${short(y)} over ${short(x)}, ${points.length} runs`);
    this.plot.replaceChildren(
      node("rect", { x: left, y: top, width: width - left - right, height: height - top - bottom, class: "frame" }),
      ...ticks.map((u) => label(quantity(ax[0] + u * (ax[1] - ax[0])), px(ax[0] + u * (ax[1] - ax[0])), height - bottom + 14, ["start", "middle", "end"][2 * u])),
      ...ticks.map((u) => label(quantity(ay[0] + u * (ay[1] - ay[0])), left - 6, py(ay[0] + u * (ay[1] - ay[0])) + 3, "end")),
      label(short(x), (left + width - right) / 2, height - 6, "middle"),
      ...points.map((row) => this.dot(row, px(Number(row[x])), py(Number(row[y])))));
  }

  /** @param {Record<string, unknown>} row @param {number} cx @param {number} cy */
  dot(row, cx, cy) {
    const dot = node("circle", { cx, cy, r: 4.5, class: row.status === "succeeded" ? "good" : "bad" });
    const title = node("title", {});
    title.textContent = `Run ${row.run}: ${text(row[this.across.value])}, ${text(row[this.up.value])}`;
    dot.append(title);
    dot.addEventListener("click", () => this.onOpen(String(row.id)));
    return dot;
  }
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

/** Numbers by size, texts by letters, nothing last. @param {unknown} a @param {unknown} b */
function order(a, b) {
  if (a === b) return 0;
  if (a === null || a === undefined) return 1;
  if (b === null || b === undefined) return -1;
  return typeof a === "number" && typeof b === "number" ? a - b : text(a).localeCompare(text(b));
}

/** @param {number[]} values @returns {[number, number]} never empty */
function extent(values) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  if (!(high > low)) return Number.isFinite(low) ? [low - (Math.abs(low) || 1) * 0.1, low + (Math.abs(low) || 1) * 0.1] : [0, 1];
  const room = 0.05 * (high - low);
  return [low - room, high + room];
}

/** @param {string} name @param {Record<string, string | number>} attributes */
function node(name, attributes) {
  const element = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  return element;
}

/** @param {string} words @param {number} x @param {number} y @param {string} anchor */
function label(words, x, y, anchor) {
  const element = node("text", { x, y, "text-anchor": anchor });
  element.textContent = words;
  return element;
}
