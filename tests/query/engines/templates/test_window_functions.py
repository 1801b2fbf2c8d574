"""Windows within one person: what her rows become is a function of her rows, whatever lies around them; bugs are found."""

from __future__ import annotations

import itertools
import math
import random
import re
from collections import Counter

import duckdb
import pyarrow
import pytest

from dither.query.engines.duckdb.words import DUCKDB
from dither.query.engines.templates.relations import relation_sql
from dither.query.plan.relations import WindowByPerson
from dither.query.policy.policy import read_policy
from dither.query.sql.parse import parse

NAN, INF = math.nan, math.inf
COLUMNS = {"person": pyarrow.int64(), "day": pyarrow.int64(), "ward": pyarrow.string(), "cost": pyarrow.float64()}
HOSTILE = [  # rows that orders may take for equal, or put anywhere
    *[(1, "a", 0.0), (1, "a", -0.0), (1, "A", 5.0), (1, None, NAN), (None, "a", INF), (None, "é", None), (2, "", -5.25)],
    *[(2, "a", 1e308), (1, "a", 7.0)],
]
WINDOWS = {  # in SQL; then what they are in Python, of the list of a block and the place of a row
    "ROW_NUMBER() OVER (PARTITION BY person ORDER BY day)": lambda rows, at: at + 1,
    "LAG(cost) OVER (PARTITION BY person ORDER BY day)": lambda rows, at: rows[at - 1][2] if at else None,
    "LAG(ward, 2) OVER (PARTITION BY person ORDER BY day)": lambda rows, at: rows[at - 2][1] if at > 1 else None,
    "LEAD(day) OVER (PARTITION BY person ORDER BY day)": lambda rows, at: rows[at + 1][0] if at + 1 < len(rows) else None,
    "FIRST_VALUE(ward) OVER (PARTITION BY person ORDER BY day)": lambda rows, at: rows[0][1],
    "LAST_VALUE(cost) OVER (PARTITION BY person ORDER BY day ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING)": (
        lambda rows, at: rows[min(at + 1, len(rows) - 1)][2]
    ),
    "NTH_VALUE(day, 2) OVER (PARTITION BY person ORDER BY day ROWS UNBOUNDED PRECEDING)": (
        lambda rows, at: rows[1][0] if at else None
    ),
    "RANK() OVER (PARTITION BY person ORDER BY day)": (
        lambda rows, at: 1 + sum(sort_key(row[0]) < sort_key(rows[at][0]) for row in rows)
    ),
    "DENSE_RANK() OVER (PARTITION BY person ORDER BY day)": (
        lambda rows, at: 1 + len({row[0] for row in rows if sort_key(row[0]) < sort_key(rows[at][0])})
    ),
    "COUNT(cost) OVER (PARTITION BY person)": lambda rows, at: sum(there(row[2]) for row in rows),
    "COUNT(*) OVER (PARTITION BY person ORDER BY day)": (
        lambda rows, at: sum(sort_key(row[0]) <= sort_key(rows[at][0]) for row in rows)
    ),
    "SUM(day) OVER (PARTITION BY person ORDER BY day ROWS 1 PRECEDING)": (
        lambda rows, at: total([row[0] for row in rows[max(0, at - 1) : at + 1]])
    ),
    "MAX(ward) OVER (PARTITION BY person)": (
        lambda rows, at: max((row[1] for row in rows if row[1] is not None), key=str.encode, default=None)
    ),
    "SUM(cost) OVER (PARTITION BY person ORDER BY day)": (
        lambda rows, at: total([clamped(row[2]) for row in rows if sort_key(row[0]) <= sort_key(rows[at][0])])
    ),
}


def policy():
    """A table of one person's rows with few limits."""
    columns = {
        **{"person": {"type": "integer"}, "day": {"type": "integer", "bounds": [0, 9]}, "ward": {"type": "text"}},
        "cost": {"type": "float", "bounds": [-10, 100], "step": "0.25"},
    }
    table = {"person": "person", "max_groups": 1, "max_rows_per_group": 5, "columns": columns}
    return read_policy({"version": 1, "domain": "d", "unit": "add/remove one person", "tables": {"t": table}})


def there(value):
    return value is not None and value == value


def sort_key(value):
    return (not there(value), value.encode() if isinstance(value, str) else value if there(value) else 0)


def total(values):
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def clamped(value):
    return min(100.0, max(-10.0, value)) if there(value) else None


def settled(row):
    """NaN is missing, and there is one zero."""
    return tuple(None if not there(cell) else cell + 0.0 if isinstance(cell, float) else cell for cell in row)


def expected(rows, functions, directions):
    """The rows of one person with a column for each window: each sorts by the day, then by all that is there."""
    rows = [settled(row) for row in rows]
    for function, down in zip(functions, directions, strict=True):
        rest = sorted(rows, key=lambda row: [sort_key(cell) for cell in row])
        ordered = sorted(rest, key=lambda row: sort_key(row[0]) if not down or row[0] is None else (False, -row[0]))
        rows = [(*row, function(ordered, at)) for at, row in enumerate(ordered)]
    return Counter(repr(row) for row in rows)


def select(windows):
    """The SELECT of a relation with these windows, and with every column."""
    named = ", ".join(f"{window} AS w{at}" for at, window in enumerate(windows))
    question = parse(f"SELECT COUNT(*) AS n FROM (SELECT person, day, ward, cost, {named} FROM t) q", policy())
    return relation_sql(DUCKDB, question.relation, {"t": ("t", frozenset())}), question.relation


