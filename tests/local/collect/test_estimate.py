"""The table of an estimate: an interval stands beside the estimate that it is of."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dither.local import DirectEncoding, Tally
from dither.local.collect.estimate import cut

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
    assert "low to high: 95% confidence interval of each value by itself, from the raw estimate" in said
    assert "frequencies by 'simplex' may lie outside" in said
    plain = str(survey.estimate(found, method="raw"))
    assert rows(plain)[0] == ["value", "frequency", "low", "high", "people"]
    assert all(low <= frequency <= high for frequency, low, high, _ in rows(plain)[1].values())
    assert "outside" not in plain


def test_intervals_are_the_same_by_every_method(survey, found):
    first, *others = (survey.estimate(found, method=method) for method in survey.methods)
    for other in others:
        assert np.array_equal(other.low, first.low, equal_nan=True)
        assert np.array_equal(other.high, first.high, equal_nan=True)


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


def test_an_interval_outside_of_0_to_1_is_empty_and_not_a_point():
    """99% of 100,000 reports say "a", where at least 42% of them had to be false: no shares of 0 to 1 explain that."""
    survey = DirectEncoding(["a", "b", "c"], epsilon=1)
    found = survey.estimate(Tally(survey.record, np.array([99_000, 600, 400]), people=100_000))
    assert np.isnan(found.low).all()
    assert np.isnan(found.high).all()
    assert found.empty.tolist() == [True] * 3
    said = str(found)
    assert "1.0000   1.0000" not in said
    assert all(line.split()[3:5] == ["–", "–"] for line in said.splitlines()[1:4])
    assert "3 of 3 intervals are empty (–): no share fits (noise)" in " ".join(said.split())
    fine = survey.estimate(Tally(survey.record, np.array([45_000, 30_000, 25_000]), people=100_000))
    assert not fine.empty.any()
    assert "empty" not in str(fine)


def test_ends_are_cut_where_something_is_left():
    low, high = cut(np.array([-0.5, -0.5, 0.2, 0.9, 1.1, -1e-12]), np.array([-0.1, 0.0, 0.3, 1.5, 1.2, -1e-12]))
    assert low.tolist()[1:4] == [0.0, 0.2, 0.9]
    assert high.tolist()[1:4] == [0.0, 0.3, 1.0]
    assert np.isnan([low[0], high[0], low[4], high[4]]).all()
    assert (low[5], high[5]) == (0.0, 0.0)  # floats, and no noise


def test_a_share_whose_error_exceeds_1_is_no_number_of_people():
    survey = DirectEncoding(["a", "b", "c"], epsilon="0.1")
    vague = survey.estimate(Tally(survey.record, np.array([9, 6, 5]), people=20))
    assert (vague.half_width > 1).all()
    first, head, *_ = str(vague).replace("\n  ", " ").splitlines()
    assert first.startswith("Every share has an error above 1 (up to ±")
    assert first.endswith("95%): no number of people can be told from it.")
    assert head.split() == ["value", "frequency", "low", "high"]
    assert "people by" not in str(vague)
    assert vague.counts.sum() == pytest.approx(20)  # sums may be known where shares are not
    sharp = survey.estimate(Tally(survey.record, np.array([90_000, 60_000, 50_000]), people=200_000))
    assert str(sharp).splitlines()[0].split()[-1] == "people"
    mixed = replace(sharp, half_width=np.array([0.5, 2.0, 1.0]))
    said = str(mixed).replace("\n  ", " ", 1).splitlines()
    assert said[0].startswith("1 of 3 shares has an error above 1 (up to ±2, 95%): no number of people can be told")
    rows = {line.split()[0]: line.split() for line in said[2:5]}
    assert (rows["b"][2], rows["b"][-1]) == ("–", "–")
    assert rows["a"][-1] == f"{mixed.counts[0]:.0f}"


def test_half_widths_are_those_of_the_error_that_was_stated_before():
    """The largest one there is, for a share of a half."""
    survey = DirectEncoding(["a", "b"], epsilon="0.5")
    found = survey.estimate(Tally(survey.record, np.array([50_000, 50_000]), people=100_000))
    assert found.half_width == pytest.approx(survey.error(100_000), rel=1e-3)
