/**
 * What the keys of this page do.
 *
 * @import {Binding} from "./keys.js"
 */
import { byId } from "./dom.js";
import { showNote } from "./messages.js";
import { massOf } from "./shapes.js";

/** One key press turns the view by this [rad], or brings it nearer by this factor. */
const TURN = Math.PI / 24;
const ZOOM = 0.85;
/** Speed that a push gives a body, over that of a fall from the size of the scene. */
const PUSH = 0.3;
const GRAVITY = 9.81;

/** What a hand does with Ctrl, for those who have none on the pointer: away from who looks. @param {import("./main.js").Page} page */
function push({ session, selection, view }) {
  const body = selection?.kind === "body" ? session?.scene.bodies[selection.index] : null;
  const mass = body && massOf(body).mass;
  if (!session || session.stored || !body || !mass || (body.type ?? "dynamic") !== "dynamic") {
    showNote("Choose a body that can move, in the outline or in the view; this key pushes it away from you.");
    return;
  }
  const along = view.stage.camera.position.clone().sub(view.stage.controls.target).setZ(0).normalize();
  const impulse = along.multiplyScalar(-mass * PUSH * Math.sqrt(2 * GRAVITY * view.size)).toArray();
  session.command("apply_impulse", { body: body.name, impulse });
}

/** @param {import("./main.js").Page} page @returns {Binding[]} */
export function keyBindings(page) {
  const { transport, view, toggles } = page;
  return [
    { key: " ", shown: "Space", does: "play, pause", run: () => transport.toggle() },
    { key: "arrowleft", shift: false, shown: "←", does: "back one step", run: () => transport.step(-1) },
    { key: "arrowright", shift: false, shown: "→", does: "forward one step", run: () => transport.step(1) },
    { key: "arrowleft", shift: true, shown: "Shift ←", does: "back 10 steps", run: () => transport.step(-10) },
    { key: "arrowright", shift: true, shown: "Shift →", does: "forward 10 steps", run: () => transport.step(10) },
    { key: "home", shown: "Home", does: "oldest kept moment", run: () => transport.start() },
    { key: "end", shown: "End", does: "live edge", run: () => transport.live() },
    { key: "o", shown: "O", does: "repeat a part of the history", run: () => transport.turnLoop() },
    { key: "r", shown: "R", does: "reset", run: () => transport.reset() },
    { key: "[", shown: "[", does: "example before", run: () => page.openNeighbour(-1) },
    { key: "]", shown: "]", does: "next example", run: () => page.openNeighbour(1) },
    { key: "c", shown: "C", does: "contact points", run: () => toggles.toggle("contacts") },
    { key: "n", shown: "N", does: "contact normals", run: () => toggles.toggle("normals") },
    { key: "v", shown: "V", does: "contact forces", run: () => toggles.toggle("forces") },
    { key: "u", shown: "U", does: "friction and its cones", run: () => toggles.toggle("friction") },
    { key: "j", shown: "J", does: "joints", run: () => toggles.toggle("joints") },
    { key: "m", shown: "M", does: "centres of mass", run: () => toggles.toggle("centers") },
    { key: "b", shown: "B", does: "boxes around bodies", run: () => toggles.toggle("boxes") },
    { key: "x", shown: "X", does: "inertia boxes: solid boxes that turn as the bodies do", run: () => toggles.toggle("inertia") },
    { key: "i", shown: "I", does: "islands: what is solved together", run: () => toggles.toggle("islands") },
    { key: "k", shown: "K", does: "forces of motors", run: () => toggles.toggle("motors") },
    { key: "d", shown: "D", does: "names of bodies", run: () => toggles.toggle("names") },
    { key: "h", shown: "H", does: "solver errors: how far constraints miss their laws", run: () => toggles.toggle("heat") },
    { key: "l", shown: "L", does: "trails", run: () => toggles.toggle("trails") },
    { key: "w", shown: "W", does: "wireframe", run: () => toggles.toggle("wireframe") },
    { key: "g", shown: "G", does: "collision shapes over visuals", run: () => toggles.toggle("collision") },
    { key: "t", shown: "T", does: "transparent bodies", run: () => toggles.toggle("transparent") },
    { key: "4", shown: "4", does: "turn the view left", run: () => view.stage.glide(() => view.stage.turn(-TURN, 0)) },
    { key: "6", shown: "6", does: "turn the view right", run: () => view.stage.glide(() => view.stage.turn(TURN, 0)) },
    { key: "8", shown: "8", does: "look from higher", run: () => view.stage.glide(() => view.stage.turn(0, TURN)) },
    { key: "2", shown: "2", does: "look from lower", run: () => view.stage.glide(() => view.stage.turn(0, -TURN)) },
    { key: "+", shown: "+", does: "nearer", run: () => view.stage.glide(() => view.stage.widen(ZOOM)) },
    { key: "-", shown: "−", does: "farther", run: () => view.stage.glide(() => view.stage.widen(1 / ZOOM)) },
    { key: "p", shown: "P", does: "push the selected body", run: () => push(page) },
    { key: "e", shown: "E", does: "arrange bodies and joints", run: () => page.arrange() },
    { key: "f", shown: "F", does: "frame the selection or all", run: () => view.stage.glide(() => (page.selection?.kind === "body" ? view.frameBodies([page.selection.index]) : view.frameAll())) },
    { key: "escape", shown: "Esc", does: "let go, select nothing", run: () => (page.grab.active ? page.grab.release() : page.select(null)) },
    { key: "?", shown: "?", does: "this help", run: () => byId("help", HTMLButtonElement).click() },
  ];
}
