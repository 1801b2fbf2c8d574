"""What regressors share: a target with public bounds, and a score that does not read private data by accident."""

from __future__ import annotations

from typing import Any, ClassVar

from dither.extras import needs
from dither.learn.base.cells import read_cells
from dither.learn.base.classifier import refuse_score
from dither.learn.base.estimator import PrivateEstimator
from dither.learn.base.private_score import Asked, PrivateScore, regressor_score
from dither.ledger.ledger import Ledger
from dither.numeric.number import NumberLike
from dither.privacy.unit import UnitLike

with needs("dither[learn]"):
    from sklearn.base import RegressorMixin
    from sklearn.metrics import r2_score
    from sklearn.utils.validation import check_is_fitted, validate_data


class PrivateRegressor(RegressorMixin, PrivateEstimator):
    """A regressor whose target has public bounds."""

    _supervision: ClassVar[str | None] = "target"

    target_bounds: Any

    def predict(self, X: Any) -> Any:
        """The target, for each row of `X`."""
        raise NotImplementedError

    def score(self, X: Any, y: Any, *, public: bool = False) -> float:
        """R squared on rows `X` with targets `y` that are `public`. On private ones it is refused."""
        check_is_fitted(self, "guarantee_")
        refuse_score(public)
        return float(r2_score(y, self.predict(X)))

    def private_score(
        self,
        X: Any,
        y: Any,
        *,
        epsilon: NumberLike,
        unit: UnitLike = "add/remove one person",
        person: Any = None,
        confidence: NumberLike = "0.95",
        ledger: Ledger | None = None,
        analyst: str = "",
    ) -> PrivateScore:
        """R squared on private rows, at a price; targets and predictions are moved into `target_bounds`.

        Each row is asked about alone, at half a millisecond or so: only then can no row change the answer of another.

        Args:
            X: private rows, as `fit` takes them.
            y: the targets; rows without a number are left out.
            epsilon: the price, pure.
            unit: whom it protects.
            person: one value for each row that says whose it is; the first `max_rows` of each count.
            confidence: of the interval, which holds the score of these rows; it is about noise, not about other rows.
            ledger: is charged before rows are read; left out, the model's own, if it has one.
            analyst: who asks, where the ledger has shares; left out, as the model says.

        Raises:
            DataError, SizeError, NumberError, UnitError: parameters or shapes do not fit.
            BudgetError: the ledger has less left than the price.
            ReleaseError: it failed after the charge; the cause is not told.
        """
        check_is_fitted(self, "guarantee_")
        cells = read_cells(X, len(self.facts_.columns))
        validate_data(self, X if cells.names else cells, reset=False, skip_check_array=True)
        asked = Asked.of(epsilon, unit, confidence, self.ledger if ledger is None else ledger, analyst or self.analyst)
        return regressor_score(type(self).__name__, self.predict, self.facts_, cells, y, person, asked)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # at little data, noise exceeds the signal
        return tags
