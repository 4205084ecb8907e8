/** What a scene that is written would change of the one that runs, as a list. */
import { make } from "./dom.js";
import { count } from "./format.js";
import { formatted } from "./scene_format.js";

const [LISTED, BRIEF] = [8, 60]; // differences that are listed, and characters of each value

/** @param {unknown} value @returns {string} in one line */
const brief = (value) => (value === undefined ? "–" : formatted(value, " ".repeat(99)).replace(/\s+/g, " ").slice(0, BRIEF));

/** @param {ReturnType<typeof import("./scene_format.js").changesBetween>} changes @returns {HTMLElement} open where all of them fit */
export function listOf(changes) {
  const rows = changes.slice(0, LISTED).map(({ path, before: was, after: is }) => make("li", {}, make("code", {}, path), " ", make("del", {}, brief(was)), " → ", make("ins", {}, brief(is))));
  const more = changes.length > LISTED ? [make("li", { class: "muted" }, `and ${changes.length - LISTED} more`)] : [];
  return make("details", { class: "changes", open: changes.length <= LISTED && changes.length > 0 }, make("summary", {}, changes.length ? `${count(changes.length, "change")} to what runs` : "As it runs now"), make("ul", {}, ...rows, ...more));
}
