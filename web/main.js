/**
 * Wires the rooms; the only file that knows all others. Each drawn frame: what is shown now (timeline),
 * bodies and overlays (view), acknowledgement (stream), then panels and plots at their own pace.
 *
 * @import {Session} from "./session.js"
 * @import {StoredRun} from "./stored.js"
 * @import {Example, Selection, Vec3} from "./types.js"
 */
import * as api from "./api.js";
import { keyBindings } from "./bindings.js";
import { wireButtons } from "./buttons.js";
import { Charts } from "./charts.js";
import { byId, lastAsked } from "./dom.js";
import { Gallery } from "./gallery.js";
import { GrabTool } from "./grab.js";
import { Happenings } from "./happenings.js";
import { installHooks } from "./hooks.js";
import { Inspector } from "./inspector.js";
import * as keys from "./keys.js";
import { Late } from "./late.js";
import { catchUp, listen, readLog, tellFailures } from "./listen.js";
import { showProblem } from "./messages.js";
import { loadMasses } from "./masses.js";
import { Motors } from "./motors.js";
import { Opening } from "./opening.js";
import { Outline } from "./outline.js";
import { overlayToggles } from "./overlay_toggles.js";
import { Pace } from "./pace.js";
import { Readouts } from "./readouts.js";
import { watchTheme } from "./theme.js";
import { Transport } from "./transport.js";
import { View } from "./view.js";

const PANEL_MS = 100;
const IDLE_MS = 1000; // between pictures of the view where nothing moves

export class Page {
  constructor() {
    /** @type {Session | StoredRun | null} */
    this.session = null;
    /** @type {string | null} name of the shown example */
    this.example = null;
    /** @type {Selection | null} */
    this.selection = null;
    this.drawn = /** @type {Record<"step" | "time" | "at" | "panels" | "slowest" | "pictured", number>} the moment in the view, and when [ms] */ ({ step: 0, time: 0, at: 0, panels: 0, slowest: 0, pictured: 0 });
    /** @type {import("./types.js").Frame | null} in the view */
    this.frame = null;
    /** the newest filling of the plots; an older one gives up */
    this.filling = {};
    this.pace = new Pace((now) => this.draw(now));
    /** @type {import("./arrange.js").Arrangement | null} the scene as it starts is in the view, and is changed there */
    this.arrangement = null;
    this.view = new View((body) => {
      if (!this.arrangement?.holds) this.select(body === null ? null : { kind: "body", index: body });
    });
    this.outline = new Outline((selection) => this.select(selection));
    this.inspector = new Inspector((key) => this.charts.toggle(key));
    this.happenings = new Happenings(({ step, kind, joint }, text) => {
      this.transport.addEvent(step, kind, text);
      if (kind === "break") this.motors.lose(joint);
    });
    this.motors = new Motors(async (joint, axis, target) => await this.session?.command("set_motor", { joint, axis, target }) ?? true, () => readLog(this));
    this.late = new Late(this);
    this.charts = new Charts((time) => this.session?.seek(time / this.session.dt, true), () => this.backfill());
    this.transport = new Transport(() => this.session, this.drawn);
    this.readouts = new Readouts(() => this.session);
    this.opening = new Opening(this);
    /** @type {Promise<import("./scene_dialog.js").SceneDialog> | null} loaded when it is opened */
    this.sceneDialog = null;
    /** @type {import("./sessions_dialog.js").SessionsDialog | null} loaded when it is opened */
    this.sessionsDialog = null;
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
    wireButtons(this);
    // a hidden page is sent little of what happens
    document.addEventListener("visibilitychange", () => { if (!document.hidden && this.session?.running) catchUp(this); });
    this.bindings = keyBindings(this);
    keys.listen(this.bindings, async () => (await lastAsked(import("./palette.js")))?.openPalette(this));
  }

  async start() {
    tellFailures();
    this.pace.start();
    const listing = this.listExamples();
    Promise.all([listing, api.listComparisons().catch(() => [])]).then(([examples, comparisons]) => {
      this.gallery = new Gallery(examples, (name) => this.openScene(name, name), comparisons, (one) => this.opening.compare(one));
      this.gallery.mark(this.example);
    });
    await this.opening.start(listing);
    if (!this.session) this.tellEmpty();
  }

