/**
 * A run as one web page that needs no server and no network: its poses, shapes and plots with the modules of this page that
 * draw them. The modules stand in an import map as `data:` addresses, which every browser also loads from a file.
 *
 * @import {Frame, Scene} from "./types.js"
 */

/** Poses that are kept before compression, and files larger than that are not made [bytes]. */
const MAX_POSES = 24e6;
const MAX_FILE = 32e6;
const FRAMES = 18_000;
/** Plots, points of each, and colours of curves. */
const MAX_PLOTS = 8;
const MAX_POINTS = 1500;
const INKS = 4;
const POSE = 7;
const FIRST = "player.js";

/**
 * @param {import("./main.js").Page} page
 * @returns {Promise<{blob: Blob, frames: number, every: number}>} every: which of the moments that the run keeps are in it
 */
export async function webPageOf({ session, view, example, charts }) {
  if (!session) throw new Error("There is no run to keep.");
  const { scene } = session;
  const moving = scene.bodies.flatMap((body, i) => (body.type === "static" && !comesAndGoes(scene, body) ? [] : [i]));
  const room = Math.max(2, Math.floor(MAX_POSES / (4 * POSE * Math.max(1, moving.length))));
  const all = (await session.frames(Math.min(FRAMES, room))).filter((frame) => frame.poses);
  if (!all.length) throw new Error("Nothing was recorded yet.");
  const { frames, every } = thinned(all, room);
  const { camera, controls } = view.stage;
  const title = scene.name || example || "scene";
  const run = { title, scene: drawn(scene), times: frames.map(({ time }) => time), moving, poses: await packed(frames, moving),
    camera: [...camera.position.toArray(), ...controls.target.toArray()], plots: plotsOf(charts) };
  const { imports, three } = await modules();
  const blob = new Blob([htmlOf(title, scene.description ?? "", JSON.stringify(run), imports, three)], { type: "text/html" });
  if (blob.size > MAX_FILE) throw new Error(`The page would have ${(blob.size / 1e6).toFixed(0)} MB; ${MAX_FILE / 1e6} MB are allowed. The trajectory as a file has no such limit.`);
  return { blob, frames: frames.length, every };
}

/** @param {Scene} scene @param {Scene["bodies"][number]} body */
function comesAndGoes({ triggers = [] }, { name, present, appears, vanishes }) {
  return present === false || appears != null || vanishes != null || triggers.some((one) => one.do.some((action) => ["appear", "vanish"].includes(action.op) && action.body === name));
}

/**
 * Not more moments than there is room for, the first among them.
 * @template T @param {T[]} all @param {number} room @returns {{frames: T[], every: number}}
 */
export function thinned(all, room) {
  const every = Math.max(1, Math.ceil(all.length / room));
  return { frames: all.filter((_, i) => i % every === 0), every };
}

/** The plots that were chosen, else the energy: as the page shows them. @param {import("./charts.js").Charts} charts @returns {import("./player_plots.js").KeptPlot[]} */
function plotsOf({ pinned, standard }) {
  const round = (/** @type {number} */ value) => +value.toPrecision(6);
  return (pinned.length ? pinned : standard.slice(0, 1)).filter(({ series }) => series.times.length > 1).slice(0, MAX_PLOTS).map(({ kind, log, series }) => {
    const { every } = thinned(series.times, MAX_POINTS);
    const kept = (/** @type {(number | null)[]} */ column) => column.filter((_, i) => i % every === 0).map((value) => (value === null ? null : round(value)));
    return { title: kind.title, log, times: /** @type {number[]} */ (kept(series.times)),
      curves: kind.curves.map(({ label, like }, i) => ({ label, ink: (like ?? i) % INKS, dashed: like !== undefined, values: kept(series.values[i]) })) };
  });
}

/** What the player draws, and nothing else. @param {Scene} scene @returns {Scene} */
function drawn({ name, bodies, joints, meshes }) {
  const kept = bodies.map(({ name: body, type, position, orientation, shapes, visuals, mass, density, center_of_mass }) => ({ name: body, type, position, orientation, shapes, visuals, mass, density, center_of_mass }));
  return /** @type {Scene} */ ({ name, bodies: kept, joints, meshes });
}

/** @param {Frame[]} frames @param {number[]} moving @returns {Promise<string>} */
async function packed(frames, moving) {
  const values = new Float32Array(frames.length * moving.length * POSE);
  frames.forEach(({ poses }, i) => moving.forEach((body, k) => values.set(/** @type {Float32Array} */ (poses).subarray(POSE * body, POSE * (body + 1)), POSE * (i * moving.length + k))));
  const short = new Blob([values]).stream().pipeThrough(new CompressionStream("gzip"));
  return base64(new Uint8Array(await new Response(short).arrayBuffer()));
}

/** @param {Uint8Array} bytes */
function base64(bytes) {
  let text = "";
  for (let i = 0; i < bytes.length; i += 0x8000) text += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(text);
}

/**
 * The player and what it imports, each under its name. Names of the page's import map are those of the files behind
 * them, so that a file that has several names is there once.
 * @returns {Promise<{imports: Record<string, string>, three: string}>} three: the licence of three.js
 */
