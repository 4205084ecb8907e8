/**
 * Unit geometries. Most shapes are round parts that are moved apart: a capsule is two half balls, a
 * box eight small octants of a ball (its bevel), a cylinder two rings. So a vertex has two parts:
 *
 *     position   on the round part, times the size of that part (in the instance matrix)
 *     corner     which way the part moves, times `stretch` of the instance
 *
 * and one geometry serves every size of its shape, with bevels that keep their proportions.
 */
import * as THREE from "three";
import { ConvexGeometry } from "three/addons/geometries/ConvexGeometry.js";

/** @import {Shape} from "./types.js" */

/** Cosine of the angle between faces beyond which an edge is seen: 40 degrees. */
const CREASE = 0.77;

/**
 * @param {number[]} position @param {number[]} normal @param {number[]} corner @param {number[]} index
 */
function build(position, normal, corner, index) {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(position, 3));
  geometry.setAttribute("normal", new THREE.Float32BufferAttribute(normal, 3));
  geometry.setAttribute("corner", new THREE.Float32BufferAttribute(corner, 3));
  geometry.setIndex(index);
  return geometry;
}

/** @param {THREE.BufferGeometry} geometry with no part that moves */
function rigid(geometry) {
  const count = geometry.getAttribute("position").count;
  geometry.setAttribute("corner", new THREE.Float32BufferAttribute(new Float32Array(3 * count), 3));
  return geometry;
}

/** Ball of radius 1; also the ellipsoid. @param {boolean} coarse among thousands: an eighth of the triangles */
export function ball(coarse) {
  return rigid(new THREE.SphereGeometry(1, coarse ? 10 : 28, coarse ? 7 : 18).rotateX(Math.PI / 2));
}

/** Cone of radius 1 from z = -1/2 (base) to 1/2 (apex). */
export function cone() {
  return rigid(new THREE.ConeGeometry(1, 1, 36).rotateX(Math.PI / 2));
}

/** Two half balls of radius 1, moved apart along z. @param {boolean} coarse */
export function capsule(coarse) {
  const geometry = new THREE.CapsuleGeometry(1, 1e-6, coarse ? 2 : 6, coarse ? 10 : 22).rotateX(Math.PI / 2);
  const position = geometry.getAttribute("position");
  const corner = new Float32Array(3 * position.count);
  for (let i = 0; i < position.count; i += 1) corner[3 * i + 2] = Math.sign(position.getZ(i));
  geometry.setAttribute("corner", new THREE.BufferAttribute(corner, 3));
  return geometry;
}

/** Eight octants of a ball of radius 1 (the bevel), moved apart along x, y, z. @param {boolean} coarse six faces, without the bevel */
export function box(coarse) {
  const arc = coarse ? 0 : 2;
  // along one edge of a face: the arc of one corner, then the arc of the other
  const bends = Array.from({ length: arc + 1 }, (_, k) => Math.tan((k / (arc || 1)) * (Math.PI / 4)));
  const stations = [...bends.toReversed().map((t) => ({ sign: -1, t: -t })), ...bends.map((t) => ({ sign: 1, t }))];
  const n = stations.length;
  const [position, corner, index] = [[], [], []].map(() => /** @type {number[]} */ ([]));
  for (let face = 0; face < 6; face += 1) {
    const axis = face >> 1;
    const side = face & 1 ? -1 : 1;
    const first = position.length / 3;
    for (const v of stations) for (const u of stations) {
      const p = place(axis, side, u.t, v.t);
      const size = Math.hypot(p[0], p[1], p[2]);
      position.push(p[0] / size, p[1] / size, p[2] / size);
      corner.push(...place(axis, side, u.sign, v.sign));
    }
    for (let j = 0; j + 1 < n; j += 1) for (let i = 0; i + 1 < n; i += 1) {
      const a = first + j * n + i;
      const quad = side > 0 ? [a, a + 1, a + n, a + 1, a + n + 1, a + n] : [a, a + n, a + 1, a + 1, a + n, a + n + 1];
      index.push(...quad);
    }
  }
  return build(position, position.slice(), corner, index);
}

/** @param {number} axis @param {number} side @param {number} u @param {number} v */
function place(axis, side, u, v) {
  const p = [0, 0, 0];
  p[axis] = side;
  p[(axis + 1) % 3] = u;
  p[(axis + 2) % 3] = v;
  return p;
}

/** Two rims of radius 1 (the bevel), moved apart along z and outwards. @param {boolean} coarse */
export function cylinder(coarse) {
  const [around, arc] = coarse ? [12, 1] : [48, 3];
  /** @type {{r: number, z: number, out: number, side: number}[]} profile from the top centre to the bottom centre */
  const profile = [{ r: 0, z: 1, out: 0, side: 1 }];
  for (let k = 0; k <= arc; k += 1) {
    const angle = (k / arc) * (Math.PI / 2);
    profile.push({ r: Math.sin(angle), z: Math.cos(angle), out: 1, side: 1 });
  }
  for (let k = profile.length - 1; k >= 0; k -= 1) profile.push({ ...profile[k], z: -profile[k].z, side: -1 });
  const [position, corner, index] = [[], [], []].map(() => /** @type {number[]} */ ([]));
  for (const point of profile) for (let i = 0; i <= around; i += 1) {
    const angle = (i / around) * 2 * Math.PI;
    const [c, s] = [Math.cos(angle), Math.sin(angle)];
    position.push(point.r * c, point.r * s, point.z);
    corner.push(point.out * c, point.out * s, point.side);
  }
  for (let j = 0; j + 1 < profile.length; j += 1) for (let i = 0; i < around; i += 1) {
    const a = j * (around + 1) + i;
    const b = a + around + 1;
    index.push(a, b, a + 1, a + 1, b, b + 1);
  }
  return build(position, position.slice(), corner, index);
}

