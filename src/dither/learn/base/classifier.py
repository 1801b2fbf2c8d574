"""What classifiers share: labels from probabilities, and a score that does not read private data by accident."""

from __future__ import annotations

from typing import Any, ClassVar

from dither.errors import DataError
from dither.extras import needs
from dither.learn.base.estimator import PrivateEstimator
from dither.learn.base.facts import Facts

with needs("dither[learn]"):
    import numpy as np
    from sklearn.base import ClassifierMixin
    from sklearn.metrics import accuracy_score
    from sklearn.utils.validation import check_is_fitted

SCORE_WAYS = "score(X, y, public=True) on public rows, or private_score(X, y, epsilon='0.1') on private ones"


def refuse_score(public: bool) -> None:
    """A score of private rows is a release that nobody pays for."""
    if public is not True:
        raise DataError("score", "private rows", "a score is exact, so it tells of single rows", SCORE_WAYS)


class PrivateClassifier(ClassifierMixin, PrivateEstimator):
    """A classifier whose classes are public."""

    _supervision: ClassVar[str | None] = "classes"

    classes: Any

    def predict_proba(self, X: Any) -> Any:
        """The probability of each class, in the order of `classes_`, for each row of `X`."""
        raise NotImplementedError

    def predict(self, X: Any) -> Any:
        """The class that is most probable, for each row of `X`."""
        chances = self.predict_proba(X)  # first: it says where nothing was fitted
        return self.classes_[np.argmax(chances, axis=1)]

    def predict_log_proba(self, X: Any) -> Any:
        """The logarithm of `predict_proba`, for each row of `X`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def score(self, X: Any, y: Any, *, public: bool = False) -> float:
        """The accuracy on rows `X` with labels `y` that are `public`. On private ones it is refused."""
        check_is_fitted(self, "guarantee_")
        refuse_score(public)
        return float(accuracy_score(y, self.predict(X)))

    def _model(self, facts: Facts, stored: str, receipt: Any) -> Any:
        self.classes_ = np.array(facts.classes)
        return super()._model(facts, stored, receipt)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # at little data, noise exceeds the signal
        return tags
