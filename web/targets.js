/** Motor targets, read from the log of commands. */
import { getCommands, getSession, getSnapshots } from "./api.js";

/** @param {string} joint @param {number} axis */
export function keyOf(joint, axis) {
  return `${axis} ${joint}`;
}

/**
 * The targets commands have set, by joint and axis, at a step of an epoch. A restored snapshot
 * brings back those of its own moment; a reset brings back the scene's.
 * @param {import("./types.js").LoggedCommand[]} log
 * @param {{id: string, epoch: number, step: number}[]} snapshots
 * @param {number} epoch
 * @param {number} [until] step
 * @param {Map<string, number>} [first]  those at the start of the first epoch: of the run before a fork
 * @returns {Map<string, number>}
 */
export function targetsOf(log, snapshots, epoch, until = Infinity, first = new Map()) {
  /** @type {Map<string, number>} */
  let targets = new Map(epoch === 0 ? first : []);
  for (const entry of log) {
    if (entry.epoch !== epoch || entry.step > until) continue;
    if (entry.op === "restore") {
      const from = snapshots.find((one) => one.id === entry.snapshot);
      if (from && from.epoch < epoch) targets = targetsOf(log, snapshots, from.epoch, from.step, first);
    } else if (entry.op === "set_motor" && typeof entry.target === "number") targets.set(keyOf(String(entry.joint), entry.axis ?? 0), entry.target);
  }
  return targets;
}

/**
 * Those at the moment at which a session was forked from another, while the other one lives.
 * @param {{session: string, epoch: number, step: number} | null} origin null: it was not forked
 * @returns {Promise<Map<string, number>>}
 */
export async function targetsAt(origin) {
  if (!origin) return new Map();
  const { session, epoch, step } = origin;
  const [info, log, snapshots] = await Promise.all([getSession(session), getCommands(session), getSnapshots(session)]);
  return targetsOf(log, snapshots, epoch, step, await targetsAt(info.forked_from ?? null));
}
