/**
 * The moment in the view as a link, which `moment.js` reads.
 *
 * @import {Selection} from "./types.js"
 */

/** @param {import("./main.js").Page} page @returns {string} */
export function momentLink(page) {
  const { session, example, view, selection, charts, drawn } = page;
  const address = new URLSearchParams(example ? { scene: example } : {});
  if (session) {
    address.set(session.kind, session.id);
    address.set("step", String(drawn.step));
  }
  address.set("camera", view.stage.goal.flatMap((place) => place.toArray()).map((value) => +value.toPrecision(5)).join(","));
  const name = nameOf(page, selection);
  if (name) address.set("select", name);
  address.set("show", page.toggles.chosen().join(","));
  for (const key of charts.keys) address.append("plot", key);
  return `${location.origin}${location.pathname}#${address}`;
}

/** @param {import("./main.js").Page} page @param {Selection | null} selection */
function nameOf({ session }, selection) {
  if (!session || !selection) return null;
  const named = selection.kind === "body" ? session.scene.bodies : session.scene.joints ?? [];
  return `${selection.kind}:${named[selection.index].name}`;
}
