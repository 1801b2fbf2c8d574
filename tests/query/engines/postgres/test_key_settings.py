"""Long lists of keys on PostgreSQL: the same whole numbers as on DuckDB, for hostile keys, on hostile rows."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

import dither
from dither.query.engines import key_lists
from dither.query.engines.key_lists import KeyLists
from dither.query.engines.postgres.key_settings import KeySettings
from dither.query.engines.templates.totals import totals_sql
from tests.query.engines.postgres.tables import load
from tests.query.engines.postgres.test_same_totals import POSTGRES, answered, ordered
from tests.query.engines.templates.test_key_lists import HOSTILE
from tests.query.neighbours import random_row, table_of

pytestmark = pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")


@pytest.mark.parametrize("way", ["weights", "clip", "groups", None])
def test_the_same_totals_of_random_questions(way, link, monkeypatch, every):
    rng, listed = random.Random(f"lists {way}"), 0
    for _ in range(20 if every else 2):
        load(link, "visits", table_of([random_row(rng) for _ in range(100)], rng))
        for _ in range(4):
            case = answered(rng, way)
            asked = case.question, case.strategy.sets, case.bounding, "visits", case.salt
            monkeypatch.setattr(key_lists, "LONGEST_LIST", 10**9)
            plain = link.execute(totals_sql(POSTGRES, *asked)).fetchall()
            monkeypatch.setattr(key_lists, "LONGEST_LIST", 0)
            lists = KeyLists()
            select = totals_sql(POSTGRES.with_lists(lists), *asked)
            with link.transaction():
                KeySettings(link, lists).hand_over()
                assert ordered(link.execute(select).fetchall()) == ordered(plain), case.question
            listed += len(lists.by_name)
    assert listed > 0


@pytest.mark.parametrize("person", ["person", "each row"])
def test_hostile_keys(person, address, link, tmp_path, monkeypatch):
    monkeypatch.setattr(key_lists, "LONGEST_LIST", 3)
    cells = [key for place, key in enumerate(HOSTILE) for _ in range(place + 1)] + [None, "nobody's", "quo\\"]
    load(link, "visits", pa.table({"person": range(len(cells)), "ward": cells}))
    ledger = dither.Ledger.create(tmp_path / "l", budget=dither.pure(10**7))
    limits = {"max_groups": 1, "max_rows_per_group": 1} if person == "person" else {}
    place = f"{address}&table=visits"
    data = dither.protect(place, name="visits", person=person, ledger=ledger, keys={"ward": HOSTILE}, **limits)
    answer = data.quote("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", epsilon=10**5).release()
    found = dict(zip(answer["ward"], map(round, answer["n"]), strict=True))
    assert found == {key: place + 1 for place, key in enumerate(HOSTILE)}


def test_a_long_list_is_hashed(link):
    """Whatever its length: gone through for each row, a million keys would take hours."""
    lists = KeyLists()
    keys = tuple(f"ward {number:06}" for number in range(200_000))
    words = POSTGRES.with_lists(lists)
    load(link, "visits", pa.table({"ward": ["ward 000007"] * 3}))
    with link.transaction():
        looked = words.among("ward", keys)
        KeySettings(link, lists).hand_over()
        link.execute("SET LOCAL work_mem = '64kB'")
        plan = link.execute(f"EXPLAIN VERBOSE SELECT CASE WHEN {looked} THEN ward END FROM visits").fetchall()
    assert any("hashed SubPlan" in line for (line,) in plan)
    assert len(looked) < 200
