/**
 * Planes of the scene: floors as a grid that fades out, walls as faint panes seen from inside. A scene
 * without a floor gets lines for orientation only, below everything, and no surface.
 *
 * @import {Scene} from "./types.js"
 */
import * as THREE from "three";
import { planesOf, sizeOf } from "./shapes.js";
import { gridMaterial } from "./shading.js";

const LOOK = {
  dark: { floor: "#2b333b", line: "#56636f", wall: "#8fb0cc", checker: 0.13 },
  light: { floor: "#c9d0d6", line: "#98a4ae", wall: "#5a7f9f", checker: 0.05 },
};

/** @param {number} size m @returns {number} m: 1, 2 or 5 times a power of ten, near a sixth of the size */
function cellFor(size) {
  const raw = size / 6;
  const power = 10 ** Math.floor(Math.log10(raw));
  return power * ([1, 2, 5].find((step) => step * power >= raw * 0.75) ?? 10);
}

export class Ground {
  /**
   * @param {Scene} scene
   * @param {THREE.Box3} bounds of the bodies at the start
   * @param {"dark" | "light"} theme
   */
  constructor(scene, bounds, theme) {
    this.root = new THREE.Group();
    this.bounds = bounds;
    this.size = sizeOf(bounds);
    this.cell = cellFor(this.size);
    this.look = LOOK[theme];
    /** @type {{p: THREE.Vector3, q: THREE.Quaternion}[]} normals along z */
    this.floors = [];
    /** @type {{body: number, mesh: THREE.Object3D}[]} */
    this.planes = [];
    for (const { body, p, q, isFloor } of planesOf(scene)) {
      if (isFloor) this.floors.push({ p, q });
      const mesh = isFloor ? this.floor(p, q) : this.wall(p, q);
      this.planes.push({ body, mesh });
      this.root.add(mesh);
    }
    if (!this.floors.length) this.root.add(this.reference());
  }

  /** Planes of absent bodies, whose poses are no numbers, are not drawn. @param {Float32Array} poses */
  setPoses(poses) {
    for (const { body, mesh } of this.planes) mesh.visible = Number.isFinite(poses[7 * body]);
  }

  /** @param {THREE.Vector3} p @param {THREE.Quaternion} q */
  floor(p, q) {
    const reach = Math.max(14 * this.size, 30 * this.cell);
    const mesh = this.plane(reach, { opacity: 1, checker: this.look.checker });
    // centred below the bodies, moved by whole pairs of cells so that the checker stays on round coordinates
    const middle = this.bounds.getCenter(new THREE.Vector3()).sub(p).applyQuaternion(q.clone().invert());
    const pitch = 2 * this.cell;
    middle.set(Math.round(middle.x / pitch) * pitch, Math.round(middle.y / pitch) * pitch, 0);
    mesh.position.copy(middle.applyQuaternion(q).add(p));
    mesh.quaternion.copy(q);
    return mesh;
  }

  /** Finite pane over the extent of the bodies; drawn from the side its normal points to. @param {THREE.Vector3} p @param {THREE.Quaternion} q */
  wall(p, q) {
    const local = this.bounds.clone().applyMatrix4(new THREE.Matrix4().compose(p, q, new THREE.Vector3(1, 1, 1)).invert());
    const [width, height] = [local.max.x - local.min.x, local.max.y - local.min.y].map((edge) => edge * 1.05 + this.cell * 0.2);
    const middle = local.getCenter(new THREE.Vector3()).setZ(0);
    const material = new THREE.MeshBasicMaterial({ color: this.look.wall, transparent: true, opacity: 0.07, depthWrite: false, side: THREE.DoubleSide });
    const mesh = new THREE.Mesh(new THREE.PlaneGeometry(width, height), material);
    const edges = new THREE.LineSegments(new THREE.EdgesGeometry(mesh.geometry), new THREE.LineBasicMaterial({ color: this.look.wall, transparent: true, opacity: 0.45 }));
    mesh.add(edges);
    mesh.position.copy(middle.applyQuaternion(q).add(p));
    mesh.quaternion.copy(q);
    return mesh;
  }

  reference() {
    const mesh = this.plane(7 * this.size, { opacity: 0.5, checker: this.look.checker });
    const middle = this.bounds.getCenter(new THREE.Vector3());
    const pitch = 2 * this.cell;
    const below = Math.floor((this.bounds.min.z - 0.12 * this.size) / this.cell) * this.cell;
    mesh.position.set(Math.round(middle.x / pitch) * pitch, Math.round(middle.y / pitch) * pitch, below);
    return mesh;
  }

  /** @param {number} reach m @param {{opacity: number, checker: number}} strength */
  plane(reach, { opacity, checker }) {
    const material = gridMaterial({
      cell: this.cell, fade: reach / 2, color: new THREE.Color(this.look.floor), line: new THREE.Color(this.look.line), opacity, checker });
    const mesh = new THREE.Mesh(new THREE.PlaneGeometry(reach, reach), material);
    mesh.receiveShadow = true;
    mesh.renderOrder = -1;
    return mesh;
  }

  dispose() {
    this.root.traverse((object) => {
      if (object instanceof THREE.Mesh || object instanceof THREE.LineSegments) {
        object.geometry.dispose();
        object.material.dispose();
      }
    });
  }
}
