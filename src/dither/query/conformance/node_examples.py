"""A question for each node of a plan and each aggregate, about hostile rows in three tables: what `check_engine` asks.

`rows` are those of people (`hostile_rows.py`); `parts` belong to whom the row belongs that they name; `wards` are public. An
engine that gives DuckDB's whole numbers for each of them was tried with every node there is. docs/engines.md shows them.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dither.privacy.unit import Unit
from dither.query.conformance.hostile_rows import COLUMNS, NUMBERS, TABLE, TEXTS, hostile_table
from dither.query.plan import aggregates, chain, counters, dates, expressions, functions, person_totals, relations
from dither.query.plan.joins.outer_join import OuterJoin
from dither.query.plan.joins.semi_join import SemiJoin
from dither.query.plan.mathematics import division
from dither.query.plan.mathematics.elementary import ElementaryName
from dither.query.plan.mathematics.pair_counters import PairCounter
from dither.query.plan.person_windows import frames, window_functions
from dither.query.policy.policy import Policy, read_policy

if TYPE_CHECKING:
    import pyarrow

PARTS, WARDS = "parts", "wards"
TABLES: Mapping[str, Mapping[str, Any]] = {
    TABLE: {"person": "person", "columns": COLUMNS},
    PARTS: {
        "owner": {"through": TABLE, "on": {"child": "row", "parent": "row"}},
        "columns": {
            "row": {"type": "integer"},
            "price": {"type": "float", "bounds": [-10, 100], "step": "0.25"},
            "kind": {"type": "text", "keys": ["A", "a", "B"]},
        },
    },
    WARDS: {
        "public": True,
        "columns": {"ward": {"type": "text"}, "beds": {"type": "integer", "bounds": [0, 500]}},
    },
}
OWN = "SELECT SUM(v) AS s FROM (SELECT person, {} AS v FROM rows GROUP BY person) AS q"
OVER = "SELECT SUM(v) AS s FROM (SELECT person, {} OVER (PARTITION BY person ORDER BY {}) AS v FROM rows) AS q"
WHERE = "SELECT COUNT(*) AS n FROM rows WHERE {}"
EXPRESSIONS: Mapping[type, str] = {
    expressions.ColumnValue: "SELECT SUM(cost) AS s FROM rows",
    expressions.Constant: "SELECT SUM(CASE WHEN smokes THEN 0.3 ELSE 7 END) AS s FROM rows",
    expressions.ReleasedConstant: WHERE.format("cost > (SELECT AVG(cost) FROM rows)"),
    expressions.Arithmetic: "SELECT SUM(cost * 2 - age / 7) AS s FROM rows",
    expressions.Compare: WHERE.format("cost <= weight AND name < ward"),
    expressions.InList: WHERE.format("name IN ('a', 'it''s', 'A ') OR age IN (18, 65)"),
    expressions.Like: WHERE.format("name LIKE 'A%'"),
    expressions.IsNull: WHERE.format("cost IS NULL"),
    expressions.Logic: WHERE.format("smokes OR (age > 18 AND cost < 3)"),
    expressions.Not: WHERE.format("NOT smokes"),
    expressions.Case: "SELECT SUM(CASE WHEN age > 18 THEN cost ELSE weight END) AS s FROM rows",
    expressions.Bucket: "SELECT MEDIAN(cost) AS m FROM rows",
    functions.Coalesce: "SELECT SUM(COALESCE(cost, age)) AS s FROM rows",
    functions.GreatestLeast: "SELECT SUM(GREATEST(cost, weight, 2)) AS s FROM rows",
    functions.Clamp: "SELECT age, COUNT(*) AS n FROM rows GROUP BY age",
    functions.Abs: "SELECT SUM(ABS(cost - 3)) AS s FROM rows",
    functions.Floor: "SELECT FLOOR(age / 40) AS k, COUNT(*) AS n FROM rows GROUP BY k",
    functions.Ceil: "SELECT SUM(CEIL(cost)) AS s FROM rows",
    functions.Round: "SELECT SUM(ROUND(cost, 1)) AS s FROM rows",
    functions.Trunc: "SELECT SUM(TRUNC(cost)) AS s FROM rows",
    functions.WidthBucket: "SELECT WIDTH_BUCKET(cost, 0, 100, 7) AS k, COUNT(*) AS n FROM rows GROUP BY k",
    division.Quotient: "SELECT SUM(cost / weight) AS s FROM rows",
    division.WholeQuotient: "SELECT age // 40 AS k, COUNT(*) AS n FROM rows GROUP BY k",
    division.Remainder: "SELECT age % 7 AS k, COUNT(*) AS n FROM rows GROUP BY k",
    division.Sign: "SELECT SIGN(cost) AS k, COUNT(*) AS n FROM rows GROUP BY k",
    functions.Length: "SELECT SUM(LENGTH(name)) AS s FROM rows",
    functions.Substring: WHERE.format("SUBSTRING(name, 2, 3) = 'ay '"),
    functions.Concat: WHERE.format("name || ward = 'AA'"),
    functions.ChangeText: WHERE.format("TRIM(name) = 'A'"),
    dates.DateTrunc: "SELECT DATE_TRUNC('month', seen) AS m, COUNT(*) AS n FROM rows GROUP BY m",
    expressions.DatePart: "SELECT EXTRACT(quarter FROM seen) AS k, COUNT(*) AS n FROM rows GROUP BY k",
    dates.DateCast: WHERE.format("CAST(at AS DATE) < DATE '2024-03-01'"),
    dates.DateAdd: WHERE.format("at + INTERVAL '1 month' > TIMESTAMP '2024-03-29 00:00:00'"),
    dates.DateDiff: WHERE.format("DATE_DIFF('day', seen, at) > 30"),
}
ELEMENTARY: Mapping[ElementaryName, str] = {  # all but the root are rounded by a machine's library
    "sqrt": "SELECT SUM(SQRT(weight)) AS s FROM rows",
    "ln": "SELECT SUM(LN(weight)) AS s FROM rows",
    "log10": "SELECT SUM(10 * LOG10(weight)) AS s FROM rows",
    "log2": "SELECT AVG(LOG2(age)) AS s FROM rows",
    "exp": "SELECT SUM(EXP(-weight)) AS s FROM rows",
}
POWERS = [
    "SELECT SUM(POWER(cost, 2)) AS s FROM rows",
    "SELECT SUM(POWER(weight, 1.5)) AS s FROM rows",
]  # the first: products
RELATIONS: Mapping[type, str] = {
    relations.Scan: "SELECT COUNT(*) AS n FROM rows",
    chain.Chain: "SELECT kind, SUM(price) AS s FROM parts GROUP BY kind",
    chain.Link: "SELECT ward, SUM(price) AS s FROM rows JOIN parts ON rows.row = parts.row GROUP BY ward",
    relations.FilterRows: "SELECT SUM(v) AS s FROM (SELECT person, cost AS v FROM rows WHERE cost > 0) AS q",
    relations.Project: "SELECT SUM(v) AS s FROM (SELECT person, ROUND(cost) - age AS v FROM rows) AS q",
    relations.JoinPublic: "SELECT SUM(beds) AS s FROM rows JOIN wards ON rows.ward = wards.ward",
    relations.JoinOnPerson: "SELECT SUM(v) AS s FROM (SELECT a.person, a.cost AS v, b.n FROM rows AS a JOIN"
    " (SELECT person, COUNT(*) AS n FROM rows GROUP BY person) AS b ON a.person = b.person WHERE n < 90) AS q",
    OuterJoin: "SELECT SUM(v) AS s FROM (SELECT a.person, b.n AS v FROM rows AS a LEFT JOIN"
    " (SELECT person, COUNT(*) AS n FROM rows GROUP BY person) AS b ON a.person = b.person AND b.n > a.age) AS q",
    SemiJoin: WHERE.format("person NOT IN (SELECT person FROM rows WHERE smokes)"),
    relations.GroupByPerson: "SELECT SUM(v) AS s FROM (SELECT person, ROUND(cost) AS k, MAX(age * age) AS v FROM rows"
    " GROUP BY person, ROUND(cost)) AS q WHERE k < 50",
    relations.WindowByPerson: OVER.format("LAG(age - 1)", "seen"),
    relations.UnionAll: "SELECT SUM(v) AS s FROM (SELECT person, age * age AS v FROM rows UNION ALL"
    " SELECT person, age AS v FROM rows) AS q",
}
OWN_TOTALS: Mapping[type, str] = {
    person_totals.PersonRows: OWN.format("COUNT(*)"),
    person_totals.PersonValues: OWN.format("COUNT(cost)"),
    person_totals.PersonDistinct: OWN.format("COUNT(DISTINCT ward)"),
    person_totals.PersonMin: OWN.format("MIN(age - 1)"),
    person_totals.PersonMax: OWN.format("MAX(ROUND(cost))"),
    person_totals.PersonSum: OWN.format("SUM(cost)"),
    person_totals.PersonMean: OWN.format("AVG(cost)"),
    window_functions.WindowPlace: OVER.format("ROW_NUMBER()", "seen DESC"),
    window_functions.WindowValue: OVER.format("LEAD(age * age)", "seen"),
    window_functions.WindowTotal: OVER.format("SUM(age)", "cost NULLS FIRST"),
    frames.SortKey: OVER.format("RANK()", "age * age DESC NULLS LAST"),
    frames.Frame: OVER.format("MAX(ROUND(cost))", "seen ROWS BETWEEN 2 PRECEDING AND CURRENT ROW"),
}
COUNTERS: Mapping[type, str] = {
    counters.RowCounter: "SELECT ward, COUNT(*) AS n FROM rows GROUP BY ward",
    counters.PersonCounter: "SELECT COUNT(DISTINCT person) AS n FROM rows",
    counters.ValueCounter: "SELECT COUNT(cost) AS n FROM rows",
    counters.DistinctCounter: "SELECT COUNT(DISTINCT name) AS n FROM rows",
    counters.StepCounter: "SELECT SUM(cost) AS s FROM rows",
    **dict.fromkeys(
        (counters.AboveCounter, counters.BelowCounter, counters.MissingCounter),
        "SELECT COUNT(*) AS n, AVG(cost) AS a FROM rows",
    ),
    **dict.fromkeys(
        (counters.AboveSquare, counters.CrossProduct, counters.BelowSquare, counters.MissingSquare),
        "SELECT COUNT(*) AS n, STDDEV(cost) AS d FROM rows",
    ),
    PairCounter: "SELECT CORR(cost, weight) AS r FROM rows",
}
AGGREGATES: Mapping[type, str] = {
    aggregates.CountRows: "SELECT COUNT(*) AS n FROM rows",
    aggregates.CountPersons: "SELECT COUNT(DISTINCT person) AS n FROM rows",
    aggregates.CountValues: "SELECT COUNT(cost) AS n FROM rows",
    aggregates.Sum: "SELECT SUM(weight) AS s FROM rows",
    aggregates.Mean: "SELECT AVG(weight) AS a FROM rows",
    aggregates.Variance: "SELECT VAR_POP(weight) AS v FROM rows",
    aggregates.Covariance: "SELECT COVAR_POP(cost, age) AS c FROM rows",
    aggregates.Correlation: "SELECT CORR(cost, age) AS r FROM rows",
    aggregates.RegressionLine: "SELECT REGR_SLOPE(cost, age) AS a FROM rows",
    aggregates.CountDistinct: "SELECT COUNT(DISTINCT ward) AS n FROM rows",
    aggregates.CountDistinctValues: "SELECT COUNT(DISTINCT name) AS n FROM rows",
    aggregates.Mode: "SELECT MODE(ward) AS w FROM rows",
    aggregates.Quantile: "SELECT QUANTILE_CONT(weight, 0.9) AS q, MIN(weight) AS low FROM rows",
    aggregates.RunningCount: "SELECT age, SUM(COUNT(*)) OVER (ORDER BY age) AS n FROM rows GROUP BY age",
}
EXAMPLES = [EXPRESSIONS, RELATIONS, OWN_TOTALS, COUNTERS, AGGREGATES]
QUESTIONS = list(dict.fromkeys([*(sql for each in EXAMPLES for sql in each.values()), *ELEMENTARY.values(), *POWERS]))


def hostile_tables(seed: int, rows: int) -> dict[str, pyarrow.Table]:
    """The three tables; some parts name no row, or none that is there, and a ward may be listed twice."""
    import pyarrow

    rng = random.Random(seed)  # noqa: S311
    parts = {
        "row": pyarrow.array([rng.choice([None, -1, *range(rows)]) for _ in range(2 * rows)], pyarrow.int64()),
        "price": pyarrow.array(rng.choices([*NUMBERS, None], k=2 * rows), pyarrow.float64()),
        "kind": pyarrow.array(rng.choices([*TEXTS[:9], None], k=2 * rows), pyarrow.string()),
    }
    wards = {
        "ward": pyarrow.array([*TEXTS, "A", None], pyarrow.string()),
        "beds": pyarrow.array([rng.choice([None, 0, 7, 500, 2**63 - 1]) for _ in range(len(TEXTS) + 2)], pyarrow.int64()),
    }
    return {TABLE: hostile_table(rng, rows), PARTS: pyarrow.table(parts), WARDS: pyarrow.table(wards)}


def tables_policy() -> Policy:
    """The policy of the three tables."""
    limits = {"max_groups": 2, "max_rows_per_group": 3}
    tables = {name: {**stated, **({} if name == WARDS else limits)} for name, stated in TABLES.items()}
    return read_policy({"version": 1, "domain": "engine", "unit": Unit.ADD_REMOVE.value, "tables": tables})
