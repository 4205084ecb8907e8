/**
 * Opening a scene of one's own: write, paste, file or drop; checked by the server, faults at their place, and what
 * differs from the scene that runs. Models of robots (URDF, MJCF, a zip of either) become scenes first, with notes
 * on what is not the same. Loaded when it is opened.
 *
 * @import {Fault, Scene} from "./types.js"
 */
import { ProblemError, getSceneSchema, validateScene } from "./api.js";
import { withBase } from "./base.js";
import { make } from "./dom.js";
import { count, seconds } from "./format.js";
import { noteItem, unreadItems } from "./import_notes.js";
import { jsonFault } from "./json_fault.js";
import { locate } from "./locate.js";
import { describeFault, showNote } from "./messages.js";
import { patchOf } from "./patch.js";
import { previewOf } from "./preview.js";
import { Progress } from "./progress.js";
import { listOf } from "./scene_changes.js";
import { areModel, readFiles } from "./scene_files.js";
import { changesBetween, formatted, withoutDefaults } from "./scene_format.js";
import { PIECES, withPiece } from "./scene_pieces.js";
import { SceneText } from "./scene_text.js";
import { lowest } from "./shapes.js";

const QUIET_MS = 700; // without a key before a text is checked by itself

/** @param {import("./main.js").Page} page @param {(scene: unknown) => Promise<boolean>} onRun */
export async function sceneDialog(page, onRun) {
  return new SceneDialog(page, onRun, await getSceneSchema().catch(() => null));
}

export class SceneDialog {
  /** @param {import("./main.js").Page} page @param {(scene: unknown) => Promise<boolean>} onRun @param {Record<string, any> | null} schema */
  constructor(page, onRun, schema) {
    this.page = page;
    this.onRun = onRun;
    this.schema = schema;
    const button = (/** @type {string} */ label, /** @type {() => unknown} */ onclick, /** @type {Record<string, unknown>} */ more = {}) => /** @type {HTMLButtonElement} */ (make("button", { type: "button", onclick, ...more }, label));
    const tick = (/** @type {string} */ id) => /** @type {HTMLInputElement} */ (make("input", { type: "checkbox", id }));
    const file = /** @type {HTMLInputElement} */ (make("input", { type: "file", id: "scene-file", multiple: true, accept: ".json,application/json,.urdf,.xml,.mjcf,.zip,.stl,.obj,.dae,.ply,.glb,.off,.msh,.png" }));
    file.addEventListener("change", () => this.read([...file.files ?? []]));
    file.addEventListener("click", () => { file.value = ""; }); // the same file, once it was changed, is another choice
    this.free = tick("import-free");
    this.ground = tick("import-ground");
    this.faults = make("ul", { id: "scene-faults", class: "faults", "aria-live": "polite" });
    this.before = make("div", { id: "scene-preview", "aria-live": "polite" });
    this.changes = make("div", { id: "scene-changes", "aria-live": "polite" });
    this.runButton = button("Check and run", () => this.run(), { id: "scene-run", class: "primary" });
    this.applyButton = button("Apply to the run", () => this.apply(), { id: "scene-apply", hidden: true, title: "Gravity and motors change while it runs, until a reset" });
    this.undoButton = button("Undo", () => this.text.undo(), { title: "Ctrl+Z", disabled: true });
    this.redoButton = button("Redo", () => this.text.redo(), { title: "Ctrl+Y", disabled: true });
    this.pieces = /** @type {HTMLSelectElement} */ (make("select", { "aria-label": "Add to the scene", onchange: () => this.addPiece() }, make("option", { value: "" }, "Add…"), ...Object.keys(PIECES).map((name) => make("option", { value: name }, name))));
    const host = make("div", { class: "scene-text" });
    this.progress = new Progress();
    this.timer = 0;
    this.chosen = /** @type {File[]} */ ([]); // last
    this.dialog = /** @type {HTMLDialogElement} */ (make("dialog", { id: "scene-dialog", "aria-labelledby": "scene-dialog-title" }, make("form", { method: "dialog" },
      make("h2", { id: "scene-dialog-title" }, "Open a scene"),
      make("p", {}, "Write or paste a scene document, choose a file, or drop one on the page. Ctrl+Space says what can stand at a place. Robots may be URDF or MJCF, with their meshes beside them or in a zip."),
      make("div", { class: "row tools" }, this.undoButton, this.redoButton, this.pieces, button("Fix the base", () => this.turnBase(), { id: "scene-base", title: "Of a robot: fixes it to the world, or lets it go again" }), button("Tidy", () => this.tidy(), { title: "What fits in one line" }), button("Insert the shown scene", () => this.insert(), { id: "scene-current", title: "Without what has its default" })),
      host, this.faults, this.changes, this.before, this.progress.element,
      make("div", { class: "row" }, make("label", { class: "file" }, "Choose files", file), make("label", { title: "Models do not say how their root is held" }, this.free, " Robots float"), make("label", { title: "A plane below the lowest shape of a model" }, this.ground, " Add a ground"),
        make("span", { class: "spring" }), make("button", { type: "submit", value: "cancel" }, "Cancel"), this.applyButton, this.runButton))));
    document.body.append(this.dialog);
    /** @type {{text: string, report: ReturnType<typeof validateScene>} | null} */
    this.judged = null;
    this.text = new SceneText(host, schema, () => this.changed());
  }

