/**
 * What a link says of a moment: run, step, camera, selection, overlays and plots; `moment_link.js` makes one.
 *
 * @import {Selection} from "./types.js"
 */
import * as THREE from "three";

/** @typedef {{step: number | null, camera: number[] | null, select: string | null, show: string[] | null, plots: string[]}} Moment */

/** @returns {Moment} what the address says */
export function readMoment() {
  const address = new URLSearchParams(location.hash.slice(1));
  const step = Number(address.get("step") ?? NaN);
  const camera = (address.get("camera") ?? "").split(",").map(Number);
  return {
    step: Number.isInteger(step) && step >= 0 ? step : null,
    camera: camera.length === 6 && camera.every(Number.isFinite) ? camera : null,
    select: address.get("select"),
    show: address.has("show") ? (address.get("show") ?? "").split(",").filter(Boolean) : null,
    plots: address.getAll("plot"),
  };
}

/** After the run is shown. @param {import("./main.js").Page} page @param {Moment} moment */
export function applyMoment(page, { step, camera, select, show, plots }) {
  const { session, view } = page;
  if (!session) return;
  if (show) page.toggles.choose(show);
  for (const key of plots) page.charts.toggle(key, true);
  const selection = select ? selectionOf(page, select) : null;
  if (selection) page.select(selection);
  if (camera) {
    view.stage.camera.position.set(camera[0], camera[1], camera[2]);
    view.stage.controls.target.copy(new THREE.Vector3(camera[3], camera[4], camera[5]));
    view.stage.controls.update();
    view.held = true;
  }
  if (step !== null) session.seek(step, true);
}

/** @param {import("./main.js").Page} page @param {string} text @returns {Selection | null} */
function selectionOf({ session }, text) {
  const kind = text.startsWith("joint:") ? "joint" : "body";
  const name = text.slice(text.indexOf(":") + 1);
  const index = (kind === "body" ? session?.scene.bodies : session?.scene.joints)?.findIndex((one) => one.name === name) ?? -1;
  return index < 0 ? null : { kind, index };
}
