"""Subset selection."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from dither import ln
from dither.errors import InputError
from dither.local.collect.reports import Reports
from dither.local.collect.tally import Tally
from dither.local.surveys.packed_bits import as_reports
from dither.local.surveys.subset_selection import SubsetSelection
from dither.noise.bernoulli import Bernoulli
from dither.noise.subsets import Subsets
from dither.noise.uniform_integers import equally_likely
from tests.local import simulated, suite

SURVEYS = [
    SubsetSelection(["a", "b", "c"], epsilon=1),
    SubsetSelection(range(6), epsilon=ln(2)),
    SubsetSelection(range(9), epsilon="0.1"),
    SubsetSelection(range(8), epsilon=1),
    SubsetSelection([(0, 0), (0, 1)], epsilon="0.1"),
]


def places_of(survey):
    size = len(survey.domain)
    return lambda data: tuple(at for at in range(size) if int.from_bytes(data, "little") >> at & 1)


@pytest.mark.parametrize("survey", SURVEYS, ids=repr)
def test_subset_selection_passes_the_suite(survey):
    suite.check_law(survey, places_of(survey))
    suite.check_promise(survey)
    suite.check_support(survey, lambda output: [survey.domain[at] for at in output])
    suite.check_wire(survey)
    suite.check_refusals(survey)


def test_estimates():
    suite.check_estimates(SubsetSelection(range(20), epsilon=2), np.arange(1, 21) / 210)
    suite.check_estimates(SubsetSelection(range(20), epsilon="0.5"), np.arange(1, 21) / 210)
    suite.check_error_before(None, lambda **given: SubsetSelection.for_error(range(30), **given))


def test_both_signs_of_the_coin_and_several_sizes():
    """k is rounded either way, so the own value is in with a little more or a little less than one half."""
    assert {survey.support[0] >= 0.5 for survey in SURVEYS} == {True, False}
    assert {survey.chosen for survey in SURVEYS} >= {1, 2, 4}
    assert SubsetSelection(range(1024), epsilon=1).chosen == round(1024 / (math.e + 1))


def test_the_error_is_that_of_the_optimised_unary_encoding():
    p, q = SubsetSelection(range(1024), epsilon=1).support
    assert q * (1 - q) / (p - q) ** 2 == pytest.approx(4 * math.e / (math.e - 1) ** 2, rel=0.01)


@pytest.mark.parametrize("planted", ["coin", "never left out", "size", "uneven"])
def test_wrong_clients_are_caught(planted):
    class Wrong(SubsetSelection):
        def _encode(self, places):
            if planted == "never left out":
                return as_reports(self._subsets.sample(places, np.ones(places.size, dtype=bool)))
            if planted == "size":  # one more when the own value is left out: then the size tells
                inside = self._coin.sample(places.size) == self._likely
                more = Subsets(len(self.domain), self.chosen + 1).sample(places, inside)
                return as_reports(np.where(inside[:, None], self._subsets.sample(places, inside), more))
            return super()._encode(places)

    wrong = Wrong(range(6), epsilon=1)
    if planted == "coin":
        wrong._coin = Bernoulli("0.5000001")
    if planted == "uneven":  # one of the sets never comes
        wrong._subsets._outcomes = lambda others, own: equally_likely(
            list(combinations(others, wrong.chosen - own))[1:], math.comb(5, wrong.chosen - own) - 1
        )
    with pytest.raises(AssertionError):
        suite.check_law(wrong, places_of(wrong))


def test_reports_of_another_size_are_rejected():
    survey = SubsetSelection(range(11), epsilon=1)
    assert survey.chosen == 3
    reports = survey.randomize([3] * 500)
    rows = reports.payload.view(np.uint8).reshape(-1, 2).copy()
    assert survey.tally(reports).rejected == 0
    rows[0] = 0  # no value
    rows[1] = (255, 7)  # all of them
    rows[2] = (1, 1 << 3 | 1)  # three bits, one of them spare
    rows[3] = (3, 0)  # two
    found = survey.tally(Reports(reports.record, as_reports(rows)))
    assert (found.people, found.rejected) == (496, 4)
    assert found.counts.sum() == 496 * 3


def test_intervals_cover():
    survey = SubsetSelection(range(simulated.VALUES), epsilon=1)
    simulated.check_coverage(
        survey, lambda rng, sizes: Tally(survey.record, simulated.supporters(survey, sizes, rng), simulated.PEOPLE)
    )


def test_bad_surveys_are_refused_with_words():
    for bad in (
        lambda: SubsetSelection(["a"], epsilon=1),
        lambda: SubsetSelection(range(3), epsilon=0),
        lambda: SubsetSelection(range(30), epsilon=1).channel(),
        lambda: SubsetSelection(range(3000), epsilon=1).channel(),
    ):
        with pytest.raises(InputError, match="is refused"):
            bad()