  /** @returns {Scene | null} in the view */
  current() {
    return this.page.session?.scene ?? null;
  }

  /** What tests read. */
  state() {
    const { from, to } = this.text.view.state.selection.main;
    return { text: this.text.value, selected: this.text.value.slice(from, to), from };
  }

  open() {
    this.faults.replaceChildren();
    this.showUp();
  }

  /** With the faults that were found last. */
  showUp() {
    this.checkSoon();
    if (!this.dialog.open) this.dialog.showModal();
    this.text.focus();
  }

  changed() {
    const { undo, redo } = this.text.depth;
    [this.undoButton.disabled, this.redoButton.disabled] = [!undo, !redo];
    if (this.dialog.open) this.checkSoon();
  }

  /** What is known of the scene before it runs, once nobody types. */
  checkSoon() {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.look(), QUIET_MS);
  }

  async look() {
    const text = this.text.value;
    const fault = text.trim() ? jsonFault(text) : null;
    if (!text.trim() || fault) {
      for (const one of [this.before, this.changes]) one.replaceChildren();
      this.applyButton.hidden = true;
      this.text.showFaults(fault ? [{ from: Math.min(fault.at, text.length), to: Math.min(fault.at + 1, text.length), severity: "error", message: fault.message }] : []);
      return;
    }
    const scene = JSON.parse(text);
    const report = await this.judge(text, scene).catch(() => null);
    if (!report || text !== this.text.value) return;
    this.showChanges(report.valid ? scene : null);
    this.underline(report.errors, report.warnings);
    this.showPreview(scene, report);
  }

  /** What the service says of a text; it is asked once. @param {string} text @param {Scene} scene */
  judge(text, scene) {
    if (this.judged?.text !== text) this.judged = { text, report: validateScene(scene) };
    const { report } = this.judged;
    report.catch(() => { this.judged = null; });
    return report;
  }

  /** @param {Scene} scene @param {Awaited<ReturnType<typeof validateScene>>} report */
  showPreview(scene, report) {
    this.before.replaceChildren(...(report.preview ? [previewOf(report.preview, scene, report.estimate?.seconds ?? null)] : []));
  }

  /** What running it would change, if it is the shown scene in another form. @param {any} scene null: it has faults */
  showChanges(scene) {
    this.applyButton.hidden = true;
    const shown = this.current();
    this.changes.replaceChildren();
    if (!shown || !this.isRelated(scene)) return;
    const [before, after] = [shown, scene].map((one) => this.short(one));
    const changes = changesBetween(before, after);
    this.applyButton.hidden = !this.page.session || this.page.session.stored || !patchOf(before, after);
    this.changes.replaceChildren(listOf(changes));
  }

  /** @param {any} scene */
  short(scene) {
    return this.schema ? withoutDefaults(scene, this.schema) : scene;
  }

  insert() {
    const scene = this.current();
    if (scene) this.text.value = formatted(this.short(scene));
  }

  /** The text of the shown scene: what is written if it is another form of it, else as it was posted. @returns {Scene | null} null: nothing is shown */
  written() {
    const [shown, text] = [this.current(), this.text.value];
    if (!shown) return null;
    const scene = text.trim() && !jsonFault(text) ? JSON.parse(text) : null;
    if (!scene || (scene.name ?? "") !== (shown.name ?? "") || !this.isRelated(scene)) this.insert();
    return JSON.parse(this.text.value);
  }

  /** Whether a scene has bodies of the shown one. @param {any} scene */
  isRelated(scene) {
    const names = new Set(this.current()?.bodies.map(({ name }) => name));
    return Array.isArray(scene?.bodies) && scene.bodies.some((/** @type {any} */ body) => names.has(body?.name));
  }

  tidy() {
    const fault = jsonFault(this.text.value);
    if (fault) this.showJsonFault(fault);
    else this.text.value = formatted(JSON.parse(this.text.value));
  }

  addPiece() {
    const piece = PIECES[this.pieces.value];
    this.pieces.value = "";
    this.edit((text) => withPiece(text, piece, text.trim() ? lowest(JSON.parse(text)) : 0));
  }

  /** Holds the base of the robot that is written, or of the one that is shown, or lets it go. */
  turnBase() {
    if (!this.text.value.trim()) this.insert();
    this.edit((text) => withBase(text || "{}"));
  }

  /** @param {(text: string) => ReturnType<typeof withPiece> | ReturnType<typeof withBase>} changeOf the text, which Undo takes back; if it is no scene, that is shown */
  edit(changeOf) {
    const text = this.text.value;
    const fault = text.trim() ? jsonFault(text) : null;
    if (fault) return this.showJsonFault(fault);
    try {
      const change = changeOf(text);
      if ("insert" in change) {
        this.text.replace(change.from, change.to, change.insert);
        this.text.mark(change.from, change.from + change.insert.length);
      }
      if ("says" in change) this.faults.replaceChildren(make("li", { class: "said" }, change.says));
    } catch (error) {
      // values that are not of the kind that a scene has there: the service names them
      if (!(error instanceof TypeError)) throw error;
      this.judge(text, JSON.parse(text)).then((report) => this.show(report.errors, report.warnings), (problem) => this.showProblem(problem));
    }
  }

  /** @param {File[]} files a scene, or a model with its meshes; those that are chosen later take its place */
  async read(files) {
    if (!files.length) return;
    this.chosen = files;
    this.runButton.disabled = true;
    this.faults.replaceChildren(...(areModel(files) ? [make("li", {}, "Importing…")] : []));
    try {
      const { text, notes } = await readFiles(files, { root: this.free.checked ? "free" : "fixed", ground: this.ground.checked });
      if (this.chosen !== files) return;
      this.text.value = text;
      this.faults.replaceChildren(...notes.map(noteItem));
      const fault = jsonFault(text);
      if (fault) this.showJsonFault(fault);
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
      if (this.chosen === files) this.faults.replaceChildren(...unreadItems(error.problem));
    } finally {
      if (this.chosen === files) this.runButton.disabled = false;
    }
  }

  /** @returns {Promise<boolean>} whether the scene has no faults; those it has are listed */
  async run() {
    this.runButton.disabled = true;
    try {
      return await this.check();
    } finally {
      this.runButton.disabled = false;
    }
  }

  async check() {
    const fault = jsonFault(this.text.value);
    if (fault) {
      this.showJsonFault(fault);
      return false;
    }
    const scene = JSON.parse(this.text.value);
    try {
      const size = count(scene?.bodies?.length ?? 0, "body", "bodies");
      const report = await this.progress.through(`Checking ${size}`, this.judge(this.text.value, scene));
      this.showPreview(scene, report);
      this.show(report.errors ?? [], report.warnings ?? []);
      if (!report.valid) return false;
      if (await this.progress.through(`Building ${size}`, this.onRun(scene))) this.dialog.close();
      else { // a service that no longer answers says so here
        this.judged = null;
        await this.judge(this.text.value, scene);
      }
      return true;
    } catch (error) {
      this.showProblem(error);
      return false;
    }
  }

  /** Into the run in the view, from its present step on; what the session keeps as its scene stays. */
  async apply() {
    const { session, motors } = this.page;
    const [shown, scene] = [this.current(), jsonFault(this.text.value) ? null : JSON.parse(this.text.value)];
    const commands = shown && scene && patchOf(this.short(shown), this.short(scene));
    if (!commands || !session || session.stored) return;
    const report = await this.judge(this.text.value, scene);
    this.show(report.errors ?? [], report.warnings ?? []);
    if (!report.valid) return;
    for (const { op, fields } of commands) {
      if (!(await session.command(op, fields))) return;
      if (op === "set_motor") motors.set(fields.joint, fields.axis, fields.target);
    }
    showNote(`Applied at ${seconds(session.edge.time, session.dt)}, until a reset. The scene that this session keeps is as it was.`);
    this.dialog.close();
  }

  /** @param {{at: number, line: number, column: number, message: string}} fault */
  showJsonFault({ at, line, column, message }) {
    const show = () => this.text.mark(at, Math.min(at + 1, this.text.value.length));
    this.faults.replaceChildren(make("li", { class: "error" }, make("button", { type: "button", title: "Show the place", onclick: show },
      make("code", {}, `line ${line}, column ${column}`), ` This is not JSON: ${message}.`)));
    show();
  }

  /** @param {unknown} error */
  showProblem(error) {
    if (!(error instanceof ProblemError)) throw error;
    const { problem } = error;
    if (problem.errors?.length) this.show(problem.errors, []);
    else this.faults.replaceChildren(make("li", { class: "error" }, problem.detail ?? problem.title));
  }

  /** @param {Fault[]} errors @param {Fault[]} warnings */
  show(errors, warnings) {
    const item = (/** @type {Fault} */ fault, /** @type {string} */ kind) => {
      const place = this.placeOf(fault.pointer);
      const where = [place && this.text.placeOf(place.start), fault.pointer || "/"].filter(Boolean).join(" · ");
      return make("li", { class: kind }, make("button", { type: "button", title: "Show the place", onclick: () => this.reveal(fault.pointer) }, ...describeFault(fault, where)));
    };
    this.faults.replaceChildren(...errors.map((fault) => item(fault, "error")), ...warnings.map((fault) => item(fault, "warning")));
    this.underline(errors, warnings);
    if (errors.length) this.reveal(errors[0].pointer);
  }

  /** @param {Fault[]} errors @param {Fault[]} warnings */
  underline(errors, warnings) {
    const mark = (/** @type {"error" | "warning"} */ severity) => (/** @type {Fault} */ { pointer, message }) => {
      const place = this.placeOf(pointer);
      return place ? [{ from: place.start, to: place.end, severity, message }] : [];
    };
    this.text.showFaults([...errors.flatMap(mark("error")), ...warnings.flatMap(mark("warning"))]);
  }

  /** @param {string} pointer @returns {{start: number, end: number} | null} */
  placeOf(pointer) {
    return jsonFault(this.text.value) ? null : locate(this.text.value, pointer);
  }

  /** Selects the value a pointer names. @param {string} pointer */
  reveal(pointer) {
    const place = this.placeOf(pointer);
    if (place) this.text.mark(place.start, place.end);
  }
}
