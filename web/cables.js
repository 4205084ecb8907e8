/**
 * Where a cable is straight: the common tangent of the wheels it is wound on.
 *
 * @import {Vec3} from "./types.js"
 */

/** @typedef {{radius: number, axis: Vec3}} Wheel axis: in W, of length 1 */

/**
 * As engine/constraints/parts/wound.py: followed from a to b the cable runs around a wheel by the right hand about its axis.
 * @param {Vec3} a middle of the first wheel, or the point where the cable begins; W
 * @param {Vec3} b of the second
 * @param {Wheel | null} first @param {Wheel | null} second
 * @returns {[Vec3, Vec3]} the ends of the straight part
 */
export function straightPart(a, b, first, second) {
  const wheel = first ?? second;
  if (!wheel) return [a, b];
  const n = wheel.axis;
  const sense = first && second && dot(first.axis, second.axis) < 0 ? -1 : 1;
  const [radiusA, radiusB] = [first?.radius ?? 0, second?.radius ?? 0];
  const rho = sense * radiusB - radiusA;
  const gap = along(b, -1, a);
  const flat = along(gap, -dot(n, gap), n);
  const square = dot(flat, flat);
  const run = Math.sqrt(Math.max(square - rho * rho, 0));
  const turned = cross(flat, n);
  const u = /** @type {Vec3} */ (flat.map((x, k) => (run * x + rho * turned[k]) / square));
  const e = cross(u, n);
  return [along(a, radiusA, e), along(b, sense * radiusB, e)];
}

/** @param {Vec3} a @param {Vec3} b */
function dot(a, b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/** @param {Vec3} a @param {Vec3} b @returns {Vec3} */
function cross(a, b) {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

/** a + s b @param {Vec3} a @param {number} s @param {Vec3} b @returns {Vec3} */
function along(a, s, b) {
  return [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]];
}
