"""The textbook's inequalities, against exact noise."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise, product

import pytest

from dither import Gaussian, Laplace, accuracy
from dither.errors import InputError


def test_the_tail_theorem_covers_exact_noise():
    for epsilon, beta, count in product((Fraction(1, 10), 1, 4), ("0.5", "0.05", "0.001"), (1, 10)):
        theorem = accuracy.laplace_half_width(epsilon, beta, count=count)
        mechanism = Laplace(epsilon=epsilon, sensitivity=1, dimension=count)
        assert mechanism.error(1 - Fraction(beta)) <= theorem * 1.0003 + 2 * float(mechanism.step)
        sigma = accuracy.gaussian_half_width(1, beta, count=count)
        assert Gaussian(l2_sensitivity=1, sigma=1, dimension=count).error(1 - Fraction(beta)) <= sigma
    assert math.exp(-3) <= accuracy.laplace_tail(3) < math.exp(-3) * (1 + 1e-12)
    assert accuracy.laplace_tail(0) == 1
    assert accuracy.gaussian_half_width(3, "0.1", count=5) == pytest.approx(3 * math.sqrt(2 * math.log(100)))
    assert abs(accuracy.laplace_half_width(2, "0.05", sensitivity=3, count=4) - 1.5 * math.log(80)) < 1e-12


def test_trust_buys_the_square_root_of_n():
    ratios = [accuracy.deviation_of_survey(1, n) / accuracy.deviation_of_count(1) for n in (100, 10_000, 10**6)]
    assert ratios == pytest.approx([ratios[0], 10 * ratios[0], 100 * ratios[0]])
    # by enumeration: three people, each answer true with probability p, the estimate (yes - n (1 - p)) / (2 p - 1)
    p = math.e / (1 + math.e)
    values = []
    for truth in product((0, 1), repeat=3):
        second = 0.0
        for flips in product((0, 1), repeat=3):
            chance = math.prod(p if not flip else 1 - p for flip in flips)
            yes = sum(t ^ flip for t, flip in zip(truth, flips, strict=True))
            second += chance * ((yes - 3 * (1 - p)) / (2 * p - 1) - sum(truth)) ** 2
        values.append(second**0.5)
    assert values == pytest.approx([accuracy.deviation_of_survey(1, 3)] * 8)
    assert accuracy.deviation_of_count("0.5") == pytest.approx(math.sqrt(8))


def test_privacy_loss_and_error_vanish_together():
    for exponent in (1, "1/2"):
        pairs = [accuracy.both_vanish(10**k, exponent=exponent) for k in (0, 2, 4, 8)]
        assert pairs[0] == (1, 1)
        assert all(after < before for before, after in pairwise(pairs))
    epsilon, scale = accuracy.both_vanish(10_000)
    assert epsilon == pytest.approx(0.01)
    assert scale == pytest.approx(0.01)
    mechanism = Laplace(epsilon="0.01", sensitivity="1/10000")
    assert mechanism.error(1 - Fraction(accuracy.laplace_tail(1))) == pytest.approx(scale, rel=1e-3)


def test_bad_input_is_refused_with_words():
    for call in (
        lambda: accuracy.laplace_tail(-1),
        lambda: accuracy.laplace_half_width(0, "0.1"),
        lambda: accuracy.laplace_half_width(1, 0),
        lambda: accuracy.laplace_half_width(1, 1),
        lambda: accuracy.gaussian_half_width(1, "0.1", count=0),
        lambda: accuracy.deviation_of_count("nan"),
        lambda: accuracy.deviation_of_survey(1, 0),
        lambda: accuracy.both_vanish(0),
        lambda: accuracy.both_vanish(10, exponent=0),
    ):
        with pytest.raises(InputError, match="is refused"):
            call()
