/**
 * Arranging a scene: the chosen body, or the anchor and the axes of a joint, is moved and turned by handles in the
 * view or by numbers. Every change is one of the text in the editor, where it is undone like any other; the run in
 * the view stays as it is until the scene is applied, which starts it anew. Loaded when it is used.
 *
 * @import {Scene, Selection} from "./types.js"
 */
import * as THREE from "three";
import { TransformControls } from "three/addons/controls/TransformControls.js";
import { validateScene } from "./api.js";
import { ArrangeBar } from "./arrange_bar.js";
import { byId, setText } from "./dom.js";
import { brief, quantity } from "./format.js";
import { COLORS } from "./overlays.js";
import { fieldsOf, placeOf, waysOf } from "./placing.js";
import { withFields } from "./scene_fields.js";

const DEGREES = 180 / Math.PI;
/** Steps of the handles: tenths of the cells of the grid, and angles [degrees]. */
const SNAP = { cells: 0.1, angle: 15 };
/** Share of the half width and height of the view within which handles have room. */
const INSIDE = 0.7;
/** Of a turn as three numbers: about the axes of W, x first. */
const FIXED_AXES = "ZYX";
const TITLES = { move: ["x", "y", "z"], turn: ["roll", "pitch", "yaw"], axis: ["axis x", "axis y", "axis z"] };
const NOTHING = { contacts: null, joints: null, energy: null, solver: null, grab: null, momentum: null, velocities: null, reactions: null };

/** @typedef {"move" | "turn"} Way */

/** @param {import("./main.js").Page} page @param {import("./scene_dialog.js").SceneDialog} dialog @returns {Promise<Arrangement | null>} null: the scene that is written has faults, which are shown */
export async function arrange(page, dialog) {
  const scene = dialog.written();
  if (!scene) return null;
  const report = await validateScene(scene).catch((error) => page.failed(error));
  if (!report) return null;
  if (report.valid) return new Arrangement(page, dialog, scene);
  dialog.open();
  dialog.show(report.errors ?? [], report.warnings ?? []);
  return null;
}

export class Arrangement {
  /** @param {import("./main.js").Page} page @param {import("./scene_dialog.js").SceneDialog} dialog @param {Scene} scene without faults */
  constructor(page, dialog, scene) {
    this.page = page;
    this.text = dialog.text;
    this.dialog = dialog;
    this.scene = scene;
    /** changes of the text from before: they are not undone here, nor done again, which may be no scene */
    this.before = this.text.depth;
    /** @type {Way} */
    this.way = "move";
    /** handles along the axes of the body, not of W */
    this.own = false;
    this.snap = false;
    /** @type {Selection | null} */
    this.selection = null;
    const { stage, ground } = page.view;
    this.step = SNAP.cells * (ground?.cell ?? 1);
    this.grip = new THREE.Object3D();
    this.start = new THREE.Object3D();
    this.handles = new TransformControls(stage.camera, stage.canvas);
    this.handles.setSize(0.9);
    this.handles.setColors(COLORS.x, COLORS.y, COLORS.z, COLORS.force);
    this.handles.addEventListener("dragging-changed", ({ value }) => this.hold(Boolean(value)));
    this.handles.addEventListener("objectChange", () => this.preview());
    stage.scene.add(this.grip, this.handles.getHelper());
    this.label = byId("grab-force", HTMLElement);
    this.bar = new ArrangeBar(byId("bottom", HTMLElement), this, `As the scene starts. With Snap or Shift in steps of ${brief(this.step)} m and ${SNAP.angle}°.`);
    this.listening = new AbortController();
    for (const type of /** @type {const} */ (["keydown", "keyup"])) window.addEventListener(type, (event) => this.key(event), { signal: this.listening.signal });
    this.draw();
    // the run may have taken the camera elsewhere
    if (!this.seesAll()) page.view.frameAll();
    if (!this.sameThings()) page.select(null);
    this.take(page.selection);
  }

  /** Whether the bodies that can move are in the view, with room for handles about them. */
  seesAll() {
    const { poses, stage } = this.page.view;
    return this.scene.bodies.every((body, i) => {
      const at = new THREE.Vector3().fromArray(poses, 7 * i).project(stage.camera);
      return body.type === "static" || (Math.max(Math.abs(at.x), Math.abs(at.y)) < INSIDE && at.z < 1);
    });
  }

  /** Whether a press in the view is one on a handle. */
  get holds() {
    return this.handles.axis !== null;
  }

