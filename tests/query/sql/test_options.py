"""What a question says about its own privacy, in BigQuery's place: read, kept within the policy, and cut in place."""

from __future__ import annotations

import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import dither
from dither.errors import BudgetError, NumberError, QuestionError
from dither.query.sql.options import Options, apply_options, read_options
from dither.query.sql.parse import parse
from tests.query.clinics import clinic
from tests.query.sql.test_parse import POLICY

pytestmark = pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")

HEAD = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS({}) COUNT(*) AS n FROM visits"


def test_read():
    for clause, expected in [
        ("", Options()),
        ("epsilon=1", Options("1")),
        ("epsilon = 1.5, delta = 1e-7", Options("1.5", "1e-7")),
        ("EPSILON=.5,Delta=0", Options(".5", "0")),
        ("max_groups_contributed = 2", Options(max_groups_contributed=2)),
        ("privacy_unit_column=person,", Options(privacy_unit_column="person")),
        ('privacy_unit_column="a b"', Options(privacy_unit_column="a b")),
        ("/* mine */ epsilon -- twice\n = 1", Options("1")),
    ]:
        assert read_options(HEAD.format(clause))[1] == expected, clause
    assert read_options("SELECT WITH DIFFERENTIAL_PRIVACY COUNT(*) FROM visits")[1] == Options()
    assert read_options(
        "WITH a AS (SELECT age FROM visits) select with differential_privacy options(epsilon=2) COUNT(*) FROM a"
    )[1] == Options("2")


@pytest.mark.parametrize("text", ["", "SELECT COUNT(*) FROM visits", None, 3, b"differential_privacy", "x" * 30_000])
def test_other_questions_pass_by(text):
    assert read_options(text) == (text, Options())


def test_the_words_in_a_text_or_a_name_are_no_clause():
    for sql in [
        "SELECT COUNT(*) FROM visits WHERE name = 'SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1)'",
        'SELECT COUNT(*) AS "differential_privacy" FROM visits',
        "SELECT 'with' 'differential_privacy' FROM visits",
        "SELECT COUNT(*) FROM visits -- SELECT WITH DIFFERENTIAL_PRIVACY",
        "SELECT COUNT(*) FROM visits WHERE name = 'contribution_bounds_per_group => (0, 1)'",
    ]:
        assert read_options(sql) == (sql, Options())


def test_places_stay():
    """Everything but the clause is where it was, so that refusals name the right place."""
    rng = random.Random(3)
    for _ in range(200):
        before = rng.choice(["", "-- ä🎲\n", "/* x */ ", "\n\n  "])
        parts = rng.sample(["epsilon = 1", "delta\n= 0", "max_groups_contributed=1", "/* 🎲 */ privacy_unit_column = p"], 2)
        clause = f"WITH{rng.choice([' ', chr(10)])}DIFFERENTIAL_PRIVACY OPTIONS ({', '.join(parts)})"
        after = " COUNT(*) AS n FROM visits WHERE name = 'ä' AND nothing = 1"
        text = f"{before}SELECT {clause}{after}"
        cut, _ = read_options(text)
        assert len(cut) == len(text)
        assert [len(line) for line in cut.split("\n")] == [len(line) for line in text.split("\n")]
        assert cut.startswith(f"{before}SELECT ")
        assert cut.endswith(after)
        assert not cut[len(before) + 7 : len(text) - len(after)].strip()
        with pytest.raises(QuestionError) as caught:
            parse(cut, POLICY)
        lines = text.split("\n")
        assert caught.value.where == f"line {len(lines)}, column {lines[-1].index('nothing') + 1}"


