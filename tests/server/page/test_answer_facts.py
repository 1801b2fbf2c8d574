"""Facts of answers: what the page shows is what was released, for every kind of answer."""

from __future__ import annotations

import math
import re
import shlex
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import dither
from dither.query.answers.number_texts import decimals_of, high_text, low_text, number_text
from dither.query.plan.text import number
from dither.server.core.questions import Asked
from dither.server.page.facts.answer_code import curl_code, python_code
from dither.server.page.facts.answer_facts import MOST_ROWS, TableFacts, answer_facts
from dither.server.page.facts.difference_facts import difference_facts
from dither.server.page.render import _environment
from tests.server.page.stored import HEAD, KEYS, answers, question

ADDRESS = "https://gateway.example"
ALL = ("groups", "counts", "number", "median", "ranks", "free")


def table(answer: dither.Answer) -> TableFacts:
    return answer_facts(question(answer), ADDRESS).tables[0]


@pytest.mark.parametrize("kind", ALL)
def test_every_number_and_its_interval_are_shown(kind: str):
    answer = answers()[kind]
    assert isinstance(answer, dither.Answer)
    found = table(answer)
    for place, row in enumerate(answer.rows()):
        cells = dict(zip([head.name for head in found.heads], found.rows[place], strict=True))
        for name, cell in cells.items():
            if not cell.has_interval:
                assert cell.text == (row[name] if isinstance(row[name], str) else number(row[name]))
                continue
            if place in answer.uninformative.get(name, []):
                assert (cell.is_unknown, cell.low, cell.text, cell.high, cell.bar) == (True, None, None, None, None)
                continue
            low, middle, high = (float((text or "").replace(",", "")) for text in (cell.low, cell.text, cell.high))
            assert low <= row[f"{name}_low"] <= row[f"{name}_high"] <= high, "rounded outwards, if at all"
            assert low <= middle <= high
            assert high - low <= 1.021 * (row[f"{name}_high"] - row[f"{name}_low"]), "three digits of the width"
    shown = {head.name for head in found.heads}
    ends = {f"{head.name}{end}" for head in found.heads if head.has_interval for end in ("_low", "_high")}
    assert shown | ends == set(answer.columns)
    assert bool(found.chart) == bool(ends) == bool(found.percent)


def test_heads_say_what_each_number_says():
    found = table(answers()["groups"])  # type: ignore[arg-type]
    heads = {head.name: head for head in found.heads}
    assert (heads["n"].says, heads["n"].low_says, heads["n"].high_says) == ("", "truth at least", "counted at most")
    assert (heads[HEAD].says, heads[HEAD].low_says, heads[HEAD].high_says) == ("", "counted from", "to")
    low, high = (float(end.replace(",", "")) for end in heads["n"].scale.split(" … "))
    ends = [float((end or "").replace(",", "")) for row in found.rows for end in (row[1].low, row[1].high)]
    assert (low, high) == (min(ends), max(ends)), "the bars have a scale"
    assert heads["ward"].scale == ""
    assert not heads["ward"].is_number
    assert [row[0].text for row in found.rows] == sorted(KEYS)
    told = ["n", HEAD, "rows without who are not counted"]  # people beyond the limits stand below, once
    assert [says.split(":")[0] for says in found.says] == told
    assert found.beyond is not None
    assert not found.holds_truth


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (1234, "With the same confidence, at least 1,234 of their rows are left out."),
        (None, "How many of their rows are left out is not known."),
    ],
)
def test_of_rows_that_are_left_out_the_page_says_how_many_there_are_at_least(rows: int | None, told: str):
    answer = answers()["number"]
    assert isinstance(answer, dither.Answer)
    assert answer.beyond is not None
    meaning = _environment().get_template("parts/answer.html").module.meaning  # type: ignore[attr-defined]
    assert f"{told}</p>" in meaning(table(replace(answer, beyond={**answer.beyond, "rows": rows})))


@pytest.mark.parametrize(
    ("kind", "replay", "paid"), [("number", True, "stored"), ("number", False, "charged"), ("free", False, "free")]
)
def test_what_was_paid(kind: str, replay: bool, paid: str):
    facts = answer_facts(question(answers()[kind], replay=replay), ADDRESS)
    assert facts.paid == paid
    assert (facts.receipt is None) == (kind == "free")


