/**
 * Plays a run out of the file it stands in, without a server: what `export_html.js` and the service put into a web page
 * of its own. Not part of the page itself.
 *
 * @import {Scene} from "./types.js"
 * @typedef {{title: string, scene: Scene, times: number[], moving: number[], poses: string, camera: number[] | null, home?: number[] | null, plots: import("./player_plots.js").KeptPlot[]}} Told
 *   times: s; poses: float32 [frames, moving bodies, 7], gzip, base64; camera: its place and what it looks at [m]; null: as the page shows a scene first;
 *   home: the middle of the bodies that this camera was set up for, and how far they were from it [m]; null: it follows nothing
 */
import { Vector3 } from "three";
import { Bodies } from "./bodies.js";
import { seconds } from "./format.js";
import { Ground } from "./ground.js";
import { Links } from "./links.js";
import { showPlots } from "./player_plots.js";
import { sizeOf, startBounds, startPoses } from "./shapes.js";
import { Sight } from "./sight.js";
import { Stage } from "./stage.js";
import { interpolate } from "./timeline.js";

/** ms between two frames beyond which time does not go on: the window was hidden. */
const LONGEST = 200;
const POSE = 7;

/** @template {HTMLElement} T @param {string} id @param {new () => T} kind @returns {T} */
function part(id, kind) {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`#${id} is missing`);
  return found;
}

/** @param {string} text base64 of gzip @returns {Promise<Float32Array>} */
async function numbers(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Float32Array(await new Response(plain).arrayBuffer());
}

class Player {
  /** @param {Told} told @param {Float32Array} poses */
  constructor({ scene, times, moving, camera, home, plots }, poses) {
    this.scene = scene;
    this.times = times;
    this.moving = moving;
    this.stored = poses;
    this.poses = startPoses(scene);
    this.time = times[0];
    this.playing = true;
    this.before = 0;
    this.stage = new Stage(part("stage", HTMLElement));
    this.bodies = new Bodies(scene);
    const bounds = startBounds(scene);
    this.links = new Links(scene, sizeOf(bounds));
    const light = window.matchMedia("(prefers-color-scheme: light)").matches;
    this.stage.scene.add(this.bodies.root, this.links.root, new Ground(scene, bounds, light ? "light" : "dark").root);
    this.stage.frame(bounds);
    if (camera) {
      this.stage.camera.position.set(camera[0], camera[1], camera[2]);
      this.stage.controls.target.set(camera[3], camera[4], camera[5]);
      this.stage.controls.update();
    }
    this.sight = new Sight(this.stage, scene, bounds);
    if (home) Object.assign(this.sight, { home: new Vector3().fromArray(home), spread: home[3] });
    else if (!camera) this.sight.settle(this.poses);
    this.slider = part("time", HTMLInputElement);
    this.slider.max = String(times.length - 1);
    this.button = part("play", HTMLButtonElement);
    this.said = part("said", HTMLElement);
    this.speed = part("speed", HTMLSelectElement);
    this.button.addEventListener("click", () => this.toggle());
    this.slider.addEventListener("input", () => this.show(this.times[this.slider.valueAsNumber], false));
    window.addEventListener("keydown", (event) => {
      if (event.target instanceof HTMLElement && ["BUTTON", "SELECT", "INPUT"].includes(event.target.tagName)) return;
      if (event.key !== " ") return;
      event.preventDefault();
      this.toggle();
    });
    this.movePlots = showPlots(part("plots", HTMLElement), plots, (time) => this.show(time, false));
    this.show(this.time, this.times.length > 1);
    requestAnimationFrame((now) => this.draw(now));
  }

  get end() {
    return this.times[this.times.length - 1];
  }

  toggle() {
    this.show(!this.playing && this.time >= this.end ? this.times[0] : this.time, !this.playing);
  }

  /** @param {number} time s @param {boolean} playing from there on */
  show(time, playing) {
    this.time = Math.min(this.end, time);
    this.playing = playing && this.time < this.end;
    this.button.textContent = this.playing ? "Pause" : "Play";
    this.place();
  }

  /** The bodies at the moment that is shown, between two that are kept. */
  place() {
    const { times, time, moving, stored } = this;
    let [low, high] = [0, times.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (times[middle] <= time) low = middle + 1;
      else high = middle;
    }
    const at = Math.max(0, low - 1);
    const next = Math.min(at + 1, times.length - 1);
    const size = POSE * moving.length;
    const share = next > at ? (time - times[at]) / (times[next] - times[at]) : 0;
    const between = new Float32Array(size);
    interpolate(stored.subarray(at * size, (at + 1) * size), stored.subarray(next * size, (next + 1) * size), share, between);
    moving.forEach((body, i) => this.poses.set(between.subarray(POSE * i, POSE * (i + 1)), POSE * body));
    this.bodies.setPoses(this.poses);
    this.links.setPoses(this.poses);
    this.sight.keep(this.poses);
    this.slider.value = String(at);
    const [now, end] = [time, this.end].map((moment) => seconds(moment, this.scene.simulation?.dt));
    this.slider.setAttribute("aria-valuetext", now);
    this.movePlots(time);
    this.said.textContent = `${now} of ${end}`;
  }

  /** @param {number} now ms */
  draw(now) {
    requestAnimationFrame((next) => this.draw(next));
    const passed = Math.min(LONGEST, now - this.before) / 1000;
    if (this.playing && this.before) this.show(this.time + passed * Number(this.speed.value), true);
    this.before = now;
    this.stage.render(now, this.playing);
  }
}

/** @type {Told} */
const told = JSON.parse(part("run", HTMLElement).textContent ?? "");
const player = new Player(told, await numbers(told.poses));
// for the console, and for tests
Object.assign(window, { cardan: {
  time: () => player.time,
  seek: (/** @type {number} */ time) => player.show(time, false),
  pose: (/** @type {string} */ name) => {
    const at = POSE * told.scene.bodies.findIndex((body) => body.name === name);
    return at < 0 ? null : Array.from(player.poses.subarray(at, at + POSE));
  },
  target: () => player.stage.controls.target.toArray(),
  calls: () => player.stage.renderer.info.render.calls,
} });
