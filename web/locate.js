/**
 * Where in a JSON text a JSON Pointer points, so that a fault can be shown at its place.
 */

/**
 * @param {string} text valid JSON
 * @param {string} pointer RFC 6901
 * @returns {{start: number, end: number} | null} of the value, or of the nearest parent that exists
 */
export function locate(text, pointer) {
  const path = pointer.split("/").slice(1).map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  let at = skipSpace(text, 0);
  for (const key of path) {
    const next = member(text, at, key);
    if (next === null) break;
    at = next;
  }
  const end = skipValue(text, at);
  return end > at ? { start: at, end } : null;
}

/** @param {string} text @param {number} at */
function skipSpace(text, at) {
  let i = at;
  while (i < text.length && " \t\r\n".includes(text[i])) i += 1;
  return i;
}

/** @param {string} text @param {number} at at a quote @returns {number} after the closing quote */
function skipString(text, at) {
  let i = at + 1;
  while (i < text.length && text[i] !== '"') i += text[i] === "\\" ? 2 : 1;
  return i + 1;
}

/** @param {string} text @param {number} at at the first character of a value @returns {number} after it */
function skipValue(text, at) {
  if (text[at] === '"') return skipString(text, at);
  if (text[at] !== "{" && text[at] !== "[") {
    let i = at;
    while (i < text.length && !",]} \t\r\n".includes(text[i])) i += 1;
    return i;
  }
  let depth = 0;
  for (let i = at; i < text.length;) {
    if (text[i] === '"') {
      i = skipString(text, i);
      continue;
    }
    if (text[i] === "{" || text[i] === "[") depth += 1;
    if (text[i] === "}" || text[i] === "]") depth -= 1;
    i += 1;
    if (depth === 0) return i;
  }
  return text.length;
}

/** @param {string} text @param {number} at an object or array @param {string} key @returns {number | null} where its member starts */
function member(text, at, key) {
  const isObject = text[at] === "{";
  if (!isObject && text[at] !== "[") return null;
  let i = skipSpace(text, at + 1);
  for (let index = 0; i < text.length && text[i] !== "}" && text[i] !== "]"; index += 1) {
    let name = String(index);
    if (isObject) {
      const end = skipString(text, i);
      name = JSON.parse(text.slice(i, end));
      i = skipSpace(text, skipSpace(text, end) + 1); // over the colon
    }
    if (name === key) return i;
    i = skipSpace(text, skipValue(text, i));
    if (text[i] === ",") i = skipSpace(text, i + 1);
  }
  return null;
}
