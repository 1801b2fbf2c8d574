// The page on which questions are asked: price and error while somebody types, and names by a click.
// Without it the form works as it is. Texts come from data- attributes of the form; what others wrote is only ever text.

const QUOTE_AFTER = 60; // ms without a key
const TELL_AFTER = 600; // ms until the live region says it, and stored answers are looked through
const SPREAD = /\s*(.+?)\s*=\s*([^,=]+?)\s*(?:,|$)/y; // a column and its standard deviation, as the server reads them
const FIRST_RETRY = 1; // seconds; doubled up to LAST_RETRY where the gateway does not say when
const LAST_RETRY = 30;
const FEW = 10; // such questions left: one takes more than a tenth
const LONGEST_ADDRESS = 2000;
const DRAFT = "dither-draft";
const NARROW = "(max-width: 55rem)"; // tables stand above the question, not beside it

const at = (id) => document.getElementById(id);
const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");

// Signs that nobody sees, or that turn what follows, are written out, as the server does.
const HIDDEN = /(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu;
const code = (sign) => `\u27e8U+${sign.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}\u27e9`;
const visible = (text) => String(text).replace(HIDDEN, (sign) => (sign === "\r" ? "" : code(sign)));

function element(name, text = "", attributes = {}) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text) made.append(isolated(text));
  return made;
}

function isolated(text) {
  const made = document.createElement("bdi");
  made.textContent = visible(text);
  return made;
}

function say(place, text) {
  place.replaceChildren(...(text ? [isolated(text)] : []));
  place.hidden = !text;
}

const plainPrice = (price) => price.replace(/ \([^()]*\)$/, "").replace(/^\((.*)\)$/, "$1");
const shortPrice = (price) => plainPrice(price).replaceAll(" = ", " ");

function percent(confidence) {
  const [above, below = "1"] = confidence.split("/");
  return `${Number(((100 * above) / below).toPrecision(10))}%`;
}

// Three digits, rounded up: a wish for what was shown costs no more than what was shown.
// What cannot be read is sent as it is, and refused with words.
function readSpread(text) {
  const found = {};
  SPREAD.lastIndex = 0;
  while (SPREAD.lastIndex < text.length) {
    const part = SPREAD.exec(text);
    if (!part) return { [text]: "" };
    found[part[1]] = part[2];
  }
  return found;
}

function wishText(size) {
  const rounded = Number(size.toPrecision(3));
  if (rounded >= size || size <= 0) return String(rounded);
  return String(Number((rounded + 10 ** (Math.floor(Math.log10(size)) - 2)).toPrecision(3)));
}

