/**
 * Handing work on: a link to this moment, a picture, a video, a page that plays the run, an animation, numbers, the scene,
 * the run as a call.
 */
import { createShare, createSimulation, getGltf, problemOf } from "./api.js";
import { copied, download, make, openDialog } from "./dom.js";
import { count, seconds, single } from "./format.js";
import { tellIn } from "./messages.js";
import { momentLink } from "./moment_link.js";
import { csvOf } from "./plot_table.js";
import { isRecording, pictureOf, startVideo, stopVideo, videoType } from "./film.js";

/** Moments of a file of numbers: five minutes at 60 a second. */
const MAX_MOMENTS = 18_000;
/** Of an animation. */
const FRAMES_PER_SECOND = 60;
/** What the page shows, as the service lists it. */
const SHARED = /** @type {const} */ ({ session: "sessions", run: "simulations", scene: "scenes" });
const POSE = ["px [m]", "py [m]", "pz [m]", "qw", "qx", "qy", "qz"];

/** @param {import("./main.js").Page} page */
export function openShare(page) {
  const { session } = page;
  if (!session) return;
  const said = make("p", { "aria-live": "polite" }, `At ${seconds(page.frame?.time ?? 0, session.dt)}, step ${page.drawn.step}.`);
  const say = (/** @type {string} */ text) => { said.textContent = text; };
  const name = (session.scene.name || page.example || "scene").replaceAll(/[^\p{L}\p{N}]+/gu, "-");
  const copy = async (/** @type {string} */ text, /** @type {string} */ what) => {
    preview.value = text;
    preview.hidden = false;
    const words = (await copied(text)) ? `Copied: ${what}.` : `The clipboard is not open to this page; here is ${what}.`;
    say(words);
    return words;
  };
  const working = async (/** @type {string} */ text, /** @type {() => Promise<string>} */ run) => {
    say(text);
    await run().then(say, (error) => tellIn(said, error, problemOf(error)?.detail ?? (error instanceof Error ? error.message : String(error))));
  };
  const preview = /** @type {HTMLTextAreaElement} */ (make("textarea", { readonly: true, rows: 5, hidden: true, "aria-label": "What was copied" }));
  const link = momentLink(page);
  /** @type {[string, string, () => unknown][]} */
  const ways = [
    ["Link to this moment", "run, time, camera, selection, overlays and plots", () => copy(link, "the link to this moment")],
    ["View-only link", `for people without a key: they watch this ${session.kind === "scene" ? "scene" : "run"} and change nothing, for 7 days`, () => working("The link is made…", async () => {
      const { url } = await createShare(SHARED[session.kind], session.id, "from the page");
      return copy(location.origin + url, "a link for viewing");
    })],
    ["Picture", "the view as PNG", async () => download(`${name}.png`, await pictureOf(page.view))],
    ["Web page", "one file that plays the run without a server", () => working("The page is put together…", async () => {
      const { webPageOf } = await import("./export_html.js");
      const { blob, frames, every } = await webPageOf(page);
      download(`${name}.html`, blob);
      return `Saved: ${(blob.size / 1e6).toFixed(1)} MB, ${count(frames, "moment")}${every > 1 ? `, one of ${every} that there are` : ""}.`;
    })],
    ["glTF animation", session.kind === "run" ? "the run for Blender and others, as GLB" : "for Blender and others, as GLB: the scene simulated from its start to this time, without commands", () => working("The animation is made…", async () => {
      download(`${name}.glb`, new Blob([await getGltf(await recordedId(page))], { type: "model/gltf-binary" }));
      return "Saved.";
    })],
    ["Numbers", page.selection ? "of the selection over the whole run, as CSV" : "of all bodies over the whole run, as CSV", () => working("Fetching the history…", async () => {
      download(`${name}.csv`, new Blob([await selectionCsv(page)], { type: "text/csv" }));
      return "Saved.";
    })],
    ["Scene", "as JSON", () => download(`${name}.json`, new Blob([JSON.stringify(session.scene, null, 1)], { type: "application/json" }))],
    ["curl", "the run as a call from a shell", () => copy(asCurl(page.example, session.scene), "the run as a call with curl")],
    ["Python", "the run as a script", () => copy(asPython(page.example, session.scene), "the run as a Python script")],
    ["Notebook cell", session.kind === "run" ? "plays this run in Jupyter" : "runs the scene and plays it in Jupyter", () => copy(asNotebook(session.kind === "run" ? session.id : null, page.example, session.scene), "a cell for a notebook")],
  ];
  const items = ways.map(([label, words, run]) => make("li", {}, make("button", { type: "button", onclick: () => run() }, label), make("span", { class: "muted" }, words)));
  const film = make("button", { type: "button", onclick: () => toggleFilm(page, name, say, film) }, isRecording() ? "Stop the video" : "Start a video");
  if (videoType()) items.splice(2, 0, make("li", {}, film, make("span", { class: "muted" }, "of the view, until you stop it")));
  openDialog("share-dialog", "Share", said, make("ul", { class: "ways" }, ...items), preview);
}

