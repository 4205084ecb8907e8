/** Numbers of a thing in the text of a scene, set without touching anything else that a person has written. */
import { locate } from "./locate.js";

/** What a scene need not say. @type {Record<string, number[]>} */
const DEFAULTS = { position: [0, 0, 0], orientation: [1, 0, 0, 0] };

/**
 * @param {string} text JSON @param {string} pointer of an object in it @param {Record<string, number[]>} fields
 * @returns {{from: number, to: number, insert: string} | null} one change of the text; null: it says so already
 */
export function withFields(text, pointer, fields) {
  const after = Object.entries(fields).reduce((now, [name, value]) => withField(now, pointer, name, value), text);
  if (after === text) return null;
  let from = 0;
  while (from < after.length && after[from] === text[from]) from += 1;
  const room = Math.min(text.length, after.length) - from;
  let tail = 0;
  while (tail < room && after[after.length - 1 - tail] === text[text.length - 1 - tail]) tail += 1;
  return { from, to: text.length - tail, insert: after.slice(from, after.length - tail) };
}

/** @param {string} text @param {string} pointer @param {string} name @param {number[]} value @returns {string} */
function withField(text, pointer, name, value) {
  const object = locate(text, pointer);
  if (!object) return text;
  const inside = text.slice(object.start + 1, object.end - 1);
  const known = JSON.parse(`{${inside}}`)[name];
  if (same(known ?? DEFAULTS[name], value)) return text;
  const written = `[${value.map(String).join(", ")}]`;
  const place = known === undefined ? null : locate(text, `${pointer}/${name}`);
  if (place) return text.slice(0, place.start) + written + text.slice(place.end);
  const at = object.start + 1 + inside.trimEnd().length;
  // on a line of its own where the others have one
  const lead = /^\s*\n\s*/.exec(inside)?.[0] ?? " ";
  return `${text.slice(0, at)},${lead}${JSON.stringify(name)}: ${written}${text.slice(at)}`;
}

/** @param {number[] | undefined} a @param {number[]} b */
function same(a, b) {
  return a?.length === b.length && b.every((value, k) => value === a[k]);
}
