/**
 * The examples, with a picture of each. Pictures are drawn here from the scene itself, once, while
 * the browser has nothing else to do.
 *
 * @import {Example} from "./types.js"
 */
import * as THREE from "three";
import { getExample } from "./api.js";
import { Bodies } from "./bodies.js";
import { byId, make } from "./dom.js";
import { Ground } from "./ground.js";
import { Links } from "./links.js";
import { startBounds, startPose } from "./shapes.js";
import { theme } from "./theme.js";

const SIZE = { width: 228, height: 156 };
export const VIEW_DIRECTION = new THREE.Vector3(0.62, -1, 0.5);

export class Gallery {
  /** @param {Example[]} examples @param {(name: string) => void} onOpen */
  constructor(examples, onOpen) {
    this.examples = examples;
    /** @type {Map<string, {button: HTMLElement, thumb: HTMLElement}>} */
    this.entries = new Map();
    byId("gallery", HTMLElement).replaceChildren(...examples.map((example) => {
      const thumb = make("span", { class: "thumb" });
      const counts = `${count(example.bodies, "body", "bodies")} · ${count(example.joints, "joint", "joints")} · ${example.duration} s`;
      const button = make("button", { type: "button", title: example.description, onclick: () => onOpen(example.name) },
        thumb, make("span", {}, make("b", {}, example.title || example.name), make("small", {}, counts)));
      this.entries.set(example.name, { button, thumb });
      return make("li", {}, button);
    }));
  }

  /** @param {string | null} name */
  mark(name) {
    for (const [other, { button }] of this.entries) button.setAttribute("aria-current", String(other === name));
  }

  /** @param {string | null} name @param {number} by @returns {string} the example that many places further */
  neighbour(name, by) {
    const at = this.examples.findIndex((example) => example.name === name);
    return this.examples[(at + by + this.examples.length) % this.examples.length].name;
  }

  /** Draws the pictures that are missing, one per idle moment. */
  async drawPictures() {
    const missing = this.examples.filter((example) => !this.showStored(example.name));
    if (!missing.length) return;
    const painter = new Painter();
    for (const { name } of missing) {
      await idle();
      const scene = await getExample(name).catch(() => null);
      if (!scene) continue;
      sessionStorage.setItem(key(name), painter.paint(scene));
      this.showStored(name);
    }
    painter.dispose();
  }

  /** @param {string} name */
  showStored(name) {
    const url = sessionStorage.getItem(key(name));
    if (url) this.entries.get(name)?.thumb.replaceChildren(make("img", { src: url, alt: "" }));
    return url !== null;
  }
}

/** @param {string} name */
function key(name) {
  return `cardan.picture.${theme()}.${name}`;
}

function idle() {
  return new Promise((resolve) => {
    if (window.requestIdleCallback) window.requestIdleCallback(resolve, { timeout: 1500 });
    else window.setTimeout(resolve, 200);
  });
}

/** @param {number} n @param {string} one @param {string} many */
function count(n, one, many) {
  return `${n} ${n === 1 ? one : many}`;
}

/** A small renderer of its own, so that the view is not disturbed. */
class Painter {
  constructor() {
    this.renderer = new THREE.WebGLRenderer({ antialias: true, alpha: true, preserveDrawingBuffer: true });
    this.renderer.setSize(SIZE.width, SIZE.height, false);
    this.renderer.shadowMap.enabled = true;
    this.renderer.toneMapping = THREE.NeutralToneMapping;
    this.camera = new THREE.PerspectiveCamera(30, SIZE.width / SIZE.height, 0.01, 1000);
    this.camera.up.set(0, 0, 1);
  }

  /** @param {import("./types.js").Scene} document @returns {string} data URL */
  paint(document) {
    const bounds = startBounds(document);
    const bodies = new Bodies(document);
    const ground = new Ground(document, bounds, theme());
    const poses = startPoses(document);
    const links = new Links(document, bounds.getSize(new THREE.Vector3()).length());
    bodies.setPoses(poses);
    links.setPoses(poses);
    const sphere = bounds.getBoundingSphere(new THREE.Sphere());
    const radius = Math.max(sphere.radius, 0.02);
    const sun = new THREE.DirectionalLight(0xfff4e6, 2.1);
    sun.position.set(0.42, -0.72, 1.2).multiplyScalar(radius * 3).add(sphere.center);
    sun.target.position.copy(sphere.center);
    sun.castShadow = true;
    sun.shadow.mapSize.set(512, 512);
    Object.assign(sun.shadow.camera, { left: -radius * 1.4, right: radius * 1.4, bottom: -radius * 1.4, top: radius * 1.4, near: 0.01, far: radius * 9 });
    const sky = new THREE.HemisphereLight(0xffffff, 0x8d8a84, 1.9);
    sky.position.set(0, 0, 1);
    const scene = new THREE.Scene();
    scene.add(bodies.root, links.root, ground.root, sun, sun.target, sky);
    const distance = (radius / Math.sin(THREE.MathUtils.degToRad(15))) * 0.92;
    this.camera.position.copy(VIEW_DIRECTION).normalize().multiplyScalar(distance).add(sphere.center);
    this.camera.far = distance * 20;
    this.camera.lookAt(sphere.center);
    this.camera.updateProjectionMatrix();
    this.renderer.render(scene, this.camera);
    const url = this.renderer.domElement.toDataURL("image/webp", 0.85);
    bodies.dispose();
    links.dispose();
    ground.dispose();
    sun.dispose();
    return url;
  }

  dispose() {
    this.renderer.dispose();
    this.renderer.forceContextLoss();
  }
}

/** @param {import("./types.js").Scene} document @returns {Float32Array} 7 per body */
export function startPoses(document) {
  return new Float32Array(document.bodies.flatMap((body) => {
    const { p, q } = startPose(body);
    return [p.x, p.y, p.z, q.x, q.y, q.z, q.w];
  }));
}
