/**
 * What the server keeps: simulations and batches, newest first. A simulation opens in the view, a
 * batch as a table of its metrics.
 *
 * @import {BatchInfo, SimulationInfo} from "./types.js"
 */
import * as api from "./api.js";
import { BatchView } from "./batch_view.js";
import { make, openDialog } from "./dom.js";
import * as format from "./format.js";

const WORDS = { succeeded: "done", partially_succeeded: "partly done", timed_out: "timed out" };
/** Those that have something to show. */
const SHOWABLE = new Set(["succeeded", "failed", "cancelled", "timed_out"]);

/** @param {import("./main.js").Page} page */
export async function openRuns(page) {
  const note = make("p", { "aria-live": "polite" }, "Fetching the lists…");
  const body = make("div", { class: "runs" });
  const dialog = openDialog("runs-dialog", "Runs", note, body);
  try {
    const [simulations, batches] = await Promise.all([api.listSimulations(), api.listBatches()]);
    const count = (/** @type {number} */ n, /** @type {string} */ one, /** @type {string} */ many) => `${n} ${n === 1 ? one : many}`;
    note.textContent = `Kept on this server: ${count(simulations.length, "simulation", "simulations")}, ${count(batches.length, "batch", "batches")}.`;
    body.replaceChildren(list("Simulations", simulations.map((info) => simulationRow(page, info, dialog, note))),
      list("Batches", batches.map((info) => batchRow(page, info, dialog, body, note))));
  } catch (error) {
    tell(error, note);
  }
}

/** @param {string} title @param {HTMLElement[]} rows */
function list(title, rows) {
  return make("section", {}, make("h3", {}, title), rows.length ? make("ul", { class: "sessions" }, ...rows) : make("p", { class: "muted" }, `No ${title.toLowerCase()} yet: POST /v1/${title.toLowerCase()} makes one.`));
}

/** @param {import("./main.js").Page} page @param {SimulationInfo} info @param {HTMLDialogElement} dialog @param {HTMLElement} note */
function simulationRow(page, info, dialog, note) {
  const name = info.name || "unnamed scene";
  const step = `step ${info.step} of ${info.total_steps}`;
  const facts = [stateOf(info), info.status === "succeeded" ? `${info.total_steps} steps` : step, tookOf(info), whenOf(info)];
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
    make("span", {}, make("b", {}, name), make("small", {}, [`${info.runs} runs: ${counts}`, tookOf(info), whenOf(info)].filter(Boolean).join(" · "))),
    make("button", { type: "button", "aria-label": `Open the batch ${name}`, onclick: async () => {
      try {
        const results = await api.getBatchResults(info.id);
        const open = async (/** @type {string} */ id) => {
          await page.opening.openRun(id);
          dialog.close();
        };
        note.textContent = `${name}: ${info.runs} runs, ${counts}.`;
        body.replaceChildren(new BatchView(results, (id) => open(id).catch((error) => tell(error, note))).element);
      } catch (error) {
        tell(error, note);
      }
    } }, "Table"), make("span", {}));
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
