/**
 * Materials: the parts of a shape moved apart in the vertex shader (see geometry.js), and the painted
 * quadrants that make rotation visible on round shapes.
 */
import * as THREE from "three";

/** Sign pattern in the frame of the shape: octants of a ball, quadrants about z, none. */
const MARKS = { octants: "m.x * m.y * m.z", quadrants: "m.x * m.y", none: "" };

/** Moves the parts of a shape apart. @param {{vertexShader: string}} shader */
export function stretch(shader) {
  shader.vertexShader = shader.vertexShader
    .replace("#include <common>", "#include <common>\nattribute vec3 corner;\nattribute vec3 stretch;\nvarying vec3 vShape;")
    .replace("#include <begin_vertex>", "vec3 transformed = position + corner * stretch;\nvShape = transformed;");
}

/** What a surface mirrors, softly: a pale sky over a darker ground, more of it at grazing angles. */
const SKY = `{
  vec3 eye = normalize(vViewPosition);
  float up = dot(reflect(-eye, normal), (viewMatrix * vec4(0.0, 0.0, 1.0, 0.0)).xyz);
  float grazing = pow(1.0 - clamp(dot(normal, eye), 0.0, 1.0), 4.0);
  outgoingLight += mix(vec3(0.16, 0.15, 0.14), vec3(0.8, 0.88, 1.0), smoothstep(-0.3, 0.7, up)) * (0.035 + 0.3 * grazing);
}
#include <opaque_fragment>`;

/** @param {keyof typeof MARKS} marks @returns {THREE.MeshStandardMaterial} */
export function bodyMaterial(marks) {
  const material = new THREE.MeshStandardMaterial({ roughness: 0.52, metalness: 0.04 });
  material.onBeforeCompile = (shader) => {
    stretch(shader);
    shader.fragmentShader = shader.fragmentShader.replace("#include <opaque_fragment>", SKY);
    if (!MARKS[marks]) return;
    shader.fragmentShader = shader.fragmentShader
      .replace("#include <common>", "#include <common>\nvarying vec3 vShape;")
      .replace("#include <color_fragment>", `#include <color_fragment>
        vec3 m = clamp(vShape / max(fwidth(vShape), vec3(1e-6)), -1.0, 1.0);
        diffuseColor.rgb *= 0.86 + 0.14 * (${MARKS[marks]});`);
  };
  material.customProgramCacheKey = () => `body-${marks}`;
  return material;
}

/** The same geometry as seen by the light. */
export function bodyDepthMaterial() {
  const material = new THREE.MeshDepthMaterial({ depthPacking: THREE.RGBADepthPacking });
  material.onBeforeCompile = stretch;
  material.customProgramCacheKey = () => "body-depth";
  return material;
}

/**
 * A plane with a checker and lines every `cell` metres, fading out with the distance from its middle.
 * @param {{cell: number, fade: number, color: THREE.Color, line: THREE.Color, opacity: number, checker: number}} look
 */
export function gridMaterial({ cell, fade, color, line, opacity, checker }) {
  const material = new THREE.MeshStandardMaterial({ color, roughness: 0.95, metalness: 0, transparent: true, opacity });
  const uniforms = { cell: { value: cell }, fade: { value: fade }, lineColor: { value: line }, checker: { value: checker } };
  material.onBeforeCompile = (shader) => {
    Object.assign(shader.uniforms, uniforms);
    shader.vertexShader = shader.vertexShader
      .replace("#include <common>", "#include <common>\nvarying vec2 vPlane;")
      .replace("#include <begin_vertex>", "#include <begin_vertex>\nvPlane = position.xy;");
    shader.fragmentShader = shader.fragmentShader
      .replace("#include <common>", `#include <common>
        varying vec2 vPlane;
        uniform float cell, fade, checker;
        uniform vec3 lineColor;
        float gridLine(vec2 p, float width) {
          vec2 w = fwidth(p);
          vec2 d = abs(fract(p - 0.5) - 0.5) / max(w * width, vec2(1e-6));
          float strength = 1.0 - min(min(d.x, d.y), 1.0);
          return strength * (1.0 - smoothstep(0.2, 0.7, max(w.x, w.y)));
        }`)
      .replace("#include <color_fragment>", `#include <color_fragment>
        vec2 p = vPlane / cell;
        vec2 w = max(fwidth(p), vec2(1e-6));
        vec2 tri = abs(fract(p * 0.5) - 0.5) * 2.0 - 0.5;
        vec2 s = clamp(tri / w, -1.0, 1.0) * (1.0 - smoothstep(0.3, 1.0, max(w.x, w.y)));
        diffuseColor.rgb *= 1.0 + checker * s.x * s.y;
        diffuseColor.rgb = mix(diffuseColor.rgb, lineColor, 0.55 * gridLine(p, 1.0) + 0.3 * gridLine(p * 0.2, 1.4));
        diffuseColor.a *= 1.0 - smoothstep(0.25 * fade, fade, length(vPlane));`);
  };
  material.customProgramCacheKey = () => "grid";
  return material;
}
