"""Above threshold: enumerated in full, and the classic mistakes."""

from __future__ import annotations

import copy
import math
import pickle
import sys
import threading
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from dither import AboveThreshold, Unit, ln, pure
from dither.errors import BrokenPromise, BudgetError, InputError, UnitError
from dither.mechanisms.additive.additive import half_width
from dither.mechanisms.combine import each_of
from dither.mechanisms.threshold.above_threshold import NoisyThreshold
from dither.noise import DiscreteLaplace
from dither.testing import check_mechanism, outcomes

CASES = [
    (AboveThreshold(epsilon=6, sensitivity=1, threshold=0, integers=True), "1e-9"),
    (AboveThreshold(epsilon=8, sensitivity=1, threshold=3, count=2, integers=True, queries=2), "1e-8"),
    (AboveThreshold(epsilon=4, sensitivity=1, threshold=0, integers=True, monotone=True), "1e-8"),
    (AboveThreshold(epsilon=8, sensitivity="0.7", threshold="1.3", step="0.5"), "1e-8"),
]


@pytest.mark.parametrize(("mechanism", "cutoff"), CASES, ids=repr)
def test_conforms(mechanism, cutoff):
    check_mechanism(mechanism, cutoff=cutoff)


# -- exactly, with closed forms: P(output) = sum over the threshold's noise of products of tails and masses ------------


def pmf(rate, x):
    q = np.exp(-rate)
    return (1 - q) / (1 + q) * q ** np.abs(x)


def below(rate, x):
    """P(N < x)."""
    q = np.exp(-rate)
    return np.where(x <= 0, q ** (1.0 - np.minimum(x, 0)) / (1 + q), 1 - q ** np.maximum(x, 0) / (1 + q))


NOISE = np.arange(-80, 81)


def chance(mechanism, values, output):
    """P(output) for whole values; an output is a list of gaps and Nones."""
    term, rate = pmf(float(mechanism.threshold_law.rate), NOISE), float(mechanism.answer_law.rate)
    for value, gap in zip(values, output, strict=False):
        level = int(mechanism.threshold) + NOISE - value
        term = term * (below(rate, level) if gap is None else pmf(rate, level + gap))
    return float(term.sum())


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("count", [1, 2])
def test_every_pattern_of_three_answers(count, monotone):
    mechanism = AboveThreshold(epsilon=2 * ln(2), sensitivity=1, threshold=0, count=count, integers=True, monotone=monotone)
    gaps = (None, 0, 1, 3)
    outputs = [o for o in product(gaps, repeat=3) if sum(g is not None for g in o) <= count]
    moves = (0, 1) if monotone else (-1, 0, 1)
    worst = 0.0
    for values in product((-1, 0, 1), repeat=3):
        before = {o: chance(mechanism, values, o) for o in outputs}
        for move in product(moves, repeat=3):
            after = {o: chance(mechanism, [v + m for v, m in zip(values, move, strict=True)], o) for o in outputs}
            worst = max(worst, *(max(before[o] / after[o], after[o] / before[o]) for o in outputs))
    assert worst <= 4 * (1 + 1e-9)  # e^epsilon
    assert worst > 1.5  # and not far below


def test_releases_have_this_law():
    mechanism = AboveThreshold(epsilon=6, sensitivity=1, threshold=1, count=2, integers=True)
    law = outcomes(mechanism.release, [0, 2, 1], cutoff="1e-8")
    for output in ([None, 0, None], [0, 1], [None, None, None], [2, None, 1]):
        low, high = law.probability(output)
        assert low - 1e-12 <= chance(mechanism, [0, 2, 1], output) <= high + 1e-12


# -- the classic mistakes ----------------------------------------------------------------------------------------------


class NoThresholdNoise(AboveThreshold):
    threshold_law = property(lambda self: DiscreteLaplace(rate=1000))


class NoiseOfOne(AboveThreshold):
    """The noise of one answer for all of them, the threshold's noise not drawn anew."""

    answer_law = property(lambda self: DiscreteLaplace(rate=self.epsilon * (1 - self.share) / (2 * self.reach)))


class NoFactorTwo(AboveThreshold):
    answer_law = property(lambda self: DiscreteLaplace(rate=self.epsilon * (1 - self.share) / (self.count * self.reach)))


def test_a_missing_factor_is_caught():
    with pytest.raises(BrokenPromise, match="is false"):
        check_mechanism(NoFactorTwo(epsilon=6, sensitivity=1, threshold=0, integers=True), cutoff="1e-9")


@pytest.mark.parametrize(
    ("bug", "count", "values", "move", "output"),
    [
        (NoThresholdNoise, 1, [0] * 5, [1] * 5, [None] * 4 + [0]),
        (NoiseOfOne, 2, [3, 3, -3, -3], [1, 1, -1, -1], [None, None, 4, 4]),
        (NoiseOfOne, 3, [3, 3, -3, -3, -3], [1, 1, -1, -1, -1], [None, None, 4, 4, 4]),
    ],
)
def test_the_classic_mistakes_cost_more_than_they_say(bug, count, values, move, output):
    other = [v + m for v, m in zip(values, move, strict=True)]
    for kind, honest in ((AboveThreshold, True), (bug, False)):
        mechanism = kind(epsilon=6, sensitivity=1, threshold=0, count=count, integers=True)
        loss = abs(math.log(chance(mechanism, values, output) / chance(mechanism, other, output)))
        assert (loss <= 6) is honest


