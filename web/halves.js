/**
 * Two runs in one view, or each in a half of it: one renderer, one camera, one timeline. Loaded with the first comparison.
 *
 * @import {View} from "./view.js"
 */

/** @param {View} view @param {import("./ghost.js").Place} place of the other run */
export function placeGhost(view, place) {
  const split = place === "half";
  view.ghost?.place(place);
  if (split === (view.stage.halves !== null)) return;
  view.stage.split(split ? [() => showOnly(view, true), () => showOnly(view, false)] : null);
  if (!split) setVisible(view, true, true);
  if (!view.held) view.frameAll();
}

/** One of two runs; the ground belongs to both. @param {View} view @param {boolean} ours */
function showOnly(view, ours) {
  setVisible(view, ours, !ours);
}

/** @param {View} view @param {boolean} ours @param {boolean} theirs */
function setVisible({ bodies, links, overlays, flashes, extras, spots, ghost }, ours, theirs) {
  for (const part of [bodies, overlays, flashes, extras, ...spots]) if (part) part.root.visible = ours;
  if (links) links.root.visible = ours && links.root.count > 0;
  if (ghost) ghost.root.visible = theirs && ghost.there;
}
