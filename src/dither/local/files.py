"""Reports in Parquet files: written piece by piece, and tallied without reading them into memory.

A file has one row a report, and the record of its survey among its metadata. A report that is one number, or a few, is
one column each; any other is a column of bytes. Client ids, where there are some, are a column of 16 bytes. Files of the
wire format (`Reports.to_bytes`) are tallied as well, as collectors of clients in other languages have them.

Files come from strangers. A row that is no report (missing, of the wrong length, too large, no number at all) is counted
as rejected and left out; a file that cannot be read, or is of another survey, is refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dither.arguments import argument_errors
from dither.errors import DataError
from dither.local.collect.client_register import ClientRegister
from dither.local.collect.reports import CLIENT, ID_SIZE, Reports, same_survey
from dither.local.collect.tally import Tally
from dither.local.columns import Progress, read_values
from dither.local.registry import AnySurvey, from_record
from dither.local.report_files import CLIENTS, KEY, find_files, has_ids, in_file, record_of, tally_one
from dither.local.spark_tally import tally_spark

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["read_values", "survey_of", "tally_file", "tally_files", "tally_spark", "to_arrow", "write"]


@argument_errors
def to_arrow(reports: Reports) -> pa.Table:
    """Reports as an Arrow table, with the record of their survey among its metadata.

    Args:
        reports: what `randomize` gave.

    Raises:
        DataError: it is something else.

    Example:
        >>> from dither.local import DirectEncoding, files
        >>> files.to_arrow(DirectEncoding(["yes", "no"], epsilon=1).randomize(["yes", "no"])).num_rows
        2
    """
    import pyarrow as pa

    if not isinstance(reports, Reports):
        raise DataError("reports", reports, "they are no reports", "what randomize gave")
    schema = _schema(reports)
    columns = [_column(reports.ids if field.name == CLIENT else reports.payload, field) for field in schema]
    return pa.Table.from_arrays(columns, schema=schema)


def _schema(reports: Reports) -> pa.Schema:
    import json

    import pyarrow as pa

    dtype = reports.payload.dtype
    if dtype.names is not None:
        fields = [pa.field(name, pa.from_numpy_dtype(dtype[name])) for name in dtype.names]
    elif dtype.kind == "u":
        fields = [pa.field("report", pa.from_numpy_dtype(dtype))]
    else:
        fields = [pa.field("report", pa.binary(dtype.itemsize))]
    metadata: dict[bytes, Any] = {KEY: json.dumps(reports.record, sort_keys=True)}
    if reports.ids is not None:
        fields.append(pa.field(CLIENT, pa.binary(ID_SIZE)))
        metadata[CLIENTS] = "1"
    return pa.schema(fields, metadata=metadata)


def _column(payload: Any, field: pa.Field) -> pa.Array:
    import numpy as np
    import pyarrow as pa

    if pa.types.is_fixed_size_binary(field.type):
        data = pa.py_buffer(np.ascontiguousarray(payload).tobytes())
        return pa.FixedSizeBinaryArray.from_buffers(field.type, len(payload), [None, data])
    return pa.array(np.ascontiguousarray(payload if payload.dtype.names is None else payload[field.name]))


@argument_errors
def write(path: Path | str, batches: Iterable[Reports]) -> int:
    """Write reports of one survey to a Parquet file, piece by piece; how many there were.

    Args:
        path: of the file.
        batches: reports, all of one survey.

    Raises:
        DataError: there is no batch, or two are of different surveys.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from dither.local import DirectEncoding, files
        >>> survey = DirectEncoding(["yes", "no"], epsilon=1)
        >>> with TemporaryDirectory() as folder:
        ...     files.write(Path(folder) / "reports.parquet", [survey.randomize(["yes", "no"]), survey.randomize(["no"])])
        3
    """
    import pyarrow.parquet as pq

    writer: Any = None
    count = 0
    record: dict[str, object] = {}
    try:
        for reports in batches:
            if writer is None:
                record = reports.record
                writer = pq.ParquetWriter(path, _schema(reports))
            reports.check(record)
            writer.write_table(to_arrow(reports))
            count += len(reports)
    finally:
        if writer is not None:
            writer.close()
    if writer is None:
        raise DataError("reports", 0, "there is nothing to write", "at least one batch of reports")
    return count


@argument_errors
def survey_of(path: Path | str) -> AnySurvey:
    """The survey that a file of reports answers.

    Args:
        path: of the file.

    Raises:
        DataError: it cannot be read, or carries no survey.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from dither.local import DirectEncoding, files
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder) / "reports.parquet"
        ...     count = files.write(path, [DirectEncoding(["yes", "no"], epsilon=1).randomize(["yes"])])
        ...     files.survey_of(path)
        DirectEncoding(2 values, epsilon='1')
    """
    with in_file(path):
        return from_record(record_of(path))


@argument_errors
def tally_file(
    path: Path | str,
    survey: AnySurvey | None = None,
    progress: Progress | None = None,
    register: ClientRegister | None = None,
) -> Tally:
    """The tally of a file of reports: of the survey that is expected, or of the one that it names.

    Args:
        path: of the file.
        survey: what the file must answer; the survey that it names unless it is given.
        progress: called with the number of rows done and of rows in all.
        register: of the clients that were counted before, where reports have client ids.

    Raises:
        DataError: it cannot be read, or answers another survey; a register is given, and the reports have no ids.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from dither.local import DirectEncoding, files
        >>> survey = DirectEncoding(["yes", "no"], epsilon=1)
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder) / "reports.parquet"
        ...     count = files.write(path, [survey.randomize(["yes", "no", "no"])])
        ...     files.tally_file(path, survey).people
        3
    """
    return tally_files([path], survey, progress, register)


@argument_errors
def tally_files(
    paths: Iterable[Path | str] | Path | str,
    survey: AnySurvey | None = None,
    progress: Progress | None = None,
    register: ClientRegister | None = None,
) -> Tally:
    """The tally of several files of reports of one survey. Reports with client ids count once a client, over all files.

    Args:
        paths: of the files, or patterns such as "reports/*.parquet"; one of them, or a list.
        survey: what the files must answer; the survey that the first one names unless it is given.
        progress: called with the number of rows done and of rows in all, file by file.
        register: of the clients that were counted before; without one the tally cannot be added to another one.

    Raises:
        DataError: a path names no file, or one a second time; a file cannot be read, or answers another survey; some files
            have client ids and others have none.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from dither.local import DirectEncoding, files
        >>> survey = DirectEncoding(["yes", "no"], epsilon=1)
        >>> with TemporaryDirectory() as folder:
        ...     for name in "ab":
        ...         count = files.write(Path(folder) / f"{name}.parquet", [survey.randomize(["yes", "no"])])
        ...     files.tally_files(f"{folder}/*.parquet").people
        4
    """
    found = find_files([paths] if isinstance(paths, (str, Path)) else paths)
    if not found:
        raise DataError("paths", [], "there is nothing to count", "'reports/*.parquet'")
    asked = survey_of(found[0]) if survey is None else survey
    by_client = has_ids(found[0]) or register is not None
    for path in found:
        same_survey(record_of(path), asked.record, "file", str(path))
        if has_ids(path) != by_client:
            why = "some reports have client ids and some have none, so a client could count twice"
            raise DataError("file", str(path), why, "files with ids, or files without, and no register for the latter")
    known = ClientRegister() if by_client and register is None else register
    first, *rest = (tally_one(path, asked, progress, known) for path in found)
    total = sum(rest, first)
    if known is None or register is not None:
        return total
    return Tally(total.record, total.counts, total.people, total.rejected, known.duplicates)
