"""Ranges of the numbers of an answer: impossible numbers are cut, and an interval that is the whole range says nothing.

Both are post-processing of released numbers, by ranges that follow from the policy and the question.

Theorem. Let the estimated number be in its range R whatever the data, and in the interval I with probability 1 - α at
least. Then it is in the cut interval with probability 1 - α at least.
    m    the middle of I, moved to the nearest number of R        h    half the length of I
Proof. The cut interval is the intersection of R and the hull of I and [m - h, m + h]: it holds all that R and I hold. ∎
Where the middle of I is in R, that is the intersection of R and I. Otherwise it is half as long as I, if R is: an interval
that noise took beyond the range never becomes a point that looks certain, nor empty. One without an end that is beyond the
range becomes all of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, inf
from typing import Any

from dither.query.counters.estimators import Columns, Range

ROOM = Fraction(1, 10**12)  # of a range: ends are doubles, which are computed
ULPS = Fraction(1, 2**50)  # of its larger end, which is a double too


def cut_number(value: Fraction | float, possible: Range) -> Fraction | float:
    """The nearest possible number."""
    least, most = possible
    return max(least, min(most, value))


def cut_interval(ends: Range, possible: Range) -> Range:
    """The possible part of an interval, its middle moved to a possible number first; infinite ends are floats."""
    (low, high), (least, most) = ends, possible
    if isinstance(low, Fraction) and isinstance(high, Fraction):
        half = (high - low) / 2
        low = low if isinstance(most, float) else min(low, most - half)
        high = high if isinstance(least, float) else max(high, least + half)
    elif high < least or low > most:
        return possible
    return max(low, least), min(high, most)


def is_uninformative(ends: Range, possible: Range) -> bool:
    """True if an interval leaves open all that is possible, and more than one number is."""
    (low, high), (least, most) = ends, possible
    room = Fraction(0)
    if isinstance(least, Fraction) and isinstance(most, Fraction):
        room = (most - least) * ROOM + max(abs(least), abs(most)) * ULPS
    low_is_open = low <= (least if isinstance(least, float) else least + room)
    return least < most and low_is_open and high >= (most if isinstance(most, float) else most - room)


@dataclass(frozen=True)
class ReleasedColumns:
    """Columns that were released: as they are shown, and as others are computed from them, row by row."""

    shown: Mapping[str, Sequence[Any]]  # cut to what is possible; None where the interval says nothing
    uncut: Mapping[str, Sequence[Any]]  # so that sums and differences of them have no bias
    uninformative: Mapping[str, frozenset[int]]  # rows whose interval is the whole range


def shown_columns(columns: Columns, possible: Range, *, whole: bool) -> tuple[Columns, frozenset[int]]:
    """Numbers with their intervals, cut to what is possible; and the rows whose intervals say
    nothing. What is infinite stays so."""
    shown: Columns = ([], [], [])
    rows = set[int]()
    for row, cells in enumerate(zip(*columns, strict=True)):
        value, *ends = (cell if cell in (inf, -inf) else Fraction(cell) for cell in cells)
        low, high = cut_interval((ends[0], ends[1]), possible)
        if is_uninformative((low, high), possible):
            rows.add(row)
        found = (
            cut_number(value, possible),
            floor(low) if whole and low > -inf else low,
            ceil(high) if whole and high < inf else high,
        )
        for column, cell, cut in zip(shown, cells, found, strict=True):
            column.append(cell if cut == cell else float(cut) if not whole and Fraction(cut).denominator > 1 else int(cut))
    return shown, frozenset(rows)
