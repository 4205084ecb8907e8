/**
 * Solver heat: how far the constraints of the step ahead miss their laws, as colours of the bodies they act on.
 *
 * @import {ProblemRow} from "./residuals.js"
 * @import {Scene} from "./types.js"
 * @import {Session} from "./session.js"
 * @import {StoredRun} from "./stored.js"
 */
import * as THREE from "three";
import { ProblemError, getSessionProblem } from "./api.js";
import { make, setText } from "./dom.js";
import { quantity } from "./format.js";
import { residualsOf } from "./residuals.js";

/** Residuals at both ends of the colours [m/s or rad/s]. */
const RANGE = [1e-12, 1e-3];
/** ms between two questions while time runs: an answer costs the run a step, and that what it sends */
const AGAIN_MS = 1000;
/** and how much later after a refusal */
const LATER_MS = 10_000;
/** Cold, warm, hot: apart in lightness, dark ones are exact. */
const COLOURS = ["#27496d", "#c9705e", "#ffe9a8"].map((color) => new THREE.Color(color));

/** @param {number} residual @returns {THREE.Color} */
function heatColour(residual) {
  const [low, high] = RANGE.map(Math.log10);
  const u = 2 * Math.min(1, Math.max(0, (Math.log10(Math.max(residual, 1e-300)) - low) / (high - low)));
  return u < 1 ? COLOURS[0].clone().lerp(COLOURS[1], u) : COLOURS[1].clone().lerp(COLOURS[2], u - 1);
}

export class Heat {
  /** @param {Scene} scene @param {HTMLElement} host of the legend */
  constructor(scene, host) {
    this.round = !["box", "polyhedral"].includes(scene.simulation?.contact?.friction_cone ?? "");
    this.index = new Map(scene.bodies.map(({ name }, i) => [name, i]));
    this.words = make("span");
    this.legend = make("div", { class: "heat-legend", hidden: true }, make("i"), this.words);
    host.append(this.legend);
    /** @type {(THREE.Color | null)[] | null} of each body, null: nothing acts on it */
    this.colours = null;
    this.asked = -Infinity;
    this.of = "";
    this.asking = false;
  }

  /** @param {boolean} on @param {Session | StoredRun} session @param {number} step in the view @param {number} now ms */
  update(on, session, step, now) {
    this.legend.hidden = !on;
    if (!on) {
      this.colours = null;
      this.of = "";
      return;
    }
    if (session.stored) {
      setText(this.words, "A stored run has no residuals of single constraints: run it live.");
      return;
    }
    const wanted = `${session.epoch} ${step}`;
    if (this.asking || this.of === wanted || now - this.asked < AGAIN_MS) return;
    this.asked = now;
    this.of = wanted;
    this.ask(session, session.mode === "live" && session.running ? null : step);
  }

  /** @param {Session} session @param {number | null} step null: now */
  async ask(session, step) {
    this.asking = true;
    try {
      this.take((await getSessionProblem(session.id, step)).rows);
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
      this.colours = null;
      this.asked += LATER_MS;
      setText(this.words, error.problem.detail ?? error.problem.title);
    } finally {
      this.asking = false;
    }
  }

  /** @param {ProblemRow[]} rows */
  take(rows) {
    const worst = new Float64Array(this.index.size).fill(-1);
    let most = { name: "", residual: -1 };
    residualsOf(rows, this.round).forEach((residual, i) => {
      for (const name of [rows[i].body_a, rows[i].body_b]) {
        const body = this.index.get(name);
        if (body !== undefined) worst[body] = Math.max(worst[body], residual);
      }
      if (residual > most.residual) most = { name: rows[i].name, residual };
    });
    this.colours = Array.from(worst, (residual) => (residual < 0 ? null : heatColour(residual)));
    setText(this.words, rows.length ? `10⁻¹² … 10⁻³ m/s or rad/s; largest ${quantity(most.residual)} at ${most.name}` : "No constraints act in this step.");
  }

  dispose() {
    this.legend.remove();
  }
}
