/**
 * What the numbers look like in the view: contacts with normals and forces, joint anchors, axes and limits,
 * centres of mass, the axes of the selected body. Each can be switched on and off.
 *
 * @import {Frame, Scene, Selection} from "./types.js"
 * @import {JointFrame} from "./frames.js"
 */
import * as THREE from "three";
import { bothPresent, jointFrames, toWorld, turned } from "./frames.js";
import { Arrows, Cones, Dots, firstTangent } from "./glyphs.js";
import { halfExtents, massOf, seenOf } from "./shapes.js";

export const COLORS = { contact: "#ffffff", normal: "#49c6e5", force: "#ffb000", friction: "#c792ff", anchor: "#ffffff", axis: "#7dd87d", axis2: "#4aa3ff", center: "#fff3c4", x: "#ff5c5c", y: "#5fce6b", z: "#5a9bff" };
const Z = new THREE.Vector3(0, 0, 1);
/** Of a contact that just touches and of the deepest one: apart in lightness as well. */
const TOUCHING = new THREE.Color("#ffd9df");
const DEEPEST = new THREE.Color("#e0002d");
/** Length of the longest force arrow, in small glyphs. */
const LONGEST = 22;
/** Newtons below which a contact draws no arrow: it carries nothing. */
const NO_FORCE = 1e-6;

/** @typedef {"contacts" | "normals" | "forces" | "friction" | "joints" | "centers" | "events" | "trails" | "boxes" | "inertia" | "islands" | "names" | "motors" | "heat"} OverlayName  events: drawn by flashes.js, those from trails on by extras.js, islands by bodies.js */

export class Overlays {
  /** @param {Scene} scene @param {number} size m, of the scene: glyphs are a share of it */
  constructor(scene, size) {
    this.size = size;
    this.unit = unitOf(scene, size);
    this.forceScale = 1;
    this.largestForce = 0;
    /** @type {Record<OverlayName, boolean>} */
    this.shown = { contacts: false, normals: false, forces: false, friction: false, joints: false, centers: false, events: true, trails: false, boxes: false, inertia: false, islands: false, names: false, motors: false, heat: false };
    this.tint = new THREE.Color();
    this.disposed = false;
    this.dots = { contact: new Dots(COLORS.contact, 11, true), anchor: new Dots(COLORS.anchor, 13), center: new Dots(COLORS.center) };
    this.arrows = {
      normal: new Arrows(COLORS.normal), force: new Arrows(COLORS.force), friction: new Arrows(COLORS.friction), axis: new Arrows(COLORS.axis, 12), axis2: new Arrows(COLORS.axis2, 12),
      x: new Arrows(COLORS.x, 14), y: new Arrows(COLORS.y, 14), z: new Arrows(COLORS.z, 14),
    };
    this.cones = conesOf(scene);
    this.scene = scene;
    /** @type {import("./limits.js").LimitGlyphs | null} loaded when joints are first shown */
    this.limits = null;
    this.loading = false;
    this.fixed = scene.bodies.map((body) => body.type === "static");
    this.root = new THREE.Group();
    this.root.add(...this.all().map((glyphs) => glyphs.mesh));
    this.centers = scene.bodies.map((body) => (body.type === "static" ? null : massOf(body).center));
    this.joints = jointFrames(scene);
  }

  all() {
    return [...Object.values(this.dots), ...Object.values(this.arrows), this.cones.glyphs, ...(this.limits?.all() ?? [])];
  }

  /**
   * @param {Pick<Frame, "contacts">} frame
   * @param {Float32Array} poses
   * @param {Selection | null} selection
   */
  update(frame, poses, selection) {
    for (const glyphs of this.all()) glyphs.clear();
    if (this.limits) this.limits.shown = [];
    if (frame.contacts) this.addContacts(frame.contacts);
    if (this.shown.centers) this.addCenters(poses);
    this.joints.forEach((joint, index) => {
      if (bothPresent(joint, poses) && (this.shown.joints || (selection?.kind === "joint" && selection.index === index))) {
        this.addJoint(joint, poses);
        this.showLimits(index, poses);
      }
    });
    if (selection?.kind === "body" && !Number.isNaN(poses[7 * selection.index])) this.addTriad(poses, selection.index);
    for (const glyphs of this.all()) glyphs.commit();
  }

  /** @param {NonNullable<Frame["contacts"]>} contacts */
  addContacts({ count, values, bodies, friction }) {
    const { contacts, normals, forces } = this.shown;
    const rubbing = this.shown.friction ? friction : null;
    if (!contacts && !normals && !forces && !rubbing) return;
    const [p, n] = [new THREE.Vector3(), new THREE.Vector3()];
    const { unit } = this;
    let [largest, deepest] = [0, 0];
    for (let i = 0; i < count; i += 1) {
      largest = Math.max(largest, values[9 * i + 7]);
      deepest = Math.max(deepest, -values[9 * i + 6]);
    }
    // falls slowly, so that arrows do not jump with every impact
    this.largestForce = Math.max(largest, 0.985 * this.largestForce);
    for (let i = 0; i < count; i += 1) {
      const at = 9 * i;
      p.set(values[at], values[at + 1], values[at + 2]);
      n.set(values[at + 3], values[at + 4], values[at + 5]).normalize();
      const force = values[at + 7];
      const depth = deepest > 0 ? Math.max(0, -values[at + 6]) / deepest : 0;
      if (contacts) this.dots.contact.add(p, n, 0.75 * unit, 0.35, this.tint.lerpColors(TOUCHING, DEEPEST, depth));
      if (normals) this.arrows.normal.add(p, n, 6 * unit, 0.5 * unit);
      if (force <= NO_FORCE) continue;
      // forces act on the second body; where that one is fixed, those on the first are shown
      const sign = this.fixed[bodies[2 * i + 1]] && !this.fixed[bodies[2 * i]] ? -1 : 1;
      n.multiplyScalar(sign);
      if (forces) this.arrows.force.add(p, n, force * this.metresPerNewton, 0.85 * unit);
      if (rubbing) this.addFriction(p, n, force, sign, rubbing.subarray(4 * i, 4 * i + 4));
    }
  }

