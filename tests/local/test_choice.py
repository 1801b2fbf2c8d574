"""Which survey is best: by the formulas, which are those of the surveys themselves."""

from __future__ import annotations

import numpy as np
import pytest

from dither import ln
from dither.errors import InputError
from dither.local import choice
from dither.local.choice import KINDS, SHAPES, choose, formula, predicted_variation
from dither.local.collect.tally import Tally
from dither.local.surveys.direct_encoding import DirectEncoding
from dither.local.surveys.grid_response import GridResponse


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


def test_scores_for_places_are_chosen_by_the_map_that_is_assumed():
    """Distances for a wide map, uniform scores where nearly all people are in one cell."""
    wide = choose((10, 10), 2, 2000)
    assert (wide.scores, wide.shape) == ("distance", "clusters")
    dense = choose((6, 6), 2, 5000, shape="point")
    assert dense.scores == "uniform"
    first, second = (one.total_variation for one in dense.candidates)
    assert first < second / 2
    survey = dense.build()
    assert isinstance(survey, GridResponse)
    assert (survey.width, survey.height, survey.scores, survey.epsilon) == (6, 6, "uniform", 2)
    assert [one.half_width for one in dense.candidates] == [
        GridResponse(width=6, height=6, epsilon=2, scores=one.scores).error(5000) for one in dense.candidates
    ]
    text = " ".join(str(dense).split())
    assert "Take 'uniform': if people live in one cell (90%, the others anywhere), the map of 5000 people" in text
    assert "share of one cell by itself stays unknown" in wide.why
    flat_map = choose((4, 3), 4, 1000, shape="flat")
    assert flat_map.scores == "uniform", "equals go to the scores whose single shares are known better"


@pytest.mark.parametrize(
    ("shape", "scores"), [("clusters", "distance"), ("clusters", "uniform"), ("point", "uniform"), ("flat", "distance")]
)
def test_what_is_predicted_of_a_map_is_what_comes_of_it(shape, scores):
    """Four collections, of people who live like that: within a third, or .03."""
    shares, people, rng = SHAPES[shape][1](5, 5), 10_000, np.random.default_rng(4)
    survey = GridResponse(width=5, height=5, epsilon=3, scores=scores)
    matrix, far = survey.kernel.push(np.eye(25)), 0.0
    for _ in range(4):
        sizes = rng.multinomial(people, shares)
        counts = rng.multinomial(sizes, matrix).sum(axis=0)
        frequency = survey.estimate(Tally(survey.record, counts, people)).frequency
        far += float(np.abs(frequency - sizes / people).sum()) / 8
    assert shares.sum() == pytest.approx(1)
    assert predicted_variation(survey, shares, people) == pytest.approx(far, rel=0.34, abs=0.03)


@pytest.mark.parametrize("scores", ["distance", "uniform"])
@pytest.mark.parametrize(("side", "people"), [(10, 10), (10, 50), (20, 200), (40, 200)])
def test_few_people_on_many_cells_are_predicted_as_well(side, people, scores):
    shares, rng = SHAPES["clusters"][1](side, side), np.random.default_rng(5)
    survey = GridResponse(width=side, height=side, epsilon=4, scores=scores)
    found = predicted_variation(survey, shares, people)
    sizes = rng.multinomial(people, shares)
    matrix = survey.kernel.push(np.eye(side * side)[sizes > 0])
    counts = rng.multinomial(sizes[sizes > 0], matrix).sum(axis=0)
    frequency = survey.estimate(Tally(survey.record, counts, people)).frequency
    assert found == pytest.approx(float(np.abs(frequency - sizes / people).sum()) / 2, abs=0.15)


def test_a_map_of_one_person_is_predicted():
    assert [0 < one.total_variation <= 1 for one in choose((10, 10), 2, 1).candidates] == [True, True]


def test_counts_that_are_predicted_keep_their_number():
    means = np.full(60, 0.125)
    phase = np.linspace(0.001, 0.999, 60)
    for variance in (means, means * 0, means * 10):
        counts = choice._counts(means, variance, phase)
        assert (counts >= 0).all()
        assert counts.sum() in (7, 8)
    assert choice._counts(np.array([0.01, 0.01]), np.array([0.01, 0.01]), np.array([0.9, 0.9])).sum() == 0
    assert choice._counts(np.array([9.0, 16.0]), np.array([9.0, 16.0]), np.array([0.1, 0.9])).tolist() == [12, 13]


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
        lambda: choose((3,), 1, 10),
        lambda: choose((1, 1), 1, 10),
        lambda: choose((100, 100), 1, 10),
        lambda: choose((3, 3), 1, 0),
        lambda: choose((3, 3), 1, 10, shape="ring"),
        lambda: choose((3, 3), 1, 10, shape=""),
        lambda: choose((3, 3), 1, 10, shape=["point"]),
        lambda: choose((3, 3), 1, 10, frequency="0.1"),
        lambda: choose(9, 1, 10, shape="flat"),
    ):
        with pytest.raises(InputError, match="is refused"):
            bad()
