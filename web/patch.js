/**
 * Parts of a scene that can change while it runs: gravity, and the targets and largest forces of motors.
 *
 * @import {Joint, Motor, Scene} from "./types.js"
 * @typedef {{op: "gravity" | "set_motor", fields: Record<string, any>}} Command
 */
import { changesBetween } from "./scene_format.js";

const EARTH = [0, 0, -9.81];
/** By the axis that `set_motor` names. */
const MOTORS = /** @type {const} */ (["motor", "motor2", "motor3"]);

/**
 * The commands that turn a run of one scene into a run of another; null if it must be restarted, or if nothing differs.
 * @param {Scene} before @param {Scene} after @returns {Command[] | null}
 */
export function patchOf(before, after) {
  const rest = structuredClone(after);
  /** @type {Command[]} */
  const commands = [];
  if (changesBetween(before.gravity ?? EARTH, after.gravity ?? EARTH).length) commands.push({ op: "gravity", fields: { value: after.gravity ?? EARTH } });
  rest.gravity = before.gravity;
  const known = new Map((before.joints ?? []).map((joint) => [joint.name, joint]));
  for (const joint of rest.joints ?? []) {
    const was = known.get(joint.name);
    if (was) commands.push(...motorCommands(was, joint));
  }
  if (before.gravity === undefined) delete rest.gravity;
  return commands.length && !changesBetween(before, rest).length ? commands : null;
}

/** Commands for the motors of a joint; resets the fields that they change to those of `was`. @param {Joint} was @param {Joint} joint @returns {Command[]} */
function motorCommands(was, joint) {
  return MOTORS.flatMap((key, axis) => {
    const [old, motor] = [/** @type {Motor | null | undefined} */ (was[key]), /** @type {Motor | null | undefined} */ (joint[key])];
    if (!old || !motor || !changesBetween(old, motor).length) return [];
    const { target, max_force } = motor;
    // the command takes no time series, no vector of a ball joint, and no unbounded force
    if (typeof target !== "number" || (max_force ?? null) === null !== ((old.max_force ?? null) === null)) return [];
    Object.assign(motor, { target: old.target, ...(old.max_force === undefined ? {} : { max_force: old.max_force }) });
    return [{ op: "set_motor", fields: { joint: joint.name, axis, target, ...(max_force === old.max_force ? {} : { max_force }) } }];
  });
}
