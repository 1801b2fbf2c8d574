"""A made-up clinic that never changes: two tables about people, two public ones, the same rows for ever."""

from __future__ import annotations

import datetime
from pathlib import Path

import pyarrow
import pyarrow.parquet

import dither
from tests.policies import opened

POLICY = """\
version = 1
domain = "golden clinic"
unit = "{unit}"
data_version = "1"

[ledger]
location = "clinic.ledger"
budget = {budget}

[tables.visits]
source = "visits.parquet"
{person}

[tables.visits.columns]
person = {{ type = "integer", nullable = false }}
ward = {{ type = "text", keys = ["A", "B", "C", "D"] }}
town = {{ type = "text" }}
age = {{ type = "integer", bounds = [0, 100] }}
cost = {{ type = "decimal", bounds = [0, 2000], step = "0.01" }}
share = {{ type = "float", bounds = [-1, 1] }}
day = {{ type = "date" }}
at = {{ type = "timestamp" }}
new = {{ type = "boolean", keys = [false, true], nullable = false }}

[tables.stays]
source = "stays.parquet"
{stays}

[tables.stays.columns]
patient = {{ type = "integer", nullable = false }}
nights = {{ type = "integer", bounds = [0, 30], nullable = false }}
floor = {{ type = "integer", bounds = [0, 9], keys = [0, 1, 2, 3] }}

[tables.wards]
public = true
source = "wards.parquet"

[tables.wards.columns]
ward = {{ type = "text" }}
site = {{ type = "text", keys = ["north", "south"] }}
beds = {{ type = "integer", bounds = [0, 500] }}
"""
BY_PERSON = 'person = "{}"\nmax_groups = 2\nmax_rows_per_group = 3'
BUDGETS = {
    "rho": ('{ epsilon = "3", delta = "1e-6" }', "add/remove one person", BY_PERSON),
    "pure": ('{ epsilon = "20" }', "add/remove one person", BY_PERSON),
    "replace": ('{ epsilon = "3", delta = "1e-6" }', "replace one person", BY_PERSON),
    "rows": ('{ epsilon = "3", delta = "1e-6" }', "add/remove one person", 'person = "each row"'),
    # a price that leaves no noise: released integers are the totals
    "loud": ('{ epsilon = "1e12", delta = "0.1" }', "add/remove one person", BY_PERSON),
    "loud pure": ('{ epsilon = "1e12" }', "add/remove one person", BY_PERSON),
}


def numbers(count: int, modulus: int, factor: int) -> list[int]:
    """Whole numbers that look mixed, the same on every machine."""
    return [(place * factor + place * place * 7 + place // 3) % modulus for place in range(count)]


def visits() -> pyarrow.Table:
    rows = 400
    people = [value // 2 for value in numbers(rows, 180, 31)]
    first = datetime.date(2024, 1, 1)
    days = [first + datetime.timedelta(days=value) for value in numbers(rows, 365, 17)]
    data = {
        "person": people,
        "ward": [["A", "B", "C", "D", "E", None][value] for value in numbers(rows, 6, 5)],
        "town": [f"town {value}" if value < 7 else None for value in numbers(rows, 8, 3)],
        "age": [value if value < 97 else None for value in numbers(rows, 104, 13)],
        "cost": [value / 4 if value < 8900 else float("nan") for value in numbers(rows, 9000, 1013)],
        "share": [(value - 500) / 400 for value in numbers(rows, 1000, 77)],
        "day": days,
        "at": [datetime.datetime(day.year, day.month, day.day, place % 24, place % 60) for place, day in enumerate(days)],
        "new": [value == 0 for value in numbers(rows, 3, 2)],
    }
    return pyarrow.table(data)


def stays() -> pyarrow.Table:
    rows = 150
    data = {"patient": numbers(rows, 95, 11), "nights": numbers(rows, 33, 5), "floor": numbers(rows, 5, 7)}
    return pyarrow.table(data)


def wards() -> pyarrow.Table:
    return pyarrow.table({"ward": ["A", "B", "C", "X"], "site": ["north", "north", "south", None], "beds": [10, 20, 30, 5]})


def save(folder: Path, kind: str) -> dither.Dataset:
    """The clinic under one kind of budget, in a folder of its own."""
    budget, unit, person = BUDGETS[kind]
    folder.mkdir(parents=True)
    for name, table in (("visits", visits()), ("stays", stays()), ("wards", wards())):
        pyarrow.parquet.write_table(table, folder / f"{name}.parquet")
    policy = POLICY.format(unit=unit, budget=budget, person=person.format("person"), stays=person.format("patient"))
    (folder / "policy.toml").write_text(policy)
    return opened(folder / "policy.toml")
