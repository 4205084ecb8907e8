/**
 * Typed events: `Emits` maps names to what a listener receives.
 *
 * @import {Failure} from "./session.js"
 * @import {Frame, Problem} from "./types.js"
 */

/**
 * @typedef {object} SessionEvents
 * @property {Frame} frame              a live frame
 * @property {string} state             the run state changed
 * @property {"live" | "history"} mode
 * @property {Record<string, any>} event  of the server
 * @property {{status: string, detail: string}} connection
 * @property {Problem} problem
 * @property {null} epoch               a new epoch began: discard what was drawn
 * @property {null} returned            the connection is back: events meanwhile were missed
 * @property {Failure} failure          why the run cannot go on; once, whenever it happened
 * @property {string} idle              a command without effect, in words
 */

/** @template {Record<string, unknown>} Emits */
export class Emitter {
  constructor() {
    /** @type {Map<keyof Emits, Set<(value: any) => void>>} */
    this.listeners = new Map();
  }

  /**
   * @template {keyof Emits} Name
   * @param {Name} name
   * @param {(value: Emits[Name]) => void} listener
   */
  on(name, listener) {
    const set = this.listeners.get(name) ?? new Set();
    set.add(listener);
    this.listeners.set(name, set);
  }

  /**
   * @template {keyof Emits} Name
   * @param {Name} name
   * @param {Emits[Name]} value
   */
  emit(name, value) {
    for (const listener of this.listeners.get(name) ?? []) listener(value);
  }
}
