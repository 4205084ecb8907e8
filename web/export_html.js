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
  const { stage: { camera, controls }, sight } = view;
  const title = scene.name || example || "scene";
  const run = { title, scene: drawn(scene), times: frames.map(({ time }) => time), moving, poses: await packed(frames, moving),
    camera: [...camera.position.toArray(), ...controls.target.toArray()],
    home: view.follow && sight?.home ? [...sight.home.toArray(), sight.spread] : null, plots: plotsOf(charts) };
  const { imports, three } = await modules();
  const html = await htmlOf({ title: escaped(title), words: escaped(scene.description ?? ""), licence: three.replaceAll("--", "- -"),
    imports: inert(JSON.stringify({ imports })), run: inert(JSON.stringify(run)) });
  const blob = new Blob([html], { type: "text/html" });
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

/**
 * `player.html` with its parts; one pass, so that a part may hold whatever stands for another.
 * @param {Record<string, string>} parts
 */
async function htmlOf(parts) {
  const answer = await fetch(new URL("./player.html", import.meta.url));
  if (!answer.ok) throw new Error("A part of the page could not be read: player.html");
  return (await answer.text()).replace(/\{\{(\w+)\}\}/g, (_, name) => parts[name]);
}
