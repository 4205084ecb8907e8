/**
 * Renderer, camera and light. z is up. Draws when asked; knows nothing of scenes or sessions.
 */
import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";

/** Frames slower than this lower the resolution one notch (software rendering, small machines). */
const SLOW_FRAME_MS = 45;
const PIXEL_RATIOS = [2, 1.5, 1, 0.75];
const SHADOW_MAP = 2048;
/** Highest and lowest a key turns the camera [rad]. */
const STEEPEST = 1.5;
/** Room about what is framed, for what stands over the view. */
const MARGIN = 1.1;
/** From a scene to the camera when it opens. */
export const VIEW_DIRECTION = new THREE.Vector3(0.62, -1, 0.5);

export class Stage {
  /** @param {HTMLElement} host the element the view fills */
  constructor(host) {
    this.host = host;
    this.renderer = new THREE.WebGLRenderer({ antialias: true, alpha: true, powerPreference: "high-performance" });
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.renderer.toneMapping = THREE.NeutralToneMapping;
    this.canvas = this.renderer.domElement;
    host.prepend(this.canvas);

    this.scene = new THREE.Scene();
    this.camera = new THREE.PerspectiveCamera(38, 1, 0.01, 500);
    this.camera.up.set(0, 0, 1);
    this.camera.position.set(3, -4, 2.5);
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.enableDamping = false;
    this.controls.zoomToCursor = true;
    this.controls.maxPolarAngle = Math.PI * 0.97;
    this.controls.minDistance = 0.02;

    this.sky = new THREE.HemisphereLight(0xf6f9ff, 0x7d766f, 1.65);
    this.sky.position.set(0, 0, 1);
    this.sun = new THREE.DirectionalLight(0xfff1e0, 2.7);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(SHADOW_MAP, SHADOW_MAP);
    this.sun.shadow.radius = 3;
    this.sun.shadow.bias = -0.0004;
    this.fill = new THREE.DirectionalLight(0xcfe2ff, 0.7);
    this.scene.add(this.sky, this.sun, this.sun.target, this.fill, this.fill.target);

    this.notch = Math.max(0, PIXEL_RATIOS.findIndex((ratio) => ratio <= window.devicePixelRatio));
    this.slowFrames = 0;
    this.lastRender = 0;
    this.radius = 2;
    /** @type {[() => void, () => void] | null} what is seen in the left and in the right half, with one camera; null: one view */
    this.halves = null;
    new ResizeObserver(() => this.resize()).observe(host);
    this.resize();
  }

