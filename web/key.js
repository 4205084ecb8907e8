/** A service that asks for an API key gets it once: it answers with a cookie. */
import { make, openDialog } from "./dom.js";

const ASKED = "This service asks for an API key. The browser keeps a cookie that the key signed, for 30 days.";
const REFUSED = "This is no API key of this service.";
const AWAY = "The service does not answer. Is it still running?";

/** Asks for the key, and loads the page again with it. */
export function askForKey() {
  const input = /** @type {HTMLInputElement} */ (make("input", { type: "password", "aria-label": "API key", autocomplete: "current-password", required: "" }));
  const told = make("p", { role: "alert" });
  const open = make("button", { type: "submit" }, "Open");
  const dialog = openDialog("key-dialog", "API key", make("p", {}, ASKED), make("div", { class: "row" }, input, open), told);
  dialog.querySelector("form")?.addEventListener("submit", async (event) => {
    if (event.submitter !== open) return;
    event.preventDefault();
    told.textContent = await refusal(input.value);
    if (!told.textContent) window.location.replace(window.location.pathname + window.location.hash);
  });
  input.focus();
}

/** @param {string} key @returns {Promise<string>} why it is not taken; empty: it is */
async function refusal(key) {
  const answer = await fetch(`/?key=${encodeURIComponent(key)}`, { redirect: "manual" }).catch(() => null);
  if (!answer) return AWAY;
  return answer.type === "opaqueredirect" ? "" : REFUSED;
}
