/**
 * The base of a robot in the text of a scene: fixed to the world by a joint of its own, or let go again.
 *
 * @import {Joint, Scene} from "./types.js"
 */
import { locate } from "./locate.js";
import { withPiece } from "./scene_pieces.js";

/** Joints that tie coordinates, not bodies. */
const TIES = new Set(["gear", "rack", "coupling", "distance"]);

/**
 * The body from which most others hang by joints, where no joint leads to it.
 * @param {Scene} scene @returns {{name: string, position: number[], moves: boolean, hold: number} | null} hold: number of the joint that fixes it to what does not move, -1: none
 */
function baseOf(scene) {
  const bodies = new Map((scene.bodies ?? []).map((body) => [body.name, body]));
  const moves = (/** @type {string} */ name) => (bodies.get(name)?.type ?? (bodies.has(name) ? "dynamic" : "static")) === "dynamic";
  const joints = (scene.joints ?? []).map((joint, index) => ({ ...joint, index })).filter(({ type }) => !TIES.has(type));
  const hangs = (/** @type {Joint} */ { type, parent }) => !(type === "fixed" && !moves(parent));
  const led = new Set(joints.filter(hangs).map(({ child }) => child));
  /** @param {string} name @param {Set<string>} seen @returns {number} */
  const below = (name, seen) => {
    if (seen.has(name)) return 0;
    seen.add(name);
    return 1 + joints.filter(({ parent }) => parent === name).reduce((sum, { child }) => sum + below(child, seen), 0);
  };
  const [best] = [...bodies.keys()].filter((name) => !led.has(name)).map((name) => ({ name, size: below(name, new Set()) }))
    .filter(({ size }) => size > 1).sort((a, b) => b.size - a.size);
  if (!best) return null;
  const hold = joints.find(({ type, parent, child }) => type === "fixed" && child === best.name && !moves(parent))?.index ?? -1;
  return { name: best.name, position: bodies.get(best.name)?.position ?? [0, 0, 0], moves: moves(best.name), hold };
}

/**
 * The change of the text that fixes the base, or lets it go.
 * @param {string} text JSON @returns {{from: number, to: number, insert: string, says: string} | {says: string}} without a change: why there is none
 */
export function withBase(text) {
  const base = baseOf(JSON.parse(text));
  if (!base) return { says: "No body of this scene begins a chain of joints: there is no base to fix." };
  if (!base.moves) return { says: `The base “${base.name}” does not move. Tick “Robots float” and import the model again to let it go.` };
  if (base.hold >= 0) return { ...without(text, "joints", base.hold), says: `The base “${base.name}” is free.` };
  const { name, position } = base;
  return { ...withPiece(text, { list: "joints", piece: () => ({ name: `${name} to the world`, type: "fixed", parent: "world", child: name, anchor: position }) }), says: `The base “${name}” is fixed to the world.` };
}

/** One entry of a list left out, with its comma. @param {string} text @param {string} list @param {number} index */
function without(text, list, index) {
  const place = locate(text, `/${list}/${index}`);
  if (!place) throw new Error(`${list} has an entry ${index}`);
  const [before, after] = [text.slice(0, place.start), text.slice(place.end)];
  const behind = /^\s*,\s*/.exec(after);
  if (behind) return { from: place.start, to: place.end + behind[0].length, insert: "" };
  const ahead = /,?\s*$/.exec(before)?.[0].length ?? 0;
  return { from: place.start - ahead, to: place.end, insert: "" };
}
