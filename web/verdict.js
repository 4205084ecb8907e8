/**
 * Whether the numbers can be trusted: a badge beside the readouts, the findings behind it.
 *
 * @import {Session} from "./session.js"
 */
import { getSessionSummary } from "./api.js";
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
  }

  /** @param {Session | null} session @param {{step: number}} drawn @param {number} now ms */
  update(session, drawn, now) {
    const place = session ? `${session.id} ${session.state} ${drawn.step}` : "";
    if (place === this.shown || this.asking || now - this.asked < ASK_MS) return;
    this.asked = now;
    this.shown = place;
    if (session) void this.ask(session.id);
    else this.badge.hidden = true;
  }

  /** @param {string} id */
  async ask(id) {
    this.asking = true;
    try {
      this.show(await getSessionSummary(id));
    } catch {
      this.badge.hidden = true; // the session has ended; the next one is asked anew
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
