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

Rows are replaced, their number being public. Values are put on a lattice of 2^-32 before they are added up, so a sum
moves by at most 2^32 steps when one row is replaced, whatever floats do. The difference of the two means is an exact
fraction.

What is trusted: a question is handed all rows at once, for speed, and must give each row a number that depends on
that row alone; it must not write rows of the holdout down. It is tried on the training data first, and what goes
wrong there is said. What goes wrong on the holdout is not: the mean then counts as 0, so that no error shows what is
in it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from threading import Lock
from typing import Any

from dither.errors import BudgetError, DataError
from dither.mechanisms.above_threshold import AboveThreshold, Watch
from dither.mechanisms.laplace import Laplace
from dither.numeric.lattice import Lattice, as_array
from dither.numeric.number import exact, integer, rational
from dither.privacy.guarantee import Guarantee
from dither.privacy.unit import Unit, read_replacement

FINE = Lattice(Fraction(1, 2**32))


@dataclass(frozen=True)
class Checked:
    """An answer: the mean, and whether it came from the holdout because the training data had been fitted."""

    value: float
    overfitted: bool


class ReusableHoldout:
    """Training data and a holdout that is asked through a noisy threshold."""

    def __init__(
        self,
        training: Sequence[Any],
        holdout: Sequence[Any],
        *,
        threshold: object,
        epsilon: object,
        budget: object = 10,
        step: object = None,
        unit: object = Unit.REPLACE_ONE,
    ) -> None:
        if len(training) == 0 or len(holdout) == 0:
            raise DataError("training, holdout", (len(training), len(holdout)), "a mean needs rows", "data with rows")
        self._training, self._holdout = training, holdout
        self.budget = integer(budget, name="budget", least=1)
        read_replacement(unit)
        whole = exact(epsilon, name="epsilon", positive=True)
        moved = Fraction(1, len(holdout))
        self.watch = AboveThreshold(
            epsilon=whole / 2,
            sensitivity=moved,
            threshold=rational(threshold, name="threshold", positive=True),
            count=self.budget,
            step=step,
            unit=unit,
        )
        self.answer = Laplace(epsilon=whole / 2 / self.budget, sensitivity=moved, step=step, unit=unit)
        self._watching: Watch = self.watch.start()
        self._lock = Lock()

    @property
    def guarantee(self) -> Guarantee:
        """What is promised to the rows of the holdout, for all questions together."""
        return self.watch.guarantee + self.budget * self.answer.guarantee

    @property
    def left(self) -> int:
        """How many more answers the holdout can give."""
        return self._watching.left

    def error(self, confidence: object) -> float:
        """How far an answer from the holdout may lie from its mean."""
        return float(self.answer.error(confidence))

    def ask(self, question: Callable[[Any], Any]) -> Checked:
        """The mean of a function of the rows, which gives an array of numbers in [0, 1], one a row."""
        here = _mean(question, self._training)
        with self._lock:
            if self.left <= 0:
                raise BudgetError("budget", self.budget, "the holdout has given all its answers", "a fresh holdout")
            try:
                there = _mean(question, self._holdout)
            except Exception:  # whatever it is, it may depend on a row
                there = Fraction(0)
            if self._watching.ask(abs(here - there)) is None:
                return Checked(float(here), overfitted=False)
            return Checked(float(self.answer.release(there)), overfitted=True)


def _mean(question: Callable[[Any], Any], rows: Sequence[Any]) -> Fraction:
    """The exact mean of the values on the lattice, each moved into [0, 1]."""
    import numpy as np

    values = as_array(question(rows), name="question")
    if values.dtype == np.bool_:
        values = values.astype(np.int64)  # yes counts as 1
    places = FINE.indices(values)
    if places.shape != (len(rows),):
        raise DataError("question", places.shape, "it must give one number for each row", "an array as long as the rows")
    inside = np.clip(places, 0, 2**32)
    return Fraction(int(inside.sum()), 2**32 * len(rows))
