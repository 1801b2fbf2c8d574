"""A person's totals scaled down to a length or a sum: the SELECTs of `clip` and `clip sum`, in whole numbers.

v are a person's totals in each group, cut at 2^52 / K, K the resolution, so that nothing overflows; of a family,
S = sum v^2 (`clip`) or S = sum |v| (`clip sum`), and B the claim that S must keep: L^2 or L (`statistics/bounding.py`).

One family. All of her weighs K if S <= B; otherwise, of K,

    clip       w = min(K, L K // r) with r * r >= S K^2: the length is w sqrt(S) <= L K sqrt(S) / r <= L, L rounded down
    clip sum   w = min(K, B K // S): the sum is w S <= B K

Several families, one weight. With the shares p of the price (rounded up), T = 2^40, and c / 2^q >= p T 2^a / B,

    Q = sum of ceil(ceil(S / 2^a) c / 2^q)  >=  T sum p S / B,

so that a weight w <= K sqrt(T / Q) (or K T / Q) keeps sum p (w/K)^2 S / B <= 1 (or sum p (w/K) S / B <= 1), which is what
the theorem in `statistics/bounding.py` asks for. Whoever has S <= B in every family has sum p S / B <= sum p and weighs K:
there the exact shares decide, which add up to 1. Otherwise Q <= T weighs K, w = min(K, 2^20 K // r) with r * r >= Q (or
T K // Q); whoever has S > 2^40 B somewhere counts as nothing, so that everything stays within 112 bits: a has 40 bits less
than B, and c at most 31 bits, or 2^37 where B is small.

r is the least whole number with r * r >= x, x = S K^2 or Q, on every engine. From a double near s = sqrt(x), d away from it,
one step of Newton's, (r + x // r) // 2 in whole numbers, lies within [s - 1, s + 1) as d^2 < r: doubles know 15 digits, and
r is below 2^64. Then it or the next is the root. The whole numbers decide once more whether it is used; should they say no,
the person counts as nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil

from dither.query.counters.counter_sets import CounterSet
from dither.query.engines.words import Words
from dither.query.statistics.bounding import Clip, ClipSum

WIDEST = 2**52  # of one weighted total: it fits into 64 bits, and 2^20 groups of 4 squares into 127
BITS = 40  # of T, and of how many times its claim a family may be
FINE = 30  # bits of c, where it is not larger by itself


def clipped(
    words: Words, keys: list[str], totals: list[str], families: Sequence[CounterSet], bounding: Clip | ClipSum, person: str
) -> str:
    """The totals of all groups, each person scaled down; `person` is the SELECT of her totals in each group."""
    widest = WIDEST // bounding.resolution
    cut = [
        f"{words.narrow(words.least([words.greatest([total, str(-widest)]), str(widest)]))} AS {total}" for total in totals
    ]
    vectors = f"SELECT {', '.join(['p', *keys, *cut])} FROM ({person}) AS mine"
    sizes, own, place = [], [], 0
    for number, family in enumerate(families):
        mine = totals[place : place + len(family.measures)]
        place += len(mine)
        own.append(mine)
        sizes.append(f"{words.wide(words.total(_size(words, bounding, mine)))} AS s{number}")
    sums = f"SELECT p, {', '.join(sizes)} FROM v GROUP BY p"
    weigh = _one_weight if bounding.joint else _own_weights
    norms, weights = weigh(words, families, bounding, sums)
    finest = bounding.resolution
    weighed = [
        (total, f"({total} * coalesce({weight}, {finest}))")
        for mine, weight in zip(own, weights, strict=True)
        for total in mine
    ]
    taken = [f"{words.wide(f'coalesce({words.narrow_total(part)}, 0)')} AS {total}" for total, part in weighed]
    # only those who are too long are joined, by the same equality by which they were grouped: they are few
    by = f" GROUP BY {', '.join(keys)}" if keys else ""
    grouped = f"SELECT {', '.join([*keys, *taken])} FROM v LEFT JOIN ({norms}) AS norms USING (p){by}"
    return f"WITH {words.materialized('v', vectors)} {grouped}"


def _size(words: Words, bounding: Clip | ClipSum, mine: list[str]) -> str:
    """What a group adds to S."""
    if isinstance(bounding, ClipSum):
        return " + ".join(f"abs({words.wide(total)})" for total in mine)
    return " + ".join(f"{words.wide(total)} * {total}" for total in mine)


def _claim(bounding: Clip | ClipSum, family: CounterSet) -> int:
    """B: what S must keep, in whole units."""
    return bounding.alone(family) if isinstance(bounding, ClipSum) else bounding.alone_squared(family)


def _own_weights(words: Words, families: Sequence[CounterSet], bounding: Clip | ClipSum, sums: str) -> tuple[str, list[str]]:
    """Each family by itself."""
    finest = bounding.resolution
    long, roots, weights, squares = [], [], [], dict[str, str]()
    for number, family in enumerate(families):
        s, r, w = f"s{number}", f"r{number}", f"w{number}"
        long.append(f"{s} > {words.wide(str(_claim(bounding, family)))}")
        if isinstance(bounding, ClipSum):
            roots.append(f"CASE WHEN {long[-1]} THEN {s} END AS {r}")
            share = words.divide(words.wide(str(_claim(bounding, family) * finest)), r)
            fits = f"{r} IS NOT NULL"
        else:
            squares[r] = f"x{number}"
            roots.append(f"CASE WHEN {long[-1]} THEN {s} * {words.wide(str(finest**2))} END AS x{number}")
            share = words.divide(words.wide(str(bounding.length(family) * finest)), r)
            fits = f"{r} * {r} >= x{number}"
        weight = f"WHEN {fits} THEN {words.least([str(finest), share])}"
        # NULL where she stays as she is, 0 where the root is too small
        weights.append(f"{words.narrow(f'(CASE {weight} WHEN {r} IS NOT NULL THEN 0 END)')} AS {w}")
    lengths = f"SELECT p, {', '.join(roots)} FROM ({sums}) AS sums WHERE {' OR '.join(long)}"
    if not isinstance(bounding, ClipSum):
        lengths = with_roots(words, ["p"], squares, lengths)
    norms = f"SELECT p, {', '.join(weights)} FROM ({lengths}) AS lengths"
    return norms, [f"w{number}" for number in range(len(families))]


def _one_weight(words: Words, families: Sequence[CounterSet], bounding: Clip | ClipSum, sums: str) -> tuple[str, list[str]]:
    """All families together."""
    finest, target = bounding.resolution, 2**BITS
    long, much, parts = [], [], []
    for number, (family, share) in enumerate(zip(families, bounding.shares, strict=True)):
        s, claim = f"s{number}", _claim(bounding, family)
        long.append(f"{s} > {words.wide(str(claim))}")
        much.append(f"{s} > {words.wide(str(claim * target))}")
        away, factor, shift = coefficient(share, claim)
        less = _divided(words, s, 2**away)
        parts.append(_divided(words, f"{less} * {words.wide(str(factor))}", 2**shift))
    # whoever has far too much somewhere is told apart first: what follows is not computed for her
    q = f"CASE WHEN {' OR '.join(much)} THEN NULL ELSE {' + '.join(parts)} END"
    lengths = f"SELECT p, {q} AS q FROM ({sums}) AS sums WHERE {' OR '.join(long)}"
    if isinstance(bounding, ClipSum):
        share_of = words.divide(words.wide(str(target * finest)), "q")
        weight = f"WHEN q > {target} THEN {share_of}"
        norms = f"SELECT p, q, {words.narrow(f'(CASE WHEN q IS NULL THEN 0 {weight} ELSE {finest} END)')} AS w"
        return f"{norms} FROM ({lengths}) AS lengths", ["w"] * len(families)
    roots = with_roots(words, ["p"], {"r": "q"}, lengths)
    share_of = words.least([str(finest), words.divide(words.wide(str(2 ** (BITS // 2) * finest)), "r")])
    weight = f"WHEN q <= {target} THEN {finest} WHEN r * r >= q THEN {share_of}"
    norms = f"SELECT p, {words.narrow(f'(CASE WHEN q IS NULL THEN 0 {weight} ELSE 0 END)')} AS w"
    return f"{norms} FROM ({roots}) AS roots", ["w"] * len(families)


def with_roots(words: Words, kept: Sequence[str], squares: Mapping[str, str], rows: str) -> str:
    """Rows with roots, each under its name: of a column of positive wide numbers the least whole number whose square is no
    less; NULL of NULL."""
    columns = [*kept, *squares.values()]
    near = [words.greatest([words.wide(words.ceil(f"sqrt({words.double(x)})")), words.wide("1")]) for x in squares.values()]
    near = [f"CASE WHEN {x} IS NOT NULL THEN {root} END" for x, root in zip(squares.values(), near, strict=True)]
    newton = [words.divide_wide(f"({r} + {words.divide_wide(x, r)})", words.wide("2")) for r, x in squares.items()]
    exact = [f"CASE WHEN {r} * {r} >= {x} THEN {r} ELSE {r} + 1 END" for r, x in squares.items()]
    for step in (near, newton, exact):
        found = [f"{root} AS {r}" for r, root in zip(squares, step, strict=True)]
        rows = f"SELECT {', '.join([*columns, *found])} FROM ({rows}) AS roots"
    return rows


def coefficient(share: Fraction, claim: int) -> tuple[int, int, int]:
    """a, c and q with c / 2^q >= share 2^40 2^a / claim."""
    away = max(0, claim.bit_length() - BITS)
    exact = share * 2 ** (BITS + away) / claim
    shift = max(0, FINE - (exact.numerator // exact.denominator).bit_length())
    return away, ceil(exact * 2**shift), shift


def _divided(words: Words, sql: str, by: int) -> str:
    """A wide whole number that is not negative, divided by a power of two, rounded up."""
    return f"({sql})" if by == 1 else words.divide_wide(f"({sql} + {words.wide(str(by - 1))})", words.wide(str(by)))
