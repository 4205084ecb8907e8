/**
 * REST calls, one function per route. Everything that is not 2xx becomes a ProblemError that carries
 * the problem document of the server, or one made here when the server cannot be reached.
 *
 * @import {BatchInfo, BatchResults, Example, Frame, Imported, Preview, Problem, RunSummary, Scene, SessionInfo, SimulationInfo, StudyInfo, Verification} from "./types.js"
 */
import { decodeFrame, decodeFrames } from "./decode.js";

const BASE = "/v1";

export class ProblemError extends Error {
  /** @param {Problem} problem */
  constructor(problem) {
    super(problem.detail || problem.title);
    this.problem = problem;
  }
}

/** What no answer means. @param {string} asked @returns {Problem} */
function unreachable(asked) {
  return { title: "The server does not answer", code: "unreachable", retryable: true, detail: `No answer from ${location.origin} to ${asked}. Is the service still running?` };
}

/**
 * What a person is told of an error: of the API, or of a part of the page that is loaded when it is first used and did not come.
 * @param {unknown} error @returns {Problem | null} null: a fault of the page
 */
export function problemOf(error) {
  if (error instanceof ProblemError) return error.problem;
  return error instanceof TypeError && /import/i.test(error.message) ? unreachable("what this part of the page needs") : null;
}

/**
 * @param {string} method
 * @param {string} path below /v1
 * @param {unknown} [body] sent as JSON; a form as it is
 * @param {{headers?: Record<string, string>, signal?: AbortSignal}} [how] the signal gives it up
 * @returns {Promise<Response>}
 */
export async function request(method, path, body, { headers: more = {}, signal } = {}) {
  /** @type {Record<string, string>} */
  const headers = { Accept: "application/json", ...more };
  const form = body instanceof FormData;
  if (body !== undefined && !form) headers["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(BASE + path, { method, headers, signal, body: form || body === undefined ? body : JSON.stringify(body) });
  } catch {
    throw new ProblemError(unreachable(`${method} ${BASE}${path}`));
  }
  if (!response.ok) throw new ProblemError(await readProblem(response));
  return response;
}

/** The service speaks of headers, which nobody can set who looks at a page. */
const LOCKED = "An API key is needed. A link for viewing shows one thing, until it has expired or was withdrawn. Whoever sent it can make another.";

/** @param {Response} response @returns {Promise<Problem>} */
async function readProblem(response) {
  const text = await response.text();
  try {
    const problem = JSON.parse(text);
    if (typeof problem?.title === "string") return response.status === 401 ? { ...problem, detail: LOCKED } : problem;
  } catch {
    // not JSON: a proxy in between, or a page of another server
  }
  return { title: `${response.status} ${response.statusText}`, status: response.status, detail: text.slice(0, 300) };
}

/** Whether runs can start; while they cannot, the problem says how far the service is. @returns {Promise<import("./types.js").Readiness>} */
export async function getReadiness() {
  const answer = await fetch("/readyz");
  return answer.json();
}

/** @type {Promise<import("./types.js").Comparing[]> | null} */
let comparisons = null;

/** A file of the page itself, asked for once unless it did not come. @returns {Promise<import("./types.js").Comparing[]>} */
export function listComparisons() {
  comparisons ??= fetch(new URL("./comparisons.json", import.meta.url)).then(async (answer) => {
    if (answer.ok) return (await answer.json()).comparisons;
    comparisons = null;
    return [];
  });
  comparisons.catch(() => { comparisons = null; });
  return comparisons;
}

/** @returns {Promise<Example[]>} */
export async function listExamples() {
  return (await (await request("GET", "/examples")).json()).items;
}

/** @returns {Promise<Record<string, string | null>>} of the service and of what it stands on; null: not installed */
export async function getVersions() {
  return (await request("GET", "/version")).json();
}

/** @returns {Promise<Verification>} */
export async function getVerification() {
  return (await request("GET", "/verification")).json();
}

/** @param {string} name @returns {string} */
export function plotUrl(name) {
  return `${BASE}/verification/plots/${encodeURIComponent(name)}`;
}

/** @returns {Promise<Record<string, any>>} the JSON Schema of scenes */
export async function getSceneSchema() {
  return (await request("GET", "/scenes/schema")).json();
}

/** @param {string} name @returns {Promise<Scene>} */
export async function getExample(name) {
  return (await request("GET", `/examples/${encodeURIComponent(name)}`)).json();
}

