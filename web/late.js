/**
 * Parts of the page that are loaded when they are first needed: comparisons, the sliders that pose joints, the arrangement of bodies.
 *
 * @import {Scene} from "./types.js"
 */
import { byId } from "./dom.js";

/** Joints without coordinates that can be posed. */
const UNPOSED = new Set(["fixed", "ball", "distance", "gear", "rack", "coupling"]);

export class Late {
  /** @param {import("./main.js").Page} page */
  constructor(page) {
    this.page = page;
    /** @type {import("./compare.js").Comparison | null} */
    this.comparison = null;
    /** @type {import("./pose.js").Pose | null} */
    this.pose = null;
    /** @type {Promise<import("./arrange.js").Arrangement | null> | null} while it is being loaded */
    this.arrangement = null;
    this.posing = byId("pose-pane", HTMLDetailsElement);
    this.posing.addEventListener("toggle", () => this.loadPose());
  }

  async loadComparison() {
    const { Comparison } = await import("./compare.js");
    this.comparison ??= new Comparison(this.page);
    return this.comparison;
  }

  /** Calls during the loading share one promise. */
  loadArrangement() {
    this.arrangement ??= Promise.all([import("./arrange.js"), this.page.loadSceneDialog()])
      .then(([{ arrange }, dialog]) => arrange(this.page, dialog)).finally(() => { this.arrangement = null; });
    return this.arrangement;
  }

  async loadPose() {
    if (this.pose || !this.posing.open) return;
    const { Pose } = await import("./pose.js");
    this.pose ??= new Pose(() => this.page.session, this.page.motors);
    const { session } = this.page;
    if (session) this.pose.open(session.scene, session.stored);
  }

  /** @param {Scene} scene @param {boolean} stored a stored run cannot be posed */
  openPose(scene, stored) {
    this.posing.hidden = stored || !(scene.joints ?? []).some(({ type }) => !UNPOSED.has(type));
    this.pose?.open(scene, stored);
  }
}
