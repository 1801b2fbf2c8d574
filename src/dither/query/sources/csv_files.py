"""CSV files in one dialect, which their owner states."""

from __future__ import annotations

import csv
import hashlib
import json
from dataclasses import dataclass
from typing import Literal

from dither.errors import DataError
from dither.query.policy.column import Type
from dither.query.policy.csv_dialect import ENCODINGS, PLAIN, SEPARATORS, CsvDialect
from dither.query.sources.csv_encoding import is_text, lines
from dither.query.sources.schema import Held, Schema, unique
from dither.query.sources.source import Source


@dataclass(frozen=True)
class CsvFiles(Source):
    """CSV in one dialect: commas, double quotes, a header line and UTF-8 unless stated. A cell is text until it is cast.

    Files must be well formed: with a quote left open, one line would take others with it. So nothing is skipped: a
    broken file fails as a whole (`sources/csv_quotes.py` looks at the quotes, once the charge is made).
    """

    paths: tuple[str, ...]
    dialect: CsvDialect = PLAIN
    kind = "csv"

    def schema(self, table: str) -> Schema:
        return unique(((column, Held(Type.TEXT, "text")) for column in self.header()), "source")

    def header(self) -> list[str]:
        """The names of its columns, from the first line of each file, or as they are stated."""
        if self.dialect.names is not None:
            return list(self.dialect.names)
        found: list[str] | None = None
        for path in self.paths:
            mine = self._first_line(path)
            if found is not None and mine != found:
                why = "its header differs from that of the files before it"
                raise DataError("source", path, why, "files of one table")
            found = mine
        if not found or not all(column and column.isprintable() for column in found):
            why = "its header leaves a column without a name, or breaks a line"
            raise DataError("source", self.paths[0], why, "CSV with a header line, or header = false")
        return found

    def _first_line(self, path: str) -> list[str]:
        separator, quote, encoding = self.dialect.separator, self.dialect.quote, self.dialect.encoding
        style: Literal[0, 3] = csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE
        try:
            with lines(path, encoding) as read:
                found = next(csv.reader(read, delimiter=separator, quotechar=quote or None, quoting=style), [])
        except (OSError, csv.Error):
            raise DataError("source", path, "its first line cannot be read", "CSV with a header line") from None
        if not is_text("".join(found)):
            why = f"its first line is not {encoding.upper()}"
            others = ", ".join(f'"{name}"' for name in dict.fromkeys(ENCODINGS.values()) if name != encoding)
            raise DataError("source", path, why, f"encoding = one of {others}, beside the source")
        return found

    @property
    def other_separator(self) -> str | None:
        """The sign that stands in its header where that is one name: cells may be separated by it."""
        names = [] if self.dialect.names is not None else self.header()
        signs = [sign for sign in SEPARATORS if sign not in (":", self.dialect.separator)]
        return next((sign for sign in signs if len(names) == 1 and sign in names[0]), None)

    def hint(self) -> str:
        """That cells are separated by another sign, where the header is one name with such signs in it."""
        sign = self.other_separator
        if sign is None:
            return ""
        return f"separator = {json.dumps(sign)} beside the source: its header is one name with a {SEPARATORS[sign]} in it"

    @property
    def readable(self) -> str:
        """The variable by which the engine knows its files, or copies of them that it can read."""
        return f"readable_{hashlib.sha256(repr((self.paths, self.dialect)).encode()).hexdigest()[:16]}"
