/**
 * Renews vendor/: takes what the page needs out of node_modules (installed by `npm ci`, so the lock
 * file has checked every byte) and records version, licence, origin and sha256 in vendor/VENDOR.json.
 * Of three.js only what the modules of the page name is bundled, with what that needs: 141 kB of 204 (gzip).
 *
 *     npm ci && npm run vendor           rewrite vendor/
 *     node vendor.mjs --check            exit 1 when vendor/ differs from its record (needs no npm)
 */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, "vendor");

/** Modules of three.js whose classes the page names one by one. */
const ADDONS = { OrbitControls: "three/addons/controls/OrbitControls.js", ConvexGeometry: "three/addons/geometries/ConvexGeometry.js" };

/** `append` is the one change made to a copy: uPlot ships its minified build as a script, not as a module. */
const PARTS = [
  { package: "three", from: "LICENSE", to: "three/LICENSE" },
  { package: "uplot", from: "dist/uPlot.iife.min.js", to: "uplot/uPlot.min.js", append: "\nexport default uPlot;\n" },
  { package: "uplot", from: "dist/uPlot.min.css", to: "uplot/uPlot.min.css" },
  { package: "uplot", from: "LICENSE", to: "uplot/LICENSE" },
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

/** @returns {Promise<string[]>} what the modules of the page name of three.js, types in comments aside */
async function namesOfThree() {
  const three = await import("three");
  const code = readdirSync(here).filter((name) => name.endsWith(".js"))
    .map((name) => readFileSync(join(here, name), "utf8").replace(/\/\*[^]*?\*\//g, "")).join("\n");
  const named = new Set([...code.matchAll(/\bTHREE\.(\w+)/g)].map((match) => match[1]));
  return [...named].filter((name) => name in three).sort();
}

/** @param {string[]} names @returns {Promise<Buffer>} one module that exports them and the add-ons */
async function bundled(names) {
  const { build } = await import("esbuild");
  const lines = [`export { ${names.join(", ")} } from "three";`, ...Object.entries(ADDONS).map(([name, from]) => `export { ${name} } from "${from}";`)];
  const { outputFiles } = await build({
    stdin: { contents: lines.join("\n"), resolveDir: here }, bundle: true, minify: true, write: false, format: "esm", legalComments: "inline" });
  return Buffer.from(outputFiles[0].contents);
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
  rmSync(target, { recursive: true, force: true });
  const packages = new Map();
  const copies = PARTS.map((part) => {
    const root = join(here, "node_modules", part.package);
    const about = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    packages.set(part.package, { name: about.name, version: about.version, license: about.license, homepage: about.homepage });
    const data = Buffer.concat([readFileSync(join(root, part.from)), Buffer.from(part.append ?? "")]);
    return { ...write(part.to, data), package: part.package, from: part.from, appended: part.append?.trim() ?? null };
  });
  const esbuild = JSON.parse(readFileSync(join(here, "node_modules", "esbuild", "package.json"), "utf8")).version;
  const files = [{ ...write("three/three.min.js", bundle), package: "three", bundled_by: `esbuild ${esbuild}`, exports: [...names, ...Object.keys(ADDONS)] }, ...copies];
  const record = { made_by: "web/vendor.mjs", packages: [...packages.values()], files };
  writeFileSync(join(target, "VENDOR.json"), `${JSON.stringify(record, null, 2)}\n`);
}

if (process.argv.includes("--check")) check();
else await renew();
