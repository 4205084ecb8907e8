/**
 * Which session the page shows. The address names it, so a reload, the Back button and a link come to
 * the same one; where it is gone, its scene starts again. Opening another scene ends the session of
 * the example this tab made before, unless somebody else looks at it; a scene of one's own goes on.
 *
 * @import {Example, SessionInfo} from "./types.js"
 */
import * as api from "./api.js";
import { showHint, wasHinted } from "./hint.js";
import { keepScene, keptScene, keptSessions } from "./kept.js";
import { showFailure } from "./listen.js";
import { clearMessages, showNote, showProblem } from "./messages.js";
import { applyMoment, readMoment } from "./moment.js";
import { Session } from "./session.js";
import { inTab } from "./storage.js";
import { Waiting, isNotReady } from "./waiting.js";

const FIRST_EXAMPLES = ["wheeled-cart", "double-pendulum"];
const OWN = "cardan.session"; // id of the session of an example that this tab made
const GONE = [404, 410];
const LINK_OVER = "This link shows nothing: it has expired, was withdrawn, or is not whole. Whoever sent it can make another.";
/** What begins so is the id of a stored scene; examples have names. */
const STORED = /^scene_/;

/** Of the scene of a first visit that names none: two minutes. */
const RUNS_ON = { "/simulation/duration": 120 };

/** @typedef {{push?: boolean, note?: string, brief?: boolean, overrides?: Record<string, unknown>}} Way  how a scene was come to: a step of the browser's history, what to say, and whether for a moment only, and values by JSON Pointer in place of the scene's */

export class Opening {
  /** @param {import("./main.js").Page} page */
  constructor(page) {
    this.page = page;
    this.busy = false;
    /** @type {unknown} the scene, or the name of the example, whose session is being made; null: none is */
    this.coming = null;
    /** counts what was asked to be shown: what comes after something later was asked for is not shown */
    this.turn = 0;
    this.waiting = new Waiting();
    /** @type {Example[]} */
    this.examples = [];
    window.addEventListener("popstate", () => this.follow());
  }

  /** What the address names, else what this browser showed last, else an example. @param {Promise<Example[]>} listing */
  async start(listing) {
    const { id, example, run, scene, compare, batch, share } = named();
    const moment = readMoment();
    const why = await this.named(named());
    this.examples = await listing;
    if (why !== null && (id || run || scene || share || compare || batch || example || !await this.rejoin())) await this.fallBack(id, example, why);
    if (!run || this.page.session?.id === run) applyMoment(this.page, moment);
  }

  /** The address has changed: Back, Forward, or a link typed into it. */
  async follow() {
    const { id, example, run, scene, compare, batch, share } = named();
    const moment = readMoment();
    const shown = this.page.session?.id;
    const asked = id ?? run ?? scene ?? share ?? compare ?? batch;
    if (asked ? asked !== shown : example) {
      const coming = this.named(named());
      const { turn } = this;
      const why = await coming;
      if (why !== null && turn === this.turn) await this.fallBack(id, example, why);
    } else this.turn += 1; // what is shown is what is asked for: nothing that still opens takes its place
    if (!run || this.page.session?.id === run) applyMoment(this.page, moment);
  }

  /** @param {ReturnType<typeof named>} address @returns {Promise<string | null>} null: it is shown; else why not */
  async named({ id, run, scene, share, example, compare, batch }) {
    if (share) return LINK_OVER;
    if (id) return this.join(id, example);
    try {
      if (compare) return await this.openComparison(compare);
      if (run) await this.openRun(run, {});
      else if (scene) await this.openStoredScene(scene);
      else if (batch) await (await import("./runs_dialog.js")).openBatch(this.page, batch);
      return run || scene || batch ? null : "";
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      if (error instanceof api.ProblemError && error.problem.status === 401) return (showProblem(error.problem), null); // nothing else can be shown either
      return error.message;
    }
  }

  /**
   * A simulation in the timeline, as soon as it has ended; one that failed at its last second.
   * @param {string} id @param {Way} [way]
   */
  async openRun(id, way = { push: true }) {
    const turn = ++this.turn;
    const stale = () => turn !== this.turn;
    const [{ openStored }, info] = await Promise.all([import("./stored.js"),
      this.waiting.untilEnded(id, stale, () => this.page.showComing(api.getSimulationScene(id)))]);
    if (stale()) return;
    const run = await openStored(info);
    if (stale()) return;
    clearMessages();
    setAddress({ run: id }, way);
    await this.page.show(run, null);
    if (run.gaps.length) showNote(run.gaps.join(" "), { stays: true });
    if (info.status === "failed") showFailure(this.page, run);
  }

