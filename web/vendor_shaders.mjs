/**
 * What the page needs of the shaders of three.js: those of the materials it names, without the branches for maps, skins,
 * environments and coats, which it never switches on. Text of a shader is one string in the bundle, so a bundler cannot see
 * that nobody asks for it. A material that needs more than this does not compile, and the tests of pictures say so.
 */
import { readFileSync } from "node:fs";

/** Of `MeshBasicMaterial` and `LineBasicMaterial`, `MeshStandardMaterial`, `MeshDepthMaterial`. */
const WANTED = ["meshbasic", "meshphysical", "depth"].flatMap((name) => [`${name}_vert`, `${name}_frag`]);

/** What three.js defines for properties of materials and scenes that the page never sets. */
const NEVER = new Set(`
  USE_MAP USE_ALPHAMAP USE_ALPHAHASH USE_AOMAP USE_LIGHTMAP USE_BUMPMAP USE_NORMALMAP USE_NORMALMAP_TANGENTSPACE USE_NORMALMAP_OBJECTSPACE
  USE_EMISSIVEMAP USE_SPECULARMAP USE_ROUGHNESSMAP USE_METALNESSMAP USE_DISPLACEMENTMAP USE_ENVMAP ENVMAP_TYPE_CUBE_UV USE_FOG
  USE_LIGHT_PROBES USE_LIGHT_PROBES_GRID USE_BATCHING USE_BATCHING_COLOR USE_SKINNING USE_MORPHTARGETS USE_MORPHNORMALS USE_MORPHCOLORS USE_INSTANCING_MORPH
  USE_TRANSMISSION USE_TRANSMISSIONMAP USE_THICKNESSMAP USE_DISPERSION USE_IRIDESCENCE USE_IRIDESCENCEMAP USE_IRIDESCENCE_THICKNESSMAP
  USE_CLEARCOAT USE_CLEARCOATMAP USE_CLEARCOAT_ROUGHNESSMAP USE_CLEARCOAT_NORMALMAP USE_SHEEN USE_SHEEN_COLORMAP USE_SHEEN_ROUGHNESSMAP
  USE_ANISOTROPY USE_ANISOTROPYMAP USE_SPECULAR USE_SPECULAR_COLORMAP USE_SPECULAR_INTENSITYMAP USE_LOGARITHMIC_DEPTH_BUFFER`.trim().split(/\s+/));

/** @param {string} condition of an `#if` @returns {boolean | null} null: not known before the shader is compiled */
function knownOf(condition) {
  const never = (/** @type {string} */ part) => NEVER.has(/^\s*defined\s*\(\s*(\w+)\s*\)\s*$/.exec(part)?.[1] ?? "");
  const either = condition.split("||");
  if (either.every(never)) return false;
  return either.length === 1 && condition.split("&&").some(never) ? false : null;
}

/** Without the branches that are never compiled. @param {string} shader @returns {string} */
export function branchesCompiled(shader) {
  /** @type {{known: boolean | null, kept: boolean}[]} of the conditions about a line */
  const open = [];
  const kept = (/** @type {typeof open} */ about) => about.every((one) => one.kept);
  return shader.split("\n").filter((line) => {
    const [, word, rest] = /^\s*#(ifdef|ifndef|if|elif|else|endif)\b\s*(.*)$/.exec(line) ?? [];
    if (!word) return kept(open);
    if (word.startsWith("if")) {
      const seen = kept(open);
      const known = word === "if" ? knownOf(rest) : NEVER.has(rest.trim()) ? word === "ifndef" : null;
      open.push({ known, kept: known !== false });
      return known === null && seen;
    }
    const last = open[open.length - 1];
    if (word === "endif") open.pop();
    else if (word === "elif" && last.known !== null) {
      if (last.known || knownOf(rest) !== false) throw new Error(`an #elif that would have to become an #if: ${rest}`);
    }
    else if (last.known !== null) last.kept = !last.kept;
    return last.known === null && kept(word === "endif" ? open : open.slice(0, -1));
  }).join("\n");
}

/** @param {string} source of three.js @returns {string} with empty texts for the shaders nobody needs */
export function withShadersNeeded(source) {
  const [, list] = /^const ShaderChunk = \{([^}]*)\}/m.exec(source) ?? [];
  /** @type {Map<string, {place: RegExp, text: string}>} */
  const chunks = new Map();
  for (const [, name, variable] of list.matchAll(/(\w+): ([\w$]+)/g)) {
    const place = new RegExp(`(?<=^(?:var|const) ${variable.replace("$", "\\$")} = )"(?:[^"\\\\]|\\\\.)*"(?=;$)`, "m");
    const [text] = place.exec(source) ?? [];
    if (text === undefined) throw new Error(`three.js has no text for the shader ${name}`);
    chunks.set(name, { place, text: branchesCompiled(JSON.parse(text)) });
  }
  /** @type {Set<string>} */
  const needed = new Set();
  const include = (/** @type {string} */ name) => {
    if (needed.has(name)) return;
    needed.add(name);
    for (const [, other] of chunks.get(name)?.text.matchAll(/#include <(\w+)>/g) ?? []) include(other);
  };
  WANTED.forEach(include);
  // of tone mapping and colour spaces, which every program begins with
  for (const [, name] of source.matchAll(/ShaderChunk\[ '(\w+)' \]/g)) include(name);
  for (const [name, { place, text }] of chunks) source = source.replace(place, () => JSON.stringify(needed.has(name) ? text : ""));
  return source;
}

/** For esbuild. */
export const SHADERS_NEEDED = { name: "shaders-needed", setup: (/** @type {any} */ { onLoad }) => onLoad(
  { filter: /[\\/]three\.module\.js$/ }, (/** @type {{path: string}} */ { path }) => ({ contents: withShadersNeeded(readFileSync(path, "utf8")), loader: "js" })) };
