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
{visits}

[tables.visits.columns]
person = {{ type = "integer", nullable = false }}
visit = {{ type = "integer", nullable = false }}
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

[tables.doses]
source = "doses.parquet"
{doses}

[tables.doses.columns]
visit = {{ type = "integer" }}
drug = {{ type = "text", keys = ["x", "y", "z"] }}
amount = {{ type = "decimal", bounds = [0, 50], step = "0.5" }}

[tables.bills]
source = "bills.parquet"
{bills}

[tables.bills.columns]
payer = {{ type = "integer", nullable = false }}
paid = {{ type = "decimal", bounds = [0, 100], step = "0.25", nullable = false }}
due = {{ type = "date", bounds = [2024-01-01, 2024-03-31], nullable = false }}
kind = {{ type = "text", keys = ["cash", "card"], nullable = false }}

[tables.calls]
source = "calls.parquet"
{calls}
min_group_size = 5

[tables.calls.columns]
caller = {{ type = "integer", nullable = false }}
seconds = {{ type = "integer", bounds = {seconds} }}
topic = {{ type = "text", keys = ["bill", "bed", "other"] }}

[tables.clicks]
source = "clicks.parquet"
{clicks}

[tables.clicks.columns]
who = {{ type = "integer", nullable = false }}
page = {{ type = "text" }}

[tables.wards]
public = true
source = "wards.parquet"
unique = ["ward"]

[tables.wards.columns]
ward = {{ type = "text" }}
site = {{ type = "text", keys = ["north", "south"] }}
beds = {{ type = "integer", bounds = [0, 500] }}
"""
LIMITED = "max_groups = 2\nmax_rows_per_group = 3"
BY_PERSON = {
    "visits": f'person = "person"\n{LIMITED}',
    "stays": f'person = "patient"\n{LIMITED}',
    "doses": f'owner = {{ through = "visits", on = "visit" }}\n{LIMITED}',
    # what nobody exceeds, and what is paid in all
    "bills": 'person = "payer"\nmax_rows = 4\nmax_sum = { paid = 150 }\n'
    'hard = ["max_rows", "bounds.paid", "steps.paid", "bounds.due", "keys.kind"]',
    "calls": 'person = "caller"\nmax_rows = 8\nlimits = "auto"',
    "seconds": '"auto"',
    "clicks": 'person = "who"\nmax_rows = 60',
}
EACH_ROW = 'person = "each row"'
BY_ROW = {**dict.fromkeys(("visits", "stays", "doses", "calls", "clicks"), EACH_ROW), "seconds": '"auto"'}
BY_ROW["bills"] = f'{EACH_ROW}\nhard = ["bounds.paid", "steps.paid", "bounds.due", "keys.kind"]'
ADD_REMOVE, REPLACE = "add/remove one person", "replace one person"
APPROX = '{ epsilon = "300", delta = "1e-6" }'  # enough for all questions
BUDGETS = {
    "rho": (APPROX, ADD_REMOVE, BY_PERSON),
    "pure": ('{ epsilon = "3000" }', ADD_REMOVE, BY_PERSON),
    "replace": (APPROX, REPLACE, BY_PERSON),
    "rows": (APPROX, ADD_REMOVE, BY_ROW),
}


def policy_text(kind: str) -> str:
    """The policy file of the clinic under one kind of budget, without the identity of a ledger."""
    budget, unit, people = BUDGETS[kind]
    return POLICY.format(unit=unit, budget=budget, **people)


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
        "visit": list(range(rows)),
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


def doses() -> pyarrow.Table:
    """Of three visits in four one or two doses; some are of no visit that there is."""
    rows = 300
    visit = [None if value == 0 else value for value in numbers(rows, 480, 7)]
    drug = [["x", "y", "z", "w", None][value] for value in numbers(rows, 5, 3)]
    return pyarrow.table({"visit": visit, "drug": drug, "amount": [value / 4 for value in numbers(rows, 240, 19)]})


def bills() -> pyarrow.Table:
    """As the policy says: at most four of a person, within the bounds, on the steps."""
    rows = 200
    first = datetime.date(2024, 1, 1)
    data = {"payer": [place % 60 for place in range(rows)], "paid": [value / 4 for value in numbers(rows, 401, 31)]}
    data |= {"due": [first + datetime.timedelta(days=value) for value in numbers(rows, 91, 5)]}
    return pyarrow.table({**data, "kind": [["cash", "card"][value // 2] for value in numbers(rows, 4, 3)]})


def calls() -> pyarrow.Table:
    """Most people call once or twice, some much more often."""
    rows = 240
    caller = [value if value < 60 else value % 4 for value in numbers(rows, 90, 7)]
    topic = [["bill", "bed", "other", None][value] for value in numbers(rows, 4, 5)]
    return pyarrow.table({"caller": caller, "seconds": [value * 3 for value in numbers(rows, 400, 23)], "topic": topic})


def wards() -> pyarrow.Table:
    return pyarrow.table({"ward": ["A", "B", "C", "X"], "site": ["north", "north", "south", None], "beds": [10, 20, 30, 5]})


def clicks() -> pyarrow.Table:
    """Ten of each person; few pages are opened by many."""
    rows = 600
    pages = [f"page {value * value // 40}" for value in numbers(rows, 40, 7)]
    return pyarrow.table({"who": [place % 60 for place in range(rows)], "page": pages})


TABLES = {"visits": visits, "stays": stays, "doses": doses, "bills": bills, "calls": calls, "clicks": clicks, "wards": wards}


def save(folder: Path, kind: str) -> dither.Dataset:
    """The clinic under one kind of budget, in a folder of its own."""
    folder.mkdir(parents=True)
    for name, table in TABLES.items():
        pyarrow.parquet.write_table(table(), folder / f"{name}.parquet")
    (folder / "policy.toml").write_text(policy_text(kind))
    return opened(folder / "policy.toml")
