/**
 * The text of a scene in an editor (CodeMirror): undo and redo, faults at their place, completion and
 * explanations from the schema of scenes. Loaded with the dialog that opens a scene.
 *
 * @import {CompletionContext, CompletionResult} from "@codemirror/autocomplete"
 * @import {Diagnostic} from "@codemirror/lint"
 */
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, isolateHistory, redo, redoDepth, undo, undoDepth } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import { HighlightStyle, bracketMatching, foldGutter, foldKeymap, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, hoverTooltip, keymap, lineNumbers, placeholder } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { make } from "./dom.js";
import { explain, suggest } from "./completion.js";
import { inTab } from "./storage.js";

const KEPT = "cardan.scene-text";

const LOOK = EditorView.theme({
  "&": { height: "100%", fontSize: "12px", backgroundColor: "var(--raised)", border: "1px solid var(--line)", borderRadius: "6px" },
  "&.cm-focused": { outline: "2px solid var(--info)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5", scrollbarWidth: "thin", scrollbarColor: "var(--line) transparent" },
  ".cm-content": { caretColor: "var(--text)" }, ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--raised)", color: "var(--muted)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--hover) 60%, transparent)" },
  ".cm-placeholder": { color: "var(--muted)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "color-mix(in srgb, var(--info) 40%, transparent)" },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": { backgroundColor: "var(--hover)", outline: "1px solid var(--line)" },
  ".cm-tooltip, .cm-panels": { backgroundColor: "var(--panel)", color: "var(--text)", border: "1px solid var(--line)", borderRadius: "6px" },
  ".cm-tooltip-hover > div, .cm-completionInfo": { maxWidth: "44ch", padding: "4px 8px" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", maxHeight: "15em" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--hover)", color: "var(--text)" },
  ".cm-completionDetail": { color: "var(--muted)", fontStyle: "normal" },
  // CodeMirror's own ones are for white paper
  ".cm-panel.cm-search": { fontSize: "12px", padding: "6px 28px 6px 8px" }, ".cm-panel.cm-search label": { fontSize: "inherit" },
  ".cm-panel .cm-textfield, .cm-panel .cm-button": { background: "var(--raised)", border: "1px solid var(--line)", borderRadius: "6px", fontSize: "inherit", padding: "3px 8px" },
  ".cm-panel .cm-button:hover, .cm-panel .cm-button:active": { background: "var(--hover)" }, ".cm-panel.cm-search [name=close]": { color: "inherit", fontSize: "16px" },
  ".cm-searchMatch, .cm-selectionMatch": { backgroundColor: "color-mix(in srgb, var(--accent) 10%, transparent)", outline: "1px solid var(--accent)" }, ".cm-searchMatch-selected": { outlineWidth: "2px" },
  ".cm-foldPlaceholder": { backgroundColor: "var(--hover)", border: "0", color: "var(--text)" },
});

const INKS = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--info)" }, { tag: tags.string, color: "var(--good)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--accent)" }, { tag: [tags.separator, tags.bracket], color: "var(--muted)" },
]);

export class SceneText {
  /**
   * @param {HTMLElement} host @param {Record<string, any> | null} schema of scenes; null: it could not be had
   * @param {() => void} onChange
   */
  constructor(host, schema, onChange) {
    this.view = new EditorView({ parent: host, state: EditorState.create({ doc: inTab.get(KEPT) ?? "", extensions: [
      lineNumbers(), foldGutter(), lintGutter(), history(), drawSelection(), highlightActiveLine(), bracketMatching(), closeBrackets(), search({ top: true }), highlightSelectionMatches(),
      json(), indentUnit.of(" "), EditorState.tabSize.of(1), EditorView.lineWrapping, LOOK, syntaxHighlighting(INKS), placeholder('{"version": 1, "bodies": […]}'),
      autocompletion({ override: [(context) => completionsAt(context, schema)], icons: false }),
      hoverTooltip((view, at) => explanationAt(view, at, schema)),
      keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...foldKeymap, ...completionKeymap, ...lintKeymap]),
      EditorView.contentAttributes.of({ id: "scene-text", "aria-label": "Scene as JSON" }),
      EditorView.updateListener.of((update) => { if (update.docChanged) onChange(); }),
    ] }) });
    // nobody is asked whether to leave: what was written is there when the page is loaded again
    window.addEventListener("pagehide", () => inTab.set(KEPT, this.value));
  }

  get value() {
    return this.view.state.doc.toString();
  }

  /** Another text; a change that can be undone by itself. @param {string} text */
  set value(text) {
    this.replace(0, this.view.state.doc.length, text);
  }

  /** @param {number} from @param {number} to @param {string} text */
  replace(from, to, text) {
    this.view.dispatch({ changes: { from, to, insert: text }, annotations: isolateHistory.of("full") });
  }

  undo() {
    undo(this.view);
  }

  redo() {
    redo(this.view);
  }

  /** @returns {{undo: number, redo: number}} how many changes there are to undo, and to do again */
  get depth() {
    return { undo: undoDepth(this.view.state), redo: redoDepth(this.view.state) };
  }

  /** Selects a range of the text. @param {number} from @param {number} to */
  mark(from, to) {
    this.view.dispatch({ selection: { anchor: from, head: to }, effects: EditorView.scrollIntoView(from, { y: "center" }) });
    this.view.focus();
  }

  /** @param {Diagnostic[]} faults underlined, with a mark beside their line */
  showFaults(faults) {
    this.view.dispatch(setDiagnostics(this.view.state, faults));
  }

  /** @param {number} at offset @returns {string} as a person counts */
  placeOf(at) {
    const line = this.view.state.doc.lineAt(Math.min(at, this.view.state.doc.length));
    return `line ${line.number}, column ${at - line.from + 1}`;
  }

  focus() {
    this.view.focus();
  }
}

/** @param {CompletionContext} context @param {Record<string, any> | null} schema @returns {CompletionResult | null} */
function completionsAt({ state, pos, explicit }, schema) {
  const found = schema && suggest(state.doc.toString(), pos, schema);
  if (!found || (!explicit && found.from === pos)) return null;
  return { from: found.from, to: found.to, options: found.options.map(({ label, apply, detail, info }) => ({ label, apply, detail, info: info || undefined })), filter: true };
}

/** @param {EditorView} view @param {number} at @param {Record<string, any> | null} schema */
function explanationAt(view, at, schema) {
  const found = schema && explain(view.state.doc.toString(), at, schema);
  return found ? { pos: found.from, end: found.to, above: true, create: () => ({ dom: make("div", {}, found.text) }) } : null;
}
