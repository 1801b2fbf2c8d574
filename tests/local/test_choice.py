"""Which survey is best: by the formulas, which are those of the surveys themselves."""

from __future__ import annotations

import pytest

from dither import ln
from dither.errors import InputError
from dither.local.choice import KINDS, choose, formula
from dither.local.surveys.direct_encoding import DirectEncoding


@pytest.mark.parametrize("epsilon", ["0.5", 1, 3])
@pytest.mark.parametrize("size", [3, 10, 300])
@pytest.mark.parametrize("name", KINDS)
def test_formulas_are_those_of_the_surveys(name, size, epsilon):
    chosen = choose(size, epsilon, 1000)
    survey = type(chosen)(name, *list(vars(chosen).values())[1:]).build(size)
    p, q, length = formula(name, size, epsilon)
    assert survey.support == pytest.approx((p, q), rel=1e-12)
    assert survey.dtype.itemsize == length
    (found,) = [one for one in chosen.candidates if one.name == name]
    assert (found.p, found.q, found.size) == (p, q, length)
    assert found.worst == pytest.approx(survey.error(1000), rel=1e-12)


def test_the_variances_of_rare_values():
    """Times n: (E + d - 2)/(E - 1)^2, 4 E/(E - 1)^2, (E - 1 + g)^2/((E - 1)^2 (g - 1)), ((E + 1)/(E - 1))^2."""
    e, d = 3, 50
    found = {one.name: (one.half_width / 1.959963984540054) ** 2 * 7 for one in choose(d, ln(3), 7, frequency=0).candidates}
    assert found["direct"] == pytest.approx((e + d - 2) / (e - 1) ** 2)
    assert found["unary"] == pytest.approx(4 * e / (e - 1) ** 2)
    assert found["hashing"] == pytest.approx((e - 1 + 4) ** 2 / ((e - 1) ** 2 * 3))
    assert found["hadamard"] == pytest.approx(((e + 1) / (e - 1)) ** 2)
    assert found["subset"] == pytest.approx(4 * e / (e - 1) ** 2, rel=0.1)
    assert found["subset"] < found["unary"]


def test_what_is_chosen():
    assert choose(4, 1, 1000).name == "direct"
    assert choose(10, 4, 1000).name == "direct"
    assert choose(10, 1, 1000).name == "subset"
    for size in (100, 1024, 100_000):
        chosen = choose(size, 1, 10**6)
        assert chosen.name == "hashing"
        best = chosen.candidates[0]
        (mine,) = [one for one in chosen.candidates if one.name == "hashing"]
        assert mine.half_width <= 1.02 * best.half_width
        assert mine.size < best.size
    for size in (2, 3, 4):  # subsets of one value are direct encoding
        assert choose(size, ln(4), 100).name == "direct"


def test_a_choice_explains_itself_and_builds_the_survey():
    chosen = choose(3, ln(3), 500)
    assert chosen.survey is DirectEncoding
    survey = chosen.build(["a", "b", "c"])
    assert isinstance(survey, DirectEncoding)
    assert survey.epsilon == ln(3)
    assert survey.domain == ("a", "b", "c")
    text = str(chosen)
    for name in KINDS:
        assert name in text
    assert "Take 'direct'" in chosen.why
    assert "500 people" in chosen.why
    assert "says nothing" in choose(100, "0.01", 10).why
    assert "'direct' would be 9.7 times as far off" in choose(1024, 1, 10**6).why
    widths = [one.half_width for one in chosen.candidates]
    assert widths == sorted(widths)
    assert choose(3, 900, 5).name == "direct"


def test_bad_input_is_refused_with_words():
    for bad in (
        lambda: choose(1, 1, 10),
        lambda: choose(2**21, 1, 10),
        lambda: choose(5, 0, 10),
        lambda: choose(5, "1e-30", 10),
        lambda: choose(5, 1, 0),
        lambda: choose(5, 1, 10, frequency=2),
        lambda: choose(5, 1, 10, confidence=1),
        lambda: choose(5, 1, 10).build(4),
        lambda: formula("magic", 5, 1),
    ):
        with pytest.raises(InputError, match="is refused"):
            bad()
