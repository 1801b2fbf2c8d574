"""Reports: randomized answers as they leave a person's hands, with the survey that they answer.

On the wire: seven bytes "dither\\x00", a byte with the version, the length of the record (four bytes, little-endian), the
record (JSON: the kind, the domain, epsilon and what else defines the survey), and then reports of one fixed size. Version 1
has reports alone; in version 2 the id of a client, 16 bytes, stands before each (docs/wire-format.md has every byte).

Ids are for counting one report a client. They link what they stand before, so they are data, and there are none unless
somebody asks for them: docs/wire-format.md#client-ids says what they reveal.

A collector reads bytes from strangers. What is not a report is counted and left out; only a header that cannot be read, or
one of another survey, is refused as a whole. Nothing that a stranger sends makes more than it costs to send.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex, TypeAlias

from dither.arguments import argument_errors
from dither.errors import DataError, show
from dither.local.collect.report_size import report_size
from dither.numeric.number import integer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BytesLike: TypeAlias = bytes | bytearray | memoryview

MAGIC = b"dither\x00"
PLAIN, WITH_IDS = 1, 2  # versions
HEADER = len(MAGIC) + 5  # bytes before the record
ID_SIZE = 16  # bytes
CLIENT = "client"  # the column of ids, where reports are in a table
LONGEST_RECORD = 2**26
NOTHING = object()  # where a record lacks a field
MESSAGE = "a message as docs/wire-format.md has it, or what Reports.to_bytes() gave"
RECORD = "the text `record` of survey.client_table(), as it stands (docs/wire-format.md)"


@argument_errors
@dataclass(frozen=True, eq=False)
class Reports:
    """Randomised answers, with the record of the survey that they answer.

    Args:
        record: which survey they answer, as plain JSON.
        payload: an array with one entry a report.
        broken: pieces that were too short to be a report.
        ids: the id of the client of each report, 16 bytes each, where one report a client is counted; usually None.

    Raises:
        DataError: reports of two surveys are added up, ids are not one for each report, or bytes are no reports.

    Example:
        >>> from dither.local import DirectEncoding, Reports
        >>> survey = DirectEncoding(["yes", "no"], epsilon=1)
        >>> data = survey.randomize(["yes", "no", "no"]).to_bytes()
        >>> len(Reports.from_bytes(data))
        3
    """

    record: dict[str, object]
    payload: NDArray[Any]
    broken: int = 0
    ids: NDArray[Any] | None = None

    def __post_init__(self) -> None:
        if self.ids is not None and self.ids.shape != (len(self.payload), ID_SIZE):
            why = f"each of the {len(self.payload)} reports has an id of {ID_SIZE} bytes"
            raise DataError("ids", self.ids.shape, why, f"an array of bytes with {ID_SIZE} columns")

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
        if (self.ids is None) != (other.ids is None):
            why = "some of these reports have client ids and some have none"
            raise DataError("operand of +", other.payload.shape, why, "all with ids, or none")
        ids = None if self.ids is None or other.ids is None else np.concatenate([self.ids, other.ids])
        return Reports(self.record, joined, self.broken + other.broken, ids)

    def with_ids(self, ids: Iterable[bytes]) -> Reports:
        """These reports with the `ids` of their clients, 16 bytes each; a DataError where they are something else."""
        import numpy as np

        listed = list(ids)
        if not all(isinstance(each, bytes) and len(each) == ID_SIZE for each in listed):
            raise DataError("ids", listed[:1], f"an id has {ID_SIZE} bytes", f"secrets.token_bytes({ID_SIZE})")
        rows = np.frombuffer(b"".join(listed), dtype=np.uint8).reshape(-1, ID_SIZE)
        return Reports(self.record, self.payload, self.broken, rows)

    def with_broken(self, count: int) -> Reports:
        """These reports, and a `count` of pieces that were none."""
        return Reports(self.record, self.payload, self.broken + count, self.ids)

    def one_per_client(self) -> Reports:
        """The first report of each client, in their order, without ids; all of them where they have none."""
        if self.ids is None:
            return self
        first = first_rows(self.ids)
        return Reports(self.record, self.payload[first], self.broken)

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
        """The wire format: header, record and reports, each after the id of its client where there are ids."""
        import numpy as np

        record = json.dumps(self.record, sort_keys=True).encode()
        head = MAGIC + bytes([PLAIN if self.ids is None else WITH_IDS]) + len(record).to_bytes(4, "little") + record
        if self.ids is None:
            return head + self.payload.tobytes()
        rows = np.ascontiguousarray(self.payload).view(np.uint8).reshape(len(self), self.payload.dtype.itemsize)
        return head + np.concatenate([self.ids, rows], axis=1).tobytes()

    @classmethod
    def from_bytes(cls, data: BytesLike, *, size: SupportsIndex | None = None) -> Reports:
        """Reports from `data`, what `to_bytes` wrote.

        The record says how many bytes a report has; `size` says it of a survey that this version does not know, and is
        refused (NumberError) below 1.
        """
        header = read_header(data)
        width = report_size(header.record) if size is None else integer(size, name="size", least=1)
        return read_reports(data, header, width)


class Header(NamedTuple):
    """What stands before reports."""

    record: dict[str, object]
    with_ids: bool
    start: int  # where the reports begin


def read_header(data: BytesLike) -> Header:
    """The record of the survey in `data`, whether client ids follow, and where the reports begin."""
    if not isinstance(data, (bytes, bytearray, memoryview)) or bytes(data[: len(MAGIC)]) != MAGIC or len(data) < HEADER:
        came = bytes(data[:16]) if isinstance(data, (bytes, bytearray, memoryview)) else type(data)
        raise DataError("reports", came, f"they do not begin as reports do, with {MAGIC!r} and five more bytes", MESSAGE)
    version = data[len(MAGIC)]
    if version not in (PLAIN, WITH_IDS):
        raise DataError("version of the reports", version, "this dither reads versions 1 and 2", "a newer dither")
    start = HEADER + int.from_bytes(data[HEADER - 4 : HEADER], "little")
    if start - HEADER > LONGEST_RECORD or start > len(data):
        why = f"the record is cut short: {len(data) - HEADER} bytes follow, and it has at most 2^26 (length: little-endian)"
        raise DataError("length of the record", start - HEADER, why, MESSAGE)
    return Header(read_record(bytes(data[HEADER:start])), version == WITH_IDS, start)


def read_reports(data: BytesLike, header: Header, size: int) -> Reports:
    """The reports of `size` bytes each in `data`, from where the `header` ends; a piece at the end is counted as broken."""
    import numpy as np

    width = size + (ID_SIZE if header.with_ids else 0)
    whole, left = divmod(len(data) - header.start, width)
    rows = np.frombuffer(data, dtype=np.uint8, count=whole * width, offset=header.start).reshape(whole, width)
    payload = np.ascontiguousarray(rows[:, width - size :]).reshape(-1).view(np.dtype((np.void, size)))
    return Reports(header.record, payload, int(left > 0), rows[:, :ID_SIZE] if header.with_ids else None)


def first_rows(ids: NDArray[Any]) -> NDArray[np.int64]:
    """The places of the first row of each id, in their order."""
    import numpy as np

    words = np.ascontiguousarray(ids).view("<u8").reshape(-1, 2)
    order = np.lexsort((words[:, 1], words[:, 0]))  # stable: equal ids stay in their order
    ranked = words[order]
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = (ranked[1:] != ranked[:-1]).any(axis=1)
    return np.sort(order[new])


def read_record(text: bytes | str) -> dict[str, object]:
    """The record of a survey, from JSON."""
    try:
        record = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError("record", text[:40], "it is not JSON", RECORD) from error
    if not isinstance(record, dict) or not isinstance(record.get("kind"), str):
        raise DataError("record", text[:40], "it names no survey: it has no `kind`", RECORD)
    return record


def same_survey(came: dict[str, object], wanted: dict[str, object], what: str, file: str | None = None) -> None:
    """Refuses a record that came (`what` names its place, `file` its file) and is not the wanted one; says what differs."""
    try:
        if json.dumps(came, sort_keys=True) == json.dumps(wanted, sort_keys=True):  # true is not 1 there
            return
    except (TypeError, ValueError, RecursionError) as error:
        raise DataError(what, "a record", f"it is no record of a survey: {error}", "what dither wrote") from error
    both = dict.fromkeys([*wanted, *came])
    keys = [key for key in both if json.dumps(came.get(key, "")) != json.dumps(wanted.get(key, ""))]
    keys = keys or [key for key in both if (key in came) != (key in wanted)] or ["order"]
    name, theirs, ours = keys[0], *(record.get(keys[0], NOTHING) for record in (came, wanted))
    if isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        pairs = enumerate(zip(theirs, ours, strict=True))
        at = next(at for at, (one, two) in pairs if json.dumps(one) != json.dumps(two))
        name, theirs, ours = f"{name}[{at}]", theirs[at], ours[at]
    differs = f"their {name} is {_shown(theirs)} and that of this survey {_shown(ours)}"
    instead = f"the survey that asked; {RECORD}" if file is None else "files of one survey, those of another by themselves"
    raise DataError(what, file or came.get("kind"), f"they answer another survey: {differs}", instead)


def _shown(value: Any) -> str:
    """A field of a record, with the quotes that tell a text from a number."""
    return "missing" if value is NOTHING else show(value)
