"""Rows that Spark reads: a table of its catalogue, Parquet files where Spark finds them, or a frame of Spark's.

    spark:clinic.visits            a table of a schema in Spark's own catalogue, `spark:spark_catalog.clinic.visits` in full
    spark:parquet:/data/visits     Parquet files; a full path, or an address such as s3a://bucket/visits
    a DataFrame of Spark's         in `dither.protect`; that it gives the same rows each time it is read is its owner's word

What is looked at beforehand is the schema. A table is read if nobody's code runs when it is read, and if its rows are
Parquet: no view, and no format that no test here has read. Options of a table would count more than the settings of our
session: tables with such as change what is read are refused.

A table or files that somebody has cached are read where they lie all the same: a copy in memory is of older files, and of a
session with other settings, which may have believed in buckets. Spark takes a copy where the options of a read are the same,
and ours has one of its own.
"""

from __future__ import annotations

import json
import re
import secrets
from abc import abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dither.errors import DataError
from dither.query.policy.column import Type
from dither.query.policy.table import Table
from dither.query.sources.schema import Held, Schema, unique
from dither.query.sources.source import Source
from dither.query.sources.spark_session import SparkSessionLike, session_beside

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructField

PREFIX, PARQUET = "spark:", "spark:parquet:"
SHARED = "spark.sql.globalTempDatabase"
OWN_CATALOGUE = "spark_catalog"
EXAMPLE = '"spark:clinic.visits", "spark:spark_catalog.clinic.visits" or "spark:parquet:/data/visits"'
STORED = {
    "boolean": Type.BOOLEAN,
    "tinyint": Type.INTEGER,
    "smallint": Type.INTEGER,
    "int": Type.INTEGER,
    "bigint": Type.INTEGER,
    "float": Type.FLOAT,
    "double": Type.FLOAT,
    "string": Type.TEXT,
    "date": Type.DATE,
    "timestamp": Type.TIMESTAMP,
    "timestamp_ntz": Type.TIMESTAMP,
}
DECLARED = "__CHAR_VARCHAR_TYPE_STRING"  # where Spark notes that a text was declared as CHAR(n) or VARCHAR(n)
HARMLESS = ("path", "compression", "serialization.format")  # options of a table, and those of Parquet itself
OWN = {"dither": "rows"}  # an option that means nothing
LOGS = "{_delta_log,.hoodie}"
SHORT = ("tinyint", "smallint")  # a file of 32 bits is read as these without a word
NUMBERS = {Type.DECIMAL, Type.FLOAT}
READABLE = {  # what the policy may say of a column that is stored as this; every one of these casts is total
    Type.BOOLEAN: {Type.BOOLEAN},
    Type.INTEGER: {Type.INTEGER, Type.TEXT, *NUMBERS},
    Type.FLOAT: NUMBERS,
    Type.DECIMAL: NUMBERS,
    Type.TEXT: {Type.TEXT},
    Type.DATE: {Type.DATE, Type.TIMESTAMP},
    Type.TIMESTAMP: {Type.TIMESTAMP, Type.DATE},
}


@dataclass(frozen=True, eq=False)
class SparkSource(Source):
    """Rows that Spark reads, by a session that was given."""

    session: SparkSession = field(repr=False)
    kind = "spark"
    engine = "spark"

    @property
    @abstractmethod
    def called(self) -> str:
        """What it is called in refusals."""

    @abstractmethod
    def rows(self, session: SparkSession) -> DataFrame:
        """Its rows as a frame; none is read. `session` is ours."""

    def schema(self, table: str) -> Schema:
        with session_beside(self.session) as session:
            return self.looked_up(session)

    def looked_up(self, session: SparkSession, view: str | None = None) -> Schema:
        """The schema of its rows, which are a view of our session afterwards, if that is named. No row is read.

        Raises:
            DataError: It cannot be looked up. Spark's own words are not passed on: they may hold whatever it wishes.
        """
        try:
            found = self.rows(session)
            if view is None:
                self.check_place(session)
            else:
                self.show(found, session, view)
                found = session.table(view)
            fields = [(str(column.name), _stored(column)) for column in found.schema.fields]
        except DataError:
            raise
        except Exception:
            why = "Spark cannot look it up: it is not there, not Parquet, or the session is stopped"
            raise DataError("source", self.called, why, EXAMPLE) from None
        return unique(((column, held(stored)) for column, stored in fields), "source")

    def check_place(self, session: SparkSession) -> None:
        """Refuse a place of which some files do not count."""

    def show(self, rows: DataFrame, session: SparkSession, view: str) -> None:
        """Make its rows a view of our session."""
        rows.createOrReplaceTempView(view)

    def fitting(self, table: Table, found: Schema) -> Schema:
        found = super().fitting(table, found)
        for column in table.columns:
            stored = found[column.name]
            assert stored.type is not None
            if table.tells_whose(column.name) and stored.stored in SHORT:
                why = (
                    f"it says whose a row is, and Spark cuts longer numbers of a file to {stored.stored}: two people are one"
                )
                raise DataError(f"source of {table.name}", column.name, why, "ids stored as int or bigint, or as text")
            if column.type not in READABLE[stored.type]:
                why = f"it is stored as {stored.stored}, and not every such value is {column.type.value}"
                kinds = ", ".join(sorted(kind.value for kind in READABLE[stored.type]))
                instead = f"type = one of {kinds} in the policy, or a column of another type"
                raise DataError(f"source of {table.name}", column.name, why, instead)
        return found


