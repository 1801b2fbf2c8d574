"""Choices in many rows at once: where the bits of a draw decide, at every edge; rough weights; and that doubt is settled."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest
from flint import arb

from dither.mechanisms.selection.exponential import Exponential
from dither.mechanisms.selection.permute_and_flip import PermuteAndFlip
from dither.noise import row_choices
from dither.noise.entropy import swapped
from dither.noise.row_choices import flipped_rows, weighted_rows
from dither.numeric.balls import precision
from dither.numeric.enclosure import to_ball
from dither.numeric.number import Number, ln
from dither.testing import outcomes, seeded

pytestmark = pytest.mark.filterwarnings("ignore:NOT PRIVATE")
RATES = [Number("1/10"), ln(3), Number(2), Number("1e-9"), Number(2**20), Number(Fraction(1, 2**60))]
ROWS = [
    [0],
    [0, 0, 0],
    [3, 0, 1, 2],
    [0, 10**9, 2 * 10**9],
    [1, 0, 2**63 - 2],
    [5, 4, 3, 2, 1, 0, 1, 2, 3, 4],
    [0, 700, 701, 2**62],
]


FOLLOWING = [0x0123456789ABCDEF, 0xFEDCBA9876543210]  # bits after the first; plain patterns for ever may lie on an edge


class Words:
    """Bits that are written down: words in order, and what fills arrays; then one word for ever."""

    def __init__(self, words=(), filled=None, then=0):
        self.left, self.filled, self.then, self.taken = list(words), filled, then, 0

    def word(self):
        self.taken += 1
        return self.left.pop(0) if self.left else self.then

    def words(self, count):
        return np.array([self.word() for _ in range(count)], dtype=np.uint64)

    def bits(self, count):
        return self.word() >> (64 - count)

    def fill(self, buffer):
        buffer.reshape(-1)[:] = self.filled


def exact(gaps, rate, word, then):
    """The outcome of inversion by 400 bits, for the real whose bits are `word` and, for ever, those of `then`."""
    with precision(400):
        weights = [(-(to_ball(rate) * gap)).exp() for gap in gaps]
        running = list(accumulate(weights))
        real = word << 192 | then << 128 | then << 64 | then
        for place, reached in enumerate(running):
            if running[-1] * real < reached * (1 << 256):
                return place
    raise AssertionError("no outcome")


def edges(gaps, rate):
    """The words around each edge between two outcomes, and a few others."""
    with precision(400):
        weights = [(-(to_ball(rate) * gap)).exp() for gap in gaps]
        running = list(accumulate(weights))
        floors = {int((reached / running[-1] * (1 << 64)).floor().unique_fmpz() or 2**64) for reached in running[:-1]}
    near = {floor + off for floor in floors for off in (-(2**30), -2, -1, 0, 1, 2, 2**30)}
    return sorted(word for word in near | {0, 2**63, 2**64 - 1} if 0 <= word < 2**64)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("gaps", ROWS)
def test_a_weighted_choice_is_the_exact_inversion_on_both_sides_of_every_edge(gaps, rate):
    """The outcome rises with the word, so its law is known from where it changes."""
    table = np.array([gaps], dtype=np.uint64)
    for word in edges(gaps, rate):
        for then in FOLLOWING:
            with swapped(Words([word], then=then)):
                assert weighted_rows(table, rate).tolist() == [exact(gaps, rate, word, then)], (word, then)


def test_doubt_is_settled_by_the_same_bits_and_only_where_there_is_some(monkeypatch):
    settled = []
    plain = row_choices.by_balls
    monkeypatch.setattr(row_choices, "by_balls", lambda *args: settled.append(args[1]) or plain(*args))
    gaps, taken = [3, 0, 1, 2], []
    for word in edges(gaps, RATES[0]):
        source = Words([word], then=FOLLOWING[0])
        with swapped(source):
            weighted_rows(np.array([gaps], dtype=np.uint64), RATES[0])
        taken.append(source.taken)
    assert sorted(taken)[-5:] == [1, 2, 2, 2, 2], "more bits for the words on the three edges and at the end, and no others"
    assert 10 < len(settled) < len(edges(gaps, RATES[0]))
    with seeded(1):
        settled.clear()
        weighted_rows(np.tile(np.array(gaps, dtype=np.uint64), (5000, 1)), RATES[0])
    assert not settled


@pytest.mark.parametrize("rate", RATES)
def test_rough_weights_are_as_near_as_the_proof_says(rate):
    rough = row_choices._rough_weights(rate)
    rng = np.random.default_rng(1)
    gaps = np.unique(np.concatenate([rng.integers(0, 2**k, 40, dtype=np.uint64) for k in range(1, 64)])).tolist()
    gaps += [rough.furthest + off for off in (-1, 0, 1) if rough.furthest + off < 2**63]
    found = rough.of(np.array(gaps, dtype=np.uint64)).tolist()
    with precision(200):
        for gap, weight in zip(gaps, found, strict=True):
            true = (-(to_ball(rate) * gap)).exp()
            assert abs(arb(weight) - true) <= true * arb((1, -45)) + arb((1, -72)), gap


@pytest.mark.parametrize("rate", [Number("1/10"), ln(3), Number(4)])
@pytest.mark.parametrize("gap", [1, 3, 7, 40])
def test_of_two_the_second_passes_for_exactly_its_share_of_first_bits(gap, rate):
    """Rows of a best candidate and another, one row for each 16 bits: all below the probability pass, none above, and
    the one that leaves it open is decided by what follows."""
    size = 2**16
    table = np.tile(np.array([0, gap], dtype=np.uint64), (size, 1))
    filled = np.stack([np.full(size, 65535), np.arange(size)], axis=1).astype(np.uint16)
    with precision(300):
        scaled = (-(to_ball(rate) * gap)).exp() * size
        whole = int(scaled.floor().unique_fmpz())
    for then, more in ((0, 1), (2**64 - 1, 0)):  # the smallest bits to follow: below; the largest: above
        passed = passes(table, rate, filled, then)
        assert np.flatnonzero(passed).tolist() == list(range(whole + more))


def passes(table, rate, filled, then):
    """Which second candidates are chosen when the last of those that pass is."""
    source = Words([], then=then)
    chunk = row_choices.AT_ONCE // table.shape[1]
    chosen = []
    for start in range(0, len(table), chunk):
        part = slice(start, start + chunk)
        source.filled = filled[part].reshape(-1)
        with swapped(source), pytest.MonkeyPatch.context() as patch:
            patch.setattr(row_choices, "uniform_each", lambda numbers, bits: numbers - 1)
            chosen.append(flipped_rows(table[part], rate))
    return np.concatenate(chosen) == 1


@pytest.mark.parametrize("kind", [Exponential, PermuteAndFlip])
@pytest.mark.parametrize("places", [[0, -1, -4, 0, -2], [-7, -90, 0, -1]])
def test_draws_in_rows_have_the_law_of_single_ones(kind, places):
    mechanism = kind(epsilon=1, sensitivity=1, candidates=len(places), integers=True)
    (law,) = mechanism.channel([places]).rows
    size = 40_000
    with seeded(7):
        drawn = Counter(mechanism.choices(np.tile(np.array(places), (size, 1))).tolist())
    for place, chance in enumerate(map(float, law)):
        assert abs(drawn[place] - size * chance) <= 6 * (size * chance * (1 - chance)) ** 0.5 + 1e-9


@pytest.mark.parametrize("kind", [Exponential, PermuteAndFlip])
def test_rehearsed_rows_are_drawn_one_by_one(kind):
    mechanism = kind(epsilon=2, sensitivity=1, candidates=2, integers=True)
    rows = [[0, -1], [-3, 0]]
    law = outcomes(lambda value: tuple(mechanism.choices(np.array(value)).tolist()), rows)
    each = [[float(chance) for chance in row] for row in mechanism.channel(rows).rows]
    for one in (0, 1):
        for two in (0, 1):
            low, high = law.probability((one, two))
            assert low - 1e-12 <= each[0][one] * each[1][two] <= high + 1e-12
