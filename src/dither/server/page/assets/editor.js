// <dither-editor>: a text area for SQL that becomes CodeMirror where that loads; the text area stays the field of the form.
//
//   <dither-editor data-completions="Suggestions" data-table="table">
//     <label for="sql">…</label> <textarea id="sql" name="sql">…</textarea>
//   </dither-editor>
//
// Once it is defined (customElements.whenDefined) it has value, insert(text), schema, clearMarks(), focus(),
// mark({line, column, length, message}), and the event "change" for each change of the text. All work with the text area too,
// which has no underline. data-state is "codemirror" or "textarea" once that is decided. Lines and columns count from 1,
// columns in characters, as the server counts them.

import { FUNCTIONS, KEYWORDS, TYPES, completion, spaced } from "./sql.js";

const number = (code) => `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;

// In lists, signs that nobody sees or that turn the line around are written out, as on all pages; what is inserted has them.
function visible(text) {
  const start = [...text].slice(0, 80);
  const hidden = (sign) => /[\p{C}\p{Zl}\p{Zp}]/u.test(sign) && !"\u200c\u200d".includes(sign);
  return start.map((sign) => (hidden(sign) ? `\u27e8${number(sign.codePointAt(0))}\u27e9` : sign)).join("");
}

function element(name, facts) {
  return Object.assign(document.createElement(name), facts);
}

class DitherEditor extends HTMLElement {
  #area;
  #code; // the module of CodeMirror, and what there is of it only if it came
  #view;
  #marks;
  #hint;
  #place; // of the mark, which may be set before there is a view
  #tables = [];

  connectedCallback() {
    if (this.#area) return;
    const area = (this.#area = this.querySelector("textarea"));
    if (document.activeElement !== area) area.setSelectionRange(area.value.length, area.value.length);
    area.addEventListener("input", () => this.#tell());
    area.addEventListener("change", (event) => event.stopPropagation()); // of one who leaves: nothing changed
    area.form?.addEventListener("reset", () => (this.value = area.defaultValue));
    this.addEventListener("keydown", (event) => this.#submit(event), true);
    this.#start().then(
      () => (this.dataset.state = "codemirror"),
      () => (this.dataset.state = "textarea"),
    );
  }

  get value() {
    return this.#view ? this.#view.state.sliceDoc() : this.#area.value;
  }

  set value(text) {
    const length = this.#view ? this.#view.state.doc.length : this.#area.value.length;
    if (text !== this.value) this.#replace(0, length, text);
  }

  set schema({ tables }) {
    this.#tables = tables;
  }

  insert(text) {
    const area = this.#area;
    const { from, to } = this.#view?.state.selection.main ?? { from: area.selectionStart, to: area.selectionEnd };
    this.#replace(from, to, ...spaced(this.value.slice(0, from), text, this.value.slice(to)));
    this.focus();
  }

  mark(place) {
    this.#area.setAttribute("aria-invalid", "true");
    this.#place = place;
    if (this.#view) this.#underline(place);
  }

  #underline({ line, column, length = 1, message = "" }) {
    const { doc } = this.#view.state;
    const row = doc.line(Math.min(Math.max(line, 1), doc.lines));
    const signs = [...row.text]; // characters, of which some are two units of a JavaScript text
    const start = Math.min(Math.max(column - 1, 0), Math.max(signs.length - 1, 0));
    const from = row.from + signs.slice(0, start).join("").length;
    const to = from + signs.slice(start, start + Math.max(length, 1)).join("").length;
    this.#show(from < to ? [{ from, to }] : [], message);
  }

  clearMarks() {
    this.#area.removeAttribute("aria-invalid");
    this.#place = undefined;
    if (this.#view) this.#show([], "");
  }

  focus() {
    (this.#view ?? this.#area).focus();
  }

  #tell() {
    this.dispatchEvent(new Event("change", { bubbles: true }));
  }

  #show(ranges, message) {
    this.#view.dispatch({ effects: this.#marks.of(ranges) });
    this.#hint.textContent = message;
    this.#hint.hidden = message === "";
    this.#view.contentDOM.ariaInvalid = this.#area.ariaInvalid;
  }

  #submit(event) {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.isComposing) return;
    event.preventDefault();
    event.stopPropagation();
    const ask = this.#area.form?.querySelector('button[name="action"][value="ask"]');
    if (ask && !ask.disabled) ask.form.requestSubmit(ask);
  }

  // One step of undo. The cursor comes to stand after what is new, before its last `back` signs.
  #replace(from, to, text, back = 0) {
    if (this.#view) {
      const insert = this.#view.state.toText(text);
      const selection = { anchor: from + insert.length - back };
      const annotations = this.#code.isolateHistory.of("full");
      this.#view.dispatch({ changes: { from, to, insert }, selection, annotations, scrollIntoView: true });
      return;
    }
    this.#area.setRangeText(text, from, to, "end");
    this.#area.setSelectionRange(this.#area.selectionEnd - back, this.#area.selectionEnd - back);
    this.#tell();
  }

  #complete(context) {
    const found = completion(context.state.sliceDoc(), context.pos, this.#tables, context.explicit, this.dataset.table);
    const seen = ({ label, apply, detail }) => ({ label, apply, displayLabel: visible(label), detail: visible(detail) });
    return found && { ...found, options: found.options.map(seen), filter: false };
  }

  // The underlines of marks, which move with the text that they stand under.
  #underlines() {
    const { Decoration, EditorView, StateEffect, StateField } = this.#code;
    const line = Decoration.mark({ class: "mark" });
    this.#marks = StateEffect.define();
    return StateField.define({
      create: () => Decoration.none,
      update: (old, change) => {
        const set = change.effects.find((effect) => effect.is(this.#marks));
        return set ? Decoration.set(set.value.map(({ from, to }) => line.range(from, to))) : old.map(change.changes);
      },
      provide: (field) => EditorView.decorations.from(field),
    });
  }

  #extensions(label) {
    const { EditorState, EditorView, SQLDialect, keymap, ...code } = this.#code;
    const [keywords, types, builtin] = [KEYWORDS, TYPES, FUNCTIONS].map((names) => names.join(" "));
    const leave = (view) => code.closeCompletion(view) && false; // Tab goes on, and not into the list that was open
    const keys = [...code.completionKeymap, ...code.historyKeymap, ...code.standardKeymap]; // none of them takes Tab
    const special = (sign) => element("span", { className: "cm-specialChar", textContent: `\u27e8${number(sign)}\u27e9` });
    return [
      keymap.of([...keys, { key: "Mod-/", run: code.toggleComment }, { key: "Tab", run: leave, shift: leave }]),
      code.history(),
      SQLDialect.define({ keywords, types, builtin }).extension,
      code.syntaxHighlighting(code.classHighlighter),
      code.highlightSpecialChars({ render: special }),
      code.autocompletion({ override: [(context) => this.#complete(context)], icons: false }),
      this.#underlines(),
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ "aria-label": label, "aria-describedby": "hint" }),
      EditorState.phrases.of(this.dataset.completions ? { Completions: this.dataset.completions } : {}),
      EditorView.domEventHandlers({ beforeinput: (event, view) => this.#retype(event, view) }),
      EditorView.updateListener.of((update) => {
        if (!update.docChanged) return;
        this.#area.value = this.value;
        this.#tell();
      }),
    ];
  }

  // Text that is typed over a selection is replaced here: a browser would keep the look of what was there as inline style,
  // which the policy of the page forbids and reports.
  #retype(event, view) {
    if (event.inputType !== "insertText" || !event.data || event.isComposing || view.state.selection.main.empty) return false;
    event.preventDefault();
    view.dispatch(view.state.replaceSelection(event.data), { userEvent: "input.type", scrollIntoView: true });
    return true;
  }

  // Until all of it has come, and if any of it does not come, the text area is there.
  async #start() {
    const root = this.attachShadow({ mode: "open" });
    root.append(element("slot"));
    const style = element("link", { rel: "stylesheet", href: new URL("editor.css", import.meta.url).href });
    const styled = new Promise((done, failed) => Object.assign(style, { onload: done, onerror: failed }));
    root.append(style);
    [this.#code] = await Promise.all([import("./codemirror.js"), styled]);
    const area = this.#area;
    const label = area.labels[0];
    this.#hint = element("p", { id: "hint", hidden: true });
    const state = this.#code.EditorState.create({ doc: area.value, extensions: this.#extensions(label.textContent.trim()) });
    const view = new this.#code.EditorView({ state, root });
    const [anchor, head] = [area.selectionStart, area.selectionEnd];
    view.dispatch({ selection: { anchor, head } });
    const focused = document.activeElement === area;
    root.append(view.dom, this.#hint);
    this.#view = view;
    const described = (area.getAttribute("aria-describedby") ?? "").split(/\s+/).map((id) => document.getElementById(id));
    view.contentDOM.ariaDescribedByElements = [this.#hint, ...described.filter(Boolean)]; // ids do not reach out of a shadow
    if (this.#place) this.#underline(this.#place);
    else this.#show([], "");
    area.hidden = true;
    area.addEventListener("invalid", (event) => {
      event.preventDefault(); // the browser cannot show its words at a field that is hidden
      this.#show([], area.validationMessage);
      this.focus();
    });
    label.addEventListener("click", () => this.focus());
    if (focused) this.focus();
  }
}

customElements.define("dither-editor", DitherEditor);
