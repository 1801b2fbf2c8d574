"""What classifiers share: labels from probabilities, and a score that does not read private data by accident."""

from __future__ import annotations

from typing import Any, ClassVar

from dither.errors import DataError
from dither.extras import needs
from dither.learn.base.cells import read_cells
from dither.learn.base.estimator import PrivateEstimator
from dither.learn.base.facts import Facts
from dither.learn.base.private_score import Asked, PrivateScore, classifier_score
from dither.ledger.ledger import Ledger
from dither.numeric.number import NumberLike
from dither.privacy.unit import UnitLike

with needs("dither[learn]"):
    import numpy as np
    from sklearn.base import ClassifierMixin
    from sklearn.metrics import accuracy_score
    from sklearn.utils.validation import check_is_fitted, validate_data

SCORE_WAYS = "score(X, y, public=True) on public rows, or private_score(X, y, epsilon='0.1') on private ones"


def refuse_score(public: bool) -> None:
    """A score of private rows is a release that nobody pays for."""
    if public is not True:
        raise DataError("score", "private rows", "a score is exact, so it tells of single rows", SCORE_WAYS)


class PrivateClassifier(ClassifierMixin, PrivateEstimator):
    """A classifier whose classes are public."""

    _supervision: ClassVar[str | None] = "classes"

    classes: Any
    classes_: Any

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
        """The accuracy on private rows, at a price: right and wrong answers are counted with noise.

        Each row is asked about alone, at half a millisecond or so: only then can no row change the answer of another.

        Args:
            X: private rows, as `fit` takes them.
            y: the labels; rows with a label that is no class are left out.
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
        return classifier_score(type(self).__name__, self.predict, self.facts_, cells, y, person, asked)

    def _model(self, facts: Facts, stored: str, receipt: Any) -> Any:
        texts = sum(isinstance(one, str) for one in facts.classes)
        mixed = 0 < texts < len(facts.classes)  # as one kind of array, numbers would become texts
        self.classes_ = np.array(facts.classes, dtype=object if mixed else None)
        return super()._model(facts, stored, receipt)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # at little data, noise exceeds the signal
        return tags
