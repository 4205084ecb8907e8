/**
 * Instanced glyphs for overlays: arrows and dots, drawn over the bodies. One draw call each; the
 * number of glyphs may change every frame.
 */
import * as THREE from "three";

const MAX_GLYPHS = 4096;
const Z = new THREE.Vector3(0, 0, 1);
const SHAFT = 0.32; // radius of the shaft over the radius of the head
const HEAD = 2.6; // length of the head over its radius

/** Arrow along z whose head keeps its size: `corner` marks what moves with the length. */
function arrowGeometry() {
  const around = 10;
  const profile = [[0, 0, 0], [SHAFT, 0, 0], [SHAFT, 0, 1], [1, 0, 1], [0, HEAD, 1]]; // radius, z, moves
  /** @type {number[]} */ const position = [];
  /** @type {number[]} */ const corner = [];
  /** @type {number[]} */ const index = [];
  profile.forEach(([r, z, moves], j) => {
    for (let i = 0; i <= around; i += 1) {
      const angle = (i / around) * 2 * Math.PI;
      position.push(r * Math.cos(angle), r * Math.sin(angle), z);
      corner.push(0, 0, moves);
      const a = j * (around + 1) + i;
      if (j + 1 < profile.length && i < around) index.push(a, a + 1, a + around + 1, a + 1, a + around + 2, a + around + 1);
    }
  });
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(position, 3));
  geometry.setAttribute("corner", new THREE.Float32BufferAttribute(corner, 3));
  geometry.setIndex(index);
  return geometry;
}

/** How vertices follow from the three numbers of each glyph, `stretch`. */
const SHAPING = {
  arrow: "position + corner * stretch",
  sector: "position.x * vec3(cos(mix(stretch.x, stretch.y, position.y)), sin(mix(stretch.x, stretch.y, position.y)), 0.0)",
};

/** @param {THREE.ColorRepresentation} color @param {keyof typeof SHAPING} [kind] */
function glyphMaterial(color, kind) {
  const material = new THREE.MeshBasicMaterial({ color, depthTest: false, depthWrite: false, transparent: true, opacity: 0.92, toneMapped: false });
  if (kind) {
    material.onBeforeCompile = (shader) => {
      shader.vertexShader = shader.vertexShader
        .replace("#include <common>", `#include <common>\n${kind === "arrow" ? "attribute vec3 corner;\n" : ""}attribute vec3 stretch;`)
        .replace("#include <begin_vertex>", `vec3 transformed = ${SHAPING[kind]};`);
    };
    material.customProgramCacheKey = () => kind;
  }
  return material;
}

/** The tangent at which the engine's friction polygons begin. @param {THREE.Vector3} n unit vector */
export function firstTangent(n) {
  return (Math.abs(n.x) < 1 / Math.sqrt(3) ? new THREE.Vector3(0, n.z, -n.y) : new THREE.Vector3(n.y, -n.x, 0)).normalize();
}

class Glyphs {
  /** @param {THREE.BufferGeometry} geometry @param {THREE.Material} material @param {number} order */
  constructor(geometry, material, order) {
    this.stretch = new THREE.InstancedBufferAttribute(new Float32Array(3 * MAX_GLYPHS), 3).setUsage(THREE.DynamicDrawUsage);
    geometry.setAttribute("stretch", this.stretch);
    this.mesh = new THREE.InstancedMesh(geometry, material, MAX_GLYPHS);
    this.mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = order;
    this.matrix = new THREE.Matrix4();
    this.q = new THREE.Quaternion();
    this.scale = new THREE.Vector3();
    this.clear();
  }

  /** Each glyph has a colour of its own. */
  tint() {
    this.mesh.instanceColor = new THREE.InstancedBufferAttribute(new Float32Array(3 * MAX_GLYPHS), 3).setUsage(THREE.DynamicDrawUsage);
  }

  clear() {
    this.mesh.count = 0;
    this.mesh.visible = false;
  }

  /** Sends to the graphics card what was added since `clear`. */
  commit() {
    this.mesh.visible = this.mesh.count > 0;
    this.mesh.instanceMatrix.needsUpdate = true;
    this.stretch.needsUpdate = true;
    if (this.mesh.instanceColor) this.mesh.instanceColor.needsUpdate = true;
  }

  dispose() {
    this.mesh.geometry.dispose();
    /** @type {THREE.Material} */ (this.mesh.material).dispose();
    this.mesh.dispose();
  }
}

export class Arrows extends Glyphs {
  /** @param {THREE.ColorRepresentation} color @param {number} [order] */
  constructor(color, order = 10) {
    super(arrowGeometry(), glyphMaterial(color, "arrow"), order);
  }

  /**
   * @param {THREE.Vector3} from in W
   * @param {THREE.Vector3} direction unit vector
   * @param {number} length m, head included
   * @param {number} width m, radius of the head
   */
  add(from, direction, length, width) {
    if (this.mesh.count >= MAX_GLYPHS) return;
    const head = Math.min(width, length / HEAD);
    if (head <= 0) return;
    this.q.setFromUnitVectors(Z, direction);
    this.matrix.compose(from, this.q, this.scale.setScalar(head));
    this.mesh.setMatrixAt(this.mesh.count, this.matrix);
    this.stretch.setXYZ(this.mesh.count, 0, 0, Math.max(0, length / head - HEAD));
    this.mesh.count += 1;
  }
}

