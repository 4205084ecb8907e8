/**
 * The verification report: every published problem and law, asked and reached, with plots.
 *
 * @import {VerificationSection} from "./types.js"
 */
import { ProblemError, getVerification, plotUrl } from "./api.js";
import { byId, make } from "./dom.js";
import { signs } from "./format.js";

const HEAD = ["Case", "What", "Asked", "Reached", "Holds"];

export class VerificationDialog {
  constructor() {
    this.dialog = byId("verification-dialog", HTMLDialogElement);
    this.note = byId("verification-note", HTMLElement);
    this.sections = byId("verification-sections", HTMLElement);
    this.filled = false;
  }

  async open() {
    this.dialog.showModal();
    if (this.filled) return;
    try {
      const report = await getVerification();
      const rows = report.sections.flatMap((section) => section.rows);
      const missed = rows.filter((row) => !row.ok).length;
      this.note.textContent = `${rows.length} checks of engine ${report.engine}, ${missed ? `${missed} missed` : "all hold"}. Measured by make verify, as the tests do.`;
      this.sections.replaceChildren(...report.sections.map((section, index) => drawSection(section, index === 0)));
      this.filled = true;
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
      this.note.textContent = error.message;
    }
  }
}

/** @param {VerificationSection} section @param {boolean} open @returns {HTMLElement} */
function drawSection(section, open) {
  const missed = section.rows.filter((row) => !row.ok).length;
  const count = make("span", missed ? { class: "missed" } : {}, missed ? `${missed} of ${section.rows.length} missed` : `${section.rows.length} hold`);
  const body = section.rows.map((row, index) => make("tr", {},
    make("td", { title: row.source }, section.rows[index - 1]?.case === row.case ? "" : row.case),
    make("td", {}, signs(row.what)),
    make("td", { class: "number" }, signs(row.asked)),
    make("td", { class: "number" }, signs(row.reached)),
    make("td", row.ok ? {} : { class: "missed" }, row.ok ? "yes" : "no")));
  const plots = section.plots.map((plot) => make("figure", {},
    make("img", { src: plotUrl(plot.name), alt: plot.title, loading: "lazy", width: 720, height: 340 }),
    make("figcaption", {}, plot.title)));
  return make("details", { open, "data-section": section.name },
    make("summary", {}, make("h3", {}, section.title), count),
    make("p", {}, signs(section.intro)),
    ...plots,
    make("table", {},
      make("thead", {}, make("tr", {}, ...HEAD.map((name) => make("th", { scope: "col" }, name)))),
      make("tbody", {}, ...body)));
}
