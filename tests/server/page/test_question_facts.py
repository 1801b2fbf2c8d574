"""What the page of a question is made of: fields to terms and back, scales of prices, places of refusals, inserted names."""

from __future__ import annotations

from fractions import Fraction
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dither.server.core.problems import Problem
from dither.server.core.questions import Asked
from dither.server.page.facts.price_facts import percent, short_price, wish_text
from dither.server.page.facts.price_scale import price_scale
from dither.server.page.facts.problem_place import Place, problem_place
from dither.server.page.facts.question_form import OF_ADDRESS, QuestionForm, form_of_question, question_form, read_form
from dither.server.page.facts.schema_facts import schema_facts
from tests.seeds import examples

FIELD = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20).filter(lambda text: text == text.strip())
MORE = st.fixed_dictionaries(
    {},
    optional={
        "confidence": FIELD,
        "other": FIELD,
        "noise": FIELD,
        "size": st.integers(1, 10**14).map(str),
        "spread": st.sampled_from(["cost=300", "cost = 1/2 , age=20", "max(a, b)=3, c=4"]),
        "intervals": st.sampled_from(["no", "1/2"]),
        "slot": st.sampled_from(["5", "0.5", "60"]),
    },
)
QUESTION = st.tuples(st.sampled_from(["SELECT 1", "SELECT 2"]) | FIELD, st.sampled_from(["1", "2"]), MORE)
PAGE = st.sampled_from("ab")  # whose key is


@settings(max_examples=examples(50, 2000))
@given(FIELD, MORE, st.dictionaries(FIELD, FIELD, min_size=1, max_size=3), st.sampled_from(["epsilon", "rho", "error"]))
def test_the_terms_of_a_form_come_back_from_its_address(price, more, wishes, way):
    kept = wishes if way == "error" else {}
    form = QuestionForm("d", "SELECT 1", way, {"epsilon": price, "rho": price}, kept, more)
    parameters = parse_qsl(urlsplit(form.terms_address(dataset="d", sql="SELECT 1")).query, keep_blank_values=True)
    found = question_form(read_form(parameters, OF_ADDRESS), {"epsilon": "1"})
    assert found.asked() == form.asked()
    assert form_of_question(form.asked(), {"epsilon": "1"}).asked() == form.asked()


@settings(max_examples=examples(50, 2000))
@given(
    st.lists(st.tuples(FIELD, FIELD, MORE), min_size=2, max_size=2), st.lists(st.sampled_from("ab"), min_size=2, max_size=2)
)
def test_two_forms_have_one_key_if_and_only_if_they_are_one_question_of_one_page(typed, keys):
    forms = [
        QuestionForm("d", sql, "epsilon", {"epsilon": price}, {}, more, key=key * 16)
        for (sql, price, more), key in zip(typed, keys, strict=True)
    ]
    same = forms[0].asked() == forms[1].asked() and keys[0] == keys[1]
    assert (forms[0].idempotency_key() == forms[1].idempotency_key()) == same
    assert forms[0].idempotency_key() == forms[0].idempotency_key()


def test_terms_that_were_not_typed_here_are_left_out():
    asked = Asked("d", ["SELECT 1", "SELECT 2"], {"guarantee": {}, "intervals": True})
    form = form_of_question(asked, {"rho": "0.1"})
    assert (form.sql, form.way, form.asked().terms) == ("SELECT 1;\nSELECT 2", "rho", {"rho": "0.1"})


