/**
 * What the server keeps: simulations, batches and studies, newest first, as they go on. A simulation opens in the view, a
 * batch as a table of its metrics, of a study the best run or the scene that it found.
 *
 * @import {BatchInfo, SimulationInfo, StudyInfo} from "./types.js"
 */
import * as api from "./api.js";
import { BatchView, GOING } from "./batch_view.js";
import { copied, lastAsked, make, openDialog } from "./dom.js";
import * as format from "./format.js";
import { tellIn } from "./messages.js";
import { Rows } from "./rows.js";

const WORDS = { succeeded: "done", partially_succeeded: "partly done", timed_out: "timed out" };
/** ms between two looks at what goes on, and how many times as long as a look takes, at least */
const AGAIN_MS = 2000;
const SPARED = 5;
/** Entries of a list, at most. */
const LISTED = 200;
const quantityOf = (/** @type {number} */ value) => format.quantity(value);

/** @typedef {{page: import("./main.js").Page, dialog: HTMLDialogElement, body: HTMLElement, note: HTMLElement}} Parts  body: where lists and tables go */

/** @param {import("./main.js").Page} page */
export async function openRuns(page) {
  const parts = partsOf(page, "Runs", "Fetching the lists…");
  /** @type {[Listing<any>, Listing<any>, Listing<any>]} */
  const lists = [
    new Listing("Simulations", ["simulation"], api.listSimulations, (info) => simulationRow(parts, info)),
    new Listing("Batches", ["batch", "batches"], api.listBatches, (info) => batchRow(parts, info)),
    new Listing("Studies", ["study", "studies"], api.listStudies, (info) => studyRow(parts, info)),
  ];
  const shown = make("div", {}, ...lists.map(({ element }) => element));
  await watch(parts, shown, async () => {
    const going = await Promise.all(lists.map((one) => one.look()));
    return { goes: going.includes(true), words: `Kept on this server: ${lists.map(({ words }) => words).join(", ")}.` };
  });
}

/** The table of a batch that the address names; throws what the service says of one that is not there. @param {import("./main.js").Page} page @param {string} id */
export async function openBatch(page, id) {
  await lastAsked(null);
  const parts = partsOf(page, "Batch", "Fetching the table…");
  try {
    const results = await api.getBatchResults(id).catch((error) => {
      // a service that is away for a moment is asked again
      if (!api.isUnreachable(error)) throw error;
    });
    showTable(parts, id, "The runs of this batch", { results });
  } catch (error) {
    parts.dialog.close();
    throw error;
  }
}

/** @param {import("./main.js").Page} page @param {string} title @param {string} words @returns {Parts} */
function partsOf(page, title, words) {
  const note = make("p", { "aria-live": "polite" }, words);
  const body = make("div", { class: "runs" });
  return { page, note, body, dialog: openDialog("runs-dialog", title, note, body) };
}

/**
 * Looks again while something goes on and somebody sees it; also when the service was away for a moment.
 * @param {Parts} parts @param {HTMLElement} shown in the dialog, once it was looked for the first time
 * @param {() => Promise<{goes: boolean, words: string}>} look
 */
async function watch({ note, body }, shown, look) {
  let told = "";
  do {
    const began = performance.now();
    try {
      const { goes, words } = await look();
      if (told && !shown.isConnected) return;
      if (!told) body.replaceChildren(shown);
      // what a button has said stays
      if (words !== told) note.textContent = told = words;
      if (!goes) return;
    } catch (error) {
      tell(error, note);
      if (!api.isUnreachable(error)) return;
      told &&= " "; // what stood there is said again
    }
    await new Promise((resolve) => { window.setTimeout(resolve, Math.max(AGAIN_MS, SPARED * (performance.now() - began))); });
  } while (told ? shown.isConnected : body.isConnected);
}

/** @template {{id: string, finished_at: string | null}} T */
class Listing {
  /** @param {string} title @param {[string, string?]} nouns @param {(most: number) => Promise<T[]>} fetch newest first @param {(info: T) => HTMLElement} rowOf */
  constructor(title, nouns, fetch, rowOf) {
    this.nouns = nouns;
    this.fetch = fetch;
    this.list = make("ul", { class: "sessions" });
    this.none = make("p", { class: "muted" }, `No ${title.toLowerCase()} yet: POST /v1/${title.toLowerCase()} makes one.`);
    this.element = make("section", {}, make("h3", {}, title), this.list, this.none);
    /** @type {Rows<T>} */
    this.rows = new Rows(this.list, rowOf);
    this.words = "";
  }

  /** @returns {Promise<boolean>} whether one of them goes on */
  async look() {
    const infos = await this.fetch(LISTED);
    this.words = `${format.count(infos.length, ...this.nouns)}${infos.length < LISTED ? "" : " or more (the newest are listed)"}`;
    this.rows.draw(infos);
    [this.list.hidden, this.none.hidden] = [!infos.length, infos.length > 0];
    return infos.some(({ finished_at: end }) => end === null);
  }
}

/**
 * @param {Parts} parts @param {string} id of a batch @param {string} name
 * @param {{results?: import("./types.js").BatchResults | void, goesOn?: () => Promise<boolean>}} [how] what is known of it already, and whether more runs may come
 */
