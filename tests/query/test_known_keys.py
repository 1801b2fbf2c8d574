"""Keys that are known beforehand: every row with a value is in one listed group, whatever it holds; nobody moves more than
is claimed."""

from __future__ import annotations

import datetime
import itertools
import math
import random
import re

import duckdb
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dither.privacy.unit import Unit
from dither.query.counters.counter_sets import choose_counters
from dither.query.engines.duckdb.words import DUCKDB
from dither.query.engines.templates import expressions, totals
from dither.query.policy.policy import read_policy
from dither.query.sql import group_keys
from dither.query.sql.parse import parse
from dither.query.statistics.bounding import Clip
from dither.query.statistics.choose_bounding import choose_bounding
from tests.seeds import examples

NAN, INF = math.nan, math.inf
DAY, MOMENT = datetime.date, datetime.datetime
UNITS = [Unit.ADD_REMOVE, Unit.REPLACE_ONE]
COLUMNS = {
    "person": pyarrow.int64(),
    "ok": pyarrow.bool_(),
    "k": pyarrow.int64(),
    "x": pyarrow.float64(),
    "d": pyarrow.date32(),
    "seen": pyarrow.timestamp("us"),
    "town": pyarrow.string(),
}
CELLS = {
    "ok": [None, True, False],
    "k": [None, 0, 1, 3, 7, 9, 10, -1, -(2**63), 2**63 - 1, 2**53 + 1],
    "x": [None, NAN, INF, -INF, -0.0, 0.0, -0.3, 0.5, 99.99999999999999, 100.0, 100.1, -10.1, -10.5, 1e308, -1e308, 5e-324],
    "d": [None, DAY(2024, 2, 29), DAY(1, 1, 1), DAY(9999, 12, 31), DAY(2024, 1, 1), DAY(2023, 12, 31), DAY(2024, 3, 31)],
    "seen": [None, MOMENT(2024, 1, 31, 23, 59), MOMENT(1, 1, 1), MOMENT(9999, 12, 31, 23), MOMENT(2024, 1, 2, 3, 4, 5)],
    "town": [None, "A", "B", "it's", "a", ""],
}
WAYS = [  # what is grouped by, and which rows
    *[("ok", ""), ("ok", "ok = TRUE"), ("ok = TRUE", ""), ("COALESCE(ok, FALSE)", "")],
    *[("k", ""), ("k", "k IN (3, 7)"), ("k", "k = 3 OR k IN (0, 9223372036854775807)"), ("k", "k >= 3")],
    *[("-k", ""), ("ABS(k - 3)", ""), ("k + 1", ""), ("COALESCE(k, 5)", ""), ("FLOOR(k)", ""), ("ROUND(k, -1)", "")],
    *[("k", "town = 'A' AND (k = 1 OR k = 3) AND k < 3"), ("CASE WHEN ok THEN k ELSE 1 END", ""), ("k * k", "")],
    *[("FLOOR(x / 5)", ""), ("ROUND(x)", ""), ("CEIL(x / 7)", ""), ("ROUND(x, -1)", ""), ("FLOOR(x / 5) * 5", "")],
    *[("FLOOR(x * 0.1)", "x < 50"), ("FLOOR(ABS(x) / 3)", ""), ("FLOOR((x + k) / 4)", ""), ("k", "k < 3 AND k > -5")],
    *[("d", ""), ("d", "d >= DATE '2024-03-01'"), ("d", "d IN (DATE '2024-02-29', DATE '2030-01-01')"), ("YEAR(d)", "")],
    *[("DATE_TRUNC('month', d)", ""), ("DATE_TRUNC('week', d)", "d < DATE '2024-03-01'"), ("EXTRACT(month FROM d)", "")],
    *[("DATE_TRUNC('day', seen)", ""), ("DATE_TRUNC('week', seen)", ""), ("EXTRACT(year FROM seen)", "")],
    *[("town", "town IN ('A', 'it''s')"), ("UPPER(town)", "town IN ('a', 'B')"), ("YEAR(d) - 2000", "")],
    *[("CASE WHEN x > 3 THEN k ELSE -5 END", ""), ("FLOOR(-x / 30) + k", "k IN (1, 3)")],
]


ENGINE = duckdb.connect()


def registered(rows):
    """The table of the rows, for an engine."""
    arrays = [pyarrow.array([row[at] for row in rows], kind) for at, kind in enumerate(COLUMNS.values())]
    ENGINE.register("t", pyarrow.table(dict(zip(COLUMNS, arrays, strict=True))))
    return ENGINE


def policy(unit=Unit.ADD_REMOVE, *, person="person", limits=(2, 2), hard=()):
    columns = {
        "person": {"type": "integer"},
        "ok": {"type": "boolean"},
        "k": {"type": "integer", "bounds": [0, 9]},
        "x": {"type": "float", "bounds": [-10, 100]},
        "d": {"type": "date", "bounds": [DAY(2024, 1, 1), DAY(2024, 3, 31)]},
        "seen": {"type": "timestamp", "bounds": ["2024-01-01", "2024-02-29"]},
        "town": {"type": "text"},
    }
    table = {"person": person, "columns": columns, "hard": list(hard)}
    if person == "person":
        table |= {"max_groups": limits[0], "max_rows_per_group": limits[1]}
    return read_policy({"version": 1, "domain": "d", "unit": unit.value, "tables": {"t": table}})


