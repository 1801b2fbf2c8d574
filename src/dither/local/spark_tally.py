"""Reports in a frame of Spark's: counted on the cluster, as integers that are those of one machine.

Reports that are numbers are grouped by Spark: there are few different ones, and only these and how often each came reach
the driver. Reports that are bytes are counted part by part where they lie, by dither itself, and Spark adds the counts up:
for those dither is installed on the executors.

Reports are public: each was randomised by the person who sent it. So nothing here is a matter of privacy; that a report is
counted once and what is none left out is a matter of truth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from dither.arguments import argument_errors
from dither.errors import DataError
from dither.local.collect.reports import CLIENT
from dither.local.collect.tally import Tally
from dither.local.grouped_reports import is_plain, largest_numbers, nothing, tally_bytes, tally_groups
from dither.local.registry import AnySurvey, from_record

if TYPE_CHECKING:
    import pyarrow as pa

WHOLE = ("tinyint", "smallint", "int", "bigint", "decimal(20,0)")  # the last is what Spark makes of 64 bits without a sign
PEOPLE, REJECTED = -1, -2  # places beside those of counts
AT_ONCE = 1 << 16  # counts of a part that are handed over


class ReportFrame(Protocol):
    """A frame of Spark's, of a classic session or of Spark Connect: `pyspark.sql.DataFrame`."""

    @property
    def dtypes(self) -> list[tuple[str, str]]:
        """Names and types of its columns."""

    @property
    def isStreaming(self) -> bool:  # noqa: N802 - Spark's own name
        """Whether it has no end."""

    def selectExpr(self, *columns: str) -> Any:  # noqa: N802 - Spark's own name
        """A frame of these columns."""


@argument_errors
def tally_spark(frame: ReportFrame, survey: AnySurvey) -> Tally:
    """The tally of reports in a frame of Spark's, counted on its cluster.

    The frame has the columns of a file of reports: `spark.read.parquet("/data/reports")` of files that `files.write` made.
    Spark does not show which survey such a file names: that its reports answer this one is the caller's word. Tallies of
    several clusters and machines add up.

    Args:
        frame: of a classic session, or of Spark Connect; one row a report.
        survey: what the reports answer.

    Raises:
        DataError: a column is missing or there twice, reports have client ids, the frame is a stream, or Spark cannot
            count it: its rows cannot be read, or reports are bytes and dither is not installed on its executors.

    Example:
        >>> from dither.local import DirectEncoding, files
        >>> survey = DirectEncoding(["yes", "no"], epsilon=1)
        >>> def count(session):  # a SparkSession
        ...     return files.tally_spark(session.read.parquet("/data/reports"), survey)
    """
    types = _types(frame, list(largest_numbers(survey)) if is_plain(survey) else ["report"])
    try:
        return _grouped(frame, survey, types) if is_plain(survey) else _by_parts(frame, survey, types["report"])
    except DataError:
        raise
    except Exception as error:
        if "ModuleNotFoundError" in str(error):
            why = "such reports are bytes, which dither counts on the executors, and their Python has no dither"
            instead = "pip install dither on every executor, for the Python that PYSPARK_PYTHON names"
            raise DataError("frame", "a DataFrame of Spark's", why, instead) from error
        why = f"Spark could not count it to its end: {type(error).__name__}"
        raise DataError("frame", "a DataFrame of Spark's", why, "a frame that Spark can count: frame.count()") from error


def _types(frame: ReportFrame, wanted: Sequence[str]) -> dict[str, str]:
    try:
        columns, endless = [(str(name), str(kind)) for name, kind in frame.dtypes], bool(frame.isStreaming)
    except Exception as error:
        why = "it is no DataFrame of Spark's, or its session is stopped"
        raise DataError("frame", type(frame).__name__, why, "spark.read.parquet('/data/reports')") from error
    if endless:
        raise DataError("frame", "a stream", "it has no end", "a DataFrame that is not a stream")
    for name in wanted:  # Spark does not tell a capital from a small letter
        if [column.lower() for column, _ in columns].count(name) != 1 or name not in dict(columns):
            shown = ", ".join(column for column, _ in columns[:6])
            why = f"it has no column '{name}', or several, capitals aside"
            raise DataError("frame", shown, why, "reports as files.write stores them, or frame.withColumnRenamed(...)")
    if CLIENT in [column.lower() for column, _ in columns]:
        why = "its reports have client ids, and a client that sent two would count twice"
        raise DataError("frame", f"a column '{CLIENT}'", why, f"frame.dropDuplicates(['{CLIENT}']).drop('{CLIENT}')")
    return {column: kind for column, kind in columns if column in wanted}


def _grouped(frame: ReportFrame, survey: AnySurvey, types: dict[str, str]) -> Tally:
    """Different reports and how often each came. What is out of range is one group: a stranger cannot make more of them."""
    import numpy as np

    limits = largest_numbers(survey)
    if not all(kind in WHOLE for kind in types.values()):  # text, floats and bytes are no numbers
        return nothing(survey, int(frame.selectExpr("1 AS n").count()))
    inside = [f"CAST(CASE WHEN `{n}` BETWEEN 0 AND {most} THEN `{n}` END AS BIGINT) AS `{n}`" for n, most in limits.items()]
    found = frame.selectExpr(*inside).groupBy(*limits).count().toArrow()
    columns = {}
    for place, name in enumerate(limits):
        column = found.column(place)
        columns[name] = np.ma.MaskedArray(column.fill_null(0).to_numpy(), column.is_null().to_numpy())
    return tally_groups(survey, columns, found.column(len(limits)).to_numpy().astype(np.int64))


def _by_parts(frame: ReportFrame, survey: AnySurvey, kind: str) -> Tally:
    """Counts of each part of the frame, made where it lies, and added up by Spark."""
    if kind != "binary":
        return nothing(survey, int(frame.selectExpr("1 AS n").count()))
    # no executor hands a cell of another length to Python, however long it is
    reports = f"CASE WHEN octet_length(report) = {survey.dtype.itemsize} THEN report END AS report"
    parts = frame.selectExpr(reports).mapInArrow(part_counts(survey.record), "place BIGINT, n BIGINT")
    added = parts.groupBy("place").agg({"n": "sum"}).toArrow()
    totals = dict(zip(added.column(0).to_pylist(), added.column(1).to_pylist(), strict=True))
    counts = nothing(survey).counts.copy()
    for place, total in totals.items():
        if place >= 0:
            counts[place] = total
    return Tally(survey.record, counts, totals.get(PEOPLE, 0), totals.get(REJECTED, 0))


def part_counts(record: dict[str, object]) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What counts one part of a frame of reports that are bytes: pairs of a place and a number, zeros left out."""
    return partial(_part_counts, record)


def _part_counts(record: dict[str, object], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import numpy as np
    import pyarrow as pa

    survey = from_record(record)
    total = nothing(survey)
    for batch in batches:
        total += tally_bytes(survey, batch.column(0))
    (there,) = np.nonzero(total.counts)
    places = np.concatenate([there.astype(np.int64), [PEOPLE, REJECTED]])
    numbers = np.concatenate([total.counts[there], [total.people, total.rejected]])
    for first in range(0, places.size, AT_ONCE):
        chosen = slice(first, first + AT_ONCE)
        yield pa.RecordBatch.from_arrays([pa.array(places[chosen]), pa.array(numbers[chosen])], names=["place", "n"])
