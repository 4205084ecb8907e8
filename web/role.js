/**
 * Who steers the session in the view: everybody, this page or another viewer, and whether this page may steer at all. Hidden
 * while this page is the only viewer and nobody has control.
 *
 * @import {Session} from "./session.js"
 * @import {StoredRun} from "./stored.js"
 */
import { byId, setText } from "./dom.js";

/** @type {Record<string, {words: string, title: string, op?: string}>} */
const ROLES = {
  shared: { words: "Take control", title: "Everybody steers this run; from then on only you", op: "take_control" },
  ours: { words: "Release control", title: "Only you steer this run; from then on everybody", op: "release_control" },
  theirs: { words: "Another steers", title: "What you look at is yours. The other viewer has control until it is released, they leave, or nothing is commanded for 90 s" },
  watching: { words: "View only", title: "This link shows the run and does not steer it" },
};

export class Role {
  /** @param {() => Session | StoredRun | null} current */
  constructor(current) {
    this.button = byId("role", HTMLButtonElement);
    this.button.addEventListener("click", () => {
      const op = ROLES[this.button.dataset.role ?? ""]?.op;
      const session = current();
      if (op && session && !session.stored) session.command(op);
    });
  }

  /** @param {Session | StoredRun | null} session */
  update(session) {
    const role = session && !session.stored ? roleOf(session) : "";
    if (this.button.dataset.role === role) return;
    this.button.dataset.role = role;
    this.button.hidden = !role;
    document.body.classList.toggle("watching", role === "theirs" || role === "watching");
    if (!role) return;
    const { words, title, op } = ROLES[role];
    setText(this.button, words);
    this.button.title = title;
    this.button.disabled = !op;
  }
}

/** @param {Session} session @returns {string} empty: the only viewer, or the session is over */
function roleOf({ control, watches, viewers, stream }) {
  if (stream.over) return "";
  if (watches) return "watching";
  if (control === null) return viewers > 1 ? "shared" : "";
  return control === stream.clientId ? "ours" : "theirs";
}
