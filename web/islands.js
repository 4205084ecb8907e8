/**
 * Which bodies hold or touch each other, through others too: what the solver solves together. Bodies
 * that do not move join nothing.
 *
 * @import {Contacts, Scene} from "./types.js"
 */

/**
 * @param {Scene} scene @param {Contacts | null} contacts
 * @returns {Int32Array} number of the island of each body, -1 where it is alone or does not move
 */
export function islandsOf(scene, contacts) {
  const count = scene.bodies.length;
  const parent = Int32Array.from({ length: count }, (_, i) => i);
  const size = new Int32Array(count).fill(1);
  const fixed = scene.bodies.map((body) => (body.type ?? "dynamic") !== "dynamic");
  const rootOf = (/** @type {number} */ i) => {
    let root = i;
    while (parent[root] !== root) root = parent[root] = parent[parent[root]];
    return root;
  };
  const join = (/** @type {number} */ i, /** @type {number} */ j) => {
    if (!(i >= 0 && j >= 0 && i < count && j < count) || fixed[i] || fixed[j]) return;
    const [a, b] = [rootOf(i), rootOf(j)];
    if (a === b) return;
    parent[Math.max(a, b)] = Math.min(a, b);
    size[Math.min(a, b)] += size[Math.max(a, b)];
  };
  const named = new Map(scene.bodies.map((body, i) => [body.name, i]));
  for (const joint of scene.joints ?? []) join(named.get(joint.parent) ?? -1, named.get(joint.child) ?? -1);
  for (let i = 0; contacts && i < contacts.count; i += 1) join(contacts.bodies[2 * i], contacts.bodies[2 * i + 1]);
  /** @type {Map<number, number>} */
  const numbers = new Map();
  return Int32Array.from({ length: count }, (_, i) => {
    const root = rootOf(i);
    if (fixed[i] || size[root] === 1) return -1;
    if (!numbers.has(root)) numbers.set(root, numbers.size);
    return numbers.get(root) ?? -1;
  });
}
