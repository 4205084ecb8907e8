/**
 * Where a text stops being JSON, by line and column. The messages of JSON.parse differ from browser to
 * browser and often name no place.
 */

const NUMBER = /-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const SPACE = /[ \t\r\n]*/y;
const WORDS = ["true", "false", "null"];
const MAX_DEPTH = 1000;

/** A text that is not JSON, at an offset. */
class Fault extends Error {
  /** @param {number} at @param {string} message */
  constructor(at, message) {
    super(message);
    this.at = at;
  }
}

/**
 * @param {string} text
 * @returns {{at: number, line: number, column: number, message: string} | null} line and column from 1; null: it is JSON
 */
export function jsonFault(text) {
  try {
    const end = value(text, space(text, 0), 0);
    const rest = space(text, end);
    if (rest < text.length) throw new Fault(rest, `${named(text, rest)} behind the end of the document`);
    return null;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const before = text.slice(0, error.at).split("\n");
    return { at: error.at, line: before.length, column: before[before.length - 1].length + 1, message: error.message };
  }
}

/** @param {string} text @param {number} at @param {number} depth @returns {number} after the value */
function value(text, at, depth) {
  if (depth > MAX_DEPTH) throw new Fault(at, `more than ${MAX_DEPTH} levels`);
  if (text[at] === "{") return members(text, at, "}", (from) => {
    const colon = space(text, string(text, from, "a name in double quotes is missing"));
    if (text[colon] !== ":") throw new Fault(colon, `a colon is missing before ${named(text, colon)}`);
    return value(text, space(text, colon + 1), depth + 1);
  });
  if (text[at] === "[") return members(text, at, "]", (from) => value(text, from, depth + 1));
  if (text[at] === '"') return string(text, at, "");
  const word = WORDS.find((one) => text.startsWith(one, at));
  if (word) return at + word.length;
  const end = match(NUMBER, text, at);
  if (end === null) throw new Fault(at, `a value is missing before ${named(text, at)}`);
  // JSON.parse makes Infinity of it, and that is null in what is sent
  if (!Number.isFinite(Number(text.slice(at, end)))) throw new Fault(at, `the number ${named(text, at)} is beyond ${Number.MAX_VALUE.toPrecision(2)}`);
  return end;
}

/**
 * @param {string} text @param {number} at at the bracket @param {string} close
 * @param {(from: number) => number} one reads a member
 */
function members(text, at, close, one) {
  let i = space(text, at + 1);
  if (text[i] === close) return i + 1;
  for (;;) {
    i = space(text, one(i));
    if (text[i] === close) return i + 1;
    if (text[i] !== ",") throw new Fault(i, `a comma or ${close} is missing before ${named(text, i)}`);
    const comma = i;
    i = space(text, i + 1);
    if (text[i] === close) throw new Fault(comma, `the comma before ${close} is one too many`);
  }
}

/** @param {string} text @param {number} at @param {string} missing what to say if there is none */
function string(text, at, missing) {
  if (text[at] !== '"') throw new Fault(at, `${missing} before ${named(text, at)}`);
  const end = match(STRING, text, at);
  if (end === null) throw new Fault(at, "a text that does not end, or with a character that needs a backslash");
  return end;
}

/** @param {string} text @param {number} at */
function space(text, at) {
  return match(SPACE, text, at) ?? at;
}

/** @param {RegExp} pattern sticky @param {string} text @param {number} at @returns {number | null} after the match */
function match(pattern, text, at) {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : null;
}

/** @param {string} text @param {number} at */
function named(text, at) {
  return at < text.length ? `“${text.slice(at, at + 12).split("\n")[0]}”` : "the end of the text";
}
