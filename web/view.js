/**
 * The scene in the view: ground, bodies, overlays, the hand that grabs, and a camera that keeps
 * moving bodies in sight.
 *
 * @import {Scene, Selection} from "./types.js"
 * @import {Numbers} from "./session.js"
 */
import * as THREE from "three";
import { Bodies } from "./bodies.js";
import { ContactShadows } from "./contact_shadows.js";
import { byId, setText } from "./dom.js";
import { Flashes } from "./flashes.js";
import { showForceScale } from "./force_scale.js";
import { length } from "./format.js";
import { Gizmo } from "./gizmo.js";
import { Ground } from "./ground.js";
import { Links } from "./links.js";
import { Moments } from "./timeline.js";
import { Overlays } from "./overlays.js";
import { pick } from "./pick.js";
import { Reflection } from "./reflection.js";
import { halfExtents, isBare, sizeOf, startBounds, startPoses } from "./shapes.js";
import { Sight } from "./sight.js";
import { Stage, VIEW_DIRECTION } from "./stage.js";
import { theme } from "./theme.js";

const CLICK_PX = 3; // a press that moves less is a click
/** What is drawn by extras.js. */
const EXTRAS = /** @type {const} */ (["trails", "boxes", "inertia", "islands", "names", "motors", "heat"]);

export class View {
  /** @param {(body: number | null) => void} onClick body under a click, null for none */
  constructor(onClick) {
    this.stage = new Stage(byId("stage", HTMLElement));
    this.stage.canvas.tabIndex = 0;
    this.stage.canvas.setAttribute("aria-label", "3D view: drag to turn, right drag to move, wheel to zoom, Ctrl+drag to pull a body. The outline lists the same bodies.");
    this.gizmo = new Gizmo(/** @type {SVGElement} */ (/** @type {unknown} */ (document.getElementById("gizmo"))), (direction) => this.stage.glide(() => this.stage.lookFrom(direction)));
    this.note = byId("stage-note", HTMLElement);
    this.scene = /** @type {Scene | null} */ (null);
    this.bodies = /** @type {Bodies | null} */ (null);
    this.ground = /** @type {Ground | null} */ (null);
    this.spots = /** @type {(ContactShadows | Reflection)[]} on the floor */ ([]);
    this.links = /** @type {Links | null} */ (null);
    this.overlays = /** @type {Overlays | null} */ (null);
    this.flashes = /** @type {Flashes | null} */ (null);
    this.memory = new Moments();
    /** @type {import("./extras.js").Extras | null} loaded when one of them is first shown */
    this.extras = null;
    /** @type {import("./session.js").Session | import("./stored.js").StoredRun | null} that is shown */
    this.session = null;
    /** @type {{body: number, text: string, step: number} | null} where the run failed */
    this.failure = null;
    /** @type {import("./ghost.js").Ghost | null} another run of the same scene */
    this.ghost = null;
    this.onRendered = /** @type {(() => void) | null} */ (null); // after each drawn frame: for videos
    this.poses = /** @type {Float32Array} */ (new Float32Array(0));
    this.loading = false;
    this.bounds = new THREE.Box3();
    this.size = 1;
    this.follow = true;
    this.sight = /** @type {Sight | null} */ (null);
    /** whether the camera stays as a link has set it, until the run goes on */
    this.held = false;
    this.shown = { contacts: false, normals: false, forces: false, friction: false, joints: false, centers: false, events: true, trails: false, boxes: false, inertia: false, islands: false, names: false, motors: false, heat: false };
    this.forceScale = 1;
    this.look = { transparent: false, wireframe: false, collision: false };
    this.watchClicks(onClick);
  }

