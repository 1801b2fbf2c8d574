"""COUNT(DISTINCT CASE WHEN c THEN person END): people who have a row that meets a condition."""

from __future__ import annotations

import pytest

import dither
from dither.errors import QuestionError
from dither.query.groups.shown_key_counts import ShownKeyCounts
from dither.query.plan.aggregates import CountDistinctValues, CountPersons
from dither.query.plan.expressions import Logic
from dither.query.sql.parse import parse
from dither.query.statistics.bounding import KeepPersons
from tests.query.clinics import clinic, visits
from tests.query.neighbours import policy
from tests.query.statistics.test_distinct_keys import table
from tests.seeds import rounds

OLD = "COUNT(DISTINCT CASE WHEN age >= 50 THEN person END) AS old"
LOUD = {"epsilon": 10**6}


def test_people_are_counted_once_who_have_a_row_that_meets_the_condition(tmp_path):
    rows = [
        (1, "A", "f", 1.0, 60),
        (1, "A", "f", 9.0, 20),
        (2, "A", "f", 9.0, 20),
        (3, "B", "m", 9.0, None),
        (None, "A", "f", 9.0, 70),
    ]
    data = clinic(tmp_path, table(rows), max_rows_per_group=5)
    dear = "COUNT(DISTINCT CASE WHEN cost > 5 THEN person ELSE NULL END) AS dear"
    asked = f"SELECT {OLD}, COUNT(DISTINCT person) AS n, {dear} FROM visits"
    answer = data.quote(asked, **LOUD).release()
    assert [answer[name] for name in ("old", "n", "dear")] == [[1], [3], [3]]
    grouped = data.quote(f"SELECT ward, {OLD}, COUNT(*) AS n FROM visits GROUP BY ward", **LOUD).release()
    assert (grouped["old"], grouped["n"]) == ([1, 0, 0], [3, 1, 0])


@pytest.mark.parametrize("person", ["person", "each row"])
def test_it_is_what_python_counts(tmp_path, person):
    for rng in rounds(4, 2, "people with", person):
        rows = [
            (rng.randrange(6), rng.choice("ABD"), rng.choice("fm"), rng.choice([1.0, 7.0]), rng.choice([None, 9, 60]))
            for _ in range(25)
        ]
        limits = {} if person == "person" else {"max_groups": None, "max_rows_per_group": None}
        data = clinic(tmp_path, table(rows), person=person, **limits)
        asked = OLD if person == "person" else OLD.replace("DISTINCT ", "")
        sql = f"SELECT sex, {asked} FROM visits GROUP BY sex"
        found = data.quote(sql, **LOUD).release()
        for sex, old in zip(found["sex"], found["old"], strict=True):
            met = [row for row in rows if row[2] == sex and row[4] is not None and row[4] >= 50]
            assert old == (len({row[0] for row in met}) if person == "person" else len(met))


def test_several_conditions_are_one_pass_and_each_has_its_price(tmp_path):
    """A funnel: who came, who paid, who paid much; all of one SELECT, each moved by one at most."""
    data = clinic(tmp_path, budget=dither.pure(10))
    steps = ", ".join(f"COUNT(DISTINCT CASE WHEN cost > {at} THEN person END) AS s{at}" for at in (0, 50, 100))
    quote = data.quote(f"SELECT {steps}, COUNT(DISTINCT person) AS n FROM visits", epsilon=2)
    assert [str(one.guarantee.charge().epsilon) for one in quote.offer.statistics] == ["0.5"] * 4
    assert {one.mechanism.sensitivity for one in quote.offer.statistics} == {1}
    assert {type(one.bounding) for one in quote.offer.statistics} == {KeepPersons}
    assert set(quote.release().statements.values()) == {"truth"}
    assert "how many people have a row with cost > 50" in quote.describe()
    by_ward = data.quote(f"SELECT ward, {OLD} FROM visits GROUP BY ward", epsilon=1)
    assert by_ward.offer.statistics[0].mechanism.sensitivity == 3
    assert (
        by_ward.question
        != data.quote("SELECT ward, COUNT(DISTINCT person) AS n FROM visits GROUP BY ward", epsilon=1).question
    )


def test_unknown_keys_do_not_answer_it_by_the_number_of_all_people(tmp_path):
    """The release of keys counts everybody: taken for those who meet the condition, it would be wrong."""
    data = clinic(tmp_path, visits(600), keys={"sex": ["f", "m"]}, budget=dither.approx(10**6, "1e-3"))
    sql = "SELECT ward, COUNT(DISTINCT {}) AS n FROM visits GROUP BY ward"
    everybody = data.quote(sql.format("person"), epsilon=2000)
    assert isinstance(everybody.offer.statistics[0], ShownKeyCounts)
    some = data.quote(sql.format("CASE WHEN sex = 'f' THEN person END"), epsilon=2000)
    assert not isinstance(some.offer.statistics[0], ShownKeyCounts)
    assert (everybody.release()["n"], some.release()["n"]) == ([20, 20], [10, 10])


def test_which_cases_are_people():
    stated = policy(2, 5)

    def read(inner):
        return parse(f"SELECT COUNT(DISTINCT {inner}) AS n FROM visits", stated).aggregates[0]

    both = read("CASE WHEN age > 3 THEN person WHEN cost > 3 THEN person END")
    assert isinstance(both, CountPersons)
    assert isinstance(both.of, Logic)
    assert not both.of.every
    assert read("CASE WHEN age > 3 THEN person END") == read("CASE WHEN age > 3 THEN person ELSE NULL END")
    for inner in ("CASE WHEN age > 3 THEN person ELSE 7 END", "CASE WHEN age > 3 THEN age END"):
        assert isinstance(read(inner), CountDistinctValues)
    with pytest.raises(QuestionError, match="different types"):
        read("CASE WHEN age > 3 THEN person ELSE 'nobody' END")