# -- use ---------------------------------------------------------------------------------------------------------------


def test_watching():
    mechanism = AboveThreshold(epsilon=1000, sensitivity=1, threshold=100, count=2)
    watch = mechanism.start()
    assert [watch.ask(value) for value in (3, 50.5, 99)] == [None, None, None]
    assert watch.ask(150) == pytest.approx(50, abs=1)
    assert watch.left == 1
    assert watch.ask(float("nan")) is None  # NaN counts as 0
    assert watch.ask(float("inf")) > 10**9
    with pytest.raises(BudgetError, match="all answers"):
        watch.ask(3)
    assert mechanism.release([1, 200, 5, 300, 400])[1] == pytest.approx(100, abs=1)
    assert len(mechanism.release([1, 200, 5, 300, 400])) == 4
    assert mechanism.release([]) == []
    assert len(mechanism.release(np.array([1.0, 2.0]))) == 2
    for wrong in (3, "ab"):
        with pytest.raises(InputError):
            mechanism.release(wrong)
    assert mechanism.guarantee == pure(1000)
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="not copied"):
            copied(NoisyThreshold(mechanism))


def test_two_threads_do_not_share_the_last_answer():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(20):
            watch = AboveThreshold(epsilon=1000, sensitivity=1, threshold=0, count=1).start()
            answers, gate = [], threading.Barrier(8)

            def race(watch=watch, answers=answers, gate=gate):
                gate.wait()
                try:
                    answers.append(watch.ask(100.0))
                except BudgetError:
                    answers.append(None)

            threads = [threading.Thread(target=race) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert sum(answer is not None for answer in answers) == 1
            assert watch.left == 0
    finally:
        sys.setswitchinterval(before)


def test_errors_are_the_sum_of_two():
    mechanism = AboveThreshold(epsilon=ln(2), sensitivity=1, threshold=0, integers=True, queries=3)
    root = each_of("0.9", 2)
    parts = (half_width(mechanism.threshold_law, root, 1), half_width(mechanism.answer_law, root, 3))
    assert mechanism.error("0.9") == sum(parts)
    assert type(mechanism.error("0.9")) is int
    mechanism.start().ask(int(mechanism.threshold) + mechanism.error("0.9"))  # whole answers, so a whole error
    for confidence in ("0.5", "0.9", "0.999"):
        wide = AboveThreshold(epsilon="0.001", sensitivity=3, threshold=5, integers=True, queries=1000, count=4)
        assert wide.error(confidence) == sum(
            half_width(law, each_of(confidence, 2), many) for law, many in ((wide.threshold_law, 1), (wide.answer_law, 1000))
        )
    real = AboveThreshold(epsilon=ln(2), sensitivity=1, threshold=0, step=1, queries=3)
    assert real.reach == 2  # one step to spare
    parts = (half_width(real.threshold_law, root, 1), half_width(real.answer_law, root, 3))
    assert real.error("0.9") == sum(parts) + 1  # two roundings of half a step


def test_the_budget_is_split_and_spent_in_full():
    for count, monotone in product((1, 3, 20, 10**6), (False, True)):
        mechanism = AboveThreshold(epsilon=1, sensitivity=2, threshold=0, count=count, integers=True, monotone=monotone)
        moves = count if monotone else 2 * count
        spent = mechanism.threshold_law.rate * 2 + mechanism.answer_law.rate * 2 * moves
        assert spent == 1
        assert 0 < mechanism.share < 1
    wide = AboveThreshold(epsilon=1, sensitivity=1, threshold=0, queries=1000)
    assert wide.error(0.95) > AboveThreshold(epsilon=1, sensitivity=1, threshold=0).error(0.95)


def test_bad_input_is_refused_with_words():
    for bad in (
        {"epsilon": 0},
        {"sensitivity": 0},
        {"threshold": "nan"},
        {"count": 0},
        {"count": 10**400},
        {"queries": 0},
        {"step": -1},
        {"integers": True, "threshold": "0.5"},
        {"integers": "x"},
    ):
        with pytest.raises(InputError, match="is refused"):
            AboveThreshold(**{"epsilon": 1, "sensitivity": 1, "threshold": 0, **bad})
    with pytest.raises(UnitError):
        AboveThreshold(epsilon=1, sensitivity=1, threshold=0, monotone=True, unit=Unit.REPLACE_ONE)
    for value in ("x", None, True):
        with pytest.raises(InputError):
            AboveThreshold(epsilon=1, sensitivity=1, threshold=0).start().ask(value)
    with pytest.raises(InputError):
        AboveThreshold(epsilon=1, sensitivity=1, threshold=0, integers=True).start().ask(1.5)
    assert Fraction(1) == AboveThreshold(epsilon=1, sensitivity=1, threshold=0, integers=True).step
