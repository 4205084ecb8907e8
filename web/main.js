/**
 * Wires the rooms; the only file that knows all others. Each drawn frame: what is shown now (timeline),
 * bodies and overlays (view), acknowledgement (stream), then panels and plots at their own pace.
 *
 * @import {Example, Scene, Selection, SessionInfo, Vec3} from "./types.js"
 */
import * as api from "./api.js";
import { keyBindings } from "./bindings.js";
import { Charts } from "./charts.js";
import { byId, icon, make } from "./dom.js";
import { Gallery } from "./gallery.js";
import { GrabTool } from "./grab.js";
import { Happenings } from "./happenings.js";
import { installHooks } from "./hooks.js";
import { Inspector } from "./inspector.js";
import * as keys from "./keys.js";
import { showNote, showProblem } from "./messages.js";
import { Motors } from "./motors.js";
import { Opening } from "./opening.js";
import { Outline } from "./outline.js";
import { overlayToggles } from "./overlay_toggles.js";
import { Readouts } from "./readouts.js";
import { SceneDialog } from "./scene_dialog.js";
import { Session } from "./session.js";
import { SessionsDialog } from "./sessions_dialog.js";
import { targetsOf } from "./targets.js";
import { watchTheme } from "./theme.js";
import { Transport } from "./transport.js";
import { VerificationDialog } from "./verification.js";
import { View } from "./view.js";

const PANEL_MS = 100;
const BACKFILL_FRAMES = 400;
const FRAMES_PER_SECOND = 60; // of the history, at real time

export class Page {
  constructor() {
    /** @type {Session | null} */
    this.session = null;
    /** @type {string | null} name of the shown example */
    this.example = null;
    /** @type {Selection | null} */
    this.selection = null;
    this.drawn = { step: 0, time: 0, at: 0, panels: 0, slowest: 0 };
    this.view = new View((body) => this.select(body === null ? null : { kind: "body", index: body }));
    this.outline = new Outline((selection) => this.select(selection));
    this.inspector = new Inspector();
    this.happenings = new Happenings((step, text) => this.transport.addEvent(step, "break", text));
    this.motors = new Motors((joint, axis, target) => this.session?.command("set_motor", { joint, axis, target }));
    this.charts = new Charts((time) => this.session?.seek(time / this.session.dt));
    this.transport = new Transport(() => this.session);
    this.readouts = new Readouts();
    this.opening = new Opening(this);
    this.sceneDialog = new SceneDialog(() => this.session?.scene ?? null, (scene) => this.openScene(scene, null));
    this.sessionsDialog = new SessionsDialog(() => this.session?.id ?? null, (id) => this.opening.join(id, null, { push: true }));
    this.verification = new VerificationDialog();
    /** @type {Gallery | null} */
    this.gallery = null;
    this.grab = new GrabTool(this.view.stage, {
      pick: (event) => this.pickMovable(event),
      onGrab: (body, point) => this.grabBody(body, point),
      onMove: (target) => this.session?.stream.notify("grab_move", { target }),
      onRelease: () => this.session?.command("release"),
    });
    this.theme = watchTheme(() => {
      this.view.makeGround();
      this.charts.restyle();
      this.gallery?.showPictures();
    });
    this.toggles = overlayToggles(this.view);
    this.wireButtons();
    const bindings = keyBindings(this);
    keys.listen(bindings);
    byId("help-keys", HTMLElement).append(...keys.describe(bindings).flatMap(([name, does]) => [make("dt", {}, name), make("dd", {}, does)]));
  }

