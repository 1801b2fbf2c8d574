"""One search for many quantiles: which way is taken by public facts, what it releases, what is said, what is charged."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import dither
from dither.density import Bins, QuantileBand, QuantileInterval, Quantiles
from dither.privacy.unit import Unit
from dither.query.statistics.choose_bounding import UNITS
from dither.query.statistics.choose_quantiles import QuantileFacts, choose_quantiles
from dither.query.statistics.statistic import Price
from dither.testing import seeded
from tests.query.clinics import clinic
from tests.query.statistics.test_quantiles import table

pytestmark = pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")
QUARTILES = "SELECT QUANTILE(age, 0.25) AS a, MEDIAN(age) AS b, QUANTILE(age, 0.75) AS c FROM visits"
GROUPED = "SELECT ward, QUANTILE(age, 0.25) AS a, MEDIAN(age) AS b, QUANTILE(age, 0.75) AS c FROM visits GROUP BY ward"


def made(k, *, pure=True, ends=Fraction(2, 3), cells=4096, groups=1, unit=Unit.ADD_REMOVE, mass=2**18, more=()):
    price = Price(Fraction(1, 5), pure, unit, groups, Fraction(19, 20), ends=ends)
    shares = sorted({Fraction(at, k + 1) for at in range(1, k + 1)} | set(more))
    return choose_quantiles(shares, QuantileFacts(Bins.even(0, cells, cells), mass, price))


def test_one_quantile_is_as_it_was():
    (one,) = made(1)
    assert isinstance(one, QuantileInterval)
    assert len(made(1, more=[Fraction(0), Fraction(1)])) == 3


@pytest.mark.parametrize("pure", [True, False])
@pytest.mark.parametrize("k", [2, 3, 5, 9, 19])
@pytest.mark.parametrize("unit", [Unit.ADD_REMOVE, Unit.REPLACE_ONE])
@pytest.mark.parametrize("groups", [1, 50])
def test_what_is_taken_is_expected_to_be_no_worse_than_apart(pure, k, unit, groups):
    found = made(k, pure=pure, unit=unit, groups=groups)
    apart = [
        QuantileInterval(
            bins=Bins.even(0, 4096, 4096), q=Fraction(at, k + 1), unit=unit, mass=2**18, histograms=groups,
            **{"epsilon" if pure else "rho": Fraction(1, 5 * k)},
        )
        for at in range(1, k + 1)
    ]  # fmt: skip
    if len(found) > 1:
        assert k <= 3
        assert list(found) == apart
        return
    (one,) = found
    assert one.expected_error <= 1.1 * np.mean([other.expected_error for other in apart])
    wide = np.mean([one.offset(q) for q in one.qs])
    assert wide <= np.mean([float(other.offset) for other in apart])
    total = sum((other.guarantee for other in apart[1:]), start=apart[0].guarantee)
    if pure:
        assert one.guarantee.epsilon() == total.epsilon() == 0.2
    else:
        assert one.guarantee.rho() == pytest.approx(0.2)


@pytest.mark.parametrize("pure", [True, False])
def test_without_intervals_all_are_one_search(pure):
    (nine,) = made(9, pure=pure, ends=Fraction(0))
    assert isinstance(nine, Quantiles)
    apart = made(1, pure=pure, ends=Fraction(0))[0]
    assert nine.expected_error < 9 * apart.expected_error


def test_the_least_and_the_largest_keep_their_part():
    band, least, most = made(3, more=[Fraction(0), Fraction(1)])
    assert isinstance(band, QuantileBand)
    assert (least.q, most.q) == (0, 1)
    assert least.epsilon == most.epsilon == Fraction(1, 25)
    assert band.epsilon == Fraction(3, 25)


def test_shares_without_a_common_denominator_are_released_apart():
    found = made(1, more=[Fraction(1, 999983), Fraction(1, 999979)])
    assert [isinstance(one, QuantileInterval) for one in found] == [True] * 3


@pytest.mark.parametrize("budget", [dither.pure(10**6), dither.approx(10**6, "1e-6")])
@pytest.mark.parametrize("how", [{}, {"intervals": False}, {"intervals": "1/2"}])
def test_quartiles_by_group_come_out_in_order_and_hold_the_truth(tmp_path, budget, how):
    rng = np.random.default_rng(2)
    ages = [rng.integers(18, 90, 800), np.where(rng.random(800) < 0.7, 40, rng.integers(0, 120, 800))]
    rows = [(at + 10**6 * ward, "AB"[ward], "f", 1.0, int(age)) for ward in (0, 1) for at, age in enumerate(ages[ward])]
    data = clinic(tmp_path, table(rows), max_groups=1, max_rows_per_group=1, budget=budget)
    quote = data.quote(GROUPED, epsilon=2, **how)
    (mechanism,) = quote.offer.others[0].mechanisms
    assert isinstance(mechanism, Quantiles if how.get("intervals") is False else QuantileBand)
    assert mechanism.mass == UNITS
    part, counts = quote.offer.others[0], np.zeros((3, 121), dtype=int)
    for ward in (0, 1):
        np.add.at(counts[ward], ages[ward], UNITS)
    missed = np.zeros((3, 3), dtype=int)
    with seeded(11):
        for _ in range(20):
            released = part.noisy(counts.tolist())
            columns = [part.read(released, place) for place in range(3)]
            for group in range(3):
                found = [columns[place][0][group] for place in range(3)]
                assert found == sorted(found)
                for place, share in enumerate((0.25, 0.5, 0.75)):
                    value, low, high = (columns[place][end][group] for end in range(3))
                    assert low <= value <= high
                    below, upto = counts[group, :low].sum(), counts[group, : high + 1].sum()
                    missed[place, group] += not below <= share * counts[group].sum() <= upto
    assert missed.max() <= 7  # one expected at worst
    assert quote.price.startswith(("ε = 2 ", "(ε = 2, δ = 1e-06)"))


def test_what_is_said_and_stored(tmp_path):
    data = clinic(tmp_path, budget=dither.pure(10))
    told = data.quote(QUARTILES, epsilon=1).explain()
    assert "geometric noise in a tree of counts for a, b, c" in told
    assert "on either side, in the order of values; the answer's low and high, read off what values are, say" in told
    none = data.quote(QUARTILES, epsilon=1, intervals=False)
    assert "the whole price goes to it, and none to an interval" in none.explain()
    assert "permute-and-flip for a, b, c" in none.explain()
    assert list(none.release().columns) == ["a", "b", "c"]
    answer = data.quote(QUARTILES, epsilon=1).release()
    assert data.quote(QUARTILES, epsilon=1).release().is_replay
    known = [answer[name][0] for name in "abc" if answer[name][0] is not None]
    assert known == sorted(known)
    rho = clinic(tmp_path, budget=dither.approx(10, "1e-6"))
    both = rho.quote("SELECT QUANTILE(cost, 0.3) AS a, QUANTILE(cost, 0.6) AS b FROM visits", epsilon=1)
    assert "Gaussian noise in a tree of counts and exponential mechanism for a, b" in both.explain()
    assert "which have 2/3 of the price, say" in both.explain()
    assert both.loss().epsilon("1e-6") > 0
    assert "ε = 1, δ = 1e-06" in both.price
