/**
 * What is drawn only while somebody asks for it: trails, boxes, inertias, islands, names, forces of motors, residuals, the place of a failure. Loaded when
 * the first of them is shown.
 *
 * @import {Selection} from "./types.js"
 * @import {View} from "./view.js"
 */
import * as THREE from "three";
import { problemOf } from "./api.js";
import { Drives } from "./drives.js";
import { Heat } from "./heat.js";
import { islandsOf } from "./islands.js";
import { loadMasses, massesOf } from "./masses.js";
import { Names } from "./names.js";
import { Tracks } from "./tracks.js";

/** ms until a service that was away is asked again */
const AGAIN_MS = 2000;

export class Extras {
  /** @param {View} view that shows a scene */
  constructor(view) {
    const { scene, bodies, overlays, stage } = view;
    if (!scene || !bodies || !overlays) throw new Error("no scene is in the view");
    this.view = view;
    this.tracks = new Tracks(scene, bodies.parts, view.memory);
    this.names = new Names(scene, stage);
    this.drives = new Drives(scene, overlays.joints, view.size);
    this.heat = new Heat(scene, stage.host);
    this.asked = false;
    this.root = new THREE.Group();
    this.root.add(this.tracks.root, this.drives.arrows.mesh);
  }

  /** @param {Float32Array} poses @param {Selection | null} selection @param {import("./session.js").Numbers} numbers @param {{time: number, now: number, step: number}} moment s, ms */
  update(poses, selection, { contacts, joints }, { time, now, step }) {
    const { bodies, scene, shown, failure, session } = this.view;
    const selected = selection?.kind === "body" ? selection.index : -1;
    this.tracks.update(poses, time, { trails: shown.trails, boxes: shown.boxes, masses: shown.inertia && session ? this.masses(session) : null, selected });
    this.names.update(shown.names, selected, failure && failure.step === step ? failure : null);
    if (shown.motors && joints) this.drives.update(joints, poses);
    else this.drives.clear();
    if (session) this.heat.update(shown.heat, session, step, now);
    bodies?.setHeat(this.heat.colours);
    bodies?.setIslands(shown.islands && scene ? islandsOf(scene, contacts) : null);
  }

  /** As soon as the service has told them; a run that is gone has none. @param {import("./session.js").Session | import("./stored.js").StoredRun} session */
  masses(session) {
    const known = massesOf(session.scene);
    if (!known && !this.asked) {
      this.asked = true;
      loadMasses(session).catch((error) => {
        if (!problemOf(error)?.retryable) throw error;
        window.setTimeout(() => { this.asked = false; }, AGAIN_MS);
      });
    }
    return known ?? null;
  }

  dispose() {
    this.tracks.dispose();
    this.names.dispose();
    this.drives.dispose();
    this.heat.dispose();
  }
}
