"""A register of client ids: one report a client is counted, whenever its reports come and on however many machines.

`Survey.tally` looks for duplicates among the reports that it is given. Where reports come piece by piece a register knows
whose came already. Tallies have no ids, so a client that is in two of them cannot be found there: two machines share the
ids instead. Machine i of n has `ClientRegister(part=i, parts=n)` and is sent the clients of its part, the first eight bytes
of an id, the highest first, modulo n. Parts have no client in common, so their tallies add up to that of all reports.

Counting once protects the estimate, not the person: a client that sends two different reports has spent its epsilon twice,
whatever is counted. A client that is not sure whether its report arrived sends the *same* bytes again.

An id links all that it stands before, and tells that a client took part: it is data about people. The register is as well.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import SupportsIndex

from dither.arguments import argument_errors
from dither.errors import DataError, NumberError
from dither.local.collect.reports import ID_SIZE, BytesLike, Reports
from dither.numeric.number import integer

MAGIC = b"dither ids\x00\x01"
MOST_PARTS = 2**16


@argument_errors
class ClientRegister:
    """The clients whose reports were counted, so that each is counted once.

    Args:
        part: the number of this machine's part of the ids, from 0.
        parts: how many parts there are, up to 65536: one on each machine.

    Raises:
        NumberError: the part is not one of the parts.
        DataError: reports without client ids, or bytes that are no register.

    Example:
        >>> from dither.local import ClientRegister, DirectEncoding
        >>> survey = DirectEncoding(["yes", "no"], epsilon=1)
        >>> register = ClientRegister()
        >>> reports = survey.randomize(["yes", "no", "no"]).with_ids([b"a" * 16, b"b" * 16, b"a" * 16])
        >>> survey.tally(register.first(reports)) + survey.tally(register.first(reports))
        Tally(direct, 2 reports, 0 rejected)
        >>> register
        ClientRegister(2 clients, 4 duplicates)
    """

    def __init__(self, *, part: SupportsIndex = 0, parts: SupportsIndex = 1) -> None:
        self.parts, self.part = integer(parts, name="parts", least=1), integer(part, name="part", least=0)
        if self.parts > MOST_PARTS or self.part >= self.parts:
            raise NumberError("part", part, f"it is below the number of parts, at most {MOST_PARTS}", "part 0 of 4")
        self.duplicates = 0  # further reports of clients that are known
        self.elsewhere = 0  # reports of clients of another part
        self._ids: set[bytes] = set()

    @property
    def clients(self) -> int:
        """How many clients are known."""
        return len(self._ids)

    def first(self, reports: Reports) -> Reports:
        """Those of the `reports` that are the first of their clients, without ids; others are counted and left out.

        Clients are remembered whether or not what they sent was a report of the survey. A DataError where there are no ids.
        """
        if not isinstance(reports, Reports) or reports.ids is None:
            why = "a register tells clients apart by their ids, and these have none"
            raise DataError("reports", type(reports).__name__, why, "reports.with_ids([...]), or survey.tally(reports)")
        kept = []
        for at, name in enumerate(split_ids(reports.ids.tobytes())):
            if part_of(name, self.parts) != self.part:
                self.elsewhere += 1
            elif name in self._ids:
                self.duplicates += 1
            else:
                self._ids.add(name)
                kept.append(at)
        return Reports(reports.record, reports.payload[kept], reports.broken)

    def to_bytes(self) -> bytes:
        """For storing between two pieces: the part, the counts of what was left out, and all ids in order."""
        numbers = (self.part, self.parts, self.duplicates, self.elsewhere)
        return MAGIC + b"".join(number.to_bytes(8, "little") for number in numbers) + b"".join(sorted(self._ids))

    @classmethod
    def from_bytes(cls, data: BytesLike) -> ClientRegister:
        """A register from `data`, what `to_bytes` wrote; a DataError where it is something else."""
        start = len(MAGIC) + 32
        if not isinstance(data, (bytes, bytearray, memoryview)) or bytes(data[: len(MAGIC)]) != MAGIC:
            raise DataError("register", type(data).__name__, "dither did not write this", "what to_bytes gave")
        if len(data) < start or (len(data) - start) % ID_SIZE:
            raise DataError("register", len(data), "it is cut short", "all the bytes that to_bytes gave")
        numbers = [int.from_bytes(data[at : at + 8], "little") for at in range(len(MAGIC), start, 8)]
        found = cls(part=numbers[0], parts=numbers[1])
        found.duplicates, found.elsewhere = numbers[2:]
        found._ids.update(split_ids(bytes(data[start:])))
        return found

    def __repr__(self) -> str:
        parts = "" if self.parts == 1 else f", part {self.part} of {self.parts}"
        return f"ClientRegister({self.clients} clients, {self.duplicates} duplicates{parts})"  # the ids are data


def part_of(client: bytes, parts: int) -> int:
    """The part that an id belongs to: its first eight bytes, the highest first, modulo the number of parts."""
    return int.from_bytes(client[:8], "big") % parts


def split_ids(data: bytes) -> Iterable[bytes]:
    """Ids that stand one after the other."""
    return (data[at : at + ID_SIZE] for at in range(0, len(data), ID_SIZE))
