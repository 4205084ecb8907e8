/**
 * What the server keeps: simulations, batches and studies, newest first. A simulation opens in the view, a
 * batch as a table of its metrics, of a study the best run or the scene that it found.
 *
 * @import {BatchInfo, SimulationInfo, StudyInfo} from "./types.js"
 */
import * as api from "./api.js";
import { BatchView } from "./batch_view.js";
import { copied, make, openDialog } from "./dom.js";
import * as format from "./format.js";

const WORDS = { succeeded: "done", partially_succeeded: "partly done", timed_out: "timed out" };
/** ms between two looks at studies that go on */
const AGAIN_MS = 2000;
const quantityOf = (/** @type {number} */ value) => format.quantity(value);
/** Those that have something to show. */
const SHOWABLE = new Set(["succeeded", "failed", "cancelled", "timed_out"]);

/** @param {import("./main.js").Page} page */
export async function openRuns(page) {
  const note = make("p", { "aria-live": "polite" }, "Fetching the lists…");
  const body = make("div", { class: "runs" });
  const dialog = openDialog("runs-dialog", "Runs", note, body);
  const studied = make("div");
  try {
    const [simulations, batches, studies] = await Promise.all([api.listSimulations(), api.listBatches(), api.listStudies()]);
    note.textContent = `Kept on this server: ${format.count(simulations.length, "simulation")}, ${format.count(batches.length, "batch", "batches")}, ${format.count(studies.length, "study", "studies")}.`;
    body.replaceChildren(list("Simulations", simulations.map((info) => simulationRow(page, info, dialog, note))),
      list("Batches", batches.map((info) => batchRow(page, info, dialog, body, note))), studied);
    await watchStudies(page, studies, { dialog, body, note, studied });
  } catch (error) {
    tell(error, note);
  }
}

/** The table of a batch that the address names. @param {import("./main.js").Page} page @param {string} id */
export async function openBatch(page, id) {
  const note = make("p", { "aria-live": "polite" }, "Fetching the table…");
  const body = make("div", { class: "runs" });
  const dialog = openDialog("runs-dialog", "Batch", note, body);
  try {
    const results = await api.getBatchResults(id);
    note.textContent = "The runs of this batch.";
    body.replaceChildren(new BatchView(results, (run) => page.opening.openRun(run).then(() => dialog.close(), (error) => tell(error, note))).element);
  } catch (error) {
    tell(error, note);
  }
}

/** @typedef {{dialog: HTMLDialogElement, body: HTMLElement, note: HTMLElement, studied: HTMLElement}} Parts  body: where tables go */

/** Their list, again while one of them goes on. @param {import("./main.js").Page} page @param {StudyInfo[]} studies @param {Parts} parts */
async function watchStudies(page, studies, parts) {
  const { dialog, studied } = parts;
  for (let now = studies; ; now = await api.listStudies()) {
    // a button that has the focus keeps it
    const focus = document.activeElement?.getAttribute("data-focus");
    studied.replaceChildren(list("Studies", now.map((info) => studyRow(page, info, parts))));
    if (focus) /** @type {HTMLElement | null} */ (studied.querySelector(`[data-focus="${CSS.escape(focus)}"]`))?.focus();
    if (!now.some(({ finished_at: end }) => end === null)) return;
    await new Promise((resolve) => { window.setTimeout(resolve, AGAIN_MS); });
    if (!dialog.isConnected || !studied.isConnected) return;
  }
}

/** @param {import("./main.js").Page} page @param {StudyInfo} info @param {Parts} parts */
function studyRow(page, info, { dialog, body, note }) {
  const { best, method, evaluations, max_evaluations: most } = info;
  const name = info.name || "unnamed scene";
  const going = info.finished_at === null;
  const button = (/** @type {string} */ label, /** @type {() => Promise<unknown>} */ run, off = false, closes = true) => make("button", {
    type: "button", disabled: off, "data-focus": `${info.id} ${label}`, "aria-label": `${label}: ${name}`, onclick: async () => {
      try {
        await run();
        if (closes) dialog.close();
      } catch (error) {
        tell(error, note);
      }
    } }, label);
  const table = async () => {
    const results = await api.getBatchResults(info.links.batch.split("/").pop() ?? "");
    note.textContent = `${name}: ${format.count(evaluations, "run")} of the study.`;
    body.replaceChildren(new BatchView(results, (id) => page.opening.openRun(id).then(() => dialog.close(), (error) => tell(error, note))).element);
  };
  const facts = [WORDS[/** @type {keyof typeof WORDS} */ (info.status)] ?? info.status, `${format.count(evaluations, "run")} of at most ${most}`, method.replaceAll("_", " "), whenOf(info)];
  const found = best ? [make("small", { class: "found" }, `Best: ${quantityOf(best.objective)}${best.feasible ? "" : " (not feasible)"} with ${valuesOf(best)}`)] : [];
  return make("li", { "data-status": info.status },
    make("span", {}, make("b", {}, name), make("small", {}, facts.join(" · ")), ...found, ...(info.error?.message ? [make("small", { class: "why" }, info.error.message)] : []),
      ...(going ? [make("progress", { max: most, value: evaluations, "aria-label": `Runs of ${name}` })] : [])),
    button("Table", table, !evaluations, false),
    make("span", { class: "row ends" }, button("Best run", () => page.opening.openRun(best?.simulation ?? ""), !best), button("Best scene", async () => page.openScene(await api.getStudyScene(info.id), null), !best)));
}

