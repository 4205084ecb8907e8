/** Ways into the manual, where the service has one. Loaded with the help, and with the first problem. */
import { getVersions } from "./api.js";
import { make } from "./dom.js";

const CHAPTERS = [["first-steps", "First steps"], ["scenes", "Scenes"], ["shapes", "Shapes"], ["joints", "Joints"], ["drives", "Motors"], ["choosing", "Choosing a method"], ["results", "Results"], ["problems", "Problems"], ["python", "Python"]];

/** @type {Promise<boolean> | null} */
let asked = null;

/** @returns {Promise<boolean>} whether the service has a manual */
function hasManual() {
  asked ??= getVersions().then(({ manual }) => Boolean(manual), () => false);
  return asked;
}

/** @param {HTMLElement} links to be filled once */
export async function showLinks(links) {
  if (links.childElementCount) return;
  const chapters = await hasManual() ? [["", "Manual"], ...CHAPTERS].map(([page, title]) => [`/manual/${page && `${page}.html`}`, title]) : [];
  links.replaceChildren(...[...chapters, ["/docs", "API"]].map(([href, title]) => make("a", { href, target: "_blank", rel: "noopener" }, title)));
}

/** What the manual says about a problem. @param {string} type of the problem @param {HTMLElement} box its message */
export async function linkProblem(type, box) {
  if (await hasManual()) box.append(make("a", { href: type, target: "_blank", rel: "noopener" }, "In the manual"));
}
