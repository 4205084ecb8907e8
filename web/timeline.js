/**
 * What is drawn at a given moment. Live frames arrive unevenly; the playhead follows them a little
 * behind, in simulated time, and poses are interpolated between the two frames around it.
 * Frames of the history (answers to `seek`) are shown as they are.
 *
 * @import {Frame} from "./types.js"
 */

const KEPT = 12;
/** ms; smallest and largest delay of the playhead behind the newest frame */
const DELAY = [10, 150];
/** ms within which a wrong playhead is corrected */
const CORRECTION_MS = 200;

export class Timeline {
  constructor() {
    /** @type {{frame: Frame, at: number}[]} frames with poses, oldest first, one epoch */
    this.buffer = [];
    /** @type {Frame | null} newest live frame */
    this.latest = null;
    /** @type {Frame | null} frame of the history that is shown instead of the live ones */
    this.pinned = null;
    this.playhead = 0;
    this.lastSample = 0;
    this.rate = 0; // simulated seconds per elapsed millisecond
    this.interval = 17; // ms between arrivals
    /** @type {Float32Array} */
    this.poses = new Float32Array(0);
  }

  clear() {
    this.buffer = [];
    this.latest = null;
    this.pinned = null;
    this.rate = 0;
  }

  /** @param {Frame} frame a live frame @param {number} now ms */
  push(frame, now) {
    if (this.latest && frame.epoch !== this.latest.epoch) this.buffer = [];
    this.latest = frame;
    if (!frame.poses) return;
    const last = this.buffer[this.buffer.length - 1];
    if (last && frame.step < last.frame.step) this.buffer = [];
    else if (last) {
      const elapsed = Math.max(1, now - last.at);
      this.interval += 0.1 * (Math.min(elapsed, 500) - this.interval);
      const rate = (frame.time - last.frame.time) / elapsed;
      this.rate = this.rate === 0 ? rate : this.rate + 0.15 * (rate - this.rate);
    }
    this.buffer.push({ frame, at: now });
    if (this.buffer.length === 1) this.playhead = frame.time;
    if (this.buffer.length > KEPT) this.buffer.shift();
  }

  /**
   * @param {number} now ms
   * @returns {{frame: Frame, poses: Float32Array, time: number} | null} frame: the one nearest below
   */
  sample(now) {
    const elapsed = Math.min(100, now - this.lastSample);
    this.lastSample = now;
    if (this.pinned?.poses) return { frame: this.pinned, poses: this.pinned.poses, time: this.pinned.time };
    const newest = this.buffer[this.buffer.length - 1];
    if (!newest) return null;
    this.advance(newest, now, elapsed);
    let i = this.buffer.length - 1;
    while (i > 0 && this.buffer[i].frame.time > this.playhead) i -= 1;
    const a = this.buffer[i].frame;
    const b = this.buffer[i + 1]?.frame;
    if (!a.poses || !b?.poses || b.time <= a.time) return { frame: a, poses: a.poses ?? this.poses, time: a.time };
    const u = Math.min(1, Math.max(0, (this.playhead - a.time) / (b.time - a.time)));
    if (this.poses.length !== a.poses.length) this.poses = new Float32Array(a.poses.length);
    interpolate(a.poses, b.poses, u, this.poses);
    return { frame: u > 0.5 ? b : a, poses: this.poses, time: a.time + u * (b.time - a.time) };
  }

  /** @param {{frame: Frame, at: number}} newest @param {number} now @param {number} elapsed ms */
  advance(newest, now, elapsed) {
    const silent = now - newest.at;
    if (newest.frame.paused || newest.frame.failed || silent > 4 * this.interval + 200) {
      this.playhead = newest.frame.time;
      this.rate = 0;
      return;
    }
    const delay = Math.min(DELAY[1], Math.max(DELAY[0], 1.3 * this.interval));
    const goal = newest.frame.time + this.rate * (silent - delay);
    this.playhead += this.rate * elapsed;
    const error = goal - this.playhead;
    if (Math.abs(error) > 300 * this.rate) this.playhead = goal;
    else this.playhead += error * Math.min(1, elapsed / CORRECTION_MS);
    this.playhead = Math.min(this.playhead, newest.frame.time);
  }
}

/**
 * Positions linearly, quaternions by normalised linear interpolation on the shorter arc: the angle
 * error of nlerp is below 1e-3 rad for the few degrees between two frames.
 * @param {Float32Array} a @param {Float32Array} b @param {number} u 0..1 @param {Float32Array} out
 */
export function interpolate(a, b, u, out) {
  for (let i = 0; i < a.length; i += 7) {
    out[i] = a[i] + u * (b[i] - a[i]);
    out[i + 1] = a[i + 1] + u * (b[i + 1] - a[i + 1]);
    out[i + 2] = a[i + 2] + u * (b[i + 2] - a[i + 2]);
    const dot = a[i + 3] * b[i + 3] + a[i + 4] * b[i + 4] + a[i + 5] * b[i + 5] + a[i + 6] * b[i + 6];
    const v = dot < 0 ? -u : u;
    const x = a[i + 3] * (1 - u) + b[i + 3] * v;
    const y = a[i + 4] * (1 - u) + b[i + 4] * v;
    const z = a[i + 5] * (1 - u) + b[i + 5] * v;
    const w = a[i + 6] * (1 - u) + b[i + 6] * v;
    const scale = 1 / Math.hypot(x, y, z, w);
    out[i + 3] = x * scale;
    out[i + 4] = y * scale;
    out[i + 5] = z * scale;
    out[i + 6] = w * scale;
  }
}

/** Most moments of trails. */
export const MAX_MOMENTS = 240;

/** Where bodies have been: what trails are drawn of. */
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
    for (let i = 0, at = 0; i < points.length; i += 3, at += 7) {
      points[i] = poses[at];
      points[i + 1] = poses[at + 1];
      points[i + 2] = poses[at + 2];
    }
    this.moments.push({ time, points });
    if (this.moments.length > MAX_MOMENTS) this.moments.shift();
  }
}
