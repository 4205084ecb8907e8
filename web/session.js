/**
 * One live session as the page sees it: its run state, its newest numbers, and whether the live edge
 * or a moment of the history is shown. Looking at the history never changes the run.
 *
 * @import {SessionEvents} from "./emitter.js"
 * @import {Contacts, Energy, Frame, Grab, JointCoordinate, Scene, SessionInfo, SolverNumbers} from "./types.js"
 */
import * as api from "./api.js";
import { Emitter } from "./emitter.js";
import { seconds } from "./format.js";
import { CommandError, Stream } from "./stream.js";
import { Timeline } from "./timeline.js";

/** ms between two looks at the session object: often while the history is shown, for the live edge */
const POLL_MS = { live: 3000, history: 500 };

/** Frames that fill the plots, and how many there are in a second at real time. */
const PLOTTED = 400;
const FRAMES_PER_SECOND = 60;

/** Commands that act on a run that moves, and only there. */
const ACTING = new Set(["set_motor", "grab", "apply_force", "apply_impulse", "gravity"]);

/** @typedef {{code?: string, message?: string, detail?: string, body?: string, time?: number}} Failure */
/** @typedef {{contacts: boolean, friction: boolean, joints: boolean, momentum: boolean, velocities: boolean, reactions: boolean}} Needs  what costs much and is shown; friction is of contacts, which are then needed too */
/** @typedef {{contacts: Contacts | null, joints: JointCoordinate[] | null, energy: Energy | null, solver: SolverNumbers | null, grab: Grab | null, gravity?: number[] | null, momentum: number[] | null, velocities: Float32Array | null, reactions: Float32Array | null}} Numbers */

/** Of these there is only what somebody has asked for. */
const ASKED = /** @type {const} */ (["contacts", "joints", "momentum", "velocities", "reactions"]);

/** @extends {Emitter<SessionEvents & Record<string, unknown>>} */
export class Session extends Emitter {
  /** @param {SessionInfo} info @param {Scene} scene */
  constructor(info, scene) {
    super();
    this.id = info.id;
    this.stored = /** @type {const} */ (false);
    this.kind = /** @type {const} */ ("session");
    /** the moment of another session at which this one began */
    this.origin = info.forked_from ?? null;
    this.scene = scene;
    this.state = info.state;
    this.speed = info.speed;
    this.epoch = info.epoch;
    /** steps kept by the server: what can be shown */
    this.history = { from: info.history?.from_step ?? 0, to: info.step };
    this.edge = { step: info.step, time: info.time };
    /** @type {"live" | "history"} */
    this.mode = "live";
    this.timeline = new Timeline();
    /** @type {Numbers} newest of each channel, live or pinned; channels come at rates of their own */
    this.numbers = { contacts: null, joints: null, energy: null, solver: null, grab: null, momentum: null, velocities: null, reactions: null };
    this.dropped = 0;
    /** @type {{step: number, exact: boolean} | null} what to seek once the present seek is answered, or the socket is open */
    this.wanted = null;
    /** the last step that was sought: what is in the view may be an older one, whose successor is on its way */
    this.sought = { step: 0, exact: false };
    this.welcomed = false;
    /** @type {() => void} */
    this.tellOpened = () => {};
    /** @type {Promise<void>} the stream has welcomed the page, or this session is shown no longer */
    this.opened = new Promise((resolve) => { this.tellOpened = resolve; });
    this.seeking = false;
    this.viewers = 1;
    /** @type {string | null} the viewer that steers; null: everybody */
    this.control = info.control ?? null;
    /** whether this page may only look on, whoever steers */
    this.watches = false;
    /** the step at which this page came: what happened before is of the past */
    this.joined = info.step;
    /** how often the stream has said what state the run is in: an answer that was asked for before knows less */
    this.stateTold = 0;
    /** @type {Failure | null} */
    this.failure = null;
    /** ms, smoothed, to the server and back */
    this.latency = NaN;
    this.pollTimer = window.setInterval(() => this.poll(), POLL_MS.live);
    this.stream = new Stream(this.id, {
      onWelcome: (welcome) => this.welcome(welcome),
      onFrame: (frame) => this.receive(frame),
      onEvent: (event) => this.happened(event),
      onStatus: (status, detail) => this.emit("connection", { status, detail }),
      onProblem: (problem) => this.emit("problem", problem),
    });
  }

  get dt() {
    return this.scene.simulation?.dt ?? 0.001;
  }

  get ended() {
    return this.state === "finished" || this.state === "failed";
  }

