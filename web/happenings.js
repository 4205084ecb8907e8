/**
 * The newest events as a list: contacts that begin and end, joints that break, triggers that fire, bodies that come and go.
 *
 * @import {Happening, Scene} from "./types.js"
 */
import { byId, make } from "./dom.js";
import { quantity, seconds } from "./format.js";
import { showNote } from "./messages.js";

const SHOWN = 8;
/** The newest events that are remembered, so that each is listed once. */
const MAX_KNOWN = 20_000;
const WORDS = { begin: "touches", end: "leaves", break: "broke", trigger: "fired", appear: "appeared", vanish: "vanished" };

export class Happenings {
  /** @param {(happening: Happening, text: string) => void} onMark what the timeline marks: breaks and triggers */
  constructor(onMark) {
    this.onMark = onMark;
    this.host = byId("happenings", HTMLElement);
    /** @type {Scene | null} */
    this.scene = null;
    /** @type {Happening[]} newest first */
    this.newest = [];
    /** @type {Set<string>} */
    this.known = new Set();
    this.changed = true;
  }

  /** @param {Scene} scene */
  open(scene) {
    this.scene = scene;
    this.clear();
  }

  clear() {
    this.known = new Set();
    this.newest = [];
    this.changed = true;
  }

  /** @param {Happening[]} happenings in any order; those that are known already are left out @param {{told?: boolean}} [how] told: they are from the past, and show no note */
  add(happenings, { told = false } = {}) {
    const fresh = happenings.filter((one) => !this.known.has(keyOf(one)));
    if (!fresh.length) return;
    for (const one of fresh) {
      this.known.add(keyOf(one));
      if (this.known.size > MAX_KNOWN) this.known.delete(/** @type {string} */ (this.known.values().next().value));
      if (one.kind !== "break" && one.kind !== "trigger") continue;
      const text = `${this.describe(one)} at ${this.timeOf(one)}`;
      this.onMark(one, text);
      if (!told) showNote(text);
    }
    this.newest = [...fresh, ...this.newest].sort((a, b) => b.time - a.time).slice(0, SHOWN);
    this.changed = true;
  }

  /** @param {Happening} happening @returns {string} */
  describe(happening) {
    const name = (/** @type {number} */ body) => this.scene?.bodies[body]?.name ?? "world";
    if (happening.kind === "trigger") return `${this.scene?.triggers?.[happening.joint]?.name ?? "trigger"} ${WORDS.trigger}`;
    if (happening.kind === "break") return `${this.scene?.joints?.[happening.joint]?.name ?? "joint"} ${WORDS.break}`;
    if (happening.kind === "appear" || happening.kind === "vanish") return `${name(happening.bodies[0])} ${WORDS[happening.kind]}`;
    const speed = happening.kind === "begin" ? `, ${quantity(happening.speed, "m/s")}` : "";
    return `${name(happening.bodies[1])} ${WORDS[happening.kind]} ${name(happening.bodies[0])}${speed}`;
  }

  /** @param {Happening} happening */
  timeOf({ time }) {
    return seconds(time, this.scene?.simulation?.dt);
  }

  update() {
    if (!this.changed) return;
    this.changed = false;
    const rows = this.newest.map((one) => make("li", { "data-kind": one.kind }, make("span", {}, this.describe(one)), make("time", {}, this.timeOf(one))));
    this.host.replaceChildren(...(rows.length ? rows : [make("li", { class: "muted" }, "None yet.")]));
  }
}

/** @param {Happening} happening @returns {string} */
function keyOf({ kind, step, time, bodies, shapes, joint }) {
  return [kind, step, time, bodies, shapes, joint].join(" ");
}