  /** A stored scene as it starts, for looking at. @param {string} id */
  async openStoredScene(id) {
    const turn = ++this.turn;
    const { openShownScene } = await import("./shown_scene.js");
    const shown = await openShownScene(id, () => this.fork());
    if (turn !== this.turn) return;
    clearMessages();
    setAddress({ scene: id }, {});
    await this.page.show(shown, null);
  }

  /** @param {string} name @returns {Promise<string | null>} null: it is shown; else why not */
  async openComparison(name) {
    const comparing = (await api.listComparisons()).find((one) => one.name === name);
    if (comparing) await this.compare(comparing, {});
    return comparing ? null : `There is no comparison “${name}”.`;
  }

  /** Two runs of one scene. @param {import("./types.js").Comparing} comparing @param {Way} [way] */
  async compare(comparing, way = { push: true }) {
    if (this.busy || this.coming !== null) return;
    this.busy = true;
    try {
      const { openComparing } = await import("./compared.js");
      await openComparing(this.page, comparing);
      setAddress({ compare: comparing.name }, way);
    } catch (error) {
      this.failed(error, () => this.compare(comparing, way));
    } finally {
      this.busy = false;
    }
  }

  /** Goes on from the moment in the view in a new session; the one in the view stays as it is. */
  async fork() {
    const { session, drawn, example } = this.page;
    if (!session || this.busy || this.coming !== null) return;
    if (session.stored) {
      await this.open(session.scene, null, { push: true, note: session.kind === "scene" ? "A copy of the stored scene runs; the stored one stays as it is." : "The scene of the stored run starts live, from its beginning." });
      return;
    }
    this.busy = true;
    try {
      const held = session.numbers.grab !== null;
      const shown = await this.show(await api.forkSession(session.id, { step: drawn.step, paused: true }), example, { push: true });
      // the hand that pulled then is not there any more
      if (held && shown) await this.letGo();
    } catch (error) {
      this.failed(error, () => this.fork());
    } finally {
      this.busy = false;
    }
  }

  async letGo() {
    const { session } = this.page;
    if (!session || session.stored) return;
    await session.opened;
    await session.command("release");
  }

  /**
   * @param {string} id @param {string | null} example @param {Way} [way]
   * @returns {Promise<string | null>} null: it is shown, or a person can try again; else why there is no such session
   */
  async join(id, example, way = {}) {
    try {
      const turn = ++this.turn;
      const info = await api.getSession(id);
      if (turn === this.turn) await this.show(info, example, way);
      return null;
    } catch (error) {
      if (!(error instanceof api.ProblemError)) throw error;
      if (GONE.includes(error.problem.status ?? 0)) return error.problem.detail ?? error.problem.title;
      // it may well live: nothing takes its place
      showProblem(error.problem, { label: "Try again", run: () => this.join(id, example, way) });
      return null;
    }
  }

  /** The newest session of this browser that lives and that nobody looks at. @returns {Promise<boolean>} */
  async rejoin() {
    const kept = await keptSessions();
    if (!kept.length) return false;
    const alive = new Map((await api.listSessions().catch(() => [])).map((info) => [info.id, info]));
    const id = kept.find((one) => alive.get(one)?.viewers === 0);
    if (!id) return false;
    const example = (await keptScene(id))?.example ?? null;
    return (await this.join(id, example)) === null;
  }

  /**
   * The named session cannot be shown: its scene, the named example, or the first one.
   * @param {string | null} id @param {string | null} example @param {string} why
   */
  async fallBack(id, example, why) {
    const { turn } = this;
    const kept = id ? await keptScene(id) : null;
    if (turn !== this.turn) return; // something else was asked for meanwhile
    if (kept) {
      // an example has gone with the page that showed another one: nothing is lost
      const note = kept.example ? `“${kept.example}” starts again from the beginning.` : `${why} Its scene starts again from the beginning.`.trim();
      await this.open(kept.scene, kept.example, { note, brief: kept.example !== null });
      return;
    }
    const known = (/** @type {string | null | undefined} */ name) => this.examples.some((one) => one.name === name);
    const first = [example, ...FIRST_EXAMPLES, this.examples[0]?.name].find(known);
    const missing = example && this.examples.length && !known(example) ? `There is no example “${example}”.` : "";
    const said = [why, missing].filter(Boolean).join(" ");
    if (first && !said && !wasHinted()) {
      // somebody who looks around for the first time has time to
      if (await this.open(first, first, example ? {} : { overrides: RUNS_ON })) showHint();
    } else if (first) await this.open(first, first, { note: said && `${said} The example “${first}” is shown instead.` });
    else if (said) showNote(said, { stays: true });
  }

