/**
 * The numbers at the top: state, time, speed asked for and reached, latency, bytes per second.
 *
 * @import {Session} from "./session.js"
 * @import {StoredRun} from "./stored.js"
 */
import { byId, setText } from "./dom.js";
import * as format from "./format.js";
import { Role } from "./role.js";
import { VerdictBadge } from "./verdict.js";

const REFRESH_MS = 200;
/** Below this share of the target the machine cannot keep up. */
const CAPPED = 0.95;

const WORDS = {
  starting: "starting", running: "running", paused: "paused", finished: "finished", failed: "failed",
  recovering: "recovering", closed: "closed", lost: "reconnecting", connecting: "connecting", history: "history", stored: "stored run", scene: "stored scene",
};

export class Readouts {
  /** @param {() => Session | StoredRun | null} current */
  constructor(current) {
    this.role = new Role(current);
    const read = (/** @type {string} */ name) => byId(`read-${name}`, HTMLElement);
    this.time = read("time");
    this.step = read("step");
    this.target = read("target");
    this.actual = read("actual");
    this.capped = read("capped");
    this.latency = read("latency");
    this.rate = read("rate");
    this.viewers = read("viewers");
    this.verdict = new VerdictBadge();
    this.state = byId("run-state", HTMLElement);
    this.connection = "connecting";
    this.refreshed = 0;
    this.bytes = 0;
  }

  /** @param {Session | StoredRun | null} session @param {{step: number, time: number}} shown @param {number} now ms */
  update(session, shown, now) {
    setText(this.time, format.seconds(shown.time, session?.dt));
    setText(this.step, String(shown.step));
    this.showState(session);
    this.role.update(session);
    this.verdict.update(session, shown, now);
    const elapsed = now - this.refreshed;
    if (!session || elapsed < REFRESH_MS) return;
    this.refreshed = now;
    const actual = session.state === "running" && this.connection === "open" ? session.numbers.solver?.realTimeFactor ?? NaN : NaN;
    setText(this.target, format.speed(session.speed));
    setText(this.actual, Number.isNaN(actual) ? "–" : `${actual.toFixed(2)}×`);
    this.capped.hidden = !(session.speed !== null && actual < CAPPED * session.speed);
    setText(this.latency, Number.isNaN(session.latency) ? "–" : `${session.latency.toFixed(1)} ms`);
    setText(this.viewers, String(session.viewers));
    const rate = Math.max(0, (session.stream.bytes - this.bytes) / elapsed);
    this.bytes = session.stream.bytes;
    setText(this.rate, `${rate.toFixed(rate < 10 ? 1 : 0)} kB/s`);
  }

  /** @param {Session | StoredRun | null} session */
  showState(session) {
    let state = session?.state ?? "none";
    if (session && this.connection !== "open") state = this.connection;
    else if (session?.mode === "history" && !session.stored) state = "history";
    if (this.state.dataset.state === state) return;
    this.state.dataset.state = state;
    setText(this.state, WORDS[/** @type {keyof typeof WORDS} */ (state)] ?? "no session");
  }
}