  wireButtons() {
    const click = (/** @type {string} */ id, /** @type {() => unknown} */ action) => byId(id, HTMLButtonElement).addEventListener("click", action);
    click("open-scene", () => this.sceneDialog.open());
    click("open-sessions", () => this.sessionsDialog.open());
    click("open-verification", () => this.verification.open());
    click("copy-curl", () => this.copyCurl());
    byId("theme", HTMLButtonElement).append(icon("theme"));
    click("theme", () => this.theme.toggle());
    click("help", () => byId("help-dialog", HTMLDialogElement).showModal());
    click("frame-view", () => this.view.frameAll());
    click("pull", () => {
      this.grab.always = !this.grab.always;
      byId("pull", HTMLButtonElement).setAttribute("aria-pressed", String(this.grab.always));
    });
    click("follow", () => {
      this.view.follow = !this.view.follow;
      byId("follow", HTMLButtonElement).setAttribute("aria-pressed", String(this.view.follow));
    });
  }

  async start() {
    requestAnimationFrame((now) => this.draw(now));
    this.outline.draw();
    const listing = this.listExamples();
    listing.then((examples) => {
      this.gallery = new Gallery(examples, (name) => this.openScene(name, name));
      this.gallery.mark(this.example);
    });
    await this.opening.start(listing);
  }

  /** @returns {Promise<Example[]>} */
  async listExamples() {
    return api.listExamples().catch((error) => {
      this.failed(error);
      return [];
    });
  }

  /**
   * By a click: another entry of the browser's history.
   * @param {unknown} scene a scene document, or the name of an example
   * @param {string | null} example
   */
  openScene(scene, example) {
    return this.opening.open(scene, example, { push: true });
  }

  /** @param {number} by */
  openNeighbour(by) {
    const name = this.gallery?.neighbour(this.example, by);
    if (name) this.openScene(name, name);
  }

  /** @param {SessionInfo} info @param {Scene} scene @param {string | null} example */
  async show(info, scene, example) {
    this.session?.close();
    this.example = example;
    this.selection = null;
    this.view.open(scene);
    this.outline.open(scene);
    this.outline.mark(null);
    this.inspector.open(scene);
    this.motors.open(scene);
    this.happenings.open(scene);
    this.charts.clear();
    this.transport.clear();
    this.gallery?.mark(example);
    const name = scene.name || example || "unnamed scene";
    byId("scene-name", HTMLElement).textContent = name;
    document.title = `${name} – Cardan`;
    const session = new Session(info, scene);
    this.listen(session);
    this.session = session;
    this.readMotors(session);
    if (info.step > 0) await this.backfill(session);
  }

  /** @param {Session} session */
  listen(session) {
    session.on("frame", (frame) => {
      this.charts.push(frame);
      this.happenings.add(frame.happenings ?? []);
      if (session.mode === "live") this.view.flashes?.add(frame.happenings ?? []);
    });
    session.on("mode", () => this.view.flashes?.clear());
    session.on("problem", (problem) => showProblem(problem));
    session.on("idle", (text) => showNote(text));
    session.on("failure", ({ code, message, detail }) => showProblem({ title: "The simulation failed", code: code ?? "engine_diverged", detail: message ?? detail }));
    session.on("state", (state) => {
      // a slow browser skips frames; the server has kept them all
      if (state === "paused" || state === "finished" || state === "failed") this.backfill(session);
    });
    session.on("epoch", () => {
      this.charts.clear();
      this.transport.clear();
      this.happenings.clear();
      this.view.flashes?.clear();
      this.readMotors(session);
    });
    session.on("connection", ({ status, detail }) => {
      this.readouts.connection = status;
      if (status === "closed") showProblem({ title: "The session is over", code: "session_closed", detail }, { label: "Run its scene again", run: () => this.opening.again(session) });
    });
    session.on("event", (event) => {
      if (event.type === "command" && event.command === "set_motor" && event.client_id !== session.stream.clientId) {
        this.motors.set(event.arguments.joint, event.arguments.axis ?? 0, event.arguments.target);
      }
      if (event.type === "state") return;
      this.transport.addEvent(event.step, event.type, `${event.type} at step ${event.step}`);
      if (event.type === "worker_lost") showNote("The simulation process was lost; it starts again from its last snapshot.");
    });
  }