  /**
   * What is asked for later wins; the same by a second click is made once.
   * @param {unknown} scene a scene document, or the name of an example
   * @param {string | null} example
   * @param {Way} [way]
   * @returns {Promise<boolean>}
   */
  async open(scene, example, way = {}) {
    const coming = example ?? scene;
    if (this.busy || this.coming === coming) return false;
    this.coming = coming;
    const turn = ++this.turn;
    clearMessages();
    this.page.gallery?.mark(example);
    try {
      const info = await this.create(scene, example, way.overrides);
      const own = inTab.get(OWN);
      const viewer = this.page.session?.stream.clientId ?? "";
      if (turn !== this.turn || !await this.show(info, example, way)) {
        // something else was asked for meanwhile, perhaps the very session that would end now
        api.endUnlessViewed(info.id, viewer);
        if (this.coming === coming) this.page.gallery?.mark(this.page.example);
        return false;
      }
      if (own) api.endUnlessViewed(own, viewer);
      inTab.set(OWN, example === null ? "" : info.id);
      return true;
    } catch (error) {
      this.page.gallery?.mark(this.page.example);
      if (turn === this.turn) this.failed(error, () => this.open(scene, example, way));
      return false;
    } finally {
      if (this.coming === coming) this.coming = null;
    }
  }

  /**
   * A session, as soon as the service can start one: until then it says how far it is.
   * @param {unknown} scene @param {string | null} example @param {Way["overrides"]} [overrides] @returns {Promise<SessionInfo>}
   */
  async create(scene, example, overrides) {
    const what = example ? `“${example}” starts` : "The scene starts";
    for (;;) {
      try {
        return await this.waiting.through(this.createNow(scene, { paused: false, ...(overrides ? { overrides } : {}) }), what, () => example && this.page.showComing(api.getExample(example), example));
      } catch (error) {
        if (!isNotReady(error)) throw error;
        await this.waiting.untilReady(what);
      }
    }
  }

  /** @param {unknown} scene @param {Parameters<typeof api.createSession>[1]} options @returns {Promise<SessionInfo>} */
  async createNow(scene, options) {
    try {
      return await api.createSession(scene, options);
    } catch (error) {
      const own = inTab.get(OWN);
      if (!own || !(error instanceof api.ProblemError) || error.problem.code !== "no_capacity") throw error;
      inTab.set(OWN, "");
      await api.endUnlessViewed(own, this.page.session?.stream.clientId ?? "");
      return api.createSession(scene, options);
    }
  }

  /** @param {SessionInfo} info @param {string | null} example @param {Way} way @returns {Promise<boolean>} false: something else was asked for meanwhile */
  async show(info, example, { push = false, note = "", brief = false }) {
    const turn = ++this.turn;
    const scene = await api.getSessionScene(info.id);
    if (turn !== this.turn) return false;
    setAddress({ ...(example ? { scene: example } : {}), session: info.id }, { push });
    keepScene({ id: info.id, scene, example });
    const session = new Session(info, scene);
    const shown = this.page.show(session, example);
    // a session that was kept opens with the service
    this.waiting.through(session.opened, "The session goes on");
    await shown;
    if (info.forked_from) await (await this.page.late.loadComparison()).open(info.forked_from);
    if (note) showNote(note, { stays: !brief });
    return true;
  }

  /** The scene of a session that has ended, once more. @param {{scene: import("./types.js").Scene}} session */
  again(session) {
    return this.open(session.scene, this.page.example);
  }

  /** @param {unknown} error @param {() => Promise<unknown>} again */
  failed(error, again) {
    if (!(error instanceof api.ProblemError)) throw error;
    if (error.problem.code === "no_capacity") this.page.openSessions(error.problem.detail, again);
    else showProblem(error.problem, error.problem.retryable ? { label: "Try again", run: again } : null);
  }
}

/** @param {Record<string, string>} fields @param {Way} way */
function setAddress(fields, { push = false }) {
  const address = `#${new URLSearchParams(fields)}`;
  if (push) history.pushState(null, "", address);
  else history.replaceState(null, "", address);
}

/** @returns {Record<"id" | "example" | "run" | "scene" | "compare" | "batch" | "share", string | null>} what the address names; scene: one that is stored; share: a link for viewing that the service did not know */
function named() {
  const address = new URLSearchParams(location.hash.slice(1));
  const scene = address.get("scene");
  const stored = scene !== null && STORED.test(scene);
  return { id: address.get("session"), example: stored ? null : scene, scene: stored ? scene : null, run: address.get("run"), compare: address.get("compare"), batch: address.get("batch"), share: address.get("share") };
}
