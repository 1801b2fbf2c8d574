"""Made-up rows as a CSV file, written as the policy says that the real file is: separator, encoding, dates, decimal signs.

A cell that the dialect cannot hold (a separator where there are no quotes, a letter that the encoding lacks) is left empty:
the real file cannot hold it either.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING

from dither.query.policy.cell_format import CellFormat
from dither.query.policy.csv_dialect import PLAIN, CsvDialect
from dither.query.policy.date_format import TOKENS
from dither.query.policy.table import Table
from dither.query.sample.column_values import Cell

if TYPE_CHECKING:
    import pyarrow

CODECS = {"windows-1252": "cp1252"}  # by the names of Python, where they are others
WIDTHS = {"YYYY": 4, "MM": 2, "DD": 2, "hh": 2, "mm": 2, "ss": 2, "f": 6}
PARTS: dict[str, Callable[[datetime.datetime], int]] = {
    "year": lambda at: at.year,
    "month": lambda at: at.month,
    "day": lambda at: at.day,
    "hour": lambda at: at.hour,
    "minute": lambda at: at.minute,
    "second": lambda at: at.second,
    "fraction": lambda at: at.microsecond,
}


def csv_bytes(table: Table, rows: pyarrow.Table) -> bytes:
    """The whole file; columns that the policy leaves out of a file without a header line are empty."""
    dialect = table.dialect or PLAIN
    names = dialect.names or tuple(rows.column_names)
    columns = {one.name: rows[one.name].to_pylist() for one in table.columns}
    cells = {one.name: CellFormat() if table.tells_whose(one.name) else one.cells for one in table.columns}
    lines = [] if dialect.names is not None else [[_held(name, dialect) for name in names]]
    for at in range(rows.num_rows):
        written = (cell_text(columns[name][at], cells[name]) if name in columns else "" for name in names)
        lines.append([_held(cell, dialect) for cell in written])
    text = "".join(f"{dialect.separator.join(line)}\n" for line in lines)
    return text.encode(CODECS.get(dialect.encoding, dialect.encoding))


def cell_text(cell: Cell, written: CellFormat) -> str:
    """A cell as its column is written; '' for one that is missing."""
    if cell is None or isinstance(cell, str):
        return cell or ""
    if isinstance(cell, bool):
        words = (written.true if cell else written.false) or (str(cell).lower(),)
        return words[0]
    if isinstance(cell, (int, float, Decimal)):
        digits = str(cell) if isinstance(cell, int) else f"{Decimal(repr(cell)) if isinstance(cell, float) else cell:f}"
        return digits.replace(".", written.decimal or ".")
    if written.date is None:
        return str(cell)
    return _date_text(written.date.text, cell)


def _date_text(form: str, cell: datetime.date) -> str:
    at = cell if isinstance(cell, datetime.datetime) else datetime.datetime.combine(cell, datetime.time())
    found, rest = "", form
    while rest:
        token = next((token for token in TOKENS if rest.startswith(token)), None)
        found += rest[0] if token is None else f"{PARTS[TOKENS[token][0]](at):0{WIDTHS.get(token, 1)}d}"
        rest = rest[len(token or rest[0]) :]
    return found


def _held(cell: str, dialect: CsvDialect) -> str:
    """A cell with its quotes, where it needs some; '' where the file cannot hold it."""
    try:
        cell.encode(CODECS.get(dialect.encoding, dialect.encoding))
    except UnicodeEncodeError:
        return ""
    signs = (dialect.separator, "\n", "\r", *([dialect.quote] if dialect.quote else []))
    if not any(sign in cell for sign in signs):
        return cell
    quote = dialect.quote
    return f"{quote}{cell.replace(quote, 2 * quote)}{quote}" if quote else ""
