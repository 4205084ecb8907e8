/**
 * The reflection in a polished floor, fainter for what is higher above it: every body is drawn once more, on the floor where its
 * mirror image is seen. Instances share the matrices and colours of the bodies, so a frame costs no script.
 *
 *     p  a point of a body, h its height above the floor, c that of the eye [m]; n the floor's normal
 *     p - 2 h n is the mirror image; the line of sight to it meets the floor at the share c / (c + h) of its length
 *
 * @import {Group} from "./bodies.js"
 */
import * as THREE from "three";
import { stretch } from "./shading.js";

/** Opacity of the mirror image where a body touches the floor. */
const STRENGTH = { dark: 0.24, light: 0.2 };
/** Height, as a share of the size of the scene, at which the opacity has fallen to 1/e of that. */
const FADING = 0.25;
/** At most so many kinds of shapes are mirrored, and nothing in scenes with more bodies: every triangle is drawn again. */
const MAX_KINDS = 6;
const MAX_BODIES = 400;

const VERTEX = `
  vec4 world = instanceMatrix * vec4(transformed, 1.0);
  float height = dot(world.xyz - floorPoint, floorUp);
  float eye = dot(cameraPosition - floorPoint, floorUp);
  vec3 image = world.xyz - 2.0 * height * floorUp;
  vec4 mvPosition = viewMatrix * vec4(image, 1.0);
  vFade = height > 0.0 ? strength * exp(-height / fading) : 0.0;
  gl_Position = eye > 0.0 && height > -fading ? projectionMatrix * mvPosition : vec4(2.0, 2.0, 2.0, 1.0);
  if (eye > 0.0 && height > 0.0) {
    vec4 met = projectionMatrix * viewMatrix * vec4(mix(cameraPosition, image, eye / (eye + height)), 1.0);
    gl_Position.z = (met.z / met.w) * gl_Position.w;
  }`;

export class Reflection {
  /**
   * @param {Group[]} groups of the bodies
   * @param {{p: THREE.Vector3, q: THREE.Quaternion}} floor normal along its z
   * @param {"dark" | "light"} theme
   * @param {number} size m, of the scene
   */
  constructor(groups, floor, theme, size) {
    this.root = new THREE.Group();
    this.material = mirrored(floor, STRENGTH[theme], FADING * size);
    const seen = groups.filter(({ mesh }) => mesh.castShadow).sort((a, b) => b.parts.length - a.parts.length);
    if (seen.reduce((sum, { parts }) => sum + parts.length, 0) > MAX_BODIES) return;
    for (const { mesh, parts } of seen.slice(0, MAX_KINDS)) {
      const image = new THREE.InstancedMesh(mesh.geometry, this.material, parts.length);
      image.instanceMatrix = mesh.instanceMatrix;
      image.instanceColor = mesh.instanceColor;
      image.frustumCulled = false;
      image.renderOrder = -0.7; // after the floor, before the dark spots on it
      this.root.add(image);
    }
  }

  dispose() {
    this.material.dispose();
  }
}

/** @param {{p: THREE.Vector3, q: THREE.Quaternion}} floor @param {number} strength @param {number} fading m */
function mirrored({ p, q }, strength, fading) {
  // a reflection reverses the winding of triangles
  const material = new THREE.MeshBasicMaterial({ side: THREE.BackSide, transparent: true, depthWrite: false, polygonOffset: true, polygonOffsetFactor: -1, polygonOffsetUnits: -4 });
  const uniforms = { floorPoint: { value: p }, floorUp: { value: new THREE.Vector3(0, 0, 1).applyQuaternion(q) }, strength: { value: strength }, fading: { value: fading } };
  material.onBeforeCompile = (shader) => {
    stretch(shader);
    Object.assign(shader.uniforms, uniforms);
    shader.vertexShader = shader.vertexShader
      .replace("#include <common>", "#include <common>\nuniform vec3 floorPoint, floorUp;\nuniform float strength, fading;\nvarying float vFade;")
      .replace("#include <project_vertex>", VERTEX);
    shader.fragmentShader = shader.fragmentShader
      .replace("#include <common>", "#include <common>\nvarying float vFade;")
      .replace("#include <color_fragment>", "#include <color_fragment>\ndiffuseColor.a *= vFade;");
  };
  material.customProgramCacheKey = () => "reflection";
  return material;
}