  get running() {
    return this.state === "running" || this.state === "starting" || this.state === "recovering";
  }

  /** @param {Record<string, any>} welcome */
  welcome(welcome) {
    if (welcome.epoch !== this.epoch) this.restart(welcome.epoch);
    if (welcome.history) this.history = { from: welcome.history.from_step ?? 0, to: welcome.history.to_step ?? welcome.step };
    this.edge = { step: welcome.step, time: welcome.time };
    if (welcome.speed !== undefined) this.speed = welcome.speed;
    this.setState(welcome.state);
    this.setFailure(welcome.failure);
    this.control = welcome.control ?? null;
    this.watches = welcome.role === "view" && (this.control === null || this.control === this.stream.clientId);
    if (this.welcomed) this.emit("returned", null);
    this.welcomed = true;
    this.tellOpened();
    if (this.mode !== "history") return;
    const { step, exact } = this.sought;
    this.seek(step, exact);
  }

  /** @param {Frame} frame */
  receive(frame) {
    this.dropped += frame.dropped;
    // it was under way when time started again
    if (frame.epoch < this.epoch) return;
    if (this.mode === "history" && frame.key && frame.epoch === this.epoch) {
      if (frame.poses) this.timeline.pinned = frame;
      this.remember(frame);
      return;
    }
    if (frame.epoch !== this.epoch) this.restart(frame.epoch);
    this.edge = { step: frame.step, time: frame.time };
    this.history.to = Math.max(this.history.to, frame.step);
    this.timeline.push(frame, performance.now());
    if (this.mode === "live") this.remember(frame);
    this.emit("frame", frame);
  }

  /** @param {Frame} frame */
  remember(frame) {
    // a kept moment has what anybody had asked for when it was live, which may be less or more than is shown now
    const { needs } = this.stream;
    for (const name of ASKED) if (needs[name]) Object.assign(this.numbers, { [name]: frame[name] ?? (this.mode === "history" ? null : this.numbers[name]) });
    if (frame.energy) this.numbers.energy = frame.energy;
    if (frame.solver) this.numbers.solver = frame.solver;
    if (frame.poses) this.numbers.grab = frame.grab;
  }

  /** Channels that cost much are subscribed while something shows them. @param {Needs} needs */
  setNeeds(needs) {
    if (!this.stream.setNeeds(needs)) return;
    for (const name of ASKED) if (!needs[name]) this.numbers[name] = null;
    // a moment of the history comes once: again, with what is needed now
    if (this.mode === "history" && this.welcomed) this.seek(this.sought.step, true);
  }

  /** @param {number} epoch */
  restart(epoch) {
    this.epoch = epoch;
    this.joined = -1;
    this.timeline.clear();
    this.numbers.gravity = null;
    this.history = { from: 0, to: 0 };
    // what was looked at is no more, and the server would go on to show that alone
    this.live();
    this.emit("epoch", null);
  }

  /** @param {Record<string, any>} event */
  happened(event) {
    if (event.type === "state" && event.state) this.setState(event.state);
    else if (event.type === "failed" || event.type === "finished") this.setState(event.type);
    else if (event.type === "worker_lost") this.setState("recovering");
    if (event.type === "failed") this.setFailure(event.failure ?? event);
    if (event.type === "state" && event.speed !== undefined) this.speed = event.speed;
    // nothing live comes to who looks at the history
    if (event.type === "reset" && this.mode === "history" && event.epoch > this.epoch) this.restart(event.epoch);
    if (event.type === "control") this.control = event.client_id ?? null;
    if (event.type === "command" && event.command === "gravity") this.numbers.gravity = event.arguments.value;
    this.emit("event", event);
  }

  /** @param {string} state */
  setState(state) {
    this.stateTold += 1;
    if (state === this.state) return;
    this.state = state;
    if (state !== "failed") this.failure = null;
    this.emit("state", state);
  }

  /** It comes with the welcome, where the run failed before, or as an event. @param {Failure | null | undefined} failure */
  setFailure(failure) {
    if (!failure || this.failure) return;
    this.failure = failure;
    this.emit("failure", failure);
  }

