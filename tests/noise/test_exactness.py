"""The law sampled is the law stated: added up bit string by bit string, not sampled."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from flint import arb

from dither.noise import cell_sampler
from dither.noise.bernoulli import Bernoulli
from dither.noise.categorical import Categorical
from dither.noise.cell_sampler import CellSampler
from dither.noise.entropy import stream
from dither.noise.gaussian import DiscreteNormal, RoundedGaussian
from dither.noise.laplace import DiscreteLaplace, OneSidedGeometric
from dither.noise.law import Law
from dither.noise.samplers import large_scale as staircase
from dither.noise.samplers.large_scale import StaircaseSampler
from dither.noise.samplers.small_scale import DirectSampler
from dither.noise.samplers.table import UNDECIDED, CumulativeTable, below, lazy_index
from dither.noise.uniform_integers import uniform, weighted
from dither.numeric.balls import precision
from dither.numeric.enclosure import to_ball
from dither.numeric.number import Number, ln
from tests.noise import exact

SMALL = Fraction(3, 4)
LAWS = [
    (DiscreteLaplace(SMALL), exact.laplace(SMALL)),
    (DiscreteLaplace(2), exact.laplace(Fraction(2))),
    (OneSidedGeometric(2), exact.geometric(Fraction(2))),
    (RoundedGaussian(SMALL), exact.rounded(SMALL**2)),
    (RoundedGaussian(sigma2=5), exact.rounded(Fraction(5))),
    (DiscreteNormal(SMALL), exact.gaussian(SMALL)),
    (DiscreteNormal(6), exact.gaussian(Fraction(6))),
]
NAMES = [repr(law) for law, _ in LAWS]


# -- every bit string, with short words so that refinement is the rule and not the exception -------------------


@pytest.mark.parametrize(("law", "truth"), LAWS, ids=NAMES)
@pytest.mark.parametrize("reach", [1, 4])
def test_direct_sampler_assigns_exactly_the_law(law, truth, reach):
    sampler = DirectSampler(exact.remembering(law), reach, prefix_bits=3, word_bits=5)
    masses, unsettled = exact.tree(sampler.one, depth=16)
    assert unsettled < Fraction(1, 8)
    assert max(masses) > reach or reach > 1, "the tail must have been visited"
    exact.assert_law(masses, unsettled, truth)


STAIRS = [LAWS[i] for i in (1, 2, 4, 6)]  # with room for a few cells
STAIR_NAMES = [repr(law) for law, _ in STAIRS]


def acceptance(sampler, truth, v: int, x: int, slope: bool):
    """The probability with which x must be kept in cell v: g(x) is the mean weight of the integer x."""
    law = sampler.law
    near, far = law.weight(sampler.edge(v)), law.weight(sampler.edge(v, 1)) if slope else to_ball(0)
    g = truth(x) * (2 * exact.ball(law.sigma2) * arb.pi()).sqrt() if law.rounded else truth(x) / truth(0)
    return (g - far) / (near - far)


@pytest.mark.parametrize(("law", "truth"), STAIRS, ids=STAIR_NAMES)
@pytest.mark.parametrize("cell_bits", [0, 1, 2])
@pytest.mark.parametrize("slope", [True, False])
def test_a_proposal_is_kept_exactly_as_often_as_it_should(law, truth, cell_bits, slope):
    sampler = StaircaseSampler(exact.remembering(law), cell_bits, 2, prefix_bits=3, word_bits=5)
    checked = 0
    for v in range(sampler.first, 2):
        for low in range(1 << cell_bits):

            def draw(v=v, low=low) -> int:
                if slope:
                    return int(sampler.accepts_quickly(v, low, stream()))
                return int(sampler.accepts(v, low, stream(), slope=False))

            masses, unsettled = exact.tree(draw, 14 if slope else 15)
            x = v * (1 << cell_bits) + low
            yes = exact.exactly(lambda v=v, x=x: acceptance(sampler, truth, v, x, slope))
            assert masses.get(1, 0) <= yes[1]
            assert masses.get(0, 0) <= 1 - yes[0]
            assert unsettled < Fraction(1, 8)
            checked += 1
    assert checked == sampler.count << cell_bits


def round_of(sampler, truth, monkeypatch, always_keep_tails=False):
    """Every way through one round of the staircase, each primitive decision taken with its exact probability."""
    choices = exact.Choices()

    def yes_or_no(chance) -> bool:
        return choices.choose([chance, 1 - chance]) == 0

    def first_few(conditional, _bits, _step) -> int:
        sums = [to_ball(0)] + [conditional(j) for j in range(6)]
        return choices.choose([b - a for a, b in pairwise(sums)])

    def outcome(_bits) -> int:
        sums = [to_ball(0), *sampler.cumulative(), to_ball(1)]
        return choices.choose([b - a for a, b in pairwise(sums)])

    def keep(v, low, _bits, slope=True) -> bool:
        if always_keep_tails and not slope:
            return True
        return yes_or_no(acceptance(sampler, truth, v, v * sampler.width + low, slope))

    monkeypatch.setattr(staircase, "lazy_index", first_few)
    monkeypatch.setattr(staircase, "below", lambda chance, _bits, step: yes_or_no(chance()))
    monkeypatch.setattr(sampler.table, "draw_one", outcome)
    monkeypatch.setattr(sampler, "accepts_quickly", keep)
    monkeypatch.setattr(sampler, "accepts", keep)
    return choices.every_way(lambda: sampler.propose(choices))


@pytest.mark.parametrize(("law", "truth"), STAIRS, ids=STAIR_NAMES)
@pytest.mark.parametrize(("cell_bits", "cells"), [(0, 1), (0, 3), (1, 2), (2, 1), (3, 1)])
@pytest.mark.parametrize("planted", [False, True])
def test_a_round_of_the_staircase_is_proportional_to_the_law(law, truth, cell_bits, cells, planted, monkeypatch):
    """Kept outcomes have one factor to the law, in the table and beyond it. Planted: tails "kept as accepted"."""
    sampler = StaircaseSampler(exact.remembering(law), cell_bits, cells)
    with precision(2000):  # the outermost cells weigh less than 2^-400
        masses = round_of(sampler, truth, monkeypatch, always_keep_tails=planted)
        reached = [x for x in masses if x is not None]
        assert max(reached) == ((cells + 6) << cell_bits) - 1
        assert min(reached) == (-((cells + 6) << cell_bits) if law.two_sided else 0)
        factors = [masses[x] / truth(x) for x in reached]
        fits = [abs(factor - factors[0]) < factors[0] * arb((1, -150)) for factor in factors]
    assert all(fits) != (planted and cell_bits + law.rounded > 0)


def test_exact_multiples_of_the_word_size_are_settled():
    # rate ln 3 makes q one third and F(-1) = 1/4: no precision can certify a floor there
    sampler = DirectSampler(DiscreteLaplace(rate=ln(3)), 3, prefix_bits=4, word_bits=6)
    masses, unsettled = exact.tree(sampler.one, depth=18)
    exact.assert_law(masses, unsettled, lambda x: exact.ball(Fraction(1, 2) / 3 ** abs(x)))
    assert unsettled < Fraction(1, 2**5)


@pytest.mark.parametrize("p", [Fraction(1, 3), Fraction(1, 2), Fraction(63, 64), Fraction(1, 1000)])
def test_below_has_exactly_its_probability(p):
    def draw() -> int:
        return int(below(lambda: to_ball(p), stream(), step=3))

    masses, unsettled = exact.tree(draw, depth=15)
    exact.assert_law(masses, unsettled, lambda x: exact.ball(p if x else 1 - p))
    assert unsettled <= Fraction(2, 2**15)


def test_lazy_index_covers_an_unbounded_law():
    def draw() -> int:
        return lazy_index(lambda j: 1 - to_ball(Fraction(2, 3) ** (j + 1)), stream(), step=4)

    masses, unsettled = exact.tree(draw, depth=16)
    assert len(masses) > 12
    exact.assert_law(masses, unsettled, lambda x: exact.ball(Fraction(1, 3) * Fraction(2, 3) ** x))


@pytest.mark.parametrize("bound", [1, 2, 3, 5, 7, 8])
def test_uniform_integers_have_no_bias(bound):
    masses, unsettled = exact.tree(lambda: uniform(bound), depth=15)
    assert set(masses) == set(range(bound))
    exact.assert_law(masses, unsettled, lambda _: exact.ball(Fraction(1, bound)))
    assert len(set(masses.values())) == 1


@pytest.mark.parametrize("weights", [[1], [3, 1], [0, 2, 3, 0], [1, 1, 4]])
def test_weighted_choices_have_their_weights(weights):
    masses, unsettled = exact.tree(lambda: weighted(weights), depth=15)
    assert set(masses) == {i for i, weight in enumerate(weights) if weight}
    exact.assert_law(masses, unsettled, lambda i: exact.ball(Fraction(weights[i], sum(weights))))


# -- the tables that users get, checked entry by entry against balls -------------------------------------------


def table_faults(table: CumulativeTable, truth: list[tuple[Fraction, Fraction]]) -> int:
    """How many entries of a table contradict the cumulative law, given as (lower, upper) for each outcome."""
    faults = 0
    words = [int(word) for word in table.words]
    assert words == table.floors
    assert words == sorted(words)
    for floor, (low, high) in zip(words, truth, strict=True):
        faults += not (floor <= low * 2**64 and high * 2**64 < floor + 2)
    bounds = [(Fraction(0), Fraction(0)), *truth, (Fraction(1), Fraction(1))]
    for prefix, value in enumerate(table.lookup.tolist()):
        if value != UNDECIDED:
            outcome = value + table.offset
            inside = bounds[outcome][1] * 2**16 <= prefix and prefix + 1 <= bounds[outcome + 1][0] * 2**16
            faults += not (inside and outcome < table.plain)
    return faults


def cumulative(law, values) -> list[tuple[Fraction, Fraction]]:
    low = high = Fraction(0)
    result = []
    for value in values:
        mass = exact.exactly(lambda x=value: law(x))
        low, high = low + mass[0], high + mass[1]
        result.append((low, high))
    return result


PRODUCTION = [
    (DiscreteLaplace(Fraction(1, 2**20)), exact.laplace(Fraction(1, 2**20))),
    (DiscreteLaplace(1), exact.laplace(Fraction(1))),
    (DiscreteLaplace(10), exact.laplace(Fraction(10))),
    (OneSidedGeometric(10), exact.geometric(Fraction(10))),
    (RoundedGaussian(Fraction(1, 2**20)), exact.rounded(Fraction(1, 2**40))),
    (RoundedGaussian("0.3"), exact.rounded(Fraction(9, 100))),
    (RoundedGaussian(10), exact.rounded(Fraction(100))),
    (RoundedGaussian(100), exact.rounded(Fraction(10000))),
    (DiscreteNormal("0.09"), exact.gaussian(Fraction(9, 100))),
    (DiscreteNormal(100), exact.gaussian(Fraction(100))),
]


@pytest.mark.parametrize(("law", "truth"), PRODUCTION, ids=[repr(law) for law, _ in PRODUCTION])
def test_direct_tables_hold_the_law(law, truth):
    sampler = law.sampler()
    assert isinstance(sampler, DirectSampler)
    values = range(sampler.lowest, sampler.reach + 1)
    assert table_faults(sampler.table, cumulative(truth, values)) == 0
    decided = np.mean(sampler.table.lookup != UNDECIDED)
    assert decided > 0.97


LARGE = [
    DiscreteLaplace(1000),
    DiscreteLaplace(2**60),
    OneSidedGeometric(10**6),
    RoundedGaussian(1000),
    RoundedGaussian(2**60),
    DiscreteNormal(10**6),
    DiscreteNormal(2**120),
]


def staircase_weights(law: Law, sampler: StaircaseSampler) -> list[tuple[Fraction, Fraction]]:
    """The cumulative weights of levels and slopes, from the definition: the largest and smallest weight of a cell."""
    width, half = sampler.width, Fraction(1, 2)

    def weight(point: Fraction):
        if law.rounded or isinstance(law, DiscreteNormal):
            return (-exact.ball(point * point / (2 * law.sigma2))).exp()
        return (-(law.rate.ball() * exact.ball(abs(point)))).exp()

    with precision(exact.BITS):
        levels, slopes, far_away = [], [], 4 * sampler.cells
        for v in range(sampler.first, sampler.cells):
            edges = [Fraction(v * width), Fraction((v + 1) * width)]
            if law.rounded:
                edges = [edge - half for edge in edges]
            elif v < 0:
                edges = [edge - 1 for edge in edges]
            near, far = sorted(edges, key=abs)
            top = weight(Fraction(0) if edges[0] < 0 < edges[1] else near)
            levels.append(weight(far))
            slopes.append(top - levels[-1])
        beyond = to_ball(0)
        if isinstance(law, (RoundedGaussian, DiscreteNormal)):
            shifts = (-half, half) if law.rounded else (Fraction(0), Fraction(1))
            for shift in shifts:
                for ring in range(sampler.cells, far_away):
                    beyond += weight(ring * width + shift)
        else:
            first = weight(Fraction(sampler.cells * width))
            beyond = first / (1 - weight(Fraction(width)))
            if law.two_sided:
                beyond *= 1 + weight(Fraction(1))
        total = sum(levels + slopes, start=beyond)
        sums, running = [], to_ball(0)
        for part in levels + slopes:
            running += part
            sums.append(running / total)
        from dither.numeric.balls import ends

        return [ends(ball) for ball in sums]


@pytest.mark.parametrize("law", LARGE, ids=repr)
def test_staircase_tables_hold_the_law(law):
    sampler = law.sampler()
    assert isinstance(sampler, StaircaseSampler)
    assert table_faults(sampler.table, staircase_weights(law, sampler)) == 0
    levels = np.mean(sampler.table.lookup != UNDECIDED)
    assert levels > 0.93


def test_a_shifted_table_is_caught():
    law, truth = DiscreteLaplace(10), exact.laplace(Fraction(10))
    right = DirectSampler(law, 312)
    values = range(-312, 313)
    wrong = DirectSampler(law, 312)
    wrong.table = CumulativeTable(lambda: [*right.cumulative()[1:], to_ball(1)], plain=right.plain, offset=312)
    assert table_faults(right.table, cumulative(truth, values)) == 0
    assert table_faults(wrong.table, cumulative(truth, values)) > 100
    # and by the tree, where one word of 64 is off
    small = DirectSampler(DiscreteLaplace(2), 4, prefix_bits=4, word_bits=6)
    small.table.floors[3] += 1
    masses, unsettled = exact.tree(small.one, depth=18)
    with pytest.raises(AssertionError):
        exact.assert_law(masses, unsettled, exact.laplace(Fraction(2)))


# -- the fast path takes the same decisions as the slow one ----------------------------------------------------


class Played:
    """A stream that plays arrays, then words, as the vector path asks for them."""

    def __init__(self, fills, words, bits=()):
        self._fills, self._words, self._bits = list(fills), list(words), list(bits)

    def fill(self, buffer):
        buffer[:] = self._fills.pop(0)

    def words(self, count):
        return np.array(self._words[:count], dtype=np.uint64)

    def bits(self, count):
        return self._bits.pop(0)


@pytest.mark.parametrize(("law", "_truth"), LAWS[:4], ids=NAMES[:4])
def test_vector_draws_follow_the_scalar_rule_for_every_prefix(law, _truth):
    table = law.sampler().table
    prefixes = np.arange(2**16, dtype=np.uint16)
    rest = np.random.default_rng(5).integers(0, 2**64, 2**16, dtype=np.uint64)
    values, special = table.draw(2**16, Played([prefixes], rest))
    open_prefixes = np.flatnonzero(table.lookup == UNDECIDED)
    for at, prefix in enumerate(open_prefixes):
        word = (int(prefix) << 48) | (int(rest[at]) >> 16)
        outcome = table.draw_one(Played([], [], [word]))
        if outcome < table.plain:
            assert values[prefix] == outcome - table.offset
        else:
            assert prefix in special.positions
    settled = np.flatnonzero(table.lookup != UNDECIDED)
    for prefix in settled[::37]:
        for word in (int(prefix) << 48, (int(prefix) << 48) + 2**48 - 1):
            assert table.draw_one(Played([], [], [word])) - table.offset == values[prefix]


def test_every_word_next_to_a_boundary_goes_to_refinement():
    table = DiscreteLaplace(10).sampler().table
    floors = np.array(sorted(set(table.floors)), dtype=np.uint64)
    floors = floors[(floors > 2) & (floors < 2**64 - 8)]
    assert floors.size > 500
    for shift, settled in ((-1, None), (0, False), (1, False), (2, None)):
        words = floors + np.uint64(shift) if shift >= 0 else floors - np.uint64(-shift)
        decided = table.search(words)[1]
        if settled is False:
            assert not decided.any()
    # two words away from every floor nothing is open
    far = floors[:-1][np.diff(floors) > 8] + np.uint64(4)
    assert far.size > 100
    assert table.search(far)[1].all()


@pytest.mark.parametrize("law", [DiscreteLaplace(40), RoundedGaussian(30), DiscreteNormal(900)], ids=repr)
def test_the_integer_bracket_agrees_with_balls(law):
    """Every slope that integers settle is settled the same way by balls, for all fractions of the cell."""
    sampler = StaircaseSampler(law, 2, 8, prefix_bits=8, word_bits=8)
    settled = 0
    for v in (-8, -3, -2, -1, 0, 1, 2, 7):
        for low in range(4):
            for a in range(256):
                for u in (0, 97, 255) if law.rounded else (0,):
                    assert sampler.fraction_bits in (0, 8)
                    quick = Played([], [], [a, u])
                    try:
                        answer = sampler.accepts_quickly(v, low, quick)
                    except IndexError:
                        continue  # integers could not tell: more bits were asked for
                    settled += 1
                    for tail in (0, 255):
                        played = Played([], [], [tail] * 40)
                        assert sampler.accepts(v, low, played, a, 8, u, sampler.fraction_bits) == answer
    assert settled > 5_000


def test_slack_is_wide_enough_and_a_narrow_one_is_caught():
    law = RoundedGaussian(30)
    sampler = StaircaseSampler(law, 4, 8)
    outside = 0
    for planted in (False, True):
        slack = [0 if planted else s for s in sampler.slack_list]
        outside = 0
        with precision(128):
            for v in range(-8, 8):
                near, far = law.weight(sampler.edge(v)), law.weight(sampler.edge(v, 1))
                for step in range(0, 17):
                    d = Fraction(step)
                    y = abs(v * 16 - Fraction(1, 2) + d) if v >= 0 else abs((v + 1) * 16 - Fraction(1, 2) - d)
                    ratio = (law.weight(y) - far) / (near - far)
                    gap = abs(ratio - to_ball(1 - d / 16)) * 2**30
                    outside += not gap <= slack[v + 8] + 1
        if not planted:
            assert outside == 0
    assert outside > 50


# -- choosing among candidates ----------------------------------------------------------------------------------


def softmax(scores, rate):
    def mass(i):
        weights = [(exact.ball(Fraction(rate) * score)).exp() for score in scores]
        return weights[i] / sum(weights, start=to_ball(0))

    return mass


@pytest.mark.parametrize(
    ("scores", "rate"),
    [([0, 1, 2], 1), ([5, 5, 4, 1], Fraction(1, 2)), ([0, -3, -9, -9], Fraction(2, 3)), ([7], 1)],
)
def test_categorical_assigns_exactly_the_law(scores, rate, monkeypatch):
    monkeypatch.setattr(cell_sampler, "CumulativeTable", partial(CumulativeTable, prefix_bits=4, word_bits=6))
    masses, unsettled = exact.tree(Categorical(scores, rate=rate).sample, depth=18)
    exact.assert_law(masses, unsettled, softmax(scores, rate))
    assert unsettled < Fraction(1, 2**5)


def test_categorical_with_wide_cells_and_a_tail_assigns_exactly_the_law(monkeypatch):
    monkeypatch.setattr(cell_sampler, "MOST_CELLS", 4)
    monkeypatch.setattr(cell_sampler, "TAIL_BITS", 1)
    monkeypatch.setattr(cell_sampler, "GUARD_BITS", -64)  # so that the tail is summed in full at once
    scores, rate = [0, -1, -2, -3, -5, -7, -9, -14, -15, -15], Fraction(1, 2)
    sampler = CellSampler(np.array([-score for score in scores], dtype=np.uint64), Number(rate))
    assert sampler.cell_bits > 0
    assert sampler.plain < sampler.present.size
    choices = exact.Choices()

    def outcome(_bits) -> int:
        sums = [to_ball(0), *sampler.cumulative(), to_ball(1)]
        return choices.choose([b - a for a, b in pairwise(sums)])

    def index(conditional, _bits) -> int:
        sums = [to_ball(0)] + [conditional(j) for j in range(len(sampler.tail_gaps[0]))]
        return choices.choose([b - a for a, b in pairwise(sums)])

    def yes_or_no(chance, *_start) -> bool:
        return choices.choose([chance(), 1 - chance()]) == 0

    monkeypatch.setattr(cell_sampler, "lazy_index", index)
    monkeypatch.setattr(cell_sampler, "below", yes_or_no)
    monkeypatch.setattr(cell_sampler, "uniform_one", lambda m, _bits: choices.choose([exact.ball(Fraction(1, m))] * m))
    monkeypatch.setattr(sampler.table, "draw_one", outcome)
    with precision(exact.BITS):
        masses = choices.every_way(lambda: sampler.propose_one(choices))
        assert set(masses) == {None, *range(len(scores))}
        truth = softmax(scores, rate)
        factors = [masses[i] / truth(i) for i in range(len(scores))]
        assert all(abs(factor - factors[0]) < factors[0] * arb((1, -150)) for factor in factors)


def test_bernoulli_prefix_rule_for_every_byte():
    for p in (Fraction(1, 3), Fraction(1, 2), Fraction(255, 256), Fraction(1, 10**9)):
        coin = Bernoulli(p)
        low, high = coin._table.undecided_prefixes()
        assert high - low <= 1
        for byte in range(256):
            if byte < low:
                assert Fraction(byte + 1, 256) <= p
            elif byte > high:
                assert Fraction(byte, 256) >= p
