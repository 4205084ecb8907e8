/**
 * The shapes of all bodies: one InstancedMesh per kind of shape. Colour, size and the stretch of the
 * parts are per instance, so two hundred bodies of three kinds are three draw calls.
 *
 * @import {Body, Scene, Shape, Vec3} from "./types.js"
 */
import * as THREE from "three";
import { ball, box, capsule, cone, cylinder, individual, hollowProfile } from "./geometry.js";
import { bodyDepthMaterial, bodyMaterial } from "./shading.js";
import { halfExtents, isEndless, localPose, seenOf } from "./shapes.js";

/** Muted, apart in lightness as well as in hue, so that they stay apart for colour-blind readers. */
const PALETTE = ["#e2883a", "#4f93c4", "#d9c36a", "#5aa78c", "#c46a6a", "#8f86c9", "#b9c4cc"];
const STATIC_COLOR = "#8d979f";
const SELECTED = new THREE.Color("#ffd26b");
const ASLEEP = new THREE.Color("#e9eef2");
/** Of shapes over the visuals of their body. */
const VEIL = 0.4;
const ALONE = new THREE.Color("#aab4bc");

/**
 * @typedef {object} Part       one shape of one body, ready to be drawn
 * @property {number} body
 * @property {Shape} shape
 * @property {THREE.Vector3} p  of the shape in the body
 * @property {THREE.Quaternion} q
 * @property {Vec3} scale       of the round part
 * @property {Vec3} stretch     by how much the parts move, in units of `scale`
 * @property {THREE.Color} color
 *
 * @typedef {object} Look       of a kind of part: which geometry, how it is painted, whether it is drawn in any case
 * @property {string} kind
 * @property {boolean} marked   the painted quadrants of shapes, which visuals have not
 * @property {number} opacity
 * @property {boolean} hidden   shapes of a body that is shown by visuals: drawn while they are asked for
 *
 * @typedef {{mesh: THREE.InstancedMesh, parts: Part[], opacity: number, hidden: boolean}} Group
 */

/** Shapes beyond which all are drawn with fewer triangles. */
const MANY = 2000;

/** @type {Record<string, {geometry: (coarse: boolean) => THREE.BufferGeometry, marks: "octants" | "quadrants" | "none"}>} */
const KINDS = {
  ball: { geometry: ball, marks: "octants" },
  box: { geometry: box, marks: "none" },
  capsule: { geometry: capsule, marks: "quadrants" },
  cylinder: { geometry: cylinder, marks: "quadrants" },
  cone: { geometry: cone, marks: "quadrants" },
};

/**
 * @param {Shape} shape
 * @returns {{kind: string, scale: Vec3, stretch: Vec3}}
 */
function layout(shape) {
  const half = halfExtents(shape) ?? [1, 1, 1];
  const none = /** @type {Vec3} */ ([0, 0, 0]);
  const r = shape.radius ?? 1;
  if (shape.type === "sphere" || shape.type === "ellipsoid") return { kind: "ball", scale: half, stretch: none };
  if (shape.type === "cone") return { kind: "cone", scale: [r, r, shape.length ?? 1], stretch: none };
  if (shape.type === "capsule") return { kind: "capsule", scale: [r, r, r], stretch: [0, 0, (shape.length ?? 0) / 2 / r] };
  if (shape.type === "box" || shape.type === "cylinder") {
    const bevel = 0.09 * Math.min(...half);
    return { kind: shape.type, scale: [bevel, bevel, bevel], stretch: /** @type {Vec3} */ (half.map((h) => h / bevel - 1)) };
  }
  return { kind: shape.mesh ? `mesh ${shape.mesh}` : JSON.stringify(shape.points ?? shape.vertices ?? shape.heights ?? hollowProfile(shape)), scale: [1, 1, 1], stretch: none };
}