  resize() {
    const { clientWidth, clientHeight } = this.host;
    if (!clientWidth || !clientHeight) return;
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, PIXEL_RATIOS[this.notch]));
    this.renderer.setSize(clientWidth, clientHeight, false);
    this.camera.aspect = this.width / clientHeight;
    this.camera.updateProjectionMatrix();
    // another size empties the canvas: no blank picture until the next one is due
    if (this.lastRender) this.draw();
  }

  /** Of the view, or of each half of it [CSS pixels]. */
  get width() {
    return this.host.clientWidth / (this.halves ? 2 : 1);
  }

  /** Two views side by side, or one again. @param {[() => void, () => void] | null} halves show what is seen in the left and in the right one */
  split(halves) {
    this.halves = halves;
    // a half has a place of its own for the cursor
    this.controls.zoomToCursor = halves === null;
    this.resize();
  }

  draw() {
    const { renderer, scene, camera, halves } = this;
    if (!halves) {
      renderer.render(scene, camera);
      return;
    }
    const { clientHeight } = this.host;
    renderer.setScissorTest(true);
    halves.forEach((show, i) => {
      show();
      renderer.setViewport(i * this.width, 0, this.width, clientHeight);
      renderer.setScissor(i * this.width, 0, this.width, clientHeight);
      renderer.render(scene, camera);
    });
    renderer.setScissorTest(false);
    renderer.setViewport(0, 0, this.host.clientWidth, clientHeight);
  }

  /** @param {number} now ms @param {boolean} steady drawn at the rate of the screen: a slow picture is slow work */
  render(now, steady) {
    this.placeLights();
    this.draw();
    if (steady) this.adapt(now - this.lastRender);
    this.lastRender = now;
  }

  /** The shadow covers what the camera looks at, not the whole world: sharp near, wide from afar. */
  placeLights() {
    const focus = this.controls.target;
    const reach = Math.min(60, Math.max(0.15, this.camera.position.distanceTo(focus) * 0.75));
    this.sun.target.position.copy(focus);
    this.sun.position.set(-0.56, -0.82, 1.08).multiplyScalar(reach * 2).add(focus);
    const frustum = this.sun.shadow.camera;
    frustum.left = frustum.bottom = -reach;
    frustum.right = frustum.top = reach;
    frustum.near = reach * 0.2;
    frustum.far = reach * 6;
    this.sun.shadow.normalBias = reach * 0.004;
    frustum.updateProjectionMatrix();
    this.fill.target.position.copy(focus);
    this.fill.position.set(0.9, 0.5, 0.35).multiplyScalar(reach).add(focus);
  }

  /** @param {number} took ms between two frames */
  adapt(took) {
    if (took > 1000) return; // the page was hidden
    this.slowFrames = took > SLOW_FRAME_MS ? this.slowFrames + 1 : Math.max(0, this.slowFrames - 2);
    if (this.slowFrames < 40 || this.notch + 1 >= PIXEL_RATIOS.length) return;
    this.notch += 1;
    this.slowFrames = 0;
    this.resize();
  }

  /**
   * Looks at a box from the present direction, or from a given one.
   * @param {THREE.Box3} box
   * @param {THREE.Vector3} [direction] from the box to the camera
   */
  frame(box, direction) {
    const sphere = box.getBoundingSphere(new THREE.Sphere());
    const radius = Math.max(sphere.radius, 0.02);
    const from = (direction ?? this.camera.position.clone().sub(this.controls.target)).clone().normalize();
    const half = THREE.MathUtils.degToRad(this.camera.fov / 2);
    const across = Math.atan(Math.tan(half) * this.camera.aspect);
    const distance = (radius / Math.sin(Math.min(half, across))) * MARGIN;
    this.controls.target.copy(sphere.center);
    this.camera.position.copy(sphere.center).addScaledVector(from, distance);
    this.camera.near = distance / 200;
    this.camera.far = distance * 60;
    this.camera.updateProjectionMatrix();
    this.controls.update();
  }

  /** @param {THREE.Vector3} direction from the target to the camera */
  lookFrom(direction) {
    const { camera, controls } = this;
    const distance = camera.position.distanceTo(controls.target);
    // straight above, a hair of -y keeps x to the right
    const from = direction.clone().add(new THREE.Vector3(0, -1e-4 * Math.abs(direction.z), 0)).normalize();
    camera.position.copy(controls.target).addScaledVector(from, distance);
    controls.update();
  }

  /** About the target. @param {number} azimuth rad, to the right @param {number} rise rad */
  turn(azimuth, rise) {
    const { camera, controls } = this;
    const from = camera.position.clone().sub(controls.target);
    const above = Math.atan2(from.z, Math.hypot(from.x, from.y));
    const across = new THREE.Vector3(-from.y, from.x, 0).normalize();
    from.applyAxisAngle(across, Math.max(-STEEPEST, Math.min(STEEPEST, above + rise)) * -1 + above).applyAxisAngle(camera.up, azimuth);
    camera.position.copy(controls.target).add(from);
    controls.update();
  }

  /** The camera stays as it is. @param {() => void} change of what is in the view */
  keepingView(change) {
    const { camera, controls } = this;
    const [position, target, near, far] = [camera.position.clone(), controls.target.clone(), camera.near, camera.far];
    change();
    camera.position.copy(position);
    controls.target.copy(target);
    Object.assign(camera, { near, far });
    camera.updateProjectionMatrix();
    controls.update();
  }

  /** @param {THREE.Vector3} by moves camera and target together */
  shift(by) {
    this.camera.position.add(by);
    this.controls.target.add(by);
  }

  /** Moves the camera away from its target. @param {number} factor of the distance */
  widen(factor) {
    this.camera.position.sub(this.controls.target).multiplyScalar(factor).add(this.controls.target);
    this.camera.far *= factor;
    this.camera.updateProjectionMatrix();
  }

  /** @param {{clientX: number, clientY: number}} event @returns {THREE.Ray} in W */
  rayAt(event) {
    const rect = this.canvas.getBoundingClientRect();
    const x = (event.clientX - rect.left) % this.width;
    const pointer = new THREE.Vector2((x / this.width) * 2 - 1, 1 - ((event.clientY - rect.top) / rect.height) * 2);
    const caster = new THREE.Raycaster();
    caster.setFromCamera(pointer, this.camera);
    return caster.ray;
  }

  /** Whether a place is in the second of two halves. @param {{clientX: number}} event */
  isRight({ clientX }) {
    return this.halves !== null && clientX - this.canvas.getBoundingClientRect().left >= this.width;
  }

  /** @param {THREE.Vector3} point in W @returns {{x: number, y: number}} CSS pixels inside the host; of two halves in the first */
  project(point) {
    const p = point.clone().project(this.camera);
    return { x: ((p.x + 1) / 2) * this.width, y: ((1 - p.y) / 2) * this.host.clientHeight };
  }
}
