"""Totals of random questions on random small tables, against a reading of the plan in Python; and one person at a time."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import duckdb
import pyarrow
import pytest

from dither.query.column import Column, Type
from dither.query.engines.totals import totals_sql
from dither.query.measure import Measure
from dither.query.plan import Cell, Compare, Constant, Group, Plan
from dither.query.table import Table

NAN, INF = math.nan, math.inf
WARD = Column("ward", Type.TEXT, keys=("A", "B", "C"))
COST = Column("cost", Type.FLOAT, Fraction(-10), Fraction(100), Fraction(1, 4))
AGE = Column("age", Type.INTEGER, Fraction(0), Fraction(120), Fraction(1))
PERSON = Column("person", Type.INTEGER)
MEASURES = [
    Measure("one"),
    Measure("present", Cell(COST)),
    Measure("steps", Cell(COST), Fraction(1, 4)),
    Measure("above", Cell(COST), Fraction(1, 4)),
    Measure("below", Cell(COST), Fraction(1, 4)),
    Measure("steps", Cell(AGE)),
]


def plan(max_groups: int, max_rows: int, grouped: bool, filtered: bool, person: bool = True) -> Plan:
    table = Table("visits", (PERSON, WARD, COST, AGE), "person" if person else None, max_groups, max_rows)
    where = Compare(">=", Cell(AGE), Constant(Fraction(30))) if filtered else None
    groups = (Group("ward", Cell(WARD), ("A", "B", "C")),) if grouped else ()
    return Plan(table, where, groups, (), ())


def table_of(rows: list[tuple]) -> pyarrow.Table:
    columns = list(zip(*rows, strict=True)) if rows else [[], [], [], []]
    types = [pyarrow.int64(), pyarrow.string(), pyarrow.float64(), pyarrow.int64()]
    arrays = [pyarrow.array(list(column), kind) for column, kind in zip(columns, types, strict=True)]
    return pyarrow.table(dict(zip(["person", "ward", "cost", "age"], arrays, strict=True)))


def totals(question: Plan, rows: list[tuple], *, threads: int = 1, salt: int = 7) -> dict[object, tuple[int, ...]]:
    with duckdb.connect(config={"threads": threads}) as engine:
        engine.register("visits", table_of(rows))
        found = engine.execute(totals_sql(question, MEASURES, "visits", salt)).fetchall()
    width = len(question.groups)
    return {row[:width]: tuple(int(total) for total in row[width:]) for row in found}


def random_rows(rng: random.Random, count: int) -> list[tuple]:
    costs = [None, NAN, INF, -INF, -0.0, 1e308, -1e308, 0.125, 99.9, -10.1, 5.0, 5.0]
    return [
        (
            rng.choice([None, 1, 2, 2, 3, 3, 3, 4]),
            rng.choice(["A", "B", "C", "D", None, "A"]),
            rng.choice(costs),
            rng.choice([None, 0, 29, 30, 31, 200, -(2**62)]),
        )
        for _ in range(count)
    ]


def change(one: dict, other: dict) -> list[list[int]]:
    """By how much each measure differs, group by group."""
    width = len(MEASURES)
    none = (0,) * width
    return [[abs(a - b) for a, b in zip(one.get(key, none), other.get(key, none), strict=True)] for key in {*one, *other}]


@pytest.mark.parametrize(("grouped", "filtered"), list(itertools.product([False, True], repeat=2)))
@pytest.mark.parametrize(("max_groups", "max_rows"), [(1, 1), (2, 1), (1, 3), (3, 2)])
def test_one_person_moves_the_totals_by_no_more_than_is_claimed(grouped, filtered, max_groups, max_rows):
    question = plan(max_groups, max_rows, grouped, filtered)
    rng = random.Random(max_groups * 100 + max_rows * 10 + 2 * grouped + filtered)
    for _ in range(6):
        rows = random_rows(rng, rng.randrange(0, 25))
        whole = totals(question, rows)
        shuffled = rng.sample(rows, len(rows))
        assert totals(question, shuffled, threads=4) == whole
        for person in (1, 2, 3, 4, None):
            rest = [row for row in rows if row[0] != person]
            moved = change(whole, totals(question, rest, threads=2))
            if person is None:
                assert not any(any(parts) for parts in moved)
                continue
            touched = [parts for parts in moved if any(parts)]
            assert len(touched) <= (max_groups if grouped else 1)
            for parts in touched:
                for part, measure in zip(parts, MEASURES, strict=True):
                    assert part <= max_rows * measure.reach
                assert parts[3] + parts[4] <= max_rows * MEASURES[3].high  # the pair moves as one


def test_with_generous_limits_the_totals_are_plain_sql():
    rows = [row for row in random_rows(random.Random(3), 60) if row[2] is None or math.isfinite(row[2])]
    question = plan(3, 100, True, False)
    found = totals(question, rows)
    for ward in "ABC":
        mine = [row for row in rows if row[1] == ward and row[0] is not None]
        costs = [min(100.0, max(-10.0, row[2])) for row in mine if row[2] is not None]
        assert found[(ward,)][0] == len(mine)
        assert found[(ward,)][1] == len(costs)
        assert found[(ward,)][2] == sum(math.floor(cost * 4 + 0.5) for cost in costs)
        assert found[(ward,)][3] + found[(ward,)][4] == 440 * len(costs)
        assert found[(ward,)][3] - 40 * len(costs) == found[(ward,)][2]


def test_row_level_and_empty_tables():
    for grouped in (False, True):
        question = plan(1, 1, grouped, False, person=False)
        assert totals(question, []) == ({} if grouped else {(): (0,) * len(MEASURES)})
        rows = random_rows(random.Random(5), 30)
        whole = totals(question, rows)
        for left_out in range(len(rows)):
            moved = change(whole, totals(question, rows[:left_out] + rows[left_out + 1 :]))
            touched = [parts for parts in moved if any(parts)]
            assert len(touched) <= 1
            assert all(part <= measure.reach for parts in touched for part, measure in zip(parts, MEASURES, strict=True))
