/**
 * Masses and inertias of the bodies as the engine has them, and what follows: momentum and spin of a body.
 *
 * @import {Frame, Quat, Scene, Vec3} from "./types.js"
 * @import {Session} from "./session.js"
 * @import {StoredRun} from "./stored.js"
 *
 * @typedef {object} BodyMass         of a dynamic body
 * @property {string} body
 * @property {number} mass            kg
 * @property {Vec3} center_of_mass    m, in the body
 * @property {Vec3} principal_moments  kg m^2
 * @property {Quat} principal_axes    [w, x, y, z], turns them into the axes of the body
 * @property {Vec3} box               m, sides along them of the solid box of this mass and inertia
 */
import { getMasses } from "./api.js";
import { fromWxyz } from "./decode.js";

/** @type {WeakMap<Scene, Promise<(BodyMass | null)[]>>} */
const asked = new WeakMap();
/** @type {WeakMap<Scene, (BodyMass | null)[]>} */
const known = new WeakMap();

/** By body; null: it is not moved by forces. Undefined while nobody has asked. @param {Scene} scene */
export function massesOf(scene) {
  return known.get(scene);
}

/** Asks for them, once for a scene. @param {Session | StoredRun} session */
export function loadMasses(session) {
  const { scene } = session;
  const found = asked.get(scene) ?? ask(session);
  asked.set(scene, found);
  // a service that is away for a moment is asked again
  found.catch(() => asked.delete(scene));
  return found;
}

/** @param {Session | StoredRun} session */
async function ask({ id, stored, scene }) {
  const bodies = new Map((await getMasses(stored ? "simulations" : "sessions", id)).map((one) => [one.body, one]));
  const found = scene.bodies.map(({ name }) => bodies.get(name) ?? null);
  known.set(scene, found);
  return found;
}

/**
 * @param {Pick<Frame, "poses" | "velocities">} frame @param {number} body @param {BodyMass | null | undefined} mass
 * @returns {{linear: Vec3, spin: Vec3} | null} m v of the centre of mass, and I w about it, in W [N s, N m s]
 */
export function momentumOf({ poses, velocities }, body, mass) {
  if (!poses || !velocities || !mass) return null;
  const [px, py, pz, vx, vy, vz] = velocities.subarray(6 * body, 6 * body + 6);
  const q = Array.from(poses.subarray(7 * body + 3, 7 * body + 7));
  const w = [vx, vy, vz];
  const arm = turn(q, mass.center_of_mass);
  const moved = cross(w, arm);
  const axes = fromWxyz(mass.principal_axes);
  const own = turn(back(axes), turn(back(q), w)).map((rate, k) => rate * mass.principal_moments[k]);
  return { linear: /** @type {Vec3} */ ([px, py, pz].map((v, k) => mass.mass * (v + moved[k]))), spin: turn(q, turn(axes, own)) };
}

/** @param {number[]} a @param {number[]} b @returns {Vec3} */
function cross([a, b, c], [x, y, z]) {
  return [b * z - c * y, c * x - a * z, a * y - b * x];
}

/** @param {number[]} q [x, y, z, w] */
function back([x, y, z, w]) {
  return [-x, -y, -z, w];
}

/** @param {number[]} q [x, y, z, w] @param {number[]} v @returns {Vec3} */
function turn([x, y, z, w], v) {
  const t = cross([x, y, z], v);
  const u = cross([x, y, z], t);
  return /** @type {Vec3} */ (v.map((value, k) => value + 2 * (w * t[k] + u[k])));
}
