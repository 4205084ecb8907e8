/**
 * The newest events as a list: contacts that begin and end, joints that break.
 *
 * @import {Happening, Scene} from "./types.js"
 */
import { byId, make } from "./dom.js";
import { quantity, seconds } from "./format.js";
import { showNote } from "./messages.js";

const SHOWN = 8;
const WORDS = { begin: "touches", end: "leaves", break: "broke" };

export class Happenings {
  /** @param {(step: number, text: string) => void} onBreak */
  constructor(onBreak) {
    this.onBreak = onBreak;
    this.host = byId("happenings", HTMLElement);
    /** @type {Scene | null} */
    this.scene = null;
    /** @type {Happening[]} newest first */
    this.newest = [];
    this.changed = true;
  }

  /** @param {Scene} scene */
  open(scene) {
    this.scene = scene;
    this.clear();
  }

  clear() {
    this.newest = [];
    this.changed = true;
  }

  /** @param {Happening[]} happenings @param {{told?: boolean}} [how] told: they are of the past, no note pops up */
  add(happenings, { told = false } = {}) {
    if (!happenings.length) return;
    for (const one of happenings) {
      if (one.kind !== "break") continue;
      const text = `${this.describe(one)} at ${seconds(one.time)}`;
      this.onBreak(one.step, text);
      if (!told) showNote(text);
    }
    this.newest = [...happenings.slice(-SHOWN).reverse(), ...this.newest].slice(0, SHOWN);
    this.changed = true;
  }

  /** @param {Happening} happening @returns {string} */
  describe(happening) {
    const name = (/** @type {number} */ body) => this.scene?.bodies[body]?.name ?? "world";
    if (happening.kind === "break") return `${this.scene?.joints?.[happening.joint]?.name ?? "joint"} ${WORDS.break}`;
    const speed = happening.kind === "begin" ? `, ${quantity(happening.speed, "m/s")}` : "";
    return `${name(happening.bodies[1])} ${WORDS[happening.kind]} ${name(happening.bodies[0])}${speed}`;
  }

  update() {
    if (!this.changed) return;
    this.changed = false;
    const rows = this.newest.map((one) => make("li", { "data-kind": one.kind }, make("span", {}, this.describe(one)), make("time", {}, seconds(one.time))));
    this.host.replaceChildren(...(rows.length ? rows : [make("li", { class: "muted" }, "None yet.")]));
  }
}