/**
 * What a session would say of it: nothing of it is recorded, so a long run of a large scene is no fault.
 * @param {unknown} scene a scene document
 * @returns {Promise<{valid: boolean, errors: import("./types.js").Fault[], warnings: import("./types.js").Fault[],
 *   preview: Preview | null, estimate: {seconds?: number} | null}>}
 */
export async function validateScene(scene) {
  return (await request("POST", "/scenes:validate?kind=session", scene)).json();
}

/**
 * @param {File[]} files a URDF or MJCF model with its meshes, or a zip of them
 * @param {{root: "fixed" | "free", ground: boolean}} options
 * @returns {Promise<Imported>}
 */
export async function importModel(files, { root, ground }) {
  const form = new FormData();
  for (const file of files) form.append("files", file, file.name);
  return (await request("POST", `/scenes:import?root=${root}&ground=${ground}`, form)).json();
}

/**
 * @param {unknown} scene a scene document or the name of an example
 * @param {{paused?: boolean, speed?: number | null, overrides?: Record<string, unknown>}} options
 * @returns {Promise<SessionInfo>}
 */
export async function createSession(scene, options) {
  return (await request("POST", "/sessions", { scene, ...options })).json();
}

/** @param {string} id @param {AbortSignal} [signal] @returns {Promise<SessionInfo>} */
export async function getSession(id, signal) {
  return (await request("GET", `/sessions/${encodeURIComponent(id)}`, undefined, { signal })).json();
}

/** Whether nobody answered. @param {unknown} error */
export function isUnreachable(error) {
  return error instanceof ProblemError && error.problem.code === "unreachable";
}

/**
 * What the browser measured for the last `getSession`: drawing does not delay it, as it would a timer here.
 * @param {string} id @returns {number | null} ms
 */
export function roundTrip(id) {
  const entries = performance.getEntriesByName(`${location.origin}${BASE}/sessions/${id}`, "resource");
  performance.clearResourceTimings();
  const last = /** @type {PerformanceResourceTiming | undefined} */ (entries[entries.length - 1]);
  return last && last.responseEnd > 0 ? last.responseEnd - last.requestStart : null;
}

/** @param {string} id @returns {Promise<Scene>} */
export async function getSessionScene(id) {
  return (await request("GET", `/sessions/${id}/scene`)).json();
}

/** @param {"sessions" | "simulations"} kind @param {string} id @returns {Promise<import("./masses.js").BodyMass[]>} of dynamic bodies */
export async function getMasses(kind, id) {
  return (await (await request("GET", `/${kind}/${id}/masses`)).json()).bodies;
}

/** @param {string} id @returns {Promise<import("./types.js").LoggedCommand[]>} accepted commands, oldest first */
export async function getCommands(id) {
  return (await (await request("GET", `/sessions/${id}/commands`)).json()).items;
}

/** @param {string} id @returns {Promise<{epoch: number, broken_joints: {joint: string}[], motor_targets: import("./types.js").MotorTarget[], gravity: number[]}>} and more */
export async function getSessionState(id) {
  return (await request("GET", `/sessions/${id}/state`)).json();
}

/** @param {string} id @param {number | null} step null: of the step ahead @returns {Promise<{rows: import("./residuals.js").ProblemRow[]}>} */
export async function getSessionProblem(id, step) {
  return (await request("GET", `/sessions/${id}/problem${step === null ? "" : `?step=${step}`}`)).json();
}

/** @param {string} id @returns {Promise<import("./types.js").RunSummary>} of the run so far */
export async function getSessionSummary(id) {
  return (await request("GET", `/sessions/${id}/summary`)).json();
}

/** @returns {Promise<SessionInfo[]>} those that live, oldest first */
export async function listSessions() {
  return (await (await request("GET", "/sessions?page_size=1000")).json()).items;
}

/** @param {string} id */
export async function deleteSession(id) {
  await request("DELETE", `/sessions/${id}`);
}

/** Ends a session unless somebody else looks at it. @param {string} id @param {string} viewer this page's id as a viewer */
export async function endUnlessViewed(id, viewer) {
  try {
    await request("DELETE", `/sessions/${id}?viewer=${encodeURIComponent(viewer)}`);
  } catch (error) {
    // others look on, or it is gone already: as good
    if (!(error instanceof ProblemError)) throw error;
  }
}

/**
 * @param {string} id
 * @param {number} from step
 * @param {number | null} to step; null: up to the newest
 * @param {number} stride every how-many-th kept frame
 * @param {readonly string[]} [channels] the same moments are computed again, with these
 * @returns {Promise<Frame[]>}
 */
