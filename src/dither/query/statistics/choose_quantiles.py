"""Which mechanisms release several quantiles of one expression: one search for all, or each by itself. Chosen from public
facts: the shares, the price, the cells, the groups and what one person counts.

    apart        each share has an equal part of the price (`QuantileInterval`); the least and the largest always are so
    searched     one search for all values (`Quantiles`), and one noisy distribution for all ends (`QuantileBand`)
    read off     values and ends are both read off the distribution

What is searched or read off has as much of the price as its shares would have apart. Of the ways whose ends are expected to
be no wider than apart, and whose values no more than a tenth farther off, the one with the least sum of both is taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from dither.density.histograms.axis import Bins
from dither.density.quantiles.many_quantiles import Quantiles
from dither.density.quantiles.quantile_band import QuantileBand, search_parts
from dither.density.quantiles.quantile_interval import QuantileInterval
from dither.errors import NumberError
from dither.query.statistics.statistic import Price

FARTHER = 1.1  # than apart: values may be, where ends are nearer
QuantileMechanism: TypeAlias = QuantileInterval | QuantileBand | Quantiles


@dataclass(frozen=True)
class QuantileFacts:
    """What mechanisms are made for, beside the shares and their price."""

    bins: Bins
    mass: int
    price: Price

    def given(self, part: Fraction) -> dict[str, Any]:
        """The arguments that all of them have, at a part of the price."""
        amount = self.price.amount * part
        return {
            "bins": self.bins,
            "epsilon": amount if self.price.pure else None,
            "rho": None if self.price.pure else amount,
            "unit": self.price.unit,
            "mass": self.mass,
            "histograms": self.price.cells,
        }


def choose_quantiles(shares: Sequence[Fraction], facts: QuantileFacts) -> tuple[QuantileMechanism, ...]:
    """The mechanisms that release shares, which rise."""
    each = Fraction(1, len(shares))
    level, ends = facts.price.confidence, facts.price.ends
    apart = {q: QuantileInterval(q=q, confidence=level, ends=ends, **facts.given(each)) for q in shares}
    inner = tuple(q for q in shares if q not in (0, 1))
    if len(inner) < 2 or facts.bins.size < 2:
        return tuple(apart.values())
    values, widths = (
        sum(of(apart[q]) for q in inner) / len(inner)
        for of in (lambda one: one.expected_error, lambda one: float(one.offset))
    )
    best: QuantileMechanism | None = None
    least = values + widths
    for way in _together(inner, facts, each * len(inner)):
        wide = sum(map(way.offset, inner)) / len(inner) if isinstance(way, QuantileBand) else 0.0
        if way.expected_error <= FARTHER * values and wide <= widths and way.expected_error + wide < least:
            best, least = way, way.expected_error + wide
    if best is None:
        return tuple(apart.values())
    return best, *(apart[q] for q in shares if q in (0, 1))


def _together(inner: tuple[Fraction, ...], facts: QuantileFacts, part: Fraction) -> Iterator[QuantileBand | Quantiles]:
    """The ways of one search, but for those whose noise cannot be drawn."""
    given, price = facts.given(part), facts.price
    try:
        if price.ends == 0:
            size = facts.bins.size
            yield Quantiles(qs=inner, parts=search_parts(size, size * price.cells), **given)
            return
        yield QuantileBand(qs=inner, confidence=price.confidence, **given)
        yield QuantileBand(qs=inner, confidence=price.confidence, ends=price.ends, **given)
    except NumberError:  # its noise is beyond what is drawn, or the shares have no common denominator
        return


def chosen_cells(mechanism: QuantileMechanism, counts: Any) -> dict[Fraction, list[list[int]]]:
    """For each share of a mechanism, for each row of `counts`: the cell of the value, and those of the ends."""
    table = counts[0] if mechanism.histograms == 1 else counts
    if isinstance(mechanism, QuantileInterval):
        return {mechanism.q: [list(cells) for cells in mechanism.cells(table)]}
    if isinstance(mechanism, QuantileBand):
        bands = mechanism.cells(table)
        return {q: [list(row[at]) for row in bands] for at, q in enumerate(mechanism.qs)}
    found, last = mechanism.cells(table), mechanism.bins.size - 1
    return {q: [[row[at], 0, last] for row in found] for at, q in enumerate(mechanism.qs)}
