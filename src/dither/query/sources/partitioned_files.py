"""A directory of Parquet files whose folders hold cells: `visits/year=2024/month=3/part-0.parquet` (hive partitions).

A cell of a folder's name is text until the policy casts it, as one of a CSV file is. It is URL-escaped; what is missing is
`__HIVE_DEFAULT_PARTITION__`, or nothing. What cannot be read as the declared type is missing, too, and so is what is no text
once the escapes are gone: names of folders are made from rows, and a refusal would tell of one.

Which files there are is looked at when the data set is opened, as for all files. All have the same columns, and lie in
folders of the same columns; in which order makes no difference. What else lies in the directory is decided here: names that
begin with a dot or an underscore are not looked at, as by whoever writes such directories; all others are refused, so that
no rows are left out without a word.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote_to_bytes

from dither.errors import DataError
from dither.query.policy.column import Type
from dither.query.sources.schema import Held, Schema, unique
from dither.query.sources.source import ParquetFiles

MISSING = "__HIVE_DEFAULT_PARTITION__"
MOST_PARTITIONS = 2000  # folders with different cells: each is a SELECT of its own within the one that reads
ENDINGS = (".parquet", ".pq")
Cells = tuple[tuple[str, str | None], ...]  # of a file: columns, and what the names of its folders hold


@dataclass(frozen=True)
class PartitionedFiles(ParquetFiles):
    """Parquet files in folders whose names hold cells."""

    cells: tuple[Cells, ...] = ()  # of each path

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that names of folders hold."""
        return tuple(column for column, _ in self.cells[0])

    def partitions(self) -> dict[Cells, list[str]]:
        """The files with the same cells."""
        found: dict[Cells, list[str]] = {}
        for path, cells in zip(self.paths, self.cells, strict=True):
            found.setdefault(cells, []).append(path)
        return found

    def schema(self, table: str) -> Schema:
        inside = super().schema(table)
        known = {column.lower(): column for column in inside}
        for column in self.columns:
            if column.lower() in known:
                why = f"the files have a column {known[column.lower()]}, too, and which of them counts is not said"
                raise DataError("source", f"{column}=", why, "files without that column, or folders of other names")
        folders = ((column, Held(Type.TEXT, "text")) for column in self.columns)
        return unique([*inside.items(), *folders], "source")


def files_below(directory: Path, where: str) -> list[str]:
    """The Parquet files of a directory, and of all folders in it."""

    def refuse(error: OSError) -> None:
        raise DataError(where, str(error.filename), "it cannot be looked into", "a folder that this user can read")

    found = []
    for place, folders, files in os.walk(directory, onerror=refuse):
        if "_delta_log" in folders:
            why = "it is a Delta table: its log says which files count, and the others hold rows that are gone"
            raise DataError(where, place, why, "a directory of the rows as they are now, written as plain Parquet")
        folders[:] = [name for name in folders if not name.startswith((".", "_"))]
        for name in folders:
            if (link := Path(place, name)).is_symlink():
                why = "it is a link to a folder, which may lead anywhere, and in a circle"
                raise DataError(where, str(link), why, "the folder itself")
        for name in files:
            if name.startswith((".", "_")):
                continue
            if not name.lower().endswith(ENDINGS) or not Path(place, name).is_file():
                why = "it is no Parquet file, and nothing in a directory is left out without a word"
                instead = "a directory of .parquet files, or a glob such as visits/*.csv; what begins with _ is left out"
                raise DataError(where, str(Path(place, name)), why, instead)
            found.append(str(Path(place, name)))
    if not found:
        raise DataError(where, str(directory), "there is no Parquet file in that directory", "visits/year=2024/a.parquet")
    return sorted(found)


def cells_of(found: Sequence[str], fixed: Path, where: str) -> tuple[Cells, ...]:
    """What the names of folders below a fixed one hold, of each file; refused where they name other columns."""
    several = tuple(_cells(Path(path).relative_to(fixed).parent.parts) for path in found)
    names = [[column for column, _ in cells] for cells in several]
    for path, mine in zip(found, names, strict=True):
        if mine != names[0]:
            mine_said, first_said = (", ".join(said) or "nothing" for said in (mine, names[0]))
            why = f"its folders name {mine_said}, and those of the first file {first_said}"
            raise DataError(where, path, why, "files whose folders name the same columns, in the same order")
    if len({name.lower() for name in names[0]}) < len(names[0]) or not all(name.isprintable() for name in names[0]):
        raise DataError(where, found[0], "its folders name a column twice, or one that is no name", "year=2024/month=3")
    if len(set(several)) > MOST_PARTITIONS:
        why = f"there are {len(set(several))} folders with different cells, and {MOST_PARTITIONS} are the most"
        raise DataError(where, str(fixed), why, "fewer and larger files: by year instead of by day")
    return several


def _cells(folders: Sequence[str]) -> Cells:
    pairs = [folder.partition("=") for folder in folders]
    return tuple((_text(column) or column, _text(cell)) for column, sign, cell in pairs if sign and column)


def _text(escaped: str) -> str | None:
    """What a name of a folder stands for; None for what is missing, or no text."""
    try:
        found = unquote_to_bytes(os.fsencode(escaped)).decode()
    except (UnicodeDecodeError, UnicodeEncodeError):
        return None
    return None if escaped in ("", MISSING) or "\0" in found else found
