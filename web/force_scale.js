/** The legend of the arrows of forces. */
import * as THREE from "three";
import { byId, setText } from "./dom.js";
import { quantity } from "./format.js";

/** Longest bar [px]. */
const LONGEST_PX = 110;

/**
 * A bar as long as an arrow of a round force would be, at the depth the camera looks at.
 * @param {import("./overlays.js").Overlays | null} overlays null: no forces are shown @param {import("./stage.js").Stage} stage
 */
export function showForceScale(overlays, { camera, controls, canvas }) {
  const legend = byId("force-legend", HTMLElement);
  legend.hidden = !overlays || overlays.largestForce <= 0;
  if (!overlays || legend.hidden) return;
  const height = 2 * camera.position.distanceTo(controls.target) * Math.tan(THREE.MathUtils.degToRad(camera.fov / 2));
  const pixelsPerNewton = (overlays.metresPerNewton * canvas.clientHeight) / height;
  const power = 10 ** Math.floor(Math.log10(LONGEST_PX / pixelsPerNewton));
  const force = power * ([5, 2, 1].find((step) => step * power * pixelsPerNewton <= LONGEST_PX) ?? 1);
  /** @type {HTMLElement} */ (legend.children[0]).style.width = `${Math.min(LONGEST_PX, Math.round(force * pixelsPerNewton))}px`;
  setText(legend.children[1], `${quantity(force, "N")}, largest ${quantity(overlays.largestForce, "N")}`);
}
