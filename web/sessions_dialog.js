/**
 * The sessions of the server: look at one, or end it. Opens by itself when the server is full; then
 * ending one starts what was asked for.
 *
 * @import {SessionInfo} from "./types.js"
 */
import * as api from "./api.js";
import { byId, make } from "./dom.js";
import * as format from "./format.js";
import { tellIn } from "./messages.js";

export class SessionsDialog {
  /**
   * @param {() => string | null} shown id of the session in the view @param {(id: string) => void} onOpen
   * @param {typeof import("./messages.js").showProblem} tell
   */
  constructor(shown, onOpen, tell) {
    this.shown = shown;
    this.onOpen = onOpen;
    this.dialog = byId("sessions-dialog", HTMLDialogElement);
    this.note = byId("sessions-note", HTMLElement);
    this.list = byId("sessions-list", HTMLElement);
    /** @type {(() => Promise<unknown>) | null} what waits for a place */
    this.waiting = null;
    this.why = "";
    this.dialog.addEventListener("close", () => {
      const { waiting, why } = this;
      this.waiting = null;
      // closed without an end: what was asked for is not forgotten
      if (waiting) tell({ title: "No place is free", detail: why, code: "no_capacity" }, { label: "Try again", run: waiting });
    });
  }

  /** @param {string} [why] the server is full @param {() => Promise<unknown>} [waiting] what to do once there is a place */
  async open(why = "", waiting) {
    this.waiting = waiting ?? null;
    this.why = why;
    this.note.textContent = why ? `${why} End one that is not needed any more, and the scene opens.`
      : "Runs that live on this server. Those without viewers end by themselves after some time.";
    if (!this.dialog.open) this.dialog.showModal();
    await this.refresh();
  }

  async refresh() {
    try {
      const sessions = await api.listSessions();
      this.list.replaceChildren(...sessions.map((info) => this.row(info)));
      if (!sessions.length) this.list.replaceChildren(make("li", {}, "None."));
    } catch (error) {
      this.told(error);
    }
  }

  /** @param {SessionInfo} info */
  row(info) {
    const here = info.id === this.shown();
    const name = info.name || "unnamed scene";
    const since = new Date(info.created_at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
    const viewers = info.viewers ? format.count(info.viewers, "viewer") : "no viewers";
    return make("li", {},
      make("span", {}, make("b", {}, name), make("small", {}, `${info.state} at ${format.seconds(info.time, info.time_step || undefined)} · since ${since} · ${here ? "shown here" : viewers}`)),
      make("button", { type: "button", disabled: here, "aria-label": `Show ${name}`, onclick: () => this.look(info.id) }, "Show"),
      make("button", { type: "button", "aria-label": `End ${name}`, onclick: () => this.end(info.id) }, "End"));
  }

  /** @param {string} id */
  look(id) {
    this.waiting = null;
    this.dialog.close();
    this.onOpen(id);
  }

  /** @param {string} id */
  async end(id) {
    const { waiting } = this;
    try {
      await api.deleteSession(id);
    } catch (error) {
      this.told(error);
      return;
    }
    if (!waiting) {
      await this.refresh();
      return;
    }
    this.waiting = null;
    this.dialog.close();
    await waiting();
  }

  /** @param {unknown} error */
  told(error) {
    if (!(error instanceof api.ProblemError)) throw error;
    tellIn(this.note, error);
    if (error.problem.status === 404 || error.problem.status === 410) this.refresh();
  }
}