def test_a_batch_has_a_table_for_each_question_and_no_format_of_one_table():
    facts = answer_facts(question(answers()["batch"]), ADDRESS)
    assert [len(one.rows) for one in facts.tables] == [len(KEYS), 1]
    assert facts.formats == ["json", "html"]


def changed(**columns: list[object]) -> dither.Answer:
    """An answer with other numbers in it."""
    answer = answers()["number"]
    assert isinstance(answer, dither.Answer)
    return replace(answer, columns=columns, kinds=dict.fromkeys(columns, "number"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "low", "high"),
    [
        (5.0, 1.0, 9.0),
        (None, None, None),
        (5.0, None, 9.0),
        (5.0, 1.0, None),
        (math.inf, 1.0, math.inf),
        (math.nan, math.nan, math.nan),
        (0.0, -1.7e308, 1.7e308),
        (5e-324, 0.0, 5e-324),
        (10**400, 1, 10**400),
        (7, 7, 7),
    ],
)
def test_bars_stay_within_their_drawing(value: object, low: object, high: object):
    columns = {"n": [value, 3.0], "n_low": [low, 2.0], "n_high": [high, 4.0]}
    answer = changed(**columns)
    found = [row[0].bar for row in table(answer).rows]
    for bar in found:
        if bar is not None:
            places = [float(place) for place in (bar.low, bar.middle, bar.high)]
            assert all(re.fullmatch(r"[0-9]{1,3}\.[0-9]", place) for place in (bar.low, bar.middle, bar.high))
            assert 4 <= places[0] <= places[1] <= places[2] <= 124
    drawable = (
        isinstance(value, int | float) and not (isinstance(value, float) and not math.isfinite(value)) and value != 10**400
    )
    assert (found[0] is not None) == drawable
    assert found[1] is not None


def test_many_rows_are_shown_up_to_a_thousand():
    answer = changed(n=[1.0] * 1201, n_low=[0.0] * 1201, n_high=[2.0] * 1201)
    found = table(answer)
    assert (len(found.rows), found.row_count, found.rows_left_out) == (MOST_ROWS, 1201, 201)
    assert table(changed(n=[], n_low=[], n_high=[])).row_count == 0


# -- code ----------------------------------------------------------------------------------------------------------------

HOSTILE = "SELECT COUNT(*) AS n FROM v WHERE ward = 'a''); import os; $(rm -rf /) `id` \"\n\u202e</pre>' -- \\"


@pytest.mark.parametrize("stored", [True, False])
def test_no_text_of_a_question_ends_its_quotes(stored: bool):
    asked = Asked("cl'in\"ic\n\u202e", HOSTILE, {"epsilon": "0.1", "error": {"n'": "5"}, "intervals": True})
    made = question(answers()["number"], asked=asked, **({} if stored else {"id": "qy_1"}))
    words = shlex.split(curl_code(made, ADDRESS))
    assert words[:2] == ["curl", f"{ADDRESS}/v1/{f'answers/{made.id}' if stored else 'queries'}"]
    assert words[2:4] == ["-H", "Authorization: Bearer $DITHER_TOKEN"]
    assert len(words) == (6 if stored else 8)
    code = python_code(made, ADDRESS)
    assert code.isascii()
    assert curl_code(made, ADDRESS).isascii()
    calls: list[object] = []
    exec(code.replace("import dither", "").replace("dither.connect", "connect"), {"connect": _connected(calls), "print": id})
    assert calls[:2] == [ADDRESS, asked.dataset]
    expected = (made.id,) if stored else (HOSTILE, asked.terms)
    assert calls[2] == expected


def _connected(calls: list[object]):  # type: ignore[no-untyped-def]
    class Dataset:
        def answer(self, name: str) -> None:
            calls.append((name,))

        def quote(self, sql: str, **terms: object) -> Dataset:
            calls.append((sql, terms))
            return self

        def release(self) -> None: ...

    class Known:
        def __getitem__(self, name: str) -> Dataset:
            calls.append(name)
            return Dataset()

    def connect(address: str) -> Known:
        calls.append(address)
        return Known()

    return connect


# -- two answers ---------------------------------------------------------------------------------------------------------


