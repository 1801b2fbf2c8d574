"""Which levels of a ROLLUP, a CUBE or other grouping sets get noise of their own, and which share of the price each gets.

Noise on the finest cells alone costs least there, and adds up in totals: one over n cells is off by sqrt(n) times as much.
Noise on totals too makes them better and everything else worse. The estimate is that of `counters/marginals.py`; of all
ways that are tried the one with the least sum of squared errors over all rows of the answer is taken. Only keys, limits and
sets decide, never data.

    w_l      1 / variance at a price of one: s_l / d_l^2 of a rho, (s_l / d_l)^2 of an epsilon
    s_l      the share of level l
    d_l      what a person can move the level by: L2 claim for a rho, L1 claim for an epsilon

The sum of squares is sum over S of g(S) / e(S), g(S) = (product over S of (n_i - 1)) times (sum over asked m >= S of
n(not m)). It is tried for shares that are proportional to the root, or the third root, of the rows of a level, the best if
levels were read by themselves; then one share after the other is doubled, halved or left out while that helps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import NamedTuple

from dither.query.counters.counter_sets import CounterSet
from dither.query.counters.marginals import Level, Marginals, size_of, subsets
from dither.query.plan.question import Question
from dither.query.statistics.bounding import Bounding, Clip

PARTS = 2**12  # a share is so many parts of a whole
ROUNDS = 12  # of changes of shares
BETTER = 0.99  # noise on totals is taken where its sum of squares is below this part of what it is without
HELPS = 1 - 1e-6  # a change of shares that gains less is none


class LevelShares(NamedTuple):
    """Levels with noise, their parts of the price, and the sum of squared errors at a price of one."""

    levels: tuple[Level, ...]
    shares: tuple[Fraction, ...]
    squares: float


def sizes_of(question: Question) -> tuple[int, ...]:
    """How many keys each group has."""
    return tuple(len(group.listed) for group in question.groups)


def claim_of(sizes: Sequence[int], level: Level, bounding: Bounding, counters: CounterSet, *, pure: bool) -> int:
    """What one person moves a level by at most: in L1 norm, or the square in L2 norm."""
    if pure:
        return bounding.l1(counters)
    return (
        bounding.l2_squared(counters) if len(level) == len(sizes) else bounding.sums_squared(counters, size_of(sizes, level))
    )


def shares_of(question: Question, bounding: Bounding, counters: CounterSet, *, pure: bool) -> LevelShares:
    """Which levels have noise. A length bounds no sum, and sets of counters with one weight have no claim of their own: then
    it is the finest cells alone."""
    sizes, sets = sizes_of(question), tuple(dict.fromkeys(question.sets))
    finest = tuple(range(len(sizes)))
    alone = isinstance(bounding, Clip) or bounding.joint
    claims = [claim_of(sizes, level, bounding, counters, pure=pure) for level in ((finest,) if alone else (finest, *sets))]
    return finest_only(sizes, sets, claims[0], pure=pure) if alone else choose_shares(sizes, sets, tuple(claims), pure=pure)


@cache
def finest_only(sizes: tuple[int, ...], sets: tuple[Level, ...], claim: int, *, pure: bool) -> LevelShares:
    """Noise on the finest cells and nowhere else. Claims are of L1, or squares of L2."""
    finest = tuple(range(len(sizes)))
    return LevelShares((finest,), (Fraction(1),), _Squares(sizes, sets, [finest], [claim], pure=pure).of([1.0]))


@cache
def choose_shares(sizes: tuple[int, ...], sets: tuple[Level, ...], claims: tuple[int, ...], *, pure: bool) -> LevelShares:
    """The best that is found; `claims` are of the finest cells first, then of each of `sets`, which are different."""
    finest = tuple(range(len(sizes)))
    best = finest_only(sizes, sets, claims[0], pure=pure)
    least = best.squares * BETTER
    levels = [finest, *(level for level in sets if level != finest)]
    own = [claims[0], *(claim for level, claim in zip(sets, claims[1:], strict=True) if level != finest)]
    squares = _Squares(sizes, sets, levels, own, pure=pure)
    for with_finest in dict.fromkeys((True, finest in sets)):
        parts = [_first(sizes, level, pure=pure) for level in levels]
        parts[0] = parts[0] if with_finest else 0
        parts, found = _improved(parts, squares)
        if found < least:
            least = found
            kept = [(level, part) for level, part in zip(levels, parts, strict=True) if part]
            whole = sum(part for _, part in kept)
            best = LevelShares(tuple(level for level, _ in kept), tuple(Fraction(part, whole) for _, part in kept), found)
    return best


def weight_of(share: Fraction, claim: int, *, pure: bool) -> Fraction:
    """w_l."""
    return (share / claim) ** 2 if pure else share / claim


def marginals_of(sizes: tuple[int, ...], found: LevelShares, claims: Sequence[int], *, pure: bool) -> Marginals:
    """The estimate that these shares lead to; `claims` of the levels that they have."""
    weights = [weight_of(share, claim, pure=pure) for share, claim in zip(found.shares, claims, strict=True)]
    return Marginals(sizes, found.levels, tuple(weight / weights[0] for weight in weights))


def _first(sizes: tuple[int, ...], level: Level, *, pure: bool) -> int:
    rows = size_of(sizes, level)
    return max(1, round(PARTS * math.pow(rows, 1 / 3 if pure else 1 / 2)))


def _improved(parts: list[int], squares: _Squares) -> tuple[list[int], float]:
    """One part after the other doubled, halved or left out, as long as that helps."""
    least = squares.of([float(part) for part in parts])
    for _ in range(ROUNDS):
        before = least
        for at in range(len(parts)):
            for changed in (2 * parts[at], parts[at] // 2, 0):
                tried = [*parts[:at], changed, *parts[at + 1 :]]
                if any(tried) and (found := squares.of([float(part) for part in tried])) < least * HELPS:
                    parts, least = tried, found
        if least >= before * HELPS:
            break
    return parts, least


class _Squares:
    """The sum of squared errors of all rows, by the parts of each level."""

    def __init__(
        self, sizes: tuple[int, ...], sets: Sequence[Level], levels: Sequence[Level], claims: Sequence[int], *, pure: bool
    ) -> None:
        import numpy as np

        columns = range(len(sizes))
        wanted = [part for part in subsets(columns) if any(set(part) <= set(level) for level in sets)]
        beyond = {level: size_of(sizes, [at for at in columns if at not in level]) for level in (*sets, *levels)}
        self._gains = np.array(
            [
                float(math.prod(sizes[at] - 1 for at in part) * sum(beyond[own] for own in sets if set(part) <= set(own)))
                for part in wanted
            ]
        )
        self._knows = np.array(
            [[float(beyond[level]) if set(part) <= set(level) else 0.0 for level in levels] for part in wanted]
        )
        self._claims, self._pure = np.array([float(claim) for claim in claims]), pure

    def of(self, parts: Sequence[float]) -> float:
        """At a price of one for all parts together; infinite where a row would not follow."""
        import numpy as np

        shares = np.array(parts) / sum(parts)
        known = self._knows @ (np.square(shares / self._claims) if self._pure else shares / self._claims)
        if (known <= 0).any():
            return float("inf")
        return float((self._gains / known).sum())
