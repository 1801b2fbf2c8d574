"""With limits that nobody reaches and a price that leaves no noise, answers are what plain SQL says."""

from __future__ import annotations

import datetime
import random

import duckdb
import pyarrow
import pytest

import dither
from dither.query.plan.aggregates import Mean
from tests.query.clinics import ledger
from tests.query.neighbours import COLUMNS, random_question

COMPLETE = {"sex", "weight"}  # as the policy below says
FACTS = {
    "bounds": {"cost": (-10, 100), "age": (0, 120), "weight": ("0.5", 7)}
    | {
        "day": (datetime.date(2024, 1, 1), datetime.date(2024, 12, 31)),
        "seen": (datetime.date(2024, 1, 1), datetime.date(2024, 2, 29)),
    },
    "steps": {"cost": "0.25", "weight": "0.5"},
    "keys": {"ward": ["A", "B", "C", "it's"], "sex": ["f", "m"]},
}


def clean_row(rng: random.Random) -> tuple[object, ...]:
    """Within all bounds, on the lattice; NULL where the policy allows it."""
    return (
        rng.randrange(60),
        rng.choice(["A", "B", "C", "it's", None]),
        rng.choice(["f", "m"]),
        rng.choice([None, datetime.date(2024, rng.randrange(1, 13), 5)]),
        rng.choice([None, rng.randrange(-40, 400) / 4]),
        rng.choice([None, rng.randrange(0, 120)]),
        rng.randrange(1, 15) / 2,
        rng.choice([None, datetime.datetime(2024, 1, 1) + datetime.timedelta(microseconds=rng.randrange(5184 * 10**9))]),
    )


@pytest.mark.parametrize("way", [None, "weights", "clip", "groups"])
def test_answers_are_plain_sql(tmp_path, way):
    rng = random.Random(str(way))
    pure = way != "clip"
    book = ledger(tmp_path, dither.pure(10**9) if pure else dither.zcdp(10**15))
    rows = [clean_row(rng) for _ in range(300)]
    arrays = [pyarrow.array([row[place] for row in rows], kind) for place, kind in enumerate(COLUMNS.values())]
    table = pyarrow.table(dict(zip(COLUMNS, arrays, strict=True)))
    limits = {"person": "each row"} if way is None else {"person": "person", "max_groups": 16, "max_rows_per_group": 20}
    hard = [f"bounds.{column}" for column in FACTS["bounds"]]  # groups at the edges are called by their keys
    data = dither.protect(table, name="visits", ledger=book, complete=sorted(COMPLETE), hard=hard, **limits, **FACTS)
    with duckdb.connect() as engine:
        engine.register("visits", table)
        for _ in range(40):
            sql = random_question(rng)
            price = {"epsilon": 10**6} if pure else {"rho": 10**12}
            quote = data.quote(sql, bounding=way, **price)
            answer = quote.release()
            keys = list(answer.keys)
            result = engine.execute(sql)
            names = [column[0] for column in result.description]
            plain = {tuple(row[: len(keys)]): dict(zip(names, row, strict=True)) for row in result.fetchall()}
            for row in answer:
                expected = plain.get(tuple(row[key] for key in keys), {})
                for aggregate in quote.offer.question.aggregates:
                    truth = expected.get(aggregate.name)
                    if isinstance(aggregate, Mean) and truth is None:
                        continue  # of nothing: no average to compare
                    low, high = row[f"{aggregate.name}_low"], row[f"{aggregate.name}_high"]
                    assert high - low < 6  # there is next to no noise; 8 bars of it have a probability below 1e-10
                    step = 0.01 if isinstance(aggregate, Mean) else 0.5  # a bar without width leaves out one step, at 5%
                    off = 8 * max((high - low) / 2, step)
                    assert row[aggregate.name] == pytest.approx(truth or 0, abs=off), (sql, row)


@pytest.mark.parametrize("way", [None, "weights", "clip", "groups"])
def test_two_columns_are_plain_sql(tmp_path, way):
    """Of values on the steps in which they are counted; rows that lack one of the two are left out by both."""
    rng = random.Random(f"pairs {way}")
    pure = way != "clip"
    book = ledger(tmp_path, dither.pure(10**9) if pure else dither.zcdp(10**15))
    rows = [clean_row(rng) for _ in range(400)]
    arrays = [pyarrow.array([row[place] for row in rows], kind) for place, kind in enumerate(COLUMNS.values())]
    table = pyarrow.table(dict(zip(COLUMNS, arrays, strict=True)))
    limits = {"person": "each row"} if way is None else {"person": "person", "max_groups": 16, "max_rows_per_group": 20}
    data = dither.protect(table, name="visits", ledger=book, complete=sorted(COMPLETE), **limits, **FACTS)
    for names in (
        ("CORR", "REGR_R2"),
        ("COVAR_POP", "COVAR_SAMP"),
        ("REGR_SLOPE", "REGR_INTERCEPT"),
        ("REGR_COUNT", "REGR_AVGX"),
    ):
        asked = ", ".join(f"{name}(cost, age) AS {name.lower()}" for name in names)
        sql = f"SELECT sex, {asked}, REGR_AVGY(cost, age) AS avgy FROM visits WHERE age % 5 <> 1 GROUP BY sex ORDER BY sex"
        price = {"epsilon": 10**6} if pure else {"rho": 10**12}
        answer = data.quote(sql, bounding=way, **price).release()
        with duckdb.connect() as engine:
            engine.register("visits", table)
            plain = engine.execute(sql).fetchall()
        for row, (_, *expected) in zip(answer, plain, strict=True):
            for name, truth in zip([*(name.lower() for name in names), "avgy"], expected, strict=True):
                room = max(4 * (row[f"{name}_high"] - row[f"{name}_low"]), 1e-6 * abs(truth))
                assert room < 0.05 * (1 + abs(truth)) or name == "regr_count"  # whole numbers
                assert row[name] == pytest.approx(truth, abs=room), (name, way)
