/** What a scene does not say as the imported model did. */
import { make } from "./dom.js";

/** Places of a note that are named. */
const PLACES = 4;

/** @param {import("./types.js").ImportNote} note */
export function noteItem({ kind, message, where }) {
  const more = where.length > PLACES ? ` and ${where.length - PLACES} more` : "";
  return make("li", { class: "warning" }, make("b", {}, kind), ` ${message}`, ...(where.length ? [make("small", {}, where.slice(0, PLACES).join(", ") + more)] : []));
}
