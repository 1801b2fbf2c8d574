"""The number of rows: public, or bought with a hundredth of the price. It is as private as any other count."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from dither.learn.base.facts import Facts
from dither.learn.base.release import Release
from dither.learn.base.rows import Rows

COUNT_SHARE = Fraction(1, 100)


def released_count(facts: Facts, release: Release) -> tuple[float, Fraction]:
    """n, at least 1, and the share of the price that it took."""
    if facts.rows is not None:
        return float(facts.rows), Fraction(0)
    count = released_counts(release, COUNT_SHARE)
    return max(1.0, float(count)), COUNT_SHARE


def released_counts(release: Release, share: Fraction) -> int:
    """The number of rows with noise, in the noise that the price buys."""

    def counted(rows: Rows) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return np.array([rows.count], dtype=np.int64)

    if release.price.kind == "gaussian":
        return int(release.gaussian(counted, (1,), norm2=1, share=share)[0])
    return int(release.geometric(counted, (1,), norm1=1, share=share)[0])
