/**
 * Numbers over simulated time for the plots: append only, bounded, thinned by half when full.
 */

const CAPACITY = 4096;

export class Series {
  /** @param {number} columns values per moment */
  constructor(columns) {
    /** @type {number[]} s, ascending */
    this.times = [];
    /** @type {(number | null)[][]} one array per column */
    this.values = Array.from({ length: columns }, () => []);
    this.spacing = 0;
  }

  clear() {
    this.times = [];
    this.values = this.values.map(() => []);
    this.spacing = 0;
  }

  /** @param {number} time s @param {(number | null)[]} row one value per column */
  push(time, row) {
    const last = this.times[this.times.length - 1] ?? -Infinity;
    if (time <= last || time - last < this.spacing) return;
    this.times.push(time);
    row.forEach((value, i) => this.values[i].push(value));
    if (this.times.length > CAPACITY) this.thin();
  }

  /** Keeps every second moment, and from now on takes only as many. */
  thin() {
    const odd = (/** @type {unknown} */ _, /** @type {number} */ i) => i % 2 === 1;
    this.times = this.times.filter(odd);
    this.values = this.values.map((column) => column.filter(odd));
    this.spacing = 0.75 * (this.times[this.times.length - 1] - this.times[0]) / this.times.length;
  }

  /** @param {number} time s @returns {[number, (number | null)[]][]} what came later, with its times */
  after(time) {
    const first = this.times.findIndex((one) => one > time);
    return first < 0 ? [] : this.times.slice(first).map((at, i) => [at, this.values.map((column) => column[first + i])]);
  }

  /** @param {number} time s @returns {(number | null)[]} the row at or before that moment */
  at(time) {
    let [low, high] = [0, this.times.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.times[middle] <= time) low = middle + 1;
      else high = middle;
    }
    return this.values.map((column) => column[low - 1] ?? null);
  }
}
