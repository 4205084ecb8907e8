/**
 * A second run beside the one in the view: the run before a fork, or a stored one. Its bodies are
 * drawn as a ghost, its channels dashed in the plots.
 */
import * as api from "./api.js";
import { byId, setText } from "./dom.js";
import { seconds } from "./format.js";
import { Ghost, Track } from "./ghost.js";
import { placeGhost } from "./halves.js";
import { showNote } from "./messages.js";

/** Frames of the run before that are fetched: enough for a smooth ghost over half a minute. */
const MAX_FRAMES = 1800;
const FRAMES_PER_SECOND = 60;
/** ms between two looks at a run that goes on */
const AGAIN_MS = 2000;
/** s between two frames of the ghost beyond which frames in between are asked for one by one, and how many of them */
const GAP = 0.05;
const MAX_ASKED = 120;

export class Comparison {
  /** @param {import("./main.js").Page} page */
  constructor(page) {
    this.page = page;
    this.bar = byId("compare", HTMLElement);
    this.details = byId("compare-details", HTMLDetailsElement);
    this.beside = byId("compare-beside", HTMLButtonElement);
    this.half = byId("compare-half", HTMLButtonElement);
    this.names = byId("halves", HTMLElement);
    /** @type {import("./ghost.js").Place} */
    this.place = "ghost";
    this.ours = "";
    this.words = byId("compare-words", HTMLElement);
    /** @type {{session: string, step: number, time: number} | null} where the run in the view was forked from */
    this.origin = null;
    /** @type {{from: number, track: Track | null}} what is known of the run before, and from which step on: one that was reset begins earlier */
    this.known = { from: 0, track: null };
    this.loaded = 0;
    this.beside.addEventListener("click", () => this.setPlace(this.place === "beside" ? "ghost" : "beside"));
    this.half.addEventListener("click", () => this.setPlace(this.place === "half" ? "ghost" : "half"));
    byId("compare-off", HTMLButtonElement).addEventListener("click", () => this.end());
    byId("compare-back", HTMLButtonElement).addEventListener("click", () => {
      if (this.origin) page.opening.join(this.origin.session, page.example, { push: true });
    });
  }

  /** @param {{session: string, step: number, time: number}} origin of the run in the view */
  async open(origin) {
    this.end();
    this.origin = origin;
    await this.load();
  }

  async load() {
    const { origin, page } = this;
    const { session } = page;
    if (!origin || !session) return;
    this.loaded = performance.now();
    const from = this.first();
    const stale = () => page.session !== session || this.first() !== from;
    const before = await api.getSession(origin.session).catch(() => null);
    if (!before || stale()) return;
    // what is known of it already stays
    const old = (this.known.from === from && this.known.track?.frames) || [];
    if (old.length && before.step <= old[old.length - 1].step) return;
    const steps = Math.max(1, before.step - from);
    const stride = Math.max(1, Math.ceil((steps * session.dt * FRAMES_PER_SECOND) / MAX_FRAMES));
    const since = old[old.length - 1]?.step ?? from - 1;
    /** @type {import("./types.js").Frame[]} */
    const sent = await api.getFrames(origin.session, since + 1, null, stride).catch(() => []);
    const kept = [...old, ...sent];
    // a run that was stepped, or ran fast, has few frames: those in between are simulated again
    const missing = between(Math.max(from, since), before.step, Math.max(1, Math.round(GAP / session.dt)), kept.map((frame) => frame.step));
    for (const step of missing) {
      const frame = await api.getFrame(origin.session, step).catch(() => null);
      if (stale()) return;
      if (frame) kept.push(frame);
    }
    if (stale() || !kept.length) return;
    kept.sort((a, b) => a.step - b.step);
    const thinned = stride > 1 ? `, one of ${stride} of its moments` : "";
    const track = new Track(`the run before the fork at ${seconds(origin.time, session.dt)}${thinned}`, kept);
    this.known = { from, track };
    await this.show(track);
  }