REFUSED = [
    (HEAD.format("noise=1"), "no such option", "line 1, column 42"),
    (HEAD.format("epsilon=1, epsilon=2"), "twice", "line 1, column 53"),
    (HEAD.format("epsilon"), "a name, =", "line 1, column 42"),
    (HEAD.format("epsilon=1 2"), "epsilon is a number", "line 1, column 50"),
    (HEAD.format("epsilon=-1"), "epsilon is a number", "line 1, column 50"),
    (HEAD.format("epsilon='1'"), "epsilon is a number", "line 1"),
    (HEAD.format("epsilon=inf"), "epsilon is a number", "line 1"),
    (HEAD.format("epsilon=nan"), "epsilon is a number", "line 1"),
    (HEAD.format("epsilon=(1)"), "a name, =", "line 1"),
    (HEAD.format("epsilon=1e999999999"), "", "line 1"),
    (HEAD.format("delta=1"), "below 1", "line 1"),
    (HEAD.format("max_groups_contributed=NULL"), "NULL is no limit", "line 1"),
    (HEAD.format("max_groups_contributed=0"), "whole number", "line 1"),
    (HEAD.format("max_groups_contributed=1.5"), "whole number", "line 1"),
    (HEAD.format("max_groups_contributed=99999999999"), "whole number", "line 1"),
    (HEAD.format("privacy_unit_column=3"), "one column", "line 1"),
    (HEAD.format("privacy_unit_column=a.b"), "one column", "line 1"),
    ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1", "a name, =", "line 1"),
    ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1,", "no end", "line 1, column 8"),
    ("SELECT COUNT(*) FROM (SELECT WITH DIFFERENTIAL_PRIVACY age FROM visits) t", "outermost", "line 1, column 30"),
    (HEAD.format("") + " UNION ALL " + HEAD.format(""), "outermost", "line 1"),
    ("SELECT AVG(age, contribution_bounds_per_group => (0, 10)) FROM visits", "the policy's", "line 1, column 17"),
    ("SELECT SUM(age,\n contribution_bounds_per_row=>(0, 1)) FROM visits", "the policy's", "line 2, column 2"),
]


@pytest.mark.parametrize(("sql", "why", "where"), REFUSED, ids=[sql[33:70] for sql, _, _ in REFUSED])
def test_refusals(sql, why, where):
    with pytest.raises(QuestionError) as caught:
        read_options(sql)
    assert why in caught.value.why
    assert caught.value.where.startswith(where)
    assert caught.value.instead


SIGNS = ["SELECT ", "WITH ", "DIFFERENTIAL_PRIVACY ", "OPTIONS", "(", ")", ",", "=", "epsilon", "1"]
SIGNS += ["é", "'", '"', "--", "\n", "=>"]


@given(st.lists(st.sampled_from(SIGNS), max_size=25).map("".join))
@example("SELECT WITH DIFFERENTIAL_PRIVACY")
@example("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS")
@example("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(")
@example("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(,)")
@example("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1))")
def test_any_text_is_read_or_refused(text):
    try:
        cut, options = read_options(text)
    except QuestionError:
        return
    assert len(cut) == len(text)
    assert cut == text or isinstance(options, Options)


def test_the_policy_is_tightened_and_never_loosened():
    for most in (1, 2, 3, 9):
        tight = apply_options(Options(max_groups_contributed=most), POLICY)
        assert [table.max_groups for table in tight.tables] == [min(most, 3), 1]
        assert [table.columns for table in tight.tables] == [table.columns for table in POLICY.tables]
    assert apply_options(Options("1", "0", None, "patient_id"), POLICY) is POLICY


# -- from question to price ----------------------------------------------------------------------------------------------

PLAIN = "SELECT COUNT(*) AS n FROM visits"
DELTA = dither.approx(100, "1e-6")


def test_the_price_may_stand_in_the_question(tmp_path):
    data = clinic(tmp_path)
    for stated in ("0.5", ".5", "5e-1"):
        for beside in ({}, {"epsilon": "0.5"}, {"epsilon": "1/2"}):
            quote = data.quote(HEAD.format(f"epsilon={stated}"), **beside)
            assert quote.question == data.quote(PLAIN, epsilon="0.5").question
            assert quote.guarantee == data.quote(PLAIN, epsilon="0.5").guarantee
    assert data.quote(HEAD.format("epsilon=0.5, delta=0")).guarantee == data.quote(PLAIN, epsilon="0.5").guarantee
    assert (
        data.quote(HEAD.format("privacy_unit_column = Person"), epsilon=1).question == data.quote(PLAIN, epsilon=1).question
    )


def test_delta_may_be_tightened(tmp_path):
    data = clinic(tmp_path, budget=DELTA)
    same = data.quote(HEAD.format("epsilon=1, delta=1e-6"))
    assert same.guarantee == data.quote(PLAIN, epsilon=1).guarantee
    for clause, beside in [("epsilon=1, delta=1e-9", {}), ("delta=1e-9", {"epsilon": 1})]:
        tight = data.quote(HEAD.format(clause), **beside)
        assert tight.guarantee == data.quote(PLAIN, guarantee=dither.approx(1, "1e-9")).guarantee
        assert tight.errors["n"] > same.errors["n"]
        assert tight.epsilon("1e-9") <= 1
    pure = data.quote(HEAD.format("epsilon=1, delta=0"))
    assert pure.guarantee == data.quote(PLAIN, guarantee=dither.pure(1)).guarantee


