"""Rows on which engines differ, and questions about them: what `check_engine` asks.

Cells are at the ends of every type and beside them: NaN, infinities, the largest and the least double, the two zeros, the
ends of 64 bits, the first and the last day, texts that SQL, patterns and collations could take for something else.
"""

from __future__ import annotations

import datetime
import math
import random
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dither.privacy.unit import Unit
from dither.query.policy.policy import Policy, read_policy

if TYPE_CHECKING:
    import pyarrow

Day, Time = datetime.date, datetime.datetime
TABLE = "rows"
TEXTS = [
    "",
    "A",
    "a",
    "B",
    "A ",
    " A",
    "a%",
    "A\\%",
    "A_",
    "it's",
    'say "x"',
    "\\",
    "\\n",
    "Ä",
    "A\u0301",
    "ß",
    "🎲",
    "x" * 2100,
]
NUMBERS = [
    math.nan,
    math.inf,
    -math.inf,
    0.0,
    -0.0,
    1.7e308,
    -1.7e308,
    5e-324,
    1e-310,
    0.1,
    2.5,
    -2.5,
    2.675,
    1e15,
    3.0,
    99.9,
]
WHOLE = [0, 1, -1, 18, 65, 120, 2**53 + 1, 2**63 - 1, -(2**63)]
DAYS = [Day.min, Day.max, Day(1970, 1, 1), Day(1969, 12, 31), Day(2024, 2, 29), Day(2026, 1, 4), Day(2024, 12, 30)]
TIMES = [Time.min, Time.max, Time(1969, 12, 31, 23, 59, 59, 999999), Time(2024, 2, 29, 12, 30, 1, 5), Time(2026, 1, 31)]
CELLS: Mapping[str, Sequence[Any]] = {
    "person": [1, 2, 2, 3, 3, 3, 4, None],
    "ward": [*TEXTS, None],
    "name": [*TEXTS, None, None],
    "cost": [*NUMBERS, None],
    "weight": [*NUMBERS, None, 2.0],
    "age": [*WHOLE, None],
    "smokes": [True, False, None],
    "seen": [*DAYS, None],
    "at": [*TIMES, None],
}
COLUMNS: Mapping[str, Mapping[str, Any]] = {
    "row": {"type": "integer"},
    "person": {"type": "integer"},
    "ward": {"type": "text", "keys": ["A", "a", "B", "it's", "Ä"]},
    "name": {"type": "text"},
    "cost": {"type": "float", "bounds": [-10, 100], "step": "0.25"},
    "weight": {"type": "decimal", "bounds": ["0.3", "7.3"], "step": "0.5"},
    "age": {"type": "integer", "bounds": [0, 120]},
    "smokes": {"type": "boolean"},
    "seen": {"type": "date", "bounds": [Day(2024, 1, 1), Day(2024, 12, 31)]},
    "at": {"type": "timestamp"},
}
VALUES = [
    *(
        "cost / weight",
        "weight / NULLIF(age, 0)",
        "1 / cost",
        "age // 7",
        "age % 7",
        "cost % 3",
        "SIGN(cost)",
        "TRUNC(cost)",
    ),
    *("cost", "weight", "age", "name", "seen", "at", "smokes", "cost + weight", "cost - age * 2", "-cost", "cost * weight"),
    *("cost / 3", "weight / -0.25", "cost * 1e-30 * weight", "ABS(age)", "FLOOR(cost)", "CEIL(cost)", "ROUND(cost)"),
    *("ROUND(cost, 1)", "ROUND(weight, 2)", "ROUND(cost, -2)", "COALESCE(cost, age)", "NULLIF(age, 18)", "LENGTH(name)"),
    *("GREATEST(cost, weight, 2)", "LEAST(cost, weight)", "LEAST(GREATEST(cost, 0), 9)", "WIDTH_BUCKET(cost, 0, 100, 7)"),
    *("TRIM(name)", "LEFT(name, 2)", "RIGHT(name, 2)", "SUBSTRING(name, 2, 3)", "name || ward", "GREATEST(name, ward)"),
    *("CASE WHEN age > 18 THEN cost ELSE weight END", "CASE WHEN name = 'A' THEN 'x' ELSE ward END"),
    *(f"EXTRACT({part} FROM seen)" for part in ("year", "quarter", "month", "week", "dow", "isodow", "doy", "day")),
    *(f"EXTRACT({part} FROM at)" for part in ("hour", "minute", "second", "epoch")),
    *(f"DATE_TRUNC('{period}', {of})" for period in ("year", "quarter", "month", "week", "day") for of in ("seen", "at")),
    *(f"DATE_DIFF('{unit}', seen, at)" for unit in ("year", "month", "day", "hour")),
    *("CAST(at AS DATE)", "at + INTERVAL '1 month'", "seen - INTERVAL '3 days'"),
]
VALUES += ["SQRT(cost)", "SQRT(cost / weight)", "POWER(cost, 2)", "POWER(weight, 3)", "SQRT(age) * POWER(age, 2)"]
LIBRARY = [  # values that a machine's library rounds
    *("LN(cost)", "LN(age)", "LOG10(weight)", "LOG2(cost)", "EXP(cost)", "EXP(-weight)", "EXP(cost * weight)"),
    *(f"POWER(cost, {exponent})" for exponent in ("-1", "-2", "0.5", "1.7", "7", "100", "-100", "0.01")),
    *("POWER(age, 5)", "LN(cost / weight)", "10 * LOG10(cost)", "weight * LN(weight)", "LN(cost) / 3"),
    *("CASE WHEN age > 18 THEN LN(cost) ELSE EXP(cost) END", "LEAST(ABS(LN(cost)), 2)", "COALESCE(LN(cost), weight)"),
]
CONDITIONS = [
    *(
        "cost > 3",
        "cost <= weight",
        "age = 18",
        "name = 'A'",
        "name < ward",
        "name IN ('a', 'it''s', 'A ')",
        "cost IN (0, 2.5)",
    ),
    *("name LIKE 'A%'", "name LIKE 'A\\%'", "name LIKE 'A_'", "name LIKE '%''%'", "name LIKE '\\'", "age BETWEEN 0 AND 65"),
    *("smokes", "NOT smokes OR cost IS NULL", "seen >= DATE '2024-01-01'", "at < TIMESTAMP '2024-03-01 00:00:00'"),
    *("cost * age < 50", "smokes AND (name = 'a' OR age > 0)", "weight IS NOT NULL", "at - seen > INTERVAL '36 hours'"),
]
ADDED = ["cost", "age", "weight", "cost * 2 - age", "ABS(cost)", "ROUND(cost / 3, 1)", "COALESCE(cost, age)", "LENGTH(name)"]
BY = ["ward", "smokes", "EXTRACT(quarter FROM seen)", "CASE WHEN age < 30 THEN 'young' ELSE 'old' END", "FLOOR(age / 40)"]
FROM = [
    "(SELECT person, ward, LAG(cost) OVER (PARTITION BY person ORDER BY age) AS cost,"
    " ROW_NUMBER() OVER (PARTITION BY person ORDER BY seen DESC) AS age FROM rows) AS q",
    "(SELECT person, ward, cost, SUM(age) OVER (PARTITION BY person, ward ORDER BY cost NULLS FIRST) AS age FROM rows) AS q",
    "(SELECT person, ward, cost, age FROM rows AS a WHERE EXISTS (SELECT 1 FROM rows AS o WHERE o.person = a.person"
    " AND o.cost > a.cost)) AS q",
    "(SELECT a.person, a.ward, a.cost, b.n AS age FROM rows AS a LEFT JOIN (SELECT person, COUNT(*) AS n FROM rows"
    " GROUP BY person) AS b ON a.person = b.person AND b.n > a.age) AS q",
    "(SELECT person, ward, cost, age FROM rows WHERE person NOT IN (SELECT person FROM rows WHERE smokes)) AS q",
    "rows",
    "rows",
    "rows",
    "(SELECT person, ward, COUNT(*) AS age, SUM(cost) AS cost, MIN(weight) AS weight, MAX(name) AS name FROM rows"
    " GROUP BY person, ward) AS q",
    "(SELECT person, ward, cost, age FROM rows WHERE cost > 0 UNION ALL SELECT person, ward, cost, age FROM rows) AS q",
    "(SELECT a.person, a.ward, a.cost, a.age, a.weight, a.name, b.n FROM rows AS a"
    " JOIN (SELECT person, COUNT(*) AS n FROM rows GROUP BY person) AS b ON a.person = b.person WHERE n < 90) AS q",
]


