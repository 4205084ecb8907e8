/** What a scene does not say as the imported model did, and why there is no scene. */
import { make } from "./dom.js";
import { describeFault } from "./messages.js";

/** Places of a note that are named. */
const PLACES = 4;

/** @param {import("./types.js").ImportNote} note */
export function noteItem({ kind, message, where }) {
  const more = where.length > PLACES ? ` and ${where.length - PLACES} more` : "";
  return make("li", { class: "warning" }, make("b", {}, kind), ` ${message}`, ...(where.length ? [make("small", {}, where.slice(0, PLACES).join(", ") + more)] : []));
}

/** Places are of the scene that was made, not of the text in the editor. @param {import("./types.js").Problem} problem of files */
export function unreadItems({ title, detail, errors }) {
  const faults = errors?.length ? errors : [/** @type {import("./types.js").Fault} */ ({ pointer: "", message: detail ?? title })];
  return faults.map((fault) => make("li", { class: "error" }, ...describeFault(fault).slice(fault.pointer ? 0 : 2)));
}
