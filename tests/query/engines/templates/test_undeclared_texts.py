"""Texts that nobody declared stay in the engine where each row is a person, and so do keys that are never shown."""

from __future__ import annotations

from collections import Counter
from itertools import combinations_with_replacement, product

import numpy as np
import pyarrow
import pytest

import dither
from dither.privacy.unit import Unit
from dither.query.counters.counter_sets import choose_counters
from dither.query.engines.duckdb import run as duckdb_run
from dither.query.engines.duckdb.words import DUCKDB
from dither.query.engines.templates import totals
from dither.query.engines.templates.totals import totals_sql
from dither.query.sql.parse import parse
from dither.query.statistics.bounding import EachRow
from dither.testing import seeded
from tests.query.neighbours import engine_with, policy
from tests.seeds import examples

pytestmark = pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")
SQL = "SELECT ward, sex, COUNT(*) AS n, SUM(cost) AS s FROM visits GROUP BY ward, sex"
KINDS = [*product(["A", "it's", "D", "a", None], ["f", "?"], [5.0]), ("A", "f", None), ("B", None, float("nan"))]
UNITS = (Unit.ADD_REMOVE, Unit.REPLACE_ONE)
ORIGINAL = totals._declared


def only_numbers(shape, grouped):
    """A bug, and what was written before: each such text is a row."""
    shown = [
        f"CASE WHEN {shape.words.among(name, texts)} THEN {name} END AS {name}"
        for name, texts in zip(shape.keys, totals._texts(shape), strict=True)
    ]
    return f"SELECT {', '.join([*shown, *shape.totals])} FROM ({grouped}) AS found"


def any_key(shape, grouped):
    """A bug: one declared key is enough."""
    return ORIGINAL(shape, grouped).replace(") AND ", ") OR ")


def counted(sql, unit, tables):
    """The totals of each table, by group, and what one person moves at most."""
    question = parse(sql, policy(1, 1, person=False, unit=unit))
    plan = choose_counters(question, pure=True)
    bounding, engine, found = EachRow.of(unit), engine_with(1), []
    select = totals_sql(DUCKDB, question, plan.sets, bounding, "visits", 7)
    for rows in tables:
        columns = dict(zip(("ward", "sex", "cost"), zip(*rows, strict=True), strict=True)) if rows else {}
        types = {"ward": pyarrow.string(), "sex": pyarrow.string(), "cost": pyarrow.float64()}
        engine.register("visits", pyarrow.table({c: pyarrow.array(columns.get(c, ()), t) for c, t in types.items()}))
        found.append(engine.execute(select).fetchall())
    return found, sum(bounding.l1(one) for one in plan.sets), {*product(*(group.listed for group in question.groups))}


@pytest.mark.parametrize("unit", UNITS)
def test_every_small_table_and_every_neighbour(unit):
    """The totals of declared groups are those of the rows in them; one row moves them by no more than is claimed."""
    tables = [rows for size in range(examples(3, 4)) for rows in combinations_with_replacement(KINDS, size)]
    found, most, declared = counted(SQL, unit, tables)
    by_rows = {}
    for rows, given in zip(tables, found, strict=True):
        mine = Counter((ward, sex) for ward, sex, _ in rows if (ward, sex) in declared)
        assert {row[:2] for row in given} == set(mine)
        assert len(given) == len(mine)
        by_rows[rows] = {row[:2]: tuple(map(int, row[2:])) for row in given}
    for rows, mine in by_rows.items():
        for place in range(len(rows)):
            rest = rows[:place] + rows[place + 1 :]
            others = [rest] if unit is Unit.ADD_REMOVE else [tuple(sorted((*rest, one), key=KINDS.index)) for one in KINDS]
            for other in others:
                theirs = by_rows[other]
                none = (0,) * len(next(iter((mine | theirs).values()), ()))
                moved = (
                    abs(a - b)
                    for key in mine | theirs
                    for a, b in zip(mine.get(key, none), theirs.get(key, none), strict=True)
                )
                assert sum(moved) <= most


@pytest.mark.parametrize("bug", [only_numbers, any_key, lambda shape, grouped: grouped])
def test_planted_bugs_are_found(bug, monkeypatch):
    monkeypatch.setattr(totals, "_declared", bug)
    with pytest.raises(AssertionError):
        test_every_small_table_and_every_neighbour(Unit.ADD_REMOVE)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("terms", [{"epsilon": 1}, {"rho": 1}])
def test_few_rows_come_of_many_keys(tmp_path, unit, terms, monkeypatch):
    """Of keys of one row each none comes to Python: neither where keys are chosen, nor where those that are shown
    are counted. The rule shows no such key, whatever its noise is: the law of the answer is the same with them."""
    before, came = duckdb_run._rows, []

    def rows(connection, sql, keep):
        return before(connection, sql, lambda row: came.append(row) or keep(row))

    monkeypatch.setattr(duckdb_run, "_rows", rows)
    budget = dither.approx(10, "1e-6", unit=unit) if "epsilon" in terms else dither.zcdp(10, delta="1e-6", unit=unit)
    shop = dither.protect(
        pyarrow.table({"product": [f"rare {n}" for n in range(3000)] + ["oak"] * 3000, "cost": [1.0] * 6000}),
        **{"name": "sales", "person": "each row", "bounds": {"cost": (0, 1)}},
        ledger=dither.Ledger.create(tmp_path / "sales.ledger", budget=budget),
    )
    quote = shop.quote("SELECT product, COUNT(*) AS n, SUM(cost) AS s FROM sales GROUP BY product", **terms)
    rule = quote.offer.choice.rule
    assert rule.min_people == 2
    with seeded(1):
        assert quote.release()["product"] == ["oak"]
    assert len(came) == 2  # one for each SELECT
    with monkeypatch.context() as patch:  # whatever noise a key gets
        patch.setattr(type(rule.law), "sample", lambda self, size: np.full(size, 2**40))
        assert list(rule.release({"rare": 1, "oak": 2})) == ["oak"]
