/** Actions of the page's buttons. Dialogs that most visits never open are loaded when they are opened. */
import { byId, icon, lastAsked } from "./dom.js";

/** Elements whose text may be truncated: it is shown as a tooltip then. */
const NAMES = "#scene-name, #outline span, .motor-name, .happenings span, .sessions b";

/** @param {import("./main.js").Page} page */
export function wireButtons(page) {
  const click = (/** @type {string} */ id, /** @type {() => unknown} */ action) => byId(id, HTMLButtonElement).addEventListener("click", action);
  const pressed = (/** @type {string} */ id, /** @type {boolean} */ on) => byId(id, HTMLButtonElement).setAttribute("aria-pressed", String(on));
  // the fragment of the address names the run, so these links must not set it
  for (const link of document.querySelectorAll("a.skip")) link.addEventListener("click", (event) => {
    event.preventDefault();
    byId(link.getAttribute("href")?.slice(1) ?? "", HTMLElement).focus();
  });
  window.addEventListener("pointerover", ({ target }) => {
    if (!(target instanceof HTMLElement) || !target.matches(NAMES)) return;
    target.title = target.scrollWidth > target.clientWidth ? target.textContent ?? "" : "";
  });
  click("open-scene", () => page.openSceneDialog());
  // files may be dropped anywhere on the page; captured before the editor inserts them into its text
  for (const type of ["dragover", "drop"]) window.addEventListener(type, (event) => event.preventDefault());
  window.addEventListener("drop", (event) => {
    const files = [...event.dataTransfer?.files ?? []];
    if (!files.length) return;
    event.preventDefault();
    event.stopPropagation();
    page.openSceneDialog(files);
  }, { capture: true });
  click("open-sessions", async () => await lastAsked(import("./sessions_dialog.js")) && page.openSessions());
  click("open-runs", async () => (await lastAsked(import("./runs_dialog.js")))?.openRuns(page));
  click("open-share", async () => (await lastAsked(import("./share_dialog.js")))?.openShare(page));
  click("open-verification", async () => (await lastAsked(import("./verification.js")))?.openVerification());
  byId("theme", HTMLButtonElement).append(icon("theme"));
  click("theme", () => page.theme.toggle());
  click("help", async () => {
    const dialog = await lastAsked(byId("help-dialog", HTMLDialogElement));
    if (!dialog) return;
    dialog.showModal();
    (await import("./key_settings.js")).showKeys(byId("help-keys", HTMLElement), page.bindings);
    (await import("./manual.js")).showLinks(byId("help-links", HTMLElement));
  });
  click("compare-with", async () => (await lastAsked(import("./compare_dialog.js")))?.openCompare(page));
  click("arrange", () => page.arrange());
  click("modes", async () => (await import("./modes.js")).openModes(page));
  click("fork", () => page.opening.fork());
  click("frame-view", () => page.view.stage.glide(() => page.view.frameAll()));
  click("pull", () => {
    page.grab.always = !page.grab.always;
    pressed("pull", page.grab.always);
  });
  click("follow", () => {
    page.view.follow = !page.view.follow;
    pressed("follow", page.view.follow);
  });
}