async function showTable(parts, id, name, { results: known, goesOn = async () => false } = {}) {
  const { page, dialog, note } = parts;
  const view = new BatchView(async (row) => {
    const opened = page.opening.openRun(String(row.id));
    if (GOING.has(String(row.status))) {
      // what is waited for is seen in the view
      dialog.close();
      return opened;
    }
    return opened.then(() => dialog.close(), (error) => tell(error, note));
  });
  await watch(parts, view.element, async () => {
    const more = await goesOn();
    const results = known ?? await api.getBatchResults(id);
    known = undefined;
    view.show(results);
    const statuses = results.rows.map(({ status }) => String(status));
    return { goes: more || statuses.some((status) => GOING.has(status)), words: `${name}: ${format.count(statuses.length, "run")}${statuses.length ? `, ${countsOf(statuses)}` : ""}.` };
  });
}

/** @param {string[]} statuses */
function countsOf(statuses) {
  return [...new Set(statuses)].map((one) => `${statuses.filter((status) => status === one).length} ${wordOf(one)}`).join(", ");
}

/** @param {string} status */
function wordOf(status) {
  return WORDS[/** @type {keyof typeof WORDS} */ (status)] ?? status;
}

/** @param {Parts} parts @param {string} label @param {string} name of what it is about @param {() => Promise<unknown>} run @param {boolean} [off] */
function opener({ dialog, note }, label, name, run, off = false) {
  return make("button", { type: "button", disabled: off, "aria-label": name, onclick: async () => {
    try {
      note.textContent = "Opening…";
      await run();
      dialog.close();
    } catch (error) {
      tell(error, note);
    }
  } }, label);
}

/** @param {Parts} parts @param {StudyInfo} info */
function studyRow(parts, info) {
  const { page } = parts;
  const { id, best, method, evaluations, max_evaluations: most } = info;
  const name = info.name || "unnamed scene";
  const going = info.finished_at === null;
  const table = () => showTable(parts, info.links.batch.split("/").pop() ?? "", `Study ${name}`, { goesOn: async () => going && (await api.getStudy(id)).finished_at === null });
  const facts = [wordOf(info.status), `${format.count(evaluations, "run")} of at most ${most}`, method.replaceAll("_", " "), whenOf(info)];
  const found = best ? [make("small", { class: "found" }, `Best: ${quantityOf(best.objective)}${best.feasible ? "" : " (not feasible)"} with ${valuesOf(best)}`)] : [];
  return make("li", { "data-status": info.status },
    make("span", {}, make("b", {}, name), make("small", {}, facts.join(" · ")), ...found, ...whyOf(info),
      ...(going ? [make("progress", { max: most, value: evaluations, "aria-label": `Runs of ${name}` })] : [])),
    make("button", { type: "button", disabled: !evaluations, "aria-label": `Table: ${name}`, onclick: table }, "Table"),
    make("span", { class: "row ends" },
      opener(parts, "Best run", `Best run: ${name}`, () => page.opening.openRun(best?.simulation ?? ""), !best),
      opener(parts, "Best scene", `Best scene: ${name}`, async () => page.openScene(await api.getStudyScene(id), null), !best)));
}

/** @param {NonNullable<StudyInfo["best"]>} best @returns {string} by the last parts of the pointers */
function valuesOf({ values, deviations }) {
  return Object.entries(values).map(([pointer, value]) => `${pointer.split("/").slice(-2).join("/")} = ${quantityOf(value)}${deviations?.[pointer] === undefined ? "" : ` ± ${quantityOf(deviations[pointer])}`}`).join(", ");
}

/** @param {Parts} parts @param {SimulationInfo} info */
function simulationRow(parts, info) {
  const { late, opening } = parts.page;
  const name = info.name || "unnamed scene";
  const step = `step ${info.step} of ${info.total_steps}`;
  const facts = [stateOf(info), info.status === "succeeded" ? format.count(info.total_steps, "step") : step, tookOf(info), whenOf(info)];
  const going = GOING.has(info.status);
  return make("li", { "data-status": info.status },
    make("span", {}, make("b", {}, name), make("small", {}, facts.filter(Boolean).join(" · ")), ...whyOf(info)),
    opener(parts, "Open", `Open ${name}`, () => opening.openRun(info.id), going),
    opener(parts, "As a ghost", `As a ghost ${name}`, async () => (await late.loadComparison()).showRun(info), going));
}

/** @param {Parts} parts @param {BatchInfo} info */
function batchRow(parts, info) {
  const name = info.name || "unnamed scene";
  const counts = Object.entries(info.counts).map(([state, count]) => `${count} ${wordOf(state)}`).join(", ");
  return make("li", { "data-status": info.status },
    make("span", {}, make("b", {}, name), make("small", {}, [`${format.count(info.runs, "run")}: ${counts}`, tookOf(info), whenOf(info)].filter(Boolean).join(" · ")), ...whyOf(info)),
    make("button", { type: "button", "aria-label": `Open the batch ${name}`, onclick: () => showTable(parts, info.id, name) }, "Table"), sharing(info.id, name, parts.note));
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
  return info.status === "running" ? `running, ${Math.round(100 * info.progress)} %` : wordOf(info.status);
}

/** @param {{error: {message?: string} | null}} info @returns {HTMLElement[]} why it ended as it did, if that was not wanted */
function whyOf({ error }) {
  return error?.message ? [make("small", { class: "why" }, error.message)] : [];
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
  tellIn(note, error);
}
