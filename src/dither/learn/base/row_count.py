"""How many rows counted, with noise: those with a listed label or a target, and with listed categories.

A list that spells labels otherwise than the data leaves every row out, and no error may say so. So each estimator says
about how many rows it used. Most know it from what they release anyway; the others buy it with a hundredth of the price:

    a   1 for a row with a listed value in each column of categories, else 0;  the sums of (a, 1 - a); without lists of a

Theorem 1. One row adds to these sums whole numbers of L1 and L2 norm 1, whatever it holds, and no other row's part changes.

Proof. Exactly one of a and 1 - a is 1, by the row's own cells. The number of rows is the sum of both.

Theorem 2. Let X be the sum of k independent noises on the lattice u, each of deviation d before it is rounded, in rows. Then
|X| <= 3 sqrt(k) (d + u/2) + u/2 with probability 95% at least.

Proof. Rounded Gaussians and discrete Laplace noise have symmetric log-concave distributions, so X has one (sums keep both),
and X + U, U uniform within u/2, has a symmetric density with one mode and a variance of at most k (d + u/2)^2, rounding
included. By Gauss's inequality (1823) it is beyond 3 deviations with probability 4/81 at most; and |X| <= |X + U| + u/2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from attrs import frozen

from dither.learn.base.cells import Floats, Integers
from dither.learn.base.columns import CategoryColumn
from dither.learn.base.facts import Facts
from dither.learn.base.release import Release
from dither.learn.base.rows import Rows

COUNT_SHARE = Fraction(1, 100)
EACH_COLUMN = "a listed value in each column of categories"


@frozen
class RowCount:
    """A released number of rows that have something, and how far noise may have moved it."""

    what: str  # that the rows have
    value: float
    within: float  # of the true number, with 95% probability at least

    @property
    def low(self) -> int:
        """The fewest rows that they may be."""
        return max(0, math.floor(self.value - self.within))

    @property
    def high(self) -> int:
        """The most rows that they may be."""
        return max(0, math.ceil(self.value + self.within))

    def __str__(self) -> str:
        return f"about {max(0, round(self.value)):,} rows (95%: {self.low:,} to {self.high:,}) have {self.what}"


def row_counts(
    facts: Facts, value: float, deviation: float, *, step: float = 1.0, numbers: int = 1, listed: str = ""
) -> tuple[RowCount, ...]:
    """The count of rows with a label or target, and with what is `listed`; none where rows need neither.

    Args:
        facts: whether rows need a label, or a target.
        value: the released count.
        deviation: d, in rows.
        step: u, in rows.
        numbers: k.
        listed: the categories that the counted rows have.
    """
    needed = ["a listed label"] * bool(facts.classes) + ["a number as target"] * (facts.target is not None)
    words = " and ".join(needed + [listed] * bool(listed))
    within = 3 * numbers**0.5 * (deviation + step / 2) + step / 2
    return (RowCount(words, value, within),) if words else ()


def listed_counts(facts: Facts, tables: Sequence[Floats], deviation: float, step: float) -> tuple[RowCount, ...]:
    """Counts by column of categories, of tables of its listed values, whose entries have that deviation and step."""
    names = [name for name, column in zip(facts.names, facts.columns, strict=True) if isinstance(column, CategoryColumn)]
    counts = tuple[RowCount, ...]()
    for name, table in zip(names, tables, strict=True):
        total, listed = float(table.sum()), f"a listed value of {name}"
        counts += row_counts(facts, total, deviation, step=step, numbers=table.size, listed=listed)
    return counts


def released_count(
    facts: Facts, release: Release, share: Fraction = COUNT_SHARE
) -> tuple[float, Fraction, tuple[RowCount, ...]]:
    """n, at least 1, for rules that need it; the share of the price that it took; and the counts of rows.

    n is the public one where there is one; then nothing is released, unless rows need a label or a listed category.
    """
    lists = facts.has_lists
    if facts.rows is not None and not facts.classes and not lists:
        return float(facts.rows), Fraction(0), ()
    size = 1 + lists
    if release.price.kind == "gaussian":
        found = release.gaussian(lambda rows: listed_sums(rows, size), (size,), norm2=1, share=share)
        deviation = float(release.variance(1, share)) ** 0.5
    else:
        found = release.geometric(lambda rows: listed_sums(rows, size), (size,), norm1=1, share=share)
        deviation = float(release.scale(1, share)) * 2**0.5
    total = float(found.sum())
    counts = row_counts(facts, total, deviation, numbers=size)
    if lists:
        counts += row_counts(facts, float(found[0]), deviation, listed=EACH_COLUMN)
    return max(1.0, total) if facts.rows is None else float(facts.rows), share, counts


def listed_sums(rows: Rows, size: int) -> Integers:
    """The number of rows with a listed value in each column of categories, and of the others."""
    listed = int((rows.codes >= 0).all(axis=1).sum())
    return np.array([listed, rows.count - listed][:size], dtype=np.int64)