/** @param {NonNullable<StudyInfo["best"]>} best @returns {string} by the last parts of the pointers */
function valuesOf({ values, deviations }) {
  return Object.entries(values).map(([pointer, value]) => `${pointer.split("/").slice(-2).join("/")} = ${quantityOf(value)}${deviations?.[pointer] === undefined ? "" : ` ± ${quantityOf(deviations[pointer])}`}`).join(", ");
}

/** @param {string} title @param {HTMLElement[]} rows */
function list(title, rows) {
  return make("section", {}, make("h3", {}, title), rows.length ? make("ul", { class: "sessions" }, ...rows) : make("p", { class: "muted" }, `No ${title.toLowerCase()} yet: POST /v1/${title.toLowerCase()} makes one.`));
}

/** @param {import("./main.js").Page} page @param {SimulationInfo} info @param {HTMLDialogElement} dialog @param {HTMLElement} note */
function simulationRow(page, info, dialog, note) {
  const name = info.name || "unnamed scene";
  const step = `step ${info.step} of ${info.total_steps}`;
  const facts = [stateOf(info), info.status === "succeeded" ? format.count(info.total_steps, "step") : step, tookOf(info), whenOf(info)];
  const button = (/** @type {string} */ label, /** @type {() => Promise<unknown>} */ run, off = false) => make("button", {
    type: "button", disabled: off, "aria-label": `${label} ${name}`, onclick: async () => {
      try {
        await run();
        dialog.close();
      } catch (error) {
        tell(error, note);
      }
    } }, label);
  return make("li", { "data-status": info.status },
    make("span", {}, make("b", {}, name), make("small", {}, facts.filter(Boolean).join(" · ")), ...(info.error?.message ? [make("small", { class: "why" }, info.error.message)] : [])),
    button("Open", () => page.opening.openRun(info.id), !SHOWABLE.has(info.status)),
    button("As a ghost", () => page.opening.asGhost(info), !SHOWABLE.has(info.status)));
}

/**
 * @param {import("./main.js").Page} page @param {BatchInfo} info @param {HTMLDialogElement} dialog
 * @param {HTMLElement} body where its table goes @param {HTMLElement} note
 */
function batchRow(page, info, dialog, body, note) {
  const name = info.name || "unnamed scene";
  const counts = Object.entries(info.counts).map(([state, count]) => `${count} ${WORDS[/** @type {keyof typeof WORDS} */ (state)] ?? state}`).join(", ");
  return make("li", { "data-status": info.status },
    make("span", {}, make("b", {}, name), make("small", {}, [`${format.count(info.runs, "run")}: ${counts}`, tookOf(info), whenOf(info)].filter(Boolean).join(" · "))),
    make("button", { type: "button", "aria-label": `Open the batch ${name}`, onclick: async () => {
      try {
        const results = await api.getBatchResults(info.id);
        const open = async (/** @type {string} */ id) => {
          await page.opening.openRun(id);
          dialog.close();
        };
        note.textContent = `${name}: ${format.count(info.runs, "run")}, ${counts}.`;
        body.replaceChildren(new BatchView(results, (id) => open(id).catch((error) => tell(error, note))).element);
      } catch (error) {
        tell(error, note);
      }
    } }, "Table"), sharing(info.id, name, note));
}

/** A link to the table and the runs behind it. @param {string} id @param {string} name of the batch @param {HTMLElement} note */
function sharing(id, name, note) {
  const share = async () => {
    const url = location.origin + (await api.createShare("batches", id, "from the page")).url;
    const words = (await copied(url)) ? "Copied: a link to this batch" : "The clipboard is not open to this page; here is a link to this batch";
    note.replaceChildren(`${words} and its runs, for people without a key, for 7 days. `, make("a", { href: url }, url));
  };
  return make("button", { type: "button", "aria-label": `View-only link to ${name}`, title: "For people without a key: the table and its runs, for 7 days",
    onclick: () => share().catch((error) => tell(error, note)) }, "View-only link");
}

/** @param {SimulationInfo} info */
function stateOf(info) {
  const word = WORDS[/** @type {keyof typeof WORDS} */ (info.status)] ?? info.status;
  return info.status === "running" ? `${word}, ${Math.round(100 * info.progress)} %` : word;
}

/** @param {{started_at: string | null, finished_at: string | null}} info */
function tookOf({ started_at: from, finished_at: to }) {
  return from && to ? `took ${format.quantity((Date.parse(to) - Date.parse(from)) / 1000, "s")}` : "";
}

/** @param {{created_at: string}} info */
function whenOf({ created_at: at }) {
  return new Date(at).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
}

/** @param {unknown} error @param {HTMLElement} note */
function tell(error, note) {
  if (!(error instanceof Error)) throw error;
  note.textContent = error.message;
}
