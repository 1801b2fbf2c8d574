"""Answers as JSON and back: free ones, batches, and what nobody wrote."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import pyarrow
import pytest

import dither
from dither.errors import DataError, InputError
from dither.query.answers.batch_answer import BatchAnswer, any_from_record
from dither.query.answers.free_answer import FreeAnswer

ROWS = pyarrow.table({"p": [1, 1, 2], "ward": ["A", "B", "A"], "cost": [3.0, 4.0, 5.0]})
PUBLIC = pyarrow.table({
    "ward": ["A", "B", None],
    "beds": [20, 2**60, None],
    "rate": pyarrow.array([math.nan, math.inf, -math.inf]),
    "day": pyarrow.array([0, 1, None], pyarrow.date32()),
    "seen": pyarrow.array([0, 1, None], pyarrow.timestamp("us")),
    "open": [True, False, None],
})  # fmt: skip
FREE = [
    "SELECT * FROM visits LIMIT 0",
    "SELECT DISTINCT ward FROM visits",
    "SELECT * FROM wards",
    "SELECT COUNT(*) AS n FROM wards",
]
BATCH = [
    "SELECT COUNT(*) AS n FROM visits",
    "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward",
    "SELECT MEDIAN(cost) AS m FROM visits",
]


@pytest.fixture(scope="module")
def clinic(tmp_path_factory) -> Iterator[dither.Dataset]:
    with dither.Ledger.create(tmp_path_factory.mktemp("json") / "a.ledger", budget=dither.approx(30, "1e-6")) as ledger:
        facts: dict[str, Any] = {"person": "p", "max_rows": 2, "keys": {"ward": ["A", "B"]}, "bounds": {"cost": (0, 10)}}
        yield dither.protect(ROWS, name="visits", public={"wards": PUBLIC}, ledger=ledger, **facts)


@pytest.mark.parametrize("sql", FREE)
def test_a_free_answer_comes_back(clinic, sql):
    answer = clinic.quote(sql).release()
    text = answer.to_json()
    json.loads(text, parse_constant=pytest.fail)  # plain JSON: no NaN, no Infinity
    for again in (FreeAnswer.from_json(text), any_from_record(json.loads(text))):
        assert type(again) is FreeAnswer
        assert (repr(again.columns), again.kinds, again.keys) == (repr(answer.columns), answer.kinds, answer.keys)
        assert again.guarantee == answer.guarantee
        assert (str(again), again.explain(), again.to_html()) == (str(answer), answer.explain(), answer.to_html())
        assert again.to_json() == text
        assert repr(again.frame()) == repr(answer.frame())
        with pytest.raises(DataError, match="nothing was charged"):
            _ = again.receipt


def test_the_answers_of_a_batch_come_back_with_one_receipt(clinic):
    for again in range(2):  # the second time they are stored ones: the receipt holds all of them
        answers = clinic.quote(BATCH, epsilon=1).release()
        assert answers.is_replay == bool(again)
        text = answers.to_json()
        assert text.count("receipt") - answers.receipt.to_json().count("receipt") == 1
        for back in (BatchAnswer.from_json(text), any_from_record(json.loads(text))):
            assert type(back) is BatchAnswer
            assert (str(back), back.explain(), back.to_html()) == (str(answers), answers.explain(), answers.to_html())
            assert (back.guarantee, back.receipt, back.is_replay) == (answers.guarantee, answers.receipt, bool(again))
            assert [one.receipt for one in back] == [answers.receipt] * 3
            assert [one.released for one in back] == [one.released for one in answers]
            assert back.to_json() == text


def test_receipts_of_their_own_and_free_ones_stay(clinic):
    """Nobody makes such a batch today; it would come back all the same."""
    one, other = (clinic.quote(sql, epsilon="0.1").release() for sql in BATCH[:2])
    made = BatchAnswer((one, other, clinic.quote(FREE[1]).release()), one.guarantee, "", one.receipt)
    back = BatchAnswer.from_json(made.to_json())
    assert [back[0].receipt, back[1].receipt] == [one.receipt, other.receipt]
    assert type(back[2]) is FreeAnswer


PARTS: list[dict[str, Any]] = [
    {"sql": 5}, {"price": None}, {"says": ["x"]}, {"explained": {}}, {"frame_kind": 1}, {"unprotected": True},
    {"keys": "ab"}, {"keys": [1]}, {"keys": None}, {"kinds": []}, {"guarantee": {}}, {"guarantee": "{}"}, {"columns": {}},
    {"columns": [[1]]}, {"columns": {"ward": ["A"], "x": []}}, {"more": 1},
]  # fmt: skip
OF_PAID: list[dict[str, Any]] = [
    {"aggregates": "n"}, {"aggregates": [["n"]]}, {"statements": []}, {"statements": {"n": 1}}, {"beyond": 3}, {"note": 1},
    {"beyond": {"people": "3"}}, {"constants": [1]}, {"constants": {"x": 1}}, {"confidence": "1/0"}, {"confidence": 1},
    {"receipt": "{}"}, {"receipt": {}}, {"released": "{}"}, {"released": []}, {"answer": 3}, {"answer": "2"},
    {"answer": None},
]  # fmt: skip


def test_parts_of_another_kind_are_refused(clinic):
    free = json.loads(clinic.quote(FREE[1]).release().to_json())
    paid = json.loads(clinic.quote(BATCH[0], epsilon=1).release().to_json())
    batch = json.loads(clinic.quote(BATCH, epsilon=1).release().to_json())
    own: list[dict[str, Any]] = [
        {"free": False},
        {"free_answer": 2},
        {"free_answer": "1"},
        {"columns": {"ward": [1, 2]}},
        {"price": ""},
    ]
    several: list[dict[str, Any]] = [
        {"batch": 5},
        {"batch": [5]},
        {"batch": [{}]},
        {"batch": [batch]},
        {"batch": {"answer": 2}},
    ]
    several += [
        {"batch_answer": 2},
        {"batch_answer": []},
        {"receipt": 1},
        {"guarantee": None},
        {"explained": 5},
        {"more": 1},
    ]
    cases = [(free, FreeAnswer, PARTS + own), (paid, dither.Answer, PARTS + OF_PAID), (batch, BatchAnswer, several)]
    for whole, kind, parts in cases:
        kind.from_json(json.dumps(whole))
        for part in parts:
            with pytest.raises(InputError):
                kind.from_json(json.dumps(whole | part))
            with pytest.raises(InputError):
                any_from_record(whole | part)
        for name in set(whole) - {"unprotected"}:
            with pytest.raises(InputError):
                kind.from_json(json.dumps({key: part for key, part in whole.items() if key != name}))
    for text in (
        "",
        "{}",
        "[]",
        "5",
        "null",
        "[" * 100_000,
        '{"free_answer": 1}',
        '{"batch_answer": 1}',
        f'{{"free_answer": {"1" * 5000}}}',
    ):
        for kind in (FreeAnswer, BatchAnswer):
            with pytest.raises(InputError):
                kind.from_json(text)
    for record in ([], None, 5, "batch_answer", {"answer": 2}):
        with pytest.raises(InputError):
            any_from_record(record)
