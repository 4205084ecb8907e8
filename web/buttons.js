/** What the buttons of the page do. Dialogs that most visits never open are loaded when they are opened. */
import { byId, icon } from "./dom.js";

/** @param {import("./main.js").Page} page */
export function wireButtons(page) {
  const click = (/** @type {string} */ id, /** @type {() => unknown} */ action) => byId(id, HTMLButtonElement).addEventListener("click", action);
  const pressed = (/** @type {string} */ id, /** @type {boolean} */ on) => byId(id, HTMLButtonElement).setAttribute("aria-pressed", String(on));
  click("open-scene", () => page.sceneDialog.open());
  click("open-sessions", () => page.openSessions());
  click("open-runs", async () => (await import("./runs_dialog.js")).openRuns(page));
  click("open-share", async () => (await import("./share_dialog.js")).openShare(page));
  click("open-verification", async () => (await import("./verification.js")).openVerification());
  byId("theme", HTMLButtonElement).append(icon("theme"));
  click("theme", () => page.theme.toggle());
  click("help", () => byId("help-dialog", HTMLDialogElement).showModal());
  click("compare-with", async () => (await import("./compare_dialog.js")).openCompare(page));
  click("fork", () => page.opening.fork());
  click("frame-view", () => page.view.frameAll());
  click("pull", () => {
    page.grab.always = !page.grab.always;
    pressed("pull", page.grab.always);
  });
  click("follow", () => {
    page.view.follow = !page.view.follow;
    pressed("follow", page.view.follow);
  });
}
