// Random numbers with an exact law, from random bytes: docs/wire-format.md, "Random numbers".
// A whole number below m takes as many bits as m - 1 has and is drawn again while it is not below m: no modulo, no floats.

/** What came, why it is refused, and what would work. */
export class RefusedError extends Error {
  constructor(what, came, why, works) {
    super(`${what} = ${shown(came)} is refused: ${why}. What would work: ${works}.`);
    this.name = "RefusedError";
  }
}

function shown(came) {
  try {
    const text = typeof came === "bigint" || typeof came === "number" ? String(came) : JSON.stringify(came);
    return (text ?? String(came)).slice(0, 60);
  } catch {
    return typeof came;
  }
}

const AT_ONCE = 65536; // bytes: getRandomValues refuses more

/** Cryptographic random bytes of the browser or of node. */
export function secureBytes(count) {
  const source = globalThis.crypto;
  if (typeof source?.getRandomValues !== "function") {
    const why = "without a cryptographic generator noise could be guessed, so nothing is drawn";
    throw new RefusedError("crypto.getRandomValues", undefined, why, "a page over https, or node 20 or later");
  }
  const found = new Uint8Array(count);
  for (let start = 0; start < count; start += AT_ONCE) source.getRandomValues(found.subarray(start, start + AT_ONCE));
  return found;
}

/** Bits of m - 1. */
function bitLength(m) {
  return m <= 1n ? 0 : (m - 1n).toString(2).length;
}

/** A coin n / d, read once from a pair of texts. */
export class Coin {
  constructor([n, d]) {
    this.n = BigInt(n);
    this.d = BigInt(d);
    if (this.d < 1n || this.n < 0n || this.n > this.d) {
      throw new RefusedError("coin", [n, d], "a probability lies between 0 and 1", "what client_table() wrote");
    }
    const bits = bitLength(this.d);
    this.size = Math.ceil(bits / 8);
    this.shift = 8 * this.size - bits;
    // for d = 2^bits nothing is drawn again, and the bytes are compared with those of n from the left
    this.limit = this.d === 1n << BigInt(bits) && this.n < this.d ? toBytes(this.n << BigInt(this.shift), this.size) : null;
  }
}

/** Draws from a source of bytes: a function that gives so many, cryptographic ones unless a test says otherwise. */
export class Draws {
  constructor(take = secureBytes) {
    this.take = take;
  }

  /** A uniform whole number below m, which is a number up to 2^32 or a BigInt; of the type of m. */
  below(m) {
    if (typeof m === "bigint") return this.#belowLarge(m);
    const bits = m <= 1 ? 0 : 32 - Math.clz32(m - 1);
    if (bits === 0) return 0;
    const size = Math.ceil(bits / 8);
    const divisor = 2 ** (8 * size - bits);
    for (;;) {
      const drawn = Math.floor(this.take(size).reduce((value, byte) => value * 256 + byte, 0) / divisor);
      if (drawn < m) return drawn;
    }
  }

  #belowLarge(m) {
    const bits = bitLength(m);
    if (bits === 0) return 0n;
    const size = Math.ceil(bits / 8);
    const shift = BigInt(8 * size - bits);
    for (;;) {
      const drawn = fromBytes(this.take(size)) >> shift;
      if (drawn < m) return drawn;
    }
  }

  /** True with probability n / d, exactly. */
  coin(coin) {
    if (coin.limit === null) return this.below(coin.d) < coin.n;
    const bytes = this.take(coin.size);
    for (let at = 0; at < coin.size; at++) {
      if (bytes[at] !== coin.limit[at]) return bytes[at] < coin.limit[at];
    }
    return false;
  }

  /** The place of one of the weights (BigInts), each with probability weight / sum. */
  pick(weights) {
    let left = this.below(weights.reduce((total, weight) => total + weight, 0n));
    let at = 0;
    while (left >= weights[at]) left -= weights[at++];
    return at;
  }

  /** The same where `upTo(at)` is the sum of the weights of places 0 to `at` of so many: by halving, not one by one. */
  pickBySums(count, upTo) {
    const drawn = this.below(upTo(count - 1));
    let [low, high] = [0, count - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (drawn < upTo(middle)) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

/** A BigInt as so many bytes, the highest first. */
function toBytes(value, size) {
  const found = new Uint8Array(size);
  for (let at = size - 1; at >= 0; at--, value >>= 8n) found[at] = Number(value & 255n);
  return found;
}

function fromBytes(bytes) {
  return bytes.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n);
}
