/**
 * Names at the bodies in the view, and the place of a failure. Text over the canvas, for eyes alone: the outline lists the same bodies.
 *
 * @import {Scene} from "./types.js"
 * @import {Stage} from "./stage.js"
 */
import * as THREE from "three";
import { make, setText } from "./dom.js";

/** Bodies with a name, where nothing is selected: more would hide the scene. */
const MOST = 60;

/** @typedef {{body: number, text: string, mark: "name" | "failure"}} Label */

export class Names {
  /** @param {Scene} scene @param {Stage} stage */
  constructor(scene, stage) {
    this.scene = scene;
    this.stage = stage;
    this.host = make("div", { class: "labels", "aria-hidden": "true" });
    stage.host.append(this.host);
    /** @type {Label[]} */
    this.labels = [];
    /** @type {{text: string, x: number, y: number, mark: string}[]} as they are drawn [CSS px in the view]: for pictures and videos */
    this.shown = [];
    this.moving = scene.bodies.flatMap((body, i) => (body.type === "static" ? [] : [i]));
    this.at = new THREE.Vector3();
  }

  /** @param {boolean} named @param {number} selected body, or -1 @param {{body: number, text: string} | null} failure */
  update(named, selected, failure) {
    this.labels = !named ? [] : (selected >= 0 ? [selected] : this.moving.slice(0, MOST)).map((body) => ({ body, text: this.scene.bodies[body].name, mark: /** @type {const} */ ("name") }));
    if (failure) this.labels.push({ ...failure, mark: "failure" });
  }

  /** After the camera has moved. @param {Float32Array} poses */
  place(poses) {
    this.shown = this.labels.flatMap((label) => this.placed(label, poses));
    while (this.host.childElementCount < this.shown.length) this.host.append(make("span"));
    while (this.host.childElementCount > this.shown.length) this.host.lastElementChild?.remove();
    this.shown.forEach(({ text, x, y, mark }, i) => {
      const span = /** @type {HTMLElement} */ (this.host.children[i]);
      setText(span, text);
      span.className = mark;
      span.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px) translate(-50%, -50%)`;
    });
  }

  /** Where it is drawn; nowhere behind the camera or without a pose. @param {Label} label @param {Float32Array} poses */
  placed({ body, text, mark }, poses) {
    const { camera } = this.stage;
    this.at.fromArray(poses, 7 * body);
    const ahead = this.at.clone().applyMatrix4(camera.matrixWorldInverse).z < -camera.near;
    return ahead ? [{ text, mark, ...this.stage.project(this.at) }] : [];
  }

  dispose() {
    this.host.remove();
  }
}
