/** The numbers behind a plot: as a table, as CSV, as a picture; and its axis. */

/** @import {Plot} from "./plot.js" */
import { download, make, openDialog } from "./dom.js";
import { quantity } from "./format.js";

/** Rows a person may want to scroll through; the file has all. */
const MAX_ROWS = 200;

/** @param {Plot} plot @param {string} about what it belongs to, for the names of files */
export function showTable(plot, about) {
  const { title, curves } = plot.kind;
  const { times, values } = plot.series;
  const heads = ["time [s]", ...curves.map((curve) => curve.label)];
  const every = Math.max(1, Math.ceil(times.length / MAX_ROWS));
  const rows = times.flatMap((time, i) => (i % every === 0 ? [make("tr", {}, ...[time, ...values.map((column) => column[i])].map((value) => make("td", { class: "number" }, quantity(value))))] : []));
  const file = `${about} ${title}`.replaceAll(/[^\p{L}\p{N}]+/gu, "-").replaceAll(/^-|-$/g, "");
  const log = /** @type {HTMLInputElement} */ (make("input", { type: "checkbox", checked: plot.log }));
  log.addEventListener("change", () => {
    plot.log = log.checked;
    plot.forget();
  });
  openDialog("plot-dialog", title,
    make("div", { class: "row" },
      make("button", { type: "button", onclick: () => download(`${file}.csv`, new Blob([csvOf(heads, [times, ...values])], { type: "text/csv" })) }, "CSV"),
      make("button", { type: "button", onclick: () => picture(plot, file) }, "Picture"),
      make("label", {}, log, " Logarithmic axis"),
      make("span", { class: "muted" }, every > 1 ? `One row of ${every} is listed; the file has all ${times.length}.` : times.length === 1 ? "1 row." : `${times.length} rows.`)),
    make("div", { class: "scrolled", tabindex: "0", role: "region", "aria-label": `Numbers of ${title}` },
      make("table", { class: "numbers" }, make("thead", {}, make("tr", {}, ...heads.map((name) => make("th", { scope: "col" }, name)))), make("tbody", {}, ...rows))));
}

/** @param {string[]} heads @param {ArrayLike<number | null>[]} columns @returns {string} full precision, empty where there is no value */
export function csvOf(heads, columns) {
  const rows = Array.from(columns[0] ?? [], (_, i) => columns.map((column) => column[i] ?? "").join(","));
  return [heads.map((name) => (/[",\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name)).join(","), ...rows, ""].join("\n");
}

/** @param {Plot} plot @param {string} file */
function picture(plot, file) {
  plot.chart?.ctx.canvas.toBlob((blob) => {
    if (blob) download(`${file}.png`, blob);
  });
}
