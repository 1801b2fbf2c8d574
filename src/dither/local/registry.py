"""The registry of surveys: by their names in the wire format, and back from the record that reports carry."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Protocol

from dither.arguments import argument_errors
from dither.errors import DataError, DitherError, PrecisionError, show
from dither.local.collect.reports import RECORD, Reports, read_record
from dither.local.collect.tally import Tally
from dither.local.surveys.coin_flip import CoinFlip
from dither.local.surveys.direct_encoding import DirectEncoding
from dither.local.surveys.grid_response import GridResponse
from dither.local.surveys.hadamard_response import HadamardResponse
from dither.local.surveys.heavy_hitters import HeavyHitters
from dither.local.surveys.hybrid import Hybrid
from dither.local.surveys.local_hashing import LocalHashing
from dither.local.surveys.longitudinal import Longitudinal
from dither.local.surveys.noisy_number import NoisyNumber
from dither.local.surveys.piecewise_and_duchi import Duchi, Piecewise
from dither.local.surveys.subset_selection import SubsetSelection
from dither.local.surveys.unary_encoding import UnaryEncoding
from dither.numeric.number import Number, NumberLike
from dither.privacy.guarantee.guarantee import Guarantee

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy as np

KINDS: dict[str, Any] = {
    "coin flip": CoinFlip,
    "direct": DirectEncoding,
    "duchi": Duchi,
    "grid": GridResponse,
    "hadamard": HadamardResponse,
    "hashing": LocalHashing,
    "heavy hitters": HeavyHitters,
    "hybrid": Hybrid,
    "longitudinal": Longitudinal,
    "noisy number": NoisyNumber,
    "piecewise": Piecewise,
    "subset": SubsetSelection,
    "unary": UnaryEncoding,
}
NUMBERS = ("duchi", "hybrid", "noisy number", "piecewise")
LISTED = ("direct", "hadamard", "hashing", "subset", "unary")


class AnySurvey(Protocol):
    """What all surveys have, whatever they ask."""

    @property
    def record(self) -> dict[str, object]:
        """What says which survey this is, as plain JSON."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of one report: fixed size, little-endian."""

    @property
    def guarantee(self) -> Guarantee:
        """What is promised to each person."""

    def client_table(self) -> str:
        """What a client in another language draws from, as JSON."""

    def randomize(self, values: Iterable[Any]) -> Reports:
        """A report for each of the `values`."""

    def tally(self, reports: Reports) -> Tally:
        """Counts of `reports`, which add up."""

    def estimate(self, found: Reports | Tally, *, confidence: NumberLike = "0.95") -> Any:
        """Frequencies, a mean or frequent items, from what was `found`: reports or a tally."""


def by_name(kind: object) -> Any:  # also what stands in a record that a stranger wrote
    """The class of a survey, by its name on the wire."""
    if not isinstance(kind, str) or kind not in KINDS:
        raise DataError("survey", kind, "there is no survey of that name", ", ".join(KINDS))
    return KINDS[kind]


def from_record(record: dict[str, object]) -> AnySurvey:
    """The survey that a record describes. A record comes from strangers: whatever is wrong with it is an `InputError`."""
    found, kind = by_name(record.get("kind")), record["kind"]
    rest: dict[str, Any] = {k: v for k, v in record.items() if k not in ("kind", "epsilon")}
    try:
        epsilon = Number.from_json(record["epsilon"])
        if kind == "coin flip":
            rest.pop("domain")
            made: AnySurvey = found(**rest)
        elif kind == "longitudinal":
            made = found(_values(rest.pop("domain")), first=Number.from_json(rest.pop("first")), forever=epsilon, **rest)
        elif kind == "heavy hitters":
            rest.pop("cells")
            made = found(epsilon=epsilon, **rest)
        elif kind in LISTED:
            if rest.get("hash") == "balanced":
                del rest["seeds"]  # there are as many as it takes
            for follows in ("hash", "cells", "chosen"):  # from the rest: the whole record is compared below
                rest.pop(follows, None)
            made = found(_values(rest.pop("domain")), epsilon=epsilon, **rest)
        else:
            made = found(epsilon=epsilon, **rest)
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, PrecisionError, RecursionError) as error:
        why = f"it does not describe a survey: {_reason(error)}"
        raise DataError("record", kind, why, RECORD) from error
    if json.dumps(made.record, sort_keys=True) != json.dumps(record, sort_keys=True):
        raise DataError("record", kind, "it says something else than such a survey would", RECORD)
    return made


def _reason(error: Exception) -> str:
    """What is wrong with a record, without the advice of whoever found it: that is for callers in Python."""
    if isinstance(error, DitherError):
        return f"{error.where} = {show(error.came)} ({error.why})"
    return f"it has no {error}" if isinstance(error, KeyError) else str(error)


@argument_errors
def survey_from_record(record: Mapping[str, object] | str | bytes) -> AnySurvey:
    """The survey that a record describes: what reports, tallies and client tables carry.

    Args:
        record: the record, or its JSON.

    Raises:
        DataError: it does not describe a survey of this version.

    Example:
        >>> from dither.local import DirectEncoding, survey_from_record
        >>> reports = DirectEncoding(["yes", "no"], epsilon=1).randomize(["yes"])
        >>> survey_from_record(reports.record)
        DirectEncoding(2 values, epsilon='1')
    """
    return from_record(read_record(record) if isinstance(record, (str, bytes)) else dict(record))


def _values(domain: Any) -> list[Any]:
    return [tuple(value) if isinstance(value, list) else value for value in domain]