async function modules() {
  const map = JSON.parse(document.querySelector('script[type="importmap"]')?.textContent ?? "{}").imports ?? {};
  const addressOf = (/** @type {string} */ name, /** @type {string} */ from) => (name.startsWith("./") ? new URL(name, from) : new URL(map[name], document.baseURI)).href;
  const nameOf = (/** @type {string} */ address) => `cardan/${address.split("/").pop()}`;
  /** @type {Map<string, string>} */
  const sources = new Map();
  const waiting = [new URL(`./${FIRST}`, import.meta.url).href];
  for (let address = waiting.pop(); address; address = waiting.pop()) {
    if (sources.has(address)) continue;
    const answer = await fetch(address);
    if (!answer.ok) throw new Error(`A part of the page could not be read: ${address}`);
    const here = address;
    const source = (await answer.text()).replace(/^(import .*? from )"([^"]+)";/gm, (_, start, name) => {
      const target = addressOf(name, here);
      waiting.push(target);
      return `${start}"${nameOf(target)}";`;
    });
    sources.set(address, source);
  }
  const encode = (/** @type {string} */ text) => `data:text/javascript;base64,${base64(new TextEncoder().encode(text))}`;
  const licence = await fetch(new URL("./vendor/three/LICENSE.txt", import.meta.url));
  return { imports: Object.fromEntries([...sources].map(([address, source]) => [nameOf(address), encode(source)])), three: await licence.text() };
}

/** @param {string} text as text of HTML */
function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}

/** @param {string} json within a script: no end tag, no comment */
function inert(json) {
  return json.replaceAll("<", "\\u003c");
}

/** @param {string} title @param {string} words @param {string} run @param {Record<string, string>} imports @param {string} licence */
function htmlOf(title, words, run, imports, licence) {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="dark light">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline' data:; style-src 'unsafe-inline'; img-src data: blob:; connect-src 'none'">
<title>${escaped(title)} – Cardan</title>
<!--
A run of Cardan, played by three.js:
${licence.replaceAll("--", "- -")}
-->
<style>
:root { --bg: #14191d; --text: #e6ebef; --line: #28313a; --top: #2a333c; --bottom: #12171b; --muted: #9aa7b2; --ink0: #6fb7e6; --ink1: #f0a04b; --ink2: #e6ebef; --ink3: #ff8fb1; }
@media (prefers-color-scheme: light) { :root { --bg: #fbfcfd; --text: #182028; --line: #d3dae1; --top: #fbfcfd; --bottom: #d9dfe4; --muted: #52606d; --ink0: #0b6296; --ink1: #b35c00; --ink2: #182028; --ink3: #a8326e; } }
* { box-sizing: border-box; } html, body { height: 100%; margin: 0; }
body { display: grid; grid-template-rows: auto minmax(0, 1fr) auto auto; background: var(--bg); color: var(--text); font: 14px/1.45 system-ui, sans-serif; }
header, footer { display: flex; gap: 14px; align-items: center; padding: 8px 14px; flex-wrap: wrap; } h1 { font-size: 15px; margin: 0; } p { margin: 0; color: var(--muted); font-size: 12px; }
main { position: relative; overflow: hidden; background: radial-gradient(120% 90% at 50% 28%, var(--top), var(--bottom)); } canvas { position: absolute; inset: 0; width: 100%; height: 100%; touch-action: none; }
button, select { font: inherit; padding: 4px 12px; min-width: 72px; border: 1px solid var(--line); border-radius: 6px; background: none; color: inherit; } option { color: #000; } #time { flex: 1; min-width: 140px; } #said { font-variant-numeric: tabular-nums; }
#plots { display: flex; gap: 12px; overflow-x: auto; padding: 6px 14px 0; } #plots:empty { display: none; } figure { flex: 1 0 300px; max-width: 640px; margin: 0; } figcaption { font-size: 12px; font-weight: 600; } figcaption span { font-weight: 400; margin-left: 8px; color: var(--ink); }
svg { width: 100%; display: block; cursor: pointer; } svg text { font-size: 10.5px; fill: var(--muted); } .grid { stroke: var(--line); } .now { stroke: var(--ink1); } .curve { fill: none; stroke: var(--ink); stroke-width: 1.5; } .dashed { stroke-dasharray: 5 4; }
.ink0 { --ink: var(--ink0); } .ink1 { --ink: var(--ink1); } .ink2 { --ink: var(--ink2); } .ink3 { --ink: var(--ink3); }
</style>
<script type="importmap">${inert(JSON.stringify({ imports }))}</script>
</head>
<body>
<header><h1>${escaped(title)}</h1><p>${escaped(words)}</p></header>
<main id="stage" aria-label="3D view"></main>
<section id="plots" aria-label="Plots" tabindex="0"></section>
<footer>
<button type="button" id="play">Pause</button>
<input type="range" id="time" min="0" max="0" value="0" step="1" aria-label="Moment shown">
<output id="said"></output>
<label>Speed <select id="speed"><option value="0.125">1/8×</option><option value="0.25">1/4×</option><option value="0.5">1/2×</option><option value="1" selected>1×</option><option value="2">2×</option><option value="4">4×</option></select></label>
</footer>
<script type="application/json" id="run">${inert(run)}</script>
<script type="module">import "cardan/${FIRST}";</script>
</body>
</html>
`;
}
