/** The three axes as the camera sees them; a click looks along one. */
import * as THREE from "three";

const COLORS = { x: "#e5484d", y: "#3f9b57", z: "#3b82d6" };
const REACH = 34;
const NS = "http://www.w3.org/2000/svg";

export class Gizmo {
  /** @param {SVGElement} svg @param {(direction: THREE.Vector3) => void} onLook from the target to the camera */
  constructor(svg, onLook) {
    this.svg = svg;
    this.inverse = new THREE.Quaternion();
    this.last = new THREE.Quaternion();
    this.placed = false;
    this.ends = ["x", "y", "z"].flatMap((name) => [1, -1].map((sign) => {
      const direction = new THREE.Vector3(name === "x" ? sign : 0, name === "y" ? sign : 0, name === "z" ? sign : 0);
      const color = COLORS[/** @type {"x" | "y" | "z"} */ (name)];
      const group = node("g", { role: "button", tabindex: "0", "aria-label": `View from ${sign > 0 ? "plus" : "minus"} ${name}` });
      const line = node("line", { stroke: color, "stroke-width": "2.4" });
      const circle = node("circle", sign > 0 ? { r: "9.5", fill: color } : { r: "5", fill: color, "fill-opacity": "0.35", stroke: color, "stroke-width": "1.2" });
      const text = node("text", { fill: "#ffffff" });
      if (sign > 0) {
        text.textContent = name;
        group.append(line);
      }
      group.append(circle, text);
      group.addEventListener("click", () => onLook(direction.clone()));
      group.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault(); // a space would scroll the page
        onLook(direction.clone());
      });
      svg.append(group);
      return { direction, group, line, circle, text };
    }));
  }

  /** @param {THREE.Camera} camera */
  update(camera) {
    if (this.placed && camera.quaternion.angleTo(this.last) < 1e-4) return;
    this.placed = true;
    this.last.copy(camera.quaternion);
    this.inverse.copy(camera.quaternion).invert();
    const placed = this.ends.map((end) => ({ ...end, at: end.direction.clone().applyQuaternion(this.inverse) }));
    placed.sort((a, b) => a.at.z - b.at.z);
    const focused = document.activeElement;
    for (const { at, group, line, circle, text } of placed) {
      const [x, y] = [at.x * REACH, -at.y * REACH];
      for (const [element, names] of /** @type {const} */ ([[line, ["x2", "y2"]], [circle, ["cx", "cy"]], [text, ["x", "y"]]])) {
        element.setAttribute(names[0], x.toFixed(1));
        element.setAttribute(names[1], y.toFixed(1));
      }
      // moving a focused element would take its focus away
      if (!group.contains(focused)) this.svg.append(group);
    }
  }
}

/** @param {string} name @param {Record<string, string>} attributes */
function node(name, attributes) {
  const element = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}
