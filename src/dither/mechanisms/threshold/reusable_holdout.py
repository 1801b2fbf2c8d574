"""A reusable holdout: check many ideas, each chosen with the earlier answers in view, without fitting the holdout.

A question is a function of a row with values in [0, 1]; its answer is the mean over the training data as long as the
mean over the holdout agrees with it. Only when they differ by more than a threshold is something about the holdout
said: its mean, with noise. `AboveThreshold` watches the difference and Laplace noise protects the mean, so the whole
is differentially private for the rows of the holdout:

    epsilon = watch + budget * answer

Why that prevents overfitting: what is said hardly depends on any one row of the holdout, so a question that was
chosen by what was said cannot have been fitted to those rows; its mean over the holdout stays close to the truth
(Dwork, Feldman, Hardt, Pitassi, Reingold and Roth 2015). After `budget` such answers the holdout is used up, and
asking is refused.

Rows are replaced, their number being public. A question is called with one row at a time, and what it gives is put on
a lattice of 2^-32 before it is added up. A number is moved into [0, 1]; True counts as 1. Whatever else happens to a
row counts as 0: an exception, no number, NaN, an infinity, an array.

Proof that one row moves the mean by at most 1/n. The mean is the sum of n whole numbers of 2^-32, one a row, over n.
The summand of a row is computed from that row alone, whatever the question does with it, and lies between 0 and 2^32;
so replacing a row moves one summand by at most 2^32, and what is watched and what is released by at most 1/n. Sums are
of Python integers: nothing overflows, and the difference of the two means is an exact fraction.

What is trusted: that a question gives a row what depends on that row alone (it keeps no notes on earlier rows), that
it ends, and that it neither writes nor prints rows of the holdout. Warnings are silenced while it is asked, of the whole
process, since Python knows no other way. It is tried on the training data first, and what goes wrong there is said. Only
Ctrl-C passes on.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from threading import Lock
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias

from dither.arguments import argument_errors
from dither.errors import ArgumentError, BudgetError, DataError
from dither.mechanisms.additive.laplace import Laplace
from dither.mechanisms.threshold.above_threshold import AboveThreshold, NoisyThreshold
from dither.numeric.lattice import Lattice
from dither.numeric.number import NumberLike, exact, integer, rational
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.unit import Unit, UnitLike, read_replacement

if TYPE_CHECKING:
    from numpy.typing import NDArray

    RowsLike: TypeAlias = Sequence[Any] | NDArray[Any]

WHOLE = 2**32  # places between 0 and 1
FINE = Lattice(Fraction(1, WHOLE))


@dataclass(frozen=True)
class HoldoutAnswer:
    """The mean, and whether it came from the holdout because the training data had been fitted."""

    value: float
    overfitted: bool


@argument_errors
class ReusableHoldout:
    """The reusable holdout (Thresholdout): training data, and a holdout that is asked through a noisy threshold.

    Args:
        training: rows that questions are tried on and answered from as long as the holdout agrees; a list or an array.
        holdout: rows that are protected; a list or an array.
        threshold: how far the two means may lie apart before the holdout answers, above zero.
        epsilon: the pure privacy loss of the holdout, for all questions together, above zero.
        budget: how often the holdout answers before it is used up; 10 by default.
        step: of the lattice of means; by default a power of two far below one over the number of rows.
        unit: replace one person (the default) or one row: the number of rows is public.

    Raises:
        NumberError: a parameter is no exact number, or lies outside its range.
        DataError: the rows are no list or array, or there are none.
        UnitError: the unit is unknown, or none of replacement.

    Example:
        >>> from dither import ReusableHoldout
        >>> rows = list(range(1000))
        >>> holdout = ReusableHoldout(rows, rows, threshold="0.2", epsilon=1, budget=5)
        >>> print(holdout.guarantee)
        ε = 1 (replace one person)
        >>> answer = holdout.ask(lambda row: row < 500)
        >>> 0.3 < answer.value < 0.7
        True
    """

    def __init__(
        self,
        training: RowsLike,
        holdout: RowsLike,
        *,
        threshold: NumberLike,
        epsilon: NumberLike,
        budget: SupportsIndex = 10,
        step: NumberLike | None = None,
        unit: UnitLike = Unit.REPLACE_ONE,
    ) -> None:
        self._training, self._holdout = _read_rows(training, "training"), _read_rows(holdout, "holdout")
        self.budget = integer(budget, name="budget", least=1)
        read_replacement(unit)
        whole = exact(epsilon, name="epsilon", positive=True)
        moved = Fraction(1, len(self._holdout))
        self.watch = AboveThreshold(
            epsilon=whole / 2,
            sensitivity=moved,
            threshold=rational(threshold, name="threshold", positive=True),
            count=self.budget,
            step=step,
            unit=unit,
        )
        self.answer = Laplace(epsilon=whole / 2 / self.budget, sensitivity=moved, step=step, unit=unit)
        self._noisy_threshold: NoisyThreshold = self.watch.start()
        self._lock = Lock()

    def __repr__(self) -> str:
        return f"ReusableHoldout(budget={self.budget}, left={self.left}, guarantee={str(self.guarantee)!r})"

    @property
    def guarantee(self) -> Guarantee:
        """What is promised to the rows of the holdout, for all questions together."""
        return self.watch.guarantee + self.budget * self.answer.guarantee

    @property
    def left(self) -> int:
        """How many more answers the holdout can give."""
        return self._noisy_threshold.left

    def error(self, confidence: NumberLike) -> float:
        """How far an answer from the holdout may lie from its mean, with a probability of at least `confidence`."""
        return float(self.answer.error(confidence))

    def ask(self, question: Callable[[Any], Any]) -> HoldoutAnswer:
        """The mean of a `question`, a function of one row with values in [0, 1]: `lambda row: row["age"] > 65`.

        Raises BudgetError where the holdout is used up, DataError where the question gives no number on the training data.
        """
        if not callable(question):
            why, instead = "it is no function of a row", "lambda row: row['age'] > 65"
            raise ArgumentError("question", question, why, instead)
        here = _mean([place_of(question(row)) for row in self._training])
        with self._lock:
            if self.left <= 0:
                raise BudgetError("budget", self.budget, "the holdout has given all its answers", "a fresh holdout")
            there = _mean(silent_places(question, self._holdout))
            if self._noisy_threshold.ask(abs(here - there)) is None:
                return HoldoutAnswer(float(here), overfitted=False)
            return HoldoutAnswer(float(self.answer.release(there)), overfitted=True)


def _read_rows(rows: RowsLike, name: str) -> Any:
    """Something with rows that are gone through one by one, as many as it has now: frames go through their columns."""
    import numpy as np

    if isinstance(rows, np.ndarray) and rows.ndim > 0:
        found: Any = rows.copy()  # a row is rows[i]: a number, or an array of one dimension less
    elif isinstance(rows, Sequence) and not isinstance(rows, (str, bytes, bytearray, memoryview)):
        found = tuple(rows)
    else:
        instead = "a list or an array; of a frame, frame.to_dict('records') or frame.to_numpy()"
        raise DataError(f"type of {name}", type(rows).__name__, "it does not say what a row is", instead)
    if len(found) == 0:
        raise DataError(name, rows, "a mean needs rows", "data with rows")
    return found


def _mean(places: list[int]) -> Fraction:
    """The exact mean of places on the lattice."""
    return Fraction(sum(places), WHOLE * len(places))


def silent_places(question: Callable[[Any], Any], rows: Iterable[Any]) -> list[int]:
    """A place for each row, 0 for those on which anything goes wrong: that it did must not show beyond that row."""
    import numpy as np

    places = []
    with np.errstate(all="ignore"), warnings.catch_warnings():  # a warning would tell of a row
        warnings.simplefilter("ignore")
        for row in rows:
            try:
                places.append(place_of(question(row)))
            except KeyboardInterrupt:
                raise
            except BaseException:  # whatever it is, it may depend on the row: libraries in Rust panic outside of Exception
                places.append(0)
    return places


def place_of(value: object) -> int:
    """Where the value of a row stands on the lattice, moved into [0, 1]."""
    if value is True or value is False:
        return WHOLE if value else 0
    import numpy as np

    if isinstance(value, np.bool_):
        return WHOLE if value else 0
    if isinstance(value, (float, np.float16, np.float32)):
        value = float(value)
        return max(0, min(WHOLE, FINE.index(value))) if math.isfinite(value) else 0
    if isinstance(value, Decimal) and not value.is_finite():
        return 0
    if not isinstance(value, (int, np.integer, Fraction, Decimal)):
        why = f"it was called with one row and gave {type(value).__name__}, not a number"
        raise DataError("question", value, why, "lambda row: row[0] > 5")
    return max(0, min(WHOLE, FINE.index(value)))
