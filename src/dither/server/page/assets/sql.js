// SQL as text: its tokens, names and literals as they are written, and what may stand at a place of a question.

const words = (text) => text.trim().split(/\s+/);
export const KEYWORDS = words(`all and as asc between by case cast cross cube desc differential_privacy distinct else end
 escape except exists false filter following from full group having ilike in inner intersect interval is join last left like
 limit natural not null nulls offset on options or order outer over partition preceding qualify range right rollup rows
 select sets some table then true unbounded union using when where window with within`);
export const TYPES = words("bigint boolean date decimal double int integer real smallint text time timestamp varchar");
export const FUNCTIONS = words(`abs avg ceil coalesce concat corr count count_if covar_pop covar_samp date_part date_trunc
 exp extract floor greatest grouping lag least left length ln log log10 log2 lower ltrim max median min mod mode nullif
 percentile_cont power quantile quantile_cont rank regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope right
 round row_number rtrim sign sqrt stddev stddev_pop stddev_samp substring sum trim trunc upper var_pop var_samp variance
 width_bucket`);
const RESERVED = new Set([...KEYWORDS, ...TYPES]);
const MOST = 200; // options in a list: nobody reads more
const COMPARISON = /^([<>]=?|<>|[!=]?=)$/;
const CLAUSE = /^(select|by|in|from|join|where|having|on|qualify|and|or|when|then|else)$/;
const TOKEN = new RegExp(
  [
    String.raw`(?<comment>--.*|/\*[^]*?(?:\*/|$))|(?<string>'(?:[^']|'')*(?:'|$))|(?<quoted>"(?:[^"]|"")*(?:"|$))`,
    String.raw`(?<word>[\p{L}_][\p{L}\p{N}_$]*)|(?<number>\d[\w.]*)|(?<sign>[<>=!]+|\S)`,
  ].join("|"),
  "gu",
);

// Tokens with `name`, which is what a name means in small letters. An open text or name has no end yet.
export function scan(text) {
  return [...text.matchAll(TOKEN)].map((found) => {
    const [whole] = found;
    const kind = Object.keys(found.groups).find((name) => found.groups[name] !== undefined);
    const quote = { string: "'", quoted: '"' }[kind];
    const open = quote !== undefined && whole.split(quote).length % 2 === 0;
    const name = quote === undefined ? whole : whole.slice(1, open ? undefined : -1).replaceAll(quote + quote, quote);
    return { kind, open, name: name.toLowerCase(), from: found.index, to: found.index + whole.length };
  });
}

const isSign = (token, sign) => token?.kind === "sign" && token.name === sign;
const isWord = (token, ...names) => token?.kind === "word" && names.includes(token.name);
const isName = (token) => token?.kind === "quoted" || (token?.kind === "word" && !KEYWORDS.includes(token.name));
const isLiteral = (token) => ["string", "number"].includes(token?.kind) || isWord(token, "true", "false", "null");

export function sqlName(name) {
  const plain = /^[a-z_][a-z0-9_]*$/i.test(name) && !RESERVED.has(name.toLowerCase());
  return plain ? name : `"${name.replaceAll('"', '""')}"`;
}

export function sqlLiteral(key, type) {
  if (typeof key !== "string") return String(key).toUpperCase();
  return (["date", "timestamp"].includes(type) ? `${type.toUpperCase()} ` : "") + `'${key.replaceAll("'", "''")}'`;
}