def asked(by, where, measure="COUNT(*)"):
    return f"SELECT {by} AS g, {measure} AS n FROM t{f' WHERE {where}' if where else ''} GROUP BY g"


class Counted:
    """What is counted for a question by the ways that a quote would fix."""

    def __init__(self, sql, stated, way=None, unit=Unit.ADD_REMOVE):
        self.question = parse(sql, stated)
        self.counters = choose_counters(self.question, pure=way != "clip")
        (group,) = self.question.groups
        self.keys = group.keys
        cells, pure = len(self.keys), way != "clip"
        self.bounding = choose_bounding(self.question, self.counters, way, cells=cells, unit=unit, pure=pure)

    def totals(self, rows):
        sql = totals.totals_sql(DUCKDB, self.question, self.counters.sets, self.bounding, "t", 7)
        found = registered(rows).execute(sql).fetchall()
        shown = [row for row in found if row[0] in set(self.keys)]
        assert len({row[0] for row in shown}) == len(shown)  # no group of the engine's hides another
        return {row[0]: tuple(map(int, row[1:])) for row in shown}

    def breaks(self, one, other):
        place = 0
        for family in self.counters.sets:
            last = place + len(family.measures)
            none = (0,) * last
            pairs = [(one.get(key, none), other.get(key, none)) for key in {*one, *other}]
            moves = [a - b for left, right in pairs for a, b in zip(left[place:last], right[place:last], strict=True)]
            if not isinstance(self.bounding, Clip) and sum(map(abs, moves)) > self.bounding.l1(family):
                return True
            if sum(move**2 for move in moves) > self.bounding.l2_squared(family):
                return True
            place = last
        return False


def cells_of(by, where):
    """Rows of all combinations of hostile cells of the columns that a way is about."""
    named = [name for name in CELLS if re.search(rf"\b{name}\b", f"{by} {where}")]
    for values in itertools.product(*(CELLS[name] for name in named)):
        given = dict(zip(named, values, strict=True))
        yield (1, *(given.get(name, CELLS[name][1]) for name in CELLS))


def has_value(by, where, row):
    """Whether SQL itself has a value for a row that is in the question; NaN and what is made of it are none."""
    nan = "SELECT * REPLACE (nullif(x, 'NaN'::DOUBLE) AS x) FROM t"
    wide = f"SELECT * REPLACE (k::DOUBLE AS k) FROM ({nan})"  # as expressions are: whole numbers do not overflow
    kept = f"SELECT CAST(({by}) AS VARCHAR) FROM ({wide}) WHERE {where or 'TRUE'}"
    found = registered([row]).execute(kept).fetchall()
    return bool(found) and found[0][0] not in (None, "nan", "-nan")


# -- no row is lost, and no row is in two groups -----------------------------------------------------------------------


@pytest.mark.parametrize(("by", "where"), WAYS, ids=str)
def test_every_row_with_a_value_is_in_one_listed_group_whatever_it_holds(by, where):
    counted = Counted(asked(by, where), policy(person="each row"))
    rows = random.Random(1).sample(rows := list(cells_of(by, where)), min(len(rows), 40))
    inside = 0
    for row in rows:
        found = counted.totals([row])
        assert sum(total for (total,) in found.values()) == has_value(by, where, row), (row, found)
        inside += len(found)
    assert sum(total for (total,) in counted.totals(rows).values()) == inside


def lost(monkeypatch, broken):
    monkeypatch.setattr(expressions, "_clamped", broken)
    for by, where in WAYS:
        counted = Counted(asked(by, where), policy(person="each row"))
        for row in random.Random(1).sample(rows := list(cells_of(by, where)), min(len(rows), 20)):
            if sum(total for (total,) in counted.totals([row]).values()) != has_value(by, where, row):
                return True
    return False


def test_a_clamp_that_is_left_out_is_found(monkeypatch):
    assert lost(monkeypatch, lambda words, node: expressions.render(words, node.of))


def test_a_clamp_that_makes_a_value_of_what_is_missing_is_found(monkeypatch):
    def broken(words, node):
        low, high = (words.constant(end) for end in (node.lower, node.upper))
        return words.least([words.greatest([expressions.render(words, node.of), low]), high])

    assert lost(monkeypatch, broken)


def test_ends_that_python_rounds_are_found(monkeypatch):
    """By exact arithmetic the lower bound is rounded up to 4; the engine has the double nearest to it, which is 3."""
    stated = {"type": "decimal", "bounds": ["3.00000000000000000001", "7.5"]}
    table = {"person": "each row", "columns": {"w": stated}}
    data = read_policy({"version": 1, "domain": "d", "tables": {"t": table}})
    sql = "SELECT CEIL(w) AS g, COUNT(*) AS n FROM t GROUP BY g"
    assert parse(sql, data).groups[0].keys == (3, 4, 5, 6, 7, 8)
    exact = lambda found: [int(by.whole(by.of.value)) for by in found]  # noqa: E731
    monkeypatch.setattr(group_keys, "constant_images", exact)
    assert parse(sql, data).groups[0].keys == (4, 5, 6, 7, 8)  # and the rows at the lower bound, clamped to 3, would vanish


