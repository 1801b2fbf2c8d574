"""Reports as an engine gives them: different numbers with how often each came, or batches of bytes.

Whoever counts, the tally is that of the same reports in one array, since a survey counts each report by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dither.local.collect.reports import Reports
from dither.local.collect.tally import Tally
from dither.local.registry import AnySurvey

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray


def is_plain(survey: AnySurvey) -> bool:
    """Whether a report is a number, or a few; otherwise it is bytes."""
    return survey.dtype.kind == "u" or survey.dtype.names is not None


def _fields(survey: AnySurvey) -> dict[str, np.dtype[Any]]:
    dtype = survey.dtype
    return {"report": dtype} if dtype.names is None else {name: dtype[name] for name in dtype.names}


def largest_numbers(survey: AnySurvey) -> dict[str, int]:
    """The columns of a report of numbers, each with the largest number there: of its type, or where that is large of what is
    kept."""
    import numpy as np

    kept, found = nothing(survey).counts.size, {}
    for name, kind in _fields(survey).items():
        most = int(np.iinfo(kind).max)
        found[name] = most if kind.itemsize <= 2 else min(most, kept)
    return found


def nothing(survey: AnySurvey, rejected: int = 0) -> Tally:
    """The tally of no report, beside so many rows that are none."""
    import numpy as np

    empty = survey.tally(Reports(survey.record, np.zeros(0, dtype=survey.dtype)))
    return Tally(survey.record, empty.counts, 0, rejected)


def tally_groups(survey: AnySurvey, columns: Mapping[str, np.ma.MaskedArray[Any, Any]], times: NDArray[np.int64]) -> Tally:
    """The tally of reports that are numbers: of each different one, masked where it is none, how many times it came."""
    import numpy as np

    good = np.ones(times.shape, dtype=bool)
    payload = np.zeros(times.shape, dtype=survey.dtype)
    for name, kind in _fields(survey).items():
        values = columns[name]
        data = np.ma.getdata(values)
        fits = ~np.ma.getmaskarray(values) & (data >= 0) & (data <= np.iinfo(kind).max)
        good &= fits
        target = payload if survey.dtype.names is None else payload[name]
        target[fits] = data[fits].astype(kind)
    return _repeated(survey, payload[good], times[good]) + nothing(survey, int(times[~good].sum()))


def _repeated(survey: AnySurvey, payload: NDArray[Any], times: NDArray[np.int64]) -> Tally:
    """The tally of reports that came several times each: the bits of the numbers one by one, since tallies add up."""
    total = nothing(survey)
    for bit in range(int(times.max(initial=0)).bit_length()):
        part = survey.tally(Reports(survey.record, payload[(times >> bit) & 1 == 1]))
        total += Tally(survey.record, part.counts << bit, part.people << bit, part.rejected << bit)
    return total


def tally_bytes(survey: AnySurvey, column: pa.Array) -> Tally:
    """The tally of one batch of reports that are bytes; what is missing or has another length is none."""
    import numpy as np
    import pyarrow as pa

    size = survey.dtype.itemsize
    if pa.types.is_fixed_size_binary(column.type) and column.type.byte_width == size and not column.null_count:
        data = np.frombuffer(column.buffers()[1], dtype=np.uint8)
        whole = data[column.offset * size : (column.offset + len(column)) * size].tobytes()
    else:
        whole = b"".join(one for one in column.to_pylist() if one is not None and len(one) == size)
    payload = np.frombuffer(whole, dtype=np.dtype((np.void, size)))
    return survey.tally(Reports(survey.record, payload, broken=len(column) - len(payload)))
