// The vectors of docs/wire-format-vectors.json: `node --test` in this folder. Given the table and the random bytes, the bytes of a report.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { hashCell, mix, multiply, scaledPlace, textBytes } from "./arithmetic.mjs";
import { Coin, Draws, secureBytes } from "./draws.mjs";
import { exactJson, readLabel } from "./labels.mjs";
import { RefusedError, SurveyClient, newClientId } from "./dither-local.mjs";

const vectors = JSON.parse(readFileSync(new URL("../../docs/wire-format-vectors.json", import.meta.url), "utf8"));
const hex = (bytes) => Buffer.from(bytes).toString("hex");

/** Draws from given bytes, all of which must be taken. */
function given(text) {
  const data = Uint8Array.from(Buffer.from(text, "hex"));
  let taken = 0;
  const draws = new Draws((count) => {
    assert.ok(taken + count <= data.length, "more random bytes are taken than are listed");
    return data.slice(taken, (taken += count));
  });
  return { draws, done: () => assert.equal(taken, data.length, "fewer random bytes are taken than are listed") };
}

/** A value as JavaScript has it: what JSON lacks is a text there. */
function valueOf(value, table) {
  if (table.bits !== undefined) return typeof value === "string" ? BigInt(value) : value;
  return table.low !== undefined && typeof value === "string" ? Number(value) : readLabel(value);
}

for (const [number, { table, clients, message, message_with_ids: withIds }] of vectors.surveys.entries()) {
  test(`survey ${number}: ${table.kind}`, () => {
    const reports = [];
    for (const each of clients) {
      const { draws, done } = given(each.random);
      const client = new SurveyClient(table, { draws });
      const made = each.values.map((value) => client.report(valueOf(value, table)));
      assert.deepEqual(made.map(hex), each.reports);
      done();
      reports.push(...made);
    }
    const client = new SurveyClient(JSON.stringify(table));
    assert.equal(hex(client.message(reports)), message);
    const ids = [0, 1].map((at) => new Uint8Array(16).fill(at));
    assert.equal(hex(client.message(reports.slice(0, 2), ids)), withIds);
  });
}

test("single steps", () => {
  const { below, coins, mix: words, fields, cells, items, rounding } = vectors.steps;
  for (const { m, random, value } of below) {
    assert.equal(String(given(random).draws.below(BigInt(m))), value);
    if (BigInt(m) <= 2n ** 32n) assert.equal(String(given(random).draws.below(Number(m))), value);
  }
  for (const { coin, random, value } of coins) assert.equal(given(random).draws.coin(new Coin(coin)), value);
  for (const { word, mixed } of words) assert.equal(String(mix(BigInt(word))), mixed);
  for (const { hash, products } of fields) for (const [a, b, c] of products) assert.equal(multiply(a, b, hash), c);
  for (const { hash, cells: g, cell } of cells) for (const [s, x, c] of cell) assert.equal(hashCell(s, x, g, hash), c);
  for (const { length, text, bytes } of items) assert.equal(hex(textBytes(text, length)), bytes);
  for (const { value, parts } of rounding.places) {
    assert.equal(String(scaledPlace(Number(value), rounding.low, rounding.high, rounding.steps)), parts);
  }
});

test("uniform numbers take every byte once", () => {
  for (const m of [2, 3, 5, 128, 129, 200, 256]) {
    const counts = new Array(m).fill(0);
    for (let byte = 0; byte < 256; byte++) {
      let taken = 0;
      const value = new Draws(() => Uint8Array.of(taken++ ? 0 : byte)).below(m);
      if (taken === 1) counts[value]++;
    }
    assert.equal(new Set(counts).size, 1);
  }
});

test("a stored longitudinal client keeps its permanent answer", () => {
  const { table, clients } = vectors.surveys.find((each) => each.table.kind === "longitudinal");
  const { draws } = given(clients[0].random);
  let client = new SurveyClient(table, { draws });
  const made = clients[0].values.map((value) => {
    const report = client.report(value);
    client = new SurveyClient(table, { draws, stored: client.toStored() });
    return hex(report);
  });
  assert.deepEqual(made, clients[0].reports);
});