  /** For tests: where a handle is drawn, or will be in the next picture; a press asks the same ones. @param {string} axis @returns {{x: number, y: number} | null} px inside the host */
  middleOf(axis) {
    const { stage } = this.page.view;
    const drawn = this.handles.getHelper(), found = /** @type {THREE.Object3D[]} */ ([]);
    drawn.updateMatrixWorld();
    drawn.traverseVisible((one) => { if (one.name === axis) found.push(one); });
    return found.length ? stage.project(new THREE.Box3().setFromObject(found[0]).getCenter(new THREE.Vector3())) : null;
  }

  /** What the inspector shows meanwhile. */
  get shown() {
    return { poses: this.page.view.poses, numbers: NOTHING };
  }

  /** Whether bodies and joints are those of the run, in their order. */
  sameThings() {
    const names = (/** @type {Scene} */ { bodies, joints = [] }) => [...bodies, ...joints].map(({ name }) => name).join("\n");
    const run = this.page.session?.scene;
    return run !== undefined && names(run) === names(this.scene);
  }

  /** The scene as it starts, seen from where the camera is. */
  draw() {
    const { page: { view, selection, outline, inspector }, scene } = this;
    view.stage.keepingView(() => view.open(scene));
    view.bodies?.select(selection?.kind === "body" ? selection.index : -1);
    outline.open(scene);
    inspector.open(scene);
    this.drawOverlays();
    const { undo, redo } = this.text.depth;
    this.bar.allow({ undo: undo > this.before.undo, redo: redo > this.before.redo });
  }

  drawOverlays() {
    const { overlays, poses } = this.page.view;
    if (!overlays) return;
    overlays.shown.joints = true;
    // the handles of a body stand where its axes would
    overlays.update({ contacts: null }, poses, this.selection?.kind === "joint" ? this.selection : null);
  }

  /** @param {Selection | null} selection */
  take(selection) {
    this.selection = selection;
    const place = selection && placeOf(this.scene, selection);
    const ways = selection && place ? waysOf(this.scene, selection) : { move: false, turn: false };
    const isJoint = selection?.kind === "joint";
    const name = selection && (isJoint ? this.scene.joints ?? [] : this.scene.bodies)[selection.index].name;
    if (!ways[this.way] && (ways.move || ways.turn)) this.way = ways.move ? "move" : "turn";
    this.bar.show({
      words: !name ? "Choose a body or a joint, here or in the outline." : place ? `${isJoint ? "Joint " : ""}${name}` : `${name} has no place of its own.`,
      way: this.way, ways, titles: TITLES[this.way === "turn" && isJoint ? "axis" : this.way],
      unit: this.way === "move" ? "m" : isJoint ? "" : "°", step: this.way === "move" ? this.step : isJoint ? 0.1 : 1, ownAxes: selection?.kind === "body" });
    if (place) this.attach(place);
    else this.handles.detach();
    this.showNumbers();
    this.drawOverlays();
  }

  /** @param {import("./placing.js").Place} place */
  attach({ p, q }) {
    for (const one of [this.grip, this.start]) {
      one.position.copy(p);
      one.quaternion.copy(q);
    }
    this.handles.setMode(this.way === "move" ? "translate" : "rotate");
    this.handles.setSpace(this.selection?.kind === "body" && this.own ? "local" : "world");
    this.handles.attach(this.grip);
  }

  /** @param {Way} way */
  setWay(way) {
    this.way = way;
    this.take(this.selection);
  }

  /** @param {boolean} on */
  setOwn(on) {
    this.own = on;
    this.take(this.selection);
  }

  /** @param {boolean} on */
  setSnap(on) {
    this.snap = on;
    this.bar.snap.setAttribute("aria-pressed", String(on));
    this.snapNow(on);
  }

  /** @param {boolean} on */
  snapNow(on) {
    this.handles.setTranslationSnap(on ? this.step : null);
    this.handles.setRotationSnap(on ? SNAP.angle / DEGREES : null);
  }

  /** @returns {number[]} what the fields show: m, degrees, or a direction */
  numbers() {
    const { scene, selection, way, grip } = this;
    if (!selection) return [NaN, NaN, NaN];
    if (way === "move") return grip.position.toArray();
    if (selection.kind === "joint") return fieldsOf(scene, selection, "turn", { p: grip.position, q: grip.quaternion }, this.page.view.size).axis ?? [NaN, NaN, NaN];
    const { x, y, z } = new THREE.Euler().setFromQuaternion(grip.quaternion, FIXED_AXES);
    return [x, y, z].map((angle) => angle * DEGREES);
  }

