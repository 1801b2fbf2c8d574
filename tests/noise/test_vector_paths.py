"""The fast paths, with every bit scripted: they take the decisions that the slow, proved ones take."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dither.noise import DiscreteLaplace, DiscreteNormal, RoundedGaussian, cell_sampler
from dither.noise import uniform_integers as integers
from dither.noise.cell_sampler import CellSampler
from dither.noise.entropy import swapped
from dither.noise.samplers.large_scale import StaircaseSampler
from dither.noise.samplers.small_scale import DirectSampler
from dither.noise.samplers.table import CHUNK, CumulativeTable, Special, below
from dither.numeric.balls import precision
from dither.numeric.enclosure import to_ball
from dither.numeric.number import Number

MIXED = 0x3333333333333333  # bits for refinement: neither all zeros nor all ones, which would never settle a tie


class Scripted:
    """Plays words and fills in order; single bits for refinement come from a fixed pattern."""

    def __init__(self, words=(), fills=(), pattern=0):
        self._words, self._fills, self._pattern = list(words), list(fills), pattern

    def words(self, count):
        taken, self._words = self._words[:count], self._words[count:]
        assert len(taken) == count, "more words were asked for than the script holds"
        return np.array(taken, dtype=np.uint64)

    def fill(self, buffer):
        buffer[:] = self._fills.pop(0)

    def bits(self, count):
        return self._pattern & ((1 << count) - 1)


@pytest.mark.parametrize("law", [DiscreteLaplace(40), RoundedGaussian(30), DiscreteNormal(900)], ids=repr)
@pytest.mark.parametrize("pattern", [0x3333333333333333, 0xCCCCCCCCCCCCCCCC])
def test_slopes_settled_at_once_agree_with_balls(law, pattern):
    """Every acceptance uniform of 8 bits, every place in a cell of 4, on both sides and at the peak."""
    sampler = StaircaseSampler(law, 2, 8, prefix_bits=8, word_bits=8)
    fractions = sampler.fraction_bits
    cases = [
        (v, low, a, u)
        for v in (-8, -2, -1, 0, 1, 5)
        for low in range(4)
        for a in range(0, 256, 3)
        for u in ((0, 77, 255) if law.rounded else (0,))
    ]
    # The acceptance uniform is the top of its word and the fraction the bottom; the middle must not matter.
    words = [(a << 56) | (0xABCDEF << 24) | u for _, _, a, u in cases]
    lows = np.array([low << 14 for _, low, _, _ in cases], dtype=np.uint16)
    special = Special(np.arange(len(cases)), np.array([v - sampler.first + sampler.count for v, _, _, _ in cases]))
    part = np.full(len(cases), 10**9, dtype=np.int64)
    rejected = set(sampler.settle(part, special, Scripted(words, [lows], pattern)).tolist())
    for at, (v, low, a, u) in enumerate(cases):
        kept = sampler.accepts(v, low, Scripted(pattern=pattern), a, 8, u, fractions)
        assert kept == (at not in rejected), (v, low, a, u)
        assert part[at] == (v * 4 + low if kept else 10**9)


@pytest.mark.parametrize("law", [RoundedGaussian(1000), DiscreteLaplace(1000), DiscreteNormal(10**6)], ids=repr)
def test_slopes_of_production_samplers_agree_with_balls_at_the_edge_of_the_bracket(law):
    sampler = law.sampler()
    one, fractions = sampler.unit, sampler.fraction_bits
    cases = []
    for v in (sampler.first, -3, -1, 0, 2, sampler.cells - 1):
        for low in (0, 1, sampler.width // 2, sampler.width - 1):
            with precision(128):
                near, far = law.weight(sampler.edge(v)), law.weight(sampler.edge(v, 1))
                x = v * sampler.width + low
                g = law.weight(abs(Fraction(x)))
                ratio = float((g - far) / (near - far))
            slack = sampler.slack_list[v - sampler.first]
            for shift in (-slack - 2, -slack, -1, 0, 1, slack, slack + 2):
                a = min(max(int(ratio * one) + shift, 0), one - 1)
                cases.append((v, low, a, (1 << fractions) >> 1))
    words = [(a << (64 - sampler.accept_bits)) | u for _, _, a, u in cases]
    lows = np.array([low << (16 - sampler.cell_bits) for _, low, _, _ in cases], dtype=np.uint16)
    special = Special(np.arange(len(cases)), np.array([v - sampler.first + sampler.count for v, _, _, _ in cases]))
    rejected = set(sampler.settle(np.zeros(len(cases), np.int64), special, Scripted(words, [lows], MIXED)).tolist())
    for at, (v, low, a, u) in enumerate(cases):
        assert sampler.accepts(v, low, Scripted(pattern=MIXED), a, sampler.accept_bits, u, fractions) == (at not in rejected)


@pytest.mark.parametrize(
    "sampler", [DiscreteLaplace(10).sampler(), DiscreteLaplace(1000).sampler()], ids=["direct", "stairs"]
)
def test_values_from_beyond_the_table_land_where_they_belong(sampler, monkeypatch):
    """A special outcome in the second chunk, a rejected one, and the places next to them."""
    calls = []

    def draw(count, _bits):
        calls.append(count)
        last = 2 * sampler.count if isinstance(sampler, StaircaseSampler) else sampler.plain
        places = np.array([1, count - 1] if len(calls) <= 2 else [], dtype=np.intp)
        return np.zeros(count, dtype=np.int16), Special(places, np.full(places.size, last, dtype=np.intp))

    monkeypatch.setattr(sampler.table, "draw", draw)
    tails = iter([1001, 1002, 1003, 1004])
    if isinstance(sampler, DirectSampler):
        monkeypatch.setattr(sampler, "draw_tail", lambda: next(tails))
    else:
        answers = iter([1001, None, 1003, 1004])
        monkeypatch.setattr(sampler, "propose_tail", lambda _bits: next(answers))
        monkeypatch.setattr(sampler, "draw_low", lambda count, _bits: np.zeros(count, dtype=np.int64))
    found = sampler.many(CHUNK + 5)
    assert found[1] == 1001
    assert found[CHUNK - 1] == (1002 if isinstance(sampler, DirectSampler) else 0)  # rejected, then drawn again as 0
    assert found[CHUNK + 1] == 1003
    assert found[CHUNK + 4] == 1004
    assert np.count_nonzero(found) == (4 if isinstance(sampler, DirectSampler) else 3)


def test_open_words_are_refined_in_arrays_too():
    table = DiscreteLaplace(10).sampler().table
    words = [floor + shift for floor in table.floors[100:500:40] for shift in (0, 1)]
    leading = np.array([word >> 48 for word in words], dtype=np.uint16)
    rest = [(word & (2**48 - 1)) << 16 for word in words]
    for pattern in (0, (1 << 64) - 1):
        found = table.extend(leading, Scripted(rest, pattern=pattern))
        expected = [table.refine(word, Scripted(pattern=pattern)) for word in words]
        assert found.tolist() == expected
    low = table.extend(leading, Scripted(rest, pattern=0))
    assert (low != table.extend(leading, Scripted(rest, pattern=(1 << 64) - 1))).any()


def test_each_bound_rejects_what_is_too_large():
    bounds = np.array([1, 2, 3, 5, 6, 1000], dtype=np.int64)
    # words for bounds 2, 3, 5, 6, 1000: the third, fourth and fifth are too large at first and are drawn again
    words = [7, 7, 7 + 8, 6 + 8 * 5, 1001, 2, 4, 5, 999]
    found = integers.uniform_each(bounds, Scripted(words))
    assert found.tolist() == [0, 1, 2, 4, 5, 999]
    every = [integers.uniform_each(np.array([3]), Scripted([word, 0]))[0] for word in range(4)]
    assert every == [0, 1, 2, 0]  # a modulo would give 3 -> 0 by wrapping, and never ask for the second word
    with pytest.raises(AssertionError, match="more words"):
        integers.uniform_each(np.array([3]), Scripted([3]))


def test_a_permutation_with_equal_keys_is_drawn_again():
    with swapped(Scripted([5, 5, 1, 9, 3, 7])):  # type: ignore[arg-type]
        assert integers.permutation(3).tolist() == [1, 2, 0]


def test_proposed_candidates_are_kept_by_their_own_uniform(monkeypatch):
    monkeypatch.setattr(cell_sampler, "MOST_CELLS", 4)
    sampler = CellSampler(np.arange(64, dtype=np.uint64), Number("0.05"))
    assert sampler.cell_bits >= 3
    everyone = np.arange(64)
    cell_at = {int(cell): at for at, cell in enumerate(sampler.present)}
    outcome = np.array([cell_at[int(c)] for c in sampler.cell_of], dtype=np.int16)
    order, begins = sampler.order
    inside = np.array([int(np.flatnonzero(order == c)[0]) - begins[outcome[c]] for c in everyone])
    monkeypatch.setattr(
        sampler.table, "draw", lambda count, _bits: (outcome, Special(np.empty(0, np.intp), np.empty(0, np.intp)))
    )
    monkeypatch.setattr(cell_sampler, "uniform_each", lambda _bounds, _bits: inside)
    kept_share = np.zeros(64)
    grid = np.linspace(0, 2**30 - 1, 60).astype(int)
    for a in grid:
        candidate, kept = sampler.propose(64, Scripted([int(a) << 34] * 64, pattern=MIXED))
        assert candidate.tolist() == everyone.tolist()
        for c in everyone:
            excess = sampler.excess(int(c))
            truth = excess == 0 or below(lambda e=excess: sampler.decay(e), Scripted(pattern=MIXED), int(a), 30)
            assert kept[c] == truth
        kept_share += kept
    assert kept_share.min() < 0.8 * len(grid)  # some are thrown away, as they must be


def test_proposals_from_the_tail_are_replaced(monkeypatch):
    sampler = CellSampler(np.array([0, 1, 500], dtype=np.uint64), Number(1))
    special = Special(np.array([2]), np.array([sampler.plain]))
    monkeypatch.setattr(sampler.table, "draw", lambda count, _bits: (np.zeros(count, dtype=np.int16), special))
    monkeypatch.setattr(sampler, "draw_tail", lambda _bits: 2)
    candidate, kept = sampler.propose(4, Scripted([0] * 8))
    assert candidate.tolist() == [0, 0, 2, 0]
    assert kept.all()


def test_the_rest_of_a_series_is_enclosed():
    """With one term the sum is 1 + e^-50 + ...: the ball must reach beyond 1."""
    law = DiscreteNormal(Fraction(1, 100))
    with precision(400):
        truth = law.series(0, 1)
    with precision(53):
        assert law.series(0, 1).contains(truth.mid())
        assert not to_ball(1).contains(truth.mid())


def test_the_error_of_euler_maclaurin_is_not_understated(monkeypatch):
    from dither.noise import gaussian

    for sigma2 in (Fraction(1, 2), Fraction(1), Fraction(2), Fraction(9, 2)):
        law = DiscreteNormal(sigma2)
        for k in range(12):
            with precision(300):
                monkeypatch.setattr(gaussian, "LARGEST_SUMMED", 2**60)
                truth = law.sum_above(k)
                monkeypatch.setattr(gaussian, "LARGEST_SUMMED", 0)
                enclosed = law.sum_above(k)
                assert enclosed.contains(truth.mid())
                if sigma2 <= 1 and k == 0:  # and it is no wider than it must be by a factor of a thousand
                    assert enclosed.rad() < 1000 * abs(enclosed.mid() - truth.mid())


def test_far_tails_are_relatively_tight():
    law = DiscreteNormal(40_000)
    low, high = law.tail(4_000)
    assert 0 < low <= high <= low * (1 + 1e-12)
    assert law.quantile(1 - Fraction(1, 10**100))[0] == law.quantile(1 - Fraction(1, 10**100))[1]


@pytest.mark.parametrize("exponent", [14, 17, 20])
def test_tails_of_tiny_scales_end(exponent):
    assert abs(RoundedGaussian(Fraction(1, 2**exponent)).sampler().draw_tail()) >= 10


def test_a_table_of_one_boundary_has_two_open_words():
    table = CumulativeTable(lambda: [to_ball(Fraction(1, 2))], plain=2)
    assert table.floors == [2**63]
    assert table.draw_one(Scripted(pattern=2**63 - 1)) == 0
    assert table.draw_one(Scripted(pattern=2**63 + 2)) == 1