  /** Nothing could be opened. */
  tellEmpty() {
    this.outline.draw();
    const words = { "scene-name": "No scene", "run-state": "no session", inspector: "No scene is open." };
    for (const [id, text] of Object.entries(words)) byId(id, HTMLElement).textContent = text;
  }

  /** @returns {Promise<Example[]>} */
  async listExamples() {
    return api.listExamples().catch(async (error) => {
      // a link for viewing shows one run, batch or stored scene; if it does not, that is said already
      const keyless = error instanceof api.ProblemError && error.problem.status === 401;
      if (!keyless) this.failed(error);
      else if (!/^#(session|run|batch|share)=|^#scene=(scene_|.*&session=)/.test(location.hash)) (await lastAsked(import("./key.js")))?.askForKey();
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

  loadSceneDialog() {
    this.sceneDialog ??= import("./scene_dialog.js").then(({ sceneDialog }) => sceneDialog(this, (scene) => this.openScene(scene, null)));
    // a service that is away for a moment is asked again
    this.sceneDialog.catch(() => { this.sceneDialog = null; });
    return this.sceneDialog;
  }

  /** @param {File[]} [files] that were dropped on the page */
  async openSceneDialog(files = []) {
    this.arrangement?.cancel();
    const dialog = await lastAsked(this.loadSceneDialog());
    dialog?.open();
    return dialog?.read(files);
  }

  /** Bodies and joints are moved in the view, or no longer. */
  async arrange() {
    if (this.arrangement) this.arrangement.cancel();
    else this.arranged(await this.late.loadArrangement());
  }

  /** @param {import("./arrange.js").Arrangement | null} arrangement */
  arranged(arrangement) {
    this.arrangement = arrangement;
    byId("arrange", HTMLButtonElement).setAttribute("aria-pressed", String(arrangement !== null));
  }

  /** @param {Parameters<import("./sessions_dialog.js").SessionsDialog["open"]>} why */
  async openSessions(...why) {
    const { SessionsDialog } = await import("./sessions_dialog.js");
    this.sessionsDialog ??= new SessionsDialog(() => this.session?.id ?? null, (id) => this.opening.join(id, null, { push: true }), showProblem);
    return this.sessionsDialog.open(...why);
  }

  /** @param {number} by */
  openNeighbour(by) {
    const name = this.gallery?.neighbour(this.example, by);
    if (name) this.openScene(name, name);
  }

  /** What comes as soon as it can be shown: as it starts, without time. @param {Promise<import("./types.js").Scene>} coming @param {string} [name] */
  async showComing(coming, name = "unnamed scene") {
    const scene = await coming.catch(() => null);
    if (!scene || this.session) return;
    this.view.open(scene);
    this.outline.open(scene);
    byId("scene-name", HTMLElement).textContent = scene.name || name;
  }

  /** @param {Session | StoredRun} session @param {string | null} example */
  async show(session, example) {
    const { scene } = session;
    this.arrangement?.end();
    this.session?.close();
    this.late.comparison?.end();
    this.example = example;
    this.selection = null;
    this.toggles.restore();
    this.view.open(scene);
    this.outline.open(scene);
    this.outline.mark(null);
    this.inspector.open(scene);
    this.motors.open(session.stored ? { ...scene, joints: [] } : scene);
    this.late.openPose(scene, session.stored);
    this.happenings.open(scene);
    this.charts.open(scene);
    this.transport.open(session);
    Object.assign(this.drawn, { step: 0, time: 0 }); // the view shows the scene as it starts, until the first frame
    this.gallery?.mark(example);
    const name = (session.stored && session.title) || scene.name || example || "unnamed scene";
    byId("scene-name", HTMLElement).textContent = name;
    for (const id of ["bottom", "stage-tools"]) byId(id, HTMLElement).inert = false;
    document.title = `${name} – Cardan`;
    this.readouts.connection = session.stored ? "open" : "connecting";
    listen(this, session);
    this.session = this.view.session = session;
    readLog(this);
    if (session.edge.step > 0) await this.backfill();
  }

  /** What the plots and the list of events have missed: what happened before this page joined, or in frames it did not get. */
  async backfill() {
    const { session } = this;
    if (!session) return;
    if (this.charts.needs.masses) await loadMasses(session).catch((error) => this.failed(error));
    const token = this.filling = {};
    const stride = session.stored ? 1 : session.strideOf();
    /** @type {import("./types.js").Frame[]} */
    const frames = await session.frames().catch(() => []);
    // a stride may leave out the newest one
    const { latest } = session.timeline;
    if (latest && frames.length && latest.step > frames[frames.length - 1].step && latest.epoch === session.epoch) frames.push(latest);
    const stale = () => this.filling !== token || this.session !== session || frames[0]?.epoch !== session.epoch;
    if (stale()) return;
    this.charts.refill(frames);
    for (const frame of frames) this.happenings.add(frame.happenings ?? [], { told: frame.step <= session.joined });
    if (session.stored) return;
    const { recall } = await import("./recall.js");
    await recall(session, frames, stride, this.charts.needs, stale, () => this.charts.refill(frames)).catch(() => {});
  }

  /** @param {number} now ms */
  isAwake(now) {
    return this.pace.isAwake(now) || this.view.onRendered !== null;
  }

  /** @param {number} now ms */
  draw(now) {
    this.pace.next(this.isAwake(now));
    const began = performance.now();
    const { session, drawn } = this;
    this.transport.advance(Math.min(200, now - drawn.at));
    const shown = (!this.arrangement && session?.timeline.sample(began)) || null;
    if (session && shown) {
      if (shown.frame !== this.frame || shown.time !== drawn.time) this.pace.wake();
      this.frame = shown.frame;
      this.view.show(shown.frame, shown.poses, this.selection, session.numbers, { time: shown.time, now });
      this.grab.update(session.numbers.grab);
      Object.assign(drawn, { step: shown.frame.step, time: shown.time });
    }
    this.view.showForceScale();
    const awake = this.isAwake(now);
    if (awake || now - drawn.pictured > IDLE_MS) {
      drawn.pictured = now;
      this.view.render(now, awake);
    }
    session?.stream.acknowledge();
    // a button stays under the finger that presses it: panels may grow or shrink
    if (now - drawn.panels > PANEL_MS && !document.querySelector(":is(button,summary,[type=checkbox]):active")) {
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
    this.transport.update();
    if (this.arrangement) this.inspector.update(this.selection, this.arrangement.shown, this.arrangement.shown.numbers, null);
    if (!session || !shown) return;
    const plotted = this.charts.needs;
    session.setNeeds({
      friction: this.view.shown.friction,
      contacts: this.view.showsContacts || this.selection?.kind === "body" || plotted.contacts,
      joints: this.motors.rows.length > 0 || this.view.shown.motors || this.late.pose?.needs || this.selection?.kind === "joint" || plotted.joints,
      momentum: !this.selection || plotted.momentum,
      velocities: this.selection?.kind === "body" || plotted.velocities,
      reactions: this.selection?.kind === "joint" || plotted.reactions,
    });
    this.inspector.pinned = this.charts.keys;
    this.late.comparison?.update(drawn.time);
    this.inspector.update(this.selection, shown, session.numbers, this.readouts.verdict.summary);
    this.motors.update(session.numbers, drawn.time);
    this.late.pose?.update();
    this.happenings.update();
    this.charts.believe(this.readouts.verdict.summary);
    this.transport.horizon = this.charts.trust?.step ?? null;
    this.charts.update(now, drawn.time);
  }

  /** @param {Selection | null} selection */
  select(selection) {
    this.selection = selection;
    this.view.bodies?.select(selection?.kind === "body" ? selection.index : -1);
    this.outline.mark(selection);
    this.arrangement?.take(selection);
    // for its momentum in the inspector; a service that is away is asked again with the next selection
    if (selection?.kind === "body" && this.session) loadMasses(this.session).catch(() => {});
  }

  /** @param {PointerEvent} event */
  pickMovable(event) {
    const hit = this.arrangement || this.view.stage.isRight(event) ? null : this.view.pick(event);
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

  /** @param {unknown} error */
  failed(error) {
    const problem = api.problemOf(error);
    if (!problem) throw error;
    showProblem(problem);
  }
}

const page = new Page();
installHooks(page);
page.start();
