"""Direct encoding and the coin flip."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dither import ln
from dither.errors import InputError
from dither.local.surveys.coin_flip import CoinFlip
from dither.local.surveys.direct_encoding import DirectEncoding
from tests.local import suite

DIRECT = [
    DirectEncoding(["a", "b", "c"], epsilon=1),
    DirectEncoding(range(5), epsilon=ln(3)),
    DirectEncoding([(0, 0), (0, 1)], epsilon="0.1"),
]
COINS = [CoinFlip(), CoinFlip(heads="1/3"), CoinFlip(heads="1/4", yes="2/3")]


@pytest.mark.parametrize("survey", DIRECT, ids=repr)
def test_direct_encoding_passes_the_suite(survey):
    suite.check_law(survey, lambda data: survey.domain[int.from_bytes(data, "little")])
    suite.check_promise(survey)
    suite.check_support(survey, lambda output: [output])
    suite.check_wire(survey)
    suite.check_refusals(survey)


@pytest.mark.parametrize("survey", COINS, ids=repr)
def test_the_coin_flip_passes_the_suite(survey):
    suite.check_law(survey, lambda data: data == b"\x01")
    suite.check_promise(survey)
    suite.check_wire(survey)
    suite.check_refusals(survey)


def test_estimates():
    suite.check_estimates(DirectEncoding(range(20), epsilon=2), np.arange(1, 21) / 210)
    suite.check_estimates(CoinFlip(), [0.3, 0.7])
    suite.check_estimates(CoinFlip(heads="1/4", yes="2/3"), [0.05, 0.95])
    suite.check_error_before(DIRECT[0], lambda **given: DirectEncoding.for_error(["a", "b"], **given))
    suite.check_error_before(COINS[0], CoinFlip.for_error)


def test_the_textbook_coin():
    coin = CoinFlip()
    assert coin.epsilon == ln(3)
    assert coin.channel().rows == ((Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4)))


def test_the_right_variance_of_the_coin_flip():
    """f (1 - f) / n + (1 / (16 (p - 1/2)^2) - 1/4) / n, which for p = 3/4 is 3/4 / n more than without coins."""
    for heads in (Fraction(1, 5), Fraction(1, 2), Fraction(3, 4)):
        coin = CoinFlip(heads=heads)
        p, q = coin.chances
        for f in (Fraction(0), Fraction(3, 10), Fraction(1)):
            h = q + (p - q) * f
            exact = h * (1 - h) / (p - q) ** 2
            assert exact == f * (1 - f) + 1 / (16 * (p / 1 - Fraction(1, 2)) ** 2) - Fraction(1, 4)
    found = CoinFlip().estimate(CoinFlip().randomize([True] * 300 + [False] * 700))
    h = 0.25 + 0.5 * found.raw[0]
    assert found.deviation[0] == pytest.approx(2 * (h * (1 - h) / 1000) ** 0.5)
    assert found.raw.sum() == pytest.approx(1)


def test_bad_surveys_are_refused_with_words():
    for bad in (
        lambda: DirectEncoding(["a", "b"], epsilon=0),
        lambda: DirectEncoding(["a", "b"], epsilon=float("nan")),
        lambda: DirectEncoding(["a"], epsilon=1),
        lambda: DirectEncoding([], epsilon=1),
        lambda: DirectEncoding("ab", epsilon=1),
        lambda: DirectEncoding(["a", "a"], epsilon=1),
        lambda: DirectEncoding([1.5, 2.5], epsilon=1),
        lambda: DirectEncoding(1, epsilon=1),
        lambda: DirectEncoding(None, epsilon=1),
        lambda: DirectEncoding(["a", "b"], epsilon=1, unit="add/remove one person"),
        lambda: CoinFlip(heads=0),
        lambda: CoinFlip(heads=1),
        lambda: CoinFlip(yes=0),
        lambda: CoinFlip(heads="nan"),
    ):
        with pytest.raises(InputError, match="is refused"):
            bad()
