/**
 * The bar below the view: play, step, speed, and the timeline over what the server has kept.
 *
 * @import {Session} from "./session.js"
 * @import {StoredRun} from "./stored.js"
 */
import { byId, icon, make, setText } from "./dom.js";
import * as format from "./format.js";

/** @type {(number | null)[]} null: as fast as possible */
const SPEEDS = [1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, null];
/** What the button does with what is shown. */
const FORK = { session: "Fork here", run: "Run it live", scene: "Run a copy" };
const MAX_MARKERS = 200;
/** What is shown of a replay may be this much behind what is due, before moments are asked for that were not kept [s]. */
const SPARSE = 0.05;

export class Transport {
  /** @param {() => Session | StoredRun | null} current @param {{step: number, time: number}} drawn the moment in the view, of every frame */
  constructor(current, drawn) {
    this.current = current;
    this.drawn = drawn;
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
    /** whether the replay asks for moments that were not kept */
    this.sparse = false;
    this.loopButton = byId("loop", HTMLButtonElement);
    /** @type {{from: number, to: number} | null} steps that are repeated; `to` is NaN until its end is chosen */
    this.loop = null;
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
    this.loopButton.addEventListener("click", () => this.turnLoop());
    this.speed.replaceChildren(...SPEEDS.map((factor) => make("option", { value: String(factor) }, format.speed(factor))));
    this.speed.value = "1";
    this.speed.addEventListener("change", () => this.setSpeed());
    this.timeline.addEventListener("input", () => this.scrub());
    this.timeline.addEventListener("pointerdown", () => { this.dragging = true; });
    this.timeline.addEventListener("change", () => {
      this.dragging = false;
      this.rest();
    });
    window.addEventListener("pointerup", () => { this.dragging = false; });
    this.setPlayIcon("play", "Play");
  }

  async setSpeed() {
    const session = this.current();
    await session?.setSpeed(this.speed.value === "null" ? null : Number(this.speed.value));
    // it may have been refused, and what has the focus is not written over otherwise
    if (session && session === this.current()) this.writeSpeed(session.speed);
  }

  /** One that is not in the list, as another client has set it, gets a place there. @param {number | null} factor */
  writeSpeed(factor) {
    const [value, options] = [String(factor), Array.from(this.speed.options)];
    if (!options.some((one) => one.value === value)) this.speed.add(new Option(format.speed(factor), value), options.find((one) => !(Number(one.value) < Number(factor))) ?? null);
    this.speed.value = value;
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

  /** First where it begins, then where it ends, then no longer. */
  turnLoop() {
    const session = this.current();
    if (!session) return;
    const { loop } = this;
    const shown = this.drawn.step;
    if (!loop) this.setLoop({ from: shown, to: NaN });
    else if (!Number.isNaN(loop.to) || shown === loop.from) this.setLoop(null);
    else {
      const [from, to] = [Math.min(loop.from, shown), Math.max(loop.from, shown)];
      this.setLoop({ from, to });
      session.seek(from, true);
      this.replayTime = from * session.dt;
    }
  }

  /** @param {Transport["loop"]} loop */
  setLoop(loop) {
    this.loop = loop;
    const repeats = loop !== null && !Number.isNaN(loop.to);
    setText(this.loopButton, repeats ? "Stop loop" : loop ? "Loop to here" : "Loop");
    this.loopButton.setAttribute("aria-pressed", String(loop !== null));
    this.loopButton.title = repeats ? "Repeat no longer (O)" : `Repeat a part of the history (O): here it ${loop ? "ends" : "begins"}`;
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
    setText(fork, FORK[session.kind]);
    this.timeline.disabled = session.kind === "scene";
  }

  clear() {
    this.events = [];
    this.replayTime = NaN;
    this.setLoop(null);
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
    if (!session || Number.isNaN(this.replayTime)) {
      this.sparse = false;
      return;
    }
    if (session.mode === "live") {
      this.replayTime = NaN;
      return;
    }
    this.replayTime += (elapsed / 1000) * (session.speed ?? 1);
    const { loop } = this;
    if (loop && this.replayTime > loop.to * session.dt) this.replayTime = loop.from * session.dt;
    if (this.replayTime >= session.edge.time) this.live();
    else {
      // a run that was stepped has kept few moments: from then on those in between are simulated again
      const behind = this.replayTime - (session.timeline.pinned?.time ?? this.replayTime);
      this.sparse ||= loop !== null || behind > SPARSE * Math.max(1, session.speed ?? 1);
      session.seek(this.replayTime / session.dt, this.sparse);
    }
  }

  update() {
    const session = this.current();
    const shown = this.drawn;
    const replaying = !Number.isNaN(this.replayTime);
    const moving = session ? (session.mode === "history" ? replaying : session.running) : false;
    this.setPlayIcon(moving ? "pause" : "play", moving ? "Pause" : session?.mode === "history" ? "Replay from here" : "Play");
    this.liveButton.setAttribute("aria-pressed", String(session?.mode === "live"));
    if (!session) return;
    if (!this.dragging) {
      // under a hand that drags, a place on the timeline stays the moment it is
      this.timeline.min = String(session.history.from);
      this.timeline.max = String(Math.max(session.edge.step, session.history.from + 1));
      this.timeline.value = session.mode === "live" ? this.timeline.max : String(shown.step);
    }
    this.timeline.setAttribute("aria-valuetext", `${format.seconds(shown.time, session.dt)}, step ${shown.step}`);
    setText(this.time, format.seconds(shown.time, session.dt));
    if (this.speed !== document.activeElement) this.writeSpeed(session.speed);
    this.drawMarkers(session.history.from, session.edge.step);
  }

  /** @param {number} from @param {number} to */
  drawMarkers(from, to) {
    const span = Math.max(1, to - from);
    this.markers.style.setProperty("--horizon", this.horizon === null ? "100%" : `${(100 * (this.horizon - from)) / span}%`);
    const loop = this.loop ?? { from: 0, to: 0 };
    const ends = [loop.from, Number.isNaN(loop.to) ? this.drawn.step : loop.to].sort((a, b) => a - b).map((step) => (100 * (step - from)) / span);
    this.markers.style.setProperty("--loop-from", `${ends[0]}%`);
    this.markers.style.setProperty("--loop", `${this.loop ? ends[1] - ends[0] : 0}%`);
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
