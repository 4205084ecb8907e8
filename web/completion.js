/**
 * What can stand at a place of a JSON text that is being written, by a JSON Schema: names of members with
 * what they mean, values of enumerations, names of the bodies, joints and materials that the text has.
 *
 * @typedef {{kind: "object" | "array", start: number, end: number, members: Member[], text: string}} Container
 * @typedef {{key: string | number, from: number, to: number, value: Container | string | null}} Member  from, to: of the key
 * @typedef {{label: string, apply: string, detail: string, info: string}} Option
 * @typedef {Record<string, any>} Schema
 */

const TOKEN = /"(?:[^"\\\n]|\\.)*"?|[{}[\]:,]|[^\s{}[\]:,"]+/g;
/** Members that name something of the document, and where those names stand. @type {Record<string, string>} */
const NAMED = { parent: "bodies", child: "bodies", body: "bodies", body_a: "bodies", body_b: "bodies", bodies: "bodies", joint: "joints", joint_a: "joints", joint_b: "joints", material: "materials" };

/** Reads a text that may be unfinished. @param {string} text @param {number} at @returns {{path: {container: Container, key: string | number | null}[], token: {from: number, to: number, isKey: boolean} | null, root: Container | null}} */
function read(text, at) {
  /** @type {{container: Container, key: string | number | null, keyed: {from: number, to: number} | null}[]} */
  const stack = [];
  /** @type {Container | null} */
  let root = null;
  /** @type {{container: Container, key: string | number | null}[]} */
  let path = [];
  /** @type {{from: number, to: number, isKey: boolean} | null} */
  let token = null;
  let seen = false;
  const note = () => {
    if (seen) return;
    seen = true;
    path = stack.map(({ container, key }) => ({ container, key }));
  };
  for (const { 0: word, index: from } of text.matchAll(TOKEN)) {
    const to = from + word.length;
    const top = stack[stack.length - 1];
    const mark = "{}[]:,".includes(word);
    if (!mark && from < at && at <= to && !(at === to && word.length > 1 && word.endsWith('"') && word.startsWith('"'))) {
      token = { from, to, isKey: top?.container.kind === "object" && top.key === null };
      note();
    } else if (from >= at) {
      note();
    }
    if (word === "{" || word === "[") {
      /** @type {Container} */
      const container = { kind: word === "{" ? "object" : "array", start: from, end: text.length, members: [], text };
      if (top) add(top, container);
      else root ??= container;
      stack.push({ container, key: word === "[" ? 0 : null, keyed: null });
    } else if (word === "}" || word === "]") {
      if (top) top.container.end = to;
      stack.pop();
    } else if (word === ",") {
      if (top) top.key = typeof top.key === "number" ? top.key + 1 : null;
    } else if (word !== ":" && top) {
      if (top.container.kind === "object" && top.key === null) {
        top.key = unquoted(word);
        top.keyed = { from, to };
        top.container.members.push({ key: top.key, from, to, value: null });
      } else {
        add(top, word);
      }
    }
  }
  note();
  return { path, token, root };
}

/** @param {{container: Container, key: string | number | null}} at @param {Container | string} value */
function add({ container, key }, value) {
  const last = container.members[container.members.length - 1];
  if (container.kind === "object" && last && last.key === key) last.value = value;
  else container.members.push({ key: key ?? "", from: -1, to: -1, value });
}

/** @param {string} word */
function unquoted(word) {
  return word.startsWith('"') ? word.slice(1, word.length > 1 && word.endsWith('"') ? -1 : undefined) : word;
}

/** @param {Schema} schema @param {Schema} root @returns {Schema[]} without references and alternatives */
function variants(schema, root) {
  if (schema.$ref) {
    const { $ref, ...own } = schema;
    const target = $ref.split("/").slice(1).reduce((/** @type {any} */ place, /** @type {string} */ key) => place?.[key], root);
    return variants(target ?? {}, root).map((one) => ({ ...one, ...own }));
  }
  const { oneOf, anyOf, ...own } = schema;
  const ways = oneOf ?? anyOf;
  return ways ? ways.flatMap((/** @type {Schema} */ one) => variants(one, root)).map((/** @type {Schema} */ one) => ({ ...own, ...one })) : [schema];
}

/** Those that the `type` of an object leaves. @param {Schema[]} schemas @param {Container} container */
function fitting(schemas, container) {
  const member = container.members.find(({ key }) => key === "type");
  const type = typeof member?.value === "string" ? unquoted(member.value) : null;
  const objects = schemas.filter((one) => container.kind === (one.type === "array" ? "array" : "object") && (one.properties || one.items || one.prefixItems || one.patternProperties));
  const left = objects.filter(({ properties }) => properties?.type?.const === undefined || properties.type.const === type);
  return left.length ? left : objects;
}

