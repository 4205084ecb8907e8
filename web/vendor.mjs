/**
 * Renews vendor/: copies what the page needs out of node_modules (installed by `npm ci`, so the lock
 * file has checked every byte) and records version, licence, origin and sha256 in vendor/VENDOR.json.
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

/**
 * Minified where the package itself ships a minified file; nothing is minified here.
 * `append` is the one change made to a file: uPlot ships its minified build as a script, not as a module.
 */
const PARTS = [
  { package: "three", from: "build/three.module.min.js", to: "three/three.module.min.js" },
  { package: "three", from: "build/three.core.min.js", to: "three/three.core.min.js" },
  { package: "three", from: "examples/jsm/controls/OrbitControls.js", to: "three/addons/controls/OrbitControls.js" },
  { package: "three", from: "examples/jsm/geometries/ConvexGeometry.js", to: "three/addons/geometries/ConvexGeometry.js" },
  { package: "three", from: "examples/jsm/math/ConvexHull.js", to: "three/addons/math/ConvexHull.js" },
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

function renew() {
  rmSync(target, { recursive: true, force: true });
  const packages = new Map();
  const files = PARTS.map((part) => {
    const root = join(here, "node_modules", part.package);
    const about = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    packages.set(part.package, { name: about.name, version: about.version, license: about.license, homepage: about.homepage });
    const data = Buffer.concat([readFileSync(join(root, part.from)), Buffer.from(part.append ?? "")]);
    const path = join(target, part.to);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, data);
    return { path: part.to, package: part.package, from: part.from, appended: part.append?.trim() ?? null,
      bytes: data.length, sha256: sha256(data) };
  });
  const record = { made_by: "web/vendor.mjs", packages: [...packages.values()], files };
  writeFileSync(join(target, "VENDOR.json"), `${JSON.stringify(record, null, 2)}\n`);
}

if (process.argv.includes("--check")) check();
else renew();
