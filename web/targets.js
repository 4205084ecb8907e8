/** Motor targets, read from the log of commands. */

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
 * @returns {Map<string, number>}
 */
export function targetsOf(log, snapshots, epoch, until = Infinity) {
  /** @type {Map<string, number>} */
  let targets = new Map();
  for (const entry of log) {
    if (entry.epoch !== epoch || entry.step > until) continue;
    if (entry.op === "restore") {
      const from = snapshots.find((one) => one.id === entry.snapshot);
      if (from && from.epoch < epoch) targets = targetsOf(log, snapshots, from.epoch, from.step);
    } else if (entry.op === "set_motor" && typeof entry.target === "number") targets.set(keyOf(String(entry.joint), entry.axis ?? 0), entry.target);
  }
  return targets;
}
