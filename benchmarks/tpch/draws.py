"""Many releases of one quote on rows that are read once: how far each is off, and what the law of the noise says of it.

The law in closed form. Geometric noise has P(X = x) proportional to q^|x|, q = e^-r, so P(|X| >= k) = 2 q^k / (1 + q) for
k >= 1, and E|X|, the sum of these, is 2 q / (1 - q^2) = 1 / sinh r. The mean over the quantiles from 1/5 to 4/5 is the sum
over k of P(|X| >= k) - 1/5, moved into 0 to 3/5, divided by 3/5: the terms are 3/5 up to the last k where P is 4/5 or more,
then those of a geometric sum up to the last k where P is 1/5 or more, then 0. Gaussian noise has E|X| = sigma sqrt(2 / pi),
and the trimmed mean 2 sigma (phi(a) - phi(b)) / (3/5), a and b its 60% and 90% points: P(|X| < a) is 1/5, P(|X| < b)
is 4/5. (Rounding to steps is left out of the latter, that of an answer to its units out of both.)
"""

from __future__ import annotations

import math
import warnings
from collections import Counter
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

from dither.errors import NotPrivateWarning
from dither.mechanisms.additive.geometric import Geometric
from dither.query.counters.estimators import Noise, SumEstimator
from dither.query.counts import TablePlaces, counts_of, exact_totals
from dither.query.engines.duckdb.run import Run
from dither.query.engines.duckdb.words import DUCKDB
from dither.query.engines.templates.relations import rows_of, with_tables
from dither.query.groups.group_choice import all_groups
from dither.query.pricing.offer import Offer
from dither.query.quote import Quote
from dither.query.release import Release
from dither.testing import seeded

SEED, THREADS = 1600, 2  # each question has a seed of its own, from this one on
CUT = 0.2  # of the draws, at either end


@dataclass(frozen=True)
class Errors:
    """How far a number was off, in many draws."""

    trimmed: float
    mean: float
    worst: float
    held: float  # the part of draws whose bar held the truth


@dataclass(frozen=True)
class Drawn:
    """What was counted in each group before noise, and the answers: values and both ends."""

    counted: list[list[float]]  # in each draw: limits that are found privately are not the same in all
    answers: list[tuple[list[float], list[float], list[float]]]
    found: Counter[str]  # limits that were found privately, and how often

    def errors(self, group: int, truth: float) -> Errors:
        """Of one group, against its truth."""
        off = sorted(abs(values[group] - truth) for values, _, _ in self.answers)
        held = sum(lows[group] <= truth <= highs[group] for _, lows, highs in self.answers)
        return Errors(trimmed_mean(off), sum(off) / len(off), off[-1], held / len(off))


def trimmed_mean(off: list[float]) -> float:
    """Without a fifth at either end."""
    cut = int(len(off) * CUT)
    kept = sorted(off)[cut : len(off) - cut]
    return sum(kept) / len(kept)


def draw(quote: Quote, draws: int, seed: int) -> Drawn:
    """Read once, then add noise many times; the quote has one aggregate, which is a sum or a count."""
    offer, known = quote.offer, dict[str, list[tuple[Any, ...]]]()
    sources = {table.name: quote.holdings.table_source(table) for table in offer.question.relation.tables}
    heads = {name: source.relation for name, source in sources.items()}
    place = TablePlaces(
        DUCKDB, {name: rows_of(DUCKDB, name) for name in sources}, {name: one.texts for name, one in sources.items()}
    )
    (at, where), answers = offer.readings[0], []
    with quote.holdings.engine.opened([*sources.values()], THREADS) as opened, warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivateWarning)
        run = opened.read(None, seed)

        def once(sql: str, keep: Any) -> list[tuple[Any, ...]]:
            if sql not in known:
                known[sql] = run(with_tables(DUCKDB, heads, sql), lambda _: True)
            return [row for row in known[sql] if keep(row)]

        release, counted, found = Release(quote.holdings, (offer,), quote.guarantee, quote.question), [], Counter[str]()
        with seeded(seed):
            for _ in range(draws):
                (released,) = release.released(once, place)
                after = offer
                if offer.found is not None:
                    assert released.limits is not None
                    after = offer.found.offer(released.limits)
                    found[str(*offer.found.found(released.limits).values())] += 1
                statistic = after.statistics[at]
                counted.append(statistic.read(_counts(after, once, place), where)[0])
                answers.append(statistic.read(released.statistics[at], where))
    return Drawn(counted, answers, found)


def _counts(offer: Offer, run: Run, place: TablePlaces) -> Any:
    """The bounded totals of the first aggregate before noise."""
    wanted = offer.statistics[offer.readings[0][0]]
    for one in counts_of(offer, all_groups(offer.question)):
        totals = exact_totals(run, place, one.question, one.sets, one.bounding, one.cells)
        for statistic, counts in one.split(totals):
            if statistic is wanted:
                return counts
    raise AssertionError("the first aggregate is read off a statistic of its offer")


def law(quote: Quote) -> tuple[float, float]:
    """The trimmed mean and the mean of the absolute error of one group, by the law of the noise."""
    at, where = quote.offer.readings[0]
    release = quote.offer.counters[at]
    estimator = release.estimators[where]
    assert isinstance(estimator, SumEstimator)
    (weight,) = estimator.weights
    unit = float(weight) / release.bounding.resolution
    trimmed, mean = law_of(release.mechanism)
    return unit * trimmed, unit * mean


def law_of(noise: Noise) -> tuple[float, float]:
    """The trimmed mean and the mean of the absolute value of noise."""
    if not isinstance(noise, Geometric):
        sigma, normal = math.sqrt(float(noise.sigma2)), NormalDist()
        low, high = (normal.pdf(normal.inv_cdf((1 + part) / 2)) for part in (CUT, 1 - CUT))
        return 2 * sigma * (low - high) / (1 - 2 * CUT), sigma * math.sqrt(2 / math.pi)
    rate = float(noise.epsilon) / noise.sensitivity
    whole = 2 / (1 + math.exp(-rate))
    first, last = (max(0, math.floor(math.log(whole / part) / rate)) for part in (1 - CUT, CUT))
    between = whole * (math.exp(-rate * (first + 1)) - math.exp(-rate * (last + 1))) / -math.expm1(-rate)
    return first + (between - CUT * (last - first)) / (1 - 2 * CUT), 1 / math.sinh(rate)
