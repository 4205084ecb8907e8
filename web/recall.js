/**
 * What nobody had asked for when it happened: kept frames are computed again by the service, with the channels
 * that plots show now. Each moment once; those that are known stay known until time starts again.
 *
 * @import {Frame} from "./types.js"
 * @import {Needs, Session} from "./session.js"
 */
import { getFrames } from "./api.js";

/** Frames in one request: the first part of a curve is seen soon, and nobody else waits long. */
const PART = 50;
/** Of these a kept frame may have nothing. */
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
 * Puts frames that have more in the place of the given ones, part by part.
 * @param {Session} session @param {Frame[]} frames of its history, every `stride`-th; changed
 * @param {number} stride @param {Partial<Needs>} needs
 * @param {() => boolean} stale nobody waits for the rest @param {() => void} onPart some were replaced
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
  // those that come meanwhile have what is asked for
  const { length } = frames;
  for (let first = 0; first < length; first += PART) {
    const part = frames.slice(first, Math.min(length, first + PART));
    if (part.every((frame) => has(frame, channels))) continue;
    const again = await getFrames(session.id, part[0].step, part[part.length - 1].step, stride, channels);
    if (stale()) return;
    for (const frame of again) memory.set(frame.step, frame);
    part.forEach((frame, i) => {
      const found = memory.get(frame.step);
      // events are told with the frame that was kept
      if (found && !has(frame, channels)) frames[first + i] = { ...found, happenings: frame.happenings };
    });
    onPart();
  }
}