/** @param {Shape} shape @returns {number[][] | null} radius and height along the outline of a tube, ring or bowl, up its outer side */
export function hollowProfile({ type, inner_radius: inner = 1, outer_radius: outer = 1, length = 1, major_radius: major = 1, minor_radius: minor = 1, angle = Math.PI / 2 }) {
  const arc = (/** @type {number} */ to) => Array.from({ length: 25 }, (_, k) => (k / 24) * to);
  if (type === "tube") return [[outer, -length / 2], [outer, length / 2], [inner, length / 2], [inner, -length / 2], [outer, -length / 2]];
  if (type === "ring") return arc(2 * Math.PI).map((t) => [major + minor * Math.cos(t), minor * Math.sin(t)]);
  if (type !== "bowl") return null;
  const outside = arc(angle).map((t) => [outer * Math.sin(t), -outer * Math.cos(t)]);
  return [...outside, ...outside.map(([r, z]) => [(r * inner) / outer, (z * inner) / outer]).reverse()];
}

/** A profile turned about z. @param {number[][]} profile */
function turned(profile) {
  const around = 48;
  const [vertices, faces] = [[], []].map(() => /** @type {number[][]} */ ([]));
  profile.forEach(([r, z], ring) => {
    for (let i = 0; i < around; i += 1) {
      const t = (i / around) * 2 * Math.PI;
      vertices.push([r * Math.cos(t), r * Math.sin(t), z]);
      if (ring + 1 === profile.length) continue;
      const [a, b] = [ring * around + i, ring * around + ((i + 1) % around)];
      if (r > 0) faces.push([a, b, b + around]);
      if (profile[ring + 1][0] > 0) faces.push([a, b + around, a + around]);
    }
  });
  return { vertices, faces };
}

/** @param {Shape} shape `convex`, hollow, `mesh` or `heightfield`: geometry of its own, in the frame of the shape */
export function individual(shape) {
  if (shape.type === "convex") {
    return rigid(new ConvexGeometry((shape.points ?? []).map((p) => new THREE.Vector3(...p))));
  }
  const profile = hollowProfile(shape);
  const { vertices, faces } = profile ? turned(profile) : shape.type === "mesh" ? { vertices: shape.vertices ?? [], faces: shape.faces ?? [] } : terrain(shape);
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(vertices.flat(), 3));
  geometry.setIndex(faces.flat());
  const flat = geometry.toNonIndexed();
  flat.computeVertexNormals();
  if (shape.mesh || profile) soften(flat, faces);
  return rigid(flat);
}

/**
 * One normal for faces about a vertex that lie within `CREASE` of each other, weighted by their areas: round parts look
 * round, and edges stay edges.
 * @param {THREE.BufferGeometry} flat three vertices for each face @param {number[][]} faces
 */
function soften(flat, faces) {
  const [points, normals] = [flat.getAttribute("position"), flat.getAttribute("normal")];
  const [a, b, c, n] = [0, 1, 2, 3].map(() => new THREE.Vector3());
  const wide = faces.map((_, i) => {
    [a, b, c].forEach((corner, k) => corner.fromBufferAttribute(points, 3 * i + k));
    return b.sub(a).cross(c.sub(a)).clone();
  });
  const unit = wide.map((normal) => normal.clone().normalize());
  /** @type {Map<number, number[]>} faces about each vertex */
  const about = new Map();
  faces.forEach((face, i) => face.forEach((vertex) => about.set(vertex, [...about.get(vertex) ?? [], i])));
  faces.forEach((face, i) => face.forEach((vertex, k) => {
    n.set(0, 0, 0);
    for (const other of about.get(vertex) ?? []) if (unit[other].dot(unit[i]) > CREASE) n.add(wide[other]);
    n.normalize();
    if (n.lengthSq()) normals.setXYZ(3 * i + k, n.x, n.y, n.z);
  }));
}

/** @param {Shape} shape rows along y, low to high; in each row along x */
function terrain(shape) {
  const heights = shape.heights ?? [];
  const [rows, columns] = [heights.length, heights[0]?.length ?? 0];
  const [width, depth] = shape.size ?? [1, 1];
  /** @type {number[][]} */
  const vertices = [];
  /** @type {number[][]} */
  const faces = [];
  for (let j = 0; j < rows; j += 1) for (let i = 0; i < columns; i += 1) {
    vertices.push([width * (i / (columns - 1) - 0.5), depth * (j / (rows - 1) - 0.5), heights[j][i]]);
    const a = j * columns + i;
    if (i + 1 < columns && j + 1 < rows) faces.push([a, a + 1, a + columns], [a + 1, a + columns + 1, a + columns]);
  }
  return { vertices, faces };
}
