/**
 * Problems and notes as a person reads them: title, what was found, and each fault with its place.
 *
 * @import {Fault, Problem} from "./types.js"
 */
import { byId, lastAsked, make } from "./dom.js";
import { signs } from "./format.js";

const NOTE_MS = 4000;
const MAX_SHOWN = 4;
const MAX_FAULTS = 8;
/** Problems of a service that is away: one message for all of them, which goes when it is back. */
const AWAY = new Set(["not_connected", "connection_lost", "unreachable"]);

/** Names in backticks as code. @param {string} text @returns {(Node | string)[]} */
function prose(text) {
  return signs(text).split("\x60").map((part, i) => (i % 2 ? make("code", {}, part) : part));
}

/** @param {Fault} fault @param {string} [place] where it is, if not a pointer @returns {(Node | string)[]} */
export function describeFault(fault, place = fault.pointer || "/") {
  const told = fault.got === undefined || fault.got === null || /\bfound\b/i.test(fault.message);
  return [
    make("code", {}, place), " ", ...prose(fault.message), told ? "" : ` Found ${JSON.stringify(fault.got).slice(0, 80)}.`,
    ...(fault.hint ? [make("small", {}, ...prose(fault.hint))] : []),
  ];
}

/**
 * Faults that say the same, once each: a program that writes a field wrong does so for every body.
 *
 * @param {Fault[]} faults @returns {{fault: Fault, place: string}[]}
 */
export function gathered(faults) {
  /** @type {Map<string, Fault[]>} */
  const alike = new Map();
  for (const fault of faults) {
    const said = JSON.stringify([fault.message, fault.hint ?? null]);
    const same = alike.get(said);
    if (same) same.push(fault);
    else alike.set(said, [fault]);
  }
  return [...alike.values()].map((same) => {
    const [first, last] = [same[0], same[same.length - 1]].map(({ pointer }) => pointer || "/");
    return { fault: same[0], place: same.length === 1 ? first : `${first} and ${same.length - 1} more, the last ${last}` };
  });
}

/** What a person can do who has a key that the service was not given. */
const KEY = { label: "Enter a key", run: async () => (await lastAsked(import("./key.js")))?.askForKey() };

/** Why something did not come, in the line of a dialog. @param {HTMLElement} note @param {Error & {problem?: Problem}} error @param {string} [words] */
export function tellIn(note, error, words = error.message) {
  const way = error.problem?.status === 401 ? [" ", make("button", { type: "button", class: "primary", onclick: KEY.run }, KEY.label)] : [];
  note.replaceChildren(words, ...way);
}

/**
 * @param {Problem} problem stays until it is dismissed
 * @param {{label: string, run: () => unknown} | null} [way] what a person can do about it
 */
export function showProblem(problem, way = null) {
  if (problem.status === 401) way = KEY;
  const faults = gathered(problem.errors ?? []);
  const unseen = faults.length - MAX_FAULTS;
  const { detail } = problem;
  const isListed = faults.some(({ fault }) => detail?.includes(fault.message));
  const facts = [problem.code, problem.request_id && `request ${problem.request_id}`, problem.retryable && "trying again may help"].filter(Boolean);
  const box = make("div", { class: "message", "data-about": AWAY.has(problem.code ?? "") ? "away" : problem.detail || problem.title },
    make("b", {}, problem.title),
    dismiss(() => box.remove()),
    ...(detail && !isListed ? [make("p", {}, signs(detail))] : []),
    ...(faults.length ? [make("ul", {}, ...faults.slice(0, MAX_FAULTS).map(({ fault, place }) => make("li", {}, ...describeFault(fault, place))))] : []),
    ...(unseen > 0 ? [make("p", {}, `and ${unseen} more`)] : []),
    ...(facts.length ? [make("p", {}, facts.join(" · "))] : []),
    ...(way ? [make("button", { type: "button", class: "way primary", onclick: () => (box.remove(), way.run()) }, way.label)] : []));
  add(box);
  const { type } = problem;
  if (type?.startsWith("/manual/")) import("./manual.js").then(({ linkProblem }) => linkProblem(type, box));
}

/** @param {string} text @param {{stays?: boolean}} [how] goes by itself unless it stays */
export function showNote(text, { stays = false } = {}) {
  const box = make("div", { class: "message note" }, make("b", {}, text), ...(stays ? [dismiss(() => box.remove())] : []));
  add(box);
  // from the picture that has it on: a page that is hidden, or busy, has shown nothing yet
  if (!stays) requestAnimationFrame(() => window.setTimeout(() => box.remove(), NOTE_MS));
}

/** @param {() => void} action */
function dismiss(action) {
  return make("button", { type: "button", "aria-label": "Dismiss", onclick: action }, "Dismiss");
}

/** @param {HTMLElement} box */
function add(box) {
  const host = byId("messages", HTMLElement);
  const about = (/** @type {Element} */ one) => (one instanceof HTMLElement && one.dataset.about) || one.textContent;
  const same = [...host.children].find((other) => about(other) === about(box));
  // it may offer a way out that this one does not know
  if (same?.querySelector(".way") && !box.querySelector(".way")) return;
  same?.remove();
  host.append(box);
  // what happens in a run must not push out what went wrong
  const kind = box.classList.contains("note");
  const alike = [...host.children].filter((other) => other.classList.contains("note") === kind);
  for (const old of alike.slice(0, -MAX_SHOWN)) old.remove();
}

/** The service is back: what said that it is away goes, unless it offers something to do. */
export function clearAway() {
  for (const box of byId("messages", HTMLElement).querySelectorAll('[data-about="away"]')) if (!box.querySelector(".way")) box.remove();
}

export function clearMessages() {
  byId("messages", HTMLElement).replaceChildren();
}
