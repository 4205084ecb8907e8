/**
 * Ctrl+drag, or a finger that rests on a body: a spring between a point of a body and the pointer. The spring itself is in the
 * simulation; here are the gesture, the line and the force in newtons.
 *
 * @import {Grab, Vec3} from "./types.js"
 */
import * as THREE from "three";
import { byId, setText } from "./dom.js";
import { quantity } from "./format.js";

/** A finger that rests this long on a body takes hold of it [ms], unless it has moved this far [px]. */
const HOLD_MS = 450;
const HOLD_PX = 8;

/**
 * @typedef {object} GrabHandlers
 * @property {(event: PointerEvent) => {body: number, point: THREE.Vector3} | null} pick
 * @property {(body: number, point: Vec3) => void} onGrab
 * @property {(target: Vec3) => void} onMove   at most once per drawn frame
 * @property {() => void} onRelease
 */

export class GrabTool {
  /** @param {import("./stage.js").Stage} stage @param {GrabHandlers} handlers */
  constructor(stage, handlers) {
    this.stage = stage;
    this.handlers = handlers;
    this.plane = new THREE.Plane();
    this.pointer = -1;
    /** @type {{timer: number, event: PointerEvent} | null} a finger that rests on a body */
    this.held = null;
    /** whether a plain drag on a body pulls it, without Ctrl: for fingers, and for who prefers it */
    this.always = false;
    /** @type {Vec3 | null} where the pointer pulls to, not yet sent */
    this.target = null;
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(6), 3));
    this.line = new THREE.Line(geometry, new THREE.LineBasicMaterial({ color: "#ffb000", depthTest: false, toneMapped: false }));
    this.line.frustumCulled = false;
    this.line.renderOrder = 20;
    this.line.visible = false;
    stage.scene.add(this.line);
    this.label = byId("grab-force", HTMLElement);
    // before OrbitControls: it listens on the canvas itself
    stage.host.addEventListener("pointerdown", (event) => this.down(event), { capture: true });
    window.addEventListener("pointermove", (event) => this.move(event));
    window.addEventListener("pointerup", (event) => this.up(event));
    window.addEventListener("pointercancel", (event) => this.up(event));
    window.addEventListener("blur", () => this.release());
  }

  get active() {
    return this.pointer >= 0;
  }

  /** @param {PointerEvent} event */
  down(event) {
    const meant = event.ctrlKey || event.metaKey;
    this.letGo();
    if (event.pointerType === "touch" && event.isPrimary && !this.always && event.target === this.stage.canvas && this.handlers.pick(event)) {
      // on a slow phone the timer may come before moves that are older; those come before the next picture
      const timer = window.setTimeout(() => requestAnimationFrame(() => this.held === held && this.hold()), HOLD_MS);
      const held = (this.held = { event, timer });
      return;
    }
    if (!(meant || this.always) || event.button !== 0 || !event.isPrimary || this.active || event.target !== this.stage.canvas) return;
    const hit = this.handlers.pick(event);
    // without Ctrl, a drag beside the bodies still turns the view
    if (hit || meant) {
      event.stopPropagation();
      event.preventDefault();
    }
    if (hit) this.take(event, hit);
  }

  /** The finger has rested: from now on it pulls, and no longer turns the view. */
  hold() {
    const { held } = this;
    this.held = null;
    const hit = held && this.handlers.pick(held.event);
    if (!held || !hit || this.active) return;
    this.stage.controls.enabled = false;
    navigator.vibrate?.(15);
    this.take(held.event, hit);
  }

  letGo() {
    if (this.held) clearTimeout(this.held.timer);
    this.held = null;
  }

  /** @param {PointerEvent} event @param {{body: number, point: THREE.Vector3}} hit */
  take(event, hit) {
    this.pointer = event.pointerId;
    const facing = this.stage.camera.getWorldDirection(new THREE.Vector3()).negate();
    this.plane.setFromNormalAndCoplanarPoint(facing, hit.point);
    this.handlers.onGrab(hit.body, hit.point.toArray());
  }

  /** @param {PointerEvent} event */
  move(event) {
    const start = this.held?.event;
    if (start && (event.pointerId !== start.pointerId || Math.hypot(event.clientX - start.clientX, event.clientY - start.clientY) > HOLD_PX)) this.letGo();
    if (event.pointerId !== this.pointer) return;
    const at = this.stage.rayAt(event).intersectPlane(this.plane, new THREE.Vector3());
    if (at) this.target = at.toArray();
  }

  /** @param {PointerEvent} event */
  up(event) {
    this.letGo();
    if (event.pointerId === this.pointer) this.release();
  }

  release() {
    if (!this.active) return;
    this.flush();
    this.pointer = -1;
    this.stage.controls.enabled = true;
    this.handlers.onRelease();
  }

  flush() {
    if (this.target) this.handlers.onMove(this.target);
    this.target = null;
  }

  /** Once per drawn frame. @param {Grab | null} grab as the simulation reports it */
  update(grab) {
    this.flush();
    this.line.visible = grab !== null;
    this.label.hidden = grab === null;
    if (!grab) return;
    const position = this.line.geometry.getAttribute("position");
    position.setXYZ(0, ...grab.point);
    position.setXYZ(1, ...grab.target);
    position.needsUpdate = true;
    const { x, y } = this.stage.project(new THREE.Vector3(...grab.target));
    this.label.style.transform = `translate(${Math.round(x + 14)}px, ${Math.round(y - 10)}px)`;
    setText(this.label, quantity(Math.hypot(...grab.force), "N"));
  }
}
