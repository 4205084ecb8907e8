/**
 * The examples, with a picture of each from pictures/.
 *
 * @import {Example} from "./types.js"
 */
import { byId, make } from "./dom.js";
import { theme } from "./theme.js";

export class Gallery {
  /** @param {Example[]} examples @param {(name: string) => void} onOpen */
  constructor(examples, onOpen) {
    this.examples = examples;
    /** @type {Map<string, {button: HTMLElement, thumb: HTMLElement}>} */
    this.entries = new Map();
    byId("gallery", HTMLElement).replaceChildren(...examples.map((example) => {
      const thumb = make("span", { class: "thumb" });
      const counts = `${count(example.bodies, "body", "bodies")} · ${count(example.joints, "joint", "joints")} · ${example.duration} s`;
      const button = make("button", { type: "button", title: example.description, onclick: () => onOpen(example.name) },
        thumb, make("span", {}, make("b", {}, example.title || example.name), make("small", {}, counts)));
      this.entries.set(example.name, { button, thumb });
      return make("li", {}, button);
    }));
    this.showPictures();
  }

  /** @param {string | null} name */
  mark(name) {
    for (const [other, { button }] of this.entries) button.setAttribute("aria-current", String(other === name));
  }

  /** @param {string | null} name @param {number} by @returns {string} the example that many places further */
  neighbour(name, by) {
    const at = this.examples.findIndex((example) => example.name === name);
    return this.examples[(at + by + this.examples.length) % this.examples.length].name;
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

/** @param {number} n @param {string} one @param {string} many */
function count(n, one, many) {
  return `${n} ${n === 1 ? one : many}`;
}
