// Values of a survey, exactly: texts, whole numbers of any size, true and false, and pairs of whole numbers.
// JSON.parse rounds whole numbers beyond 2^53 - 1, and two values would become one without a word.

import { RefusedError } from "./draws.mjs";

/** A value as a table spells it: whole numbers beyond 2^53 - 1 are {"integer": "digits"} there, and BigInts here. */
export function readLabel(spelled) {
  if (Array.isArray(spelled)) return spelled.map(readLabel);
  if (spelled === null || typeof spelled !== "object") return spelled;
  if (typeof spelled.integer !== "string" || !/^-?[0-9]+$/.test(spelled.integer)) {
    throw new RefusedError("domain", spelled, "it is no value of a survey", "what survey.client_table() gave");
  }
  return BigInt(spelled.integer);
}

/** A value as a key: equal for equal values and no others. Nothing where it can be no value. */
export function labelKey(value) {
  if (typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value)) {
    throw new RefusedError("value", value, "JavaScript holds no whole number beyond 2^53 - 1 exactly as a number", "a BigInt: 9007199254740993n");
  }
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  if (Array.isArray(value)) return `[${value.map(labelKey).join()}]`;
  return typeof value === "string" || typeof value === "boolean" ? JSON.stringify(value) : undefined;
}

/** JSON whose whole numbers of many digits become {"integer": "digits"}; texts are left as they are. */
export function exactJson(text) {
  const tokens = /"(?:[^"\\]|\\.)*"|-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/g;
  return JSON.parse(text.replace(tokens, (token) => (/^-?[0-9]{16,}$/.test(token) ? `{"integer": "${token}"}` : token)));
}
