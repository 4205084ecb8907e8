/** Dark or light: what the system asks for, unless the button said otherwise. */
import { inBrowser } from "./storage.js";

const KEY = "cardan.theme";
const system = window.matchMedia("(prefers-color-scheme: light)");

/** @returns {"dark" | "light"} */
export function theme() {
  const chosen = inBrowser.get(KEY);
  if (chosen === "dark" || chosen === "light") return chosen;
  return system.matches ? "light" : "dark";
}

/** @param {() => void} onChange called whenever the theme changes */
export function watchTheme(onChange) {
  const apply = () => {
    document.documentElement.dataset.theme = theme();
    onChange();
  };
  document.documentElement.dataset.theme = theme();
  system.addEventListener("change", apply);
  return {
    toggle() {
      inBrowser.set(KEY, theme() === "dark" ? "light" : "dark");
      apply();
    },
  };
}

/** @param {string} name of a custom property, without the dashes */
export function themeColor(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
