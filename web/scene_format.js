/**
 * A scene as a person would write it: what fits stands in one line, what has its default is left out; and
 * where two scenes differ.
 *
 * @typedef {Record<string, any>} Schema
 */

/** Characters of a line. */
const WIDTH = 100;

/** @param {unknown} value JSON @param {string} [indent] @returns {string} */
export function formatted(value, indent = "") {
  const short = flat(value);
  if (typeof value !== "object" || value === null || indent.length + short.length <= WIDTH) return short;
  const deeper = `${indent} `;
  if (Array.isArray(value)) return `[\n${value.map((one) => deeper + formatted(one, deeper)).join(",\n")}\n${indent}]`;
  return `{\n${Object.entries(value).map(([key, one]) => `${deeper}${JSON.stringify(key)}: ${formatted(one, deeper)}`).join(",\n")}\n${indent}}`;
}

/** @param {unknown} value @returns {string} */
function flat(value) {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(flat).join(", ")}]`;
  return `{${Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}: ${flat(one)}`).join(", ")}}`;
}

/** @param {any} value of the schema @param {Schema} schema @param {Schema} [root] @returns {any} the same scene, without what has its default */
export function withoutDefaults(value, schema, root = schema) {
  if (typeof value !== "object" || value === null) return value;
  const shape = shapeOf(value, schema, root);
  if (!shape) return value;
  if (Array.isArray(value)) return value.map((one, i) => withoutDefaults(one, shape.prefixItems?.[i] ?? shape.items ?? {}, root));
  const required = new Set(shape.required ?? []);
  const any = Object.values(shape.patternProperties ?? {})[0];
  return Object.fromEntries(Object.entries(value).flatMap(([key, one]) => {
    const below = shape.properties?.[key] ?? any;
    if (!below || required.has(key)) return [[key, below ? withoutDefaults(one, below, root) : one]];
    if ("default" in below && below.const === undefined && same(one, below.default)) return [];
    const short = withoutDefaults(one, below, root);
    const empty = typeof short === "object" && short !== null && !Array.isArray(short) && !Object.keys(short).length;
    // an object of defaults is the default, unless the default is to have none
    return empty && shape.properties?.[key] && below.default !== null ? [] : [[key, short]];
  }));
}

/** The alternative that an object or array is of. @param {any} value @param {Schema} schema @param {Schema} root @returns {Schema | null} */
function shapeOf(value, schema, root) {
  if (schema.$ref) return shapeOf(value, schema.$ref.split("/").slice(1).reduce((/** @type {any} */ place, /** @type {string} */ key) => place[key], root), root);
  const ways = schema.oneOf ?? schema.anyOf;
  if (ways) return ways.map((/** @type {Schema} */ one) => shapeOf(value, one, root)).find(Boolean) ?? null;
  if (Array.isArray(value)) return schema.type === "array" ? schema : null;
  if (schema.type !== "object") return null;
  const kind = schema.properties?.type;
  const fits = (kind?.const === undefined || kind.const === value.type) && (schema.additionalProperties !== false || Object.keys(value).every((key) => schema.properties?.[key] || schema.patternProperties));
  return fits ? schema : null;
}

/** @param {any} a @param {any} b @returns {boolean} */
function same(a, b) {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  const keys = Object.keys(a);
  return Array.isArray(a) === Array.isArray(b) && keys.length === Object.keys(b).length && keys.every((key) => key in b && same(a[key], b[key]));
}

/**
 * @typedef {{path: string, before: unknown, after: unknown}} Change  undefined: it is not there
 * @param {any} before @param {any} after @param {string} [path] @returns {Change[]} things with names are compared by name
 */
export function changesBetween(before, after, path = "") {
  if (same(before, after)) return [];
  const both = [before, after];
  if (both.some((one) => typeof one !== "object" || one === null) || Array.isArray(before) !== Array.isArray(after)) return [{ path, before, after }];
  const [a, b] = both.map(byName);
  if (!a || !b) return [{ path, before, after }];
  return [...new Set([...a.keys(), ...b.keys()])].flatMap((key) => changesBetween(a.get(key), b.get(key), path ? `${path}/${key}` : key));
}

/** @param {any} value @returns {Map<string, any> | null} null: a list of things without names of their own */
function byName(value) {
  if (!Array.isArray(value)) return new Map(Object.entries(value));
  const names = value.map((one) => one?.name);
  return names.every((name) => typeof name === "string") && new Set(names).size === names.length ? new Map(value.map((one, i) => [names[i], one])) : null;
}
