"""What a question says about its own privacy, in BigQuery's place: read, kept within the policy, and cut in place."""

from __future__ import annotations

import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dither.errors import QuestionError
from dither.query.options import Options, apply_options, read_options
from dither.query.parse import parse
from tests.query.test_parse import POLICY

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
