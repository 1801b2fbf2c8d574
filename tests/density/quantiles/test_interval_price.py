"""What of a price goes to a quantile and what to its interval: exact laws and prices; nearer extremes; what is held."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dither.density import Bins, QuantileInterval
from dither.density.quantiles import quantile_interval as module
from dither.density.quantiles.rank_scores import LARGEST_DISTANCE, distances
from dither.privacy.guarantee.definitions import bounded_range
from dither.testing import check_mechanism, seeded
from tests.density.laws import Script, one_draw  # noqa: F401 - a fixture
from tests.density.quantiles.test_quantile_interval import LINE, PRICES, UNITS, near

pytestmark = pytest.mark.filterwarnings("ignore:NOT PRIVATE")


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("ends", [0, "1/2"])
@pytest.mark.usefixtures("one_draw")
def test_the_law_of_every_release_keeps_the_promise(unit, price, ends):
    mechanism = QuantileInterval(bins=Bins.even(0, 2, 2), q="1/4", unit=unit, mass=2, ends=ends, **price)
    pairs = [tuple(pair) for pair in near(2, 2, [(0, 0), (0, 7)], replace=unit == UNITS[1])]
    assert check_mechanism(mechanism, pairs=pairs).pairs >= 5


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("ends", [0, "1/5", "9/10"])
@pytest.mark.parametrize("tables", [1, 2])
def test_the_price_is_what_a_person_can_move_and_not_more(unit, price, ends, tables, monkeypatch):
    script = Script(monkeypatch, module)
    mechanism = QuantileInterval(bins=LINE, q="1/2", unit=unit, mass=2, histograms=tables, ends=ends, **price)
    choices = 1 if ends == 0 else 3
    others = [(0, 900, 0) * tables, (50, 0, 0) * tables]
    worst = Fraction(0)
    for pair in near(3 * tables, 2, others, replace=unit == UNITS[1]):
        seen = []
        for flat in pair:
            rows = [flat[at : at + 3] for at in range(0, len(flat), 3)]
            script.path, script.seen = [], []
            mechanism.cells(rows if tables > 1 else rows[0])
            seen.append(list(script.seen))
        assert len(seen[0]) == choices * tables
        ranges = [Fraction(0)] * choices
        for at, ((rate, one), (_, other)) in enumerate(zip(*seen, strict=True)):
            moved = [x - y for x, y in zip(one, other, strict=True)]
            ranges[at // tables] += rate * (max(moved) - min(moved))
        worst = max(worst, sum(reach**2 / 8 if mechanism.rho else reach for reach in ranges))
    bound = mechanism.rho or mechanism.epsilon.fraction()
    assert bound * (1 - Fraction(1, 10**6)) <= worst <= bound


def test_promises_say_what_each_choice_costs():
    half = QuantileInterval(bins=LINE, q="1/2", rho="0.5", ends="1/2").guarantee
    assert half.rho() <= 0.5
    assert half != QuantileInterval(bins=LINE, q="1/2", rho="0.5").guarantee
    assert QuantileInterval(bins=LINE, q="1/2", rho="0.5", ends=0).guarantee == bounded_range(2)
    assert QuantileInterval(bins=LINE, q=0, rho="0.5", ends=0) != QuantileInterval(bins=LINE, q=0, rho="0.5")


def test_more_for_the_value_is_a_nearer_value_and_a_wider_interval():
    bins = Bins.even(0, 1, 4096)
    counts = bins.count(np.arange(20_000) / 20_000)
    made = [QuantileInterval(bins=bins, q="0.5", epsilon="0.2", ends=ends) for ends in (0, "1/3", "2/3", "9/10")]
    offsets, errors = [one.offset for one in made], [one.value_error for one in made]
    assert offsets[0] == 0 < offsets[3] < offsets[2] < offsets[1]
    assert errors == sorted(errors)
    with seeded(2):
        found = [np.array([one.release(counts) for _ in range(200)]) for one in made]
    off = [np.abs(one[:, 0] - 0.5).mean() for one in found]
    assert off[0] < off[2] / 2
    assert (found[0][:, 1:] == (0, 1)).all()


@pytest.mark.parametrize("ends", ["1/10", "1/2", "19/20"])
@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": "0.05"}])
def test_intervals_hold_the_quantile_whatever_they_cost(ends, price):
    """On heavy tails; a miss has a probability of 0.2 at most: of 100 more than 45 have one below 1e-6."""
    bins = Bins.even(0, 10**4, 500)
    counts = bins.count(np.minimum(np.random.default_rng(3).pareto(1.1, 3000), 9999))
    mechanism = QuantileInterval(bins=bins, q="0.9", confidence="0.8", mass=2, ends=ends, **price)
    with seeded(4):
        assert sum(mechanism.shortfall(counts, mechanism.release(counts)) > 0 for _ in range(100)) <= 45


def test_without_an_interval_the_value_is_as_near_in_rank_as_is_said():
    bins = Bins.even(0, 1, 500)
    mechanism = QuantileInterval(bins=bins, q="0.5", epsilon=1, confidence="0.8", ends=0)
    people = 2 * int(mechanism.value_error) + 10
    counts = [people // 2, *[0] * 498, people // 2]  # the cells between are right, the two at the ends nearly
    counts = np.array(counts)
    ranks = np.cumsum(counts)
    with seeded(5):
        cells = [mechanism.cells(counts)[0][0] for _ in range(200)]
    off = [max(ranks[cell] - counts[cell] - people / 2, people / 2 - ranks[cell], 0) for cell in cells]
    assert sum(one > mechanism.value_error for one in off) <= 80


@pytest.mark.parametrize("q", [0, 1])
def test_an_extreme_is_aimed_at_a_third_nearer_where_people_come_and_go(q):
    bins = Bins.even(0, 100, 4096)
    leaning = QuantileInterval(bins=bins, q=q, epsilon=1, mass=600)
    both = QuantileInterval(bins=bins, q=q, epsilon=1, mass=600, unit=UNITS[1])  # both sides count the same
    assert abs(leaning.offset / both.offset - Fraction(2, 3)) < Fraction(1, 1000)
    values = np.random.default_rng(6).gamma(2, 5, 200_000).clip(0, 99.9)
    counts = bins.count(values if q == 0 else 100 - values) * 60
    with seeded(7):
        found = {one: np.array([one.release(counts) for _ in range(300)]) for one in (leaning, both)}
    truth = values.min() if q == 0 else 100 - values.min()
    near, far = (np.abs(one[:, 0] - truth).mean() for one in found.values())
    assert near < 0.93 * far
    assert all(np.mean((one[:, 1] <= truth) & (truth <= one[:, 2])) >= 0.9 for one in found.values())


@pytest.mark.parametrize("q", [0, 1])
def test_an_extreme_is_held_where_all_other_cells_miss_it(q):
    """All values in the cell at the far end: the worst data, where 499 cells miss. At most a fifth do, and not far fewer."""
    bins = Bins.even(0, 1, 500)
    mechanism = QuantileInterval(bins=bins, q=q, epsilon=1, confidence="0.8", mass=100)
    counts = [0] * 500
    counts[499 if q == 0 else 0] = 10**6
    with seeded(8):
        cells = [mechanism.cells(counts)[0] for _ in range(400)]
    missed = sum(high < 499 if q == 0 else low > 0 for _, low, high in cells)
    assert 40 < missed <= 80 + 5 * 8


@pytest.mark.parametrize("share", ["1/2", "1/3", "9/10", "999999/1000000"])
@pytest.mark.parametrize("largest", [9, 2**30, 2**45])
def test_distances_in_rows_are_those_of_single_rows(share, largest):
    """Also where products are beyond 64 bits, and for ends that reach to every rank."""
    q, rng = Fraction(share), np.random.default_rng(9)
    counts = rng.integers(0, largest, (20, 7), endpoint=True)
    upper = np.cumsum(counts, axis=1)
    lower, total = upper - counts, upper[:, -1].tolist()
    lower[:, 0], upper[3:, -1] = -(LARGEST_DISTANCE // q.denominator), LARGEST_DISTANCE // q.denominator
    for shift in (-(2**50), -3, 0, 5, 2**59):
        found = distances(lower, upper, a=q.numerator, b=q.denominator, total=total, shift=shift)
        for row in range(20):
            wanted = q.numerator * total[row] + shift
            ends = zip(lower[row].tolist(), upper[row].tolist(), strict=True)
            exact = [max(q.denominator * one - wanted, wanted - q.denominator * two, 0) for one, two in ends]
            cap = q.denominator * (LARGEST_DISTANCE // q.denominator - 1)
            assert found[row].tolist() == [min(cap, one) for one in exact]
