"""The file or the database that a policy is made for: its tables and columns, and with the owner's consent its first rows.

Without consent no row bears on anything here: names of columns come from the first line of a CSV file, or from a schema.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dither.errors import DataError
from dither.query.owner.csv_draft import person_by_name, reason_to_leave_out, seen_cells
from dither.query.owner.csv_sniffer import first_rows, sniff
from dither.query.owner.database_draft import owner_facts, table_names
from dither.query.owner.type_inference import Inferred, Style, common_style, infer
from dither.query.policy.column import Type
from dither.query.policy.csv_dialect import SEPARATORS, CsvDialect
from dither.query.policy.table import NAME_LENGTH
from dither.query.sources.csv_encoding import is_text, lines
from dither.query.sources.csv_files import CsvFiles
from dither.query.sources.find_source import find_source
from dither.query.sources.postgres_catalogue import address, find_tables, is_address
from dither.query.sources.schema import Schema, reason
from dither.query.sources.source import DuckDBFile

TEXT_ENDINGS = (".tsv", ".txt")  # that are CSV if somebody says so


@dataclass(frozen=True)
class DataTable:
    """A table of a source whose schema has types."""

    name: str
    source: str  # as a policy states it
    columns: dict[str, Type]
    unread: dict[str, str]  # columns that no policy can describe, each with the reason
    owners: dict[str, dict[str, Any]] = field(
        default_factory=dict
    )  # tables to which foreign keys lead, with the fact `owner`


@dataclass(frozen=True)
class FirstRows:
    """The first rows of a CSV file, by column, as its owner may see them."""

    cells: tuple[tuple[str, ...], ...]
    inferred: tuple[Inferred, ...]
    style: Style
    seen: tuple[str, ...]  # what the cells of a column show of values
    out: tuple[str, ...]  # why a column should be left out; '' if it may stay

    def most_rows(self, at: int) -> str:
        """How many rows one person has, if the column says whose they are."""
        cells = self.cells[at]
        most = max(Counter(cells).values(), default=0)
        if most == 1 and len(cells) > 1:
            alone = "is it really a number of the person, not of a case or a row?"
            return f"no person has two rows among the first {len(cells)} rows: {alone}"
        return f"at most {most} rows of one person, in the first {len(cells)} rows"


class DataSource:
    """What is asked about; looked at once, and rows only where `look` is called.

    Raises:
        DataError: there is no such file or table, or it is of no kind that is read.
    """

    def __init__(self, stated: str, folder: Path) -> None:
        self.stated, self.folder = stated, folder
        self.csv: CsvFiles | None = None
        self.tables: tuple[DataTable, ...] = ()
        self.cautions: tuple[str, ...] = ()
        self._looks: dict[CsvDialect, FirstRows] = {}
        self._sniffed: CsvDialect | None = None
        if is_address(stated):
            self._open_database()
            return
        path = Path(stated)
        found = find_source(stated, Path.cwd(), "file", CsvDialect() if path.suffix.lower() in TEXT_ENDINGS else None)
        self.name = "".join(sign if sign.isalnum() else "_" for sign in path.stem.replace("*", "")).strip("_") or "rows"
        self.place = os.path.relpath(path.absolute(), folder.absolute())
        if isinstance(found, CsvFiles):
            self.csv = found
        elif isinstance(found, DuckDBFile):
            self.tables = tuple(self._table(name, found.schema(name)) for name in found.tables())
            if not self.tables:
                raise DataError("file", stated, "it has no tables", "a file with a table in it")
        else:
            self.tables = (self._table(self.name, found.schema(self.name)),)

    def _table(self, name: str, schema: Schema) -> DataTable:
        return DataTable(name, self.place, *_columns(schema))

    def _open_database(self) -> None:
        catalogue = find_tables(self.stated)
        self.name = "".join(sign if sign.isalnum() else "_" for sign in catalogue.name).strip("_") or "rows"
        self.cautions, names = catalogue.cautions, table_names(catalogue.tables)
        self.tables = tuple(
            DataTable(
                names[table.source.schema_name, table.source.table_name],
                address(table.source),
                *_columns(table.schema),
                {facts["through"]: facts for key in table.foreign_keys if (facts := owner_facts(key, table, names))},
            )
            for table in catalogue.tables
        )

    # -- CSV files -------------------------------------------------------------------------------------------------------

    @property
    def files(self) -> CsvFiles:
        """The CSV files, where it is such."""
        assert self.csv is not None
        return self.csv

    def names(self, dialect: CsvDialect) -> list[str]:
        """The names of its columns, from the first line."""
        return list(CsvFiles(self.files.paths, dialect).schema(self.name))

    def first_line(self, encoding: str) -> str | None:
        """Its first line, names or not; None if it is no text in that encoding."""
        with lines(self.files.paths[0], encoding) as read:
            first = next(read, "")
        return first if is_text(first) else None

    def other_separator(self, dialect: CsvDialect) -> str:
        """The name of another sign that may separate names, where the stated one is not in the first line; '' if none."""
        first = self.first_line(dialect.encoding) or ""
        signs = [sign for sign in SEPARATORS if sign != ":" and sign in first and dialect.separator not in first]
        return SEPARATORS[signs[0]] if signs else ""

    def sniffed(self) -> CsvDialect:
        """How it seems to be written. Looks at rows: with consent alone."""
        if self._sniffed is None:
            self._sniffed = sniff(self.files.paths[0])
        return self._sniffed

    def look(self, dialect: CsvDialect) -> FirstRows:
        """Its first rows. With consent alone."""
        if dialect not in self._looks:
            rows, names = first_rows(self.files.paths[0], dialect)[dialect.names is None :], self.names(dialect)
            cells = tuple(tuple(row[at] for row in rows if at < len(row)) for at in range(len(names)))
            found = tuple(map(infer, cells))
            style = common_style(found)
            seen = tuple(seen_cells(column, one, style) for column, one in zip(cells, found, strict=True))
            out = tuple(proposed_out(*one) for one in zip(names, (one.type for one in found), cells, strict=True))
            self._looks[dialect] = FirstRows(cells, found, style, seen, out)
        return self._looks[dialect]


def proposed_person(names: dict[str, Type]) -> str | None:
    """The column that says whose a row is, by its name and type."""
    return person_by_name({name: Inferred(kind) for name, kind in names.items()})


def proposed_out(name: str, kind: Type, cells: tuple[str, ...] = ()) -> str:
    """Why a column should be left out: what it looks like; '' if it may stay."""
    return f"it looks like {why}" if kind is Type.TEXT and (why := reason_to_leave_out(name, cells)) else ""


def _columns(schema: Schema) -> tuple[dict[str, Type], dict[str, str]]:
    read, unread = dict[str, Type](), dict[str, str]()
    for name, held in schema.items():
        if held.type is None:
            unread[name] = " ".join(reason(name, held)[0].split())
        elif not name.isprintable() or not 0 < len(name) <= NAME_LENGTH:
            unread[name] = f"a name has 1 to {NAME_LENGTH} printable characters"
        else:
            read[name] = held.type
    return read, unread
