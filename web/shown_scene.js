/**
 * A stored scene as it starts, shown like a run of a single moment: it can be looked at, not changed. Running it is
 * running a copy, which needs a key; looking at it needs a link.
 *
 * @import {Frame, Scene} from "./types.js"
 */
import * as api from "./api.js";
import { startPoses } from "./shapes.js";
import { StoredRun } from "./stored.js";

/** @param {string} id @param {() => unknown} run starts a copy @returns {Promise<ShownScene>} */
export async function openShownScene(id, run) {
  return new ShownScene(id, await api.getStoredScene(id), run);
}

/** The one moment of a scene that has not begun. */
class Start {
  /** @param {Scene} scene */
  constructor(scene) {
    this.poses = startPoses(scene);
    this.steps = [0];
    this.times = [0];
  }

  indexAt() {
    return 0;
  }

  /** @returns {Frame} */
  frame() {
    return {
      key: true, paused: true, failed: false, gap: false, epoch: 0, sequence: 0, step: 0, time: 0, dropped: 0, bytes: 0,
      poses: this.poses, velocities: null, contacts: null, joints: null, energy: null, solver: null, momentum: null, reactions: null, grab: null, stateHash: null, happenings: null, asleep: null,
    };
  }
}

class ShownScene extends StoredRun {
  /** @param {string} id @param {Scene} scene @param {() => unknown} run starts a copy */
  constructor(id, scene, run) {
    super({ id, status: "scene", error: null }, scene, new Start(scene), null, 1);
    /** @type {"run" | "scene"} */
    this.kind = "scene";
    this.state = "scene";
    /** @type {"live" | "history"} */
    this.mode = "live"; // nothing to replay
    this.run = run;
  }

  /** Play. @override */
  async resume() {
    this.run();
    return true;
  }

  /** @override */
  async step() {
    this.say();
  }

  /** @override */
  async command() {
    this.say();
    return false;
  }

  say() {
    this.emit("idle", "This is a stored scene as it starts: it can be looked at. “Run a copy” starts it in a session of your own.");
  }
}
