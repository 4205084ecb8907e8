/**
 * Which session the page shows. The address names it, so a reload, the Back button and a link come to
 * the same one; where it is gone, its scene starts again. Opening another scene ends the session of
 * the example this tab made before, unless somebody else looks at it; a scene of one's own goes on.
 *
 * @import {Example, SessionInfo} from "./types.js"
 */
import * as api from "./api.js";
import { keepScene, keptScene, keptSessions } from "./kept.js";
import { clearMessages, showNote, showProblem } from "./messages.js";

const FIRST_EXAMPLES = ["wheeled-cart", "double-pendulum"];
const OWN = "cardan.session"; // id of the session of an example that this tab made
const GONE = [404, 410];

/** @typedef {{push?: boolean, note?: string}} Way  how a scene was come to: a step of the browser's history, and what to say */

export class Opening {
  /** @param {import("./main.js").Page} page */
  constructor(page) {
    this.page = page;
    this.busy = false;
    /** @type {Example[]} */
    this.examples = [];
    window.addEventListener("popstate", () => this.follow());
  }

  /** What the address names, else what this browser showed last, else an example. @param {Promise<Example[]>} listing */
  async start(listing) {
    const { id, example } = named();
    const why = id ? await this.join(id, example) : "";
    this.examples = await listing;
    if (why === null) return;
    if (!id && !example && await this.rejoin()) return;
    await this.fallBack(id, example, why);
  }

  /** The address has changed: Back, Forward, or a link typed into it. */
  async follow() {
    const { id, example } = named();
    if (id ? id === this.page.session?.id : !example) return;
    const why = id ? await this.join(id, example) : "";
    if (why !== null) await this.fallBack(id, example, why);
  }

  /**
   * @param {string} id @param {string | null} example @param {Way} [way]
   * @returns {Promise<string | null>} null: it is shown; else why not
   */
  async join(id, example, way = {}) {
    try {
      await this.show(await api.getSession(id), example, way);
      return null;
    } catch (error) {
      if (!(error instanceof api.ProblemError)) throw error;
      if (GONE.includes(error.problem.status ?? 0)) return error.problem.detail ?? error.problem.title;
      showProblem(error.problem);
      return "";
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
    const kept = id ? await keptScene(id) : null;
    if (kept) {
      await this.open(kept.scene, kept.example, { note: `${why} Its scene starts again from the beginning.`.trim() });
      return;
    }
    const known = (/** @type {string | null | undefined} */ name) => this.examples.some((one) => one.name === name);
    const first = [example, ...FIRST_EXAMPLES, this.examples[0]?.name].find(known);
    const missing = example && !known(example) ? `There is no example “${example}”.` : "";
    const said = [why, missing].filter(Boolean).join(" ");
    if (first) await this.open(first, first, { note: said && `${said} The example “${first}” is shown instead.` });
    else if (said) showNote(said, { stays: true });
  }

  /**
   * @param {unknown} scene a scene document, or the name of an example
   * @param {string | null} example
   * @param {Way} [way]
   * @returns {Promise<boolean>}
   */
  async open(scene, example, way = {}) {
    if (this.busy) return false;
    this.busy = true;
    clearMessages();
    this.page.gallery?.mark(example);
    try {
      const info = await this.create(scene);
      const own = sessionStorage.getItem(OWN);
      const viewer = this.page.session?.stream.clientId ?? "";
      await this.show(info, example, way);
      if (own) api.endUnlessViewed(own, viewer);
      if (example === null) sessionStorage.removeItem(OWN);
      else sessionStorage.setItem(OWN, info.id);
      return true;
    } catch (error) {
      this.page.gallery?.mark(this.page.example);
      this.failed(error, () => this.open(scene, example, way));
      return false;
    } finally {
      this.busy = false;
    }
  }

  /** @param {unknown} scene @returns {Promise<SessionInfo>} */
  async create(scene) {
    try {
      return await api.createSession(scene, { paused: false });
    } catch (error) {
      const own = sessionStorage.getItem(OWN);
      if (!own || !(error instanceof api.ProblemError) || error.problem.code !== "no_capacity") throw error;
      sessionStorage.removeItem(OWN);
      await api.endUnlessViewed(own, this.page.session?.stream.clientId ?? "");
      return api.createSession(scene, { paused: false });
    }
  }

  /** @param {SessionInfo} info @param {string | null} example @param {Way} way */
  async show(info, example, { push = false, note = "" }) {
    const scene = await api.getSessionScene(info.id);
    const address = `#${new URLSearchParams({ ...(example ? { scene: example } : {}), session: info.id })}`;
    if (push) history.pushState(null, "", address);
    else history.replaceState(null, "", address);
    keepScene({ id: info.id, scene, example });
    await this.page.show(info, scene, example);
    if (note) showNote(note, { stays: true });
  }

  /** The scene of a session that has ended, once more. @param {import("./session.js").Session} session */
  again(session) {
    return this.open(session.scene, this.page.example);
  }

  /** @param {unknown} error @param {() => Promise<unknown>} again */
  failed(error, again) {
    if (!(error instanceof api.ProblemError)) throw error;
    if (error.problem.code === "no_capacity") this.page.sessionsDialog.open(error.problem.detail, again);
    else showProblem(error.problem, error.problem.retryable ? { label: "Try again", run: again } : null);
  }
}

/** @returns {{id: string | null, example: string | null}} what the address names */
function named() {
  const address = new URLSearchParams(location.hash.slice(1));
  return { id: address.get("session"), example: address.get("scene") };
}
