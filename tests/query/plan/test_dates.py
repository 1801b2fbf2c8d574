"""Dates and timestamps: values are those of plain DuckDB, facts hold, no cell makes them fail, and groups hold every row."""

from __future__ import annotations

import datetime
import random
from fractions import Fraction
from typing import Any

import duckdb
import pyarrow
import pytest

from dither.query.engines.duckdb.words import DUCKDB
from dither.query.engines.templates.expressions import render
from dither.query.engines.words import Words
from dither.query.plan.base import Expression
from dither.query.plan.calendar_periods import PERIODS, UNITS, later, number_of
from dither.query.plan.dates import DateAdd, DateCast
from dither.query.plan.expressions import PARTS
from dither.query.policy.column import Type
from dither.query.policy.policy import Policy, read_policy
from dither.query.sql.parse import parse

D, T = datetime.date, datetime.datetime
MICROSECOND, DAY = datetime.timedelta(microseconds=1), datetime.timedelta(days=1)
FIRST, LAST = "TIMESTAMP '0001-01-01'", "TIMESTAMP '9999-12-31 23:59:59.999999'"
COLUMNS = {"a": "timestamp", "b": "timestamp", "d": "date", "e": "date"}
INTERVALS = ["3 days", "1 month", "-1 month", "1 year 1 month -3 days", "90 minutes", "-7 weeks", "5 quarters 1 microsecond"]
HOSTILE = ["infinity", "-infinity", "0001-01-01 (BC)", "0001-01-01", "9999-12-31", "10000-01-01", "2024-02-29", "1969-12-31"]
ENDS = {
    "timestamp": ["290309-12-22 (BC)", "294247-01-10 04:00:54.775806", "9999-12-31 23:59:59.999999"],
    "date": ["5877642-06-25 (BC)", "5881580-07-10"],
}


def policy_of(bounds: dict[str, tuple[Any, Any]]) -> Policy:
    columns = {
        name: {"type": kind} | ({"bounds": [*bounds[name]]} if name in bounds else {}) for name, kind in COLUMNS.items()
    }
    columns["p"] = {"type": "integer"}
    table = {"person": "p", "max_groups": 2, "max_rows_per_group": 2, "columns": columns}
    return read_policy({"version": 1, "domain": "d", "tables": {"t": table}})


def meant(sql: str, policy: Policy) -> Expression:
    return parse(f"SELECT COUNT(*) FROM t WHERE ({sql}) IS NULL", policy).where.value


# -- random expressions: as a question has them, and as plain DuckDB has them -------------------------------------------


def random_date(rng: random.Random, depth: int, kind: str | None = None) -> tuple[str, str, str]:
    """The type of a date, its SQL in a question, and what it is in plain SQL."""
    kind = kind or rng.choice(["timestamp", "date"])
    if depth == 0 or rng.random() < 0.3:
        name = rng.choice([name for name, of in COLUMNS.items() if of == kind])
        return kind, name, name
    how = rng.choice(["cast", "trunc", "add", "least", "coalesce", "case"])
    _, ours, plain = random_date(rng, depth - 1, kind if how not in ("cast", "add") else None)
    if how == "cast":
        return kind, f"CAST({ours} AS {kind})", f"CAST({plain} AS {kind})"
    if how == "trunc":
        period = rng.choice(PERIODS[: 5 if kind == "date" else None])
        return kind, f"date_trunc('{period}', {ours})", f"CAST(date_trunc('{period}', {plain}) AS {kind})"
    if how == "add":
        step = rng.choice(INTERVALS)
        moved = f"({plain} {'+-'[turn := rng.randrange(2)]} INTERVAL '{step}')"
        kept = f"CASE WHEN {moved} BETWEEN {FIRST} AND {LAST} THEN {moved} END"
        asked = f"({ours} {'+-'[turn]} INTERVAL '{step}')"
        return kind, f"CAST({asked} AS {kind})", f"CAST({kept} AS {kind})"
    _, other, plainer = random_date(rng, depth - 1, kind)
    if how == "case":
        chosen = "CASE WHEN {0} < {1} THEN {1} ELSE {0} END"
        return kind, chosen.format(ours, other), chosen.format(plain, plainer)
    return kind, f"{how}({ours}, {other})", f"{how}({plain}, {plainer})"