/** @param {Body} body @param {number} index @param {Shape} shape */
function colorOf(body, index, shape) {
  if (Array.isArray(shape.color)) return new THREE.Color().setRGB(shape.color[0], shape.color[1], shape.color[2], THREE.SRGBColorSpace);
  // a word that names no colour is a warning of the scene
  if (shape.color && (shape.color.startsWith("#") || shape.color in THREE.Color.NAMES)) return new THREE.Color(shape.color);
  return new THREE.Color(body.type === "static" ? STATIC_COLOR : PALETTE[index % PALETTE.length]);
}

export class Bodies {
  /** @param {Scene} scene */
  constructor(scene) {
    this.root = new THREE.Group();
    /** @type {Group[]} */
    this.groups = [];
    /** @type {Part[]} */
    this.parts = [];
    this.selected = -1;
    /** @type {Int32Array | null} number of the island of each body, while islands are shown */
    this.islands = null;
    /** @type {(THREE.Color | null)[] | null} of each body by what misses its law there, while that is shown */
    this.heat = null;
    /** @type {Uint8Array} */
    this.asleep = new Uint8Array(scene.bodies.length);
    let moving = 0;
    /** @type {Map<string, {look: Look, shape: Shape, parts: Part[]}>} */
    const kinds = new Map();
    const add = (/** @type {Part} */ part, /** @type {Look} */ look) => {
      const entry = kinds.get(JSON.stringify(look)) ?? { look, shape: part.shape, parts: [] };
      entry.parts.push(part);
      kinds.set(JSON.stringify(look), entry);
    };
    scene.bodies.forEach((body, index) => {
      const order = body.type === "static" ? 0 : moving++;
      const pictured = Boolean(body.visuals?.length);
      const veiled = pictured ? (body.shapes ?? []).filter((shape) => !isEndless(shape)) : [];
      for (const shape of [...seenOf(body, scene), ...veiled]) {
        if (shape.type === "plane") continue; // drawn by ground.js
        const { kind, scale, stretch } = layout(shape);
        const part = { body: index, shape, ...localPose(shape), scale, stretch, color: colorOf(body, order, shape) };
        const hidden = veiled.includes(shape);
        add(part, { kind, marked: !pictured || hidden, opacity: hidden ? VEIL : shape.opacity ?? 1, hidden });
        if (!hidden) this.parts.push(part);
      }
    });
    const depth = bodyDepthMaterial();
    /** whether there are thousands */
    this.many = this.parts.length > MANY;
    for (const { look, shape, parts } of kinds.values()) this.groups.push(makeGroup(look, shape, parts, { depth, coarse: this.many }));
    for (const { mesh } of this.groups) this.root.add(mesh);
  }

  /**
   * Matrix of each instance = pose of the body * pose of the shape * scale, written straight into the buffer.
   * @param {Float32Array} poses 7 per body: p, q as x y z w; not numbers: it is absent
   */
  setPoses(poses) {
    for (const { mesh, parts } of this.groups) {
      if (!mesh.visible) continue;
      const out = /** @type {Float32Array} */ (mesh.instanceMatrix.array);
      for (let i = 0; i < parts.length; i += 1) writeMatrix(poses, 7 * parts[i].body, parts[i], out, 16 * i);
      mesh.instanceMatrix.needsUpdate = true;
    }
  }

  /** @param {number} body index, or -1 */
  select(body) {
    this.selected = body;
    this.paint();
  }

  /** Who sleeps is drawn paler. @param {Uint8Array} asleep 1 for each body that does */
  setAsleep(asleep) {
    if (asleep.every((now, body) => now === this.asleep[body])) return;
    this.asleep = asleep;
    this.paint();
  }

  /** What is solved together has one colour. @param {Int32Array | null} islands see islands.js; null: not shown */
  setIslands(islands) {
    if (islands === this.islands || (islands && this.islands && islands.every((one, body) => one === this.islands?.[body]))) return;
    this.islands = islands;
    this.paint();
  }

  /** @param {(THREE.Color | null)[] | null} colours see heat.js; null: not shown */
  setHeat(colours) {
    if (colours === this.heat) return;
    this.heat = colours;
    this.paint();
  }

  /** @param {Part} part */
  baseColor(part) {
    if (this.heat) return this.heat[part.body] ?? ALONE;
    if (!this.islands) return part.color;
    const island = this.islands[part.body];
    return island < 0 ? ALONE : new THREE.Color(PALETTE[island % (PALETTE.length - 1)]);
  }