  /**
   * @param {string} op
   * @param {Record<string, unknown>} [fields]
   * @returns {Promise<boolean>} whether it was accepted; a refusal has been shown
   */
  async command(op, fields = {}) {
    try {
      await this.stream.command(op, fields);
      if (this.ended && ACTING.has(op)) this.emit("idle", `The run ${this.state === "failed" ? "has failed" : "has reached its end"} at ${seconds(this.edge.time, this.dt)}: nothing moves any more. Reset (R) starts it again.`);
      return true;
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      // who came while another steered was not told that it is not for that alone
      if (error.problem.code === "scope_missing") this.watches = true;
      // a later seek has taken the place of this one
      if (!["superseded", "session_over"].includes(error.problem.code ?? "")) this.emit("problem", error.problem);
      return false;
    }
  }

  pause() {
    return this.command("pause");
  }

  async resume() {
    if (this.mode === "history") await this.live();
    return this.command("resume");
  }

  /** @param {number | null} factor null: as fast as possible */
  async setSpeed(factor) {
    if (await this.command("speed", { factor })) this.speed = factor;
  }

  async reset() {
    if (this.mode === "history") await this.live();
    return this.command("reset");
  }

  /**
   * At the live edge forwards: simulates. Backwards, or inside the history: shows another moment.
   * @param {number} n steps, negative for back
   */
  async step(n) {
    if (this.mode === "live" && n > 0) {
      if (this.running) await this.pause();
      return this.command("step", { n });
    }
    if (this.mode === "live" && this.running) await this.pause();
    const shown = this.timeline.pinned?.step ?? this.edge.step;
    const base = this.mode === "history" && this.sought.exact ? this.sought.step : this.wanted?.step ?? shown;
    return base + n < this.edge.step ? this.seek(base + n, true) : this.live();
  }

  /**
   * @param {number} step
   * @param {boolean} [exact] this very step, simulated again if need be; else the last kept moment at or before it
   */
  async seek(step, exact = false) {
    if (this.mode === "live") {
      this.setMode("history");
      const { latest } = this.timeline;
      if (latest?.poses) this.timeline.pinned = latest;
    }
    const from = this.welcomed ? this.history.from : 0;
    this.wanted = { step: Math.min(this.welcomed ? this.edge.step : Infinity, Math.max(from, Math.round(step))), exact };
    this.sought = this.wanted;
    if (this.seeking || !this.welcomed) return;
    this.seeking = true;
    while (this.wanted !== null && this.mode === "history") {
      /** @type {{step: number, exact: boolean}} */
      const next = this.wanted;
      if (!(await this.command("seek", next.exact ? next : { step: next.step })) && this.wanted === next) this.wanted = null;
      // the step counts as wanted while it is under way, so that two steps back in a row go back two
      if (this.wanted === next) this.wanted = null;
    }
    this.seeking = false;
  }

  async live() {
    if (this.mode === "live") return;
    this.wanted = null;
    this.setMode("live");
    await this.command("live");
  }

  /** @param {"live" | "history"} mode */
  setMode(mode) {
    this.mode = mode;
    clearInterval(this.pollTimer);
    // what was asked for before it was closed may come later
    if (!this.stream.stopped) this.pollTimer = window.setInterval(() => this.poll(), POLL_MS[mode]);
    if (mode === "live") this.timeline.pinned = null;
    this.emit("mode", mode);
  }

  /** How far away the server is, who else looks on; in the history also the live edge, which moves on unseen. */
  async poll() {
    if (document.hidden || this.state === "closed") return;
    const { stateTold } = this;
    const info = await this.stream.info();
    if (!info) return;
    const took = api.roundTrip(this.id);
    if (took !== null) this.latency = Number.isNaN(this.latency) ? took : 0.7 * this.latency + 0.3 * took;
    this.viewers = info.viewers ?? 1;
    this.control = info.control ?? null;
    if (info.epoch !== this.epoch) return;
    // whatever was lost on the way, the state is right again; an answer older than what the stream said is none
    if (this.welcomed && stateTold === this.stateTold) this.setState(info.state);
    if (this.mode === "live") return;
    this.edge = { step: info.step, time: info.time };
    this.history.to = info.step;
  }

  /** @param {number} [most] @returns {number} every how-many-th frame of the history makes about so many */
  strideOf(most = PLOTTED) {
    const kept = (this.edge.step - this.history.from) * this.dt * FRAMES_PER_SECOND;
    return Math.max(1, Math.ceil(kept / most));
  }

  /** @param {number} [most] about how many @returns {Promise<Frame[]>} of the history, thinned */
  frames(most = PLOTTED) {
    return api.getFrames(this.id, this.history.from, null, this.strideOf(most));
  }

  summary() {
    return api.getSessionSummary(this.id);
  }

  close() {
    clearInterval(this.pollTimer);
    this.tellOpened();
    this.stream.close();
  }
}