def hostile_table(rng: random.Random, rows: int) -> pyarrow.Table:
    """Rows of random hostile cells, each with its number."""
    import pyarrow

    kinds = {"person": pyarrow.int64(), "age": pyarrow.int64(), "cost": pyarrow.float64(), "weight": pyarrow.float64()}
    kinds |= {"seen": pyarrow.date32(), "at": pyarrow.timestamp("us"), "smokes": pyarrow.bool_()}
    columns = {
        name: pyarrow.array(rng.choices(cells, k=rows), kinds.get(name, pyarrow.string())) for name, cells in CELLS.items()
    }
    return pyarrow.table({"row": pyarrow.array(range(rows), pyarrow.int64()), **columns})


def hostile_policy(*, person: bool, groups: int = 2, rows: int = 3) -> Policy:
    """The policy of these rows: by person, or one row a person."""
    table: dict[str, Any] = {
        "person": "person" if person else "each row",
        "columns": {k: dict(v) for k, v in COLUMNS.items()},
    }
    if person:
        table |= {"max_groups": groups, "max_rows_per_group": rows}
    return read_policy({"version": 1, "domain": "engine", "unit": Unit.ADD_REMOVE.value, "tables": {TABLE: table}})


def random_question(rng: random.Random, *, person: bool, people: bool = False) -> str:
    """SQL about the rows; of `people`, only how many there are."""
    where_from = rng.choice(FROM) if person else "rows"
    plain = where_from == "rows"
    added = ADDED if plain else ["cost", "age", "cost - age"]
    asked = ["COUNT(*)", f"COUNT({rng.choice(added)})", f"SUM({rng.choice(added)})", f"AVG({rng.choice(added)})"]
    chosen = ["COUNT(DISTINCT person)"] if people else rng.sample(asked, rng.randrange(1, 4))
    by = rng.sample(BY, rng.randrange(0, 3)) if plain else rng.sample(["ward"], rng.randrange(0, 2))
    where = f" WHERE {rng.choice(CONDITIONS)}" if plain and rng.random() < 0.6 else ""
    shown = [*by, *(f"{one} AS a{at}" for at, one in enumerate(chosen))]
    grouped = f" GROUP BY {', '.join(by)}" if by else ""
    return f"SELECT {', '.join(shown)} FROM {where_from}{where}{grouped}"  # noqa: S608
