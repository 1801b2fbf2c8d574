"""Aggregates: one number a group. Each class says how it is called in words and which counter it is the sum of, if of one.

Those that follow from counters are read by the estimators that `counters/counter_sets.py` chooses; each of the others has
a statistic of its own (`statistics/registry.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from dither.query.plan.base import Expression
from dither.query.plan.counters import Counter, PersonCounter, RowCounter, StepCounter, ValueCounter
from dither.query.plan.lattice import step_of


@dataclass(frozen=True)
class Aggregate:
    """One number a group, under the name of its column in the answer."""

    counted: ClassVar[bool] = False  # whether it follows from counters
    of_all_groups: ClassVar[bool] = False  # whether it changes where groups are left out
    is_number: ClassVar[bool] = True  # whether HAVING can compare it with one
    needs_bounds: ClassVar[bool] = False  # of the values that it is of: a count needs none
    needs_keys: ClassVar[bool] = False  # likewise: whether it is of declared ones alone

    name: str
    of: Expression | None = None  # of which values; None for rows and persons

    @property
    def words(self) -> str:
        """What is asked; where it is of values, they follow."""
        raise NotImplementedError

    @property
    def counter(self) -> Counter | None:
        """The counter whose sum it is; None if it is no sum."""
        return None

    @property
    def values(self) -> Expression:
        """The values that it is of."""
        assert self.of is not None
        return self.of

    @property
    def numbers(self) -> tuple[Expression, ...]:
        """The values that are added up or put in order, so that bounds cut them; none where values are only counted."""
        return (self.values,) if self.needs_bounds else ()


@dataclass(frozen=True)
class CountRows(Aggregate):
    """COUNT(*)."""

    counted: ClassVar[bool] = True
    words = "how many rows"

    @property
    def counter(self) -> Counter:
        """One for every row."""
        return RowCounter()


@dataclass(frozen=True)
class CountPersons(Aggregate):
    """COUNT(DISTINCT person); COUNT(DISTINCT CASE WHEN c THEN person END), of those who have a row that meets c."""

    counted: ClassVar[bool] = True

    @property
    def words(self) -> str:
        """All, or those who meet a condition."""
        return "how many people" if self.of is None else "how many people have a row with"

    @property
    def counter(self) -> Counter:
        """One for every person."""
        return PersonCounter(self.of)


@dataclass(frozen=True)
class CountValues(Aggregate):
    """COUNT(x)."""

    counted: ClassVar[bool] = True
    words = "how many values of"

    @property
    def counter(self) -> Counter:
        """One where there is a value."""
        return ValueCounter(self.of)


@dataclass(frozen=True)
class Sum(Aggregate):
    """SUM(x)."""

    needs_bounds: ClassVar[bool] = True
    counted: ClassVar[bool] = True
    words = "the sum of"

    @property
    def counter(self) -> Counter:
        """The value in steps."""
        return StepCounter(self.of, step_of(self.values))


@dataclass(frozen=True)
class Mean(Aggregate):
    """AVG(x)."""

    needs_bounds: ClassVar[bool] = True
    counted: ClassVar[bool] = True
    words = "the average of"


@dataclass(frozen=True)
class Variance(Aggregate):
    """VAR_POP, VAR_SAMP, STDDEV_POP, STDDEV_SAMP."""

    needs_bounds: ClassVar[bool] = True
    counted: ClassVar[bool] = True

    of_sample: bool = False  # the sum of squares is divided by n - 1, not by n
    is_root: bool = False

    @property
    def words(self) -> str:
        """Which of the four."""
        what = "the standard deviation" if self.is_root else "the variance"
        return f"{what}, as of a sample, of" if self.of_sample else f"{what} of"


@dataclass(frozen=True)
class PairAggregate(Aggregate):
    """Of two expressions, x and y, of the rows that have both: CORR(y, x) and the like."""

    needs_bounds: ClassVar[bool] = True
    counted: ClassVar[bool] = True
    needs_squares: ClassVar[bool] = True  # or sums of products alone

    beside: Expression | None = None  # y, of which x is `of`

    @property
    def pair(self) -> tuple[Expression, Expression]:
        """x and y."""
        assert self.beside is not None
        return self.values, self.beside

    @property
    def numbers(self) -> tuple[Expression, ...]:
        """Both."""
        return self.pair


@dataclass(frozen=True)
class Covariance(PairAggregate):
    """COVAR_POP, COVAR_SAMP."""

    needs_squares: ClassVar[bool] = False

    of_sample: bool = False  # the sum of products is divided by n - 1, not by n

    @property
    def words(self) -> str:
        """Which of the two."""
        return "the covariance, as of a sample, of" if self.of_sample else "the covariance of"


@dataclass(frozen=True)
class Correlation(PairAggregate):
    """CORR; REGR_R2, which is its square."""

    is_square: bool = False

    @property
    def words(self) -> str:
        """Which of the two."""
        return "the squared correlation of" if self.is_square else "the correlation of"


@dataclass(frozen=True)
class RegressionLine(PairAggregate):
    """REGR_SLOPE, and REGR_INTERCEPT, where the line is at x = 0."""

    is_slope: bool = True

    @property
    def words(self) -> str:
        """Which of the two."""
        return f"the {'slope' if self.is_slope else 'intercept'} of the least-squares line on"


@dataclass(frozen=True)
class CountDistinct(Aggregate):
    """COUNT(DISTINCT x) of a column with declared keys."""

    needs_keys: ClassVar[bool] = True
    words = "how many different keys of"


@dataclass(frozen=True)
class CountDistinctValues(Aggregate):
    """COUNT(DISTINCT x) of values that nobody declared."""

    words = "how many different values of"


@dataclass(frozen=True)
class Mode(Aggregate):
    """MODE(x) of a column with declared keys."""

    is_number: ClassVar[bool] = False
    needs_keys: ClassVar[bool] = True
    words = "the most frequent key of"


@dataclass(frozen=True)
class Quantile(Aggregate):
    """MEDIAN, QUANTILE, PERCENTILE_CONT and the like; MIN and MAX."""

    needs_bounds: ClassVar[bool] = True

    share: Fraction = Fraction(1, 2)  # of the rows that lie below; 0 for the least, 1 for the largest

    @property
    def words(self) -> str:
        """Which share of rows lies below."""
        named = {Fraction(0): "near the least", Fraction(1, 2): "the median of", Fraction(1): "near the largest"}
        return named.get(self.share, f"the value with {float(100 * self.share):.6g}% of rows below it, of")


@dataclass(frozen=True)
class RunningCount(Aggregate):
    """SUM(COUNT(*)) OVER (ORDER BY key)."""

    of_all_groups: ClassVar[bool] = True
    words = "how many rows there are up to each"