@settings(max_examples=examples(30, 1000), deadline=None)
@given(seed=st.integers(0, 2**32))
def test_doubles_beside_the_ends_and_edges_are_in_listed_groups(seed):
    rng = random.Random(seed)
    lower = rng.choice([0, -7, "0.1", "0.3", "-2.7", "1/3"])
    upper = rng.choice([8, "7.3", "9.1", "10/3", "19/7"])
    stated = {"type": "float", "bounds": [lower, upper]}
    table = {"person": "each row", "columns": {"w": stated}}
    data = read_policy({"version": 1, "domain": "d", "tables": {"t": table}})
    factor = rng.choice(["", " * 10", " / 3", " * 0.7 + 1", " / -5", " * 1000"])
    by = f"{rng.choice(['FLOOR', 'CEIL', 'ROUND'])}(w{factor})"
    (group,) = parse(f"SELECT {by} AS g, COUNT(*) AS n FROM t GROUP BY g", data).groups
    ends = [float(end) for end in (data.tables[0].columns[0].lower, data.tables[0].columns[0].upper)]
    near = [*ends, *(edge / 10 for edge in range(-80, 101)), INF, -INF, 1e300]
    cells = [*near, *(math.nextafter(cell, INF) for cell in near), *(math.nextafter(cell, -INF) for cell in near)]
    with duckdb.connect() as engine:
        engine.register("t", pyarrow.table({"w": pyarrow.array(cells, pyarrow.float64())}))
        found = engine.execute(f"SELECT DISTINCT {expressions.render(DUCKDB, group.by)} FROM t").fetchall()
    assert {key for (key,) in found} <= set(group.keys)


# -- one person moves no more than is claimed --------------------------------------------------------------------------


@pytest.mark.parametrize(("by", "where"), WAYS, ids=str)
def test_every_pair_of_single_rows(by, where):
    """All neighbours of a person with one row, of hostile cells: a row comes, or another takes its place."""
    rows = list(cells_of(by, where))
    rows = random.Random(2).sample(rows, min(len(rows), 12))
    for unit in UNITS:
        counted = Counted(asked(by, where), policy(unit, person="each row"), unit=unit)
        found = [counted.totals([row]) for row in rows]
        pairs = [(one, {}) for one in found] if unit is Unit.ADD_REMOVE else itertools.combinations(found, 2)
        assert not any(counted.breaks(one, other) for one, other in pairs)
        assert all(total == (1,) for one in found for total in one.values())


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("way", ["weights", "clip", "groups"])
@settings(max_examples=examples(25, 500), deadline=None)
@given(seed=st.integers(0, 2**32))
def test_one_person_moves_the_totals_by_no_more_than_is_claimed(way, unit, seed):
    rng = random.Random(seed)
    by, where = rng.choice(WAYS)
    measure = rng.choice(["COUNT(*)", "SUM(k)", "SUM(x)"])
    stated = policy(
        unit, limits=(rng.choice([1, 2, 3]), rng.choice([1, 2, 5])), hard=rng.choice([(), ("bounds.k", "bounds.x")])
    )
    counted = Counted(asked(by, where, measure), stated, way, unit)

    def row(person):
        return (person, *(rng.choice(cells) for cells in CELLS.values()))

    rows = [row(rng.choice([None, 1, 2, 3, 3, 4])) for _ in range(rng.randrange(30))]
    whole = counted.totals(rows)
    assert counted.totals(rng.sample(rows, len(rows))) == whole
    for person in (1, 2, 3, 4):
        rest = [one for one in rows if one[0] != person]
        if unit is Unit.REPLACE_ONE:
            rest += [row(person) for _ in range(rng.randrange(12))]
        assert not counted.breaks(whole, counted.totals(rest))


def test_a_key_that_follows_other_peoples_rows_is_found(monkeypatch):
    """Bounds that are read off the data would move everybody: the test above would notice."""
    right = expressions._clamped

    def broken(words, node):
        return right(words, node).replace("THEN 9::BIGINT END", "THEN (SELECT max(k) FROM t WHERE k < 9) END")

    monkeypatch.setattr(expressions, "_clamped", broken)
    counted = Counted(asked("k", ""), policy(limits=(1, 1)), "groups")
    rows = [(person, True, 10, 0.0, None, None, "A") for person in (1, 2, 3)] + [(4, True, 7, 0.0, None, None, "A")]
    others = [*rows[:3], (4, True, 3, 0.0, None, None, "A")]
    assert counted.breaks(counted.totals(rows), counted.totals([*rows[:3]])) or counted.breaks(
        counted.totals(rows), counted.totals(others)
    )
