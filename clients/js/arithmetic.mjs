// Hashes, finite fields and exact rounding: docs/wire-format.md spells each of them out.

import { RefusedError } from "./draws.mjs";

const WORD = (1n << 64n) - 1n;
export const PARTS = 1n << 120n;

/** A fixed permutation of 64-bit words (the mix of splitmix64). */
export function mix(word) {
  word = (word + 0x9e3779b97f4a7c15n) & WORD;
  word = ((word ^ (word >> 30n)) * 0xbf58476d1ce4e5b9n) & WORD;
  word = ((word ^ (word >> 27n)) * 0x94d049bb133111ebn) & WORD;
  return word ^ (word >> 31n);
}

/** Sum of two elements of a field: digit by digit in base p, without carries. */
function add(a, b, p) {
  let total = 0;
  for (let weight = 1; a > 0 || b > 0; weight *= p, a = Math.floor(a / p), b = Math.floor(b / p)) {
    total += (((a % p) + (b % p)) % p) * weight;
  }
  return total;
}

/** Product of two elements of a field: polynomials over the integers modulo p, with x^degree = reduction. */
export function multiply(a, b, { prime: p, degree, reduction }) {
  if (degree === 1) return (a * b) % p;
  const top = p ** (degree - 1);
  let total = 0;
  for (let weight = top; weight >= 1; weight /= p) {
    const high = Math.floor(total / top); // total becomes total * x
    total = (total % top) * p;
    for (let k = 0; k < high; k++) total = add(total, reduction, p);
    for (let k = Math.floor(b / weight) % p; k > 0; k--) total = add(total, a, p);
  }
  return total;
}

/** The cell of a value (its place) under a seed of local hashing. */
export function hashCell(seed, place, cells, hash) {
  if (hash.family === "mixed") {
    const word = mix(BigInt(Math.floor(seed / 4)) * 0x9e3779b97f4a7c15n + BigInt(place) * 0xd1b54a32d192ed03n);
    return Number((((word >> BigInt(16 * (seed % 4))) & 0xffffn) * BigInt(cells)) >> 16n);
  }
  let total = 0;
  for (let digit = 0; digit < hash.digits; digit++) {
    total = add(total, multiply(seed % cells, place % cells, hash), hash.prime);
    seed = Math.floor(seed / cells);
    place = Math.floor(place / cells);
  }
  return total;
}

/** The key of a row of bytes. */
export function prefixKey(bytes) {
  return bytes.reduce((key, byte) => mix(key + BigInt(byte) + 1n), 0n);
}

/** The cell of a key under the hash number `place` of heavy hitters. */
export function keyCell(key, place, cells) {
  const word = (key * (mix(BigInt(place)) | 1n) + mix(BigInt(place) ^ (1n << 63n))) & WORD;
  return Number(((word >> 32n) * BigInt(cells)) >> 32n);
}

/** A text as bytes of UTF-8: without zero characters, cut at a whole character, filled up with zeros. */
export function textBytes(text, length) {
  const found = new Uint8Array(length);
  let used = 0;
  for (const letter of text) {
    const point = letter.codePointAt(0);
    if (point === 0) continue;
    const bytes = point >= 0xd800 && point < 0xe000 ? [63] : new TextEncoder().encode(letter); // half a pair: "?"
    if (used + bytes.length > length) break;
    found.set(bytes, used);
    used += bytes.length;
  }
  return found;
}

/** A whole number of so many bits as bytes, the highest first. */
export function integerBytes(value, bits) {
  const good = typeof value === "bigint" || (typeof value === "number" && Number.isSafeInteger(value));
  if (!good || BigInt(value) < 0n || BigInt(value) >> BigInt(bits) !== 0n) {
    throw new RefusedError("value", value, `an item is a whole number from 0 to 2^${bits} - 1`, "7, or 7n above 2^53");
  }
  const length = Math.ceil(bits / 8);
  return Uint8Array.from({ length }, (_, at) => Number((BigInt(value) >> BigInt(8 * (length - 1 - at))) & 255n));
}

/** A number or BigInt as [numerator, denominator], exactly: every double is a fraction. */
function exactFraction(value) {
  if (typeof value === "bigint") return [value, 1n];
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  const bits = view.getBigUint64(0);
  const sign = bits >> 63n ? -1n : 1n;
  const exponent = Number((bits >> 52n) & 0x7ffn);
  const fraction = bits & 0xfffffffffffffn;
  const mantissa = sign * (exponent === 0 ? fraction : fraction | (1n << 52n));
  const power = (exponent === 0 ? 1 : exponent) - 1075;
  return power >= 0 ? [mantissa << BigInt(power), 1n] : [mantissa, 1n << BigInt(-power)];
}

/** Where a value lies between low (0) and high (steps), in 2^120ths, rounded down; what lies outside is moved inside. */
export function scaledPlace(value, low, high, steps) {
  if (typeof value !== "number" && typeof value !== "bigint") {
    throw new RefusedError("value", value, "it is no number", "1.5");
  }
  const [lowN, lowD] = low.map(BigInt);
  const [highN, highD] = high.map(BigInt);
  const most = BigInt(steps) * PARTS;
  if (value === Infinity) return most;
  if (value === -Infinity) return 0n;
  const [n, d] = exactFraction(typeof value === "number" && Number.isNaN(value) ? 0 : value);
  if (n * lowD <= lowN * d) return 0n;
  if (n * highD >= highN * d) return most;
  // (n/d - low) / (high - low), all above zero, so that BigInt's division rounds down
  const above = (n * lowD - lowN * d) * highD;
  return (above * most) / ((highN * lowD - lowN * highD) * d);
}
