/**
 * Soft dark spots where bodies stand on the floor or hover close above it: ambient occlusion by their extents, in one draw
 * call per kind of shape. Instances share the matrices of the bodies, so a frame costs no script.
 *
 *     a_k    half axes of an instance, columns of its matrix times its extents     [m]
 *     M      = sum_k (a_k . t_i)(a_k . t_j), t_i along the floor: its outline is about the ellipse d^T M^-1 d = 1
 *            (a hundredth of its trace is added, so that it is never a line)
 *     gap    = height of the middle above the floor less sqrt(sum_k (a_k . n)^2)     [m]
 *
 * @import {Group} from "./bodies.js"
 */
import * as THREE from "three";
import { halfExtents } from "./shapes.js";

/** Kinds of shapes with spots, those of most bodies first: each is a draw call. */
const MAX_KINDS = 4;
const DARKNESS = { dark: 0.55, light: 0.34 };

const VERTEX = `
  vec3 along = cross(floorUp, floorAcross);
  vec3 c = instanceMatrix[3].xyz;
  vec3 a = instanceMatrix[0].xyz * reach.x, b = instanceMatrix[1].xyz * reach.y, e = instanceMatrix[2].xyz * reach.z;
  vec3 u = vec3(dot(a, floorAcross), dot(b, floorAcross), dot(e, floorAcross));
  vec3 v = vec3(dot(a, along), dot(b, along), dot(e, along));
  float height = dot(c - floorPoint, floorUp);
  float gap = max(0.0, height - length(vec3(dot(a, floorUp), dot(b, floorUp), dot(e, floorUp))));
  vec3 m = vec3(dot(u, u), dot(u, v), dot(v, v));
  m.xz += 0.01 * (m.x + m.z);
  float det = m.x * m.z - m.y * m.y;
  float size = sqrt(sqrt(det));
  vSoft = 1.5 + gap / size;
  vDark = height > 0.0 ? darkness * exp(-gap / (0.4 * size)) : 0.0;
  vInverse = vec3(m.z, -m.y, m.x) / det;
  vOff = position.xy * sqrt(m.xz) * vSoft;
  vec3 at = c - floorUp * height + floorAcross * vOff.x + along * vOff.y;
  vec4 mvPosition = viewMatrix * vec4(at, 1.0);
  gl_Position = vDark > 0.01 ? projectionMatrix * mvPosition : vec4(2.0, 2.0, 2.0, 1.0);`;

export class ContactShadows {
  /**
   * @param {Group[]} groups of the bodies
   * @param {{p: THREE.Vector3, q: THREE.Quaternion}} floor normal along its z
   * @param {"dark" | "light"} theme
   */
  constructor(groups, floor, theme) {
    this.root = new THREE.Group();
    this.material = spotMaterial(floor, DARKNESS[theme]);
    const seen = groups.filter(({ mesh }) => mesh.castShadow).sort((a, b) => b.parts.length - a.parts.length);
    for (const { mesh, parts } of seen.slice(0, MAX_KINDS)) {
      const geometry = new THREE.PlaneGeometry(2, 2);
      const reach = parts.flatMap(({ shape, scale }) => (halfExtents(shape) ?? [0, 0, 0]).map((half, k) => half / (scale[k] || 1)));
      geometry.setAttribute("reach", new THREE.InstancedBufferAttribute(new Float32Array(reach), 3));
      const spots = new THREE.InstancedMesh(geometry, this.material, parts.length);
      spots.instanceMatrix = mesh.instanceMatrix;
      spots.frustumCulled = false;
      spots.renderOrder = -0.5; // after the floor, before the bodies
      this.root.add(spots);
    }
  }

  dispose() {
    for (const spots of this.root.children) if (spots instanceof THREE.Mesh) spots.geometry.dispose();
    this.material.dispose();
  }
}

/** @param {{p: THREE.Vector3, q: THREE.Quaternion}} floor @param {number} darkness */
function spotMaterial({ p, q }, darkness) {
  const material = new THREE.MeshBasicMaterial({ color: "#000", transparent: true, depthWrite: false, toneMapped: false, polygonOffset: true, polygonOffsetFactor: -2, polygonOffsetUnits: -8 });
  const [up, across] = [new THREE.Vector3(0, 0, 1), new THREE.Vector3(1, 0, 0)].map((axis) => axis.applyQuaternion(q));
  const uniforms = { floorPoint: { value: p }, floorUp: { value: up }, floorAcross: { value: across }, darkness: { value: darkness } };
  const varyings = "varying vec2 vOff;\nvarying vec3 vInverse;\nvarying float vDark, vSoft;";
  material.onBeforeCompile = (shader) => {
    Object.assign(shader.uniforms, uniforms);
    shader.vertexShader = shader.vertexShader
      .replace("#include <common>", `#include <common>\nattribute vec3 reach;\nuniform vec3 floorPoint, floorUp, floorAcross;\nuniform float darkness;\n${varyings}`)
      .replace("#include <project_vertex>", VERTEX);
    shader.fragmentShader = shader.fragmentShader
      .replace("#include <common>", `#include <common>\n${varyings}`)
      .replace("#include <color_fragment>", `float d = sqrt(max(0.0, vInverse.x * vOff.x * vOff.x + 2.0 * vInverse.y * vOff.x * vOff.y + vInverse.z * vOff.y * vOff.y));
        diffuseColor.a *= vDark * (1.0 - smoothstep(0.5, vSoft, d));`);
  };
  material.customProgramCacheKey = () => "spot";
  return material;
}
