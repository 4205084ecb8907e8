/** Elements of SVG. */
const NS = "http://www.w3.org/2000/svg";

/** @param {string} name @param {Record<string, string | number>} attributes */
export function node(name, attributes) {
  const element = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  return element;
}

/** @param {string} words @param {number} x @param {number} y @param {string} anchor */
export function label(words, x, y, anchor) {
  const element = node("text", { x, y, "text-anchor": anchor });
  element.textContent = words;
  return element;
}
