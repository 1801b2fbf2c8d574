"""A session of its own for a release on Spark, with settings that are set and read back.

What a SELECT means on Spark hangs on settings of the session: whether sums that overflow fail, in which zone times are read,
what a backslash means, whether `${...}` in a text is replaced by a variable of the environment. The session that was given
is never changed. Its own is a new session of the same application, or of the same server where it is one of Spark Connect
(`spark_connect.py`), by public methods; launch settings that are known to change what SQL means, and code that others put
into the planner, are refused by name.

Some settings are a matter of privacy. Tables in buckets claim that all rows of a person are in one file; Spark believes it
and groups each file by itself, so that a person of two files would be bounded twice. Buckets are not looked at here. Least
and largest value that stand beside a part of a file, or of a table that is held in memory, leave NaN out: taken for those of
all cells, they decide what becomes of all rows with NaN in that part, so that one person's number would count or drop
others. No row is left out by them here. Names of folders hold cells (`id=007`): as numbers two of them would be one, and one
folder would decide about the type of all. They are texts here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from dither.errors import DataError
from dither.query.sources.spark_connect import (
    client_version,
    end_session,
    held_settings,
    is_closed,
    is_connect,
    keep_retries,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CERTIFIED = ("4.3",)  # versions of Spark: the conformance suite has run on these
SETTINGS: Mapping[str, str] = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.caseSensitive": "false",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.parser.quotedRegexColumnNames": "false",  # else a name in backticks would be a pattern
    "spark.sql.path.enabled": "false",  # else functions of others could stand before Spark's own
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    "spark.sql.variable.substitute": "false",
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.mapKeyDedupPolicy": "EXCEPTION",
    "spark.sql.parquet.filterPushdown": "false",
    "spark.sql.parquet.aggregatePushdown": "false",
    "spark.sql.parquet.mergeSchema": "false",
    "spark.sql.parquet.binaryAsString": "false",
    "spark.sql.parquet.inferTimestampNTZ.enabled": "true",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",  # otherwise one old date would fail
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.int96AsTimestamp": "true",
    "spark.sql.parquet.int96TimestampConversion": "false",
    "spark.sql.parquet.fieldId.read.enabled": "false",  # columns are found by their names
    "spark.sql.parquet.respectSummaryFiles": "false",
    "spark.sql.inMemoryColumnarStorage.partitionPruning": "false",
    "spark.sql.sources.bucketing.enabled": "false",  # else people whose rows lie in two buckets would be two
    "spark.sql.sources.v2.bucketing.enabled": "false",
    "spark.sql.sources.useV1SourceList": "avro,csv,json,kafka,orc,parquet,text",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",  # else 007 and 7 would be one person
    "spark.sql.optimizer.metadataOnly": "false",  # else a part without rows would count
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.files.ignoreInvalidPartitionPaths": "false",
    "spark.sql.files.ignoredPathSegmentRegex": "^[._]",
    "spark.sql.files.archive.reader.enabled": "false",
    "spark.sql.broadcastTimeout": "86400",  # seconds: a join that is slow must not fail
    "spark.sql.execution.arrow.pyspark.selfDestruct.enabled": "false",
}
FORBIDDEN = (
    *("spark.sql.legacy.", "spark.sql.extensions", "spark.sql.catalog.spark_catalog"),
    *("spark.sql.optimizer.excludedRules", "spark.sql.adaptive.optimizer.excludedRules"),
)
INSTEAD = "a session that was started without it"


class SparkSessionLike(Protocol):
    """A session of Spark's: `pyspark.sql.SparkSession`."""

    @property
    def version(self) -> str:
        """Of Spark."""

    def newSession(self) -> Any:  # noqa: N802 - Spark's own name
        """A session of the same application, with settings of its own."""


class SparkFrameLike(Protocol):
    """A frame of Spark's: `pyspark.sql.DataFrame`."""

    @property
    def sparkSession(self) -> Any:  # noqa: N802 - Spark's own name
        """The session that made it."""

    def createGlobalTempView(self, name: str) -> None:  # noqa: N802 - Spark's own name
        """Make it a view that all sessions share."""


@contextmanager
def session_beside(given: SparkSession) -> Iterator[SparkSession]:
    """A new session beside the one that was given, set and read back, until it is let go.

    Raises:
        DataError: As `own_session`.
    """
    found = own_session(given)
    try:
        yield found
    finally:
        if is_connect(found):
            end_session(found)


def own_session(given: SparkSession) -> SparkSession:
    """A new session beside the one that was given, set and read back.

    Raises:
        DataError: It is stopped, of another version, or a setting does not hold.
    """
    try:
        if is_connect(given) and is_closed(given):
            raise _unusable(given)
        found = given.newSession()
    except Exception:  # its own words may hold whatever it wishes
        raise _unusable(given) from None
    try:
        _set(found, given)
        check_settings(found)
    except BaseException as error:
        if is_connect(found):
            end_session(found)
        if isinstance(error, DataError) or not isinstance(error, Exception):
            raise
    else:
        return found
    raise _unusable(given)


def _unusable(given: Any) -> DataError:
    why = "no new session can be made of it: it is stopped, or not of Spark 4"
    return DataError("spark", type(given).__name__, why, "a SparkSession that runs")


def _set(own: Any, given: Any) -> None:
    """What holds already is not set: Spark warns of settings that are old."""
    if is_connect(own):
        keep_retries(own, given)
        _check_version(client_version(), "here")
    _check_version(str(own.version), "there")
    held = _held(own)
    for setting, value in SETTINGS.items():
        if held[setting] != value:
            own.conf.set(setting, value)


def _check_version(version: str, where: str) -> None:
    if not any(re.fullmatch(rf"{re.escape(one)}\.[0-9]+", version) for one in CERTIFIED):  # 4.3.0-host is another's build
        why = f"dither was shown to compute the same on Spark {', '.join(CERTIFIED)} alone"
        came = f"Spark {version}" if where == "there" else f"PySpark {version} {where}"
        raise DataError("spark", came, why, f"pip install 'pyspark>={CERTIFIED[0]},<5'")


def _held(session: Any) -> dict[str, str]:
    if is_connect(session):
        return held_settings(session, SETTINGS)
    return {setting: str(session.conf.get(setting)) for setting in SETTINGS}


def check_settings(session: Any) -> None:
    """Refuse a session in which a setting is not what it was set to, or one is set that changes what SQL means."""
    try:
        stated = {str(setting): str(value) for setting, value in dict(session.conf.getAll).items()}
        held = _held(session)
    except Exception:
        raise DataError("spark", "its settings", "they cannot be read", "a SparkSession that runs") from None
    for setting, value in SETTINGS.items():
        if held[setting].lower() != value.lower():
            why = f"{setting} must be {value}, and stays {held[setting]}"
            raise DataError("spark", setting, why, "a session whose settings can be set")
    for setting, value in stated.items():
        if setting.startswith(FORBIDDEN) and value:
            why = f"{setting} changes what SQL means, or who plans it or looks tables up, and was tried in no test"
            raise DataError("spark", f"{setting}={value}", why, INSTEAD)