  /** @returns {number} the step at which the run in the view begins, where it was forked or before */
  first() {
    const { session } = this.page;
    return Math.min(this.origin?.step ?? 0, session && !session.stored ? session.history.from : 0);
  }

  /** @param {import("./ghost.js").Place} place of the other run */
  setPlace(place) {
    const { ours, page, names } = this;
    this.place = place;
    const theirs = page.view.ghost?.track.name ?? "";
    this.beside.setAttribute("aria-pressed", String(place === "beside"));
    this.half.setAttribute("aria-pressed", String(place === "half"));
    setText(this.words, place === "half" ? "" : ours ? `${ours} in full, ${theirs} ${place === "beside" ? "beside it" : "as a ghost"}` : `${place === "beside" ? "Beside it" : "Ghost"}: ${theirs}`);
    names.hidden = place !== "half";
    [ours || "This run", theirs].forEach((name, i) => setText(names.children[i], name));
    placeGhost(page.view, place);
    page.pace.wake();
  }

  /** @param {Track} track @param {string} [ours] what the run in the view is called */
  async show(track, ours = "") {
    const { page } = this;
    const { ghost, scene } = page.view;
    if (!scene) return;
    const again = ghost !== null;
    if (ghost) ghost.track = track;
    else page.view.showGhost(new Ghost(scene, track));
    this.ours = ours;
    this.setPlace(again ? this.place : "ghost");
    byId("compare-back", HTMLButtonElement).hidden = this.origin === null;
    this.bar.hidden = false;
    this.details.hidden = true; // the numbers were those of another one
    if (again) page.charts.beside = track;
    else await page.charts.compare(track);
    this.offer();
    page.backfill();
  }

  /** A simulation beside the run in the view. @param {import("./types.js").SimulationInfo} info */
  async showRun(info) {
    const { session } = this.page;
    const { openStored } = await import("./stored.js");
    const run = await openStored(info);
    if (!session || run.scene.bodies.length !== session.scene.bodies.length) throw new Error("This run has other bodies than the scene in the view.");
    const told = [...(info.status === "failed" ? [`It failed at step ${info.step}.`] : []), ...run.gaps];
    if (told.length) showNote(`The run of the ghost: ${told.join(" ")}`, { stays: true });
    await this.show(new Track(info.name || info.id, run.recording.steps.map((_, i) => run.recording.frame(i))));
  }

  /** Channels whose difference can be plotted. */
  async offer() {
    const { offerDifferences } = await import("./differences.js");
    const { session, charts } = this.page;
    if (session) offerDifferences(byId("compare-channel", HTMLSelectElement), session.scene, (key) => charts.toggle(key));
  }

  /** A run that goes on elsewhere is asked for again. @param {number} time s, of the moment in the view */
  update(time) {
    const track = this.page.view.ghost?.track ?? null;
    // another one was chosen
    if (!this.origin || this.bar.hidden || track !== this.known.track) return;
    const last = track?.frames[track.frames.length - 1]?.time ?? -Infinity;
    if ((time > last || this.first() < this.known.from) && performance.now() - this.loaded > AGAIN_MS) this.load();
  }

  end() {
    this.bar.hidden = this.details.hidden = true;
    this.origin = null;
    this.known = { from: 0, track: null };
    if (!this.page.view.ghost) return;
    this.setPlace("ghost");
    this.page.view.showGhost(null);
    this.page.charts.compare(null);
    this.page.backfill();
  }
}

/**
 * Steps to ask for so that no two are farther apart than a gap.
 * @param {number} from @param {number} to @param {number} gap steps @param {number[]} known steps, ascending
 * @returns {number[]}
 */
function between(from, to, gap, known) {
  /** @type {number[]} */
  const missing = known.includes(from) ? [] : [from];
  const ends = [from, ...known.filter((step) => step > from), to];
  for (let i = 1; i < ends.length; i += 1) {
    for (let step = ends[i - 1] + gap; step < ends[i] && missing.length < MAX_ASKED; step += gap) missing.push(step);
  }
  return missing;
}
