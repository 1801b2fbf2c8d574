"""Hadamard response."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dither import ln
from dither.errors import InputError
from dither.local.collect.reports import Reports
from dither.local.collect.tally import Tally
from dither.local.surveys.direct_encoding import DirectEncoding
from dither.local.surveys.hadamard_response import HadamardResponse, transform
from dither.noise.bernoulli import Bernoulli
from tests.local import simulated, suite

SURVEYS = [
    HadamardResponse(["a", "b", "c"], epsilon=1),
    HadamardResponse(range(4), epsilon=ln(3)),
    HadamardResponse(range(8), epsilon="1.5"),
    HadamardResponse([(0, 0), (0, 1)], epsilon="0.1"),
]


def number(data):
    return int.from_bytes(data, "little")


def supported(survey):
    return lambda y: [value for x, value in enumerate(survey.domain, 1) if (x & y).bit_count() % 2 == 0]


@pytest.mark.parametrize("survey", SURVEYS, ids=repr)
def test_hadamard_response_passes_the_suite(survey):
    suite.check_law(survey, number)
    suite.check_promise(survey)
    suite.check_support(survey, supported(survey))
    suite.check_wire(survey)
    suite.check_refusals(survey)


def test_estimates():
    suite.check_estimates(HadamardResponse(range(20), epsilon=2), np.arange(1, 21) / 210)
    suite.check_estimates(HadamardResponse(["yes", "no"], epsilon=1), [0.9, 0.1])
    suite.check_error_before(None, lambda **given: HadamardResponse.for_error(range(30), **given))


def test_the_numbers_are_the_least_power_of_two_above_the_values():
    wanted = {2: 4, 3: 4, 4: 8, 7: 8, 8: 16, 255: 256, 256: 512, 1024: 2048}
    assert {size: HadamardResponse(range(size), epsilon=1).numbers for size in wanted} == wanted


def test_the_transform_is_that_of_the_matrix():
    rng = np.random.default_rng(2)
    for size in (2, 4, 32, 256):
        matrix = np.array([[(-1) ** (x & y).bit_count() for y in range(size)] for x in range(size)])
        counts = rng.integers(0, 10**12, size)
        kept = counts.copy()
        assert (transform(counts) == matrix @ counts).all()
        assert (counts == kept).all()


def test_the_variance_of_a_rare_value():
    p, q = HadamardResponse(range(1000), epsilon=1).support
    assert q * (1 - q) / (p - q) ** 2 == pytest.approx(((math.e + 1) / (math.e - 1)) ** 2)


def test_a_type_that_tells_fails_the_suite():
    class Tells(HadamardResponse):
        def _encode(self, places):
            drawn = super()._encode(places)
            return drawn.astype("<u2") if (drawn & 1).any() else drawn

    with pytest.raises(AssertionError):
        suite.check_law(Tells(range(3), epsilon=1), lambda data: (len(data), number(data)))


@pytest.mark.parametrize("planted", ["half", "coin", "bit"])
def test_wrong_clients_are_caught(planted):
    class Wrong(HadamardResponse):
        def _encode(self, places):
            if planted == "half":  # the halves of the value before
                return super()._encode(np.maximum(places - 1, 0))
            if planted == "bit":  # the half is changed by a bit that the value may not have
                own = places + 1
                drawn = super()._encode(places)
                return drawn ^ (np.bitwise_count(own & drawn) & 1).astype(drawn.dtype)
            return super()._encode(places)

    wrong = Wrong(range(3), epsilon=1)
    if planted == "coin":
        wrong.__dict__["_truthful"] = Bernoulli.response("1.000001")
    with pytest.raises(AssertionError):
        suite.check_law(wrong, number)


def test_numbers_that_are_none_are_rejected():
    survey = HadamardResponse(range(5), epsilon=1)
    payload = np.array([0, 7, 8, 255, 3], dtype=np.uint8)
    found = survey.tally(Reports(survey.record, payload))
    assert (found.people, found.rejected) == (3, 2)
    assert found.counts.tolist() == [1, 0, 0, 1, 0, 0, 0, 1]
    wide = HadamardResponse(range(70_000), epsilon=1)
    found = wide.tally(Reports(wide.record, np.array([2**32 - 1, 5], dtype="<u4")))
    assert (found.people, found.rejected) == (1, 1)


@pytest.mark.parametrize("kind", [DirectEncoding, HadamardResponse])
@pytest.mark.parametrize("size", [255, 256, 257, 65_535, 65_536])
def test_sizes_at_which_the_type_of_a_report_changes(kind, size):
    survey = kind(range(size), epsilon=1)
    tally = survey.tally(survey.randomize([0, size - 1] * 10))
    assert (tally.people, tally.rejected) == (20, 0)


def test_intervals_cover():
    survey = HadamardResponse(range(simulated.VALUES), epsilon=1)
    size = survey.numbers
    half = np.array([[(x & y).bit_count() & 1 for y in range(size)] for x in range(1, simulated.VALUES + 1)])
    p, _ = survey.support
    rows = np.where(half, 1 - p, p) / (size // 2)

    def tally(rng, sizes):
        return Tally(survey.record, rng.multinomial(sizes, rows).sum(axis=0), simulated.PEOPLE)

    simulated.check_coverage(survey, tally, runs=300)


def test_bad_surveys_are_refused_with_words():
    for bad in (
        lambda: HadamardResponse(["a"], epsilon=1),
        lambda: HadamardResponse(range(3), epsilon=0),
        lambda: HadamardResponse(range(200), epsilon=1).channel(),
    ):
        with pytest.raises(InputError, match="is refused"):
            bad()