def random_number(rng: random.Random, depth: int = 2) -> tuple[str, str]:
    """A number made of dates, in both spellings."""
    how = rng.choice(["part", "diff", "diff", "days", "epoch", "moment"])
    kind, ours, plain = random_date(rng, depth, {"days": "date", "epoch": "timestamp"}.get(how))
    _, other, plainer = random_date(rng, depth, "date" if how == "days" else None)
    if how == "part":
        part = rng.choice([part for part in PARTS if kind == "timestamp" or part not in ("hour", "minute", "second")])
        written = "dow" if part == "weekday" else part
        return f"EXTRACT({written} FROM {ours})", f"EXTRACT({written} FROM {plain})"
    if how == "moment":
        return f"EPOCH({ours})", f"EPOCH({plain})"
    if how == "days":
        return f"({ours} - {other})", f"({plain} - {plainer})"
    if how == "epoch":
        return f"EXTRACT(epoch FROM {ours} - {other})", f"EXTRACT(epoch FROM {plain} - {plainer})"
    unit = rng.choice(UNITS)
    return f"DATE_DIFF('{unit}', {ours}, {other})", f"DATE_DIFF('{unit}', {plain}::TIMESTAMP, {plainer}::TIMESTAMP)"


def random_bounds(rng: random.Random) -> dict[str, tuple[Any, Any]]:
    """Of each column: near the ends of the calendar, near the ends of months, or anywhere."""
    found: dict[str, tuple[Any, Any]] = {}
    for name, kind in COLUMNS.items():
        last = rng.choice([T.max, T(2024, 3, 31, 1), T(2024, 1, 31, 23, 59), T(1970, 1, 2), T(1, 1, 9), T(9999, 12, 20)])
        width = rng.choice([MICROSECOND, DAY / 2, 3 * DAY, 40 * DAY, 4000 * DAY])
        first = last - min(width, last - T.min)
        found[name] = (first, last) if kind == "timestamp" else (first.date(), last.date())
    return found


