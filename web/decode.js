/**
 * Binary frames of `cardan.v1`: bytes -> Frame. The one place where [w, x, y, z] becomes [x, y, z, w].
 *
 *     header, 40 bytes   kind u16, flags u16, block count u32, epoch u32, sequence u32,
 *                        step u64, time f64, dropped u32, reserved u32
 *     block              tag u32, count u32, byte length u32, reserved u32, payload padded to 8
 *
 * Little endian. Unknown tags are skipped, so that a newer server can speak to an older page.
 *
 * @import {Contacts, Energy, Frame, Grab, Happening, JointCoordinate, SolverNumbers, Vec3} from "./types.js"
 */

const HEADER_BYTES = 40;
const BLOCK_HEADER_BYTES = 16;
const KIND = { state: 1, key: 2 };
const FLAG = { paused: 1, failed: 2, gap: 4 };
const TAG = { poses: 1, contacts: 2, joints: 3, energy: 4, solver: 5, grab: 6, stateHash: 7, events: 8, asleep: 9, absent: 10, friction: 11, momentum: 12, velocities: 13, reactions: 14 };

/** Indexed by the number in a frame. @type {Happening["kind"][]} */
const EVENT_KINDS = ["begin", "end", "break", "trigger", "appear", "vanish"];

/** Bytes per element of each block that has a fixed size; a block that disagrees is refused. */
const ELEMENT_BYTES = { [TAG.poses]: 28, [TAG.contacts]: 40, [TAG.joints]: 16, [TAG.events]: 56, [TAG.asleep]: 1, [TAG.absent]: 1, [TAG.friction]: 16, [TAG.velocities]: 24, [TAG.reactions]: 28 };
const MIN_BYTES = { [TAG.energy]: 64, [TAG.solver]: 96, [TAG.grab]: 44, [TAG.stateHash]: 8, [TAG.momentum]: 48 };

export class FrameError extends Error {}

/**
 * @param {ArrayBuffer} buffer one binary message
 * @returns {Frame}
 * @throws {FrameError} when the bytes are not a frame
 */
export function decodeFrame(buffer) {
  const view = new DataView(buffer);
  if (buffer.byteLength < HEADER_BYTES) throw new FrameError(`${buffer.byteLength} bytes: shorter than a header`);
  const kind = view.getUint16(0, true);
  if (kind !== KIND.state && kind !== KIND.key) throw new FrameError(`unknown frame kind ${kind}`);
  const flags = view.getUint16(2, true);
  /** @type {Frame} */
  const frame = {
    key: kind === KIND.key,
    paused: (flags & FLAG.paused) !== 0,
    failed: (flags & FLAG.failed) !== 0,
    gap: (flags & FLAG.gap) !== 0,
    epoch: view.getUint32(8, true),
    sequence: view.getUint32(12, true),
    step: Number(view.getBigUint64(16, true)),
    time: view.getFloat64(24, true),
    dropped: view.getUint32(32, true),
    bytes: buffer.byteLength,
    poses: null, contacts: null, joints: null, energy: null, solver: null, grab: null, stateHash: null,
    happenings: null, asleep: null, momentum: null, velocities: null, reactions: null,
  };
  let at = HEADER_BYTES;
  for (let block = view.getUint32(4, true); block > 0; block -= 1) at = readBlock(view, at, frame);
  return frame;
}

/**
 * Splits the body of `GET .../frames`: each frame is preceded by its length as u32.
 * @param {ArrayBuffer} buffer
 * @returns {Frame[]}
 */
export function decodeFrames(buffer) {
  const view = new DataView(buffer);
  const frames = [];
  let at = 0;
  while (at + 4 <= buffer.byteLength) {
    const length = view.getUint32(at, true);
    frames.push(decodeFrame(buffer.slice(at + 4, at + 4 + length)));
    at += 4 + length;
  }
  return frames;
}

