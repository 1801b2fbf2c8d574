"""Frames in memory: pandas, polars, or an Arrow table. A frame is converted only when the engine asks for it."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from dither.errors import DataError
from dither.query.policy.table import Table
from dither.query.sources.schema import Held, Schema, from_arrow, unique
from dither.query.sources.source import Source

POLARS = {
    *("Boolean", "Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64", "Float32", "Float64"),
    *("Decimal", "String", "Categorical", "Enum", "Date", "Datetime"),
}  # the conversion of others may end the process


@dataclass(frozen=True, eq=False)
class Frame(Source):
    """A frame in memory. Only the columns of the policy are handed over: what else it holds may be of any type."""

    frame: Any

    @abstractmethod
    def columns(self, places: list[int], *, rows: bool) -> Any:
        """Some of its columns as an Arrow table, under their names; without rows, where only their types are asked for."""

    def arrow(self, table: Table, schema: Schema) -> Any:
        """The columns of the policy as an Arrow table; refused where they are not as they were when they were checked."""
        import pyarrow

        names = self.names
        given = self.columns([names.index(column.name) for column in table.columns], rows=True)
        if from_arrow(given.schema, "frame") != schema:  # somebody changed it, after it was checked
            raise DataError("frame", self.kind, "it is not what it was when it was checked", "a frame that nobody changes")
        # without metadata, by which an engine might take a column for something else than was checked
        return pyarrow.Table.from_arrays(given.columns, names=given.column_names)

    @property
    def names(self) -> list[str]:
        """Those of its columns."""
        return [str(column) for column in self.frame.columns]


@dataclass(frozen=True, eq=False)
class ArrowTable(Frame):
    """An Arrow table."""

    kind = "arrow"

    def schema(self, table: str) -> Schema:
        return from_arrow(self.frame.schema, "frame")

    def columns(self, places: list[int], *, rows: bool) -> Any:
        return self.frame.select([self.names[at] for at in places])

    @property
    def names(self) -> list[str]:
        found: list[str] = self.frame.column_names
        return found


@dataclass(frozen=True, eq=False)
class _DataFrame(Frame):
    """A frame whose columns have dtypes, of which some have no counterpart in Arrow."""

    def schema(self, table: str) -> Schema:
        dtypes = [(str(column), dtype) for column, dtype in zip(self.frame.columns, self.frame.dtypes, strict=True)]
        found = unique(((column, Held(None, str(dtype))) for column, dtype in dtypes), "frame")
        for at, (column, dtype) in enumerate(dtypes):
            if self.is_readable(dtype):
                with suppress(Exception):  # it has no counterpart in Arrow, and what is said of that differs by dtype
                    found[column] = from_arrow(self.columns([at], rows=False).schema, "frame")[column]
        return found

    @abstractmethod
    def is_readable(self, dtype: Any) -> bool:
        """Whether columns of that dtype may be converted."""


@dataclass(frozen=True, eq=False)
class PandasFrame(_DataFrame):
    """A pandas DataFrame."""

    kind = "pandas"

    def columns(self, places: list[int], *, rows: bool) -> Any:
        import pyarrow

        part = self.frame.iloc[:, places] if rows else self.frame.iloc[:0, places]
        try:
            return pyarrow.Table.from_pandas(part, preserve_index=False)
        except UnicodeEncodeError:  # half a character in some row, which must not be an error for all
            part = part.copy()
            for at, dtype in enumerate(part.dtypes):
                if getattr(dtype, "storage", None) == "python":
                    part.isetitem(at, part.iloc[:, at].map(_encodable, na_action="ignore").astype(dtype))
            return pyarrow.Table.from_pandas(part, preserve_index=False)

    def is_readable(self, dtype: Any) -> bool:
        return str(dtype) != "object"


def _encodable(text: str) -> str | None:
    """Return the same text; None for one with half a character (a lone surrogate): with a substitute, two could be one."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return None
    return text


@dataclass(frozen=True, eq=False)
class PolarsFrame(_DataFrame):
    """A polars DataFrame."""

    kind = "polars"

    def columns(self, places: list[int], *, rows: bool) -> Any:
        import pyarrow

        part = self.frame.select([self.names[at] for at in places])
        return pyarrow.table(part if rows else part.head(0))

    def is_readable(self, dtype: Any) -> bool:
        return dtype.base_type().__name__ in POLARS


FRAMES: dict[tuple[str, str], type[Frame]] = {
    ("pandas", "DataFrame"): PandasFrame,
    ("polars", "DataFrame"): PolarsFrame,
    ("pyarrow", "Table"): ArrowTable,
}  # by the package and the name of the class
