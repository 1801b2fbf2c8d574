"""Reports in files, tallied piece by piece: Parquet with a column or a few, and the bytes of the wire format.

A row that is no report (missing, of the wrong length, too large, no number at all) is counted as rejected and left out; a
file that cannot be read, or is of another survey, is refused. Numbers are tallied by DuckDB, as a GROUP BY: there are few
different reports, however many people answered. Bytes, and reports with client ids, are counted batch by batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from glob import glob
from pathlib import Path
from typing import Any

from dither.errors import DataError, InputError, show
from dither.local.collect.client_register import ClientRegister
from dither.local.collect.reports import (
    CLIENT,
    ID_SIZE,
    LONGEST_RECORD,
    MAGIC,
    Header,
    Reports,
    read_header,
    read_record,
    read_reports,
)
from dither.local.collect.tally import Tally
from dither.local.columns import BATCH, Progress, open_parquet, record_batches
from dither.local.grouped_reports import is_plain, largest_numbers, nothing, tally_bytes, tally_groups
from dither.local.registry import AnySurvey

KEY = b"dither.survey"
CLIENTS = b"dither.clients"  # among the metadata: the version of the column of ids
STARTS = f"nor a message of the wire format, which begins with {MAGIC!r}"
EITHER = "what `dither local randomize` wrote, or a message as docs/wire-format.md has it"
LARGEST_BATCH = 1 << 26  # bytes
WROTE = "what `dither local randomize` wrote"


def find_files(paths: Iterable[Path | str]) -> list[Path]:
    """The files that paths and patterns name, in order; refused where one names nothing, or a file is named twice."""
    found: dict[Path, Path] = {}
    for path in paths:
        matches = glob(str(path), recursive=True)  # noqa: PTH207 - Path has it for one folder only
        named = [Path(path)] if Path(path).exists() else [Path(each) for each in sorted(matches)]
        files = [each for each in named if each.is_file()]
        if not files:
            here = "a folder" if Path(path).is_dir() else "no file"
            works = "reports.parquet, 'reports/*.parquet' or 'day-*.reports'"
            raise DataError("file", str(path), f"there is {here} of that name", works)
        for each in files:
            if each.resolve() in found:
                raise DataError("file", str(each), "it is named twice, and its reports would count twice", "each file once")
            found[each.resolve()] = each
    return list(found.values())


@contextmanager
def in_file(path: Path | str) -> Iterator[None]:
    """What is refused of a record or of a header says in which file it stands."""
    try:
        yield
    except InputError as error:
        if error.where == "file":
            raise
        why = f"{error.where} = {show(error.came)} is refused: {error.why}"
        raise DataError("file", str(path), why, error.instead) from error


def is_wire(path: Path | str) -> bool:
    """Whether a file begins as the wire format does."""
    try:
        with Path(path).open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError as error:
        raise DataError("file", str(path), f"it cannot be read ({type(error).__name__})", EITHER) from error


def record_of(path: Path | str) -> dict[str, object]:
    """The record of the survey that a file answers."""
    if is_wire(path):
        return _header(path).record
    record = (open_parquet(path, STARTS, EITHER).schema_arrow.metadata or {}).get(KEY)
    if record is None:
        raise DataError("file", str(path), "it carries no survey, so it is no file of reports", WROTE)
    with in_file(path):
        return read_record(record)


def has_ids(path: Path | str) -> bool:
    """Whether the reports of a file have client ids."""
    if is_wire(path):
        return _header(path).with_ids
    return CLIENTS in (open_parquet(path).schema_arrow.metadata or {})


def _header(path: Path | str) -> Header:
    with in_file(path), Path(path).open("rb") as file:
        start = file.read(12)
        return read_header(start + file.read(min(int.from_bytes(start[8:12], "little"), LONGEST_RECORD + 1)))


def tally_one(path: Path | str, survey: AnySurvey, progress: Progress | None, register: ClientRegister | None) -> Tally:
    """The tally of one file of reports of this survey; a register counts each client once."""
    if register is not None:
        pieces = _wire_pieces(path, survey) if is_wire(path) else _pieces_with_ids(path, survey, progress)
        return sum((survey.tally(register.first(piece)) for piece in pieces), nothing(survey))
    if is_wire(path):
        return sum((survey.tally(piece) for piece in _wire_pieces(path, survey)), nothing(survey))
    return _grouped(path, survey, progress) if is_plain(survey) else _streamed(path, survey, progress)


def _wire_pieces(path: Path | str, survey: AnySurvey) -> Iterator[Reports]:
    """Bytes of the wire format, some of them at a time."""
    header, size = _header(path), survey.dtype.itemsize
    width = size + (ID_SIZE if header.with_ids else 0)
    with Path(path).open("rb") as file:
        file.seek(header.start)
        while data := file.read(width * max(1, min(BATCH, LARGEST_BATCH // width))):
            yield read_reports(data, header._replace(start=0), size)


def _pieces_with_ids(path: Path | str, survey: AnySurvey, progress: Progress | None) -> Iterator[Reports]:
    """Rows of a Parquet file with a column of client ids; what is no report, or has no id, is broken."""
    import pyarrow as pa

    size = survey.dtype.itemsize
    file = _need(path, ["report", CLIENT])
    kinds = [file.schema_arrow.field(name).type for name in ("report", CLIENT)]
    if not (_holds_bytes(kinds[1], ID_SIZE) and (pa.types.is_integer(kinds[0]) or _holds_bytes(kinds[0], size))):
        yield read_reports(b"", Header(survey.record, True, 0), size).with_broken(file.metadata.num_rows)
        return
    rows = max(1, min(BATCH, LARGEST_BATCH // (size + ID_SIZE)))
    try:
        for batch in record_batches(file, ["report", CLIENT], rows, progress):
            pairs = [(_as_bytes(report, size), name) for report, name in zip(*batch.to_pydict().values(), strict=True)]
            good = [(report, name) for report, name in pairs if report is not None and name is not None]
            data = b"".join(name + report for report, name in good)
            yield read_reports(data, Header(survey.record, True, 0), size).with_broken(len(pairs) - len(good))
    except (pa.ArrowException, OSError) as error:
        raise DataError("file", str(path), f"it cannot be read to its end: {error}", "a whole Parquet file") from error


def _holds_bytes(kind: Any, size: int) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_fixed_size_binary(kind) and kind.byte_width == size)


def _as_bytes(report: int | bytes | None, size: int) -> bytes | None:
    """One report as the bytes of the wire; None where it is none."""
    if isinstance(report, int):
        return report.to_bytes(size, "little") if 0 <= report < 256**size else None
    return report


def _grouped(path: Path | str, survey: AnySurvey, progress: Progress | None) -> Tally:
    """Different reports and how often each came, by DuckDB, which is handed one batch after the other."""
    import duckdb
    import numpy as np
    import pyarrow as pa

    fields = largest_numbers(survey)
    file = _need(path, fields)
    if not all(pa.types.is_integer(file.schema_arrow.field(name).type) for name in fields):
        return nothing(survey, file.metadata.num_rows)  # text, floats and bytes are no numbers
    # what is out of range is one group: a stranger cannot make more of them than there are reports
    names = ", ".join(f'CASE WHEN "{n}" BETWEEN 0 AND {most} THEN "{n}" END AS "{n}"' for n, most in fields.items())
    keys = ", ".join(f'"{name}"' for name in fields)
    try:
        with duckdb.connect() as connection:
            schema = pa.schema([file.schema_arrow.field(name) for name in fields])
            reader = pa.RecordBatchReader.from_batches(schema, record_batches(file, list(fields), BATCH, progress))
            given: Any = connection.from_arrow(reader).project(names)
            columns = given.aggregate(f"{keys}, count(*) AS n", keys).fetchnumpy()
    except (pa.ArrowException, OSError, duckdb.Error) as error:
        raise DataError("file", str(path), f"it cannot be read to its end: {error}", "a whole Parquet file") from error
    found = {name: np.ma.asarray(columns[name]) for name in fields}
    return tally_groups(survey, found, np.asarray(columns["n"], dtype=np.int64))


def _streamed(path: Path | str, survey: AnySurvey, progress: Progress | None) -> Tally:
    """Reports that are bytes, batch by batch."""
    import pyarrow as pa

    size = survey.dtype.itemsize
    file = _need(path, ["report"])
    kind = file.schema_arrow.field("report").type
    if not pa.types.is_fixed_size_binary(kind) or kind.byte_width != size:  # not even read: its values may be of any size
        return nothing(survey, file.metadata.num_rows)
    total = nothing(survey)
    try:
        for batch in record_batches(file, ["report"], max(1, min(BATCH, LARGEST_BATCH // size)), progress):
            total += tally_bytes(survey, batch.column(0))
    except (pa.ArrowException, OSError) as error:
        raise DataError("file", str(path), f"it cannot be read to its end: {error}", "a whole Parquet file") from error
    return total


def _need(path: Path | str, fields: Iterable[str]) -> Any:
    file = open_parquet(path)
    for name in fields:
        if file.schema_arrow.names.count(name) != 1:
            raise DataError("file", str(path), f"it has no column '{name}', or several", WROTE)
    return file
