"""Real data sets, which stand beside the project and are no part of it: tests that read them skip where they are absent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pyarrow
import pytest

PLACES = [folder / "shared" / "data" for folder in Path(__file__).resolve().parents]
DATA = next((place for place in PLACES if place.is_dir()), PLACES[3])  # also from a second work tree, a folder deeper
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="not run: the real data sets are not there")


def read(name: str, columns: str = "*") -> pyarrow.Table:
    """A file as a table in memory."""
    return duckdb.connect().sql(f"SELECT {columns} FROM read_csv('{DATA / name}')").to_arrow_table()


def plainly(table: pyarrow.Table, sql: str) -> list[dict[str, Any]]:
    """A question about `rows`, asked without privacy."""
    connection = duckdb.connect()
    connection.register("rows", table)
    return connection.sql(sql).to_arrow_table().to_pylist()
