/**
 * Renderer, camera and light. z is up. Draws when asked; knows nothing of scenes or sessions.
 */
import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";

/** Frames slower than this lower the resolution one notch (software rendering, small machines). */
const SLOW_FRAME_MS = 45;
const PIXEL_RATIOS = [2, 1.5, 1, 0.75];
/** So many slow frames until the machine counts as slow; the slowest are worth as many as they last, and ten at most. */
const SLOW_FRAMES = 40;
const WORST = 10;
/** So many quick ones in a row until the sun throws shadows in a heavy scene, whose triangles are drawn twice for them. */
const FAST_FRAMES = 20;
const SHADOW_MAP = 2048;
/** Highest and lowest a key turns the camera [rad]. */
const STEEPEST = 1.5;
/** ms, of a camera that goes somewhere else; and in which what a hand has left of its movement falls to a third */
const GLIDE_MS = 260;
const SETTLING_MS = 45;
/** Of the camera from what it looks at, unless that is smaller; and radius of what is framed, at least [m]. */
const NEAREST = 0.02;
const SMALLEST = 1e-6;
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
    this.controls.addEventListener("start", () => { this.way = null; });
    this.still = window.matchMedia("(prefers-reduced-motion: reduce)");
    /** @type {{from: THREE.Vector3[], to: THREE.Vector3[], began: number} | null} of a camera that is on its way: position and target */
    this.way = null;
    this.controls.zoomToCursor = true;
    this.controls.maxPolarAngle = Math.PI * 0.97;

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
    this.slowFrames = this.fastFrames = 0;
    /** whether thousands of bodies are in the view */
    this.heavy = false;
    this.lastRender = 0;
    this.radius = 2;
    /** @type {[() => void, () => void] | null} what is seen in the left and in the right half, with one camera; null: one view */
    this.halves = null;
    new ResizeObserver(() => this.resize()).observe(host);
    // the time for which nobody looked is none of a frame
    document.addEventListener("visibilitychange", () => { this.lastRender = performance.now(); });
    this.resize();
  }

  /** Another scene. @param {boolean} heavy whether it has thousands of bodies: the first picture comes without shadows */
  begin(heavy) {
    this.heavy = heavy;
    this.sun.castShadow = !heavy;
    this.slowFrames = this.fastFrames = 0;
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
    this.moveCamera(now);
    this.placeLights();
    this.draw();
    if (steady) this.adapt(now - this.lastRender);
    this.lastRender = now;
  }

  /**
   * Takes the camera to where a change puts it: on a short way, or at once where less motion is wanted.
   * @param {() => void} change of position and target
   */
  glide(change) {
    const { camera: { position }, controls: { target } } = this;
    const from = [position.clone(), target.clone()];
    if (this.way) this.place(this.way.to);
    change();
    if (this.still.matches) return;
    this.way = { from, to: [position.clone(), target.clone()], began: performance.now() };
    this.place(from);
  }

  /** Where camera and target are, or will be at the end of their way. @returns {THREE.Vector3[]} */
  get goal() {
    return this.way?.to ?? [this.camera.position, this.controls.target];
  }

  /** @param {THREE.Vector3[]} place of camera and target */
  place([position, target]) {
    this.camera.position.copy(position);
    this.controls.target.copy(target);
  }

  /** On its way, and after a hand has let it go. @param {number} now ms */
  moveCamera(now) {
    const { way, controls } = this;
    if (way) {
      const u = Math.min(1, Math.max(0, (now - way.began) / GLIDE_MS));
      const s = 1 - (1 - u) ** 3;
      const [before, after] = [way.from, way.to].map(([position, target]) => position.clone().sub(target));
      const turn = new THREE.Quaternion().setFromUnitVectors(before.clone().normalize(), after.clone().normalize());
      const arm = before.clone().applyQuaternion(new THREE.Quaternion().slerp(turn, s)).setLength(before.length() ** (1 - s) * after.length() ** s);
      const target = way.from[1].clone().lerp(way.to[1], s);
      this.place(u < 1 ? [arm.add(target), target] : way.to);
      if (u === 1) this.way = null;
    }
    controls.enableDamping = !this.still.matches;
    controls.dampingFactor = 1 - Math.exp(-Math.min(1000, now - this.lastRender) / SETTLING_MS);
    controls.update();
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
    const slow = took > SLOW_FRAME_MS;
    this.fastFrames = slow ? 0 : this.fastFrames + 1;
    if (this.heavy && this.fastFrames === FAST_FRAMES) this.sun.castShadow = true;
    this.slowFrames = slow ? this.slowFrames + Math.min(WORST, took / SLOW_FRAME_MS) : Math.max(0, this.slowFrames - 2);
    if (this.slowFrames < SLOW_FRAMES) return;
    this.slowFrames = 0;
    if (this.heavy) this.sun.castShadow = false;
    if (this.notch + 1 >= PIXEL_RATIOS.length) return;
    this.notch += 1;
    this.resize();
  }

  /**
   * Looks at a box from the present direction, or from a given one.
   * @param {THREE.Box3} box
   * @param {THREE.Vector3} [direction] from the box to the camera
   */
  frame(box, direction) {
    const sphere = box.getBoundingSphere(new THREE.Sphere());
    const radius = Math.max(sphere.radius, SMALLEST);
    this.way = null;
    const from = (direction ?? this.camera.position.clone().sub(this.controls.target)).clone().normalize();
    const half = THREE.MathUtils.degToRad(this.camera.fov / 2);
    const across = Math.atan(Math.tan(half) * this.camera.aspect);
    const distance = (radius / Math.sin(Math.min(half, across))) * MARGIN;
    this.controls.target.copy(sphere.center);
    this.camera.position.copy(sphere.center).addScaledVector(from, distance);
    this.camera.near = distance / 200;
    this.camera.far = distance * 60;
    // small things are looked at from as near as they need
    this.controls.minDistance = Math.min(NEAREST, distance / 20);
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
    this.way = null;
    camera.position.copy(position);
    controls.target.copy(target);
    Object.assign(camera, { near, far });
    camera.updateProjectionMatrix();
    controls.update();
  }

  /** @param {THREE.Vector3} by moves camera and target together */
  shift(by) {
    for (const place of this.way ? [...this.way.from, ...this.way.to] : []) place.add(by);
    this.camera.position.add(by);
    this.controls.target.add(by);
  }

  /** Moves the camera away from its target. @param {number} factor of the distance */
  widen(factor) {
    for (const [position, target] of this.way ? [this.way.from, this.way.to] : []) position.sub(target).multiplyScalar(factor).add(target);
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
