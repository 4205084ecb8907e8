/** Where bodies have been: what trails are drawn of. */

export const MAX_MOMENTS = 240;

export class Moments {
  constructor() {
    /** @type {{time: number, points: Float32Array}[]} in the order of their times; points: 3 per body */
    this.moments = [];
  }

  /** @param {Float32Array} poses @param {number} time */
  remember(poses, time) {
    const last = this.moments[this.moments.length - 1];
    if (last && time < this.moments[0].time) this.moments = [];
    // what lies ahead of a moment of the history stays: it is drawn again when the time comes
    if (last && time <= last.time) return;
    const points = new Float32Array(3 * (poses.length / 7));
    for (let i = 0; i < poses.length / 7; i += 1) points.set(poses.subarray(7 * i, 7 * i + 3), 3 * i);
    this.moments.push({ time, points });
    if (this.moments.length > MAX_MOMENTS) this.moments.shift();
  }
}
