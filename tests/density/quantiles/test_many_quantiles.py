"""Many quantiles: every path of choices priced exactly, whole laws enumerated, both units; atoms; order; what is refused."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

from dither.density import Bins, Quantile, Quantiles
from dither.density.quantiles import many_quantiles as module
from dither.density.quantiles.choice_order import quantile_tree
from dither.density.quantiles.many_quantiles import MOST_CUTS
from dither.density.quantiles.rank_scores import chooser
from dither.errors import DataError, NumberError, SizeError
from dither.mechanisms.combine import each_of
from dither.privacy.guarantee.definitions import pure, zcdp
from dither.testing import check_mechanism, outcomes, seeded
from tests.density.laws import Script, one_draw, pairs  # noqa: F401 - a fixture
from tests.density.quantiles.test_quantile_interval import near

pytestmark = pytest.mark.filterwarnings("ignore:NOT PRIVATE")
UNITS = ["add/remove one person", "replace one person"]
LINE = Bins.even(0, 3, 3)
DECILES = [f"0.{k}" for k in range(1, 10)]
PRICES = [{"epsilon": 2}, {"rho": "0.5"}]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize(
    ("qs", "price"),
    [
        (["1/2", "2/3"], {"epsilon": 2}),
        (["1/4", "1/2", "3/4"], {"epsilon": 2}),
        ([0, "1/2", 1], {"epsilon": 2}),
        (["1/2", "2/3"], {"rho": "0.5"}),
    ],
)
@pytest.mark.usefixtures("one_draw")
def test_the_law_of_every_release_keeps_the_promise(qs, unit, price):
    mechanism = Quantiles(bins=LINE, qs=qs, unit=unit, parts=2, **price)
    assert mechanism.guarantee.unit.value == unit
    assert check_mechanism(mechanism, pairs=pairs(3, 2, replace=unit == UNITS[1])).pairs >= 8


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("qs", [["1/3", "1/2"], ["1/4", "1/2", "3/4"], [0, "1/2", 1]])
@pytest.mark.parametrize("price", PRICES)
def test_no_path_of_choices_costs_more_than_is_promised(qs, unit, price, parts, monkeypatch):
    script = Script(monkeypatch, module)
    mechanism = Quantiles(bins=LINE, qs=qs, unit=unit, parts=parts, **price)
    near = [*pairs(3, 3, replace=unit == UNITS[1]), ([4, 4, 4], [4, 4, 5])][: None if unit == UNITS[0] else -1]
    worst = max(script.cost(mechanism.release, *pair, square="rho" in price) for pair in near)
    bound = mechanism.rho or mechanism.epsilon.fraction()
    assert worst <= bound
    assert worst >= bound * Fraction(2, 5)


def all_paths(monkeypatch, price, unit, *, tables, mass=2, qs=("1/3", "1/2"), cells=2):
    """The most that any path of choices costs, for all that a person can hold in several histograms; and the promise."""
    script = Script(monkeypatch, module)
    mechanism = Quantiles(bins=Bins.even(0, cells, cells), qs=qs, unit=unit, parts=2, mass=mass, histograms=tables, **price)

    def release(flat):
        rows = [flat[at : at + cells] for at in range(0, len(flat), cells)]
        return mechanism.release(rows if tables > 1 else rows[0])

    others = [(0,) * cells * tables, tuple(range(4, 4 + cells)) * tables]
    near_by = near(cells * tables, mass, others, replace=unit == UNITS[1])
    worst = max(script.cost(release, *pair, square="rho" in price) for pair in near_by)
    return worst, mechanism.rho or mechanism.epsilon.fraction()


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("tables", [1, 2])
def test_one_price_pays_for_all_counts_of_a_person_in_all_histograms(unit, price, tables, monkeypatch):
    worst, bound = all_paths(monkeypatch, price, unit, tables=tables)
    assert bound * Fraction(1, 6) <= worst <= bound


@pytest.mark.parametrize("unit", UNITS)
def test_planted_a_target_of_everybody_in_place_of_those_between_the_cuts(unit, monkeypatch):
    """What forgets that the split depends on the data: a later choice that aims at a rank among all people, wherever the
    cut fell, is moved also by those on the other side of it."""
    total, plain = [0], Quantiles._pick

    def pick(self, node, lower, upper):
        if node.first:
            total[0] = int(upper[-1])
            return plain(self, node, lower, upper)
        a, b, _ = self._scaled(node)
        return self._choice(node, len(lower)).release(-module.distances(lower, upper, a=a, b=b, total=total[0] // 2))

    monkeypatch.setattr(Quantiles, "_pick", pick)
    worst, bound = all_paths(monkeypatch, PRICES[0], unit, tables=1, qs=("1/4", "1/2", "3/4"), cells=4)
    assert worst > bound


def test_planted_each_level_with_the_whole_price(monkeypatch):
    monkeypatch.setattr(
        Quantiles, "_choice", lambda self, node, size: module.chooser(
            self.epsilon, self.rho, candidates=size, reach=self._scaled(node)[2] * self.parts * self.mass, unit=self.unit
        )
    )  # fmt: skip
    worst, bound = all_paths(monkeypatch, PRICES[0], UNITS[0], tables=1, qs=("1/4", "1/2", "3/4"), cells=4)
    assert worst > bound


def test_several_histograms_are_searched_one_after_the_other():
    mechanism = Quantiles(bins=LINE, qs=["1/2", "1/3"], epsilon=60, histograms=3, mass=2)
    with seeded(1):
        assert mechanism.cells(np.diag([90, 90, 90])) == [[0, 0], [1, 1], [2, 2]]
        assert mechanism.release(np.diag([90, 90, 90])) == [0.5, 0.5, 1.5, 1.5, 2.5, 2.5]
        assert mechanism.shortfall(np.diag([90, 90, 90]), [0.5, 0.5, 1.5, 1.5, 2.5, 2.5]) == 0
        assert mechanism.shortfall(np.diag([90, 90, 90]), [0.5, 0.5, 1.5, 1.5, 2.5, 1.5]) == pytest.approx(30, abs=0.01)
    with pytest.raises(SizeError):
        mechanism.release([1, 2, 3])
    assert Quantiles(bins=LINE, qs=DECILES, rho=1, histograms=3, mass=2).loss().epsilon(0) > 0


@pytest.mark.parametrize(("price", "parts"), [(PRICES[0], 1), (PRICES[0], 2), (PRICES[1], 1)])
def test_with_room_on_both_sides_a_path_costs_all_that_is_promised(price, parts, monkeypatch):
    """Adding a person: both choices move as far as they can, also where the cut goes through her cell."""
    script = Script(monkeypatch, module)
    mechanism = Quantiles(bins=Bins.even(0, 7, 7), qs=["1/4", "1/2", "3/4"], parts=parts, **price)
    counts = [1, 1, 1, 1, 1, 1, 1]
    near = [(counts, [x + (j == at) for j, x in enumerate(counts)]) for at in range(7)]
    script_cost = [script.cost(mechanism.release, *pair, square="rho" in price) for pair in near]
    bound = mechanism.rho or mechanism.epsilon.fraction()
    assert bound * Fraction(999, 1000) <= max(script_cost) <= bound


@pytest.mark.parametrize("power", [1, 0.5])
@pytest.mark.parametrize("m", [1, 2, 3, 9, 15, 100])
def test_the_parts_of_every_branch_add_up_to_one(m, power):
    def branches(node, spent):
        spent += node.part
        assert node.part > 0
        assert 0 <= node.target <= 1
        if node.last:
            yield spent
        for side in (node.left, node.right):
            if side is not None:
                yield from branches(side, spent)

    shares = [Fraction(k, m + 1) for k in range(1, m + 1)]
    root = quantile_tree(shares, power=power)
    assert set(branches(root, 0)) == {1}
    assert sorted(node.share for node in root.all()) == shares
    assert [node.first for node in root.all()].count(True) == 1


def test_the_targets_are_where_the_shares_lie_between_the_cuts():
    root = quantile_tree([Fraction(k, 10) for k in (1, 3, 6)], power=1)
    assert (root.share, root.target) == (Fraction(3, 10), Fraction(3, 10))
    assert (root.left.share, root.left.target) == (Fraction(1, 10), Fraction(1, 3))
    assert (root.right.share, root.right.target) == (Fraction(6, 10), Fraction(3, 7))


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.usefixtures("one_draw")
def test_one_of_many_is_one(unit):
    many = outcomes(Quantiles(bins=LINE, qs=["1/3"], epsilon=1, unit=unit).release, [3, 1, 2])
    one = outcomes(Quantile(bins=LINE, q="1/3", epsilon=1, unit=unit).release, [3, 1, 2])
    for value in (0.5, 1.5, 2.5):
        assert many.probability([value])[0] == pytest.approx(one.probability(value)[0], abs=1e-15)


def test_promises():
    assert Quantiles(bins=LINE, qs=DECILES, epsilon=1).guarantee == pure(1)
    assert Quantiles(bins=LINE, qs=DECILES, rho="0.1", unit="replace one row").guarantee == zcdp(
        "0.1", unit="replace one row"
    )
    assert Quantiles(bins=LINE, qs=DECILES, epsilon=1).levels == 4
    assert Quantiles(bins=LINE, qs=[0.5] * 9, epsilon=1).levels == 1
    assert Quantiles(bins=LINE, qs=DECILES, epsilon=1).loss().epsilon(0) <= 1.0001


def test_answers_rise_with_the_shares_and_come_in_the_order_asked():
    bins = Bins.even(0, 1, 300)
    rng = np.random.default_rng(2)
    mixed = ["0.9", "0.1", "0.5", "0.1", 0, 1, "0.25"]
    for counts in (bins.count(rng.random(500)), [0] * 300, bins.count([0.5] * 100)):
        for _ in range(5):
            found = Quantiles(bins=bins, qs=DECILES, epsilon="0.2", parts=3).release(counts)
            assert found == sorted(found)
            answers = Quantiles(bins=bins, qs=mixed, epsilon=1, parts=3).release(counts)
            assert answers[1] == answers[3]
            assert answers[4] <= answers[1] <= answers[6] <= answers[2] <= answers[0] <= answers[5]


def test_a_value_that_many_share_is_found_for_all_its_shares():
    """Parts of cells: without them nobody could cut where everybody is equal."""
    bins = Bins.even(0, 100, 100)
    values = [10.5] * 4000 + [float(x) for x in np.linspace(20, 100, 6000)]
    counts = bins.count(values)
    truth = [10.5, 10.5, 10.5]
    with seeded(3):
        fine = Quantiles(bins=bins, qs=DECILES, epsilon=4).release(counts)
        everybody_equal = Quantiles(bins=bins, qs=DECILES, epsilon=4).release(bins.count([37.2] * 3000))
    assert fine[:3] == truth
    for answer, share in zip(fine[4:], range(5, 10), strict=True):
        assert answer == pytest.approx(20 + 80 * (share * 1000 - 4000) / 6000, abs=1.5)
    assert everybody_equal == [37.5] * 9


def test_errors_are_covered():
    rng = np.random.default_rng(1)
    bins = Bins.even(0, 1, 256)
    counts = bins.count(rng.beta(2, 5, 3000))
    mechanism = Quantiles(bins=bins, qs=DECILES, epsilon=1, parts=16)
    with seeded(4):
        off = [mechanism.shortfall(counts, mechanism.release(counts)) for _ in range(40)]
    assert sum(x > mechanism.error("0.9") for x in off) <= 15  # 4 expected at worst: above five deviations
    assert mechanism.error("0.99") > mechanism.error("0.9") > 0
    shares = mechanism.shares(3000)
    assert len(shares) == 9
    assert all(low < float(q) < high for (low, high), q in zip(shares, DECILES, strict=True))


@pytest.mark.parametrize("epsilon", ["0.1", 1])
def test_deciles_are_at_most_half_as_far_off_as_one_by_one(epsilon):
    """Mean rank error of many, at equal epsilon, over 25 releases; below 0.45 when measured over more."""
    rng = np.random.default_rng(5)
    bins = Bins.even(0, 1, 512)
    counts = bins.count(rng.beta(2, 5, 5000))
    together = Quantiles(bins=bins, qs=DECILES, epsilon=epsilon, parts=8)
    singles = [Quantile(bins=bins, q=q, epsilon=Fraction(str(epsilon)) / 9) for q in DECILES]
    with seeded(6):
        many = one = Fraction(0)
        for _ in range(25):
            answers = together.release(counts)
            many += sum(single.shortfall(counts, x) for single, x in zip(singles, answers, strict=True))
            one += sum(single.shortfall(counts, single.release(counts)) for single in singles)
    assert many <= one * Fraction(1, 2)


@pytest.mark.parametrize(
    ("qs", "error"),
    [
        ([], SizeError),
        ([0.5] * 5000, SizeError),
        (0.5, DataError),
        ("0.5", DataError),
        (None, DataError),
        ([1.5], NumberError),
        ([math.nan], NumberError),
        ([0.5, None], NumberError),
        (["1/999983", "1/999979"], NumberError),
    ],
)
def test_shares_that_are_refused(qs, error):
    with pytest.raises(error):
        Quantiles(bins=LINE, qs=qs, epsilon=1)


def test_what_else_is_refused():
    for fields in ({"epsilon": None}, {"rho": 1}, {"epsilon": 0}, {"parts": 0}, {"parts": 1.5}, {"epsilon": "1e-30"}):
        with pytest.raises(NumberError):
            Quantiles(**{"bins": LINE, "qs": [0.5, 0.25], "epsilon": 1, **fields})
    with pytest.raises(SizeError):
        Quantiles(bins=LINE, qs=[0.5], epsilon=1, parts=MOST_CUTS)
    with pytest.raises(DataError):
        Quantiles(bins=[0, 1], qs=[0.5], epsilon=1)
    mechanism = Quantiles(bins=LINE, qs=DECILES, epsilon=1)
    for bad, error in (([1, 2], SizeError), ([1.5] * 3, DataError), (None, SizeError), ([math.nan] * 3, DataError)):
        with pytest.raises(error):
            mechanism.release(bad)


def test_empty_data_one_cell_and_huge_counts_are_answered():
    for bins in (Bins([0, 1]), LINE, Bins.even(0, 1, MOST_CUTS + 5)):
        mechanism = Quantiles(bins=bins, qs=[0, "0.3", 1], epsilon=1)
        for counts in (np.zeros(bins.size, dtype=np.int64), np.full(bins.size, 2**62), np.full(bins.size, -1)):
            answers = mechanism.release(counts)
            assert all(bins.edges[0] < x < bins.edges[-1] for x in answers)
    assert Quantiles(bins=LINE, qs=np.linspace(0.1, 0.9, 9), epsilon=1).qs == tuple(Fraction(k, 10) for k in range(1, 10))


def test_it_is_a_value():
    mechanism = Quantiles(bins=LINE, qs=DECILES, epsilon=1)
    assert mechanism == Quantiles(bins=Bins.even(0, 3, 3), qs=tuple(DECILES), epsilon="1")
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism
    assert mechanism.parts == MOST_CUTS // 3


def test_a_cut_leaves_nobody_out_and_counts_nobody_twice(monkeypatch):
    script = Script(monkeypatch, module)
    mechanism = Quantiles(bins=Bins.even(0, 7, 7), qs=["1/4", "1/2", "3/4"], epsilon=1, parts=1)
    script.path = [3]  # of the eight cuts
    assert mechanism.release([1, 1, 1, 1, 1, 1, 1]) == [0.5, 3.5, 3.5]
    (_, cuts), (_, right), (_, left) = script.seen
    assert [len(cuts), len(left), len(right)] == [8, 3, 4]
    assert [-x for x in left] == [1, 0, 1]  # in half people: rank 3/2 of three
    assert [-x for x in right] == [2, 0, 0, 2]  # rank 2 of four


def test_a_cut_through_a_cell_divides_its_people(monkeypatch):
    script = Script(monkeypatch, module)
    mechanism = Quantiles(bins=LINE, qs=["1/4", "1/2", "3/4"], epsilon=1, parts=2)
    script.path = [3]  # through the middle of the second cell
    assert mechanism.release([1, 4, 3]) == [0.5, 1.5, 1.5]
    (_, cuts), (_, right), (_, left) = script.seen
    assert [-x for x in cuts] == [16, 14, 12, 4, 4, 10, 16]
    assert [-x for x in left] == [2, 0]  # in quarters of a person: one and two people, rank 3/2
    assert [-x for x in right] == [2, 0]  # two and three people, rank 5/2


def test_the_error_of_a_later_choice_comes_on_top_of_the_earlier_one():
    mechanism = Quantiles(bins=LINE, qs=["1/4", "1/2", "3/4"], epsilon=1, parts=4)
    root, each = quantile_tree(mechanism.qs, power=1), each_of("0.9", 3)

    def off(node, candidates):
        choice = chooser(mechanism.epsilon * node.part, None, candidates=candidates, reach=4, unit=mechanism.unit)
        return Fraction(choice.error(each)) / (2 * 4)  # steps of half a person, in quarters

    first, then = off(root, 13), off(root.left, 3)
    assert Fraction(mechanism.error("0.9")) == first + then
    assert 1 - (1 - each) * 3 >= Fraction("0.89")
    assert each > Fraction("0.96")


@pytest.mark.parametrize("unit", UNITS)
def test_shares_hold_where_everybody_is_in_one_cell(unit):
    """Half a part may be lost on each level but the last: here the noise is nothing, and that is all there is."""
    cells = Bins.even(0, 4, 4)
    for parts in (1, 2, 3):
        mechanism = Quantiles(bins=cells, qs=DECILES, epsilon=10**6, parts=parts, unit=unit)
        counts = [0, 700, 300, 0]
        ranks = np.cumsum([0, *counts])
        answers = cells.place(np.array(mechanism.release(counts)))
        off = Fraction(mechanism.levels - 1, 2 * parts)
        for q, cell, (low, high) in zip(mechanism.qs, answers, mechanism.shares(1000), strict=True):
            assert ranks[cell] <= high * 1000
            assert low * 1000 <= ranks[cell + 1]
            assert low <= max(0, q - off)
            assert high >= min(1, q + off)


def test_confidence_next_to_one_and_next_to_zero():
    mechanism = Quantiles(bins=LINE, qs=DECILES, epsilon=1)
    assert mechanism.error(1 - Fraction(1, 10**400)) > mechanism.error(1 - Fraction(1, 10**300)) > 0
    alone = Quantiles(bins=LINE, qs=["0.5"], epsilon=1)
    assert str(alone.error(Fraction(1, 10**30))) == "0.0"
