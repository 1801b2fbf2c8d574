"""One quantile: exact laws and prices for all neighbours, both units; errors; what is refused."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

from dither.density import Bins, Quantile
from dither.density.quantiles import quantile as module
from dither.density.quantiles.rank_scores import FINEST, LARGEST_DISTANCE, distances, middle, read_share, scaled
from dither.errors import DataError, NumberError, SizeError, UnitError
from dither.privacy.guarantee.definitions import bounded_range, pure
from dither.testing import check_mechanism, seeded
from tests.density.laws import Script, one_draw, pairs  # noqa: F401 - a fixture

pytestmark = pytest.mark.filterwarnings("ignore:NOT PRIVATE")
UNITS = ["add/remove one person", "replace one person"]
SHARES = [0, "1/3", "1/2", "2/3", 1]
LINE = Bins.even(0, 4, 4)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("q", SHARES)
@pytest.mark.parametrize("price", [{"epsilon": 2}, {"rho": "0.5"}])
@pytest.mark.usefixtures("one_draw")
def test_the_law_of_every_release_keeps_the_promise(q, unit, price):
    mechanism = Quantile(bins=Bins.even(0, 3, 3), q=q, unit=unit, **price)
    assert mechanism.guarantee.unit.value == unit
    near = [*pairs(3, 2, replace=unit == UNITS[1]), *list(mechanism.neighbours())[-3:]]
    assert check_mechanism(mechanism, pairs=near).pairs >= 9


@pytest.mark.parametrize("q", [0, "1/3", "1/2"])
def test_the_coins_themselves_keep_the_promise(q):
    assert check_mechanism(Quantile(bins=Bins.even(0, 3, 3), q=q, epsilon=1)).pairs > 10


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("q", SHARES)
@pytest.mark.parametrize("price", [{"epsilon": 2}, {"rho": "0.5"}])
def test_the_price_is_what_one_person_can_move_and_not_more(q, unit, price, monkeypatch):
    script = Script(monkeypatch, module)
    mechanism = Quantile(bins=Bins.even(0, 5, 5), q=q, unit=unit, **price)
    worst = max(
        script.cost(mechanism.release, *pair, square="rho" in price) for pair in pairs(5, 4, replace=unit == UNITS[1])
    )
    bound = mechanism.rho or mechanism.epsilon.fraction()
    assert worst <= bound
    assert worst >= bound * (1 - Fraction(1, 10**6)), "the noise could be less"


def test_distances_are_those_of_the_definition():
    rng = np.random.default_rng(3)
    for _ in range(300):
        cells, b = int(rng.integers(1, 6)), int(rng.integers(1, 10**9))
        a = int(rng.integers(0, b + 1))
        counts = rng.integers(0, 2 ** int(rng.integers(1, 57)), size=cells)
        upper = np.cumsum(counts)
        total, cap = int(upper[-1]), b * (LARGEST_DISTANCE // b - 1)
        found = distances(upper - counts, upper, a=a, b=b, total=total).tolist()
        wanted = []
        for high, count in zip(upper.tolist(), counts.tolist(), strict=True):
            wanted.append(min(cap, max(b * (high - count) - a * total, a * total - b * high, 0)))
        assert found == wanted
        assert min(found) == 0, "some cell has the wanted rank"


def test_what_scaled_says_is_so():
    assert scaled(Fraction(0), replaced=False) == (0, 2, 1)
    assert scaled(Fraction(1), replaced=True) == (2, 2, 1)
    assert scaled(Fraction(1, 4), replaced=False) == (1, 4, 3)
    assert scaled(Fraction(3, 4), replaced=False) == (3, 4, 3)
    assert scaled(Fraction(1, 4), replaced=True) == (1, 4, 4)


def test_promises():
    assert Quantile(bins=LINE, q=0.5, epsilon=1).guarantee == pure(1)
    mechanism = Quantile(bins=LINE, q=0.5, rho="0.5", unit="replace one row")
    assert mechanism.guarantee == bounded_range(2, unit="replace one row")
    assert mechanism.guarantee.rho() == 0.5
    assert mechanism.loss().epsilon(0) <= 2.0001


def test_data_that_is_all_equal_has_its_value_for_every_share():
    bins = Bins.even(0, 100, 100)
    counts = bins.count([37.2] * 1000)
    with seeded(1):
        for q in ("0.01", 0.5, "0.99"):
            assert Quantile(bins=bins, q=q, epsilon=10).release(counts) == 37.5


def test_empty_data_one_cell_and_huge_counts_are_answered():
    for q in SHARES:
        mechanism = Quantile(bins=LINE, q=q, epsilon=1)
        for counts in ([0] * 4, [10**400] * 4, [-5] * 4, np.zeros(4, dtype=np.uint8), [2**63] * 4):
            assert mechanism.release(counts) in (0.5, 1.5, 2.5, 3.5)
        assert Quantile(bins=Bins([1, 2]), q=q, epsilon=1).release([7]) == 1.5


def test_errors_are_covered_and_as_wide_as_they_need_to_be():
    rng = np.random.default_rng(1)
    bins = Bins.even(0, 1, 1000)
    counts = bins.count(rng.beta(2, 5, 5000))
    mechanism = Quantile(bins=bins, q="0.9", epsilon="0.5")
    width = mechanism.error("0.9")
    assert isinstance(width, float)
    with seeded(2):
        off = [mechanism.shortfall(counts, mechanism.release(counts)) for _ in range(400)]
    assert sum(x > width for x in off) <= 75  # 40 expected at worst: seven deviations
    assert 10 < width < 40
    assert mechanism.error("0.99") > width
    finer = Quantile.for_error(width, "0.9", bins=bins, q="0.9")
    assert abs(float(finer.epsilon) - 0.5) < 0.02
    assert finer.error("0.9") <= width


def test_extremes_need_half_the_noise():
    bins = Bins.even(0, 1, 100)
    for unit in UNITS:
        error = Quantile(bins=bins, q=0, epsilon=1, unit=unit).error("0.95")
        assert error == Quantile(bins=bins, q=1, epsilon=1, unit=unit).error("0.95")
        assert error * 1.9 < Quantile(bins=bins, q="0.999999", epsilon=1, unit=unit).error("0.95")


def test_shares_around_the_wanted_one():
    mechanism = Quantile(bins=LINE, q=0.5, epsilon=1)
    low, high = mechanism.shares(1000)
    assert low == pytest.approx(0.5 - mechanism.error("0.95") / 1000)
    assert high == pytest.approx(0.5 + mechanism.error("0.95") / 1000)
    assert mechanism.shares(1, "0.5") == (0, 1)
    for bad in (0, -1, math.nan, "x", None):
        with pytest.raises(NumberError):
            mechanism.shares(bad)


@pytest.mark.parametrize("bad", [-0.1, 1.1, math.nan, math.inf, "x", None, True, Fraction(1, FINEST + 1), 1e-9, [0.5]])
def test_shares_that_are_refused(bad):
    with pytest.raises(NumberError):
        Quantile(bins=LINE, q=bad, epsilon=1)


def test_floats_stand_for_short_fractions():
    assert read_share(0.1 + 0.2, name="q") == Fraction(3, 10)
    assert read_share(1 / 3, name="q") == Fraction(1, 3)
    assert read_share(np.float64(0.95), name="q") == Fraction(19, 20)
    assert read_share("1/3", name="q") == Fraction(1, 3)


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"epsilon": None}, NumberError),
        ({"epsilon": 1, "rho": 1}, NumberError),
        ({"epsilon": 0}, NumberError),
        ({"epsilon": math.nan}, NumberError),
        ({"epsilon": "1e-30"}, NumberError),
        ({"epsilon": None, "rho": -1}, NumberError),
        ({"bins": [0, 1]}, DataError),
        ({"unit": "person"}, UnitError),
    ],
)
def test_what_is_refused(fields, error):
    with pytest.raises(error):
        Quantile(**{"bins": LINE, "q": 0.5, "epsilon": 1, **fields})


def test_values_of_the_wrong_kind_or_shape_are_refused():
    mechanism = Quantile(bins=LINE, q=0.5, epsilon=1)
    for bad in ([1, 2, 3], [[1, 2, 3, 4]], 4, []):
        with pytest.raises(SizeError):
            mechanism.release(bad)
    for bad in ([1.5] * 4, [None] * 4, ["a"] * 4, [math.nan] * 4, [True] * 4):
        with pytest.raises(DataError):
            mechanism.release(bad)


def test_the_middle_of_a_cell_is_in_it():
    odd = math.nextafter(1.0, 2)  # the middle of this and the next double is rounded up
    edges = [-1e308, -1.0, math.nextafter(-1.0, 0), 0.0, 5e-324, 1e-323, 1.0, odd, math.nextafter(odd, 2), 1.7e308]
    bins = Bins(edges)
    for cell in range(bins.size):
        assert bins.place([middle(bins, cell)]).tolist() == [cell]
    assert middle(Bins([0, 10]), 0) == 5


def test_it_is_a_value():
    mechanism = Quantile(bins=LINE, q=0.5, epsilon=1)
    assert mechanism == Quantile(bins=Bins.even(0, 4, 4), q="1/2", epsilon="1")
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism
    assert hash(mechanism) == hash(Quantile(bins=LINE, q=0.5, epsilon=1))


def test_ten_million_cells(every):
    cells = 10**7 if every else 10**6
    bins = Bins.even(0, 1, cells)
    counts = bins.count(np.random.default_rng(1).beta(2, 2, 10**5))
    answer = Quantile(bins=bins, q=0.5, epsilon=1).release(counts)
    assert abs(answer - 0.5) < 0.02


def test_no_error_has_no_sign():
    assert str(Quantile(bins=LINE, q="0.5", epsilon=1).error(Fraction(1, 10**30))) == "0.0"


def test_a_replaced_person_may_come_from_no_cell():
    for unit in UNITS:
        listed = list(Quantile(bins=LINE, q="0.5", epsilon=1, unit=unit).neighbours())
        assert ([0, 0, 0, 0], [0, 0, 0, 1]) in listed
        assert (([0, 1, 0, 0], [1, 0, 0, 0]) in listed) == (unit == UNITS[1])