// Of a text without quotes, spaces that mean nothing are left out.
const normal = (sql) => (/['"]|--|\/\*/.test(sql) ? sql.trim() : sql.split(/\s+/).filter(Boolean).join(" "));

class AskPage {
  constructor(form) {
    this.form = form;
    this.texts = at("texts").dataset; // not of the form: its field of that name hides its own
    this.editor = at("editor");
    this.area = at("sql");
    this.number = at("number");
    this.scale = at("scale");
    this.steps = this.scale.dataset.scale.split(" ");
    this.button = at("ask-button");
    this.words = this.button.textContent.trim();
    this.serial = 0;
    this.columns = [...at("wishes").querySelectorAll("input")].map((input) => input.name.slice("error:".length));
    this.wait = FIRST_RETRY;
    for (const each of document.querySelectorAll("[data-with-script]")) each.hidden = false;
    for (const each of document.querySelectorAll("[data-without-script]")) each.hidden = true;
    this.listen();
    this.keepDraft();
    this.showWay();
    this.showScale();
    for (const place of document.querySelectorAll("[data-insert]")) this.insertByClick(place);
    if (matchMedia(NARROW).matches) for (const table of document.querySelectorAll("details.table")) table.open = false;
    this.editor.schema = JSON.parse(this.editor.dataset.schema);
    const told = at("problem").querySelector("[data-where]")?.dataset; // the server's, at a text that is still the same
    const ready = new MutationObserver(() => told && this.sql === this.area.defaultValue && this.mark(told));
    ready.observe(this.editor, { attributeFilter: ["data-state"] });
  }

  get sql() {
    return this.editor.value ?? this.area.value;
  }

  set sql(text) {
    if (this.editor.value === undefined) {
      this.area.value = text;
      this.changed();
    } else {
      this.editor.value = text;
    }
  }

  get way() {
    return this.form.elements.way.value;
  }

  listen() {
    this.editor.addEventListener("input", () => this.changed());
    this.editor.addEventListener("change", () => this.changed());
    this.form.addEventListener("input", (event) => {
      if (event.target === this.scale) this.number.value = this.steps[this.scale.value];
      if (event.target === this.scale || event.target === this.number) this.showScale();
      if (event.target.name === "way") this.showWay();
      if (!this.editor.contains(event.target)) this.changed();
    });
    this.form.addEventListener("submit", (event) => this.submit(event));
    for (const chip of document.querySelectorAll("a[data-sql]")) {
      chip.addEventListener("click", (event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return; // another tab
        event.preventDefault();
        this.sql = chip.dataset.sql;
        this.editor.focus();
      });
    }
    at("dataset")?.addEventListener("change", () => at("choice").requestSubmit());
    window.addEventListener("pageshow", () => this.settle()); // also when somebody comes back to it
  }

  // -- the form --------------------------------------------------------------------------------------------------------

  showWay() {
    at("by-price").hidden = this.way === "error";
    at("number-hint").hidden = this.way === "error";
    at("by-error").hidden = this.way !== "error";
    if (this.way !== "error") return;
    const inputs = [...at("wishes").querySelectorAll("input")];
    // What somebody empties, to write another number, stays empty.
    if (inputs.some((input) => input.value || input === document.activeElement)) return;
    for (const input of inputs) input.value = input.placeholder;
  }

  showScale() {
    const value = Math.log(Number(this.number.value));
    if (Number.isNaN(value)) return;
    const off = this.steps.map((step) => Math.abs(Math.log(Number(step)) - value));
    this.scale.value = off.indexOf(Math.min(...off));
    this.scale.setAttribute("aria-valuetext", `${this.scale.dataset.sign} ${this.steps[this.scale.value]}`);
  }

  insertByClick(place) {
    const button = element("button", "", { type: "button", class: "insert" });
    button.append(...place.childNodes);
    button.title = fill(this.texts.insertName, { name: visible(place.dataset.insert) });
    button.addEventListener("click", () => {
      if (this.editor.insert) return this.editor.insert(place.dataset.insert);
      this.area.setRangeText(place.dataset.insert, this.area.selectionStart, this.area.selectionEnd, "end");
      this.area.focus();
      this.changed();
    });
    place.replaceChildren(button);
  }

  // A field for each column; what was typed stays by its name, or by its place where columns are called otherwise.
  showWishes(errors) {
    const names = Object.keys(errors);
    const inputs = [...at("wishes").querySelectorAll("input")];
    if (names.join("\n") !== this.columns.join("\n")) {
      const typed = new Map(inputs.map((input) => [input.name, input.value]));
      const places = inputs.length === names.length ? inputs.map((input) => input.value) : [];
      at("wishes").replaceChildren(
        ...names.map((name, place) => {
          const field = element("div", "", { class: "field" });
          const id = `wish-${place}`;
          const told = { id, name: `error:${name}`, inputmode: "decimal", autocomplete: "off", maxlength: "200" };
          const input = element("input", "", { ...told, "aria-describedby": "wish-hint" });
          input.value = typed.get(`error:${name}`) ?? places[place] ?? "";
          field.append(element("label", fill(this.texts.wish, { name }), { for: id }), input);
          return field;
        }),
      );
      this.columns = names;
      at("wish-hint").textContent = this.texts.wishHint;
    }
    names.forEach((name, place) => {
      if (errors[name] !== null) at(`wish-${place}`).placeholder = wishText(errors[name]);
    });
  }

  terms() {
    const data = new FormData(this.form);
    const found = { dataset: data.get("dataset"), sql: this.sql };
    for (const name of ["confidence", "delta", "other", "bounding", "noise", "limits", "bounds"]) {
      const value = data.get(name)?.trim();
      if (value) found[name] = value;
    }
    for (const name of ["size", "slot"]) {
      const value = data.get(name)?.trim();
      if (value) found[name] = Number.isFinite(Number(value)) ? Number(value) : value;
    }
    const spread = data.get("spread")?.trim();
    if (spread) found.spread = readSpread(spread);
    const intervals = data.get("intervals");
    if (intervals) found.intervals = intervals === "no" ? false : intervals;
    if (this.way === "error") {
      const wishes = [...data].filter(([name, value]) => name.startsWith("error:") && value.trim());
      found.error = Object.fromEntries(wishes.map(([name, value]) => [name.slice("error:".length), value.trim()]));
    } else {
      found[this.way] = this.number.value.trim();
    }
    return found;
  }

  // -- the price while somebody types ------------------------------------------------------------------------------------

  changed() {
    this.form.elements.quote.value = ""; // what is shown is the price of something else
    at("price").setAttribute("aria-busy", "true");
    this.later(QUOTE_AFTER);
  }

  later(milliseconds) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.quote(), milliseconds);
  }

  async quote(discover = false) {
    const mine = ++this.serial;
    this.request?.abort();
    this.request = new AbortController();
    const terms = this.terms();
    if (discover) {
      delete terms.error;
      terms[this.number.name] = this.number.value.trim() || this.steps[0];
    }
    let [reply, told] = [];
    try {
      const headers = { "Content-Type": "application/json" };
      const how = { method: "POST", headers, body: JSON.stringify(terms), signal: this.request.signal };
      reply = await fetch("/v1/quotes", how);
      told = await reply.json();
    } catch (error) {
      if (mine === this.serial && error.name !== "AbortError") this.retry(this.texts.unreachable, {});
      return;
    }
    if (mine !== this.serial) return; // a newer one is on its way
    at("price").removeAttribute("aria-busy");
    if (reply.ok && discover) {
      const before = JSON.stringify(this.terms().error);
      this.showWishes(told.errors);
      this.showWay();
      const now = this.terms().error; // the same wishes have the same problem, which is shown
      if (Object.values(now).length && JSON.stringify(now) !== before) this.later(0);
    } else if (reply.ok) {
      this.wait = FIRST_RETRY;
      this.showQuote(told);
    } else if (reply.status === 401) {
      this.showLogin();
    } else if (reply.status === 429 || reply.status === 503) {
      this.retry(this.texts.later, { title: told.title }, Number(reply.headers.get("Retry-After")));
    } else {
      this.showProblem(told);
      if (this.way === "error" && !discover && told.where === "error") this.quote(true); // which columns are there?
    }
  }

  retry(text, values, seconds) {
    const wait = seconds > 0 ? Math.min(seconds, LAST_RETRY) : this.wait;
    this.wait = Math.min(2 * this.wait, LAST_RETRY);
    this.clear();
    this.state(fill(text, { ...values, seconds: wait }));
    this.later(1000 * wait);
  }

  state(text) {
    say(at("price-state"), text);
    if (text) this.tell(text);
  }

  clear() {
    at("problem").replaceChildren();
    this.editor.clearMarks?.();
    this.area.removeAttribute("aria-invalid");
    at("price").hidden = at("price-same").hidden = true;
    at("price").removeAttribute("aria-busy");
    this.label(this.texts.ask);
    this.state("");
  }

  showQuote(quote) {
    const price = this.way === "rho" ? `${this.scale.dataset.sign} ${this.number.value.trim()}` : shortPrice(quote.price);
    const errors = Array.isArray(quote.errors) ? {} : quote.errors;
    const known = Object.values(errors).some((size) => size !== null);
    const unknown = Object.keys(errors).filter((name) => errors[name] === null);
    const left = known || Array.isArray(quote.errors) ? quote.words : quote.words.charAt(0).toUpperCase() + quote.words.slice(1);
    const words = { words: left, probability: percent(quote.confidence) };
    const sentence = quote.free ? "" : fill(known ? this.texts.probability : this.texts.noProbability, words);
    const costs = quote.free ? this.texts.freeNow : fill(this.texts.costsNow, { price: plainPrice(quote.price) });
    this.clear();
    this.form.elements.quote.value = quote.id;
    say(at("price-costs"), costs);
    say(at("price-words"), sentence);
    say(at("price-unknown"), unknown.length ? fill(this.texts.unknown, { names: unknown.join(", ") }) : "");
    say(at("price-unprotected"), quote.unprotected);
    const none = quote.left === 0;
    say(at("price-caution"), none ? this.texts.noneLeft : quote.left !== null && quote.left < FEW ? this.texts.much : "");
    at("price-caution").classList.toggle("bad", none);
    at("price").hidden = false;
    at("price-explain").querySelector("pre").replaceChildren(isolated(`${quote.describe}\n\n${quote.explain}`));
    this.label(quote.free ? this.texts.free : fill(none ? this.texts.none : this.texts.costs, { price }));
    this.showWishes(errors);
    this.tell(`${costs} ${sentence} ${at("price-caution").textContent}`, () => this.findSame());
  }

  showProblem(problem) {
    this.clear();
    const notice = element("div", "", { class: "notice bad" });
    const title = element("p");
    title.append(element("strong", problem.title));
    notice.append(title);
    const place = this.place(problem);
    const told = place && this.editor.dataset.state === "codemirror"; // why is said at the place
    const words = told ? problem.instead && fill(this.texts.instead, problem) : problem.detail;
    if (words) notice.append(element("p", words));
    if (place) {
      const line = element("p", fill(this.texts.place, place), { class: "hint" });
      line.append(" ", element("mark", place.word));
      notice.append(line);
    }
    if (!place && problem.where) {
      notice.append(element("p", [problem.where, problem.came].filter(Boolean).join(": "), { class: "hint" }));
    }
    if (problem.status === 402) notice.append(element("p", this.texts.budget));
    at("problem").replaceChildren(notice);
    if (place) this.mark({ where: problem.where, came: problem.came, why: problem.why });
    this.tell(`${problem.title}. ${problem.detail ?? ""}`);
  }

  place({ where, came = "" }) {
    const found = /^line (\d+), column (\d+)$/.exec(where ?? "");
    if (!found) return null;
    const [line, column] = [Number(found[1]), Number(found[2])];
    const rest = [...(this.sql.split("\n")[line - 1] ?? "")].slice(column - 1).join("");
    const meant = came.slice(1, -1);
    const word = meant && rest.startsWith(meant) ? meant : (/^(\w+|\S)/.exec(rest)?.[0] ?? "");
    return { line, column, word, length: Math.max([...word].length, 1) };
  }

  mark(problem) {
    const place = this.place(problem);
    if (place) this.editor.mark?.({ ...place, message: visible(problem.why ?? "") });
  }

  showLogin() {
    this.clear();
    this.keep();
    const next = `/ask?${new URLSearchParams({ dataset: this.form.elements.dataset.value, sql: this.sql })}`;
    const back = next.length > LONGEST_ADDRESS ? "/ask" : next; // a longer text comes back from this tab
    const notice = element("p", "", { class: "notice" });
    const link = element("a", this.texts.login, { href: `/login?${new URLSearchParams({ next: back, ended: "1" })}` });
    notice.append(isolated(this.texts.expired), " ", link);
    at("problem").replaceChildren(notice);
    this.tell(this.texts.expired);
  }

  tell(text, then) {
    clearTimeout(this.teller);
    this.teller = setTimeout(() => {
      at("price-live").textContent = visible(text);
      then?.();
    }, TELL_AFTER);
  }

  // Stored answers to the same text: opening one is free.
  async findSame() {
    const [mine, words] = [this.serial, normal(this.sql)];
    const asked = { dataset: this.form.elements.dataset.value, q: words.slice(0, 1000), count: "20" };
    try {
      const reply = await fetch(`/v1/answers?${new URLSearchParams(asked)}`);
      const found = reply.ok ? (await reply.json()).answers.find((one) => normal(one.sql) === words) : undefined;
      if (mine !== this.serial || !found) return;
      const when = found.when.replace("T", " ").replace("Z", "");
      const told = { when, analyst: found.analyst, price: plainPrice(found.price) };
      at("price-same").querySelector("bdi").textContent = visible(fill(this.texts.same, told));
      at("price-same").querySelector("a").href = `/answers/${encodeURIComponent(found.id)}`;
      at("price-same").hidden = false;
    } catch {
      // without it nothing is missing: the answer is where it was
    }
  }

  // -- asking ------------------------------------------------------------------------------------------------------------

  label(text) {
    this.words = text;
    if (!this.asking) this.button.replaceChildren(isolated(text));
  }

  submit(event) {
    if (event.submitter?.value !== "ask") {
      event.preventDefault(); // Enter in a field: the price, and nothing else
      this.quote();
    } else if (this.asking) {
      event.preventDefault();
    } else {
      this.asking = true;
      this.keep();
      // Not now: a button that is disabled is not sent.
      setTimeout(() => {
        this.button.disabled = true;
        this.button.replaceChildren(isolated(this.texts.asking));
      });
    }
  }

  settle() {
    this.asking = false;
    this.button.disabled = false;
    this.button.replaceChildren(isolated(this.words));
    this.showWay();
    this.showScale();
    if (this.area.value !== this.area.defaultValue || this.number.value !== this.number.defaultValue) this.changed();
  }

  keep() {
    sessionStorage.setItem(DRAFT, JSON.stringify({ dataset: this.form.elements.dataset.value, sql: this.sql }));
  }

  // A text that a login came in between of is there again; a question that was asked needs none.
  keepDraft() {
    const draft = JSON.parse(sessionStorage.getItem(DRAFT) ?? "null");
    sessionStorage.removeItem(DRAFT);
    if (draft === null || location.search || draft.dataset !== this.form.elements.dataset.value) return;
    if (draft.sql !== this.area.value) this.sql = draft.sql;
  }
}

if (at("ask")) new AskPage(at("ask"));
if (location.hash === "#answer") at("answer")?.focus();
