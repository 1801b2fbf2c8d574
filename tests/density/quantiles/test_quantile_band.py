"""Many quantiles from one distribution: what a person moves, exactly; whole laws; intervals that hold, for every data."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

from dither.density import Bins, QuantileBand, QuantileInterval
from dither.density.histograms import tree as tree_module
from dither.density.quantiles import quantile_band as module
from dither.errors import DataError, NumberError, SizeError, UnitError
from dither.noise.laplace import DiscreteLaplace
from dither.numeric.number import Number
from dither.privacy.guarantee.definitions import gdp, pure, zcdp
from dither.privacy.unit import Unit
from dither.testing import outcomes, seeded
from tests.density.quantiles.test_quantile_interval import DATA, UNITS, near

pytestmark = pytest.mark.filterwarnings("ignore:NOT PRIVATE")
PRICES = [{"epsilon": 6}, {"rho": 2}]
QUARTILES = ["1/4", "1/2", "3/4"]


def moved(monkeypatch, mechanism, *, cells, tables, others, replace):
    """The most that noisy numbers cost for any neighbours: of all nodes, before noise, in the currency of the price."""
    seen, plain = [], tree_module.add

    def add(level, noise):
        seen.append(np.array(level))
        return plain(level, noise)

    monkeypatch.setattr(tree_module, "add", add)
    law, worst = mechanism.tree.noise.law, Fraction(0)
    for pair in near(cells * tables, mechanism.mass, others, replace=replace):
        found = []
        for flat in pair:
            seen.clear()
            rows = [flat[at : at + cells] for at in range(0, len(flat), cells)]
            mechanism.cells(rows if tables > 1 else rows[0])
            found.append(np.concatenate(seen))
        change = [int(x) for x in found[0] - found[1]]
        if isinstance(law, DiscreteLaplace):
            worst = max(worst, law.rate.fraction() * sum(map(abs, change)))
        else:
            worst = max(worst, sum(x * x for x in change) / (2 * law.sigma2))
    return worst


def bound(mechanism):
    return mechanism.rho or mechanism.epsilon.fraction()


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize(("cells", "tables"), [(2, 1), (3, 1), (5, 1), (3, 2)])
def test_a_person_moves_all_nodes_of_all_histograms_by_what_is_paid_for(unit, price, cells, tables, monkeypatch):
    mechanism = QuantileBand(bins=Bins.even(0, cells, cells), qs=QUARTILES, unit=unit, mass=2, histograms=tables, **price)
    others = [(0,) * cells * tables, (*[3] * (cells * tables - 1), 900)]
    worst = moved(monkeypatch, mechanism, cells=cells, tables=tables, others=others, replace=unit == UNITS[1])
    assert worst <= bound(mechanism)
    if unit == UNITS[0]:
        assert worst >= bound(mechanism) * (1 - Fraction(1, 10**6)), "the noise could be less"
    else:
        assert worst >= bound(mechanism) * Fraction(1, 3)  # sums of a replacement's two sides cancel high in the tree


def test_planted_a_replacement_in_two_histograms_paid_for_as_in_one(monkeypatch):
    monkeypatch.setattr(module, "replaces", lambda _: False)
    mechanism = QuantileBand(bins=Bins.even(0, 3, 3), qs=QUARTILES, epsilon=6, unit=UNITS[1], mass=2, histograms=2)
    worst = moved(monkeypatch, mechanism, cells=3, tables=2, others=[(3, 3, 3) * 2], replace=True)
    assert worst > bound(mechanism)


def ratio(monkeypatch, unit, pairs):
    """The largest log ratio of the laws of all outputs, for neighbours; and epsilon. Counts are taken once."""
    monkeypatch.setattr(module, "FINEST_MASS", 1)
    mechanism = QuantileBand(bins=Bins.even(0, 2, 2), qs=["1/4", "1/2"], epsilon=12, unit=unit)
    worst, seen = 0.0, set()

    def release(counts):
        found = str(mechanism.cells(counts))
        seen.add(found)
        return found

    for pair in pairs:
        one, other = (outcomes(release, counts, cutoff="1e-7") for counts in pair)
        for output in seen:
            (low, _), (_, high) = one.probability(output), other.probability(output)
            (under, _), (_, over) = other.probability(output), one.probability(output)
            worst = max([worst, *(math.log(p / q) for p, q in ((low, high), (under, over)) if p > 0)])
    return worst, 12


@pytest.mark.parametrize("unit", UNITS)
def test_the_law_of_every_release_keeps_the_promise(unit, monkeypatch):
    pairs = [tuple(pair) for pair in near(2, 1, [(0, 0), (1, 2)], replace=unit == UNITS[1])]
    worst, epsilon = ratio(monkeypatch, unit, pairs)
    assert 1 < worst <= epsilon


def test_planted_a_test_that_looks_at_counts_breaks_the_promise(monkeypatch):
    """What forgets that an end depends on the data: the true ranks decide where the tests stop."""
    plain = QuantileBand.cells

    def cells(self, counts):
        return [[(value, int(2 * counts[0] <= sum(counts)), high) for value, _, high in row] for row in plain(self, counts)]

    monkeypatch.setattr(QuantileBand, "cells", cells)
    worst, epsilon = ratio(monkeypatch, UNITS[0], [([8, 8], [9, 8])])
    assert worst > epsilon


def test_promises():
    line = Bins.even(0, 9, 9)
    for unit in UNITS:
        for tables in (1, 2):
            given = {"bins": line, "qs": QUARTILES, "unit": unit, "mass": 7, "histograms": tables}
            assert QuantileBand(epsilon=1, **given).guarantee == pure(1, unit=unit)
            assert QuantileBand(epsilon=1, ends="2/3", **given).guarantee.epsilon() == 1
            assert QuantileBand(rho="0.1", **given).guarantee.rho() <= 0.1 * (1 + 1e-9)
            both = QuantileBand(rho="0.3", ends="2/3", **given)
            assert both.guarantee == gdp(mu2=Fraction(2, 5), unit=unit) + zcdp("0.1", unit=unit)
            assert 0 < both.loss().epsilon("1e-6") < 6


HEAVY = {
    **DATA,
    "heavy tails": np.minimum(np.random.default_rng(3).pareto(0.8, 3000) / 50, 9.99),
    "ties and tails": np.concatenate([np.full(900, 0.3), np.random.default_rng(4).pareto(1, 600).clip(0, 9.9), [9.9] * 300]),
}


@pytest.mark.parametrize("name", HEAVY)
@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": "0.05"}])
@pytest.mark.parametrize("ends", [1, "2/3"])
def test_intervals_hold_the_true_quantiles_for_every_data(name, price, ends):
    """Each share by itself, at 0.8: of 60 more than 25 miss with a probability below 1e-4 at worst; seeded."""
    bins, qs = Bins.even(0, 10, 200), ["0.05", "0.5", "0.51", "0.9"]
    mechanism = QuantileBand(bins=bins, qs=qs, confidence="0.8", mass=2, ends=ends, **price)
    counts = bins.count(HEAVY[name])
    ranks = np.concatenate([[0], np.cumsum(counts)])
    missed = np.zeros(len(qs), dtype=int)
    with seeded(sum(name.encode())):
        for _ in range(60):
            for at, (value, low, high) in enumerate(mechanism.cells(counts)[0]):
                assert low <= value <= high
                wanted = Fraction(qs[at]) * int(ranks[-1])
                missed[at] += not int(ranks[low]) <= wanted <= int(ranks[high + 1])
    assert missed.max() <= 25


def test_an_edge_that_cannot_be_passed_is_passed_as_often_as_is_allowed_and_no_more():
    """The worst data: one edge is above the rank by next to nothing, all after it are too, and all before are far below."""
    bins = Bins.even(0, 1, 64)
    counts = [10**6, *[0] * 62, 10**6 - 1]
    counts[1] = 1  # beyond the second edge C is above n / 2
    mechanism = QuantileBand(bins=bins, qs=["1/2"], epsilon=1, confidence="0.8")
    with seeded(8):
        lows = [mechanism.cells(counts)[0][0][1] for _ in range(600)]
    missed = sum(low >= 2 for low in lows)
    assert 20 < missed < 60 + 40  # a tenth at most: 60, and five deviations


@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": "0.05"}])
def test_ends_lie_about_as_far_as_is_said_and_far_nearer_than_apart(price):
    bins, qs = Bins.even(0, 1, 2048), [Fraction(k, 10) for k in range(1, 10)]
    counts = bins.count(np.random.default_rng(1).random(40_000))
    ranks = np.concatenate([[0], np.cumsum(counts)])
    (key, amount) = next(iter(price.items()))
    apart = [QuantileInterval(bins=bins, q=q, **{key: Fraction(amount) / 9}) for q in qs]
    for ends in (1, Fraction(2, 3)):
        band = QuantileBand(bins=bins, qs=qs, ends=ends, **price)
        with seeded(9):
            found = [band.cells(counts)[0] for _ in range(20)]
        half = np.mean([[(ranks[high + 1] - ranks[low]) / 2 for _, low, high in row] for row in found])
        said = np.mean([band.offset(q) for q in qs])
        assert half == pytest.approx(said, rel=0.25)
        assert half < np.mean([float(one.offset) for one in apart]) / 2
        wanted = [float(q) * 40_000 for q in qs]
        off = np.mean([[abs(ranks[v] - w) for (v, _, _), w in zip(row, wanted, strict=True)] for row in found])
        assert off < 2 * band.expected_error + 20  # a cell has twenty
        assert band.expected_error < np.mean([one.expected_error for one in apart])


def test_several_histograms_come_in_order_and_huge_counts_keep_theirs():
    band = QuantileBand(bins=Bins.even(0, 3, 3), qs=["1/2", "1/3"], epsilon=50, histograms=3)
    with seeded(1):
        found = band.cells(np.diag([90, 90, 90]))
        assert [[value for value, _, _ in row] for row in found] == [[0, 0], [1, 1], [2, 2]]
        assert len(band.release(np.diag([90, 90, 90]))) == 6
        assert len(band.cells([[90, 0, 0], [0, 0, 90]])) == 2
        one = QuantileBand(bins=Bins.even(0, 3, 3), qs=["1/2"], epsilon=1, mass=2**14)
        assert one.cells([2**42, 2**40, 2**43]) == [[(2, 2, 2)]]
        assert len(one.cells([10**400, -5, 2**63])) == 1
    for bad in ([1, 2, 3], [[1, 2, 3]] * 4, 4, [[1, 2]] * 3, []):
        with pytest.raises(SizeError):
            band.release(bad)


def test_noise_beyond_64_bits_is_answered():
    band = QuantileBand(bins=Bins.even(0, 1, 64), qs=["1/2"], epsilon="1e-12")
    low, high = band.cells([5] * 64)[0][0][1:]  # where the noise falls: nearly everywhere is possible
    assert 0 <= low <= high <= 63


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"epsilon": None}, NumberError),
        ({"rho": 1}, NumberError),
        ({"epsilon": "1e-30"}, NumberError),
        ({"mass": 0}, NumberError),
        ({"histograms": 0}, NumberError),
        ({"confidence": 1}, NumberError),
        ({"ends": 0}, NumberError),
        ({"ends": "3/2"}, NumberError),
        ({"qs": [0, 0.5]}, NumberError),
        ({"qs": [1]}, NumberError),
        ({"qs": 0.5}, DataError),
        ({"qs": []}, SizeError),
        ({"bins": [0, 1]}, DataError),
        ({"bins": Bins([0, 1])}, SizeError),
        ({"unit": "person"}, UnitError),
    ],
)
def test_what_is_refused(fields, error):
    with pytest.raises(error):
        QuantileBand(**{"bins": Bins.even(0, 3, 3), "qs": [0.5], "epsilon": 1, **fields})


def test_it_is_a_value():
    mechanism = QuantileBand(bins=Bins.even(0, 3, 3), qs=[0.5, 0.25], epsilon=1)
    assert mechanism == QuantileBand(bins=Bins.even(0, 3, 3), qs=["1/2", "1/4"], epsilon="1")
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism
    assert mechanism.unit is Unit.ADD_REMOVE


def test_a_mass_of_many_units_is_taken_as_it_is():
    """Noise of a tree is for what a person moves, in units: one a count where a person is many."""
    for mass, units in ((2, 2**16), (2**16 - 1, 2**16 - 1), (2**16, 2**16), (2**17, 2**17), (2**20 + 1, 2**20 + 1)):
        band = QuantileBand(bins=Bins.even(0, 4, 4), qs=["1/2"], epsilon=8, mass=mass)
        assert band.tree.epsilon == Number(8) * band.ends / units
