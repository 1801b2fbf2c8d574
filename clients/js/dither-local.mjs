// A client of dither's local surveys, for browsers and node: a value becomes a randomised report before it leaves the device.
// No dependency. The law of a report is exact: docs/wire-format.md has every step, and the proof of the promise is beside
// the Python code (src/dither/local/client_law.md).

import { Coin, Draws, RefusedError, secureBytes } from "./draws.mjs";
import { PARTS, hashCell, integerBytes, keyCell, prefixKey, scaledPlace, textBytes } from "./arithmetic.mjs";
import { exactJson, labelKey, readLabel } from "./labels.mjs";

export { Draws, RefusedError } from "./draws.mjs";

const VERSIONS = [1, 2]; // 2 has the values of the survey as `domain`, exactly
const COINS = ["truth", "own", "other", "yes", "no", "near", "duchi", "permanent", "fresh"];
const ID_SIZE = 16;

/** An id for one survey: draw it once, keep it, and use another one for another survey, since equal ids link reports. */
export function newClientId() {
  return secureBytes(ID_SIZE);
}

/** One person's client of one survey. */
export class SurveyClient {
  #table;
  #coins = {};
  #places = new Map();
  #weights;
  #sums;
  #memo = new Map();
  #draws;

  /**
   * @param {string|object} table what `survey.client_table()` gave, as text or parsed
   * @param {{stored?: string, draws?: Draws}} options `stored` is what `toStored()` gave (longitudinal surveys); `draws` is for tests
   */
  constructor(table, { stored, draws = new Draws() } = {}) {
    this.#table = readTable(table);
    this.#draws = draws;
    for (const name of COINS) if (name in this.#table) this.#coins[name] = new Coin(this.#table[name]);
    this.#weights = (this.#table.weights ?? []).map(BigInt);
    this.#sums = tailSums(this.#weights);
    const domain = this.#table.domain ?? exactJson(this.#table.record).domain ?? [];
    domain.forEach((value, place) => this.#places.set(labelKey(readLabel(value)), place));
    if (stored !== undefined) this.#memo = readMemo(stored, this.#table);
  }

  /** The kind of the survey, and the size of one report in bytes. */
  get kind() {
    return this.#table.kind;
  }

  get size() {
    return this.#table.size;
  }

  /** A randomised report of a value, as bytes. Call it once a value: a second report spends the epsilon a second time. */
  report(value) {
    const make = SURVEYS[this.kind];
    return make(this.#table, value, this.#steps());
  }

  /** Reports with all that a collector needs before them. With ids, 16 bytes each, a collector counts one report a client. */
  message(reports, ids) {
    const listed = reports instanceof Uint8Array ? [reports] : [...reports];
    if (listed.some((report) => !(report instanceof Uint8Array) || report.length !== this.size)) {
      throw new RefusedError("reports", listed.length, `each is an array of ${this.size} bytes`, "[client.report(value)]");
    }
    const named = ids instanceof Uint8Array ? [ids] : ids;
    if (named && (named.length !== listed.length || named.some((id) => !(id instanceof Uint8Array) || id.length !== ID_SIZE))) {
      throw new RefusedError("ids", named.length, `each report has an id of ${ID_SIZE} bytes`, "[newClientId()], kept for the survey");
    }
    const record = new TextEncoder().encode(this.#table.record);
    const head = new Uint8Array(12);
    head.set(new TextEncoder().encode("dither\0"));
    head[7] = named ? 2 : 1;
    new DataView(head.buffer).setUint32(8, record.length, true);
    return joined([head, record, ...listed.flatMap((report, at) => (named ? [named[at], report] : [report]))]);
  }

  /** What a client of a longitudinal survey keeps, for itself alone: store it before a report leaves. */
  toStored() {
    if (this.kind !== "longitudinal") {
      throw new RefusedError("kind", this.kind, "only longitudinal surveys keep a permanent answer", "a client without storage");
    }
    const memo = [...this.#memo].sort(([a], [b]) => a - b);
    return `{"record": ${this.#table.record}, "memo": ${JSON.stringify(memo)}}`;
  }

  #steps() {
    const [draws, coins, table] = [this.#draws, this.#coins, this.#table];
    const flat = (count, place, name) => {
      const [truth, other] = [draws.coin(coins[name]), draws.below(count - 1)]; // both are always drawn
      return truth ? place : (place + 1 + other) % count;
    };
    return {
      draws,
      flat,
      memo: this.#memo,
      weights: this.#weights,
      sums: this.#sums,
      coin: (name) => draws.coin(coins[name]),
      place: (value) => this.#placeOf(value),
      number: (value) => littleEndian(value, table.size),
      bits: (places) => packed(places, table.size),
      round: (value) => {
        const scaled = scaledPlace(value, table.low, table.high, table.steps);
        const up = draws.coin(new Coin([scaled % PARTS, PARTS]));
        return Number(scaled / PARTS) + (up ? 1 : 0);
      },
    };
  }

  #placeOf(value) {
    const place = this.#places.get(labelKey(value));
    if (place === undefined) {
      const known = [...this.#places.keys()].slice(0, 3).join(", ");
      throw new RefusedError("value", value, `it is none of the ${this.#places.size} values of the survey`, known);
    }
    return place;
  }
}

// -- one function for each kind of survey: what is drawn, in this order, whatever the value is ------------------------------

const SURVEYS = {
  "coin flip": (table, value, { coin }) => {
    if (typeof value !== "boolean") throw new RefusedError("value", value, "the answer is yes or no", "true");
    const [yes, no] = [coin("yes"), coin("no")];
    return Uint8Array.of((value ? yes : no) ? 1 : 0);
  },
  direct: (table, value, { place, flat, number }) => number(flat(table.values, place(value), "truth")),
  longitudinal: (table, value, { place, flat, number, memo }) => {
    const own = place(value);
    if (!memo.has(own)) memo.set(own, flat(table.values, own, "permanent"));
    return number(flat(table.values, memo.get(own), "fresh"));
  },
  unary: (table, value, { place, coin, bits }) => {
    const own = place(value);
    const set = Array.from({ length: table.values }, () => coin("other"));
    set[own] = coin("own");
    return bits(set.flatMap((bit, at) => (bit ? [at] : [])));
  },
  subset: (table, value, { place, coin, draws, bits }) => {
    const own = place(value);
    const inside = coin("own");
    const others = Array.from({ length: table.values }, (_, at) => at).filter((at) => at !== own);
    for (let at = 0; at < table.chosen; at++) {
      const swap = at + draws.below(others.length - at);
      [others[at], others[swap]] = [others[swap], others[at]];
    }
    return bits(inside ? [...others.slice(0, table.chosen - 1), own] : others.slice(0, table.chosen));
  },
  hadamard: (table, value, { place, coin, draws, number }) => {
    const own = place(value) + 1;
    const drawn = draws.below(table.numbers);
    const truth = coin("truth");
    let odd = false;
    for (let both = own & drawn; both; both &= both - 1) odd = !odd;
    return number(odd === truth ? drawn ^ (own & -own) : drawn);
  },
  hashing: (table, value, { place, flat, draws, number }) => {
    const own = place(value);
    const seed = draws.below(table.seeds);
    return number(seed * table.cells + flat(table.cells, hashCell(seed, own, table.cells, table.hash), "truth"));
  },
  "heavy hitters": (table, value, { flat, draws, number }) => {
    if (table.bits === undefined && typeof value !== "string") throw new RefusedError("value", value, "it is no text", '"perhaps"');
    const item = table.bits === undefined ? textBytes(value, table.length) : integerBytes(value, table.bits);
    const group = draws.below(table.groups);
    const place = group * table.seeds + draws.below(table.seeds);
    const key = prefixKey(item.subarray(0, Math.min(group, table.length - 1) + 1));
    return number(place * table.cells + flat(table.cells, keyCell(key, place, table.cells), "truth"));
  },
  grid: (table, value, { flat, draws, weights, number }) => {
    const { width, height } = table;
    const [column, row] = Array.isArray(value) && value.length === 2 ? value : [];
    if (!(Number.isInteger(column) && Number.isInteger(row) && column >= 0 && column < width && row >= 0 && row < height)) {
      throw new RefusedError("value", value, `a cell is [column, row] of ${width} columns and ${height} rows`, "[0, 0]");
    }
    if (table.scores === "uniform") return number(flat(width * height, column * height + row, "truth"));
    const axis = (own, count) => draws.pick(Array.from({ length: count }, (_, at) => weights[Math.abs(own - at)]));
    const told = axis(column, width);
    return number(told * height + axis(row, height));
  },
  duchi: (table, value, { round, flat, number }) => number(flat(2, round(value), "truth")),
  piecewise: (table, value, steps) => steps.number(windowed(table, steps.round(value), steps)),
  hybrid: (table, value, steps) => {
    if (!("duchi" in table)) return SURVEYS.duchi(table, value, steps);
    const place = steps.round(value);
    const one = steps.coin("duchi");
    const up = steps.draws.below(table.steps) < place ? 1 : 0;
    const bit = steps.flat(2, up, "truth");
    const near = windowed(table, place, steps);
    return steps.number(one ? table.reports + bit : near);
  },
  "noisy number": (table, value, { round, draws, sums, number }) => {
    const place = round(value);
    // of the weights of reports 0 to `at`: the left tail and what lies left of the place, then the right side
    const upTo = (at) => {
      if (at === table.steps) return sums[0] + sums[1];
      return at <= place ? sums[place - at] : sums[0] + sums[1] - sums[at - place + 1];
    };
    return number(draws.pickBySums(table.steps + 1, upTo));
  },
};

function windowed(table, place, { coin, draws }) {
  const [near, inside, outside] = [coin("near"), draws.below(table.window), draws.below(table.steps)];
  if (near) return place + inside;
  return outside < place ? outside : outside + table.window;
}

// -- bytes and texts ---------------------------------------------------------------------------------------------------------

function littleEndian(value, size) {
  return Uint8Array.from({ length: size }, (_, at) => Math.floor(value / 256 ** at) % 256);
}

/** Sums of the weights from each place on: a report takes a few of them instead of adding up a row. */
function tailSums(weights) {
  const found = [...weights];
  for (let at = found.length - 2; at >= 0; at--) found[at] += found[at + 1];
  return found;
}

function packed(places, size) {
  const found = new Uint8Array(size);
  for (const place of places) found[place >> 3] |= 1 << (place & 7);
  return found;
}

function joined(parts) {
  const found = new Uint8Array(parts.reduce((total, part) => total + part.length, 0));
  let at = 0;
  for (const part of parts) {
    found.set(part, at);
    at += part.length;
  }
  return found;
}

function readTable(given) {
  let table = given;
  try {
    if (typeof given === "string") table = JSON.parse(given);
  } catch {
    throw new RefusedError("table", given, "it is not JSON", "what survey.client_table() gave");
  }
  if (!VERSIONS.includes(table?.dither_client_table)) {
    const why = `this client reads tables of versions ${VERSIONS.join(" and ")}`;
    throw new RefusedError("version of the table", table?.dither_client_table, why, "a client of the same version");
  }
  if (!Object.hasOwn(SURVEYS, table.kind)) {
    throw new RefusedError("kind", table.kind, "this client knows no survey of that kind", Object.keys(SURVEYS).join(", "));
  }
  return table;
}

function readMemo(stored, table) {
  let found;
  try {
    found = exactJson(stored);
  } catch {
    throw new RefusedError("stored", "...", "it is not JSON", "what toStored() gave");
  }
  const same = canonical(found?.record) === canonical(exactJson(table.record));
  const inside = (at) => Number.isInteger(at) && at >= 0 && at < table.values;
  const memo = found?.memo;
  if (!same || !Array.isArray(memo) || !memo.every((pair) => Array.isArray(pair) && pair.length === 2 && pair.every(inside))) {
    throw new RefusedError("stored", "...", "it belongs to another survey", "what toStored() gave for this survey");
  }
  return new Map(memo);
}

function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "";
  return `{${Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join()}}`;
}
