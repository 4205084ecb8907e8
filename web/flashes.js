/**
 * What just happened, where it happened: a dot that shrinks away at each new contact and at each
 * joint that broke. They wait until the moment in the view has reached them.
 *
 * @import {Happening} from "./types.js"
 */
import * as THREE from "three";
import { Dots } from "./glyphs.js";

const COLORS = { begin: "#ff9de2", break: "#ff3b30" };
const FLASH_MS = 450;
/** Of a new contact and of a break, over the size of a small glyph. */
const SIZE = { begin: 1.6, break: 4 };
/** More that wait are forgotten, the oldest first. */
const MAX_WAITING = 500;

export class Flashes {
  /** @param {number} unit m, radius of a small glyph */
  constructor(unit) {
    this.unit = unit;
    this.shown = true;
    /** @type {{happening: Happening, since: number}[]} since: ms, when it was first drawn; NaN: not yet */
    this.flashes = [];
    /** how many have been drawn so far */
    this.drawn = { begin: 0, break: 0 };
    this.dots = { begin: new Dots(COLORS.begin, 14), break: new Dots(COLORS.break, 15) };
    this.root = new THREE.Group();
    this.root.add(this.dots.begin.mesh, this.dots.break.mesh);
  }

  /** @param {Happening[]} happenings */
  add(happenings) {
    for (const happening of happenings) {
      if (happening.kind === "begin" || happening.kind === "break") this.flashes.push({ happening, since: NaN });
    }
    this.flashes.splice(0, Math.max(0, this.flashes.length - MAX_WAITING));
  }

  clear() {
    this.flashes = [];
  }

  /** @param {number} time s, the moment in the view @param {number} now ms */
  update(time, now) {
    this.dots.begin.clear();
    this.dots.break.clear();
    const [at, normal] = [new THREE.Vector3(), new THREE.Vector3()];
    this.flashes = this.flashes.filter((flash) => {
      const kind = flash.happening.kind === "break" ? "break" : "begin";
      if (Number.isNaN(flash.since) && flash.happening.time <= time) {
        flash.since = now;
        if (this.shown) this.drawn[kind] += 1;
      }
      const age = (now - flash.since) / FLASH_MS;
      if (age >= 1) return false;
      if (age >= 0 && this.shown) this.dots[kind].add(at.set(...flash.happening.point), normal.set(...flash.happening.normal).normalize(), SIZE[kind] * this.unit * (1 - age));
      return true;
    });
    this.dots.begin.commit();
    this.dots.break.commit();
  }

  dispose() {
    this.dots.begin.dispose();
    this.dots.break.dispose();
  }
}