test("whole numbers beyond 2^53 - 1 are told apart, and a memo of another one is refused", () => {
  const { table } = vectors.surveys.find((each) => each.table.domain && each.table.kind === "longitudinal");
  const client = new SurveyClient(table);
  client.report(9007199254740993n);
  const stored = client.toStored();
  assert.equal(JSON.parse(stored).memo[0][0], 1);
  new SurveyClient(table, { stored });
  assert.throws(() => new SurveyClient(table, { stored: stored.replace("740993", "740995") }), RefusedError); // rounds to 740996
  assert.throws(() => new SurveyClient(table, { stored: stored.replace("740993", "740992") }), RefusedError); // both round to this
  assert.throws(() => client.report(2 ** 53), /a BigInt/);
  assert.throws(() => client.report("9007199254740993"), RefusedError);
  assert.throws(() => new SurveyClient({ ...table, domain: [{ integer: "1.5" }, 2] }), RefusedError);
  const before = { ...table, dither_client_table: 1, domain: undefined }; // as version 1 had it: the record is read exactly
  const old = new SurveyClient(before, { stored });
  old.report(9007199254740992n);
  assert.deepEqual(JSON.parse(old.toStored()).memo.map(([place]) => place), [0, 1]);
  const text = '{"a": ["1234567890123456789", 1234567890123456789, -0.5, 1e300, "\\"1234567890123456789"]}';
  assert.deepEqual(exactJson(text), { a: ["1234567890123456789", { integer: "1234567890123456789" }, -0.5, 1e300, '"1234567890123456789'] });
});

test("picks by sums are picks by weights", () => {
  const weights = [3n, 0n, 1n, 2n];
  for (let byte = 0; byte < 256; byte++) {
    const draws = () => new Draws(((first) => () => Uint8Array.of(first-- === 0 ? byte : 0))(0));
    const upTo = (at) => weights.slice(0, at + 1).reduce((a, b) => a + b, 0n);
    assert.equal(draws().pickBySums(4, upTo), draws().pick(weights));
  }
});

test("what is wrong is refused in words", () => {
  const table = vectors.surveys[1].table;
  const client = new SurveyClient(table);
  const numbers = new SurveyClient(vectors.surveys.find((each) => each.table.kind === "duchi").table);
  const grid = new SurveyClient(vectors.surveys.find((each) => each.table.kind === "grid").table);
  const integers = new SurveyClient(vectors.surveys.find((each) => each.table.bits === 20).table);
  const longitudinal = vectors.surveys.find((each) => each.table.kind === "longitudinal").table;
  for (const bad of [
    () => client.report("perhaps"),
    () => client.report(undefined),
    () => new SurveyClient(vectors.surveys[0].table).report(1),
    () => numbers.report("7"),
    () => grid.report([4, 0]),
    () => grid.report(3),
    () => integers.report(1 << 20),
    () => integers.report(0.5),
    () => client.report(null),
    () => client.report({}),
    () => client.report(new String("yes")),
    () => client.report(2 ** 60),
    () => numbers.report(null),
    () => numbers.report(true),
    () => numbers.report(undefined),
    () => new SurveyClient("no JSON"),
    () => new SurveyClient({ ...table, dither_client_table: 3 }),
    () => new SurveyClient({ ...table, kind: "toString" }),
    () => new SurveyClient({ ...table, truth: ["3", "2"] }),
    () => new SurveyClient(longitudinal, { stored: '{"record": {}, "memo": []}' }),
    () => new SurveyClient(longitudinal, { stored: "?" }),
    () => client.toStored(),
    () => client.message([new Uint8Array(2)]),
    () => client.message([client.report("yes")], [new Uint8Array(3)]),
  ]) {
    assert.throws(bad, (error) => error instanceof RefusedError && /is refused: .*\. What would work: /.test(error.message));
  }
});

test("randomness comes from the platform, in pieces that it gives", () => {
  assert.equal(secureBytes(200_000).length, 200_000);
  assert.notDeepEqual(newClientId(), newClientId());
  const descriptor = Object.getOwnPropertyDescriptor(globalThis, "crypto");
  Object.defineProperty(globalThis, "crypto", { value: undefined, configurable: true });
  try {
    assert.throws(() => secureBytes(1), RefusedError);
  } finally {
    Object.defineProperty(globalThis, "crypto", descriptor);
  }
});
