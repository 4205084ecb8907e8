/** Typed events: `Emits` maps names to what a listener receives. */

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
