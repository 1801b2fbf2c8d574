"""What local reports promise about the whole collection, and what trust would buy."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from types import SimpleNamespace

import pytest

from dither import Geometric, approx, ln, pure
from dither.channels import graph
from dither.errors import InputError
from dither.local.bridge import compare, for_any_query, people_needed, shuffled
from dither.local.surveys.coin_flip import CoinFlip
from dither.local.surveys.direct_encoding import DirectEncoding
from dither.privacy import amplify
from dither.privacy.unit import Unit

REPLACE = Unit.REPLACE_ONE


def collection_epsilon(surveys):
    """The exact epsilon of all reports together, for replacing one of the people: every collection of answers is tried."""
    rows = {}
    for answers in product(*(survey.domain for survey in surveys)):
        channels = [survey.channel().row(answer) for survey, answer in zip(surveys, answers, strict=True)]
        rows[answers] = [math.prod(chances, start=Fraction(1)) for chances in product(*(row.values() for row in channels))]
    ratios = [
        max(p / q for p, q in zip(rows[one], rows[other], strict=True))
        for one in rows
        for other in rows
        if sum(a != b for a, b in zip(one, other, strict=True)) == 1
    ]
    return max(ratios)


def test_the_largest_epsilon_counts_exactly():
    surveys = [CoinFlip(), DirectEncoding(["a", "b", "c"], epsilon=ln(5)), CoinFlip(heads="1/5")]
    assert ln(collection_epsilon(surveys)) == ln(5)
    assert for_any_query(surveys) == pure(ln(5), unit=REPLACE)
    assert for_any_query([1, "0.5", "2"]) == pure(2, unit=REPLACE)
    assert for_any_query([CoinFlip()]) == pure(ln(3), unit=REPLACE)


def test_surveys_of_one_person_add_up_exactly():
    first, second = CoinFlip(), DirectEncoding([True, False], epsilon=ln(2))
    both = first.channel().product(second.channel())
    assert both.epsilon(graph.complete([True, False])).exact == ln(6)
    assert for_any_query([[first, second]]) == pure(ln(6), unit=REPLACE)
    assert for_any_query([[first, second], "1.7"]) == pure(ln(6), unit=REPLACE)
    assert for_any_query([[first, second], "1.8"]) == pure("1.8", unit=REPLACE)
    assert for_any_query([["0.5", "0.25", CoinFlip()], 1]) == pure("0.75 + ln(3)", unit=REPLACE)


def test_shuffling_is_that_of_amplify():
    found = shuffled(DirectEncoding(3, epsilon=1), 300, "1e-5")
    assert found.unit is REPLACE
    assert found.epsilon("1e-5") == pytest.approx(amplify.shuffled(1, 300, answers=3).epsilon("1e-5"))
    assert found.epsilon("1e-5") < 0.3
    assert math.isinf(found.epsilon(0))
    coin = shuffled(CoinFlip(), 300, "1e-5").epsilon("1e-5")
    assert coin == pytest.approx(amplify.shuffled(ln(3), 300, answers=2).epsilon("1e-5"))
    skewed = CoinFlip(heads="1/2", yes="1/4")
    any_kind = amplify.shuffled(skewed.epsilon, 300, answers=None).epsilon("1e-5")
    assert shuffled(skewed, 300, "1e-5").epsilon("1e-5") == pytest.approx(any_kind)


def test_trust():
    """sqrt 2 / epsilon against sqrt n e^(epsilon/2) / (e^epsilon - 1)."""
    found = compare(10_000, 1)
    assert found.central == pytest.approx(math.sqrt(2))
    assert found.local == pytest.approx(100 * math.exp(0.5) / (math.e - 1))
    assert found.ratio == pytest.approx(67.85, rel=1e-3)
    assert compare(40_000, 1).local == pytest.approx(2 * found.local)
    assert compare(40_000, 1).central == found.central
    assert "67.8 times" in str(found)


def test_people_needed_is_the_least_number():
    for epsilon, wanted in ((1, "0.01"), ("0.1", "0.05"), (ln(3), "0.003")):
        central, local = people_needed(epsilon, wanted)
        limit = Fraction(wanted)
        assert compare(1, epsilon).central / central <= limit < compare(1, epsilon).central / (central - 1)
        assert compare(local, epsilon).local / local <= limit * (1 + Fraction(1, 10**12))
        assert compare(local - 1, epsilon).local / (local - 1) > limit
    assert people_needed(1, "0.01") == (142, 9207)
    assert people_needed(10, 5) == (1, 1)


def test_bad_input_is_refused_with_words():
    for bad in (
        lambda: for_any_query([]),
        lambda: for_any_query([[]]),
        lambda: for_any_query(CoinFlip()),
        lambda: for_any_query(3),
        lambda: for_any_query([-1]),
        lambda: for_any_query([None]),
        lambda: for_any_query([Geometric(epsilon=1, sensitivity=1)]),
        lambda: for_any_query([SimpleNamespace(epsilon=1, guarantee=approx(1, "1e-6", unit=REPLACE))]),
        lambda: for_any_query([SimpleNamespace(epsilon="0.5", guarantee=pure(1, unit=REPLACE))]),
        lambda: for_any_query([CoinFlip(), CoinFlip(unit="replace one row")]),
        lambda: shuffled(1, 100, "1e-6"),
        lambda: shuffled(CoinFlip(), 100, 0),
        lambda: shuffled(CoinFlip(), 0, "1e-6"),
        lambda: shuffled(CoinFlip(unit="replace one row"), 100, "1e-6"),
        lambda: compare(0, 1),
        lambda: compare(5, 0),
        lambda: people_needed(1, 0),
        lambda: people_needed(0, "0.1"),
    ):
        with pytest.raises(InputError, match="is refused"):
            bad()
