"""Pieces of computed columns: how noise enters those that are solved at once, and how small an average can be."""

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction
from typing import NamedTuple

from dither.query.counters.estimators import MeanEstimator
from dither.query.counters.noise_sums import Noise
from dither.query.pricing.offer import Offer
from dither.query.statistics.counter_release import CounterRelease


class Pattern(NamedTuple):
    """How noise enters a quotient: the same for many rows, which are then solved at once."""

    noises: tuple[Noise, ...]
    times: tuple[int, ...]  # how many of each
    weights: tuple[tuple[Fraction, Fraction], ...]  # in what is divided, and in what it is divided by
    level: Fraction
    limits: tuple[float, float]  # what the truth is known to keep
    plain: bool  # nothing with noise is divided by


class Solved(NamedTuple):
    """A piece whose ends are wanted, as doubles can hold it."""

    of: tuple[Hashable, Fraction]  # by what it is known, and the confidence
    over: Fraction
    under: Fraction
    scale: Fraction  # so many times the quotient of the two; above zero


def least_values(offer: Offer) -> dict[str, Fraction | None]:
    """The aggregates of values that are no sums, and the least that an average can be; None for what is no average."""
    found: dict[str, Fraction | None] = {}
    for aggregate, (name, statistic, place) in zip(offer.question.aggregates, offer.columns, strict=True):
        if aggregate.needs_bounds and statistic.weights(place) is None:
            estimator = statistic.estimators[place] if isinstance(statistic, CounterRelease) else None
            found[name] = Fraction(float(estimator.lower)) if isinstance(estimator, MeanEstimator) else None
    return found