def test_groups_may_be_tightened(tmp_path):
    data = clinic(tmp_path)
    sql = "SELECT {} ward, COUNT(*) AS n FROM visits GROUP BY ward"
    quotes = [data.quote(sql.format(""), epsilon=1, bounding="groups")]
    for most in (3, 2, 1):
        clause = f"WITH DIFFERENTIAL_PRIVACY OPTIONS(max_groups_contributed={most})"
        quotes.append(data.quote(sql.format(clause), epsilon=1, bounding="groups"))
    assert [quote.offer.bounding.groups for quote in quotes] == [3, 3, 2, 1]
    errors = [quote.errors["n"] for quote in quotes]
    assert errors[0] == errors[1] > errors[2] > errors[3]
    assert quotes[0].question == quotes[1].question
    assert len({str(quote.question) for quote in quotes}) == 3
    with dither.testing.seeded(1):
        assert quotes[3].release()["ward"] == ["A", "B", "C"]  # the ledger keeps to the policy that it knows


def test_own_totals_under_other_limits_are_another_question(tmp_path):
    """A person's own sum is clamped by the limits, also where nothing else of a question shows them."""
    data = clinic(tmp_path)
    sql = "SELECT {} COUNT(own) AS n FROM (SELECT person, COUNT(*) AS own FROM visits GROUP BY person) t"
    clause = "WITH DIFFERENTIAL_PRIVACY OPTIONS(max_groups_contributed=1)"
    one, other = (data.quote(sql.format(part), epsilon=1) for part in ("", clause))
    assert one.question != other.question
    assert other.question["max_groups"] == {"visits": 1}


CONTRADICTIONS = [
    ("epsilon=1", {"epsilon": 2}, NumberError, "exactly one way"),
    ("epsilon=1", {"rho": 2}, NumberError, "exactly one way"),
    ("epsilon=1", {"error": {"n": 10}}, NumberError, "exactly one way"),
    ("epsilon=1", {"guarantee": dither.pure(1)}, NumberError, "exactly one way"),
    ("epsilon=0", {}, NumberError, "epsilon"),
    ("delta=0", {}, NumberError, "exactly one way"),
    ("delta=1e-9", {"epsilon": 1}, NumberError, "it has no delta"),
    ("epsilon=11", {}, BudgetError, "is refused"),
    ("max_groups_contributed=4", {"epsilon": 1}, QuestionError, "at most 3 groups"),
    ("privacy_unit_column=ward", {"epsilon": 1}, QuestionError, "whose a row is: person"),
    ("noise=3", {"epsilon": 1}, QuestionError, "no such option"),
    ("", {}, NumberError, "exactly one way"),
]


@pytest.mark.parametrize(("clause", "beside", "kind", "why"), CONTRADICTIONS, ids=range(len(CONTRADICTIONS)))
def test_options_loosen_nothing(tmp_path, clause, beside, kind, why):
    data = clinic(tmp_path, per_question=dither.pure(10))
    before = str(data.ledger.remaining())
    with pytest.raises(kind, match=why):
        data.quote(HEAD.format(clause), **beside)
    assert str(data.ledger.remaining()) == before


def test_a_delta_beyond_the_budget(tmp_path):
    data = clinic(tmp_path, budget=DELTA)
    with pytest.raises(NumberError, match="may only tighten"):
        data.quote(HEAD.format("epsilon=1, delta=1e-5"))


def test_where_each_row_is_a_person(tmp_path):
    data = clinic(tmp_path, person="each row", max_groups=None, max_rows_per_group=None)
    assert data.quote(HEAD.format("max_groups_contributed=1, epsilon=1")).question == data.quote(PLAIN, epsilon=1).question
    for clause in ("max_groups_contributed=2", "privacy_unit_column=person"):
        with pytest.raises(QuestionError):
            data.quote(HEAD.format(clause), epsilon=1)


def test_refusals_behind_the_clause_name_their_place(tmp_path):
    sql = "SELECT WITH DIFFERENTIAL_PRIVACY\n OPTIONS(epsilon=1)\n  nothing, COUNT(*) FROM visits GROUP BY 1"
    with pytest.raises(QuestionError) as caught:
        clinic(tmp_path).quote(sql)
    assert caught.value.where == "line 3, column 3"