/** @param {Schema} schema of a container @param {string | number} key @returns {Schema[]} */
function below(schema, key) {
  if (typeof key === "number") return [schema.prefixItems?.[key] ?? schema.items].filter(Boolean);
  const pattern = Object.values(schema.patternProperties ?? {})[0];
  return [schema.properties?.[key] ?? pattern ?? (typeof schema.additionalProperties === "object" ? schema.additionalProperties : null)].filter(Boolean);
}

/** Schemas of the innermost container of a path. @param {{container: Container, key: string | number | null}[]} path @param {Schema} root */
function schemasAt(path, root) {
  let schemas = variants(root, root);
  path.forEach(({ container }, depth) => {
    const before = path[depth - 1];
    if (before) schemas = schemas.flatMap((one) => below(one, before.key ?? "")).flatMap((one) => variants(one, root));
    schemas = fitting(schemas, container);
  });
  return schemas;
}

/**
 * @param {string} text @param {number} at the cursor @param {Schema} root
 * @returns {{from: number, to: number, options: Option[]} | null} to replace from..to by
 */
export function suggest(text, at, root) {
  const { path, token, root: document } = read(text, at);
  const place = path[path.length - 1];
  if (!place) return null;
  const [from, to] = token ? [token.from, token.to] : [at, at];
  if (place.container.kind === "object" && (token ? token.isKey : place.key === null)) {
    const there = new Set(place.container.members.filter((member) => member.from !== from).map(({ key }) => key));
    const colon = /^\s*:/.test(text.slice(to));
    const known = new Map(schemasAt(path, root).flatMap((schema) => Object.entries(schema.properties ?? {})));
    const options = [...known].filter(([name]) => !there.has(name)).map(([name, schema]) => ({ label: `"${name}"`, apply: colon ? `"${name}"` : `"${name}": `, detail: typeOf(schema, root), info: schema.description ?? "" }));
    return options.length ? { from, to, options } : null;
  }
  const options = valuesFor(path, place, root, document);
  return options.length ? { from, to, options } : null;
}

/** @param {{container: Container, key: string | number | null}[]} path @param {{container: Container, key: string | number | null}} place @param {Schema} root @param {Container | null} document @returns {Option[]} */
function valuesFor(path, place, root, document) {
  const { key } = place;
  // the kind of an object is chosen among all, whatever it is now
  const free = key === "type" ? [...path.slice(0, -1), { ...place, container: { ...place.container, members: [] } }] : path;
  const schemas = schemasAt(free, root).flatMap((one) => below(one, key ?? "")).flatMap((one) => variants(one, root));
  const what = typeof key === "string" ? key : path[path.length - 2]?.key;
  const names = document && typeof what === "string" && NAMED[what] ? namesOf(document, NAMED[what]) : [];
  if (names.length && (what === "parent" || what === "child")) names.unshift("world");
  const values = schemas.flatMap((one) => (one.const !== undefined ? [one.const] : one.enum ?? (one.type === "boolean" ? [true, false] : one.default === undefined ? [] : [one.default])));
  const stubs = schemas.flatMap(({ type }) => (type === "object" ? ["{}"] : type === "array" ? ["[]"] : []));
  const texts = [...names.map((name) => JSON.stringify(name)), ...values.map((value) => JSON.stringify(value)), ...stubs];
  const info = schemas.find((one) => one.description)?.description ?? "";
  return [...new Set(texts)].filter((one) => one.length < 80).map((label) => ({ label, apply: label, detail: "", info }));
}

/** @param {Container} document @param {string} list @returns {string[]} */
function namesOf(document, list) {
  const found = document.members.find(({ key }) => key === list)?.value;
  if (!found || typeof found === "string") return [];
  if (found.kind === "object") return found.members.map(({ key }) => String(key));
  return found.members.flatMap(({ value }) => {
    const name = value && typeof value !== "string" ? value.members.find(({ key }) => key === "name")?.value : null;
    return typeof name === "string" ? [unquoted(name)] : [];
  });
}

/** @param {Schema} schema @param {Schema} root @returns {string} in a word or two */
function typeOf(schema, root) {
  const kinds = new Set(variants(schema, root).map((one) => (one.const !== undefined ? JSON.stringify(one.const) : one.enum ? "one of few" : one.type)).filter((kind) => kind && kind !== "null"));
  return kinds.size > 2 ? "one of several" : [...kinds].join(" or ");
}

/** What a member means. @param {string} text @param {number} at @param {Schema} root @returns {{from: number, to: number, text: string} | null} */
export function explain(text, at, root) {
  const { path, token } = read(text, at);
  const place = path[path.length - 1];
  if (!place || !token?.isKey) return null;
  const key = unquoted(text.slice(token.from, token.to));
  const found = schemasAt(path, root).map((schema) => schema.properties?.[key]).find((schema) => schema?.description);
  return found ? { from: token.from, to: token.to, text: found.description } : null;
}
