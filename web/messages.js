/**
 * Problems and notes as a person reads them: title, what was found, and each fault with its place.
 *
 * @import {Fault, Problem} from "./types.js"
 */
import { byId, make } from "./dom.js";

const NOTE_MS = 4000;
const MAX_SHOWN = 4;

/** @param {Fault} fault @returns {(Node | string)[]} */
export function describeFault(fault) {
  const got = fault.got === undefined || fault.got === null ? "" : ` Found ${JSON.stringify(fault.got).slice(0, 80)}.`;
  return [
    make("code", {}, fault.pointer || "/"), ` ${fault.message}${got}`,
    ...(fault.hint ? [make("small", {}, fault.hint)] : []),
  ];
}

/** @param {Problem} problem stays until it is dismissed */
export function showProblem(problem) {
  const faults = (problem.errors ?? []).slice(0, 8);
  const facts = [problem.code, problem.request_id && `request ${problem.request_id}`, problem.retryable && "trying again may help"].filter(Boolean);
  const box = make("div", { class: "message" },
    make("b", {}, problem.title),
    make("button", { type: "button", "aria-label": "Dismiss", onclick: () => box.remove() }, "Dismiss"),
    ...(problem.detail ? [make("p", {}, problem.detail)] : []),
    ...(faults.length ? [make("ul", {}, ...faults.map((fault) => make("li", {}, ...describeFault(fault))))] : []),
    ...(facts.length ? [make("p", {}, facts.join(" · "))] : []));
  add(box);
}

/** @param {string} text goes by itself */
export function showNote(text) {
  const box = make("div", { class: "message note" }, make("b", {}, text));
  add(box);
  window.setTimeout(() => box.remove(), NOTE_MS);
}

/** @param {HTMLElement} box */
function add(box) {
  const host = byId("messages", HTMLElement);
  const same = [...host.children].find((other) => other.textContent === box.textContent);
  same?.remove();
  host.append(box);
  while (host.children.length > MAX_SHOWN) host.firstElementChild?.remove();
}

export function clearMessages() {
  byId("messages", HTMLElement).replaceChildren();
}