  /** Motor targets as commands have left them. @param {Session} session */
  async readMotors(session) {
    this.motors.setAll(new Map());
    const [log, snapshots] = await Promise.all([api.getCommands(session.id), api.getSnapshots(session.id)]).catch(() => [[], []]);
    if (this.session === session) this.motors.setAll(targetsOf(log, snapshots, session.epoch));
  }

  /** What happened before this page joined, for the plots. @param {Session} session */
  async backfill(session) {
    const kept = (session.edge.step - session.history.from) * session.dt * FRAMES_PER_SECOND;
    const stride = Math.max(1, Math.ceil(kept / BACKFILL_FRAMES));
    const frames = await api.getFrames(session.id, session.history.from, null, stride).catch(() => []);
    if (this.session !== session || frames[0]?.epoch !== session.epoch) return;
    this.charts.clear();
    for (const frame of frames) this.charts.push(frame);
  }

  /** @param {number} now ms */
  draw(now) {
    requestAnimationFrame((next) => this.draw(next));
    const began = performance.now();
    const { session, drawn } = this;
    this.transport.advance(Math.min(200, now - drawn.at));
    const shown = session?.timeline.sample(performance.now()) ?? null;
    if (session && shown) {
      this.view.show(shown.frame, shown.poses, this.selection, session.numbers, { time: shown.time, now });
      this.grab.update(session.numbers.grab);
      Object.assign(drawn, { step: shown.frame.step, time: shown.time });
    }
    this.view.render(now);
    session?.stream.acknowledge();
    if (now - drawn.panels > PANEL_MS) {
      drawn.panels = now;
      this.drawPanels(now, shown);
    }
    drawn.at = now;
    drawn.slowest = Math.max(0.98 * drawn.slowest, performance.now() - began);
  }

  /** @param {number} now @param {{frame: import("./types.js").Frame, poses: Float32Array} | null} shown */
  drawPanels(now, shown) {
    const { session, drawn } = this;
    this.readouts.update(session, drawn, now);
    this.transport.update(drawn);
    if (!session || !shown) return;
    session.setNeeds({
      contacts: this.view.showsContacts || this.selection?.kind === "body",
      joints: this.motors.rows.length > 0 || this.selection?.kind === "joint",
    });
    const speed = this.selection?.kind === "body" ? session.timeline.velocity(this.selection.index) : null;
    this.inspector.update(this.selection, { ...shown, speed }, session.numbers);
    this.motors.update(session.numbers, drawn.time);
    this.happenings.update();
    this.charts.update(now, drawn.time);
  }

  /** @param {Selection | null} selection */
  select(selection) {
    this.selection = selection;
    this.view.bodies?.select(selection?.kind === "body" ? selection.index : -1);
    this.outline.mark(selection);
  }

  /** @param {PointerEvent} event */
  pickMovable(event) {
    const hit = this.view.pick(event);
    const movable = hit && this.session?.mode === "live" && (this.session.scene.bodies[hit.body].type ?? "dynamic") === "dynamic";
    return movable ? hit : null;
  }

  /** @param {number} body @param {Vec3} point */
  async grabBody(body, point) {
    const { session } = this;
    if (!session) return;
    this.select({ kind: "body", index: body });
    if (!(await session.command("grab", { body: session.scene.bodies[body].name, point }))) this.grab.release();
  }

  async copyCurl() {
    if (!this.session) return;
    const text = api.asCurl(this.example, this.session.scene);
    try {
      await navigator.clipboard.writeText(text);
      showNote("Copied: the shown scene as a call with curl.");
    } catch {
      showProblem({ title: "The clipboard is not open to this page", detail: text });
    }
  }

  /** @param {unknown} error */
  failed(error) {
    if (error instanceof api.ProblemError) showProblem(error.problem);
    else throw error;
  }
}

const page = new Page();
installHooks(page);
page.start();