@dataclass(frozen=True, eq=False)
class SparkTable(SparkSource):
    """A table of a catalogue of Spark's."""

    names: tuple[str, ...]

    @property
    def called(self) -> str:
        return ".".join("`" + part.replace("`", "``") + "`" for part in self.names)

    def rows(self, session: SparkSession) -> DataFrame:
        told = session.sql(f"DESCRIBE TABLE EXTENDED {self.called} AS JSON").collect()[0][0]
        facts: dict[str, Any] = json.loads(told)
        kind, provider = str(facts.get("type")), str(facts.get("provider"))
        if kind not in ("MANAGED", "EXTERNAL"):
            why = f"it is a {kind.lower().replace('_', ' ')}, and the code of others would run with the rows"
            raise DataError("source", self.called, why, "a table, or the files that it is made of")
        if provider.lower() != "parquet":
            why = f"its rows are stored by {provider}, and no test here has read that"
            raise DataError("source", self.called, why, "a table USING parquet, or its rows as Parquet files")
        for option in facts.get("storage_properties") or {}:
            if option.lower() not in HARMLESS and not option.lower().startswith("parquet."):
                why = f"its option {option} may change what is read, whatever the session is set to"
                raise DataError("source", self.called, why, "a table without that option, or the files that it is made of")
        return session.read.options(**OWN).table(self.called)


@dataclass(frozen=True, eq=False)
class SparkParquet(SparkSource):
    """Parquet files where Spark finds them."""

    path: str

    @property
    def called(self) -> str:
        return self.path

    def rows(self, session: SparkSession) -> DataFrame:
        return session.read.options(**OWN).parquet(self.path)

    def check_place(self, session: SparkSession) -> None:
        try:  # a session of Spark Connect looks when it is asked for the schema
            found = session.read.format("binaryFile").load(f"{self.path.rstrip('/')}/{LOGS}").schema
        except Exception:  # there is none
            found = None
        if found is not None:
            why = "it is a table of Delta or Hudi: a log says which files count, and the others hold rows that are gone"
            raise DataError("source", self.called, why, "a directory of the rows as they are now, as plain Parquet")


@dataclass(frozen=True, eq=False)
class SparkFrame(SparkSource):
    """A frame of Spark's. That it gives the same rows each time it is read is its owner's word."""

    frame: DataFrame = field(repr=False)

    @property
    def called(self) -> str:
        return "a DataFrame of Spark's"

    def schema(self, table: str) -> Schema:
        if self.frame.isStreaming:
            raise DataError("frame", self.called, "it is a stream, and has no end", "a DataFrame that is not a stream")
        return super().schema(table)

    def rows(self, session: SparkSession) -> DataFrame:
        return self.frame

    def show(self, rows: DataFrame, session: SparkSession, view: str) -> None:
        """By a view that all sessions share, for a moment: a frame belongs to the session that made it, whose views are not
        changed. With a view that goes, Spark lets go of a copy of the same rows in memory, and a cached frame of the owner
        would be made again, perhaps of other rows: so the view is of a frame of ours, which nobody has cached."""
        shared = f"dither_{secrets.token_hex(16)}"
        rows.where("true").createGlobalTempView(shared)
        try:
            session.table(f"{session.conf.get(SHARED)}.{shared}").createOrReplaceTempView(view)
        finally:
            session.catalog.dropGlobalTempView(shared)


def _stored(column: StructField) -> str:
    """The type in Spark's words. Spark tells of CHAR(n) as of any text, and fills it up with blanks when it is read."""
    told = str(column.dataType.simpleString())
    return str(column.metadata.get(DECLARED, told)) if told == "string" and column.metadata else told


def held(stored: str) -> Held:
    """A column by its type in Spark's words. Texts with a collation, and those that are filled up with blanks, are not read:
    what they hold to be equal differs."""
    if re.fullmatch(r"decimal\([0-9]+,[0-9]+\)", stored):
        return Held(Type.DECIMAL, stored)
    if re.fullmatch(r"varchar\([0-9]+\)", stored):
        return Held(Type.TEXT, stored)
    return Held(STORED.get(stored), stored)


def spark_source(stated: str, where: str, given: SparkSessionLike | None) -> SparkSource:
    """The source that an address names, read by a session."""
    session: Any = given
    if session is None:
        why = "its rows are read by Spark, and no session of Spark's was given"
        raise DataError(where, stated, why, "dither.open('policy.toml', spark=session)")
    if stated.startswith(PARQUET):
        path = stated.removeprefix(PARQUET)
        if not re.match(r"/|[a-z][a-z0-9]*://?", path) or set("*?[]{}\\") & set(path) or not path.isprintable():
            why = "it is no full path, or Spark would read it as a pattern"
            raise DataError(where, stated, why, '"spark:parquet:/data/visits"')
        return SparkParquet(session, path)
    named = stated.removeprefix(PREFIX)
    parts = re.findall(r"`((?:[^`]|``)+)`|([^`.]+)", named)
    spelled = ".".join(f"`{quoted}`" if quoted else plain for quoted, plain in parts)
    if spelled != named or len(parts) not in (2, 3) or not named.isprintable():
        raise DataError(where, stated, "it is not the name of a table and its schema", EXAMPLE)
    names = [quoted.replace("``", "`") or plain for quoted, plain in parts]
    if len(names) == 3 and names[0].lower() != OWN_CATALOGUE:
        why = f"the catalogue {names[0]} is not Spark's own: the code of others would say which rows there are"
        raise DataError(where, stated, why, EXAMPLE)
    return SparkTable(session, (OWN_CATALOGUE, *names[-2:]))
