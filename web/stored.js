/**
 * A simulation that has ended, shown like a session: the same timeline, plots and inspector. It is
 * always in the history; nothing moves but the moment that is shown.
 *
 * @import {Frame, Scene} from "./types.js"
 * @import {SessionEvents} from "./emitter.js"
 * @import {Failure, Numbers} from "./session.js"
 */
import * as api from "./api.js";
import { Emitter } from "./emitter.js";
import { openNpz } from "./npz.js";
import { Recording } from "./recording.js";
import { Timeline } from "./timeline.js";

/** Rows of poses that are fetched; longer recordings are thinned, and say so. */
const MAX_ROWS = 250_000;
/** So many bodies are named in a sentence. */
const FEW = 3;
/** Frames that fill the plots. */
const PLOTTED = 800;

/** @param {import("./types.js").SimulationInfo} info @returns {Promise<StoredRun>} */
export async function openStored(info) {
  const scene = await api.getSimulationScene(info.id);
  const { every, rate } = scene.record ?? {};
  const frames = rate ? (info.step * (scene.simulation?.dt ?? 0.001)) * rate : info.step / (every ?? 10);
  const stride = Math.max(1, Math.ceil((frames * scene.bodies.length) / MAX_ROWS));
  const [npz, summary] = await Promise.all([api.getTrajectory(info.id, stride), api.getSummary(info.id).catch(() => null)]);
  const recording = new Recording(await openNpz(npz), scene);
  const run = new StoredRun(info, scene, recording, summary, stride);
  const { unseen } = recording;
  if (info.status !== "failed" && info.error?.message) run.gaps.push(`The run ended early, at step ${info.step} of ${info.total_steps}. ${info.error.message}`);
  if (stride > 1) run.gaps.push(`This is a long recording: one of ${stride} of its moments is shown.`);
  if (unseen.length) run.gaps.push(`The poses of ${unseen.length > FEW ? `${unseen.length} bodies` : unseen.join(", ")} were not recorded (“record” of the scene): they stand where they start.`);
  return run;
}

/** @typedef {Pick<Recording, "steps" | "times" | "indexAt" | "frame">} Moments */

/** @extends {Emitter<SessionEvents & Record<string, unknown>>} */
export class StoredRun extends Emitter {
  /**
   * @param {Pick<import("./types.js").SimulationInfo, "id" | "error"> & {status: string, step?: number, name?: string}} info @param {Scene} scene @param {Moments} recording
   * @param {import("./types.js").RunSummary | null} summary @param {number} stride every how-many-th recorded frame was fetched
   */
  constructor(info, scene, recording, summary, stride) {
    super();
    this.id = info.id;
    this.stored = /** @type {const} */ (true);
    /** @type {"run" | "scene"} how the address names it */
    this.kind = "run";
    /** what it is called, which may be another name than that of its scene */
    this.title = info.name ?? "";
    this.scene = scene;
    this.recording = recording;
    this.known = summary;
    this.stride = stride;
    /** @type {string[]} what the view does not show of the run, in sentences */
    this.gaps = [];
    this.state = info.status === "failed" ? "failed" : "stored";
    /** @type {number | null} */
    this.speed = 1;
    this.epoch = 0;
    const { steps, times } = recording;
    this.history = { from: steps[0] ?? 0, to: steps[steps.length - 1] ?? 0 };
    this.edge = { step: this.history.to, time: times[times.length - 1] ?? 0 };
    /** @type {"live" | "history"} */
    this.mode = "history";
    this.timeline = new Timeline();
    /** @type {Numbers} */
    this.numbers = { contacts: null, joints: null, energy: null, solver: null, grab: null, momentum: null, velocities: null, reactions: null };
    this.dropped = 0;
    this.viewers = 1;
    this.joined = Infinity;
    this.latency = NaN;
    this.running = false;
    this.ended = true;
    /** @type {Failure | null} */
    this.failure = info.error && { ...info.error, time: this.edge.time + Math.max(0, (info.step ?? 0) - this.edge.step) * this.dt, body: info.error.body ?? /body '([^']+)'/.exec(info.error.message ?? "")?.[1] };
    this.stream = { clientId: "", bytes: 0, notify() {}, acknowledge() {} };
    this.show(0);
  }

  get dt() {
    return this.scene.simulation?.dt ?? 0.001;
  }

  /** @param {number} index of a recorded frame */
  show(index) {
    const frame = this.recording.frame(index);
    this.timeline.pinned = frame;
    const { contacts, joints, energy, solver, momentum, velocities, reactions } = frame;
    Object.assign(this.numbers, { contacts, joints, energy, solver, momentum, velocities, reactions });
  }

  /** The last recorded moment at or before a step. @param {number} step @param {boolean} [_exact] what was recorded is all there is */
  async seek(step, _exact = false) {
    const { steps, times } = this.recording;
    // times, as a replay asks for moments between two steps
    const within = Math.min(this.history.to, Math.max(this.history.from, step));
    this.show(this.recording.indexAt(Math.min(times[steps.length - 1], within * this.dt)));
  }

  /** @param {number} n recorded frames, negative for back */
  async step(n) {
    const at = this.recording.steps.indexOf(this.timeline.pinned?.step ?? 0);
    this.show(Math.min(this.recording.steps.length - 1, Math.max(0, at + n)));
  }

  async live() {
    await this.seek(this.history.to);
  }

  async reset() {
    await this.seek(this.history.from);
    return true;
  }

  async pause() {
    return true;
  }

  async resume() {
    return true;
  }

  /** @param {number | null} factor of the replay */
  async setSpeed(factor) {
    this.speed = factor;
  }

  /** @param {string} _op @param {Record<string, unknown>} [_fields] */
  async command(_op, _fields = {}) {
    this.emit("idle", "This run is stored: it can be looked at, not steered. “Run it live” starts its scene in a session.");
    return false;
  }

  /** @param {import("./session.js").Needs} _needs everything is here */
  setNeeds(_needs) {}

  /** @param {number} [most] about how many @returns {Promise<Frame[]>} over the whole run, thinned */
  async frames(most = PLOTTED) {
    const { length } = this.recording.steps;
    const stride = Math.max(1, Math.ceil(length / most));
    return Array.from({ length: Math.ceil(length / stride) }, (_, i) => this.recording.frame(i * stride));
  }

  async summary() {
    return this.known;
  }

  close() {}
}
