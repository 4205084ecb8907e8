/**
 * The examples in groups, with a title a person would say and a picture of each from pictures/.
 *
 * @import {Comparing, Example} from "./types.js"
 */
import { byId, make } from "./dom.js";
import { theme } from "./theme.js";

/** In the order in which they are shown; an example that is not named here comes last. @type {[group: string, titles: Record<string, string>][]} */
const GROUPS = [
  ["Pendulums and linkages", { "double-pendulum": "Double pendulum", "pendulum-wave": "Pendulum wave", "kapitza-pendulum": "Pendulum on its head", "slider-crank": "Crank drives a piston", "gear-train": "Gears, a rack and a screw", "planetary-gear": "Planetary gear in reverse", "cardan-joint": "Cardan joint" }],
  ["Spinning", { "heavy-top": "Fast top", "tippe-top": "Top that turns over", "spinning-handle": "Handle that flips in space" }],
  ["Contact and friction", { incline: "Does the block slide?", "stick-slip": "Block that judders on a belt", "rolling-race": "Rolling race", "bowling-ball": "Bowling ball grips", "box-tower": "Ten boxes stand", "bouncing-balls": "Bouncing balls", "newtons-cradle": "Newton’s cradle", dominoes: "Dominoes" }],
  ["Machines and figures", { bicycle: "Bicycle that rights itself", "wheeled-cart": "Cart on four wheels", "robot-arm": "Robot arm on its path", "throwing-arm": "Arm throws a ball into a bin", ragdoll: "Rag doll", pile: "Two hundred bodies", terrain: "Solids on a landscape" }],
];

/** @param {Example} example @returns {string} */
function titleOf({ name, title }) {
  for (const [, titles] of GROUPS) if (titles[name]) return titles[name];
  return title || name;
}

/** @param {Example[]} examples @returns {[string, Example[]][]} */
function grouped(examples) {
  const known = new Set(GROUPS.flatMap(([, titles]) => Object.keys(titles)));
  const others = examples.filter(({ name }) => !known.has(name));
  const groups = GROUPS.map(([group, titles]) => /** @type {[string, Example[]]} */ ([group, Object.keys(titles).flatMap((name) => examples.filter((one) => one.name === name))]));
  return [...groups, /** @type {[string, Example[]]} */ (["More", others])].filter(([, list]) => list.length);
}

export class Gallery {
  /**
   * @param {Example[]} examples @param {(name: string) => void} onOpen
   * @param {Comparing[]} comparisons @param {(comparing: Comparing) => void} onCompare
   */
  constructor(examples, onOpen, comparisons, onCompare) {
    const groups = grouped(examples);
    this.examples = groups.flatMap(([, list]) => list.map((example) => ({ ...example, title: titleOf(example) })));
    /** @type {Map<string, {button: HTMLElement, thumb: HTMLElement}>} */
    this.entries = new Map();
    byId("gallery", HTMLElement).replaceChildren(...groups.flatMap(([group, list]) => [make("h3", {}, group), make("ul", {}, ...list.map((example) => this.entry(example.name, titleOf(example), example.description, `${example.name} · ${example.duration} s`, () => onOpen(example.name))))]),
      ...(comparisons.length ? [make("h3", {}, "Two runs compared"), make("ul", {}, ...comparisons.map((one) => this.entry(one.name, one.title, one.look, one.runs.map(({ label }) => label).join(" · "), () => onCompare(one))))] : []));
    this.showPictures();
  }

  /** @param {string} name @param {string} title @param {string} look @param {string} small @param {() => void} open */
  entry(name, title, look, small, open) {
    const thumb = make("span", { class: "thumb" });
    const button = make("button", { type: "button", title: look, onclick: open }, thumb, make("span", {}, make("b", {}, title), make("small", {}, small)));
    this.entries.set(name, { button, thumb });
    return make("li", {}, button);
  }

  /** @param {string | null} name */
  mark(name) {
    for (const [other, { button }] of this.entries) button.setAttribute("aria-current", String(other === name));
    const button = this.entries.get(name ?? "")?.button;
    if (!button) return;
    // the list alone: on a phone the page would scroll away from the view
    const [list, entry] = [byId("gallery", HTMLElement), button.getBoundingClientRect()];
    const { top, bottom, left } = list.getBoundingClientRect();
    if (entry.top < top || entry.bottom > bottom) list.scrollTop += entry.top - top - (bottom - top - entry.height) / 2;
    list.scrollLeft += entry.left - left - (list.clientWidth - entry.width) / 2; // a strip on small screens
  }

  /** @param {string | null} name @param {number} by @returns {string | undefined} the example that many places further; none without a key */
  neighbour(name, by) {
    const at = this.examples.findIndex((example) => example.name === name);
    return this.examples[(at + by + this.examples.length) % this.examples.length]?.name;
  }

  /** The pictures of the theme. */
  showPictures() {
    for (const [name, { thumb }] of this.entries) {
      thumb.replaceChildren(make("img", { src: pictureUrl(name), alt: "", loading: "lazy", width: 76, height: 52 }));
    }
  }
}

/** @param {string} name */
function pictureUrl(name) {
  return new URL(`./pictures/${encodeURIComponent(name)}-${theme()}.webp`, import.meta.url).href;
}
