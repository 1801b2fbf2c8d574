"""Which numbers are released, how the budget is split, and what is asked of each way to bound a person."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dither.errors import QuestionError
from dither.privacy.unit import Unit
from dither.query.counters.counter_sets import choose_counters
from dither.query.counters.estimators import MeanEstimator
from dither.query.sql.parse import parse
from dither.query.statistics.choose_bounding import choose_bounding
from tests.query.neighbours import estimator, policy


def strategy_of(question: str, *, pure: bool = True, limits: tuple[int, int] = (2, 3)):
    plan = parse(question, policy(*limits))
    return plan, choose_counters(plan, pure=pure)


def kinds(strategy) -> list[list[str]]:
    return [[measure.kind for measure in family.measures] for family in strategy.sets]


def test_an_average_and_its_counts_share_counters():
    _, found = strategy_of("SELECT COUNT(*) AS n, AVG(weight) AS w FROM visits")  # weight is never missing
    assert kinds(found) == [["above", "below"]]
    _, found = strategy_of("SELECT COUNT(*) AS n, AVG(cost) AS c, SUM(cost) AS s, COUNT(cost) AS m FROM visits")
    assert kinds(found) == [["above", "below", "missing"]]
    assert isinstance(estimator(found, 1), MeanEstimator)


def test_sums_and_counts_have_their_own():
    _, found = strategy_of("SELECT COUNT(*) AS n, SUM(cost) AS c FROM visits")
    assert kinds(found) == [["one"], ["steps"]]
    assert found.shares(pure=True) == (Fraction(1, 2), Fraction(1, 2))


def test_the_same_aggregate_twice_is_released_once():
    _, found = strategy_of("SELECT COUNT(*) AS n, COUNT(*) AS m, SUM(age) AS s FROM visits")
    assert kinds(found) == [["one"], ["steps"]]
    assert estimator(found, 0) == estimator(found, 1)


def test_the_split_is_the_best_one():
    """Near the split no other has a smaller sum of squares."""
    _, found = strategy_of("SELECT COUNT(*) AS n, AVG(cost) AS c, SUM(age) AS s FROM visits", pure=True)
    sizes = found._sizes
    for is_pure in (True, False):
        shares = [float(share) for share in found.shares(pure=is_pure)]
        assert sum(found.shares(pure=is_pure)) == 1

        def cost(parts, is_pure=is_pure):
            return sum(size**2 / part ** (2 if is_pure else 1) for size, part in zip(sizes, parts, strict=True))

        assert len(shares) > 1
        for step in (0.01, -0.01):
            assert cost([shares[0] + step, shares[1] - step, *shares[2:]]) > cost(shares)
        assert cost(shares) == pytest.approx(found.cost(pure=is_pure), rel=1e-4)


def test_claims():
    plan, found = strategy_of("SELECT ward, COUNT(*) AS n, SUM(cost) AS c FROM visits GROUP BY ward")
    rows, costs = found.sets  # costs: -40 to 400 steps
    for unit, l1, l2 in ((Unit.ADD_REMOVE, 1, 1), (Unit.REPLACE_ONE, 2, 2)):
        way = choose_bounding(plan, found, "groups", cells=4, unit=unit, pure=True)
        assert (way.groups, way.rows, way.resolution) == (2, 3, 1)
        assert way.l1(rows) == 6 * l1
        assert way.l2_squared(rows) == 2 * 9 * l2
        assert way.l1(costs) == 6 * 400 * l1
        assert way.l2_squared(costs) == 2 * 1200**2 * (1 if unit is Unit.ADD_REMOVE else 4)  # costs may be negative
        clip = choose_bounding(plan, found, "clip", cells=4, unit=unit, pure=False)
        assert clip.l2_squared(rows) == 18 * clip.resolution**2 * l2
        weights = choose_bounding(plan, found, "weights", cells=4, unit=unit, pure=True)
        assert weights.l1(rows) == 6 * weights.resolution * l1
        assert weights.l2_squared(rows) == 36 * weights.resolution**2 * l2


def test_people_are_counted_once_a_group():
    plan, found = strategy_of("SELECT ward, COUNT(DISTINCT person) AS n FROM visits GROUP BY ward")
    way = choose_bounding(plan, found, None, cells=4, unit=Unit.ADD_REMOVE, pure=True)
    assert (way.way, way.l1(found.sets[0])) == ("persons", 2)


@pytest.mark.parametrize(
    ("question", "pure", "cells", "way"),
    [
        ("SELECT COUNT(*) AS n FROM visits", True, 1, "weights"),
        ("SELECT COUNT(*) AS n FROM visits", False, 1, "weights"),
        ("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", True, 4, "weights"),
        ("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", False, 4, "clip"),
        ("SELECT ward, COUNT(DISTINCT person) AS n FROM visits GROUP BY ward", False, 4, "persons"),
    ],
)
def test_the_way_that_is_chosen(question, pure, cells, way):
    plan, found = strategy_of(question, pure=pure)
    assert choose_bounding(plan, found, None, cells=cells, unit=Unit.ADD_REMOVE, pure=pure).way == way


def test_ways_that_do_not_fit_are_refused():
    plan, found = strategy_of("SELECT COUNT(DISTINCT person) AS n FROM visits")
    for wished, words in (("weights", "counts people"), ("clip", "counts people"), ("magic", "names no way")):
        with pytest.raises(QuestionError, match=words):
            choose_bounding(plan, found, wished, cells=1, unit=Unit.ADD_REMOVE, pure=True)
    alone = parse("SELECT COUNT(*) AS n FROM visits", policy(1, 1, person=False))
    with pytest.raises(QuestionError, match="nothing to bound"):
        choose_bounding(alone, choose_counters(alone, pure=True), "groups", cells=1, unit=Unit.ADD_REMOVE, pure=True)
    plan, found = strategy_of("SELECT SUM(cost) AS n FROM visits", limits=(10**6, 10**6))
    wide = choose_bounding(plan, found, None, cells=10**6, unit=Unit.ADD_REMOVE, pure=True)
    assert wide.way == "groups"
    assert "too fine" in wide.reason