  /** @param {(body: number | null) => void} onClick */
  watchClicks(onClick) {
    const { canvas } = this.stage;
    let start = { x: 0, y: 0, button: -1 };
    canvas.addEventListener("pointerdown", (event) => { start = { x: event.clientX, y: event.clientY, button: event.button }; });
    canvas.addEventListener("pointerup", (event) => {
      const moved = Math.hypot(event.clientX - start.x, event.clientY - start.y);
      if (start.button === 0 && moved < CLICK_PX && !event.ctrlKey) onClick(this.pick(event)?.body ?? null);
      start.button = -1;
    });
    canvas.addEventListener("dblclick", (event) => {
      const hit = this.pick(event);
      if (hit) this.stage.glide(() => this.frameBodies([hit.body]));
    });
  }

  get showsContacts() {
    return this.shown.contacts || this.shown.normals || this.shown.forces || this.shown.friction || this.shown.islands;
  }

  /** @param {Scene} scene */
  open(scene) {
    this.clear();
    this.scene = scene;
    this.poses = startPoses(scene);
    this.bounds = startBounds(scene);
    this.size = sizeOf(this.bounds);
    this.stage.begin((this.bodies = new Bodies(scene)).many);
    this.links = new Links(scene, this.size);
    this.overlays = new Overlays(scene, this.size);
    this.flashes = new Flashes(this.overlays.unit);
    this.memory = new Moments();
    this.extras = this.failure = this.session = null;
    this.stage.scene.add(this.bodies.root, this.links.root, this.overlays.root, this.flashes.root);
    this.bodies.setPoses(this.poses);
    this.links.setPoses(this.poses);
    this.makeGround();
    this.applyLook();
    this.sight = new Sight(this.stage, scene, this.bounds);
    this.settle();
    this.held = false;
    this.stage.frame(this.bounds, VIEW_DIRECTION.clone());
  }

  clear() {
    this.showGhost(null);
    this.clearSpots();
    for (const part of [this.bodies, this.links, this.ground, this.overlays, this.flashes, this.extras]) {
      if (!part) continue;
      this.stage.scene.remove(part.root);
      part.dispose();
    }
  }

  /** After the first picture, which would come later by the time their shader takes. */
  makeSpots() {
    const [floor] = this.ground?.floors ?? [];
    if (this.spots.length || !floor || !this.bodies) return;
    this.spots = [new ContactShadows(this.bodies.groups, floor, theme()), new Reflection(this.bodies.groups, floor, theme(), this.size)];
    for (const { root } of this.spots) this.stage.scene.add(root);
  }

  clearSpots() {
    for (const one of this.spots.splice(0)) {
      this.stage.scene.remove(one.root);
      one.dispose();
    }
  }

  /** @param {import("./ghost.js").Ghost | null} ghost */
  showGhost(ghost) {
    if (this.ghost) {
      if (this.stage.halves) this.stage.split(null);
      this.stage.scene.remove(this.ghost.root);
      this.ghost.dispose();
    }
    this.ghost = ghost;
    if (ghost) this.stage.scene.add(ghost.root);
  }

  /** Again with the colours of the theme. */
  makeGround() {
    if (!this.scene) return;
    this.clearSpots();
    if (this.ground) {
      this.stage.scene.remove(this.ground.root);
      this.ground.dispose();
    }
    this.ground = new Ground(this.scene, this.bounds, theme());
    this.stage.scene.add(this.ground.root);
    const bare = isBare(this.scene) && "No body has a shape: mass centres (M) and trails (L) show where they are.";
    setText(this.note, [this.scene.description, bare, `Grid\u00a0${length(this.ground.cell)}.`].filter(Boolean).join(" "));
  }

