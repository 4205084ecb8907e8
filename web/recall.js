/**
 * Channels that no viewer had subscribed to when frames were kept: the service computes these frames again, with the
 * channels that plots now show. Each frame is requested once; frames are remembered until the epoch changes.
 *
 * @import {Frame} from "./types.js"
 * @import {Needs, Session} from "./session.js"
 */
import { getFrames } from "./api.js";

/** Frames per request: few, so that the first part of a curve appears soon and other requests do not wait long. */
const PART = 50;
/** Blocks that a kept frame may lack. */
const RECALLED = /** @type {const} */ (["contacts", "momentum", "velocities", "reactions"]);

/** @type {WeakMap<Session, {epoch: number, frames: Map<number, Frame>}>} by step */
const known = new WeakMap();

/** @param {Session} session */
function memoryOf(session) {
  let memory = known.get(session);
  if (memory?.epoch !== session.epoch) known.set(session, memory = { epoch: session.epoch, frames: new Map() });
  return memory.frames;
}

/** @param {Frame} frame @param {readonly (typeof RECALLED)[number][]} channels */
const has = (frame, channels) => channels.every((name) => frame[name]);

/**
 * Replaces frames that lack channels by recomputed ones, part by part.
 * @param {Session} session @param {Frame[]} frames of its history, every `stride`-th; changed
 * @param {number} stride @param {Partial<Needs>} needs
 * @param {() => boolean} stale whether the rest is no longer needed @param {() => void} onPart called after each part
 */
export async function recall(session, frames, stride, needs, stale, onPart) {
  const channels = RECALLED.filter((name) => needs[name]);
  if (!channels.length) return;
  const memory = memoryOf(session);
  frames.forEach((frame, i) => {
    const again = memory.get(frame.step);
    if (again && !has(frame, channels) && has(again, channels)) frames[i] = again;
  });
  onPart();
  // frames that are appended meanwhile are live ones, which have these channels
  const { length } = frames;
  for (let first = 0; first < length; first += PART) {
    const part = frames.slice(first, Math.min(length, first + PART));
    if (part.every((frame) => has(frame, channels))) continue;
    const again = await getFrames(session.id, part[0].step, part[part.length - 1].step, stride, channels);
    if (stale()) return;
    for (const frame of again) memory.set(frame.step, frame);
    part.forEach((frame, i) => {
      const found = memory.get(frame.step);
      // only the kept frame has the events
      if (found && !has(frame, channels)) frames[first + i] = { ...found, happenings: frame.happenings };
    });
    onPart();
  }
}
