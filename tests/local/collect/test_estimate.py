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
    assert said.endswith("frequencies by 'simplex', which may lie outside")
    plain = str(survey.estimate(found, method="raw"))
    assert rows(plain)[0] == ["value", "frequency", "low", "high", "people"]
    assert all(low <= frequency <= high for frequency, low, high, _ in rows(plain)[1].values())
    assert "outside" not in plain


def test_intervals_are_the_same_by_every_method(survey, found):
    first, *others = (survey.estimate(found, method=method) for method in survey.methods)
    for other in others:
        assert (other.low == first.low).all()
        assert (other.high == first.high).all()
