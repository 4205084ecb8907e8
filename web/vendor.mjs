/**
 * Renews vendor/: takes what the page needs out of node_modules (installed by `npm ci`, so the lock
 * file has checked every byte) and records version, licence, origin and sha256 in vendor/VENDOR.json.
 * Of three.js only what the modules of the page name is bundled, with what that needs (vendor_shaders.mjs: of its shaders too): 128 kB of 204 (gzip); handles that
 * move bodies (`TransformControls`) are a file of their own, which comes with them and shares the classes of that bundle.
 * The parts of CodeMirror that `scene_text.js` names are one bundle, loaded with the editor; the licence of every
 * package in it stands beside it.
 *
 *     npm ci && npm run vendor           rewrite vendor/
 *     node vendor.mjs --check            exit 1 when vendor/ differs from its record (needs no npm)
 */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { SHADERS_NEEDED } from "./vendor_shaders.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, "vendor");

/** Modules of three.js whose classes the page names one by one. */
const ADDONS = { OrbitControls: "three/addons/controls/OrbitControls.js", ConvexGeometry: "three/addons/geometries/ConvexGeometry.js" };

/** Modules of three.js in a file of their own: loaded when they are used. */
const LATER = { TransformControls: "three/addons/controls/TransformControls.js" };

/** `append` is the one change made to a copy: uPlot ships its minified build as a script, not as a module. */
const PARTS = [
  { package: "three", from: "LICENSE", to: "three/LICENSE.txt" },
  { package: "uplot", from: "dist/uPlot.iife.min.js", to: "uplot/uPlot.min.js", append: "\nexport default uPlot;\n" },
  { package: "uplot", from: "dist/uPlot.min.css", to: "uplot/uPlot.min.css" },
  { package: "uplot", from: "LICENSE", to: "uplot/LICENSE.txt" },
];

/** @param {string | Buffer} data */
const sha256 = (data) => createHash("sha256").update(data).digest("hex");

/** @param {string} folder @returns {string[]} paths of all files below `folder`, relative to it */
function filesBelow(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(folder.length + 1).replaceAll("\\", "/"))
    .sort();
}

function check() {
  const record = JSON.parse(readFileSync(join(target, "VENDOR.json"), "utf8"));
  const expected = new Map(record.files.map((file) => [file.path, file.sha256]));
  const found = filesBelow(target).filter((path) => path !== "VENDOR.json");
  const faults = found.filter((path) => expected.get(path) !== sha256(readFileSync(join(target, path))));
  faults.push(...[...expected.keys()].filter((path) => !found.includes(path)));
  for (const path of faults) console.error(`vendor/${path}: not what VENDOR.json records`);
  process.exit(faults.length ? 1 : 0);
}

/** @returns {Promise<string[]>} what the modules of the page, and those that come later, name of three.js, types in comments aside */
async function namesOfThree() {
  const three = await import("three");
  const later = Object.values(LATER).flatMap((name) => {
    const from = join(here, "node_modules", name.replace("/addons/", "/examples/jsm/"));
    return /^import \{([^}]*)\} from 'three';/m.exec(readFileSync(from, "utf8"))[1].match(/\w+/g);
  });
  const code = readdirSync(here).filter((name) => name.endsWith(".js"))
    .map((name) => readFileSync(join(here, name), "utf8").replace(/\/\*[^]*?\*\//g, "")).join("\n");
  const named = new Set([...code.matchAll(/\bTHREE\.(\w+)/g)].map((match) => match[1]).concat(later));
  return [...named].filter((name) => name in three).sort();
}

/** @param {string[]} names @returns {Promise<Buffer>} one module that exports them and the add-ons; its shaders without indentation */
async function bundled(names) {
  const { build } = await import("esbuild");
  const lines = [`export { ${names.join(", ")} } from "three";`, ...Object.entries(ADDONS).map(([name, from]) => `export { ${name} } from "${from}";`)];
  const { outputFiles } = await build({
    stdin: { contents: lines.join("\n"), resolveDir: here }, bundle: true, minify: true, write: false, format: "esm", plugins: [SHADERS_NEEDED], legalComments: "inline" });
  return Buffer.from(outputFiles[0].text.replace(/\n[\t ]+/g, "\n"));
}

/** What is imported from three.js stays an import. */
const FROM_BUNDLE = { name: "from-bundle", setup: (/** @type {any} */ { onResolve }) => onResolve({ filter: /^three$/ }, () => ({ path: "three", external: true })) };

/** @param {string} name @param {string} from @returns {Promise<Buffer>} a module of three.js that takes all else from the bundle */
async function apart(name, from) {
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    stdin: { contents: `export { ${name} } from "${from}";`, resolveDir: here }, bundle: true, minify: true, write: false, format: "esm", plugins: [FROM_BUNDLE], legalComments: "inline" });
  return Buffer.from(outputFiles[0].contents);
}