/** @param {DataView} view @param {number} at @param {Frame} frame @returns {number} where the next block starts */
function readBlock(view, at, frame) {
  if (at + BLOCK_HEADER_BYTES > view.byteLength) throw new FrameError("block header beyond the end");
  const tag = view.getUint32(at, true);
  const count = view.getUint32(at + 4, true);
  const length = view.getUint32(at + 8, true);
  const start = at + BLOCK_HEADER_BYTES;
  if (start + length > view.byteLength) throw new FrameError(`block ${tag} beyond the end`);
  const element = ELEMENT_BYTES[tag];
  if (element !== undefined && length !== count * element) throw new FrameError(`block ${tag}: ${length} bytes for ${count}`);
  if (length < (MIN_BYTES[tag] ?? 0)) throw new FrameError(`block ${tag}: only ${length} bytes`);

  if (tag === TAG.poses) frame.poses = readPoses(view, start, count);
  else if (tag === TAG.contacts) frame.contacts = readContacts(view, start, count);
  else if (tag === TAG.joints) frame.joints = readJoints(view, start, count);
  else if (tag === TAG.energy) frame.energy = readEnergy(view, start);
  else if (tag === TAG.solver) frame.solver = readSolver(view, start);
  else if (tag === TAG.grab) frame.grab = readGrab(view, start);
  else if (tag === TAG.stateHash) frame.stateHash = view.getBigUint64(start, true);
  else if (tag === TAG.events) frame.happenings = readHappenings(view, start, count);
  else if (tag === TAG.friction) readFriction(view, start, count, frame);
  else if (tag === TAG.asleep) frame.asleep = new Uint8Array(view.buffer.slice(start, start + count));
  else if (tag === TAG.momentum) frame.momentum = doubles(view, start, 6);
  else if (tag === TAG.velocities) frame.velocities = floats(view, start, 6 * count);
  else if (tag === TAG.reactions) frame.reactions = readReactions(view, start, count);
  else if (tag === TAG.absent && frame.poses) hide(frame.poses, new Uint8Array(view.buffer, start, count));
  return start + Math.ceil(length / 8) * 8;
}

/** @param {DataView} view @param {number} start @param {number} count */
function readPoses(view, start, count) {
  const poses = new Float32Array(count * 7);
  for (let i = 0; i < count * 7; i += 7) {
    const at = start + i * 4;
    poses[i] = view.getFloat32(at, true);
    poses[i + 1] = view.getFloat32(at + 4, true);
    poses[i + 2] = view.getFloat32(at + 8, true);
    poses[i + 6] = view.getFloat32(at + 12, true); // w
    poses[i + 3] = view.getFloat32(at + 16, true);
    poses[i + 4] = view.getFloat32(at + 20, true);
    poses[i + 5] = view.getFloat32(at + 24, true);
  }
  return poses;
}

/** Bodies that are absent have no pose. @param {Float32Array} poses @param {Uint8Array} absent 1 for each body that is */
function hide(poses, absent) {
  absent.forEach((is, body) => { if (is) poses.fill(NaN, 7 * body, 7 * body + 7); });
}

/** @param {DataView} view @param {number} start @param {number} count @returns {Contacts} */
function readContacts(view, start, count) {
  const values = new Float32Array(count * 9);
  const bodies = new Uint16Array(count * 2);
  for (let i = 0; i < count; i += 1) {
    const at = start + i * 40;
    for (let k = 0; k < 9; k += 1) values[i * 9 + k] = view.getFloat32(at + 4 * k, true);
    bodies[2 * i] = view.getUint16(at + 36, true);
    bodies[2 * i + 1] = view.getUint16(at + 38, true);
  }
  return { count, values, bodies, friction: null };
}

/** Its rows are those of the contacts, whose block precedes it. @param {DataView} view @param {number} start @param {number} count @param {Frame} frame */
function readFriction(view, start, count, { contacts }) {
  if (contacts?.count !== count) throw new FrameError(`friction of ${count} contacts, where there are ${contacts?.count ?? "none"}`);
  contacts.friction = floats(view, start, 4 * count);
}