/** A simulation that has the run: the stored one, else the scene simulated anew. @param {import("./main.js").Page} page @returns {Promise<string>} */
async function recordedId({ session }) {
  if (!session) throw new Error("There is no run to keep.");
  if (session.kind === "run") return session.id;
  const { scene, edge, dt } = session;
  const info = await createSimulation({ scene, name: `${scene.name || "scene"}: animation`,
    overrides: { "/record": { rate: FRAMES_PER_SECOND, channels: ["pose"] }, "/simulation/duration": Math.max(edge.time, dt) } });
  if (info.finished_at === null) throw new Error("It takes longer than half a minute; it will be in the list of runs: open it there and come back.");
  return info.id;
}

/** @param {import("./main.js").Page} page @param {string} name @param {(text: string) => void} say @param {HTMLElement} button */
async function toggleFilm(page, name, say, button) {
  if (!isRecording()) {
    startVideo(page.view);
    button.textContent = "Stop the video";
    say("Recording. Close this dialog, show what you want, and come back to stop.");
    return;
  }
  const film = await stopVideo(page.view).catch((error) => say(`There is no video: ${error.message}`));
  button.textContent = "Start a video";
  if (!film) return;
  download(`${name}.${film.type.startsWith("video/mp4") ? "mp4" : "webm"}`, film);
  say(`Saved: ${(film.size / 1e6).toFixed(1)} MB.`);
}

/** @param {import("./main.js").Page} page @returns {Promise<string>} */
async function selectionCsv({ session, selection }) {
  if (!session) return "";
  const frames = await session.frames(MAX_MOMENTS);
  const { scene } = session;
  if (selection?.kind === "joint") {
    const rows = frames.flatMap((frame) => (frame.joints ?? []).filter((row) => row.joint === selection.index).map((row) => [frame.time, frame.step, row.coordinate, ...[row.q, row.qd, row.motorForce].map(single)]));
    return csvOf(["time [s]", "step", "coordinate", "q", "qd", "motor_force"], transposed(rows, 6));
  }
  const bodies = selection ? [selection.index] : scene.bodies.map((_, i) => i);
  const rows = frames.flatMap(({ time, step, poses }) => (poses ? bodies.map((body) => {
    const [px, py, pz, qx, qy, qz, qw] = poses.subarray(7 * body, 7 * body + 7);
    return [time, step, body, ...[px, py, pz, qw, qx, qy, qz].map(single)];
  }) : []));
  const text = csvOf(["time [s]", "step", "body", ...POSE], transposed(rows, 10));
  // names instead of numbers: they may hold commas
  const [head, ...lines] = text.trimEnd().split("\n");
  const quoted = scene.bodies.map(({ name }) => (/[",\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name));
  return [head, ...lines.map((line) => line.replace(/^([^,]*,[^,]*),(\d+)/, (_, when, body) => `${when},${quoted[Number(body)]}`)), ""].join("\n");
}

/** @param {(number | null)[][]} rows @param {number} width */
function transposed(rows, width) {
  return Array.from({ length: width }, (_, k) => rows.map((row) => row[k]));
}

/**
 * The scene as a call anybody can repeat without the page.
 * @param {string | null} example its name, or null for a scene that is no example
 * @param {import("./types.js").Scene} scene
 */
function asCurl(example, scene) {
  const body = JSON.stringify({ scene: example ?? scene }).replaceAll("'", "'\\''");
  return `curl -sS '${location.origin}/v1/simulations' \\\n  -H 'Content-Type: application/json' -H 'Prefer: wait=30' \\\n  -d '${body}'`;
}

/** @param {string | null} example @param {import("./types.js").Scene} scene */
function asPython(example, scene) {
  const source = example ? `cardan.example_text(${JSON.stringify(example)})` : `r"""${JSON.stringify(scene)}"""`;
  return `import cardan\n\nscene = cardan.load_scene(${source})\nrecording, summary = cardan.run(scene)\nprint(summary["verdict"]["status"])\nprint(recording.tables()["bodies"]["px"][:4])\n`;
}

/** With the Python client. @param {string | null} run id of a stored one @param {string | null} example @param {import("./types.js").Scene} scene @returns {string} */
function asNotebook(run, example, scene) {
  const source = example ? JSON.stringify(example) : `json.loads(r"""${JSON.stringify(scene)}""")`;
  return `import json\nfrom cardan_client import Client\n\nclient = Client(${JSON.stringify(location.origin)})\nclient.display(${run ? JSON.stringify(run) : `client.run(${source})`})\n`;
}
