"""Range queries: merged cells, and one strategy for all."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from dither.density import Bins, Histogram, ranges
from dither.errors import DataError, InputError, NumberError
from tests.density.exact import ADD, REPLACE, check_claim, check_noisy_numbers

BINS = Bins.even(0, 1000, 1000)


def test_cells_that_no_range_tells_apart_are_one():
    plan = ranges(BINS, [(100, 200), (150, 400), (600, 700)], epsilon=1)
    assert plan.cuts == (100, 150, 200, 400, 600, 700)
    assert plan.asked == (0, 1, 2, 4)
    counts = np.arange(1000)
    assert plan.truth(counts) == [sum(range(100, 200)), sum(range(150, 400)), sum(range(600, 700))]
    assert ranges(BINS, [(0, 1000)], epsilon=50).release(counts)[0] == counts.sum()


@pytest.mark.parametrize("unit", [ADD, REPLACE])
def test_the_exact_law_keeps_the_promise_for_neighbours_of_all_bins(unit):
    bins = Bins([0, 1, 2, 3, 4])
    plan = ranges(bins, [(0, 2), (1, 3)], epsilon=18, unit=unit)
    pairs = [([3, 3, 3, 3], [3 + (c == at) for c in range(4)]) for at in range(4)]
    if unit == REPLACE:
        pairs += [([4, 3, 3, 3], [3 + (c == at) for c in range(4)]) for at in (1, 2, 3)]
    pairs = [pair for pair in pairs if plan.truth(pair[0]) != plan.truth(pair[1]) or pair[0][1] != pair[1][1]]
    check_claim(plan, lambda counts: plan.release(counts).tolist(), pairs=pairs, cutoff="1e-12")


def test_errors_are_those_of_few_cells():
    few = ranges(BINS, [(0, 500), (500, 1000)], epsilon=1)
    assert few.error("0.95") <= Histogram(cells=2, epsilon=1).error("0.95") + 1
    assert few.guarantee.epsilon() == 1
    text = few.explain()
    assert text.startswith("2 ranges over 2 merged cells, ε = 1")
    assert text.count("<- taken") == 1


@pytest.mark.parametrize(
    "wrong", ["ab", 3, [], [(1,)], [3], [(2, 1)], [(1, 1)], [(0.5, 3)], [(0, 1001)], [(-1, 4)], [(0, float("nan"))]]
)
def test_what_is_refused(wrong):
    with pytest.raises((DataError, NumberError)):
        ranges(BINS, wrong, epsilon=1)
    with pytest.raises(InputError):
        ranges(BINS, [(0, 1)], epsilon=1, rho=1)


@pytest.mark.parametrize("unit", [ADD, REPLACE])
@pytest.mark.parametrize("price", [{"epsilon": 18}, {"rho": "0.5"}])
@pytest.mark.parametrize("asked", [[(0, 4), (0, 1)], [(0, 1), (0, 2), (0, 3)]])
def test_the_promise_also_for_somebody_who_is_in_no_cell(unit, price, asked, monkeypatch):
    """Nested ranges: where one is replaced, a whole column of the strategy is longer than a difference of two."""
    plan = ranges(Bins([0, 1, 2, 3, 4]), asked, unit=unit, **price)
    pairs = [([3] * 4, [3 + (c == at) for c in range(4)]) for at in range(4)]
    if unit == REPLACE:
        pairs += [(one[1], other[1]) for one, other in combinations(pairs, 2)]
    if "epsilon" in price:
        different = [pair for pair in pairs if plan.truth(pair[0]) != plan.truth(pair[1])]
        check_claim(plan, lambda counts: plan.release(counts).round(9).tolist(), pairs=different)
    assert check_noisy_numbers(plan.workload, plan.release, pairs, monkeypatch) > 0.9  # no more noise than is needed


@pytest.mark.parametrize("unit", [ADD, REPLACE])
def test_counts_beyond_what_is_counted_are_moved_to_the_nearest(unit):
    plan = ranges(Bins([0, 1, 2, 3]), [(0, 1), (1, 3)], epsilon=100, unit=unit)
    assert plan.truth([-1, 2**36, 10**99]) == plan.truth([0, 2**35, 2**35]) == [0, 2**36]
    assert plan.release([-1, 2**36, 10**99]) == pytest.approx([0, 2**36], abs=3)


def test_names_of_edges_that_lie_near_each_other():
    with pytest.raises(NumberError, match=r"1000000\.25 or 1000000\.5"):
        ranges(Bins.even(10**6, 10**6 + 1, 4), [(10**6, 10**6 + 0.3)], epsilon=1)
    with pytest.raises(DataError):
        ranges(BINS, np.array(3), epsilon=1)