  /**
   * An arrow as long as the force, and the cone of all that Coulomb's law allows, in the same scale: the whole force of a contact that sticks is within it.
   * @param {THREE.Vector3} p @param {THREE.Vector3} n @param {number} normalForce N @param {number} sign @param {Float32Array} friction
   */
  addFriction(p, n, normalForce, sign, friction) {
    const [fx, fy, fz, coefficient] = friction;
    const f = new THREE.Vector3(fx, fy, fz).multiplyScalar(sign);
    const size = f.length();
    if (size > NO_FORCE) this.arrows.friction.add(p, f.divideScalar(size), size * this.metresPerNewton, 0.85 * this.unit);
    const height = normalForce * this.metresPerNewton;
    this.cones.glyphs.add(p, n, firstTangent(n), height, this.cones.radius * coefficient * height);
  }

  /** Length of a force arrow over its force. */
  get metresPerNewton() {
    return (this.forceScale * LONGEST * this.unit) / this.largestForce;
  }

  /** @param {Float32Array} poses */
  addCenters(poses) {
    this.centers.forEach((center, body) => {
      if (center && !Number.isNaN(poses[7 * body])) this.dots.center.add(toWorld(poses, body, center), Z, 0.9 * this.unit);
    });
  }

  /** @param {JointFrame} joint @param {Float32Array} poses */
  addJoint(joint, poses) {
    const at = toWorld(poses, joint.parent, joint.anchor);
    const length = this.size * 0.12;
    const width = this.size * 0.009;
    this.dots.anchor.add(at, Z, this.size * 0.007);
    if (joint.axis) {
      const axis = turned(poses, joint.parent, joint.axis);
      this.arrows.axis.add(at, axis, length, width);
      if (joint.both) this.arrows.axis.add(at, axis.negate(), length, width);
    }
    const end = joint.apart ? toWorld(poses, joint.child, joint.anchorInChild) : at;
    if (joint.apart) this.dots.anchor.add(end, Z, this.size * 0.007);
    if (joint.axis2) this.arrows.axis2.add(end, turned(poses, joint.axis2Body, joint.axis2), length, width);
  }

  /** @param {number} joint @param {Float32Array} poses */
  showLimits(joint, poses) {
    if (this.limits) this.limits.add(joint, poses);
    else if (!this.loading) this.loadLimits();
  }

  async loadLimits() {
    this.loading = true;
    // a service that is away for a moment is asked again
    const module = await import("./limits.js").catch(() => null);
    this.loading = false;
    if (!module || this.disposed) return;
    this.limits = new module.LimitGlyphs(this.scene, this.size);
    this.root.add(...this.limits.all().map((glyphs) => glyphs.mesh));
  }

  /** @param {Float32Array} poses @param {number} body */
  addTriad(poses, body) {
    const at = toWorld(poses, body, new THREE.Vector3());
    for (const [name, axis] of /** @type {const} */ ([["x", [1, 0, 0]], ["y", [0, 1, 0]], ["z", [0, 0, 1]]])) {
      this.arrows[name].add(at, turned(poses, body, new THREE.Vector3(...axis)), this.size * 0.13, this.size * 0.008);
    }
  }

  dispose() {
    this.disposed = true;
    for (const glyphs of this.all()) glyphs.dispose();
  }
}

/** The friction cone of the scene: round, a polygon in it, or a box about it. @param {Scene} scene @returns {{glyphs: Cones, radius: number}} radius of its corners over the coefficient */
function conesOf({ simulation }) {
  const { friction_cone: kind, directions = 4 } = simulation?.contact ?? {};
  if (kind === "box") return { glyphs: new Cones(COLORS.friction, 4, Math.PI / 4), radius: Math.SQRT2 };
  return { glyphs: new Cones(COLORS.friction, kind === "polyhedral" ? directions : 32, 0), radius: 1 };
}

/** Size of a small glyph: a share of the usual body, and never large in the scene. @param {Scene} scene @param {number} size m */
function unitOf(scene, size) {
  const radii = scene.bodies.flatMap((body) => seenOf(body, scene)).flatMap((shape) => halfExtents(shape) ?? [])
    .map((half) => half * Math.sqrt(3)).sort((a, b) => a - b);
  return radii.length ? Math.min(0.01 * size, 0.07 * radii[radii.length >> 1]) : 0.01 * size;
}
