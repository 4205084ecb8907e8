/**
 * Whether the numbers can be trusted: a badge beside the readouts, the findings behind it.
 *
 * @import {Session} from "./session.js"
 * @import {StoredRun} from "./stored.js"
 */
import { byId, make, setText } from "./dom.js";

/** A summary is asked for this often while time runs, and once more where it stops [ms]. */
const ASK_MS = 2000;

export class VerdictBadge {
  constructor() {
    this.badge = byId("verdict", HTMLDetailsElement);
    this.word = byId("verdict-word", HTMLElement);
    this.list = byId("verdict-findings", HTMLElement);
    this.asked = -Infinity;
    this.shown = "";
    this.asking = false;
    /** @type {import("./types.js").RunSummary | null} of the run in the view, as it was asked for last */
    this.summary = null;
    /** @type {string | undefined} */
    this.of = undefined;
    // the findings lie over the view until they are put away
    this.badge.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !this.badge.open) return;
      event.stopPropagation(); // the selection stays
      this.badge.open = false;
      this.badge.querySelector("summary")?.focus();
    });
    window.addEventListener("pointerdown", ({ target }) => { if (target instanceof Node && !this.badge.contains(target)) this.badge.open = false; });
  }

  /** @param {Session | StoredRun | null} session @param {{step: number}} drawn @param {number} now ms */
  update(session, drawn, now) {
    if (session?.id !== this.of) {
      this.of = session?.id;
      this.summary = null;
      this.badge.hidden = true;
    }
    // of a stored run there is one summary, whatever moment is shown
    const place = session ? `${session.id} ${session.state} ${session.stored ? "" : drawn.step}` : "";
    if (place === this.shown || this.asking || now - this.asked < ASK_MS) return;
    this.asked = now;
    this.shown = place;
    if (session) void this.ask(session);
    else this.badge.hidden = true;
  }

  /** @param {Session | StoredRun} session */
  async ask(session) {
    this.asking = true;
    try {
      const summary = await session.summary();
      if (session.id !== this.of) return; // another run is shown by now
      this.summary = summary;
      if (summary) this.show(summary);
      else this.badge.hidden = true;
    } catch {
      if (session.id === this.of) this.badge.hidden = true; // the session has ended; the next one is asked anew
    } finally {
      this.asking = false;
    }
  }

  /** @param {import("./types.js").RunSummary} summary */
  show(summary) {
    const status = summary.verdict.status;
    this.badge.hidden = false;
    this.badge.dataset.status = status;
    setText(this.word, status);
    const said = status === "trusted" ? ["No limit was left so far."] : summary.warnings;
    this.list.replaceChildren(...said.map((text) => make("li", {}, text)));
  }
}