  paint() {
    for (const { mesh, parts } of this.groups) {
      parts.forEach((part, i) => {
        const base = this.baseColor(part);
        const color = this.asleep[part.body] ? base.clone().lerp(ASLEEP, 0.6) : base;
        mesh.setColorAt(i, part.body === this.selected ? color.clone().lerp(SELECTED, 0.65) : color);
      });
      if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
    }
  }

  dispose() {
    for (const { mesh } of this.groups) {
      mesh.geometry.dispose();
      /** @type {THREE.Material} */ (mesh.material).dispose();
      mesh.dispose();
    }
    this.groups[0]?.mesh.customDepthMaterial?.dispose();
  }
}

/** @param {Look} look @param {Shape} shape @param {Part[]} parts @param {{depth: THREE.Material, coarse: boolean}} way @returns {Group} */
function makeGroup({ kind, marked, opacity, hidden }, shape, parts, { depth, coarse }) {
  const known = KINDS[kind];
  const geometry = known ? known.geometry(coarse) : individual(shape);
  const stretch = new Float32Array(parts.flatMap((part) => part.stretch));
  geometry.setAttribute("stretch", new THREE.InstancedBufferAttribute(stretch, 3));
  const mesh = new THREE.InstancedMesh(geometry, bodyMaterial((marked && known?.marks) || "none"), parts.length);
  mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
  mesh.customDepthMaterial = depth;
  mesh.castShadow = opacity > 0.5;
  mesh.receiveShadow = !hidden;
  mesh.visible = !hidden;
  mesh.frustumCulled = false; // the bounds of the unit geometry say nothing about the instances
  parts.forEach((part, i) => mesh.setColorAt(i, part.color));
  return { mesh, parts, opacity, hidden };
}

/**
 * @param {Float32Array} poses @param {number} at @param {Part} part @param {Float32Array} out @param {number} to
 */
function writeMatrix(poses, at, part, out, to) {
  if (Number.isNaN(poses[at])) { // an absent body
    out.fill(0, to, to + 15);
    return;
  }
  // thousands of times a frame, so without arrays to be collected
  const bx = poses[at + 3];
  const by = poses[at + 4];
  const bz = poses[at + 5];
  const bw = poses[at + 6];
  const { p, q, scale } = part;
  // q = q_body * q_shape
  const x = bw * q.x + bx * q.w + by * q.z - bz * q.y;
  const y = bw * q.y - bx * q.z + by * q.w + bz * q.x;
  const z = bw * q.z + bx * q.y - by * q.x + bz * q.w;
  const w = bw * q.w - bx * q.x - by * q.y - bz * q.z;
  const sx = scale[0];
  const sy = scale[1];
  const sz = scale[2];
  out[to] = (1 - 2 * (y * y + z * z)) * sx;
  out[to + 1] = 2 * (x * y + w * z) * sx;
  out[to + 2] = 2 * (x * z - w * y) * sx;
  out[to + 4] = 2 * (x * y - w * z) * sy;
  out[to + 5] = (1 - 2 * (x * x + z * z)) * sy;
  out[to + 6] = 2 * (y * z + w * x) * sy;
  out[to + 8] = 2 * (x * z + w * y) * sz;
  out[to + 9] = 2 * (y * z - w * x) * sz;
  out[to + 10] = (1 - 2 * (x * x + y * y)) * sz;
  // p = p_body + R_body p_shape;  t = 2 u x p,  R p = p + w t + u x t
  const tx = 2 * (by * p.z - bz * p.y);
  const ty = 2 * (bz * p.x - bx * p.z);
  const tz = 2 * (bx * p.y - by * p.x);
  out[to + 12] = poses[at] + p.x + bw * tx + by * tz - bz * ty;
  out[to + 13] = poses[at + 1] + p.y + bw * ty + bz * tx - bx * tz;
  out[to + 14] = poses[at + 2] + p.z + bw * tz + bx * ty - by * tx;
  out[to + 15] = 1;
}
