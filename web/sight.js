/**
 * Keeps what moves in sight: the camera goes along when the bodies leave where they were, and back when they spread.
 *
 * @import {Scene} from "./types.js"
 * @import {Stage} from "./stage.js"
 */
import * as THREE from "three";
import { sizeOf } from "./shapes.js";

/** Share of the scene's size the bodies may wander before the camera follows. */
const LEASH = 0.2;
/** Room about the bodies, over the root of their mean square distance from their middle. */
const SPREAD = 1.2;
/** The camera follows a scene that spreads up to this many times its first size. */
const WIDEST = 40;
/** Bodies farther than this from where the scene started, over its size, have blown up: the camera does not look for them. */
const LOST = 1e5;
const HERE = new THREE.Vector3();

export class Sight {
  /** @param {Stage} stage @param {Scene} scene @param {THREE.Box3} bounds of the scene as it starts */
  constructor(stage, scene, bounds) {
    this.stage = stage;
    this.bounds = bounds;
    this.size = sizeOf(bounds);
    this.moving = scene.bodies.flatMap((body, i) => (body.type === "static" ? [] : [i]));
    /** @type {THREE.Vector3 | null} middle of the moving bodies the camera was set up for */
    this.home = null;
    /** m, how far the bodies may move from `home` before the camera follows; 0 once, for a run that is not at its start */
    this.leash = 0;
    /** m, how far the moving bodies have been from their middle since the camera was set up */
    this.spread = 1;
  }

  /** @param {number} body @param {Float32Array} poses */
  isLost(body, poses) {
    return !(this.bounds.distanceToPoint(HERE.fromArray(poses, 7 * body)) < LOST * this.size);
  }

  /** @param {Float32Array} poses @returns {THREE.Vector3 | null} mean position of the bodies that can move */
  middle(poses) {
    const sum = new THREE.Vector3();
    let count = 0;
    for (const i of this.moving) {
      if (this.isLost(i, poses)) continue;
      sum.add(HERE.fromArray(poses, 7 * i));
      count += 1;
    }
    return count ? sum.divideScalar(count) : null;
  }

  /**
   * How far apart the bodies that can move are: a body that flies off alone hardly counts among many.
   * @param {THREE.Vector3} from @param {Float32Array} poses @returns {number} m, no less than half of the scene's first size
   */
  spreadFrom(from, poses) {
    let [sum, count] = [0, 0];
    for (const i of this.moving) {
      if (this.isLost(i, poses)) continue;
      sum += from.distanceToSquared(HERE.fromArray(poses, 7 * i));
      count += 1;
    }
    return Math.max(this.size / 2, SPREAD * Math.sqrt(sum / Math.max(1, count)));
  }

  /** Moves the camera along when the bodies leave a sphere about where they were, and back when they spread. @param {Float32Array} poses */
  keep(poses) {
    const now = this.middle(poses);
    if (!now || !this.home) return;
    const spread = Math.min(WIDEST * this.size, this.spreadFrom(now, poses));
    if (spread > this.spread) {
      this.stage.widen(spread / this.spread);
      this.spread = spread;
    }
    const away = now.sub(this.home);
    const excess = away.length() - this.leash;
    this.leash = LEASH * this.size;
    if (excess <= 0) return;
    this.home.add(away.setLength(excess));
    this.stage.shift(away);
  }

  /** From here on the camera follows: after it was set up anew. @param {Float32Array} poses */
  settle(poses) {
    this.home = this.middle(poses);
    this.spread = this.home ? this.spreadFrom(this.home, poses) : this.size;
  }
}
