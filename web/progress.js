/** What takes long, in words, with a bar and the seconds that it has taken. */
import { make, setText } from "./dom.js";

/** ms until something counts as long, and between two looks at the clock */
const SOON_MS = 400;
const TICK_MS = 500;

export class Progress {
  constructor() {
    this.words = make("span");
    this.element = make("p", { role: "status", class: "working", hidden: true }, this.words, make("progress", { "aria-label": "Working" }));
  }

  /**
   * @template T
   * @param {string} words what is done @param {Promise<T>} work @returns {Promise<T>}
   */
  async through(words, work) {
    const began = performance.now();
    const timer = window.setInterval(() => {
      const took = performance.now() - began;
      if (took < SOON_MS) return;
      this.element.hidden = false;
      setText(this.words, `${words}… ${Math.round(took / 1000)} s`);
    }, TICK_MS);
    try {
      return await work;
    } finally {
      clearInterval(timer);
      this.element.hidden = true;
    }
  }
}
