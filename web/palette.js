/** Ctrl+K: everything the page can do, found by a few letters. */
import { make, openDialog } from "./dom.js";

const SHOWN = 60;

/** @typedef {{label: string, hint: string, run: () => unknown}} Entry */

/** @param {import("./main.js").Page} page @returns {Entry[]} */
function entries(page) {
  const { session } = page;
  const button = (/** @type {string} */ id) => () => document.getElementById(id)?.click();
  const named = (/** @type {"body" | "joint"} */ kind, /** @type {{name: string}[]} */ list) => list.map(({ name }, index) => ({ label: name, hint: kind, run: () => page.select({ kind, index }) }));
  return [
    ...page.bindings.filter((one) => one.key !== "?").map((one) => ({ label: one.does, hint: one.shown, run: one.run })),
    ...[["open-scene", "open a scene of one's own"], ["open-runs", "runs: simulations and batches"], ["open-sessions", "sessions of this server"], ["open-share", "share or export"], ["compare-with", "compare with another setting, as a ghost"],
      ["open-verification", "verification report"], ["theme", "dark or light"], ["help", "keys and help"], ["fork", "fork: go on from here in a new session"]].map(([id, label]) => ({ label, hint: "", run: button(id) })),
    { label: "modes: frequencies and shapes of vibration", hint: "", run: async () => (await import("./modes.js")).openModes(page) },
    { label: "fix the base of the robot, or let it go", hint: "", run: async () => {
      await page.openSceneDialog();
      (await page.loadSceneDialog()).turnBase();
    } },
    ...(page.gallery?.examples ?? []).map(({ name, title }) => ({ label: title, hint: `example ${name}`, run: () => page.openScene(name, name) })),
    ...named("body", session?.scene.bodies ?? []), ...named("joint", session?.scene.joints ?? []),
  ];
}

/** @param {import("./main.js").Page} page */
export function openPalette(page) {
  const all = entries(page);
  let found = all;
  let at = 0;
  const input = /** @type {HTMLInputElement} */ (make("input", {
    type: "text", role: "combobox", "aria-expanded": "true", "aria-controls": "palette-list", "aria-label": "Search commands, examples, bodies and joints", placeholder: "Type a few letters", autocomplete: "off" }));
  const list = make("ul", { id: "palette-list", class: "palette", role: "listbox", "aria-label": "Found" });
  const dialog = openDialog("palette-dialog", "Commands", input, list);
  const run = (/** @type {Entry | undefined} */ entry) => {
    if (!entry) return;
    dialog.close();
    entry.run();
  };
  const draw = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    found = all.filter(({ label, hint }) => words.every((word) => `${label} ${hint}`.toLowerCase().includes(word))).slice(0, SHOWN);
    at = Math.min(at, Math.max(0, found.length - 1));
    list.replaceChildren(...found.map((entry, i) => make("li", { role: "option", id: `palette-${i}`, "aria-selected": String(i === at), onclick: () => run(entry) },
      make("span", {}, entry.label), make("span", { class: "muted" }, entry.hint))));
    if (!found.length) list.replaceChildren(make("li", { class: "muted", role: "option", "aria-selected": "false" }, "Nothing is called like that."));
    input.setAttribute("aria-activedescendant", found.length ? `palette-${at}` : "");
    list.children[at]?.scrollIntoView({ block: "nearest" });
  };
  input.addEventListener("input", () => {
    at = 0;
    draw();
  });
  input.addEventListener("keydown", (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by) at = (at + by + found.length) % Math.max(1, found.length);
    else if (event.key === "Enter") run(found[at]);
    else return;
    event.preventDefault();
    draw();
  });
  draw();
  input.focus();
}
