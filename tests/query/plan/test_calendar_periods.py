"""Months do not keep the order of moments; facts of dates hold all the same."""

from __future__ import annotations

import datetime

import pytest

from dither.query.plan.calendar_periods import later
from dither.query.plan.dates import DateAdd
from dither.query.plan.expressions import ColumnValue
from dither.query.policy.column import Column, Type

T = datetime.datetime
HOUR = datetime.timedelta(hours=1)


@pytest.mark.parametrize("months", [1, -1, 2, 13, -11])
def test_facts_hold_every_moment_of_short_spans_at_ends_of_months(months):
    turned = 0
    for end in [T(2024, 1, 31), T(2024, 3, 31), T(2023, 5, 31), T(2024, 2, 29), T(2024, 12, 31)]:
        moments = [end - 24 * HOUR + place * HOUR for place in range(48)]
        for first in range(0, 48, 5):
            for last in range(first, 48, 5):
                column = Column("a", Type.TIMESTAMP, first=moments[first], last=moments[last])
                facts = DateAdd(ColumnValue(column), months, -3, 5).facts
                moved = [later(at, months, -3, 5) for at in moments[first : last + 1]]
                assert all(facts.first <= at <= facts.last for at in moved)
                turned += moved[0] != min(moved) or moved[-1] != max(moved)
    assert turned > 5  # so many spans whose ends become no ends


def test_what_leaves_the_calendar_is_none():
    assert later(T.max, 0, 0, 1) is None
    assert later(T.min, 0, 0, -1) is None
    assert later(T(9999, 12, 1), 1, 0, 0) is None
    assert later(T(1, 1, 1), -1, 40, 0) is None
    assert later(T(2024, 1, 31, 5), 1, 0, 0) == T(2024, 2, 29, 5)
