/**
 * What the page does when its run says something.
 *
 * @import {Session} from "./session.js"
 * @import {StoredRun} from "./stored.js"
 * @import {Frame} from "./types.js"
 */
import { getCommands, getFrame, getFrames, getSessionState, problemOf } from "./api.js";
import { seconds } from "./format.js";
import { clearAway, showNote, showProblem } from "./messages.js";

/** How many steps before the end of a run it is looked at for what it still shows. */
const LAST_STEPS = [0, 1, 4, 16];

/** ms until targets and commands are asked for again that did not come */
const AGAIN_MS = 2000;

/** Events of a session in words. @type {Record<string, string>} */
const WORDS = { restored: "restored", reset: "reset", failed: "failed", finished: "reached its end", worker_lost: "process lost", worker_resumed: "goes on", break: "broke" };

/** @param {import("./main.js").Page} page @param {Session | StoredRun} session */
export function listen(page, session) {
  const { charts, happenings, transport, view } = page;
  session.on("frame", (frame) => {
    charts.push(frame);
    happenings.add(frame.happenings ?? []);
    const fired = (frame.happenings ?? []).filter(({ kind }) => kind === "trigger");
    for (const { op, value } of fired.flatMap(({ joint }) => session.scene.triggers?.[joint]?.do ?? [])) if (op === "gravity") session.numbers.gravity = value;
    // who comes back to the page sees what happens then
    if (session.mode === "live" && !document.hidden) view.flashes?.add(frame.happenings ?? []);
  });
  session.on("mode", (mode) => {
    view.flashes?.clear();
    if (mode === "live") view.held = false;
    // nothing live came meanwhile
    if (mode === "live" && !session.stored && session.running) page.backfill();
  });
  session.on("problem", (problem) => {
    if (problem.code === "control_taken") showNote("Another viewer steers this run. What you look at is still yours.");
    else if (problem.code === "scope_missing") showNote("You may watch this run, not steer it. What you look at is yours.");
    else showProblem(problem);
  });
  session.on("idle", (text) => showNote(text));
  session.on("failure", () => showFailure(page, session));
  session.on("state", (state) => {
    // a slow browser skips frames; the server has kept them all
    if (state === "paused" || state === "finished" || state === "failed") page.backfill();
  });
  session.on("epoch", () => {
    charts.clear();
    transport.clear();
    happenings.clear();
    view.flashes?.clear();
    view.failure = null;
    page.toggles.restore();
    page.motors.setAll([]);
    page.motors.setBroken([]);
    readLog(page);
  });
  session.on("returned", () => catchUp(page));
  session.on("connection", ({ status, detail }) => {
    page.readouts.connection = status;
    if (status === "open" || status === "closed") clearAway();
    if (status === "closed") transport.replayTime = NaN;
    if (status === "closed") showProblem({ title: "The session is over", code: "session_closed", detail }, { label: "Run its scene again", run: () => page.opening.again(session) });
  });
  session.on("event", (event) => happened(page, session, event));
}

/** Where it failed, with the body it failed at in view, and why in words. @param {import("./main.js").Page} page @param {Session | StoredRun} session */
export async function showFailure(page, session) {
  const { failure, scene, edge } = session;
  if (session.stored) session.seek(edge.step);
  if (!failure) return;
  const body = scene.bodies.findIndex((one) => one.name === failure.body);
  showProblem({ title: `The simulation failed${failure.time === undefined ? "" : ` at ${seconds(failure.time, session.dt)}`}`, code: failure.code ?? "engine_diverged", detail: failure.message ?? failure.detail });
  if (body < 0) return;
  page.toggles.lend("forces");
  page.select({ kind: "body", index: body });
  // what has blown up is nowhere: the last moment at which it was still in the scene
  const stale = () => page.session !== session || session.failure !== failure;
  const seen = await lastThat(session, ({ poses }) => poses !== null && !page.view.isLost(body, poses), stale).catch(() => undefined);
  if (stale()) return;
  page.view.markFailure(body, seen?.step ?? edge.step);
  if (seen && seen.step !== edge.step) await session.seek(seen.step, true);
  page.view.held = true;
  requestAnimationFrame(() => page.view.frameBodies([body], seen?.poses ?? undefined));
}

/**
 * The last moment of a run that has ended at which something holds: of a live one simulated again if need be, else one that was kept.
 * @param {Session | StoredRun} session @param {(frame: Frame) => boolean} holds
 * @param {() => boolean} stale nobody waits for the answer: a run that was reset has no such steps any more @returns {Promise<Frame | undefined>}
 */
async function lastThat(session, holds, stale) {
  if (session.stored) {
    const { recording } = session;
    const index = recording.steps.findLastIndex((_, i) => holds(recording.frame(i)));
    return index < 0 ? undefined : recording.frame(index);
  }
  const { id, history, edge } = session;
  for (const back of LAST_STEPS) {
    if (stale()) return undefined;
    const frame = await getFrame(id, Math.max(history.from, edge.step - back)).catch(() => null);
    if (frame && holds(frame)) return frame;
  }
  return stale() ? undefined : (await getFrames(id, history.from, null, 1)).findLast(holds);
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

/** What was not seen: without a connection, or while nobody looked. @param {import("./main.js").Page} page */
export function catchUp(page) {
  readLog(page);
  page.backfill();
}

/** Motor targets and gravity as they hold, joints that broke, and marks of the commands on the timeline. @param {import("./main.js").Page} page */
export async function readLog(page) {
  const { session, motors, transport } = page;
  if (!session || session.stored) return;
  const { id, scene: { joints = [], triggers = [] } } = session;
  const { turn } = motors;
  const { gravity } = session.numbers;
  const passed = (/** @type {unknown} */ error) => {
    if (problemOf(error)?.retryable) window.setTimeout(() => { if (page.session === session) readLog(page); }, AGAIN_MS);
    return null;
  };
  const asked = () => getSessionState(id).catch(passed);
  const early = joints.length || triggers.length || session.origin ? asked() : null;
  const log = await getCommands(id).catch(() => null);
  const state = await (early ?? (log?.some(({ op }) => op === "gravity") ? asked() : null));
  if (page.session !== session) return;
  if (state?.epoch === session.epoch) {
    // unless a command has changed it since
    if (session.numbers.gravity === gravity) session.numbers.gravity = state.gravity;
    motors.setAll(state.motor_targets, turn);
    const broken = new Set(state.broken_joints.map(({ joint }) => joint));
    joints.forEach(({ name }, index) => { if (broken.has(name)) motors.lose(index); });
  }
  transport.addPast((log ?? []).filter((entry) => entry.epoch === session.epoch).map(({ step, op }) => ({ step, type: "command", label: commandAt(op, step) })));
}

/** @param {string} op @param {number} step @returns {string} what a mark of the timeline says */
function commandAt(op, step) {
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