/** @param {DataView} view @param {number} start @param {number} count @returns {JointCoordinate[]} */
function readJoints(view, start, count) {
  return Array.from({ length: count }, (_, i) => {
    const at = start + i * 16;
    return {
      joint: view.getUint16(at, true), coordinate: view.getUint16(at + 2, true),
      q: view.getFloat32(at + 4, true), qd: view.getFloat32(at + 8, true), motorForce: view.getFloat32(at + 12, true),
    };
  });
}

/** One row per joint, which begins with the joint's number. @param {DataView} view @param {number} start @param {number} count */
function readReactions(view, start, count) {
  const reactions = new Float32Array(6 * count);
  for (let i = 0; i < count; i += 1) reactions.set(floats(view, start + 28 * i + 4, 6), 6 * view.getUint16(start + 28 * i, true));
  return reactions;
}

/** Events, in the words of the protocol; kinds that this page does not know are left out. @param {DataView} view @param {number} start @param {number} count @returns {Happening[]} */
function readHappenings(view, start, count) {
  return Array.from({ length: count }, (_, i) => {
    const at = start + i * 56;
    const f = (/** @type {number} */ k) => view.getFloat32(at + 16 + 4 * k, true);
    const u = (/** @type {number} */ k) => view.getUint16(at + 44 + 2 * k, true);
    return {
      time: view.getFloat64(at, true), step: Number(view.getBigUint64(at + 8, true)),
      point: /** @type {Vec3} */ ([f(0), f(1), f(2)]), normal: /** @type {Vec3} */ ([f(3), f(4), f(5)]), speed: f(6),
      kind: EVENT_KINDS[u(0)], joint: u(1), bodies: /** @type {[number, number]} */ ([u(2), u(3)]), shapes: /** @type {[number, number]} */ ([u(4), u(5)]),
    };
  }).filter((happening) => happening.kind !== undefined);
}

/** @param {DataView} view @param {number} start @returns {Energy} */
function readEnergy(view, start) {
  const [kinetic, potential, total, workIn, friction, impact, damping, correction] = doubles(view, start, 8);
  return { kinetic, potential, total, workIn, friction, impact, damping, correction };
}

/** @param {DataView} view @param {number} start @returns {SolverNumbers} */
function readSolver(view, start) {
  const [rows, contacts, iterations, residual, coulombError, maxPenetration, jointPositionError, stepUs,
    realTimeFactor, collisionUs, solveUs, otherUs] = doubles(view, start, 12);
  return { rows, contacts, iterations, residual, coulombError, maxPenetration, jointPositionError, stepUs,
    realTimeFactor, collisionUs, solveUs, otherUs };
}

/** @param {DataView} view @param {number} start @returns {Grab} */
function readGrab(view, start) {
  /** @param {number} k @returns {Vec3} */
  const vector = (k) => {
    const at = start + 8 + 12 * k;
    return [view.getFloat32(at, true), view.getFloat32(at + 4, true), view.getFloat32(at + 8, true)];
  };
  return { body: view.getUint32(start, true), point: vector(0), target: vector(1), force: vector(2) };
}

/** @param {DataView} view @param {number} start @param {number} count */
function doubles(view, start, count) {
  return Array.from({ length: count }, (_, i) => view.getFloat64(start + 8 * i, true));
}

/** @param {DataView} view @param {number} start @param {number} count */
function floats(view, start, count) {
  return Float32Array.from({ length: count }, (_, i) => view.getFloat32(start + 4 * i, true));
}

/**
 * The same for a pose that comes as JSON (scene documents): [w, x, y, z] -> [x, y, z, w].
 * @param {number[] | undefined} wxyz
 * @returns {[number, number, number, number]}
 */
export function fromWxyz(wxyz) {
  if (!wxyz) return [0, 0, 0, 1];
  const norm = Math.hypot(wxyz[0], wxyz[1], wxyz[2], wxyz[3]) || 1;
  return [wxyz[1] / norm, wxyz[2] / norm, wxyz[3] / norm, wxyz[0] / norm];
}