/** Cones with their tip at a point, seen through. */
export class Cones extends Glyphs {
  /**
   * @param {THREE.ColorRepresentation} color @param {number} edges of the polygon; many: a circle
   * @param {number} turn rad, of the first edge about the axis @param {number} [order]
   */
  constructor(color, edges, turn, order = 9) {
    const corners = Array.from({ length: edges + 1 }, (_, i) => [Math.cos(turn + (2 * Math.PI * i) / edges), Math.sin(turn + (2 * Math.PI * i) / edges), 1]);
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.Float32BufferAttribute([0, 0, 0, ...corners.flat()], 3));
    geometry.setIndex(Array.from({ length: edges }, (_, i) => [0, i + 1, i + 2]).flat());
    const material = glyphMaterial(color);
    material.opacity = 0.2;
    material.side = THREE.DoubleSide;
    super(geometry, material, order);
    this.axes = [new THREE.Vector3(), new THREE.Vector3(), new THREE.Vector3()];
  }

  /**
   * @param {THREE.Vector3} tip in W @param {THREE.Vector3} axis unit vector, into the opening
   * @param {THREE.Vector3} across unit vector perpendicular to it: where the first edge is without a turn
   * @param {number} height m @param {number} radius m, of the opening
   */
  add(tip, axis, across, height, radius) {
    if (this.mesh.count >= MAX_GLYPHS || !(height > 0 && radius > 0)) return;
    const [x, y, z] = this.axes;
    y.crossVectors(axis, across).multiplyScalar(radius);
    this.matrix.makeBasis(x.copy(across).multiplyScalar(radius), y, z.copy(axis).multiplyScalar(height)).setPosition(tip);
    this.mesh.setMatrixAt(this.mesh.count, this.matrix);
    this.mesh.count += 1;
  }
}

/** Sectors of disks, seen through, darker along the rim. */
export class Sectors extends Glyphs {
  /** @param {THREE.ColorRepresentation} color @param {number} [order] */
  constructor(color, order = 8) {
    const pieces = 48;
    const radii = [0, 0.9, 1];
    const geometry = new THREE.BufferGeometry();
    // radius and share of the angle
    geometry.setAttribute("position", new THREE.Float32BufferAttribute(Array.from({ length: pieces + 1 }, (_, i) => radii.flatMap((r) => [r, i / pieces, 0])).flat(), 3));
    const strip = (/** @type {number} */ a, /** @type {number} */ b) => Array.from({ length: pieces }, (_, i) => [3 * i + a, 3 * i + b, 3 * i + 3 + b, 3 * i + a, 3 * i + 3 + b, 3 * i + 3 + a]).flat();
    geometry.setIndex([...strip(0, 2), ...strip(1, 2), ...strip(1, 2)]);
    super(geometry, glyphMaterial(color, "sector"), order);
    Object.assign(this.mesh.material, { opacity: 0.2, side: THREE.DoubleSide });
    this.axis = new THREE.Vector3();
  }

  /**
   * @param {THREE.Vector3} middle in W @param {THREE.Vector3} zero unit vector, where angles begin
   * @param {THREE.Vector3} across unit vector perpendicular to it: at a quarter turn
   * @param {number} radius m @param {number} from rad @param {number} to rad
   */
  add(middle, zero, across, radius, from, to) {
    if (this.mesh.count >= MAX_GLYPHS) return;
    this.matrix.makeBasis(zero, across, this.axis.crossVectors(zero, across)).scale(this.scale.setScalar(radius)).setPosition(middle);
    this.mesh.setMatrixAt(this.mesh.count, this.matrix);
    this.stretch.setXYZ(this.mesh.count, from, to, 0);
    this.mesh.count += 1;
  }
}

/** Rods from a point along a direction. */
export class Bars extends Glyphs {
  /** @param {THREE.ColorRepresentation} color @param {number} [order] @param {boolean} [tinted] each has a colour of its own; then `color` is white */
  constructor(color, order = 10, tinted = false) {
    super(new THREE.CylinderGeometry(1, 1, 1, 8).rotateX(Math.PI / 2).translate(0, 0, 0.5), glyphMaterial(color), order);
    if (tinted) this.tint();
  }

  /** @param {THREE.Vector3} from in W @param {THREE.Vector3} direction unit vector @param {number} length m @param {number} radius m @param {THREE.Color} [tint] */
  add(from, direction, length, radius, tint) {
    if (this.mesh.count >= MAX_GLYPHS || !(length > 0)) return;
    if (tint) this.mesh.setColorAt(this.mesh.count, tint);
    this.q.setFromUnitVectors(Z, direction);
    this.matrix.compose(from, this.q, this.scale.set(radius, radius, length));
    this.mesh.setMatrixAt(this.mesh.count, this.matrix);
    this.mesh.count += 1;
  }
}

export class Dots extends Glyphs {
  /** @param {THREE.ColorRepresentation} color @param {number} [order] @param {boolean} [tinted] each dot has a colour of its own; then `color` is white */
  constructor(color, order = 11, tinted = false) {
    super(new THREE.SphereGeometry(1, 10, 6), glyphMaterial(color), order);
    if (tinted) this.tint();
  }

  /**
   * @param {THREE.Vector3} at @param {THREE.Vector3} normal flattened along it @param {number} radius m
   * @param {number} [flat] thickness over radius @param {THREE.Color} [tint]
   */
  add(at, normal, radius, flat = 1, tint) {
    if (this.mesh.count >= MAX_GLYPHS) return;
    if (tint) this.mesh.setColorAt(this.mesh.count, tint);
    this.q.setFromUnitVectors(Z, normal);
    this.matrix.compose(at, this.q, this.scale.set(radius, radius, radius * flat));
    this.mesh.setMatrixAt(this.mesh.count, this.matrix);
    this.mesh.count += 1;
  }
}
