"""The table of an estimate: an interval stands beside the estimate that it is of."""

from __future__ import annotations

import numpy as np
import pytest

from dither.local import DirectEncoding, Tally

VALUES = 1000


@pytest.fixture(scope="module")
def survey():
    return DirectEncoding(VALUES, epsilon=1)


@pytest.fixture(scope="module")
def found(survey):
    """Value 7 is frequent, and all others are as uneven as noise makes them: the projection takes much off each."""
    counts = np.array([40 + 20 * (place % 3) for place in range(VALUES)])
    counts[7] = 100
    return Tally(survey.record, counts, people=int(counts.sum()))


def rows(text):
    head, *lines = text.splitlines()
    return head.split(), {line.split()[0]: [float(part) for part in line.split()[1:]] for line in lines[:20]}


def test_a_frequency_may_leave_the_interval_and_the_raw_estimate_beside_it_does_not(survey, found):
    head, shown = rows(str(survey.estimate(found)))
    assert head == ["value", "frequency", "raw", "low", "high", "people"]
    assert not all(low <= frequency <= high for frequency, _, low, high, _ in shown.values()), "the case is a hard one"
    assert all(low <= raw <= high for _, raw, low, high, _ in shown.values())


def test_the_line_says_whose_interval_it_is(survey, found):
    said = " ".join(str(survey.estimate(found)).split())
    assert "each low to high holds the noise of the reports with 95% probability around the raw estimate" in said
    assert "frequencies by 'simplex', which may lie outside" in said
    plain = str(survey.estimate(found, method="raw"))
    assert rows(plain)[0] == ["value", "frequency", "low", "high", "people"]
    assert all(low <= frequency <= high for frequency, low, high, _ in rows(plain)[1].values())
    assert "outside" not in plain


def test_intervals_are_the_same_by_every_method(survey, found):
    first, *others = (survey.estimate(found, method=method) for method in survey.methods)
    for other in others:
        assert (other.low == first.low).all()
        assert (other.high == first.high).all()


def test_people_are_of_the_raw_estimate_and_add_up_to_what_was_answered(survey, found):
    """A sum of people over many rare values is unbiased: no method has put what noise took below zero up to zero."""
    for method in survey.methods:
        estimate = survey.estimate(found, method=method)
        assert (estimate.counts == estimate.raw * found.people).all()
        assert estimate.counts.sum() == pytest.approx(found.people)
    _, shown = rows(str(survey.estimate(found)))
    for frequency, raw, _, _, people in shown.values():
        assert people == pytest.approx(raw * found.people, abs=0.5 + found.people * 0.00005)
        assert abs(people - frequency * found.people) > 1, "the case is a hard one"


def test_the_line_says_of_what_people_are_and_where_numbers_were_cut():
    """Of three values one is rare enough that noise takes it below zero, and one is nearly everybody's."""
    survey = DirectEncoding(["a", "b", "c"], epsilon="ln(4)")
    few = survey.estimate(Tally(survey.record, np.array([700, 180, 120]), people=1000))
    said = " ".join(str(few).split())
    assert [round(count, 6) for count in few.counts.tolist()] == [1066.666667, 26.666667, -93.333333]
    assert "-93" in said
    assert "people by the raw estimate, unbiased" in said
    assert "2 of 3 raw estimates lie below 0 or above 1, by noise" in said
    assert "intervals are cut to 0 to 1" in said
    many = str(survey.estimate(Tally(survey.record, np.array([400, 300, 300]), people=1000)))
    assert "cut" not in many
    assert "below 0" not in many


def test_no_number_is_a_zero_with_a_sign():
    survey = DirectEncoding(["a", "b"], epsilon="ln(3)")
    nearly = survey.estimate(Tally(survey.record, np.array([750_001, 249_999]), people=1_000_000))
    tiny = str(survey.estimate(Tally(survey.record, np.array([7_500_001, 2_499_999]), people=10_000_000)))
    assert "-2" in str(nearly)
    assert "-0.0000" not in str(nearly) + tiny
