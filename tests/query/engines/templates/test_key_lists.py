"""Long lists of keys beside the SELECT: the same whole numbers as of lists within it, on hostile rows and keys."""

from __future__ import annotations

import datetime
import random

import pyarrow as pa
import pytest

from dither.errors import PolicyError, QuestionError
from dither.query.engines import key_lists
from dither.query.engines.duckdb import run as running
from dither.query.engines.duckdb.key_tables import KeyTables
from dither.query.engines.duckdb.words import DuckDBWords
from dither.query.engines.key_lists import KeyLists
from dither.query.engines.templates import group_keys
from dither.query.engines.templates.totals import totals_sql
from dither.query.engines.words import Words
from dither.query.plan.expressions import ColumnValue
from dither.query.policy.column import Column, Type
from tests.query.clinics import clinic
from tests.query.neighbours import engine_with, random_case, random_row, table_of

pytestmark = pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")
HOSTILE = [
    "",
    " ",
    "NULL",
    "null",
    'quo"te',
    "it's",
    "back\\slash",
    "\\",
    "{a,b}",
    "a,b",
    "tab\t",
    "line\nbreak",
    "ä",
    "a\u0308",
]
HOSTILE += ["\U0001f600", "A", "a", "a ", "%", "$1", "getvariable('salt')", "x" * 1999]


class PortableDuckDB(DuckDBWords):
    """With the portable hash, which is of texts: an ENUM and a text give the same."""

    order = Words.order


@pytest.mark.parametrize("way", [None, "weights", "clip", "groups", "clip sum", "persons"])
def test_the_same_totals_of_random_questions(way, monkeypatch, every):
    rng, words, listed = random.Random(f"lists {way}"), PortableDuckDB(), 0
    for _ in range(40 if every else 4):
        table = table_of([random_row(rng) for _ in range(rng.choice([5, 40, 300]))], rng)
        engine = engine_with(1)
        engine.register("visits", table)
        for _ in range(4):
            case = random_case(rng, way)
            asked = case.question, case.strategy.sets, case.bounding, "visits", case.salt
            monkeypatch.setattr(key_lists, "LONGEST_LIST", 10**9)
            plain = engine.execute(totals_sql(words, *asked)).fetchall()
            monkeypatch.setattr(key_lists, "LONGEST_LIST", 0)
            lists = KeyLists()
            select = totals_sql(words.with_lists(lists), *asked)
            KeyTables(engine, lists).hand_over()
            assert sorted(map(repr, engine.execute(select).fetchall())) == sorted(map(repr, plain)), case.question
            listed += len(lists.by_name)
    assert listed > 5


@pytest.mark.parametrize("person", ["person", "each row"])
def test_hostile_keys(person, tmp_path, monkeypatch):
    """Every key by itself: none is taken for another, cut, or read as anything else. Cells beside the list are no keys."""
    monkeypatch.setattr(key_lists, "LONGEST_LIST", 3)
    cells = [key for place, key in enumerate(HOSTILE) for _ in range(place + 1)] + [None, "nobody's", "quo\\"]
    rows = pa.table({"person": range(len(cells)), "ward": cells, "cost": [1.0] * len(cells)})
    limits = {} if person == "person" else {"max_groups": None, "max_rows_per_group": None}
    data = clinic(tmp_path, rows, person=person, keys={"ward": HOSTILE}, complete=[], bounds={"cost": (0, 2)}, **limits)
    answer = data.quote("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", epsilon=10**5).release()
    found = dict(zip(answer["ward"], map(round, answer["n"]), strict=True))
    assert found == {key: place + 1 for place, key in enumerate(HOSTILE)}


def test_numbers_and_days(tmp_path, monkeypatch):
    monkeypatch.setattr(key_lists, "LONGEST_LIST", 3)
    numbers = [-(2**63), -1, 0, 7, 2**53 + 1, 2**63 - 1]
    days = [datetime.date(1, 1, 1), datetime.date(2024, 2, 29), datetime.date(2025, 1, 1), datetime.date(9999, 12, 31)]
    rows = pa.table(
        {
            "person": range(8),
            "code": pa.array([*numbers, 2**53, None], pa.int64()),
            "day": [*days, *days[:2], None, datetime.date(2024, 3, 1)],
        }
    )
    how = {"keys": {"code": numbers, "day": days}, "complete": [], "bounds": {}, "steps": {}}
    data = clinic(tmp_path, rows, **how)
    for column, want in (("code", [1] * 6), ("day", [2, 2, 1, 1])):
        sql = f"SELECT {column}, COUNT(*) AS n FROM visits GROUP BY {column}"
        assert [round(n) for n in data.quote(sql, epsilon=10**5).release()["n"]] == want


def test_a_short_select_of_many_keys(tmp_path, monkeypatch):
    """Ten thousand keys leave the SELECT as it is, before the charge and after it; what was rehearsed is not again."""
    seen, real = [], running._rows
    monkeypatch.setattr(running, "_rows", lambda link, sql, keep: seen.append(sql) or real(link, sql, keep))
    keys = [f"ward {number:05}" for number in range(10_000)]
    data = clinic(tmp_path, keys={"ward": ["A", "B", *keys]}, complete=[])
    for column in ("age", "cost"):
        data.quote(f"SELECT ward, SUM({column}) AS n FROM visits GROUP BY ward", epsilon=1).release()
    assert seen
    assert max(map(len, seen)) < 5000
    assert all("declared keys, text" in sql for sql in seen)


def test_what_a_list_is_called():
    lists = KeyLists()
    keys = [tuple(f"{first}{number}" for number in range(2000)) for first in "ab"]
    first, second, again = lists.add(keys[0]), lists.add(keys[1]), KeyLists().add(list(keys[0]))
    assert first.name == again.name != second.name
    assert lists.add(keys[0]) is first
    joined = KeyLists().add(("a", "b1", *keys[0])), KeyLists().add(("ab", "1", *keys[0]))
    assert joined[0].name != joined[1].name  # the same letters, cut elsewhere
    assert KeyLists().add(tuple(range(2000))).name != KeyLists().add(tuple(map(str, range(2000)))).name
    assert lists.add(("a",) * 10) is None
    assert lists.add((*range(2000), "a")) is None


def test_the_most_keys(tmp_path):
    with pytest.raises(PolicyError, match="1 to 1000000"):
        clinic(tmp_path, keys={"ward": [str(number) for number in range(10**6 + 1)]})
    many = {"ward": [str(number) for number in range(500_001)], "sex": ["f", "m"]}
    with pytest.raises(QuestionError, match="1000002 rows"):
        clinic(tmp_path, keys=many).quote("SELECT ward, sex, COUNT(*) AS n FROM visits GROUP BY ward, sex", epsilon=1)


def test_many_whole_keys_in_a_row_are_two_ends():
    """A list of them would be compared one by one; a number between two keys that is none is no key."""
    words = DuckDBWords()
    integer, real = (ColumnValue(Column("k", kind)) for kind in (Type.INTEGER, Type.FLOAT))
    last = group_keys.MANY + 1
    whole = tuple(range(1, last + 1))
    assert f"BETWEEN {words.constant(1)} AND {words.constant(last)}" in group_keys.key(words, integer, whole)
    for by, keys in ((integer, whole[:-1]), (integer, (*whole[:-1], last + 1)), (real, whole)):
        assert "BETWEEN" not in group_keys.key(words, by, keys)
