/** Bodies and joints to start from, and how one is added to the text of a scene that stays as it is. */
import { locate } from "./locate.js";
import { formatted } from "./scene_format.js";

/** @typedef {{name: string, position?: number[]}} Named */

/** @typedef {{list: "bodies" | "joints", piece: (last: Named | null, floor: number) => Record<string, unknown>}} Piece  last: the last body; floor: m, the lowest point of the scene, or zero */

/** @type {Record<string, Piece>} */
export const PIECES = {
  "Box": body("box", { type: "box", size: [0.4, 0.4, 0.4] }),
  "Sphere": body("ball", { type: "sphere", radius: 0.2 }),
  "Cylinder": body("cylinder", { type: "cylinder", radius: 0.15, length: 0.4 }),
  "Capsule": body("capsule", { type: "capsule", radius: 0.1, length: 0.4 }),
  "Ground": { list: "bodies", piece: (_, floor) => ({ name: "ground", type: "static", shapes: [{ type: "plane", normal: [0, 0, 1], offset: floor }] }) },
  "Hinge to the world": joint("hinge", { axis: [0, 1, 0] }),
  "Slider to the world": joint("slider", { axis: [1, 0, 0] }),
  "Ball joint to the world": joint("ball", {}),
  "Motor on a hinge": joint("hinge", { axis: [0, 1, 0], motor: { type: "velocity", target: 6, max_force: 10 } }),
};

/** @param {string} name @param {Record<string, unknown>} shape @returns {Piece} */
function body(name, shape) {
  return { list: "bodies", piece: (last) => {
    const [x, y, z] = last?.position ?? [0, 0, 0.4];
    return { name, mass: 1, position: [x, y, z + 0.6], shapes: [shape] };
  } };
}

/** @param {string} type @param {Record<string, unknown>} more @returns {Piece} */
function joint(type, more) {
  return { list: "joints", piece: (last) => ({ name: type, type, parent: "world", child: last?.name ?? "", anchor: last?.position ?? [0, 0, 0], ...more }) };
}

/**
 * The change of the text that adds a piece, with a name of its own.
 * @param {string} text JSON, or nothing yet @param {Piece} added @param {number} [floor] @returns {{from: number, to: number, insert: string}}
 */
export function withPiece(text, { list, piece }, floor = 0) {
  const scene = text.trim() ? JSON.parse(text) : { version: 1, name: "my scene", bodies: [] };
  const there = list in scene && Array.isArray(scene[list]) ? scene[list] : null;
  const moving = (Array.isArray(scene.bodies) ? scene.bodies : []).filter((/** @type {any} */ one) => one?.type !== "static" && typeof one?.name === "string");
  const added = piece(moving[moving.length - 1] ?? null, floor);
  const taken = new Set((there ?? []).map((/** @type {any} */ one) => one?.name));
  const own = String(added.name);
  for (let i = 2; taken.has(added.name); i += 1) added.name = `${own}-${i}`;
  if (!text.trim()) return { from: 0, to: text.length, insert: formatted({ ...scene, [list]: [added] }) };
  const place = locate(text, there ? `/${list}` : "");
  if (!place) throw new Error("a scene is an object");
  const inside = text.slice(place.start + 1, place.end - 1);
  const from = place.start + 1 + inside.trimEnd().length;
  const comma = inside.trim() ? "," : "";
  const insert = there ? `${comma}\n  ${formatted(added, "  ")}${inside.trim() ? "" : "\n "}` : `${comma}\n ${JSON.stringify(list)}: [\n  ${formatted(added, "  ")}\n ]`;
  return { from, to: from, insert };
}