@pytest.mark.parametrize(
    ("way", "limit", "budget", "ends"),
    [
        ("epsilon", "ε = 1 (add/remove one person)", None, ("0.001", "1")),
        ("epsilon", "(ε = 0.75, δ = 1e-06) (x)", "ε = 3", ("0.001", "0.75")),
        ("epsilon", "ε = 0.3334", None, ("0.001", "0.2")),  # it may have been rounded up
        ("epsilon", None, "ε = 3", ("0.001", "2")),
        ("epsilon", None, "ε = 500", ("0.001", "10")),
        ("epsilon", "ε = 0.0004", None, ("0.0004", "0.0004")),
        ("epsilon", "ρ = 0.1", None, ("0.001", "10")),
        ("epsilon", None, None, ("0.001", "10")),
        ("epsilon", "ε = 1e-99", "ε = 1e99", ("0.001", "10")),
        ("rho", "ρ = 0.5 zCDP (x)", None, ("0.00001", "0.5")),
    ],
)
def test_the_scale_goes_in_round_numbers_to_the_limit(way, limit, budget, ends):
    scale = price_scale(way, limit, budget)
    assert (scale[0], scale[-1]) == ends
    assert scale == sorted(scale, key=Fraction)
    assert all(price.replace("0", "").replace(".", "") in ("1", "2", "5") for price in scale[:-1])


@settings(max_examples=examples(50, 2000))
@given(st.floats(1e-12, 1e12))
def test_a_wish_for_what_was_shown_costs_no_more(size):
    assert Fraction(size) <= Fraction(wish_text(size)) <= Fraction(size) * Fraction("1.011")


@pytest.mark.parametrize(
    ("price", "short"),
    [
        ("ε = 0.1 (add/remove one person)", "ε 0.1"),
        ("(ε = 0.1, δ = 1e-06) (add/remove one person)", "ε 0.1, δ 1e-06"),
        ("μ = 0.04 Gaussian DP (x)", "μ 0.04 Gaussian DP"),
        ("free", "free"),
    ],
)
def test_a_button_has_the_price_without_its_unit(price, short):
    assert short_price(price) == short


def test_probabilities_are_said_in_percent():
    assert [percent(text) for text in ("19/20", "999/1000", "1", "1/3")] == ["95%", "99.9%", "100%", "33.33333333%"]


@pytest.mark.parametrize(
    ("sql", "where", "came", "found"),
    [
        ("SELECT a", "line 1, column 8", "'a'", Place(1, "SELECT ", "a", "")),
        ("SELECT\n  abc + 1", "line 2, column 3", "'abc + 1'", Place(2, "  ", "abc + 1", "")),
        ("SELECT abc def", "line 1, column 8", "'other'", Place(1, "SELECT ", "abc", " def")),
        ("SELECT", "line 1, column 7", "", Place(1, "SELECT", " ", "")),
        ("é😀 <b>", "line 1, column 4", "''", Place(1, "é😀 ", "<", "b>")),
        ("SELECT", "line 2, column 1", "", None),
        ("SELECT", "line 0, column 1", "", None),
        ("SELECT", "line 1, column 0", "", None),
        ("SELECT", "line 1, column 99", "", None),
        ("SELECT", "epsilon", "", None),
        ("SELECT", "line 9999999, column 1", "", None),
    ],
)
def test_the_place_of_a_refusal(sql, where, came, found):
    assert problem_place(Problem("refused", where=where, came=came), sql) == found


def test_what_a_click_inserts_is_sql():
    def column(name, type_, keys):
        return {"name": name, "type": type_, "keys": keys}

    columns = [
        column("plain", "text", ["it's"]),
        column("Two Words", "integer", [1, -2]),
        column('a"b', "boolean", [True, False]),
        column("day", "date", ["2026-01-02"]),
        column("none", "text", None),
        column("many", "text", [str(number) for number in range(100)]),
    ]
    (table,) = schema_facts([{"name": "t", "columns": columns}])
    told = {one["name"]: (one["insert"], [key["insert"] for key in one["keys"]][:2]) for one in table["columns"]}
    assert told == {
        "plain": ("plain", ["'it''s'"]),
        "Two Words": ('"Two Words"', ["1", "-2"]),
        'a"b': ('"a""b"', ["TRUE", "FALSE"]),
        "day": ("day", ["DATE '2026-01-02'"]),
        "none": ("none", []),
        "many": ("many", ["'0'", "'1'"]),
    }
    assert [one["more_keys"] for one in table["columns"]] == [0, 0, 0, 0, 0, 70]
