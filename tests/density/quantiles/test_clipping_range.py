"""Private bounds: exact laws and prices, the rule for the rank, and what is refused."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from dither.density import Bins, ClippingRange, log_bins
from dither.density.quantiles import clipping_range as module
from dither.errors import DataError, NumberError, SizeError
from dither.privacy.guarantee.definitions import bounded_range, pure
from dither.testing import check_mechanism, seeded
from tests.density.laws import Script, one_draw, pairs  # noqa: F401 - a fixture

pytestmark = pytest.mark.filterwarnings("ignore:NOT PRIVATE")
UNITS = ["add/remove one person", "replace one person"]
LINE = Bins.even(0, 4, 4)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("ends", ["upper", "both"])
@pytest.mark.parametrize("price", [{"epsilon": 2}, {"rho": "0.5"}])
@pytest.mark.usefixtures("one_draw")
def test_the_law_of_every_release_keeps_the_promise(unit, ends, price):
    mechanism = ClippingRange(bins=Bins.even(0, 3, 3), ends=ends, unit=unit, confidence="0.5", **price)
    assert mechanism.guarantee.unit.value == unit
    near = [*pairs(3, 2, replace=unit == UNITS[1]), *list(mechanism.neighbours())[-3:]]
    assert check_mechanism(mechanism, pairs=near).pairs >= 9


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("ends", ["upper", "both"])
@pytest.mark.parametrize("price", [{"epsilon": 5}, {"rho": 5}])
def test_the_price_is_what_one_person_can_move_and_not_more(unit, ends, price, monkeypatch):
    script = Script(monkeypatch, module)
    mechanism = ClippingRange(bins=Bins.even(0, 5, 5), ends=ends, unit=unit, confidence="0.5", **price)
    assert mechanism.rank == (1 if ends == "upper" else 2)  # few enough to be on both sides of, with three people
    near = pairs(5, 3, replace=unit == UNITS[1])
    worst = max(script.cost(mechanism.release, *pair, square="rho" in price) for pair in near)
    bound = mechanism.rho or mechanism.epsilon.fraction()
    assert bound * Fraction(999, 1000) <= worst <= bound


def test_promises():
    assert ClippingRange(bins=LINE, epsilon=1).guarantee == pure(1)
    assert ClippingRange(bins=LINE, epsilon=1, ends="both").guarantee == pure(1)
    mechanism = ClippingRange(bins=LINE, rho=1, ends="both", unit="replace one row")
    assert mechanism.guarantee == 2 * bounded_range(2, unit="replace one row")
    assert mechanism.guarantee.rho() == 1
    assert mechanism.loss().epsilon(0) <= 4.0001


def test_the_rank_is_large_enough_that_no_cell_beyond_the_data_is_chosen():
    bins = log_bins(1, 10**9)
    mechanism = ClippingRange(bins=bins, epsilon="0.5")
    assert 2 * mechanism.rank > mechanism.error("0.95")  # by more than a choice falls short
    assert mechanism.rank > 2 / 0.5 * math.log(bins.size)  # the rule of thumb
    assert mechanism.rank < 2 / 0.5 * math.log(40 * bins.size)
    values = np.random.default_rng(1).lognormal(6, 1, 5000)
    counts = bins.count(values)
    top = bins.edges[bins.place([values.max()])[0] + 1]
    with seeded(1):
        found = [mechanism.release(counts) for _ in range(200)]
    assert {low for low, _ in found} == {0.0}
    assert sum(high > top for _, high in found) <= 30  # 10 expected at worst: above six deviations
    beyond = [(values > high).sum() for _, high in found]
    assert sum(x > 2 * mechanism.rank for x in beyond) <= 30
    assert sum(x > mechanism.error("0.99") for x in beyond) <= 14


def test_both_ends_and_data_that_is_all_equal():
    bins = log_bins(1, 10**6, signed=True)
    mechanism = ClippingRange(bins=bins, epsilon=4, ends="both")
    with seeded(2):
        for value in (-500.0, 0.0, 3.0):
            low, high = mechanism.release(bins.count([value] * 5000))
            cell = int(bins.place([value])[0])
            assert (low, high) == (bins.edges[cell], bins.edges[cell + 1])
        low, high = mechanism.release(bins.count(np.linspace(900, 1000, 5000)))
    assert 700 < low <= 900
    assert 1000 <= high < 1300


def test_few_people_empty_data_and_huge_counts_are_answered_in_order():
    for ends in ("upper", "both"):
        mechanism = ClippingRange(bins=LINE, epsilon=1, ends=ends)
        for counts in ([0] * 4, [1, 0, 0, 0], [10**400] * 4, [-1] * 4):
            for _ in range(20):
                low, high = mechanism.release(counts)
                assert 0 <= low < high <= 4


def test_cells_that_double():
    bins = log_bins(1, 16, each=1)
    assert bins.edges.tolist() == [0, 1, 2, 4, 8, 16]
    assert log_bins(1, 17, each=1).edges[-1] == 32
    assert log_bins(1, 4, signed=True, each=1).edges.tolist() == [-4, -2, -1, 0, 1, 2, 4]
    assert log_bins("0.01", 10**6).edges[-1] >= 10**6
    assert log_bins(1, 10**9).size == 121


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((1, 1), NumberError),
        ((0, 1), NumberError),
        ((-1, 1), NumberError),
        ((1, math.inf), NumberError),
        ((math.nan, 1), NumberError),
        ((1, 10**400), NumberError),
    ],
)
def test_cells_that_are_refused(arguments, error):
    with pytest.raises(error):
        log_bins(*arguments)


def test_what_is_refused():
    with pytest.raises(SizeError):
        log_bins(1, 2, each=2**30)
    with pytest.raises(NumberError):
        log_bins(1, 2, signed=1)
    for fields in ({"epsilon": None}, {"rho": 1}, {"epsilon": -1}, {"ends": "lower"}, {"confidence": 1}):
        with pytest.raises(NumberError):
            ClippingRange(**{"bins": LINE, "epsilon": 1, **fields})
    with pytest.raises(DataError):
        ClippingRange(bins=None, epsilon=1)
    mechanism = ClippingRange(bins=LINE, epsilon=1)
    for bad, error in (([1, 2], SizeError), ([0.5] * 4, DataError)):
        with pytest.raises(error):
            mechanism.release(bad)
