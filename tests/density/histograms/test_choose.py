"""The choice: by public facts, with the least expected error, and said in words."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dither.density import Bins, Categories, Grid, Histogram, Plan, PrefixWorkload, Tree, cdf, histogram
from dither.errors import DataError, InputError, NumberError, SizeError, UnitError
from dither.mechanisms.workload.column_norms import largest_l2_squared
from dither.testing import seeded
from tests.density.exact import ADD, REPLACE, check_noisy_numbers

BINS = Bins.even(0, 64, 64)


def test_single_cells_take_flat_noise_and_many_prefixes_a_tree():
    assert isinstance(histogram(BINS, epsilon=1).mechanism, Histogram)
    assert isinstance(histogram(BINS, epsilon=1, rows=50, unit=REPLACE).mechanism, Histogram)
    assert isinstance(cdf(BINS, epsilon=1).mechanism, Tree)
    assert isinstance(cdf(Bins.even(0, 1, 8), epsilon=1).mechanism, Histogram)
    assert isinstance(cdf(Bins.even(0, 1, 1), epsilon=1).mechanism, Histogram)
    assert isinstance(cdf(BINS, rho="0.5").mechanism, PrefixWorkload)
    assert isinstance(cdf(Bins.even(0, 1, 129), rho="0.5").mechanism, Tree)
    exact = cdf(BINS, epsilon=1, rows=50, unit=REPLACE).mechanism
    assert isinstance(exact, Tree)
    assert exact.rows == 50


@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": "0.5"}])
@pytest.mark.parametrize("fact", [{}, {"unit": REPLACE}, {"unit": REPLACE, "rows": 640}])
def test_what_is_taken_has_the_least_expected_error_and_that_error(price, fact):
    plan = cdf(BINS, **price, **fact)
    errors = list(plan.compared.values())
    assert errors == sorted(errors)
    draws = 80
    with pytest.warns(UserWarning, match="NOT PRIVATE"), seeded(5):
        gaps = np.array([np.cumsum(plan.mechanism.release([10] * 64) - 10.0) for _ in range(draws)])
    assert math.sqrt(np.square(gaps).mean()) == pytest.approx(errors[0], rel=0.25)
    assert plan.guarantee.epsilon("1e-6") == histogram(BINS, **price, **fact).guarantee.epsilon("1e-6") or "rho" in price
    assert plan.error("0.95") == plan.mechanism.prefix_error("0.95")


@pytest.mark.parametrize("make", [histogram, cdf])
@pytest.mark.parametrize("fact", [{}, {"unit": REPLACE}, {"unit": REPLACE, "rows": 100}])
def test_what_is_released_is_possible(make, fact):
    bins = Bins.even(0, 40, 40)
    plan = make(bins, epsilon=1, **fact)
    found = plan.release([0] * 30 + [10] * 10, confidence="0.9")
    assert (found.counts >= 0).all()
    assert found.confidence == 0.9
    if "rows" in fact:
        assert found.counts.sum() == pytest.approx(100)
    elif make is histogram:
        assert found.counts.sum() == pytest.approx(max(0, found.raw.sum()))
    assert found.guarantee == plan.guarantee
    assert (found.cell_error, found.prefix_error) == (plan.mechanism.error("0.9"), plan.mechanism.prefix_error("0.9"))
    assert found.range_error == plan.mechanism.range_error("0.9")


def test_running_sums_are_tied_to_the_public_total_also_where_noise_is_flat():
    found = cdf(Bins.even(0, 1, 1), epsilon="0.01", rows=7, unit=REPLACE).release([7])
    assert found.counts.tolist() == [7]
    even = cdf(BINS, epsilon="0.01", rows=64, unit=REPLACE).release([1] * 64)
    assert even.prefixes().estimate[-1] == pytest.approx(64)
    assert even.prefixes().low[-1] == even.prefixes().high[-1] == 64


def test_sums_with_a_public_total_are_tied_down_before_they_are_made_to_rise():
    plan = Plan(
        axis=Bins([0, 1, 2, 3]),
        mechanism=PrefixWorkload(cells=3, rho=1, unit=REPLACE),
        ordered=True,
        rows=9,
        compared={},
    )
    assert plan.read([1.0, 3.0, 2.0]).counts.tolist() == pytest.approx([2, 4, 3])
    assert plan.read([1.0, 3.0, -9.0]).counts.sum() == 9


def test_explained_in_words():
    text = cdf(BINS, epsilon=1).explain()
    assert text.startswith("64 cells, ε = 1 (add/remove one person).\nExpected error of a running sum")
    assert text.count("<- taken") == 1
    assert "tree of 14 without root, 2 levels of noise   <- taken" in text
    assert "every running sum stays within" in text
    plain = histogram(Bins.even(0, 1, 4), rho="0.5", rows=50, unit=REPLACE).explain()
    assert "What all cells stay within with 95% probability, from public facts only:" in plain
    assert "'noise in every cell' is taken: it is plainer" in plain


@pytest.mark.parametrize("price", [{"epsilon": 1}, {"epsilon": "0.1"}, {"rho": "0.5"}, {"rho": "0.005"}])
@pytest.mark.parametrize("fact", [{}, {"unit": REPLACE}, {"unit": REPLACE, "rows": 100}])
def test_no_histogram_promises_less_than_noise_in_every_cell_does(price, fact):
    for cells in (1, 2, 3, 4, 8, 9, 64):
        plan = histogram(Bins.even(0, 1, cells), **price, **fact)
        flat = Histogram(cells=cells, **price, **{key: value for key, value in fact.items() if key == "unit"})
        assert plan.error("0.95") <= flat.error("0.95")
        assert min(plan.compared.values()) >= 0.95 * plan.error("0.95")
        assert plan.compared["noise in every cell"] == flat.error("0.95")


def test_a_tree_of_two_cells_is_taken_where_it_promises_more():
    plan = histogram(Bins.even(0, 1, 2), rho="0.005", rows=100, unit=REPLACE)
    assert isinstance(plan.mechanism, Tree)
    assert plan.error("0.95") < 0.95 * Histogram(cells=2, rho="0.005", unit=REPLACE).error("0.95")


def test_any_axis_has_a_histogram_and_only_lines_running_sums():
    assert histogram(Categories(["a", "b", "c"]), epsilon=1).release([1, 2, 3]).axis.size == 3
    assert histogram(Grid(Categories(["a", "b"]), BINS), epsilon=1).axis.size == 128
    with pytest.raises(DataError):
        cdf(Categories(["a", "b", "c"]), epsilon=1)
    for wrong, kind in (({}, NumberError), ({"epsilon": 1, "rows": 5}, UnitError), ({"epsilon": 0}, NumberError)):
        for make in (histogram, cdf):
            with pytest.raises(kind):
                make(BINS, **wrong)
    with pytest.raises(InputError):
        histogram(BINS, epsilon=1).release([1] * 64, confidence=1)
    with pytest.raises(DataError):
        histogram([1, 2, 3], epsilon=1)


@pytest.mark.parametrize("unit", [ADD, REPLACE])
def test_the_strategy_for_prefixes_covers_people_who_are_in_no_cell(unit):
    """Then a replacement moves B x by a whole column: its norm must be within what the noise is made for."""
    made = PrefixWorkload(cells=12, rho="0.5", unit=unit)
    matrix = made.workload.strategy.matrix
    alone = int(max(sum(int(x) ** 2 for x in column) for column in matrix.T))
    assert alone == largest_l2_squared(matrix, replace=False)
    covered = made.workload.noise.l2_squared
    assert covered >= alone
    assert covered >= largest_l2_squared(matrix, replace=unit == REPLACE)
    assert made.workload.noise.sigma2 == covered  # at rho = 1/2
    assert made.guarantee.rho() == pytest.approx(0.5)


def test_the_strategy_for_prefixes_releases_cells():
    made = PrefixWorkload(cells=12, rho=10**12, unit=REPLACE)
    assert made.release([5] * 12) == pytest.approx([5] * 12, abs=1e-3)
    assert made.truth([5] * 11 + [10**99])[-1] == 2**35
    assert made.range_error("0.95") == 2 * made.prefix_error("0.95")
    assert made.error("0.95") < made.range_error("0.95")
    assert next(made.neighbours())[0] == [0] * 12
    with pytest.raises(SizeError):
        PrefixWorkload(cells=129, rho=1)


@pytest.mark.parametrize("unit", [ADD, REPLACE])
@pytest.mark.parametrize("cells", [2, 3])
def test_the_strategy_for_prefixes_keeps_its_promise_for_every_pair(unit, cells, monkeypatch):
    made = PrefixWorkload(cells=cells, rho="0.5", unit=unit)
    exact = PrefixWorkload(cells=cells, rho=10**12, unit=unit)
    assert exact.release([-1, 2**36, 10**99][:cells]) == pytest.approx([0, 2**35, 2**35][:cells], abs=0.1)
    assert check_noisy_numbers(made.workload, made.release, made.neighbours(), monkeypatch) > 0.9


def test_missing_values_in_a_cell_of_their_own_keep_the_bands_of_a_public_total():
    """`rows` counts people in cells: 30 of 100 values are missing, and -1 is where they are counted."""
    ages = np.array([20.0] * 40 + [50.0] * 30 + [math.nan] * 30)
    bins = Bins([-1, 0, 30, 60])
    for make in (histogram, cdf):
        found = make(bins, epsilon=50, rows=100, unit=REPLACE).release(
            bins.count(np.nan_to_num(ages, nan=-1)), confidence=1 - 1e-9
        )
        truth, band = np.cumsum([30, 40, 30]), found.prefixes()
        assert (band.low <= truth).all()
        assert (truth <= band.high).all()
        without = make(bins, epsilon=50, unit=REPLACE).release(bins.count(ages), confidence=1 - 1e-9).prefixes()
        assert without.low[-1] <= 70 <= without.high[-1] < 100
