/**
 * Pictures of scenes for the gallery, as files in pictures/. Not part of the page: loaded by the hook that
 * renews them (`CARDAN_KEEP_SCREENSHOT=1 pytest tests/web -k keeps`).
 */
import * as THREE from "three";
import { Bodies } from "./bodies.js";
import { Ground } from "./ground.js";
import { Links } from "./links.js";
import { sizeOf, startBounds, startPoses } from "./shapes.js";
import { VIEW_DIRECTION } from "./stage.js";

/** Twice what the gallery shows, for sharp screens [px]. */
const SIZE = { width: 152, height: 104 };

/** A small renderer of its own, so that the view is not disturbed. */
export class Painter {
  constructor() {
    this.renderer = new THREE.WebGLRenderer({ antialias: true, alpha: true, preserveDrawingBuffer: true });
    this.renderer.setSize(SIZE.width, SIZE.height, false);
    this.renderer.shadowMap.enabled = true;
    this.renderer.toneMapping = THREE.NeutralToneMapping;
    this.camera = new THREE.PerspectiveCamera(30, SIZE.width / SIZE.height, 0.01, 1000);
    this.camera.up.set(0, 0, 1);
  }

  /** @param {import("./types.js").Scene} document @param {"dark" | "light"} theme @returns {string} data URL */
  paint(document, theme) {
    const bounds = startBounds(document);
    const bodies = new Bodies(document);
    const ground = new Ground(document, bounds, theme);
    const poses = startPoses(document);
    const links = new Links(document, sizeOf(bounds));
    bodies.setPoses(poses);
    links.setPoses(poses);
    const sphere = bounds.getBoundingSphere(new THREE.Sphere());
    const { radius } = sphere;
    const sun = new THREE.DirectionalLight(0xfff4e6, 2.1);
    sun.position.set(0.42, -0.72, 1.2).multiplyScalar(radius * 3).add(sphere.center);
    sun.target.position.copy(sphere.center);
    sun.castShadow = true;
    sun.shadow.mapSize.set(512, 512);
    Object.assign(sun.shadow.camera, { left: -radius * 1.4, right: radius * 1.4, bottom: -radius * 1.4, top: radius * 1.4, near: radius * 0.01, far: radius * 9 });
    const sky = new THREE.HemisphereLight(0xffffff, 0x8d8a84, 1.9);
    sky.position.set(0, 0, 1);
    const scene = new THREE.Scene();
    scene.add(bodies.root, links.root, ground.root, sun, sun.target, sky);
    const distance = (radius / Math.sin(THREE.MathUtils.degToRad(15))) * 0.92;
    this.camera.position.copy(VIEW_DIRECTION).normalize().multiplyScalar(distance).add(sphere.center);
    Object.assign(this.camera, { near: distance / 200, far: distance * 20 });
    this.camera.lookAt(sphere.center);
    this.camera.updateProjectionMatrix();
    this.renderer.render(scene, this.camera);
    const url = this.renderer.domElement.toDataURL("image/webp", 0.8);
    bodies.dispose();
    links.dispose();
    ground.dispose();
    sun.dispose();
    return url;
  }
}
