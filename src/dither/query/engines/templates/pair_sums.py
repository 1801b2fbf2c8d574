"""Sums of counters of two expressions as SQL (`plan/mathematics/pair_counters.py`), from the steps x and y of a row.

Both columns are NULL where one of the two has no value. With c rows that have both, G and H steps:

    q r                sum xy                   a^2    A^2 sum x^2            2ab    2 A B sum xy
    q (H - r)          H sum x - sum xy         b^2    B^2 sum y^2            2ac    2 A (T sum x - A sum x^2 - B sum xy)
    (G - q) r          G sum y - sum xy         c^2    T^2 c - 2 T (A sum x + B sum y) + A^2 sum x^2 + B^2 sum y^2
    (G - q)(H - r)     G H c - H sum x                 + 2 A B sum xy                 2bc likewise
                       - G sum y + sum xy

Steps are at most 2^10, so that their products fit into 64 bits, also with a weight; sums and constants are wide.
"""

from __future__ import annotations

from dither.query.engines.templates.counters import clamped, counted
from dither.query.engines.templates.expressions import is_there, value
from dither.query.engines.words import Words
from dither.query.plan.mathematics.pair_counters import PairCounter, PairValues


def read_pair(words: Words, base: PairValues, place: int) -> list[str]:
    """The values e and f of a row and their steps k and l, before the clamp."""
    found = []
    for axis, (name, steps) in zip(base.axes, (("e", "k"), ("f", "l")), strict=True):
        e = value(words, axis)
        found += [f"{e} AS {name}{place}", f"{counted(words, axis, e)} AS {steps}{place}"]
    return found


def pair_steps(words: Words, base: PairValues, place: int) -> str:
    """The steps x and y of a row, or NULL for both."""
    first, second = base.axes
    x = clamped(words, first, f"e{place}", f"k{place}")
    y = clamped(words, second, f"f{place}", f"l{place}")
    beside, own = is_there(words, second.values, f"f{place}"), is_there(words, first.values, f"e{place}")
    return f"CASE WHEN {beside} THEN {x} END AS x{place}, CASE WHEN {own} THEN {y} END AS y{place}"


def pair_sum(words: Words, counter: PairCounter, x: str, count: str, added: str) -> str:
    """The sum of a counter over the rows of a group; `{}` stands for a column in its count and in its sum."""
    y = f"y{x[1:]}"
    c, sx, sy = count.replace("{}", x), added.replace("{}", x), added.replace("{}", y)
    xx, xy, yy = (added.replace("{}", f"({one} * {other})") for one, other in ((x, x), (x, y), (y, y)))
    first, second = counter.axes
    (a, b), t, g, h = counter.scales, counter.total, first.steps, second.steps

    def whole(weights: dict[str, int]) -> str:
        return " + ".join(f"{words.wide(f'({weight})')} * {total}" for total, weight in weights.items())

    match counter.part:
        case "qr":
            return whole({xy: 1})
        case "q-":
            return whole({sx: h, xy: -1})
        case "-r":
            return whole({sy: g, xy: -1})
        case "--":
            return whole({c: g * h, sx: -h, sy: -g, xy: 1})
        case "aa":
            return whole({xx: a * a})
        case "bb":
            return whole({yy: b * b})
        case "ab":
            return whole({xy: 2 * a * b})
        case "ac":
            return whole({sx: 2 * a * t, xx: -2 * a * a, xy: -2 * a * b})
        case "bc":
            return whole({sy: 2 * b * t, yy: -2 * b * b, xy: -2 * a * b})
        case "cc":
            return whole({c: t * t, sx: -2 * t * a, sy: -2 * t * b, xx: a * a, yy: b * b, xy: 2 * a * b})
