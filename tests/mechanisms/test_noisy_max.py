"""Noisy max with its gap: every tie pattern for two to four candidates, in rationals."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from dither import NoisyMax, ln, pure
from dither.errors import BrokenPromise, SizeError
from dither.testing import check_mechanism, outcomes

HALF, REACH = Fraction(1, 2), 70  # q = 1/2: what lies beyond the reach is below 2^-60


def pmf(x):
    return Fraction(1, 3) * HALF ** abs(x)


def cdf(x):
    return 1 - Fraction(1, 3) * HALF**x if x >= 0 else Fraction(2, 3) * HALF**-x


def law(scores, gaps):
    """P(i wins, gap g), by summing over the level m that the others leave for i."""
    result = {}
    for i, mine in enumerate(scores):
        below = [Fraction(1)] * (2 * REACH + 2)
        for at in range(2 * REACH + 2):
            m = at - REACH - 1
            for j, other in enumerate(scores):
                if j != i:
                    below[at] *= cdf(m - other - (1 if j < i else 0))
        for g in gaps:
            result[i, g] = sum((below[at + 1] - below[at]) * pmf(at - REACH + g - mine) for at in range(2 * REACH + 1))
    return result


GAPS = (0, 1, 2, 5)
TINY = Fraction(1, 2**55)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_every_tie_pattern_and_every_move(n):
    """Rate ln 2 and moves of one step: e^epsilon = 4; monotone moves: 2."""
    patterns = [s for s in product(range(3 if n < 4 else 2), repeat=n) if min(s) == 0]
    laws = {}
    for scores in patterns:
        for move, most in [(m, 4) for m in product((-1, 0, 1), repeat=n)] + [(m, 2) for m in product((0, 1), repeat=n)]:
            if n == 4 and (sum(move) + sum(scores)) % 3:
                continue  # a third of them
            pair = [scores, tuple(s + m for s, m in zip(scores, move, strict=True))]
            for key in pair:
                low = min(key)
                shifted = tuple(s - low for s in key)  # only differences matter
                if shifted not in laws:
                    laws[shifted] = law(shifted, GAPS)
            p, q = (laws[tuple(s - min(key) for s in key)] for key in pair)
            for output in p:
                assert p[output] <= most * q[output] + TINY
                assert q[output] <= most * p[output] + TINY


def test_the_plain_difference_would_not_do():
    """Ties to the first listed, and the plain difference as the gap: at a tie of several it costs more than e^epsilon."""

    def plain(scores):
        chances = {}
        for noise in product(range(-14, 15), repeat=3):
            values = [s + x for s, x in zip(scores, noise, strict=True)]
            winner = values.index(max(values))
            gap = values[winner] - max(v for j, v in enumerate(values) if j != winner)
            if gap == 0:
                mass = pmf(noise[0]) * pmf(noise[1]) * pmf(noise[2])
                chances[winner] = chances.get(winner, Fraction(0)) + mass
        return chances

    worst = max(plain((s, 0, 0))[1] / plain((s + 1, -1, -1))[1] for s in (0, 1, 2))
    assert worst > 4


def test_releases_have_this_law():
    for scores in ((0, 0), (1, 0), (0, 2), (0, 0, 0), (1, 0, 1)):
        mechanism = NoisyMax(epsilon=2 * ln(2), sensitivity=1, candidates=len(scores), step=1)
        found = outcomes(mechanism.release, list(scores), cutoff="1e-7" if len(scores) == 2 else "1e-5")
        for (winner, gap), chance in law(scores, GAPS).items():
            low, high = found.probability((winner, float(gap)))
            assert low <= float(chance) + 1e-15
            assert float(chance) <= high + 1e-15
        assert float(found.missing.upper()) < 0.02


class PlainGap(NoisyMax):
    """The difference to the runner-up, ties to the first listed."""

    def _choose(self, places):
        noisy = places + self.law.sample(self.size)
        winner = int(np.argmax(noisy))
        return winner, float(noisy[winner] - max(v for j, v in enumerate(noisy) if j != winner))


class HalfTheNoise(NoisyMax):
    rate = property(lambda self: self.epsilon / self.reach)


CASES = [
    NoisyMax(epsilon=5, sensitivity=1, candidates=2, step=1),
    NoisyMax(epsilon=6, sensitivity="0.7", candidates=["a", "b"], step="0.5"),
    NoisyMax(epsilon=4, sensitivity=1, candidates=2, step=1, monotone=True),
    NoisyMax(epsilon=9, sensitivity=1, candidates=3, step=1),
]


@pytest.mark.parametrize("mechanism", CASES, ids=repr)
def test_conforms(mechanism):
    check_mechanism(mechanism, cutoff="1e-8" if mechanism.size == 2 else "1e-7")


def test_planted_bugs_are_caught():
    with pytest.raises(BrokenPromise, match="is false"):
        check_mechanism(HalfTheNoise(epsilon=4, sensitivity=1, candidates=2, step=1), cutoff="1e-8")
    pairs = [([0, 0, 0], [1, -1, -1]), ([1, 0, 0], [2, -1, -1]), ([2, 0, 0], [3, -1, -1])]
    with pytest.raises(BrokenPromise, match="is false"):
        check_mechanism(PlainGap(epsilon=3, sensitivity=1, candidates=3, step=1), pairs=pairs, cutoff="1e-7")
    check_mechanism(NoisyMax(epsilon=3, sensitivity=1, candidates=3, step=1), pairs=pairs, cutoff="1e-6")


def test_what_comes_out():
    mechanism = NoisyMax(epsilon=100, sensitivity=1, candidates=["a", "b", "c"])
    winner, gap = mechanism.release([1, 9, 3])
    assert winner == "b"
    assert abs(gap - 6) < 1
    assert mechanism.guarantee == pure(100)
    assert NoisyMax(epsilon=1, sensitivity=1, candidates=10**5).release(np.arange(10**5))[0] > 99_000
    with pytest.raises(SizeError, match="somebody to win against"):
        NoisyMax(epsilon=1, sensitivity=1, candidates=1)
    found = NoisyMax.for_error(20, 0.95, sensitivity=1, candidates=5)
    assert found.error(0.95) <= 20
