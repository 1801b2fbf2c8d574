"""What a number of an answer says: each makes one statement. The answer's first line and the heads of its ends name it.

    truth               the error bar holds what all rows give: bounding and clamping change nothing, by the owner's word
    at least            rows of people beyond the limits are left out of a count or of a sum of values that are not negative:
                        the low end is a lower bound of the truth, the high end is of what was counted
    of counted rows     an average, a deviation, a quantile, a sum of signed values: of the rows that were counted
    of clamped values   everybody is counted in full, with values beyond the bounds as the nearer bound, or between two steps
                        as the nearer step
    chosen              the most frequent key, by noisy counts: another may be more frequent; the quote says by how much
    of released numbers a rank among what was released (`answers/derived/statements.py` has what computed columns say)

Why the low end holds. What is counted is the sum of (part of) the rows that there are, each at least zero, so that it is at
most the truth; the interval holds what is counted with the stated probability, so its low end is at most what is counted,
and at most the truth, with at least that probability. (One end of a symmetric interval fails half as often as both.)
"""

from __future__ import annotations

from enum import Enum


class Statement(Enum):
    """What a number says."""

    TRUTH = "truth"
    AT_LEAST = "at least"
    COUNTED = "of counted rows"
    CLAMPED = "of clamped values"
    CHOSEN = "chosen"
    RELEASED = "of released numbers"


def statement_of(*, complete: bool, clamped: bool, sums: bool) -> Statement:
    """By what is known: whether bounding changes nothing, whether clamping may change something, whether it is a sum of
    parts that are not negative."""
    if complete:
        return Statement.CLAMPED if clamped else Statement.TRUTH
    return Statement.AT_LEAST if sums and not clamped else Statement.COUNTED
