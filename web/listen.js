/**
 * What the page does when its run says something.
 *
 * @import {Session} from "./session.js"
 * @import {StoredRun} from "./stored.js"
 */
import { problemOf } from "./api.js";
import { clearAway, showNote, showProblem } from "./messages.js";

/** Events of a session in words. @type {Record<string, string>} */
const WORDS = { restored: "restored", reset: "reset", failed: "failed", finished: "reached its end", worker_lost: "process lost", worker_resumed: "goes on", break: "broke" };

/** @param {import("./main.js").Page} page @param {Session | StoredRun} session */
export function listen(page, session) {
  const { charts, happenings, transport, view } = page;
  session.on("frame", (frame) => {
    charts.push(frame);
    happenings.add(frame.happenings ?? []);
    if (session.mode === "live") view.flashes?.add(frame.happenings ?? []);
  });
  session.on("mode", (mode) => {
    view.flashes?.clear();
    if (mode === "live") view.held = false;
  });
  session.on("problem", (problem) => {
    if (problem.code === "control_taken") showNote("Another viewer steers this run. What you look at is still yours.");
    else showProblem(problem);
  });
  session.on("idle", (text) => showNote(text));
  session.on("failure", ({ code, message, detail, body }) => {
    showProblem({ title: "The simulation failed", code: code ?? "engine_diverged", detail: message ?? detail });
    view.markFailure(session.scene.bodies.findIndex(({ name }) => name === body), session.edge.step);
  });
  session.on("state", (state) => {
    // a slow browser skips frames; the server has kept them all
    if (state === "paused" || state === "finished" || state === "failed") page.backfill();
  });
  session.on("epoch", () => {
    charts.clear();
    transport.clear();
    happenings.clear();
    view.flashes?.clear();
    if (!session.stored) page.readLog(session);
  });
  session.on("connection", ({ status, detail }) => {
    page.readouts.connection = status;
    if (status === "open" || status === "closed") clearAway();
    if (status === "closed") transport.replayTime = NaN;
    if (status === "closed") showProblem({ title: "The session is over", code: "session_closed", detail }, { label: "Run its scene again", run: () => page.opening.again(session) });
  });
  session.on("event", (event) => happened(page, session, event));
}

/** What was asked for and did not come is told, whoever has asked. */
export function tellFailures() {
  window.addEventListener("unhandledrejection", (event) => {
    const problem = problemOf(event.reason);
    if (!problem) return;
    event.preventDefault();
    showProblem(problem);
  });
}

/** @param {string} op @param {number} step @returns {string} what a mark of the timeline says */
export function commandAt(op, step) {
  return `${op.replaceAll("_", " ")} at step ${step}`;
}

/** @param {import("./main.js").Page} page @param {Session | StoredRun} session @param {Record<string, any>} event */
function happened(page, session, event) {
  if (event.type === "command" && event.command === "set_motor" && event.client_id !== session.stream.clientId) {
    page.motors.set(event.arguments.joint, event.arguments.axis ?? 0, event.arguments.target);
  }
  if (event.type === "state" || event.type === "control") return;
  const label = event.type === "command" ? commandAt(event.command ?? "command", event.step) : `${WORDS[event.type] ?? event.type} at step ${event.step}`;
  page.transport.addEvent(event.step, event.type, label);
  if (event.type === "worker_lost") showNote("The simulation process was lost; it starts again from its last snapshot.");
  if (event.type === "worker_resumed") showNote(`The run goes on in a new process, in the same state: step ${event.step}.`);
}
