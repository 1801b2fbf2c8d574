"""What regressors share: a target with public bounds, and a score that does not read private data by accident."""

from __future__ import annotations

from typing import Any, ClassVar

from dither.extras import needs
from dither.learn.base.classifier import refuse_score
from dither.learn.base.estimator import PrivateEstimator

with needs("dither[learn]"):
    from sklearn.base import RegressorMixin
    from sklearn.metrics import r2_score
    from sklearn.utils.validation import check_is_fitted


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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # at little data, noise exceeds the signal
        return tags