export async function getFrames(id, from, to, stride, channels = []) {
  const path = `/sessions/${id}/frames?from=${from}&stride=${stride}${to === null ? "" : `&to=${to}`}${channels.length ? `&channels=${channels}` : ""}`;
  return decodeFrames(await (await request("GET", path, undefined, { headers: { Accept: "application/octet-stream" } })).arrayBuffer());
}

/** Exactly this step, with contacts: simulated again where it was not kept. @param {string} id @param {number} step @returns {Promise<Frame>} */
export async function getFrame(id, step) {
  return decodeFrame(await (await request("GET", `/sessions/${id}/frames/${step}`, undefined, { headers: { Accept: "application/octet-stream" } })).arrayBuffer());
}

/** @param {string} id @param {{step: number, paused: boolean, name?: string}} at @returns {Promise<SessionInfo>} a new session in exactly that state */
export async function forkSession(id, at) {
  return (await request("POST", `/sessions/${id}:fork`, at)).json();
}

/** @param {string} id @returns {Promise<Scene>} a stored scene, as it was written */
export async function getStoredScene(id) {
  return (await request("GET", `/scenes/${encodeURIComponent(id)}`)).json();
}

/** For people without a key. @param {"sessions" | "simulations" | "batches" | "scenes"} kind @param {string} id @param {string} name @returns {Promise<{url: string, expires_at: string}>} */
export async function createShare(kind, id, name) {
  return (await request("POST", `/${kind}/${id}/shares`, { name })).json();
}

/** @param {number} most @returns {Promise<SimulationInfo[]>} newest first */
export async function listSimulations(most) {
  return (await (await request("GET", `/simulations?page_size=${most}`)).json()).items;
}

/** Waits up to half a minute for its end. @param {{scene: Scene, name: string, overrides: Record<string, unknown>}} asked @returns {Promise<SimulationInfo>} */
export async function createSimulation(asked) {
  return (await request("POST", "/simulations", asked, { headers: { Prefer: "wait=30" } })).json();
}

/** @param {string} id @returns {Promise<SimulationInfo>} */
export async function getSimulation(id) {
  return (await request("GET", `/simulations/${encodeURIComponent(id)}`)).json();
}

/** @param {string} id @returns {Promise<Scene>} */
export async function getSimulationScene(id) {
  return (await request("GET", `/simulations/${encodeURIComponent(id)}/scene`)).json();
}

/** @param {string} id @returns {Promise<RunSummary>} */
export async function getSummary(id) {
  return (await request("GET", `/simulations/${id}/summary`)).json();
}

/** @param {string} id @param {number} stride every how-many-th recorded frame @returns {Promise<ArrayBuffer>} .npz */
export async function getTrajectory(id, stride) {
  const path = `/simulations/${id}/trajectory?format=npz${stride > 1 ? `&stride=${stride}` : ""}`;
  return (await request("GET", path, undefined, { headers: { Accept: "*/*" } })).arrayBuffer();
}

/** @param {string} id @returns {Promise<ArrayBuffer>} .glb, an animation */
export async function getGltf(id) {
  return (await request("GET", `/simulations/${id}/trajectory?format=gltf`, undefined, { headers: { Accept: "*/*" } })).arrayBuffer();
}

/** @param {number} most @returns {Promise<BatchInfo[]>} newest first */
export async function listBatches(most) {
  return (await (await request("GET", `/batches?page_size=${most}`)).json()).items;
}

/** @param {number} most @returns {Promise<StudyInfo[]>} newest first */
export async function listStudies(most) {
  return (await (await request("GET", `/studies?page_size=${most}`)).json()).items;
}

/** @param {string} id @returns {Promise<StudyInfo>} */
export async function getStudy(id) {
  return (await request("GET", `/studies/${id}`)).json();
}

/** @param {string} id of a study @returns {Promise<Scene>} with the best values */
export async function getStudyScene(id) {
  return (await request("GET", `/studies/${id}/scene`)).json();
}

/** @param {string} id @returns {Promise<BatchResults>} */
export async function getBatchResults(id) {
  return (await request("GET", `/batches/${encodeURIComponent(id)}/results?format=json`)).json();
}

/** @param {string} id @returns {string} */
export function streamUrl(id) {
  return `${location.protocol === "https:" ? "wss:" : "ws:"}//${location.host}${BASE}/sessions/${id}/stream`;
}
