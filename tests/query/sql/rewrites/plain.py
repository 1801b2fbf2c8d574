"""A table with NULL in every column, under a policy that loses nothing, and the same table in plain DuckDB."""

from __future__ import annotations

import datetime
import itertools
from pathlib import Path
from typing import Any

import duckdb
import pyarrow

import dither
from dither.query.dataset import Dataset
from tests.query.clinics import ledger

NAMES = ["Anna", "anton", "K\u212aelvin", "\u0130stanbul", "ma\u0131n", None, "BANANA", "_%"]
DAYS = [datetime.date(2024, 1, 1), datetime.date(2024, 1, 31), datetime.date(2024, 2, 1), None]
TYPES = {
    "person": pyarrow.int64(),
    "ward": pyarrow.string(),
    "name": pyarrow.string(),
    "cost": pyarrow.float64(),
    "age": pyarrow.int64(),
    "smokes": pyarrow.bool_(),
    "day": pyarrow.date32(),
    "moment": pyarrow.timestamp("us"),
}


def rows() -> pyarrow.Table:
    """All combinations of some values and NULL; forty people."""
    made = []
    for place, (ward, cost, smokes, day) in enumerate(
        itertools.product(["A", "B", None], [1.5, 20.0, 30.25, None], [True, False, None], DAYS)
    ):
        hour, minute = (place % 24, 30) if place % 3 else (0, 0)
        moment = None if place % 7 == 0 else datetime.datetime(2024, 1, 31 - place % 2, hour, minute)
        age = None if place % 5 == 0 else place % 4
        made.append((place % 40, ward, NAMES[place % len(NAMES)], cost, age, smokes, day, moment))
    arrays = [pyarrow.array([row[at] for row in made], kind) for at, kind in enumerate(TYPES.values())]
    return pyarrow.table(dict(zip(TYPES, arrays, strict=True)))


def data(folder: Path, **facts: Any) -> Dataset:
    """The table, with limits that nobody exceeds: no person has more than four rows."""
    stated: dict[str, Any] = {
        **{"name": "visits", "person": "person", "max_groups": 4, "max_rows_per_group": 4},
        **{"bounds": {"cost": (0, 40), "age": (0, 5)}, "steps": {"cost": "0.25"}, "keys": {"ward": ["A", "B"]}},
        **{"complete": ["person"], "hard": ["bounds.age", "bounds.cost"], "ledger": ledger(folder, dither.pure(10**9))},
    }
    return dither.protect(rows(), **(stated | facts))


def engine() -> duckdb.DuckDBPyConnection:
    """Plain DuckDB with the same rows."""
    made = duckdb.connect()
    made.execute("SET TimeZone = 'UTC'")
    made.register("held", rows())
    made.execute("CREATE TABLE visits AS SELECT * FROM held")
    return made


def compare(found: dither.Answer, result: duckdb.DuckDBPyConnection) -> None:
    """The answer, with next to no noise, is what plain SQL says; a group without a key is in no answer, and NULL is 0."""
    names = [column[0] for column in result.description]
    keys = [name for name in found.columns if name in found.keys]
    assert [name for name in found.columns if not name.endswith(("_low", "_high"))] == names
    plain = {}
    for row in result.fetchall():
        told = dict(zip(names, row, strict=True))
        if all(told[key] is not None for key in keys):
            plain[tuple(told[key] for key in keys)] = told
    seen = {tuple(row[key] for key in keys): row for row in found}
    assert plain.keys() <= seen.keys()
    for key, row in seen.items():
        for name in found.aggregates:
            truth = plain.get(key, {}).get(name)
            if truth is None and (row[name] is None or row[f"{name}_high"] - row[f"{name}_low"] > 1):
                continue  # an average of nothing
            if (
                row[name] is None
            ):  # of conditions that all rows meet, or none, an extreme is at the bound that it cannot leave
                assert row[f"{name}_low"] <= float(truth) <= row[f"{name}_high"], (key, name, truth)
                continue
            off = 0.05 + 0.002 * abs(float(truth or 0))  # of 150 rows none may be missing; weights round sums a little
            assert abs(row[name] - float(truth or 0)) < off, (key, name, row[name], truth)
