"""Tables of Arrow in a PostgreSQL database, cell by cell."""

from __future__ import annotations

import datetime
from typing import Any

import pyarrow
from psycopg import Connection

TYPES = {
    "int64": "bigint",
    "int32": "integer",
    "string": "text",
    "double": "double precision",
    "bool": "boolean",
    "date32[day]": "date",
    "timestamp[us]": "timestamp",
}


def load(link: Connection[Any], name: str, table: pyarrow.Table, **types: str) -> None:
    """Make a table with the rows of another; `types` says how columns are stored, where that is not the nearest."""
    stored = [types.get(field.name) or TYPES.get(str(field.type), "numeric") for field in table.schema]
    columns = ", ".join(f'"{field.name}" {kind}' for field, kind in zip(table.schema, stored, strict=True))
    link.execute(f'DROP TABLE IF EXISTS "{name}" CASCADE')
    link.execute(f'CREATE TABLE "{name}" ({columns})')
    with link.cursor().copy(f'COPY "{name}" FROM STDIN') as copy:
        for row in table.to_pylist():
            copy.write_row([_written(cell) for cell in row.values()])


def _written(cell: Any) -> Any:
    return cell.isoformat() if isinstance(cell, (datetime.date, datetime.datetime)) else cell
