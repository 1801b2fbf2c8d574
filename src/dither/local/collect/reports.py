"""Reports: randomized answers as they leave a person's hands, with the survey that they answer.

On the wire: eight bytes "dither\\x00\\x01" (the last is the version), the length of the record (four bytes, little-endian),
the record (JSON: the kind, the domain, epsilon and what else defines the survey), and then reports of one fixed size.

A collector reads bytes from strangers. What is not a report is counted and left out; only a header that cannot be read, or
one of another survey, is refused as a whole. Nothing that a stranger sends makes more than it costs to send.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias

from dither.arguments import argument_errors
from dither.errors import DataError
from dither.numeric.number import integer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BytesLike: TypeAlias = bytes | bytearray | memoryview

MAGIC = b"dither\x00\x01"
LONGEST_RECORD = 2**26


@argument_errors
@dataclass(frozen=True, eq=False)
class Reports:
    """Randomised answers, with the record of the survey that they answer.

    Args:
        record: which survey they answer, as plain JSON.
        payload: an array with one entry a report.
        broken: pieces that were too short to be a report.

    Raises:
        DataError: reports of two surveys are added up, or bytes are no reports.

    Example:
        >>> from dither.local import DirectEncoding, Reports
        >>> survey = DirectEncoding(["yes", "no"], epsilon=1)
        >>> data = survey.randomize(["yes", "no", "no"]).to_bytes()
        >>> len(Reports.from_bytes(data, size=survey.dtype.itemsize))
        3
    """

    record: dict[str, object]
    payload: NDArray[Any]
    broken: int = 0

    def __repr__(self) -> str:
        broken = f", {self.broken} broken" if self.broken else ""
        return f"Reports({self.record.get('kind')!r}, {len(self)} reports{broken})"

    def __len__(self) -> int:
        return len(self.payload)

    def __add__(self, other: Reports) -> Reports:
        import numpy as np

        if not isinstance(other, Reports):
            raise DataError("operand of +", other, "reports are joined with reports", "reports of the same survey")
        other.check(self.record)
        joined = np.concatenate([self.payload, other.payload_as(self.payload.dtype)])
        return Reports(self.record, joined, self.broken + other.broken)

    def check(self, record: dict[str, object]) -> None:
        """Refuses reports whose survey is not the one of this `record`."""
        same_survey(self.record, record, "reports")

    def payload_as(self, dtype: np.dtype[Any]) -> NDArray[Any]:
        """The payload as reports of this `dtype`; raw bytes are read as such."""
        if self.payload.dtype == dtype:
            return self.payload
        if self.payload.dtype.kind != "V" or self.payload.dtype.itemsize != dtype.itemsize:
            raise DataError("reports", self.payload.dtype, f"reports of this survey are {dtype}", "what randomize gave")
        return self.payload.view(dtype).reshape(-1)

    def to_bytes(self) -> bytes:
        """The wire format: header, record and reports."""
        record = json.dumps(self.record, sort_keys=True).encode()
        return MAGIC + len(record).to_bytes(4, "little") + record + self.payload.tobytes()

    @classmethod
    def from_bytes(cls, data: BytesLike, *, size: SupportsIndex) -> Reports:
        """Reports from `data`, what `to_bytes` wrote, each of `size` bytes; a NumberError where that is not at least 1."""
        import numpy as np

        record, start = read_header(data)
        width = integer(size, name="size", least=1)
        whole = (len(data) - start) // width
        payload = np.frombuffer(data, dtype=np.dtype((np.void, width)), count=whole, offset=start)
        return cls(record, payload, broken=int((len(data) - start) % width > 0))


def read_header(data: BytesLike) -> tuple[dict[str, object], int]:
    """The record of the survey in `data`, and where the reports begin."""
    if not isinstance(data, (bytes, bytearray, memoryview)) or bytes(data[: len(MAGIC)]) != MAGIC:
        raise DataError(
            "reports", data[:16] if isinstance(data, bytes) else type(data), "dither did not write these", "to_bytes()"
        )
    size = int.from_bytes(data[len(MAGIC) : len(MAGIC) + 4], "little")
    start = len(MAGIC) + 4
    if size > LONGEST_RECORD or start + size > len(data):
        raise DataError("reports", size, "the record is cut short", "all the bytes that to_bytes gave")
    return read_record(bytes(data[start : start + size])), start + size


def read_record(text: bytes | str) -> dict[str, object]:
    """The record of a survey, from JSON."""
    try:
        record = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError("record", text[:40], "it is not JSON", "what dither wrote") from error
    if not isinstance(record, dict) or not isinstance(record.get("kind"), str):
        raise DataError("record", text[:40], "it names no survey", "what dither wrote")
    return record


def same_survey(came: dict[str, object], wanted: dict[str, object], what: str) -> None:
    """Refuses a record that came (`what` names its place) and is not the wanted one; says what differs."""
    try:
        if json.dumps(came, sort_keys=True) == json.dumps(wanted, sort_keys=True):  # true is not 1 there
            return
    except (TypeError, ValueError, RecursionError) as error:
        raise DataError(what, "a record", f"it is no record of a survey: {error}", "what dither wrote") from error
    both = dict.fromkeys([*wanted, *came])
    keys = [key for key in both if json.dumps(came.get(key, "")) != json.dumps(wanted.get(key, ""))]
    keys = keys or [key for key in both if (key in came) != (key in wanted)] or ["order"]
    differs = f"their {keys[0]} is {str(came.get(keys[0]))[:40]} and that of this survey {str(wanted.get(keys[0]))[:40]}"
    raise DataError(what, came.get("kind"), f"they answer another survey: {differs}", "the survey that asked")
