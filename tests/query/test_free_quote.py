"""Questions that no row is needed for: answered from the policy, at no price, without an entry in the ledger."""

from __future__ import annotations

import datetime
import json
import pickle

import pytest

import dither
from dither.errors import DataError, QuestionError
from dither.query.answers.free_answer import FREE
from tests.query.sql.rewrites.plain import data, engine

KEYS = {
    "SELECT DISTINCT ward FROM visits": {"ward": ["A", "B"]},
    'SELECT DISTINCT "public"."visits"."ward" AS "w" FROM "public"."visits" ORDER BY 1 DESC LIMIT 1': {"w": ["B"]},
    "SELECT ward FROM visits GROUP BY ward": {"ward": ["A", "B"]},
    "SELECT ward, smokes FROM visits GROUP BY 1, 2 ORDER BY smokes DESC, ward": {
        "ward": ["A", "B", "A", "B"],
        "smokes": [True, True, False, False],
    },
    "SELECT DISTINCT age FROM visits WHERE cost > 3": {"age": [0, 1, 2, 3, 4, 5]},
    "SELECT DISTINCT day FROM visits WHERE day BETWEEN '2024-01-31' AND '2024-02-01'": {
        "day": [datetime.date(2024, 1, 31), datetime.date(2024, 2, 1)]
    },
    "SELECT DISTINCT CASE WHEN cost > 20 THEN 'high' ELSE 'low' END AS k FROM (SELECT * FROM visits)": {
        "k": ["high", "low"]
    },
    "SELECT DISTINCT ward FROM visits WHERE ward <> 'A'": {"ward": ["B"]},
    "SELECT DISTINCT ward FROM visits WHERE ward ILIKE '%b%' AND cost > 3": {"ward": ["B"]},
    "SELECT ward FROM visits WHERE ward IN ('A', 'z') AND NOT smokes GROUP BY ward": {"ward": ["A"]},
    "SELECT DISTINCT ward FROM visits WHERE ward = 'A' OR cost > 3": {"ward": ["A", "B"]},
    "SELECT DISTINCT ward FROM visits WHERE ward IS NULL": {"ward": []},
    "SELECT DISTINCT smokes, ward FROM visits WHERE ward = 'A' OR smokes": {
        "smokes": [False, True, True],
        "ward": ["A", "A", "B"],
    },
    "SELECT DISTINCT age FROM visits WHERE age > 3": {"age": [4, 5]},  # nobody is beyond the bounds
}
EMPTY = [
    "SELECT * FROM visits LIMIT 0",
    "SELECT * FROM (SELECT ward, cost + 1 AS c FROM visits) AS v WHERE 1 = 0",
    "SELECT v.*, v.ward AS w FROM main.visits AS v WHERE (1 = 0) AND age > 3",
    "SELECT ward, COUNT(*) AS n, AVG(cost) AS a FROM visits WHERE FALSE GROUP BY ward",
    "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward LIMIT 0",
    "SELECT COUNT(*) AS n FROM visits FETCH FIRST 0 ROWS ONLY",
]
PAID = ["SELECT COUNT(*) AS n FROM visits WHERE 1 = 0", "SELECT COUNT(*) AS n FROM visits WHERE 1 = 1 LIMIT 1"]


@pytest.mark.parametrize(("sql", "expected"), KEYS.items())
def test_keys_are_listed_for_free(tmp_path, sql, expected):
    clinic = data(tmp_path)
    before = list(clinic.ledger.history())
    quote = clinic.quote(sql)
    assert quote.price == FREE
    assert quote.guarantee == dither.pure(0)
    assert FREE in quote.explain()
    answer = quote.release()
    assert answer.columns == expected
    assert FREE in str(answer)
    assert list(clinic.ledger.history()) == before
    with engine() as plain:  # every key that the data has is among them
        rows = [row for row in plain.execute(sql.replace('"public"', '"main"')).fetchall() if None not in row]
    assert set(rows) <= set(zip(*expected.values(), strict=True))


@pytest.mark.parametrize("sql", EMPTY)
def test_columns_are_told_for_free(tmp_path, sql):
    answer = data(tmp_path).quote(sql).release()
    with engine() as plain:
        result = plain.execute(sql)
        names = [column[0] for column in result.description]
        assert result.fetchall() == []
        types = [str(column[1]) for column in result.description]
    assert list(answer.columns) == names
    assert len(answer) == 0
    told = {"VARCHAR": "text", "BIGINT": "whole", "DOUBLE": "number", "BOOLEAN": "boolean", "DATE": "date"}
    assert list(answer.kinds.values()) == [told.get(kind, "timestamp") for kind in types]
    assert answer.to_arrow().column_names == names


@pytest.mark.parametrize("sql", PAID)
def test_a_total_of_no_rows_is_a_row(tmp_path, sql):
    clinic = data(tmp_path)
    assert clinic.quote(sql, epsilon=1).price != FREE


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("SELECT DISTINCT name FROM visits", "nobody declared its keys"),
        ("SELECT name FROM visits GROUP BY name", "nobody declared its keys"),
        ("SELECT DISTINCT person FROM visits", "about one person"),
        ("SELECT DISTINCT * FROM visits", "single rows"),
        ("SELECT * FROM visits LIMIT 1", "single rows"),
        ("SELECT ward FROM visits", "single rows"),
        ("SELECT ward, age FROM visits GROUP BY ward", "single rows"),
        ("SELECT nothing FROM visits LIMIT 0", "no such column"),
        ("SELECT DISTINCT ward AS a, ward AS b FROM visits", "the same column twice"),
        ("SELECT ward FROM visits GROUP BY ward, smokes", "single rows"),  # a ward twice
    ],
)
def test_what_is_private_is_not_free(tmp_path, sql, why):
    with pytest.raises(QuestionError, match=why):
        data(tmp_path).quote(sql, epsilon=1)


def test_a_key_that_stands_for_what_is_beyond_is_not_left_out(tmp_path):
    """5 stands for all ages above, which meet the condition."""
    quote = data(tmp_path, hard=[]).quote("SELECT DISTINCT age FROM visits WHERE age <> 5")
    assert len(quote.release()["age"]) == 6


def test_there_is_no_receipt_and_no_offer(tmp_path):
    quote = data(tmp_path).quote("SELECT DISTINCT ward FROM visits")
    answer = pickle.loads(pickle.dumps(quote.release()))
    assert json.loads(answer.to_json())["columns"] == {"ward": ["A", "B"]}
    assert FREE in answer.to_html()
    assert not answer.is_replay
    assert quote.errors == {}
    assert quote.epsilon() == 0
    assert "whether the data has them" in quote.describe() + answer.explain()
    for asked in (lambda: answer.receipt, lambda: quote.offer, lambda: quote.affordable, quote.compare):
        with pytest.raises(DataError, match="free"):
            asked()


def test_no_source_is_opened(tmp_path, monkeypatch):
    """The rows may be gone."""
    clinic = data(tmp_path)
    monkeypatch.setattr(type(clinic.engine), "opened", None)
    monkeypatch.setattr(type(clinic), "table_source", None)
    assert clinic.quote("SELECT DISTINCT ward FROM visits").release()["ward"] == ["A", "B"]
