"""Every statistic of every estimator: exactly what one row adds, for hostile rows, against the norm that is claimed.

A statistic is a sum over rows: with the row and without it differ by what it is of that row alone, whoever else is there.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dither import approx, gdp
from dither.learn.base.release import Release
from tests.learn.cases import all_cases, as_data, hostile_rows, plain_rows
from tests.learn.recorder import Recorder, distance, rows_of

CASES = all_cases()


def recorded(case, several, seed=1):
    """A run in which every statistic is computed for each of several lists of rows, after the same releases."""
    estimator = case.make()
    found = [rows_of(estimator, *as_data(rows, case.kind)) for rows in several]
    recorder = Recorder(found[0][0].price, [rows for _, rows in found], np.random.default_rng(seed))
    estimator._learn(found[0][0], recorder)
    assert recorder.spent <= 1
    return recorder


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_one_row_adds_no_more_than_is_claimed(case):
    base, bad = plain_rows(), hostile_rows()
    everything = [*base, *bad]
    without = [everything[:place] + everything[place + 1 :] for place in range(len(everything))]
    alone = [[row] for row in everything]
    found = recorded(case, [everything, [], *without, *alone])
    for values, claim in zip(found.seen, found.claims, strict=True):
        whole, none = values[0], values[1]
        for place in range(len(everything)):
            less, one = values[2 + place], values[2 + len(everything) + place]
            assert distance(whole, less, claim) <= claim[1]
            assert distance(one, none, claim) <= claim[1]
            assert (whole - less == one - none).all(), "somebody else's part changed"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_order_of_rows_does_not_matter(case):
    rows = [*plain_rows(30), *hostile_rows()]
    found = recorded(case, [rows, rows[::-1], [*rows[7:], *rows[:7]]])
    for values in found.seen:
        assert all((values[0] == other).all() for other in values[1:])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_noise_that_is_drawn_pays_for_the_claims(case, monkeypatch):
    """The laws that a fit draws from, against the norms it claims: all together they are no more than the price, exactly.

    A neighbour is k p rows away: k rows of a person, p persons where one is replaced. Of Gaussians (k p)^2 norm2 / sigma2
    adds up to mu^2, of Laplace noise k p norm1 / scale to epsilon; and the price is within what was asked for.
    """
    drawn: list[Fraction] = []

    class Law:
        def __init__(self, scale=None, *, sigma2=None):
            drawn.append(Fraction(scale if sigma2 is None else sigma2))

        def sample(self, size):
            return np.zeros(size, dtype=np.int64)

    for law in ("RoundedGaussian", "DiscreteLaplace"):
        monkeypatch.setattr(f"dither.learn.base.release.{law}", Law)
    estimator = case.make()
    facts, rows = rows_of(estimator, *as_data(plain_rows(), case.kind))
    away = facts.rows_per_person * (2 if "replace" in str(estimator.unit) else 1)
    spent = Fraction(0)

    class Paid(Release):
        def gaussian(self, statistic, shape, *, norm2, share, weights=None):
            nonlocal spent
            drawn.clear()
            found = super().gaussian(statistic, shape, norm2=norm2, share=share, weights=weights)
            by_weight = sorted({Fraction(one) for one in ([1] if weights is None else weights)})
            assert len({sigma2 / weight for sigma2, weight in zip(drawn, by_weight, strict=True)}) == 1
            spent += away**2 * Fraction(norm2) / (drawn[0] / by_weight[0])
            return found

        def geometric(self, statistic, shape, *, norm1, share):
            nonlocal spent
            drawn.clear()
            found = super().geometric(statistic, shape, norm1=norm1, share=share)
            spent += away * Fraction(norm1) / drawn[0]
            return found

    estimator._learn(facts, Paid(facts.price, rows, facts.rows_per_person))
    price = facts.price
    assert 0 < spent <= (price.mu2 if price.epsilon is None else price.epsilon)
    if estimator.epsilon is None:
        return
    if price.epsilon is not None:
        assert price.epsilon == Fraction(str(estimator.epsilon))
        return
    asked = approx(estimator.epsilon, estimator.delta, unit=price.unit)
    assert price.guarantee.within(asked)
    assert not gdp(mu2=price.mu2 * Fraction(101, 100), unit=price.unit).within(asked), "no more noise than is needed"
