"""Who pays for a fit: the ledger that an estimator was given. A copy has the same one, or says that it was left behind.

`clone`, `copy` and `deepcopy` stay in this process and keep the ledger. A pickle goes to a file or to another process, where
the ledger is not: it holds a mark in place of it, and a fit that finds the mark is refused. With no ledger at all in its
place, the workers of a search in parallel would fit without a charge.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Self

from attrs import frozen

from dither.errors import DataError
from dither.ledger.ledger import Ledger

WAYS = "ledger=dither.Ledger('clinic.ledger')"


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

    def __getstate__(self) -> dict[str, Any]:
        """A copy that is written to a file has no ledger: that is opened by its place, not copied."""
        state: dict[str, Any] = super().__getstate__()  # type: ignore[assignment]
        return state if state.get("ledger") is None else {**state, "ledger": LeftBehind()}


def read_ledger(ledger: Any) -> Ledger | None:
    """The ledger that is charged; None where nobody counts."""
    if isinstance(ledger, LeftBehind):
        why = "it was left behind when this was pickled, as for another process (n_jobs), so nobody would be charged"
        raise DataError("ledger", "left behind", why, f"set_params({WAYS}), or n_jobs=1")
    if ledger is not None and not isinstance(ledger, Ledger):
        raise DataError("ledger", ledger, "it is not a ledger", WAYS)
    return ledger
