/**
 * What the keys of this page do.
 *
 * @import {Binding} from "./keys.js"
 */
import { byId } from "./dom.js";

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
    { key: "i", shown: "I", does: "islands: what is solved together", run: () => toggles.toggle("islands") },
    { key: "l", shown: "L", does: "trails", run: () => toggles.toggle("trails") },
    { key: "w", shown: "W", does: "wireframe", run: () => toggles.toggle("wireframe") },
    { key: "g", shown: "G", does: "collision shapes over visuals", run: () => toggles.toggle("collision") },
    { key: "t", shown: "T", does: "transparent bodies", run: () => toggles.toggle("transparent") },
    { key: "e", shown: "E", does: "arrange bodies and joints", run: () => page.arrange() },
    { key: "f", shown: "F", does: "frame the selection or all", run: () => (page.selection?.kind === "body" ? view.frameBodies([page.selection.index]) : view.frameAll()) },
    { key: "escape", shown: "Esc", does: "let go, select nothing", run: () => (page.grab.active ? page.grab.release() : page.select(null)) },
    { key: "?", shown: "?", does: "this help", run: () => byId("help", HTMLButtonElement).click() },
  ];
}
