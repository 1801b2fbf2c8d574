"""Noisy max with its gap: every tie pattern for two to four candidates, in rationals."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from dither import NoisyMax, ln, pure
from dither.errors import BrokenPromise, SizeError
from dither.numeric.balls import precision
from dither.numeric.lattice import LARGEST_INDEX
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


def plain_tie(scores, i):
    """P(i wins with a plain difference of 0, ties to the first listed)."""
    total = Fraction(0)
    for m in range(-REACH, REACH + 1):
        before = math.prod((cdf(m - 1 - s) for s in scores[:i]), start=Fraction(1))
        reached = math.prod((cdf(m - s) for s in scores[i + 1 :]), start=Fraction(1))
        missed = math.prod((cdf(m - 1 - s) for s in scores[i + 1 :]), start=Fraction(1))
        total += pmf(m - scores[i]) * before * (reached - missed)
    return total


def test_the_plain_difference_would_not_do():
    """Ties to the first listed, and the plain difference as the gap: with four candidates a tie costs ten, not four."""
    assert plain_tie((1, 1, 0, 0), 2) / plain_tie((2, 2, -1, -1), 2) > 10


def test_releases_have_this_law():
    for scores in ((0, 0), (1, 0), (0, 2), (0, 0, 0), (1, 0, 1)):
        mechanism = NoisyMax(epsilon=2 * ln(2), sensitivity=1, candidates=len(scores), integers=True)
        found = outcomes(mechanism.release, list(scores), cutoff="1e-7" if len(scores) == 2 else "1e-5")
        for (winner, gap), chance in law(scores, GAPS).items():
            low, high = found.probability((winner, gap))
            assert low <= float(chance) + 1e-15
            assert float(chance) <= high + 1e-15
        assert float(found.missing.upper()) < 0.02


class PlainGap(NoisyMax):
    """The difference to the runner-up, ties to the first listed."""

    def _choose(self, places):
        noisy = places + self.law.sample(self.size)
        winner = int(np.argmax(noisy))
        return winner, int(noisy[winner] - max(v for j, v in enumerate(noisy) if j != winner))


class HalfTheNoise(NoisyMax):
    rate = property(lambda self: self.epsilon / self.reach)


CASES = [
    NoisyMax(epsilon=5, sensitivity=1, candidates=2, integers=True),
    NoisyMax(epsilon=8, sensitivity="0.7", candidates=["a", "b"], step="0.5"),
    NoisyMax(epsilon=4, sensitivity=1, candidates=2, integers=True, monotone=True),
    NoisyMax(epsilon=9, sensitivity=1, candidates=3, integers=True),
]


@pytest.mark.parametrize("mechanism", CASES, ids=repr)
def test_conforms(mechanism):
    check_mechanism(mechanism, cutoff="1e-8" if mechanism.size == 2 else "1e-7")


class ClippedAfterTheNoise(NoisyMax):
    """Noisy scores are bounded once more: at the bound ties appear that the proof does not have."""

    def _choose(self, places):
        noisy = np.clip(places + self.law.sample(self.size), -LARGEST_INDEX, LARGEST_INDEX)
        winner = int(np.argmax(noisy))
        rivals = [v + (j < winner) for j, v in enumerate(noisy.tolist()) if j != winner]
        return winner, int(noisy[winner]) - max(rivals)


def test_scores_at_the_end_of_the_lattice():
    top = LARGEST_INDEX
    pairs = [([top, top - 1, top - 1], [top - 1, top, top]), ([10**30, 0, 0], [10**30, 1, 1])]
    check_mechanism(NoisyMax(epsilon=4, sensitivity=1, candidates=3, integers=True), pairs=pairs, cutoff="1e-9")
    with pytest.raises(BrokenPromise, match="is false"):
        check_mechanism(
            ClippedAfterTheNoise(epsilon=4, sensitivity=1, candidates=3, integers=True), pairs=pairs, cutoff="1e-9"
        )


def test_the_bound_on_the_shortfall():
    """n - 1 times P(N - N' >= k + 1), by summing over both."""
    for n, k in product((2, 5), (0, 1, 4)):
        mechanism = NoisyMax(epsilon=2 * ln(2), sensitivity=1, candidates=n, integers=True)
        one = sum(pmf(x) * pmf(y) for x in range(-60, 61) for y in range(-60, x - k))
        with precision(128):
            assert float(mechanism.worst_tail(k, mechanism.rate.ball())) == pytest.approx(float((n - 1) * one), rel=1e-9)


def test_planted_bugs_are_caught():
    with pytest.raises(BrokenPromise, match="is false"):
        check_mechanism(HalfTheNoise(epsilon=4, sensitivity=1, candidates=2, integers=True), cutoff="1e-8")
    pairs = [([1, 1, 0, 0], [2, 2, -1, -1])]
    with pytest.raises(BrokenPromise, match="is false"):
        check_mechanism(PlainGap(epsilon=4, sensitivity=1, candidates=4, integers=True), pairs=pairs, cutoff="1e-9")
    check_mechanism(NoisyMax(epsilon=4, sensitivity=1, candidates=4, integers=True), pairs=pairs, cutoff="1e-9")


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
