/**
 * The scene in the view, once more with one setting changed: it is simulated as a stored run and drawn as
 * a ghost beside the run in the view, from the start of the scene and without commands.
 *
 * @import {Scene} from "./types.js"
 */
import { ProblemError, createSimulation } from "./api.js";
import { make, openDialog } from "./dom.js";
import { quantity } from "./format.js";
import { tellIn } from "./messages.js";

/** s of the simulation that are compared at most */
const MAX_DURATION = 30;
const FRAMES_PER_SECOND = 60;

/** @typedef {{label: string, words: string, overrides: Record<string, unknown>}} Choice */

/** One setting each, the other way round than the run has it. @param {Scene} scene @param {string | null} taken the formulation that `auto` became @returns {Choice[]} */
function choicesFor(scene, taken) {
  const { formulation: asked, orientation_update: update, dt = 0.001, solver, contact, stabilisation } = scene.simulation ?? {};
  const formulation = asked === "auto" ? taken : asked;
  const method = solver?.method === "apgd" ? "gauss_seidel" : "apgd";
  const names = { apgd: "Accelerated projected gradient (APGD)", gauss_seidel: "Gauss–Seidel" };
  return [
    formulation === "reduced"
      ? { label: "Maximal coordinates", words: "six per body, and equations for joints", overrides: { "/simulation/formulation": "maximal" } }
      // loops of trees are held by Baumgarte's stabilisation only
      : { label: "Joint coordinates", words: "trees of joints, without equations for them", overrides: { "/simulation/formulation": "reduced", "/simulation/stabilisation": "baumgarte" } },
    update === "infinitesimal"
      ? { label: "Finite orientation update", words: "exact for a constant angular velocity", overrides: { "/simulation/orientation_update": "finite" } }
      : { label: "Infinitesimal orientation update", words: "of first order", overrides: { "/simulation/orientation_update": "infinitesimal" } },
    contact?.friction_cone === "polyhedral"
      ? { label: "Friction cone", words: "Coulomb’s", overrides: { "/simulation/contact/friction_cone": "cone" } }
      : { label: "Friction pyramid", words: "of four edges", overrides: { "/simulation/contact/friction_cone": "polyhedral" } },
    { label: names[/** @type {keyof typeof names} */ (method)], words: "as the solver of contacts", overrides: { "/simulation/solver/method": method } },
    contact?.restitution_law === "propagating"
      ? { label: "Newton’s impact law", words: "all contacts at once", overrides: { "/simulation/contact/restitution_law": "newton" } }
      : { label: "Propagating impact law", words: "contacts in turn", overrides: { "/simulation/contact/restitution_law": "propagating" } },
    stabilisation === "baumgarte"
      ? { label: "Projection", words: "of joints after every step", overrides: { "/simulation/stabilisation": "projection" } }
      : { label: "Baumgarte’s stabilisation", words: "instead of projection", overrides: { "/simulation/stabilisation": "baumgarte" } },
    { label: "Half the step", words: quantity(500 * dt, "ms"), overrides: { "/simulation/dt": dt / 2 } },
  ];
}

/** @param {import("./main.js").Page} page */
export function openCompare(page) {
  const { session } = page;
  if (!session) return;
  const { scene } = session;
  const said = make("p", { "aria-live": "polite" }, "The scene is simulated once more, from its start, with one setting changed; it appears as a ghost, and pinned plots show it dashed.");
  const items = choicesFor(scene, page.readouts.verdict.summary?.solver.formulation ?? null).map((choice) => make("li", {}, make("button", { type: "button", onclick: () => start(choice) }, choice.label), make("span", { class: "muted" }, choice.words)));
  const dialog = openDialog("compare-dialog", "Compare with", said, make("ul", { class: "ways" }, ...items));
  const start = async (/** @type {Choice} */ { label, overrides }) => {
    said.textContent = `${label}: simulating…`;
    const duration = Math.min(MAX_DURATION, scene.simulation?.duration ?? MAX_DURATION);
    const record = { rate: FRAMES_PER_SECOND, channels: ["pose", "velocity", "joints", "contacts", "energy"] };
    try {
      const info = await createSimulation({ scene, name: `${scene.name || "scene"}: ${label}`, overrides: { "/record": record, "/simulation/duration": duration, ...overrides } });
      if (info.finished_at === null) {
        said.textContent = "It takes longer than half a minute; it will be in the list of runs, as “As a ghost”.";
        return;
      }
      await (await page.late.loadComparison()).showRun(info);
      dialog.close();
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      const faults = error instanceof ProblemError ? (error.problem.errors ?? []).map((fault) => fault.message).filter((message) => !error.message.includes(message)).slice(0, 2) : [];
      tellIn(said, error, [error.message, ...faults].join(" "));
    }
  };
}
