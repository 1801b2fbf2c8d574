// What the editor of the page needs of CodeMirror, and no more: `src/dither/server/page/assets/editor.js` imports these names.
export { EditorView } from "codemirror";
export { EditorState, StateEffect, StateField } from "@codemirror/state";
export { Decoration, highlightSpecialChars, keymap } from "@codemirror/view";
export { history, historyKeymap, isolateHistory, standardKeymap, toggleComment } from "@codemirror/commands";
export { syntaxHighlighting } from "@codemirror/language";
export { classHighlighter } from "@lezer/highlight";
export { SQLDialect } from "@codemirror/lang-sql";
export { autocompletion, closeCompletion, completionKeymap } from "@codemirror/autocomplete";