  showNumbers() {
    this.bar.showNumbers(this.numbers());
  }

  /** A number was typed. @param {number} k which @param {number} value */
  typed(k, value) {
    const { selection, grip, way } = this;
    const values = this.numbers();
    values[k] = value;
    const isDirection = way === "turn" && selection?.kind === "joint";
    if (!selection || values.some((value) => !Number.isFinite(value)) || (isDirection && Math.hypot(...values) < 1e-6)) {
      this.showNumbers();
      return;
    }
    if (isDirection) {
      this.write({ axis: values });
      return;
    }
    if (way === "move") grip.position.set(values[0], values[1], values[2]);
    else grip.quaternion.setFromEuler(new THREE.Euler(values[0] / DEGREES, values[1] / DEGREES, values[2] / DEGREES, FIXED_AXES));
    this.commit();
  }

  /** A handle is taken hold of, or let go. @param {boolean} on */
  hold(on) {
    this.page.view.stage.controls.enabled = !on;
    this.label.hidden = true;
    if (!on) this.commit();
  }

  /** While a handle is dragged. */
  preview() {
    const { grip, start, selection, page: { view } } = this;
    if (selection?.kind === "body") {
      view.poses.set([...grip.position.toArray(), ...grip.quaternion.toArray()], 7 * selection.index);
      view.bodies?.setPoses(view.poses);
      view.links?.setPoses(view.poses);
      this.drawOverlays();
    }
    const { x, y } = view.stage.project(grip.position);
    this.label.hidden = false;
    this.label.style.transform = `translate(${Math.round(x + 14)}px, ${Math.round(y - 10)}px)`;
    setText(this.label, this.way === "move" ? quantity(grip.position.distanceTo(start.position), "m") : quantity(+(grip.quaternion.angleTo(start.quaternion) * DEGREES).toFixed(2), "°"));
    this.showNumbers();
  }

  /** Into the text, as one change. */
  commit() {
    const { scene, selection, way, grip } = this;
    if (selection) this.write(fieldsOf(scene, selection, way, { p: grip.position, q: grip.quaternion }, this.page.view.size));
  }

  /** @param {Record<string, number[]>} fields */
  write(fields) {
    const { selection, text } = this;
    if (!selection) return;
    const change = withFields(text.value, `/${selection.kind === "body" ? "bodies" : "joints"}/${selection.index}`, fields);
    if (change) text.replace(change.from, change.to, change.insert);
    if (change) this.before.redo = 0;
    this.changed();
  }

  changed() {
    this.scene = JSON.parse(this.text.value);
    this.draw();
    this.page.outline.mark(this.selection);
    this.take(this.selection);
  }

  undo() {
    if (this.text.depth.undo <= this.before.undo) return;
    this.text.undo();
    this.changed();
  }

  redo() {
    if (this.text.depth.redo <= this.before.redo) return;
    this.text.redo();
    this.changed();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    this.snapNow(event.shiftKey !== this.snap);
    if (event.type === "keyup" || !(event.ctrlKey || event.metaKey) || event.target instanceof HTMLInputElement || document.querySelector("dialog[open]")) return;
    const [key, again] = [event.key.toLowerCase(), event.shiftKey];
    if (key !== "z" && key !== "y") return;
    event.preventDefault();
    this[key === "y" || again ? "redo" : "undo"]();
  }

  toText() {
    this.cancel();
    this.dialog.open();
  }

  /** The session of the arranged scene takes the place of this; faults are shown where the scene is written. */
  async apply() {
    this.bar.applyButton.disabled = true;
    const valid = await this.dialog.run();
    this.bar.applyButton.disabled = false;
    if (valid) return;
    this.cancel();
    this.dialog.showUp();
  }

  /** Back to the run. */
  cancel() {
    const { page } = this;
    const focused = this.bar.element.contains(document.activeElement);
    if (!this.sameThings()) page.select(null);
    this.end();
    if (focused) byId("arrange", HTMLButtonElement).focus({ preventScroll: true });
    const scene = page.session?.scene;
    if (!scene) return;
    page.view.stage.keepingView(() => page.view.open(scene));
    page.view.held = true; // the camera stays
    page.outline.open(scene);
    page.inspector.open(scene);
    page.select(page.selection);
  }

  end() {
    this.listening.abort();
    this.handles.detach();
    this.page.view.stage.scene.remove(this.grip, this.handles.getHelper());
    this.handles.dispose();
    this.page.view.stage.controls.enabled = true;
    this.label.hidden = true;
    this.bar.element.remove();
    this.page.arranged(null);
  }
}
