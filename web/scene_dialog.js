/**
 * Opening a scene of one's own: paste, file or drop; checked by the server; faults at their place.
 * Models of robots (URDF, MJCF, a zip of either) become scenes first, with notes on what is not the same.
 *
 * @import {Fault, ImportNote, Scene} from "./types.js"
 */
import { ProblemError, importModel, validateScene } from "./api.js";
import { byId, make } from "./dom.js";
import { describeFault } from "./messages.js";

const MODEL = /\.(urdf|xml|mjcf|zip)$/i;
const PLACES = 4; // of a note that are named
/** ms without a key before a text is checked by itself */
const QUIET_MS = 700;

export class SceneDialog {
  /** @param {() => Scene | null} current @param {(scene: unknown) => Promise<boolean>} onRun */
  constructor(current, onRun) {
    /** @type {typeof import("./locate.js").locate | null} loaded with the first check */
    this.locate = null;
    this.onRun = onRun;
    this.dialog = byId("scene-dialog", HTMLDialogElement);
    this.text = byId("scene-text", HTMLTextAreaElement);
    this.faults = byId("scene-faults", HTMLElement);
    this.runButton = byId("scene-run", HTMLButtonElement);
    const file = byId("scene-file", HTMLInputElement);
    file.addEventListener("change", () => this.read([...file.files ?? []]));
    // wherever on the page a file is dropped
    window.addEventListener("dragover", (event) => event.preventDefault());
    window.addEventListener("drop", (event) => {
      event.preventDefault();
      const files = [...event.dataTransfer?.files ?? []];
      if (files.length && !this.dialog.open) this.open();
      this.read(files);
    });
    byId("scene-current", HTMLButtonElement).addEventListener("click", () => {
      const scene = current();
      if (scene) this.text.value = JSON.stringify(scene, null, 1);
      this.checkSoon();
    });
    this.runButton.addEventListener("click", () => this.run());
    this.before = byId("scene-preview", HTMLElement);
    this.timer = 0;
    this.text.addEventListener("input", () => this.checkSoon());
  }

  /** What is known of the scene before it runs, once nobody types. */
  checkSoon() {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(async () => {
      const { jsonFault } = await import("./json_fault.js");
      const text = this.text.value;
      if (!text.trim() || jsonFault(text)) this.before.replaceChildren();
      else validateScene(JSON.parse(text)).then((report) => (text === this.text.value ? this.showPreview(JSON.parse(text), report) : undefined), () => this.before.replaceChildren());
    }, QUIET_MS);
  }

  /** @param {Scene} scene @param {Awaited<ReturnType<typeof validateScene>>} report */
  async showPreview(scene, report) {
    if (!report.preview) {
      this.before.replaceChildren();
      return;
    }
    const { previewOf } = await import("./preview.js");
    this.before.replaceChildren(previewOf(report.preview, scene, report.estimate?.seconds ?? null));
  }

  open() {
    this.faults.replaceChildren();
    this.checkSoon();
    this.dialog.showModal();
    this.text.focus();
  }

  /** @param {File[]} files a scene, or a model with its meshes */
  async read(files) {
    if (!files.length) return;
    this.faults.replaceChildren();
    if (files.some((file) => MODEL.test(file.name))) await this.importFiles(files);
    else this.text.value = await files[0].text();
    this.checkSoon();
  }

  /** @param {File[]} files */
  async importFiles(files) {
    const checked = (/** @type {string} */ id) => byId(id, HTMLInputElement).checked;
    this.runButton.disabled = true;
    this.faults.replaceChildren(make("li", {}, "Importing…"));
    try {
      const { scene, report } = await importModel(files, { root: checked("import-free") ? "free" : "fixed", ground: checked("import-ground") });
      this.text.value = JSON.stringify(scene, null, 1);
      this.faults.replaceChildren(...report.notes.map(noteItem));
    } catch (error) {
      this.showProblem(error);
    } finally {
      this.runButton.disabled = false;
    }
  }

  async run() {
    this.runButton.disabled = true;
    try {
      await this.check();
    } finally {
      this.runButton.disabled = false;
    }
  }

  async check() {
    const [{ jsonFault }, { locate }] = await Promise.all([import("./json_fault.js"), import("./locate.js")]);
    this.locate = locate;
    const fault = jsonFault(this.text.value);
    if (fault) {
      const { line, column, message } = fault;
      this.faults.replaceChildren(make("li", { class: "error" },
        make("button", { type: "button", title: "Show the place", onclick: () => this.mark(fault.at, fault.at + 1) },
          make("code", {}, `line ${line}, column ${column}`), ` This is not JSON: ${message}.`)));
      this.mark(fault.at, fault.at + 1);
      return;
    }
    const scene = JSON.parse(this.text.value);
    try {
      const report = await validateScene(scene);
      await this.showPreview(scene, report);
      this.show(report.errors ?? [], report.warnings ?? []);
      if (report.valid && await this.onRun(scene)) this.dialog.close();
    } catch (error) {
      this.showProblem(error);
    }
  }

  /** @param {unknown} error */
  showProblem(error) {
    if (!(error instanceof ProblemError)) throw error;
    const { problem } = error;
    this.show(problem.errors?.length ? problem.errors : [{ pointer: "", message: problem.detail ?? problem.title }], []);
  }

  /** @param {Fault[]} errors @param {Fault[]} warnings */
  show(errors, warnings) {
    const item = (/** @type {Fault} */ fault, /** @type {string} */ kind) => make("li", { class: kind },
      make("button", { type: "button", title: "Show the place", onclick: () => this.reveal(fault.pointer) }, ...describeFault(fault)));
    this.faults.replaceChildren(...errors.map((fault) => item(fault, "error")), ...warnings.map((fault) => item(fault, "warning")));
    if (errors.length) this.reveal(errors[0].pointer);
  }

  /** Selects the value a pointer names. @param {string} pointer */
  reveal(pointer) {
    let place = null;
    try {
      JSON.parse(this.text.value);
      place = this.locate?.(this.text.value, pointer) ?? null;
    } catch {
      return; // no JSON, no place
    }
    if (place) this.mark(place.start, place.end);
  }

  /** Selects a range of the text. @param {number} start @param {number} end */
  mark(start, end) {
    const line = this.text.value.slice(0, start).split("\n").length;
    this.text.focus();
    this.text.setSelectionRange(start, end);
    this.text.scrollTop = Math.max(0, (line - 4) * 18);
  }
}

/** @param {ImportNote} note */
function noteItem({ kind, message, where }) {
  const more = where.length > PLACES ? ` and ${where.length - PLACES} more` : "";
  return make("li", { class: "warning" }, make("b", {}, kind), ` ${message}`,
    ...(where.length ? [make("small", {}, where.slice(0, PLACES).join(", ") + more)] : []));
}
