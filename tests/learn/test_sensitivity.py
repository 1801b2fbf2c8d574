"""Every statistic of every estimator: exactly what one row adds, for hostile rows, against the norm that is claimed.

A statistic is a sum over rows: with the row and without it differ by what it is of that row alone, whoever else is there.
"""

from __future__ import annotations

import numpy as np
import pytest

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
def test_noise_has_the_scale_of_the_claim(case):
    """Replacement is two persons' distance; k rows a person are k times as much; the shares add up to the price."""
    estimator = case.make()
    facts, _ = rows_of(estimator, *as_data(plain_rows(), case.kind))
    recorder = recorded(case, [plain_rows()])
    assert 0 < recorder.spent <= 1
    assert facts.price.replacement == (2 if "replace" in facts.price.unit.value else 1)
