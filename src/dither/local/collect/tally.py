"""A tally: counts of reports, the sufficient statistic of an estimate; tallies add up, wherever they were counted."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dither.arguments import argument_errors
from dither.errors import DataError
from dither.local.collect.reports import Reports, same_survey

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LARGEST = 2**53  # reports, and counts: their sums and shares are exact


@argument_errors
@dataclass(frozen=True, eq=False)
class Tally:
    """Counts of many reports, from which a survey estimates frequencies; tallies add up.

    Args:
        record: which survey they answer, as plain JSON.
        counts: what this kind of survey keeps, in one row of 64-bit integers.
        people: how many reports were counted.
        rejected: how many were no report of this survey.
        duplicates: how many were further reports of a client; None where nobody asked for client ids.

    Raises:
        DataError: a number is below zero, above 2^53 or not whole; tallies of two surveys are added up, or one that was
            counted by client ids: the same client may be in the other.

    Example:
        >>> from dither.local import DirectEncoding, Tally
        >>> survey = DirectEncoding(["yes", "no"], epsilon=1)
        >>> tally = survey.tally(survey.randomize(["yes", "no", "no"]))
        >>> tally + Tally.from_json(tally.to_json())
        Tally(direct, 6 reports, 0 rejected)
    """

    record: dict[str, object]
    counts: NDArray[np.int64]
    people: int
    rejected: int = 0
    duplicates: int | None = None

    @classmethod
    def of(cls, record: dict[str, object], reports: Reports, counted: int, counts: NDArray[np.int64], bad: int) -> Tally:
        """The tally of `reports` to the survey of a `record`: `counts` of those that were `counted`, some of them `bad`."""
        repeated = None if reports.ids is None else len(reports) - counted
        return cls(record, counts, counted - bad, bad + reports.broken, repeated)

    def __post_init__(self) -> None:
        counts, numbers = self.counts, (self.people, self.rejected, self.duplicates or 0)
        if counts.ndim != 1 or counts.dtype.kind != "i" or (counts.size and int(counts.min()) < 0):
            raise DataError("counts", counts.dtype, "they are whole numbers in a row, not below zero", "what tally() gave")
        if not all(type(n) is int and 0 <= n <= LARGEST for n in numbers) or (counts.size and int(counts.max()) > LARGEST):
            raise DataError("tally", numbers, f"its numbers are whole, from 0 to {LARGEST}", "what tally() gave")

    def __add__(self, other: Tally) -> Tally:
        if not isinstance(other, Tally):
            raise DataError("operand of +", other, "a tally is added to tallies", "a tally of the same survey")
        other.check(self.record, self.counts.size)
        if self.duplicates is not None or other.duplicates is not None:
            why = "one of them was counted by client ids, and the same client may be in the other"
            raise DataError("operand of +", other, why, "all reports through one ClientRegister, or one a part of the ids")
        return Tally(self.record, self.counts + other.counts, self.people + other.people, self.rejected + other.rejected)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tally):
            return NotImplemented
        mine, its = ((each.people, each.rejected, each.duplicates) for each in (self, other))
        return mine == its and self.record == other.record and self.counts.tolist() == other.counts.tolist()

    __hash__ = None  # type: ignore[assignment]

    def check(self, record: dict[str, object], size: int) -> None:
        """Refuses a tally whose survey is not the one of this `record`, or which has not `size` counts."""
        same_survey(self.record, record, "tally")
        if self.counts.size != size:
            raise DataError("tally", self.counts.size, f"such a survey keeps {size} counts", "what tally() gave")

    def to_json(self) -> str:
        """JSON text, for storing and for adding up elsewhere."""
        stored = {"record": self.record, "counts": self.counts.tolist(), "people": self.people, "rejected": self.rejected}
        return json.dumps(stored if self.duplicates is None else {**stored, "duplicates": self.duplicates})

    @classmethod
    def from_json(cls, text: str) -> Tally:
        """A tally from `text`, what `to_json` wrote; a DataError where it is something else."""
        import numpy as np

        try:
            stored: Any = json.loads(text)
            counts, people, rejected = stored["counts"], stored["people"], stored["rejected"]
            record = stored["record"]
            if not isinstance(record, dict):
                raise ValueError("a record")
            if not all(type(count) is int for count in counts):
                raise ValueError("counts are whole numbers")
            return cls(record, np.array(counts, dtype=np.int64), people, rejected, stored.get("duplicates"))
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
            shown = text[:40] if isinstance(text, str) else text
            raise DataError("tally", shown, "dither did not write this", "what to_json gave") from error

    def __repr__(self) -> str:
        more = "" if self.duplicates is None else f", {self.duplicates} duplicates"
        return f"Tally({self.record.get('kind')}, {self.people} reports, {self.rejected} rejected{more})"