def within(rng: random.Random, bounds: dict[str, tuple[Any, Any]], count: int) -> pyarrow.Table:
    """Cells within bounds, their ends among them, and missing ones."""
    columns = {}
    for name, (first, last) in bounds.items():
        tick = DAY if COLUMNS[name] == "date" else MICROSECOND
        inner = [first + rng.randrange((last - first) // tick + 1) * tick for _ in range(count)]
        kind = pyarrow.date32() if COLUMNS[name] == "date" else pyarrow.timestamp("us")
        columns[name] = pyarrow.array([rng.choice([None, first, last, one, one, one]) for one in inner], kind)
    return pyarrow.table(columns)


def test_values_are_those_of_plain_duckdb_and_facts_hold():
    rng, bounded, dated = random.Random(1), 0, 0
    with duckdb.connect(config={"threads": 1}) as engine:
        for turn in range(300):
            bounds = random_bounds(rng)
            engine.register("t", within(rng, bounds, 40))
            ours, plain = random_number(rng) if turn % 2 else random_date(rng, 3)[1:]
            node = meant(ours, policy_of(bounds))
            rows = engine.execute(f"SELECT {render(DUCKDB, node)}, {plain} FROM t").fetchall()
            facts = node.facts
            assert facts.is_bounded or not facts.type.is_number  # all columns have bounds
            for found, expected in rows:
                assert type(found) in (type(expected), int, float) or found == expected, (ours, found, expected)
                assert found == expected or found == pytest.approx(expected, rel=1e-12), (ours, found, expected)
                if found is None:
                    assert facts.nullable
                elif facts.type.is_number:
                    bounded += 1
                    slack = 0 if isinstance(found, int) else Fraction(1, 10**6)
                    assert facts.lower - slack <= Fraction(found) <= facts.upper + slack, (ours, found, facts)
                else:
                    dated += 1
                    assert facts.first <= found <= facts.last, (ours, found, facts)
    assert bounded > 2000
    assert dated > 2000


def hostile(engine: duckdb.DuckDBPyConnection, rng: random.Random, count: int) -> None:
    cells = {name: [*HOSTILE, *ENDS[kind], None] for name, kind in COLUMNS.items()}
    rows = [
        "("
        + ", ".join(f"{'NULL' if (c := rng.choice(cells[name])) is None else repr(c)}::{COLUMNS[name]}" for name in COLUMNS)
        + f", {at})"
        for at in range(count)
    ]
    engine.execute(f"CREATE OR REPLACE TABLE t AS SELECT * FROM (VALUES {', '.join(rows)}) v({', '.join(COLUMNS)}, id)")


def test_no_cell_makes_them_fail_and_none_depends_on_others():
    """At the ends of the calendar, and of DuckDB's: alone and beside others a row has the same value, and no error."""
    rng, failed = random.Random(2), 0
    with duckdb.connect(config={"threads": 1}) as engine:
        for turn in range(150):
            hostile(engine, rng, 30)
            ours, plain = random_number(rng) if turn % 2 else random_date(rng, 3)[1:]
            sql = f"({render(DUCKDB, meant(ours, policy_of({})))})::VARCHAR"
            together = engine.execute(f"SELECT id, {sql} FROM t").fetchall()
            assert len(together) == 30
            for at, found in together[::5]:
                assert engine.execute(f"SELECT {sql} FROM t WHERE id = {at}").fetchall() == [(found,)]
            kept = f"SELECT count(*) FROM t WHERE {render(DUCKDB, meant(ours, policy_of({})))} IS NOT NULL"
            assert engine.execute(kept).fetchall()[0][0] == sum(found is not None for _, found in together)
            try:
                engine.execute(f"SELECT ({plain})::VARCHAR FROM t").fetchall()
            except duckdb.Error:
                failed += 1
    assert failed > 20  # of which plain SQL is not capable


@pytest.mark.parametrize("unit", UNITS)
def test_python_and_duckdb_agree_on_numbers_of_periods(unit):
    rng = random.Random(unit)
    times = [T.min, T.max, T(1970, 1, 1), T(1969, 12, 31, 23, 59, 59, 999999)]
    times += [T.min + rng.randrange(315537897600_000_000) * MICROSECOND for _ in range(300)]
    with duckdb.connect() as engine:
        engine.register("t", pyarrow.table({"a": pyarrow.array(times, pyarrow.timestamp("us")), "b": times[::-1]}))
        for words in (DUCKDB, Words()):
            found = engine.execute(f"SELECT {words.difference(unit, 't.a', 't.b')} FROM t").fetchall()
            expected = [number_of(unit, b) - number_of(unit, a) for a, b in zip(times, times[::-1], strict=True)]
            assert [row[0] for row in found] == expected


def test_python_and_duckdb_agree_on_later_moments():
    rng = random.Random(3)
    times = [T.min, T.max, T(2024, 1, 31, 5), T(2024, 2, 29), T(9999, 12, 31)]
    times += [T.min + rng.randrange(315537897600_000_000) * MICROSECOND for _ in range(200)]
    with duckdb.connect() as engine:
        engine.register("t", pyarrow.table({"a": pyarrow.array(times, pyarrow.timestamp("us"))}))
        longest = [(s * 120_000, s * 3_660_000, s * 320_000_000_000_000_000) for s in (1, -1)]
        for by in [(1, 0, 0), (-13, 2, -5), (0, -9, 10**9), (25, 0, 1), *longest]:
            moved = DUCKDB.later("t.a", *by)
            rows = engine.execute(f"SELECT ({moved} BETWEEN {FIRST} AND {LAST}), {moved}::VARCHAR FROM t").fetchall()
            for at, (inside, text) in zip(times, rows, strict=True):
                found = later(at, *by)
                assert (found is not None) == inside, (at, by, text)
                if found is not None:
                    assert T.fromisoformat(text) == found


# -- groups ------------------------------------------------------------------------------------------------------------

GROUPS = [
    *("CAST(a AS DATE)", "DATE(a)", "DATE_TRUNC('week', a)", "DATE_TRUNC('week', a + INTERVAL '1 day')"),
    *("DATE_TRUNC('month', CAST(a AS DATE))", "CAST(DATE_TRUNC('month', a) AS DATE)", "EXTRACT(isoyear FROM a)"),
    *("DATE_TRUNC('week', a + INTERVAL '1 day') + INTERVAL '-1 day'", "EXTRACT(week FROM d)", "EXTRACT(minute FROM a)"),
    *("DATE_TRUNC('month', a + INTERVAL '1 month')", "DATE_DIFF('day', d, a)", "e - d", "d + INTERVAL '1 month'"),
    *("DATE_DIFF('month', a, e)", "EXTRACT(year FROM CAST(a AS DATE))", "EXTRACT(isodow FROM a)", "EXTRACT(doy FROM d)"),
    *("DATE_TRUNC('quarter', d - INTERVAL '3 days')", "CAST(d AS TIMESTAMP)", "LEAST(GREATEST(e - d, 0), 5)"),
]


@pytest.mark.parametrize("by", GROUPS)
def test_every_row_is_in_one_of_the_groups(by):
    """Also rows beyond the bounds, near and far; at the edges of the calendar such a row may be missing instead."""
    bounds = {"a": (D(2023, 12, 30), D(2024, 2, 29)), "b": (D(1, 1, 1), D(1, 1, 9))}
    bounds |= {"d": (D(2024, 1, 30), D(2024, 2, 2)), "e": (D(2024, 1, 5), D(2024, 3, 1))}
    (group,) = parse(f"SELECT {by} AS g, COUNT(*) FROM t GROUP BY g", policy_of(bounds)).groups
    far = [D(2024, 1, 31), D(1900, 5, 5), D(2100, 5, 5), D(1, 1, 1), D(9999, 12, 31), None]
    near = [D(2023, 12, 25) + place * DAY for place in range(80)]
    days = [*far, *near]
    rng = random.Random(by)
    columns = {name: [rng.choice(days) for _ in range(400)] for name in COLUMNS}
    for name in ("a", "b"):
        columns[name] = [day and T(day.year, day.month, day.day, rng.randrange(24), 59, 59) for day in columns[name]]
    kinds = {"timestamp": pyarrow.timestamp("us"), "date": pyarrow.date32()}
    with duckdb.connect() as engine:
        engine.register(
            "t", pyarrow.table({name: pyarrow.array(cells, kinds[COLUMNS[name]]) for name, cells in columns.items()})
        )
        plain = engine.execute(f"SELECT {render(DUCKDB, group.by)}, ({by}) IS NULL FROM t").fetchall()
    assert all((found is None) == missing for found, missing in plain)
    assert {found for found, _ in plain if found is not None} <= set(group.keys)
    assert {type(found) for found, _ in plain if found is not None} == {type(key) for key in group.keys}


def test_keys_of_days_and_of_what_where_says():
    policy = policy_of({"d": (D(2024, 1, 1), D(2024, 1, 3))})

    def keys(by: str, where: str) -> tuple[Any, ...]:
        return parse(f"SELECT {by} AS g, COUNT(*) FROM t WHERE {where} GROUP BY g", policy).groups[0].keys

    days = (D(2024, 2, 1), D(2024, 2, 2))
    for where in [
        "a >= DATE '2024-02-01' AND a < DATE '2024-02-03'",
        "a >= '2024-02-01' AND a < '2024-02-03'",
        "CAST(a AS DATE) >= DATE '2024-02-01' AND CAST(a AS DATE) < DATE '2024-02-03'",
        "DATE(a) BETWEEN '2024-02-01' AND '2024-02-02'",
        "a::DATE > DATE '2024-01-31' AND DATE '2024-02-03' > a::DATE",
        "a >= DATE '2024-03-01' - INTERVAL '29 days' AND a < DATE '2024-02-01' + INTERVAL 2 DAY",
    ]:
        assert keys("CAST(a AS DATE)", where) == days, where
    assert keys("CAST(a AS DATE)", "CAST(a AS DATE) = DATE '2024-02-01'") == days[:1]
    for where in [
        "e >= TIMESTAMP '2024-02-01 00:00:00' AND e <= TIMESTAMP '2024-02-02 00:00:00'",
        "e > TIMESTAMP '2024-01-31 12:00:00' AND e < TIMESTAMP '2024-02-02 00:00:01'",
        "e >= TIMESTAMP '2024-01-31 12:00:00' AND e <= TIMESTAMP '2024-02-02 12:00:00'",
        "e >= DATE '2024-01-01' + INTERVAL '1 month' AND e < DATE '2024-02-03' + INTERVAL '0 days'",
    ]:
        assert keys("e", where) == days, where
    assert keys("DATE_TRUNC('minute', a)", "a >= '2024-02-01 23:59:30' AND a < '2024-02-02'") == (T(2024, 2, 1, 23, 59),)
    assert len(keys("DATE_TRUNC('hour', a)", "CAST(a AS DATE) = DATE '2024-02-01'")) == 24
    assert keys("d + 1", "TRUE") == (D(2024, 1, 2), D(2024, 1, 3), D(2024, 1, 4))
    assert keys("EXTRACT(week FROM a)", "TRUE") == tuple(range(1, 54))


def test_inner_questions_keep_ranges():
    policy = policy_of({"a": (D(2024, 1, 1), D(2024, 1, 3)), "d": (D(2024, 1, 1), D(2024, 1, 3))})
    inner = "(SELECT p, CAST(a AS DATE) AS x, a + INTERVAL '1 day' AS y FROM t) u"
    (group,) = parse(f"SELECT x, SUM(DATE_DIFF('hour', x, y)) FROM {inner} GROUP BY x", policy).groups
    assert len(group.keys) == 3
    own = "(SELECT p, MIN(d) AS first, MAX(d) AS last FROM t GROUP BY p) u"
    facts = parse(f"SELECT AVG(last - first) FROM {own}", policy).aggregates[0].of.facts
    assert (facts.lower, facts.upper) == (-2, 2)


def test_nodes_of_a_question():
    policy = policy_of({})
    a = meant("a", policy)
    assert meant("a::DATE::TIMESTAMP", policy) == DateCast(Type.TIMESTAMP, DateCast(Type.DATE, a))
    for sql in ("a - INTERVAL '1 month 2 days'", "INTERVAL '-1 month -2 days' + a"):
        assert meant(sql, policy) == DateAdd(a, -1, -2, 0)
    assert meant("DATE_ADD(a, INTERVAL 90 MINUTE)", policy) == DateAdd(a, 0, 0, 5400 * 10**6)
    assert meant("DATE_PART('week', a)", policy) == meant("EXTRACT(week FROM a)", policy) == meant("WEEKOFYEAR(a)", policy)
    assert meant("d = TIMESTAMP '2024-01-01 00:00:00'", policy) == meant("d = DATE '2024-01-01'", policy)
    assert not meant("DATE_DIFF('day', d, e)", policy).facts.is_bounded
    assert meant("LEAST(GREATEST(DATE_DIFF('day', d, e), 0), 30)", policy).facts.upper == 30
    clamped = "LEAST(GREATEST(d, DATE '2024-01-01'), DATE '2024-02-01')"
    assert meant(f"{clamped} - DATE '2024-01-01'", policy).facts.upper == 31