/** @returns {Promise<{data: Buffer, exports: string[], packages: string[]}>} what `scene_text.js` imports of CodeMirror, and of whom it is */
async function codemirror() {
  const { build } = await import("esbuild");
  const code = readFileSync(join(here, "scene_text.js"), "utf8");
  const imports = [...code.matchAll(/^import (\{.*\}) from "(@codemirror\/[^"]+|@lezer\/[^"]+)";$/gm)];
  const lines = imports.map(([, names, from]) => `export ${names} from "${from}";`);
  const { outputFiles, metafile } = await build({
    stdin: { contents: lines.join("\n"), resolveDir: here }, bundle: true, minify: true, write: false, metafile: true, format: "esm", legalComments: "inline" });
  const packages = Object.keys(metafile.inputs).flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []);
  const exports = imports.flatMap(([, names]) => names.match(/\w+/g)).sort();
  return { data: Buffer.from(outputFiles[0].contents), exports, packages: [...new Set(packages)].sort() };
}

/** @param {string} name @returns {{name: string, version: string, license: string, homepage?: string}} */
function about(name) {
  const { version, license, homepage, repository } = JSON.parse(readFileSync(join(here, "node_modules", name, "package.json"), "utf8"));
  return { name, version, license, homepage: homepage ?? repository?.url };
}

/** @param {string} path below vendor/ @param {Buffer} data */
function write(path, data) {
  const file = join(target, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, data);
  return { path, bytes: data.length, sha256: sha256(data) };
}

async function renew() {
  const names = await namesOfThree();
  const bundle = await bundled(names);
  const editor = await codemirror();
  const later = await Promise.all(Object.entries(LATER).map(async ([name, from]) => ({ name, data: await apart(name, from) })));
  rmSync(target, { recursive: true, force: true });
  const licences = editor.packages.map((name) => ({ package: name, from: "LICENSE", to: `${name}/LICENSE.txt` }));
  const copies = [...PARTS, ...licences].map((part) => {
    const data = Buffer.concat([readFileSync(join(here, "node_modules", part.package, part.from)), Buffer.from(part.append ?? "")]);
    return { ...write(part.to, data), package: part.package, from: part.from, appended: part.append?.trim() ?? null };
  });
  const by = `esbuild ${about("esbuild").version}`;
  const files = [
    { ...write("three/three.min.js", bundle), package: "three", bundled_by: by, exports: [...names, ...Object.keys(ADDONS)] },
    ...later.map(({ name, data }) => ({ ...write(`three/${name}.min.js`, data), package: "three", bundled_by: by, exports: [name] })),
    { ...write("codemirror.min.js", editor.data), packages: editor.packages, bundled_by: by, exports: editor.exports },
    ...copies];
  const packages = [...new Set(copies.map((copy) => copy.package))].map(about);
  const record = { made_by: "web/vendor.mjs", packages, files };
  writeFileSync(join(target, "VENDOR.json"), `${JSON.stringify(record, null, 2)}\n`);
}

if (process.argv.includes("--check")) check();
else await renew();
