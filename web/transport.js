/**
 * The bar below the view: play, step, speed, and the timeline over what the server has kept.
 *
 * @import {Session} from "./session.js"
 * @import {StoredRun} from "./stored.js"
 */
import { byId, icon, make, setText } from "./dom.js";
import * as format from "./format.js";

/** @type {(number | null)[]} null: as fast as possible */
export const SPEEDS = [1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, null];
const MAX_MARKERS = 200;

export class Transport {
  /** @param {() => Session | StoredRun | null} current */
  constructor(current) {
    this.current = current;
    this.timeline = byId("timeline", HTMLInputElement);
    this.markers = byId("markers", HTMLElement);
    /** @type {number | null} the step after which the answer depends on the step */
    this.horizon = null;
    this.playButton = byId("play", HTMLButtonElement);
    this.liveButton = byId("live", HTMLButtonElement);
    this.speed = byId("speed", HTMLSelectElement);
    this.time = byId("shown-time", HTMLElement);
    this.playIcon = "";
    /** @type {{step: number, type: string, label: string}[]} */
    this.events = [];
    this.dragging = false;
    /** s, moment of a replay of the history; NaN when none runs */
    this.replayTime = NaN;
    this.wire();
  }

  wire() {
    /** @type {[string, string, () => void][]} */
    const buttons = [
      ["reset", "reset", () => this.reset()], ["back10", "back10", () => this.step(-10)], ["back1", "back", () => this.step(-1)],
      ["forward1", "forward", () => this.step(1)], ["forward10", "forward10", () => this.step(10)],
    ];
    for (const [id, name, action] of buttons) {
      const button = byId(id, HTMLButtonElement);
      button.append(icon(name));
      button.addEventListener("click", action);
    }
    this.playButton.addEventListener("click", () => this.toggle());
    this.liveButton.addEventListener("click", () => this.live());
    this.speed.replaceChildren(...SPEEDS.map((factor) => make("option", { value: String(factor) }, format.speed(factor))));
    this.speed.value = "1";
    this.speed.addEventListener("change", () => this.current()?.setSpeed(this.speed.value === "null" ? null : Number(this.speed.value)));
    this.timeline.addEventListener("input", () => this.scrub());
    this.timeline.addEventListener("pointerdown", () => { this.dragging = true; });
    this.timeline.addEventListener("change", () => {
      this.dragging = false;
      this.rest();
    });
    window.addEventListener("pointerup", () => { this.dragging = false; });
    this.setPlayIcon("play", "Play");
  }

  scrub() {
    const session = this.current();
    if (!session) return;
    this.replayTime = NaN;
    const step = this.timeline.valueAsNumber;
    if (step >= Number(this.timeline.max)) session.live();
    else session.seek(step);
  }

  /** The slider rests: the very step it points to. */
  rest() {
    const session = this.current();
    const step = this.timeline.valueAsNumber;
    if (session?.mode === "history" && step < Number(this.timeline.max)) session.seek(step, true);
  }

  toggle() {
    const session = this.current();
    if (!session) return undefined;
    if (session.mode === "history") {
      const atEnd = (session.timeline.pinned?.step ?? 0) >= session.edge.step;
      if (session.stored && Number.isNaN(this.replayTime) && atEnd) session.seek(session.history.from);
      this.replayTime = Number.isNaN(this.replayTime) ? session.timeline.pinned?.time ?? 0 : NaN;
      return undefined;
    }
    if (session.state === "finished" || session.state === "failed") return session.reset().then(() => session.resume());
    return session.running ? session.pause() : session.resume();
  }

  /** @param {number} n */
  step(n) {
    this.replayTime = NaN;
    return this.current()?.step(n);
  }

  reset() {
    this.replayTime = NaN;
    return this.current()?.reset();
  }

  start() {
    this.replayTime = NaN;
    const session = this.current();
    return session?.seek(session.history.from);
  }

  live() {
    this.replayTime = NaN;
    return this.current()?.live();
  }

  /** @param {Session | StoredRun} session */
  open(session) {
    this.clear();
    this.dragging = false;
    this.liveButton.hidden = session.stored;
    const fork = byId("fork", HTMLButtonElement);
    setText(fork, session.stored ? "Run it live" : "Fork here");
  }

  clear() {
    this.events = [];
    this.replayTime = NaN;
    this.markers.replaceChildren();
  }

  /** @param {number} step @param {string} type @param {string} label */
  addEvent(step, type, label) {
    this.events.push({ step, type, label });
    if (this.events.length > MAX_MARKERS) this.events.shift();
  }

  /** What happened before this page joined. @param {{step: number, type: string, label: string}[]} past */
  addPast(past) {
    const known = new Set(this.events.map(({ step, label }) => `${step} ${label}`));
    this.events = [...past.filter(({ step, label }) => !known.has(`${step} ${label}`)), ...this.events].slice(-MAX_MARKERS);
  }

  /** Moves a replay on by what the clock says. @param {number} elapsed ms since the last call */
  advance(elapsed) {
    const session = this.current();
    if (!session || Number.isNaN(this.replayTime)) return;
    if (session.mode === "live") {
      this.replayTime = NaN;
      return;
    }
    this.replayTime += (elapsed / 1000) * (session.speed ?? 1);
    if (this.replayTime >= session.edge.time) this.live();
    else session.seek(this.replayTime / session.dt, false);
  }

  /** @param {{step: number, time: number}} shown */
  update(shown) {
    const session = this.current();
    const replaying = !Number.isNaN(this.replayTime);
    const moving = session ? (session.mode === "history" ? replaying : session.running) : false;
    this.setPlayIcon(moving ? "pause" : "play", moving ? "Pause" : session?.mode === "history" ? "Replay from here" : "Play");
    this.liveButton.setAttribute("aria-pressed", String(session?.mode === "live"));
    if (!session) return;
    this.timeline.min = String(session.history.from);
    this.timeline.max = String(Math.max(session.edge.step, session.history.from + 1));
    if (!this.dragging) this.timeline.value = session.mode === "live" ? this.timeline.max : String(shown.step);
    this.timeline.setAttribute("aria-valuetext", `${format.seconds(shown.time)}, step ${shown.step}`);
    setText(this.time, format.seconds(shown.time));
    if (this.speed !== document.activeElement) this.speed.value = String(session.speed);
    this.drawMarkers(session.history.from, session.edge.step);
  }

  /** @param {number} from @param {number} to */
  drawMarkers(from, to) {
    const span = Math.max(1, to - from);
    this.markers.style.setProperty("--horizon", this.horizon === null ? "100%" : `${(100 * (this.horizon - from)) / span}%`);
    while (this.markers.childElementCount < this.events.length) this.markers.append(make("i"));
    while (this.markers.childElementCount > this.events.length) this.markers.lastElementChild?.remove();
    this.events.forEach(({ step, type, label }, i) => {
      const mark = /** @type {HTMLElement} */ (this.markers.children[i]);
      mark.style.left = `${(100 * (step - from)) / span}%`;
      mark.dataset.type = type;
      mark.title = label;
    });
  }

  /** @param {string} name @param {string} label */
  setPlayIcon(name, label) {
    if (this.playIcon === label) return;
    this.playIcon = label;
    this.playButton.replaceChildren(icon(name));
    this.playButton.setAttribute("aria-label", label);
  }
}