def test_differences_are_those_of_the_library():
    first, second = answers()["groups"], answers()["counts"]
    assert isinstance(first, dither.Answer)
    assert isinstance(second, dither.Answer)
    facts = difference_facts(question(first), question(second), ADDRESS)
    found = first.difference(second)
    assert facts.problem is None
    assert [pair.difference for pair in facts.pairs] == [number(row["difference"]) for row in found.rows()]
    assert [(pair.low, pair.high) for pair in facts.pairs] == [
        (number(row["low"]), number(row["high"])) for row in found.rows()
    ]
    assert facts.percent == "90%"
    for pair, row in zip(facts.pairs, found.rows(), strict=True):
        assert pair.verdict == ("perhaps" if row["low"] <= 0 <= row["high"] else "differ")
    assert facts.chart.startswith("<svg")


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        *[(-9.0, -1.0, "differ"), (1.0, 9.0, "differ"), (None, -1.0, "differ"), (1.0, None, "differ")],
        *[(-1.0, 9.0, "perhaps"), (0.0, 9.0, "perhaps"), (-9.0, 0.0, "perhaps"), (None, 1.0, "perhaps")],
        (None, None, "perhaps"),
    ],
)
def test_what_an_interval_says_of_zero(low: float | None, high: float | None, verdict: str):
    first, zero = changed(n=[5.0], n_low=[low], n_high=[high]), changed(n=[0.0], n_low=[0.0], n_high=[0.0])
    facts = difference_facts(question(first), question(replace(zero, sql="SELECT 0 AS n")), ADDRESS)
    assert [pair.verdict for pair in facts.pairs] == [verdict]


def test_an_answer_is_the_same_as_itself():
    counts = question(answers()["counts"])
    assert {pair.verdict for pair in difference_facts(counts, counts, ADDRESS).pairs} == {"equal"}


@pytest.mark.parametrize(
    ("first", "second"), [("counts", "median"), ("number", "counts"), ("free", "number"), ("ranks", "counts")]
)
def test_what_cannot_be_compared_is_told(first: str, second: str):
    facts = difference_facts(question(answers()[first]), question(answers()[second]), ADDRESS)
    assert facts.problem is not None
    assert facts.problem.why
    assert facts.pairs == []


def test_a_batch_is_compared_with_nothing():
    facts = difference_facts(question(answers()["batch"]), question(answers()["counts"]), ADDRESS)
    assert facts.has_several


@pytest.mark.parametrize(
    ("value", "low", "high", "shown"),
    [
        (13469404.51, 12261933.9, 14676983.2, ("13,469,405", "12,261,933", "14,676,984")),
        (729.318, 451.421, 972.451, ("729", "451", "973")),
        (45.2349, 44.6, 45.866, ("45.23", "44.60", "45.87")),
        (-0.001, -0.4, 0.2, ("-0.001", "-0.400", "0.200")),
        (-0.1, -0.4, 400.0, ("0", "-1", "400")),
        (7, 3, 9, ("7", "3", "9")),  # whole numbers are as they are
        (2.5, None, 4.0, ("2.5", None, "4")),  # no width: as they are
        (1e300, -1e300, 1.5e300, ("1e+300", "-1e+300", "1.5e+300")),
        (None, 0.5, 1.5, (None, "0.50", "1.50")),
        (float("inf"), 0.5, 1.5, ("inf", "0.50", "1.50")),
    ],
)
def test_numbers_have_the_decimals_that_their_interval_is_worth(value: Any, low: Any, high: Any, shown: tuple[Any, ...]):
    decimals = decimals_of([low], [high])
    assert (number_text(value, decimals), low_text(low, decimals), high_text(high, decimals)) == shown


@given(st.lists(st.floats(allow_nan=False) | st.integers(), min_size=2, max_size=2).map(sorted))
@example([1.234567891e300, 1.234567891e300])  # beyond decimals
@example([0.1234567891, 0.1234567892])  # more decimals than are shown
@example([-(10**400), 10**400])
def test_what_is_shown_holds_what_exports_have(ends: list[Any]):
    low, high = ends
    decimals = decimals_of([low], [high])
    shown = [Decimal(str(text).replace(",", "")) for text in (low_text(low, decimals), high_text(high, decimals))]
    assert shown[0] <= Decimal(str(low)) <= Decimal(str(high)) <= shown[1]
