"""Who pays for a fit: the ledger that an estimator was given. A copy has the same one, or says that it was left behind.

`clone`, `copy` and `deepcopy` stay in this process and keep the ledger. A pickle goes to a file or to another process, where
the ledger is not: it holds a mark in place of it, and a fit that finds the mark is refused. With no ledger at all in its
place, the workers of a search in parallel would fit without a charge.

Inside scikit-learn's cross-validation a copy and a fit are refused: every fold would be charged, and only then would its
score, which tells of single rows, be refused. scikit-learn asks an estimator about none of this beforehand: with
`scoring="accuracy"` it looks for `predict` alone. So the callers are looked at. All of them begin with a `clone`, in the
thread of the caller, and an error there arrives as it is; one in `fit` is taken for a fold that failed.
"""

from __future__ import annotations

import re
import sys
from copy import deepcopy
from typing import Any, Self

from attrs import frozen

from dither.errors import DataError
from dither.ledger.ledger import Ledger

WAYS = "ledger=dither.Ledger('clinic.ledger')"
SPLITS = re.compile(r"[A-Za-z]+CV\.|_?[A-Za-z]*Stacking")  # classes of scikit-learn that cross-validate, by their names
FITS_ONCE = ("BaseThresholdClassifier.", "FixedThresholdClassifier.")  # of model_selection, and yet no cross-validation


@frozen
class LeftBehind:
    """In place of a ledger, in what was pickled."""


class KeepsLedger:
    """What copies of an estimator, or of a search, do with its ledger."""

    def __copy__(self) -> Self:
        found = type(self).__new__(type(self))
        found.__dict__.update(self.__dict__)
        return found

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        found = memo[id(self)] = type(self).__new__(type(self))
        found.__dict__.update({name: deepcopy(value, memo) for name, value in self.__dict__.items()})
        return found

    def __sklearn_clone__(self) -> Self:
        """The same parameters, not fitted; refused inside cross-validation."""
        refuse_cross_validation()
        found: Self = super().__sklearn_clone__()  # type: ignore[misc]
        return found

    def __getstate__(self) -> dict[str, Any]:
        """A copy that is written to a file has no ledger: that is opened by its place, not copied."""
        state: dict[str, Any] = super().__getstate__()  # type: ignore[assignment]
        return state if state.get("ledger") is None else {**state, "ledger": LeftBehind()}


def refuse_cross_validation() -> None:
    """Refuse what scikit-learn's cross-validation asks for, before any charge: a fit for each fold, and exact scores."""
    caller, frame = "", sys._getframe(1)
    while frame is not None:
        module, name = str(frame.f_globals.get("__name__")), frame.f_code.co_qualname
        selects = module.startswith("sklearn.model_selection.") and not name.startswith(FITS_ONCE)
        if selects or (module.startswith("sklearn.") and SPLITS.match(name)):
            caller = type(frame.f_locals["self"]).__name__ if "self" in frame.f_locals else name.split(".")[0]
        frame = frame.f_back  # type: ignore[assignment]
    if caller:
        why = "each fold is a fit that is charged in full, and exact scores tell of single rows; nothing was charged"
        ways = "one fit and private_score(X, y, epsilon='0.1') on rows that were held out, or PrivateSearch among settings"
        raise DataError("fit", caller, why, ways)


def read_ledger(ledger: Any) -> Ledger | None:
    """The ledger that is charged; None where nobody counts."""
    if isinstance(ledger, LeftBehind):
        why = "it was left behind when this was pickled, as for another process (n_jobs), so nobody would be charged"
        raise DataError("ledger", "left behind", why, f"set_params({WAYS}), or n_jobs=1")
    if ledger is not None and not isinstance(ledger, Ledger):
        raise DataError("ledger", ledger, "it is not a ledger", WAYS)
    return ledger
