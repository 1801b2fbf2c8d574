"""Equalities that every side of an OR repeats: the same truth, for every truth of the parts."""

from __future__ import annotations

import itertools

import duckdb
import pytest
import sqlglot
from sqlglot import exp

from dither.query.sql.rewrites import common_conditions
from dither.query.sql.rewrites.common_conditions import without_repetition
from dither.query.sql.syntax import DIALECT

CONDITIONS = [
    "(a = b AND c) OR (a = b AND d)",
    "(a = b AND c) OR (d AND a = b)",
    "a = b OR (a = b AND c)",
    "(a = b AND c AND d) OR (a = b AND d) OR (c AND (d AND a = b))",
    "(a = b AND NOT c) OR (a = b AND (c OR d))",
]
UNCHANGED = ["(a = b AND c) OR d", "(c AND d) OR (c AND NOT d)", "(a = 1 AND c) OR (a = 1 AND d)", "a = b OR b = a"]


def written(sql: str) -> tuple[exp.Expr, exp.Expr | None]:
    tree = sqlglot.parse_one(sql, read=DIALECT)
    return tree, without_repetition(tree.copy())


@pytest.mark.parametrize("sql", CONDITIONS)
def test_it_is_as_true_as_before(sql):
    before, after = written(sql)
    assert after is not None
    with duckdb.connect() as engine:
        for a, b, c, d in itertools.product(["1", "2", "NULL"], ["1", "NULL"], *[["TRUE", "FALSE", "NULL::BOOLEAN"]] * 2):
            values = f"(SELECT {a}::INT AS a, {b}::INT AS b, {c} AS c, {d} AS d)"
            one, other = engine.execute(f"SELECT {before.sql(DIALECT)}, {after.sql(DIALECT)} FROM {values}").fetchone()
            assert one == other, (a, b, c, d)


@pytest.mark.parametrize("sql", UNCHANGED)
def test_all_else_stays(sql):
    assert written(sql)[1] is None


def test_an_equality_of_one_side_that_is_taken_out_is_noticed(monkeypatch):
    """A condition that only the first side has, put in front of all."""
    monkeypatch.setattr(common_conditions, "all", any, raising=False)
    with pytest.raises(AssertionError):
        test_it_is_as_true_as_before("(a = b AND c) OR (d AND NOT a = b) OR (a = b AND d)")