  /**
   * @param {import("./types.js").Frame} frame
   * @param {Float32Array} poses
   * @param {Selection | null} selection
   * @param {Numbers} numbers
   * @param {{time: number, now: number}} moment  s of the run, ms of the clock
   */
  show(frame, poses, selection, numbers, moment) {
    if (!this.bodies || !this.overlays || !this.flashes || poses.length !== this.poses.length) return;
    this.poses = poses;
    this.bodies.setPoses(poses);
    if (frame.asleep) this.bodies.setAsleep(frame.asleep);
    this.links?.setPoses(poses);
    this.ground?.setPoses(poses);
    this.flashes.shown = this.shown.events;
    this.flashes.update(moment.time, moment.now);
    Object.assign(this.overlays.shown, this.shown);
    this.overlays.forceScale = this.forceScale;
    this.overlays.update({ ...frame, contacts: numbers.contacts }, poses, selection);
    this.memory.remember(poses, moment.time);
    if (this.failure || EXTRAS.some((name) => this.shown[name])) this.loadExtras();
    this.extras?.update(poses, selection, numbers, { ...moment, step: frame.step });
    this.ghost?.update(moment.time, this.overlays);
    if (this.follow) this.keepInSight();
  }

  async loadExtras() {
    const { scene, extras } = this;
    if (extras || !scene || this.loading) return;
    this.loading = true;
    // a service that is away for a moment is asked again
    const module = await import("./extras.js").catch(() => null);
    this.loading = false;
    if (!module || this.scene !== scene) return;
    this.extras = new module.Extras(this);
    this.stage.scene.add(this.extras.root);
  }

  /** @param {number} body that it failed at, or -1 @param {number} step the last one before */
  markFailure(body, step) {
    if (body >= 0) this.failure = { body, text: "failed here", step };
  }

  showForceScale() {
    showForceScale(this.shown.forces || this.shown.friction ? this.overlays : null, this.stage);
  }

  /** @param {number} now ms @param {boolean} [steady] drawn at the rate of the screen */
  render(now, steady = false) {
    this.gizmo.update(this.stage.camera);
    this.stage.render(now, steady);
    this.makeSpots();
    this.extras?.names.place(this.poses);
    this.onRendered?.();
  }

  /** @param {number} body @param {Float32Array} [poses] */
  isLost(body, poses = this.poses) {
    return this.sight?.isLost(body, poses) ?? true;
  }

  keepInSight() {
    if (this.held) this.settle();
    else this.sight?.keep(this.poses);
  }

  /** From here on the camera follows: after it was set up anew. */
  settle() {
    this.sight?.settle(this.poses);
  }

  frameAll() {
    this.frameBodies((this.scene?.bodies ?? []).map((_, i) => i));
    this.settle();
  }

  /** @param {number[]} indices bodies @param {Float32Array} [poses] */
  frameBodies(indices, poses = this.poses) {
    const wanted = new Set(indices);
    const box = new THREE.Box3();
    for (const { body, shape, p } of this.bodies?.parts ?? []) {
      if (!wanted.has(body) || this.isLost(body, poses)) continue;
      const radius = Math.hypot(...(halfExtents(shape) ?? [0, 0, 0])) + p.length();
      const at = new THREE.Vector3().fromArray(poses, 7 * body);
      box.union(new THREE.Box3(at.clone().subScalar(radius), at.addScalar(radius)));
    }
    if (!box.isEmpty()) this.stage.frame(box);
  }

  /** @param {{clientX: number, clientY: number}} event @returns {{body: number, point: THREE.Vector3} | null} */
  pick(event) {
    const poses = this.ghost && this.stage.isRight(event) ? this.ghost.poses : this.poses;
    return this.bodies ? pick(this.stage.rayAt(event), this.bodies.parts, poses) : null;
  }

  /** @param {keyof View["look"]} name @param {boolean} on */
  setLook(name, on) {
    this.look[name] = on;
    this.applyLook();
  }

  applyLook() {
    const { transparent, wireframe, collision } = this.look;
    for (const { mesh, opacity, hidden } of this.bodies?.groups ?? []) {
      mesh.visible = collision || !hidden;
      const material = /** @type {THREE.MeshStandardMaterial} */ (mesh.material);
      const seen = Math.min(opacity, transparent ? 0.35 : 1);
      Object.assign(material, { transparent: seen < 1, wireframe, opacity: seen, depthWrite: seen === 1 });
      material.needsUpdate = true;
    }
  }
}
