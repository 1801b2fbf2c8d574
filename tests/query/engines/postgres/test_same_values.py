"""Every expression has the same value on PostgreSQL and on DuckDB, also of hostile cells, and none fails."""

from __future__ import annotations

import math
import random
from decimal import Decimal
from typing import Any

import duckdb
import pyarrow
import pytest

from dither.errors import QuestionError
from dither.query.engines.duckdb.words import DUCKDB
from dither.query.engines.postgres.accuracy import is_exact
from dither.query.engines.postgres.magnitudes import check_numbers
from dither.query.engines.postgres.words import POSTGRES
from dither.query.engines.templates.expressions import render
from tests.query.engines.postgres.tables import load
from tests.query.engines.templates.test_expressions import CELLS, ROWS
from tests.query.plan import test_dates as dates
from tests.query.plan.test_functions import meant, random_sql
from tests.query.sql.test_parse import CONDITIONS, VALUES, where

MORE = ["cost * weight * income", "round(cost, 2)", "round(weight, -3)", "round(cost * 1.005, 2)", "cost / 3 - weight / 7"]
MORE += ["width_bucket(cost, 0, 100, 7)", "width_bucket(weight, -1, 1e-9, 5)", "-cost * 1e-30 * weight", "age * age - 1"]
MORE += ["left(name, 3) || right(ward, 2)", "substring(name, 2, 3)", "length(name)", "trim(name)", "abs(age)"]


def hostile() -> pyarrow.Table:
    """Hostile cells; PostgreSQL's texts have no NUL, and always are UTF-8."""
    texts = {column for column, (kind, _) in CELLS.items() if kind == pyarrow.string()}
    rows = [{c: x.replace("\0", "0") if c in texts and x is not None else x for c, x in row.items()} for row in ROWS]
    return pyarrow.table({column: pyarrow.array([row[column] for row in rows], kind) for column, (kind, _) in CELLS.items()})


def same(ours: Any, theirs: Any) -> bool:
    if isinstance(theirs, Decimal):
        theirs = int(theirs) if theirs == int(theirs) else float(theirs)
    if isinstance(ours, float) and math.isnan(ours):
        return isinstance(theirs, float) and math.isnan(theirs)
    return bool(ours == theirs)


@pytest.fixture(scope="module")
def engine(link):
    table = hostile()
    load(link, "visits", table)
    with duckdb.connect(config={"threads": 1}) as found:
        found.register("visits", table)
        yield found


def differences(engine: Any, link: Any, node: Any, words: Any = POSTGRES) -> list[tuple[Any, Any]]:
    ours = engine.execute(f"SELECT {render(DUCKDB, node)} FROM visits").fetchall()
    theirs = link.execute(f"SELECT {render(words, node)} FROM visits").fetchall()
    return [(a, b) for (a,), (b,) in zip(ours, theirs, strict=True) if not same(a, b)]


def test_each_construct(engine, link):
    for sql, node in CONDITIONS + VALUES:
        assert differences(engine, link, node) == [], sql
    for sql in MORE:
        assert differences(engine, link, meant(sql)) == [], sql


def test_random_expressions(engine, link, every):
    rng, seen = random.Random(5), 0
    for turn in range(3000 if every else 480):
        sql = random_sql(rng, "tnd"[turn % 3], 3)
        node = meant(sql)
        if "upper" in sql or "lower" in sql:  # of ASCII letters alone, here
            continue
        if not is_exact(node):  # `test_accuracy.py`
            continue
        check_numbers(node)
        assert differences(engine, link, node) == [], sql
        seen += 1
    assert seen > 100


def test_letters_of_ascii_change_alike(engine, link):
    for how in ("upper", "lower"):
        for ours, theirs in differences(engine, link, meant(f"{how}(name)")):
            assert not ours.isascii()
            assert not theirs.isascii()


def test_dates_at_the_ends_of_calendars(link):
    rng = random.Random(2)
    with duckdb.connect(config={"threads": 1}) as engine:
        for turn in range(80):
            dates.hostile(engine, rng, 30)
            stored = engine.execute(
                "SELECT * REPLACE (a::VARCHAR AS a, b::VARCHAR AS b, d::VARCHAR AS d, e::VARCHAR AS e) FROM t"
            )
            rows = [tuple(_bc(cell) for cell in row) for row in stored.fetchall()]
            link.execute("CREATE TEMP TABLE IF NOT EXISTS t (a timestamp, b timestamp, d date, e date, id int)")
            link.execute("TRUNCATE t")
            link.cursor().executemany("INSERT INTO t VALUES (%s, %s, %s, %s, %s)", rows)
            ours, _ = dates.random_number(rng) if turn % 2 else dates.random_date(rng, 3)[1:]
            node = dates.meant(ours, dates.policy_of({}))
            first = engine.execute(f"SELECT {render(DUCKDB, node)} FROM t ORDER BY id").fetchall()
            second = link.execute(f"SELECT {render(POSTGRES, node)} FROM t ORDER BY id").fetchall()
            assert [row[0] for row in first] == [int(x) if isinstance(x, Decimal) else x for (x,) in second], ours


FAR = {"294247-01-10 04:00:54.775806": "infinity", "5881580-07-10": "5874897-12-31"}  # beyond what PostgreSQL has
FAR |= {"290309-12-22 (BC)": "4713-01-01 BC", "5877642-06-25 (BC)": "4713-11-24 BC"}


def _bc(cell: Any) -> Any:
    """A date as PostgreSQL reads it."""
    if not isinstance(cell, str):
        return cell
    far = next((ours for theirs, ours in FAR.items() if cell.startswith(theirs.split()[0])), None)
    return far or cell.replace("(BC)", "BC")


# -- numbers that leave the doubles ---------------------------------------------------------------------------------------


def test_what_could_overflow_is_refused():
    for factors in range(1, 9):
        check_numbers(where(f"{' * '.join(['age'] * factors)} > 3"))
    for sql in (
        "cost" + " * cost" * 9,
        "cost * 1e300 * 1e300",
        "cost / 1e300 / 1e-300 / 1e200",
        "(cost - weight)" + " * (cost - weight)" * 7,
    ):
        with pytest.raises(QuestionError, match="could overflow"):
            check_numbers(where(f"{sql} > 3"))


@pytest.mark.parametrize(
    ("bug", "sql"),
    [
        ("operands are not cut", "cost * weight"),
        ("halves are rounded to even", "round(cost / 4)"),
        ("patterns escape", "name"),
    ],
)
def test_a_planted_bug_is_found(engine, link, bug, sql):
    import psycopg

    class Broken(type(POSTGRES)):
        def real(self, sql):
            return type(POSTGRES)().real(sql) if bug != "operands are not cut" else f"nullif({sql}, 'NaN')"

        def round(self, sql, digits):
            return super().round(sql, digits) if "halves" not in bug else f"round({sql})"

        def like(self, sql, pattern):
            return super().like(sql, pattern) if "patterns" not in bug else f"({sql} LIKE {self.text(pattern)})"

    node = where("name LIKE 'A\\%'") if sql == "name" else meant(sql)
    try:
        assert differences(engine, link, node, Broken())
    except psycopg.Error:
        assert bug == "operands are not cut"
