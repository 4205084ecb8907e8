/**
 * The verification report: every published problem and law, asked and reached, with plots.
 *
 * @import {VerificationSection} from "./types.js"
 */
import { ProblemError, getVerification, plotUrl } from "./api.js";
import { byId, make } from "./dom.js";
import { printed } from "./format.js";
import { tellIn } from "./messages.js";

const HEAD = ["Case", "What", "Asked", "Reached", "Holds"];

/** Whether the report is on the page; it changes with the version only. */
let filled = false;

export async function openVerification() {
  const note = byId("verification-note", HTMLElement);
  byId("verification-dialog", HTMLDialogElement).showModal();
  if (filled) return;
  try {
    const report = await getVerification();
    const rows = report.sections.flatMap((section) => section.rows);
    const missed = rows.filter((row) => !row.ok).length;
    note.textContent = `${rows.length} checks of engine ${report.engine}, ${missed ? `${missed} missed` : "all hold"}. Measured by make verify, as the tests do.`;
    byId("verification-sections", HTMLElement).replaceChildren(...report.sections.map((section, index) => drawSection(section, index === 0)));
    filled = true;
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    tellIn(note, error);
  }
}

/** @param {VerificationSection} section @param {boolean} open @returns {HTMLElement} */
function drawSection(section, open) {
  const missed = section.rows.filter((row) => !row.ok).length;
  const count = make("span", missed ? { class: "missed" } : {}, missed ? `${missed} of ${section.rows.length} missed` : `${section.rows.length} hold`);
  const body = section.rows.map((row, index) => make("tr", {},
    make("td", { title: row.source }, section.rows[index - 1]?.case === row.case ? "" : row.case),
    make("td", {}, printed(row.what)),
    make("td", { class: "number" }, printed(row.asked)),
    make("td", { class: "number" }, printed(row.reached)),
    make("td", row.ok ? {} : { class: "missed" }, row.ok ? "yes" : "no")));
  const plots = section.plots.map((plot) => make("figure", {},
    make("img", { src: plotUrl(plot.name), alt: plot.title, loading: "lazy", width: 720, height: 340 }),
    make("figcaption", {}, plot.title)));
  return make("details", { open, "data-section": section.name },
    make("summary", {}, make("h3", {}, section.title), count),
    make("p", {}, printed(section.intro)),
    ...plots,
    make("table", {},
      make("thead", {}, make("tr", {}, ...HEAD.map((name) => make("th", { scope: "col" }, name)))),
      make("tbody", {}, ...body)));
}