// What to insert between two texts, with a comma or space where SQL needs one: [text, how much of it is after the cursor].
export function spaced(before, text, after) {
  const tokens = scan(before).filter((token) => token.kind !== "comment");
  const [last, next] = [tokens.at(-1), scan(after)[0]];
  const clause = tokens.findLast((token) => token.kind === "word" && CLAUSE.test(token.name));
  const listed = isWord(clause, "select", "by", "in");
  const ended = isName(last) || isLiteral(last) || (isSign(last, ")") && clause.name !== "in");
  const comma = listed && ended ? "," : "";
  const space = before === "" || (comma === "" && /[\s(.]$/.test(before)) ? "" : " ";
  const more = listed && (isName(next) || isLiteral(next)) && !/^\s*\n/.test(after) ? ", " : "";
  const tail = more ? more.trimEnd() + (/^\s/.test(after) ? "" : " ") : /^[\p{L}\p{N}_"']/u.test(after) ? " " : "";
  return [(comma && /\s$/.test(before) ? ", " : comma + space) + text + tail, tail.length];
}

// The name of the column whose keys may stand next: after = and the like, after IN (, and after a comma in such a list.
function comparedName(tokens) {
  let at = tokens.length - 1;
  const inList = (token) => isSign(token, ",") || isLiteral(token) || isWord(token, "date", "timestamp");
  if (isSign(tokens[at], ",")) while (inList(tokens[at])) at -= 1;
  if (isSign(tokens[at], "(") && isWord(tokens[at - 1], "in")) at -= isWord(tokens[at - 2], "not") ? 2 : 1;
  else if (!COMPARISON.test(tokens[at]?.name) || !isSign(tokens[at], tokens[at].name)) return undefined;
  return isName(tokens[at - 1]) ? tokens[at - 1].name : undefined;
}

// The table of a name before a dot: itself, or what it is an alias of (FROM visits AS v, FROM visits v).
function qualified(tables, tokens, name) {
  const place = (before) => tokens.findIndex((token, at) => isName(token) && token.name === name && before(tokens[at - 1]));
  const [plain, as] = [place(isName), place((token) => isWord(token, "as"))];
  const meant = [name, tokens[plain - 1]?.name, tokens[as - 2]?.name];
  return tables.filter((table) => meant.includes(table.name.toLowerCase()));
}

const columnOptions = (tables) =>
  tables.flatMap(({ columns }) => columns.map(({ name, type }) => ({ label: name, apply: sqlName(name), detail: type })));

function keyOptions({ name, type, keys }) {
  const exact = keys.filter((key) => typeof key !== "number" || Number.isSafeInteger(key)); // others were rounded on the way
  return exact.map((key) => ({ label: String(key), apply: sqlLiteral(key, type), detail: name }));
}

function nameOptions(tables, named, last, typed, tableWord) {
  const options = tables.map(({ name }) => ({ label: name, apply: sqlName(name), detail: tableWord }));
  if (isWord(last, "from", "join")) return options;
  options.unshift(...columnOptions(named.length ? named : tables));
  if (typed?.kind !== "word") return options;
  const functions = FUNCTIONS.map((name) => ({ label: name.toUpperCase(), apply: `${name.toUpperCase()}(`, detail: "()" }));
  const keywords = KEYWORDS.map((name) => ({ label: name.toUpperCase(), apply: name.toUpperCase(), detail: "" }));
  return [...options, ...functions, ...keywords];
}

// What may stand at `at`: {from, to, options: [{label, apply, detail}]}, or null. `asked` is true if somebody asked for it.
export function completion(text, at, tables, asked, tableWord) {
  const tokens = scan(text.slice(0, at));
  const end = tokens.at(-1)?.to === at ? tokens.at(-1) : undefined;
  if (["comment", "number"].includes(end?.kind) || (end?.kind === "string" && !end.open)) return null;
  const typed = end?.open || end?.kind === "word" ? tokens.pop() : undefined;
  const before = tokens.filter((token) => token.kind !== "comment");
  const last = before.at(-1);
  const whole = scan(text);
  const named = tables.filter(({ name }) => whole.some((token) => isName(token) && token.name === name.toLowerCase()));
  const compared = comparedName(before);
  const columns = [...named, ...tables].flatMap((table) => table.columns);
  const column = columns.find(({ name, keys }) => name.toLowerCase() === compared && keys?.length);
  const options = column && typed?.kind !== "quoted" ? keyOptions(column) : [];
  if (isSign(last, ".")) options.push(...columnOptions(qualified(tables, whole, before.at(-2)?.name)));
  else if (typed?.kind !== "string" && (asked || typed)) options.push(...nameOptions(tables, named, last, typed, tableWord));
  const part = typed?.name ?? "";
  const begins = ({ label }) => label.toLowerCase().startsWith(part);
  const fit = [...new Map(options.map((option) => [option.apply, option])).values()]
    .filter(({ label }) => label.toLowerCase().includes(part))
    .sort((one, other) => begins(other) - begins(one));
  if (!fit.length || (!asked && fit.some(({ label }) => label.toLowerCase() === part))) return null; // it is written out
  const to = typed?.open && /^['"]/.test(text.slice(at)) ? at + 1 : at;
  return { from: typed?.from ?? at, to, options: fit.slice(0, MOST) };
}