def found(sql, people, rng, threads=2):
    """The rows of each person, with all people in one table, in a random order."""
    rows = [(person, *row) for person, own in people.items() for row in own] + [(None, 1, "a", 1.0)] * 3
    shuffled = rng.sample(rows, len(rows))
    arrays = [pyarrow.array([row[at] for row in shuffled], kind) for at, kind in enumerate(COLUMNS.values())]
    with duckdb.connect(config={"threads": threads}) as engine:
        engine.register("t", pyarrow.table(dict(zip(COLUMNS, arrays, strict=True))))
        answer = engine.execute(sql).fetchall()
    result = {person: Counter() for person in people}
    for person, *rest in answer:
        result[person][repr(tuple(rest))] += 1
    return result


def multisets(most=3):
    """All multisets of up to so many hostile rows, each of a person of her own."""
    sizes = range(1, most + 1)
    return dict(enumerate(own for size in sizes for own in itertools.combinations_with_replacement(HOSTILE, size)))


@pytest.mark.parametrize("window", WINDOWS)
def test_rows_of_a_person_are_a_function_of_her_rows(window):
    """All multisets of up to three hostile rows, beside all others: the order of rows and other people do not matter."""
    people, rng, (sql, _) = multisets(), random.Random(window), select([window])
    truth = {person: expected(own, [WINDOWS[window]], [False]) for person, own in people.items()}
    assert found(sql, people, rng) == truth
    assert found(sql, people, rng, threads=1) == truth
    for _ in range(3):  # others come and go
        some = dict(rng.sample(sorted(people.items()), 40))
        assert found(sql, some, rng) == {person: truth[person] for person in some}


@pytest.mark.parametrize("seed", range(12))
def test_several_windows_are_paired_in_one_way(seed):
    """Rows that are the same get their numbers together: the second window sees the first."""
    rng = random.Random(seed)
    windows, down = rng.sample(sorted(WINDOWS), 3), [rng.random() < 0.5 for _ in range(3)]
    windows[0] = "ROW_NUMBER() OVER (PARTITION BY person ORDER BY day)"
    windows[1] = "ROW_NUMBER() OVER (PARTITION BY person ORDER BY day)"
    down[:2] = [False, True]
    if "ORDER BY" not in windows[2] or re.search("RANK|SUM|COUNT", windows[2]):
        down[2] = False  # what is written in Python above goes upwards
    written = [
        one.replace("ORDER BY day", "ORDER BY day DESC") if turn else one for one, turn in zip(windows, down, strict=True)
    ]
    sql, relation = select(written)
    people = multisets(2) | {1000: [HOSTILE[0]] * 5, 1001: [HOSTILE[0], HOSTILE[1], HOSTILE[0], HOSTILE[2]] * 2}
    truth = {person: expected(own, [WINDOWS[one] for one in windows], down) for person, own in people.items()}
    assert found(sql, people, rng) == truth
    assert found(sql, people, rng, threads=1) == truth
    assert isinstance(relation.of, WindowByPerson)
    assert isinstance(relation.of.of, WindowByPerson)


PLANTED = {
    "the order stops where the question does": (
        "LAG(cost) OVER (PARTITION BY person ORDER BY day)", r"(ORDER BY c1 ASC NULLS LAST)[^)]*", r"\1",
    ),
    "one column is left out of the order": (
        "LAG(day, 1) OVER (PARTITION BY person ORDER BY ward)", r", c3 ASC NULLS LAST", "",
    ),
    "all people are one block": (
        "ROW_NUMBER() OVER (PARTITION BY person ORDER BY day)", "PARTITION BY c0", "PARTITION BY 1",
    ),
    "two zeros": ("LAG(cost) OVER (PARTITION BY person ORDER BY day)", r" \+ '0.0'::DOUBLE", ""),
    "letters of one kind": (
        "LAG(cost) OVER (PARTITION BY person ORDER BY day)", r"c2 ASC NULLS LAST", "lower(c2) ASC NULLS LAST",
    ),
    "a rank that breaks ties": ("RANK() OVER (PARTITION BY person ORDER BY day)", r"rank\(\)", "row_number()"),
    "peers one after the other": (
        "SUM(cost) OVER (PARTITION BY person ORDER BY day)", "RANGE BETWEEN", "ROWS BETWEEN",
    ),
}  # fmt: skip


@pytest.mark.parametrize("bug", PLANTED)
def test_a_planted_bug_is_found(bug):
    """The rows of a person change with the order of all rows, or are not what they should be."""
    window, pattern, instead = PLANTED[bug]
    sql, _ = select([window])
    broken = re.sub(pattern, instead, sql)
    assert broken != sql
    people, rng = multisets(), random.Random(bug)
    first = found(sql, people, rng)
    assert all(found(sql, people, rng) == first for _ in range(2))
    for _ in range(20):
        if found(broken, people, rng) != first:
            return
    pytest.fail("nobody noticed")


def test_how_two_windows_pair_the_same_rows_can_be_seen():
    """So it must not be left to an engine, which may put rows that it cannot tell apart in any order."""
    by = "ROW_NUMBER() OVER (PARTITION BY person ORDER BY day{})"
    sql, _ = select([by.format(""), by.format(" DESC")])
    broken = re.sub(r"(DESC NULLS LAST[^)]*), c4 ASC NULLS LAST", r"\1, c4 DESC NULLS LAST", sql)
    assert broken != sql
    people, rng = {1: [HOSTILE[0]] * 2}, random.Random(1)
    assert found(sql, people, rng) != found(broken, people, rng)
