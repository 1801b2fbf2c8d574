// Runs the JavaScript client for tests/local/wire/test_javascript.py. From standard input, JSON: a list of jobs.
//   {"law": [table, value]}                  all outcomes of every draw: {report in hex: [numerator, denominator]}
//   {"reports": [table, values, random]}     one client a value, drawn from these bytes (hex): the message, in hex
//   {"own": [table, values]}                 the same with the randomness of the platform; and a stored client, if there is one

import { readFileSync } from "node:fs";
import { Draws, SurveyClient, newClientId } from "../../../clients/js/dither-local.mjs";
import { readLabel } from "../../../clients/js/labels.mjs";

const hex = (bytes) => Buffer.from(bytes).toString("hex");

/** Draws that were chosen beforehand; the first one beyond them throws its outcomes. */
class Script {
  constructor(chosen) {
    this.chosen = chosen;
    this.at = 0;
  }

  draw(outcomes) {
    if (this.at === this.chosen.length) throw outcomes();
    return this.chosen[this.at++];
  }

  below(m) {
    return this.draw(() => Array.from({ length: Number(m) }, (_, k) => [typeof m === "bigint" ? BigInt(k) : k, 1n, BigInt(m)]));
  }

  coin({ n, d }) {
    return this.draw(() => [[true, n, d], [false, d - n, d]].filter(([, share]) => share > 0n));
  }

  pick(weights) {
    const whole = weights.reduce((a, b) => a + b, 0n);
    return this.draw(() => weights.map((weight, at) => [at, weight, whole]));
  }

  pickBySums(count, upTo) {
    return this.pick(Array.from({ length: count }, (_, at) => upTo(at) - (at ? upTo(at - 1) : 0n)));
  }
}

function law(table, value) {
  const found = new Map();
  const follow = (chosen, n, d) => {
    let report;
    try {
      report = hex(new SurveyClient(table, { draws: new Script(chosen) }).report(readLabel(value)));
    } catch (outcomes) {
      if (!Array.isArray(outcomes)) throw outcomes;
      for (const [outcome, share, whole] of outcomes) follow([...chosen, outcome], n * share, d * whole);
      return;
    }
    const [n0, d0] = found.get(report) ?? [0n, 1n];
    found.set(report, n0 === 0n ? [n, d] : d0 === d ? [n0 + n, d] : [n0 * d + n * d0, d0 * d]);
  };
  follow([], 1n, 1n);
  return Object.fromEntries([...found].map(([report, chance]) => [report, chance.map(String)]));
}

function reports(table, values, random) {
  const data = Uint8Array.from(Buffer.from(random, "hex"));
  let taken = 0;
  const draws = new Draws((count) => data.slice(taken, (taken += count)));
  return hex(new SurveyClient(table).message(values.map((value) => new SurveyClient(table, { draws }).report(readLabel(value)))));
}

function own(table, values) {
  const client = new SurveyClient(table);
  const made = values.map((value) => client.report(readLabel(value)));
  const stored = client.kind === "longitudinal" ? client.toStored() : null;
  return [hex(client.message(made)), hex(client.message(made, made.map(newClientId))), stored];
}

const jobs = JSON.parse(readFileSync(0, "utf8"));
const kinds = { law, reports, own };
const results = jobs.map((job) => kinds[Object.keys(job)[0]](...Object.values(job)[0]));
process.stdout.write(JSON.stringify(results));
