/** Small help for HTML: elements by id, elements made in one call, icons. */

/**
 * @template {HTMLElement} T
 * @param {string} id
 * @param {new () => T} type what it must be; a wrong page fails here, not later
 * @returns {T}
 */
export function byId(id, type) {
  const element = document.getElementById(id);
  if (!(element instanceof type)) throw new Error(`#${id} is not a ${type.name}`);
  return element;
}

/**
 * @param {string} tag
 * @param {Record<string, string | number | boolean | EventListener>} [attributes] names that start with "on" are listeners
 * @param {...(Node | string)} children
 * @returns {HTMLElement}
 */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false) element.setAttribute(name, String(value));
  }
  element.append(...children);
  return element;
}

/** @param {Node} element @param {string} text writes only what changed: panels are refreshed ten times a second */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

let asked = 0;

/**
 * What a dialog needs before it opens: of those asked for while others were on their way the last one comes, and what is open goes.
 * @template T @param {Promise<T> | T} coming @returns {Promise<T | null>} null: another one was asked for meanwhile
 */
export async function lastAsked(coming) {
  const turn = ++asked;
  const part = await coming;
  if (turn !== asked) return null;
  for (const open of document.querySelectorAll("dialog[open]")) /** @type {HTMLDialogElement} */ (open).close();
  return part;
}

/**
 * A dialog that is made when it is opened and goes when it is closed.
 * @param {string} id @param {string} title @param {...(Node | string)} children
 * @returns {HTMLDialogElement}
 */
export function openDialog(id, title, ...children) {
  document.getElementById(id)?.remove();
  const close = make("button", { type: "submit", class: "primary" }, "Close");
  const dialog = /** @type {HTMLDialogElement} */ (make("dialog", { id, "aria-labelledby": `${id}-title` },
    make("form", { method: "dialog" }, make("h2", { id: `${id}-title` }, title), ...children, make("div", { class: "row" }, make("span", { class: "spring" }), close))));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** Hands a file to the person. @param {string} name @param {Blob} content */
export function download(name, content) {
  const link = /** @type {HTMLAnchorElement} */ (make("a", { href: URL.createObjectURL(content), download: name }));
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** @param {string} text @returns {Promise<boolean>} whether the clipboard took it */
export async function copied(text) {
  return navigator.clipboard.writeText(text).then(() => true, () => false);
}

/** @type {Record<string, string>} 16 x 16, drawn with the colour of the text */
const ICONS = {
  play: '<path d="M4 2.5v11l9.5-5.5z"/>',
  pause: '<path d="M3.5 2.5h3v11h-3zm6 0h3v11h-3z"/>',
  forward: '<path d="M3 3v10l6.5-5zm7.5 0H13v10h-2.5z"/>',
  back: '<path d="M13 3v10L6.5 8zM3 3h2.5v10H3z"/>',
  forward10: '<path d="M2 3v10l5.5-5zm6 0v10l5.5-5z"/>',
  back10: '<path d="M8 3v10L2.5 8zm6 0v10L8.5 8z"/>',
  reset: '<path d="M8 2.2a5.8 5.8 0 1 0 5.8 5.8h-1.9A3.9 3.9 0 1 1 8 4.1c1 0 1.9.4 2.6 1L8.5 7.2h5.3V1.9L12 3.7A5.8 5.8 0 0 0 8 2.2z"/>',
  table: '<path d="M1.5 2.5h13v11h-13zM3 6v2h4V6zm5.500 0v2H13V6zM3 9.500v2.500h4V9.500zm5.500 0v2.500H13V9.500z" fill-rule="evenodd"/>',
  close: '<path d="M3.300 2 8 6.700 12.700 2 14 3.300 9.300 8l4.700 4.700-1.300 1.300L8 9.300 3.300 14 2 12.700 6.700 8 2 3.300z"/>',
  fork: '<path d="M4 1.500a2 2 0 0 1 .9 3.800v1.200c0 .6.4 1 1 1h4.200c.6 0 1-.4 1-1V5.300a2 2 0 1 1 1.800 0v1.200a2.800 2.800 0 0 1-2.800 2.800H8.900v1.400a2 2 0 1 1-1.800 0V9.300H5.900a2.800 2.800 0 0 1-2.800-2.800V5.300A2 2 0 0 1 4 1.500z"/>',
  theme: '<path d="M8 1.5a6.5 6.5 0 1 0 0 13zM8 0a8 8 0 1 1 0 16A8 8 0 0 1 8 0z"/>',
};

/** @param {string} name @returns {SVGElement} */
export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("class", "icon");
  svg.innerHTML = ICONS[name];
  return svg;
}
