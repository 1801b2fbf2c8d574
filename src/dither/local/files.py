"""Reports in Parquet files: written piece by piece, and tallied without reading them into memory.

A file has one row a report, and the record of its survey among its metadata. A report that is one number, or a few, is
one column each; any other is a column of bytes. Numbers are tallied by DuckDB, as a GROUP BY: there are few different
reports, however many people answered. Bytes are counted batch by batch.

Files come from strangers. A row that is no report (missing, of the wrong length, too large, no number at all) is counted
as rejected and left out; a file that cannot be read, or is of another survey, is refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dither.arguments import argument_errors
from dither.errors import DataError
from dither.local.collect.reports import Reports, read_record, same_survey
from dither.local.collect.tally import Tally
from dither.local.columns import BATCH, Progress, open_parquet, read_values, record_batches
from dither.local.grouped_reports import is_plain, largest_numbers, nothing, tally_bytes, tally_groups
from dither.local.registry import AnySurvey, from_record
from dither.local.spark_tally import tally_spark

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

KEY = b"dither.survey"
__all__ = ["read_values", "survey_of", "tally_file", "tally_spark", "to_arrow", "write"]

LARGEST_BATCH = 1 << 26  # bytes
WROTE = "what `dither local randomize` wrote"


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
    return pa.Table.from_arrays([_column(reports.payload, field) for field in schema], schema=schema)


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
    return pa.schema(fields, metadata={KEY: json.dumps(reports.record, sort_keys=True)})


def _column(payload: NDArray[Any], field: pa.Field) -> pa.Array:
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
    return from_record(_record(path))


def _record(path: Path | str) -> dict[str, object]:
    record = (open_parquet(path).schema_arrow.metadata or {}).get(KEY)
    if record is None:
        raise DataError("file", str(path), "it carries no survey, so it is no file of reports", WROTE)
    return read_record(record)


@argument_errors
def tally_file(path: Path | str, survey: AnySurvey | None = None, progress: Progress | None = None) -> Tally:
    """The tally of a file of reports: of the survey that is expected, or of the one that it names.

    Args:
        path: of the file.
        survey: what the file must answer; the survey that it names unless it is given.
        progress: called with the number of rows done and of rows in all.

    Raises:
        DataError: it cannot be read, or answers another survey.

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
    record = _record(path)
    found = from_record(record) if survey is None else survey
    same_survey(record, found.record, "file")
    return _grouped(path, found, progress) if is_plain(found) else _streamed(path, found, progress)


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
