"""Joins and inner questions that would make rows of nobody, or of several: refused by name, with a rewrite, and for free."""

from __future__ import annotations

import random

import pytest

import dither
from dither.errors import QuestionError
from dither.query.dataset import Dataset
from dither.query.sources.find_source import find_source
from tests.query.owners import TABLES, clinic, policy, table_of

REFUSALS = [
    # what is asked, why it is refused, what would work
    ("visits v JOIN visits u ON v.person = u.person", "every pair of her rows", "own totals"),
    ("visits v JOIN stays s ON v.ward = s.ward", "joined on the person", "v.person = s.patient among"),
    ("visits v LEFT JOIN stays s ON v.ward = s.ward", "so that a row has one owner", "v.person = s.patient among"),
    ("visits v LEFT JOIN stays s ON v.person = s.patient OR v.ward = s.ward", "others by AND", "v.person = s.patient"),
    ("visits v LEFT JOIN visits u ON v.person = u.person", "every pair of her rows", "own totals"),
    ("visits v LEFT JOIN letters l ON v.ward = l.ward", "without a name", "column of the person"),
    ("visits v FULL JOIN notes n ON v.person = n.who", "an integer is compared with a text", "an integer on both sides"),
    ("visits v LEFT JOIN stays s ON v.person = s.nights", "so that a row has one owner", "v.person = s.patient among"),
    ("visits v LEFT JOIN (SELECT ward FROM stays) s ON v.ward = s.ward", "one owner", "the person among the columns"),
    ("visits v LEFT JOIN stays s", "without ON", "ON with the person"),
    ("visits v RIGHT JOIN wards w ON v.ward = w.ward", "RIGHT JOIN makes rows that are nobody's", "INNER JOIN"),
    ("visits v FULL JOIN wards w ON v.ward = w.ward", "FULL JOIN makes rows that are nobody's", "INNER JOIN"),
    ("visits v CROSS JOIN wards w", "every row would meet every other", "ON, or WHERE"),
    ("visits v ANTI JOIN wards w ON v.age > w.floor", "every row of a public table", "an equality of a column"),
    ("visits v ANTI JOIN stays s ON v.ward = s.ward", "because of other people's rows", "v.person = s.patient among"),
    ("visits v SEMI JOIN stays s ON v.cost > s.cost", "because of other people's rows", "v.person = s.patient among"),
    ("letters l SEMI JOIN stays s ON l.ward = s.ward", "rows have no person with a name", "column of the person"),
    ("wards w SEMI JOIN stays s ON w.ward = s.ward", "rows have no person with a name", "column of the person"),
    ("visits v NATURAL JOIN stays s", "NATURAL JOIN", "JOIN with ON"),
    ("visits v ASOF JOIN stays s ON v.person = s.patient", "ASOF JOIN", "JOIN with ON"),
    ("visits v RIGHT JOIN stays s ON v.ward = s.ward", "so that a row has one owner", "s.patient = v.person among"),
    ("visits v FULL OUTER JOIN stays s ON v.cost < s.cost", "so that a row has one owner", "v.person = s.patient among"),
    ("visits v CROSS JOIN stays s", "every row would meet every other", "ON, or WHERE"),
    ("visits v, wards w", "without ON", "ON, or WHERE"),
    ("visits v JOIN wards w ON v.ward < w.ward", "by equalities", "ON <a column of one>"),
    ("visits v JOIN wards w ON v.ward = 'A'", "one table on its left", "ON <a column of one>"),
    ("visits v JOIN wards w ON v.ward = w.floor", "a text is compared with an integer", "a text on both sides"),
    ("visits v JOIN wards w ON v.cost = w.floor", "values of different types are joined", "columns of one type"),
    ("visits v JOIN wards v ON v.ward = v.ward", "two tables are called v", "an alias"),
    ("wards w LEFT JOIN visits v ON v.ward = w.ward", "an owner from the first table on", "the protected table first"),
    ("letters v JOIN wards w ON v.ward = w.ward", "two persons of one", "column of the person"),
    ("letters v JOIN visits u ON v.ward = u.ward", "without a name", "column of the person"),
    ("(SELECT ward, SUM(cost) AS cost FROM visits GROUP BY ward) v", "rows of several people", "person among"),
    ("(SELECT DISTINCT ward, cost FROM visits) v", "rows of several people", "person among"),
    ("(SELECT SUM(cost) AS cost FROM visits) v", "has no owner", "GROUP BY person"),
    ("(SELECT person, cost FROM visits LIMIT 3) v", "because of others'", "another question"),
    ("(SELECT ward, cost FROM visits UNION SELECT ward, cost FROM stays) v", "because of another's", "UNION ALL"),
    ("(SELECT ward, cost FROM visits UNION ALL SELECT cost, ward FROM stays) v", "different columns", "the same columns"),
    ("(SELECT ward, cost FROM visits UNION ALL SELECT ward, cost FROM letters) v", "could be there twice", "names the"),
    ("(SELECT person FROM visits UNION ALL SELECT who FROM notes) v", "of different types", "one kind of person"),
    ("visits v JOIN notes n ON v.person = n.who", "an integer is compared with a text", "an integer on both sides"),
    ("visits v JOIN visits u ON v.person = u.person AND v.ward = u.ward", "a table joined with itself", "own totals"),
    ("visits v JOIN (SELECT person, cost FROM visits) u ON v.person = u.person", "a table joined with itself", "own totals"),
    ("(SELECT cost FROM visits UNION ALL SELECT cost FROM stays LIMIT 3) v", "LIMIT is not answered here", "not need it"),
    ("(SELECT person, cost FROM visits OFFSET 3) v", "OFFSET leaves out some people's rows", "another question"),
    ("(SELECT SUM(cost) OVER (PARTITION BY ward) AS cost FROM visits) v", "other people's", "person in PARTITION BY"),
    ("(SELECT person FROM visits QUALIFY ROW_NUMBER() OVER (ORDER BY cost) < 3) v", "other people's", "in PARTITION BY"),
    ("(SELECT ward, AVG(cost) AS cost FROM visits GROUP BY ward, age) v", "without the person", "person among its columns"),
    ("(SELECT COUNT(*) AS n FROM visits) v", "has no owner", "GROUP BY person"),
    ("(SELECT cost FROM letters UNION ALL SELECT cost FROM letters) v", "could be there twice", "names the column"),
    ("(SELECT DISTINCT person FROM visits GROUP BY person, cost) v", "would merge groups", "every column of GROUP BY"),
    ("(SELECT person, MIN(cost, 3) AS cost FROM visits GROUP BY person) v", "is not answered", "does not need it"),
    ("(SELECT person, SUM(age + 8e37) AS c FROM visits GROUP BY person) v", "too far", "smaller"),
    ("(SELECT person, COUNT(*) AS n FROM visits GROUP BY person, 2) v", "no such column", "with names"),
    ("(SELECT ward, cost FROM visits EXCEPT SELECT ward, cost FROM stays) v", "several joined by UNION ALL", "NOT EXISTS"),
    ("(SELECT ROW_NUMBER() OVER (ORDER BY cost) AS cost FROM visits) v", "other people's", "person in PARTITION BY"),
    ("(SELECT person, SUM(cost) AS cost FROM visits GROUP BY person HAVING SUM(nothing) > 3) v", "no such column", "person"),
    ("(SELECT cost AS a, ward AS a FROM visits) v", "are called a", "another name behind AS"),
    ("(SELECT COUNT(*) AS cost FROM letters GROUP BY ward) v", "nothing to group by person", "without the inner"),
    ("(SELECT cost AS \"whose row it is\u200b\" FROM visits) v", "printable", "another name behind AS"),
    ("(SELECT cost FROM nothing) v", "no table of that name", "one of visits"),
    ("(SELECT cost) v", "a question is about a table", "FROM with one of visits"),
    ("(SELECT cost FROM visits HAVING cost > 3) v", "HAVING needs GROUP BY", "WHERE"),
    ("visits v JOIN (SELECT ward, cost FROM stays) s ON v.ward = s.ward", "joined on the person", "the columns of both"),
]  # fmt: skip


CONDITIONS = [
    ("ward NOT IN (SELECT ward FROM stays)", "because of other people's rows", "visits.person = stays.patient among"),
    ("age IN (SELECT patient FROM stays)", "because of other people's rows", "visits.person = stays.patient among"),
    ("person IN (SELECT nights FROM stays)", "because of other people's rows", "visits.person = stays.patient among"),
    (
        "person IN (SELECT patient FROM stays s WHERE s.cost IN (SELECT cost FROM moves))",
        "other people's rows",
        "moves.mover",
    ),
    ("EXISTS (SELECT 1 FROM stays)", "because of other people's rows", "visits.person = stays.patient among"),
    ("NOT EXISTS (SELECT 1 FROM stays s WHERE s.ward = visits.ward)", "because of other people's rows", "s.patient among"),
    ("EXISTS (SELECT 1 FROM stays WHERE patient = person OR nights > 3)", "joined to others by AND", "stays.patient among"),
    ("EXISTS (SELECT 1 FROM stays WHERE NOT patient <> person)", "joined to others by AND", "stays.patient among"),
    ("EXISTS (SELECT 1 FROM stays WHERE patient + 0 = person)", "joined to others by AND", "stays.patient among"),
    ("EXISTS (SELECT COUNT(*) FROM stays WHERE patient = person)", "has no owner", "GROUP BY patient"),
    ("person IN (SELECT patient FROM stays LIMIT 3)", "because of others'", "another question"),
    ("person IN (SELECT MAX(patient) FROM stays)", "has no owner", "GROUP BY patient"),
    (
        "EXISTS (SELECT 1 FROM letters l WHERE l.ward = visits.ward)",
        "rows have no person with a name",
        "column of the person",
    ),
    ("(person, ward) NOT IN (SELECT patient, ward FROM stays)", "under NOT engines differ", "NOT EXISTS with an equality"),
    ("person IN (SELECT patient, ward FROM stays)", "1 values are compared with 2 columns", "as many on both sides"),
    ("EXISTS (SELECT 1 FROM wards w WHERE w.floor > visits.age)", "every row of a public table", "an equality of a column"),
    (
        "ward IN (SELECT w.ward FROM wards w WHERE EXISTS (SELECT 1 FROM stays s WHERE s.ward = w.ward))",
        "a name",
        "column of",
    ),
    ("ward IN (SELECT ward FROM wards GROUP BY ward)", "it is public", "without others"),
    ("cost - (SELECT AVG(cost) FROM visits) > 5", "compared with values of a row", "one side of a comparison"),
    ("person = ANY (SELECT patient FROM stays)", "ANY with a question", "IN, EXISTS"),
    ("ROW_NUMBER() OVER (ORDER BY cost) < 3", "windows show single rows", "GROUP BY"),
]
NINE = " ".join(f"JOIN wards w{at} ON v.ward = w{at}.ward" for at in range(9))
DOUBLED = ", ".join(f"t{at} AS (SELECT ward FROM t{at - 1} UNION ALL SELECT ward FROM t{at - 1})" for at in range(1, 6))
WHOLE = [
    (f"SELECT COUNT(*) FROM visits v {NINE}", "more than 8 public tables", "fewer"),
    (
        f"WITH t0 AS (SELECT ward FROM visits), {DOUBLED} SELECT COUNT(*) FROM t5",
        "written out, more than 30 tables",
        "fewer",
    ),
    (
        "WITH RECURSIVE a AS (SELECT * FROM visits UNION ALL SELECT * FROM a) SELECT COUNT(*) FROM a",
        "asks itself",
        "without RECURSIVE",
    ),
    ("WITH a AS (SELECT * FROM visits), A AS (SELECT * FROM stays) SELECT COUNT(*) FROM a", "twice", "another name"),
    ("SELECT SUM(cost) OVER (PARTITION BY person) FROM visits", "OVER", "SUM(COUNT(*)) OVER"),
]
ALL = [(f"SELECT COUNT(*) FROM {relation}", why, instead) for relation, why, instead in REFUSALS]
ALL += [(f"SELECT COUNT(*) FROM visits WHERE {condition}", why, instead) for condition, why, instead in CONDITIONS]
ALL += [
    (f"SELECT COUNT(*) FROM (SELECT person, cost FROM visits WHERE {condition}) v", why, instead)
    for condition, why, instead in CONDITIONS
]
ALL += WHOLE


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """The clinic with its rows and a budget, so that a charge would be seen."""
    rules, rng = policy(), random.Random(4)
    ledger = dither.Ledger.create(tmp_path_factory.mktemp("book") / "a.ledger", budget=dither.pure(10))
    ledger.bind(rules.domain, rules.hash)
    data = clinic(rng)
    return Dataset(rules, ledger, {name: find_source(table_of(name, data[name], rng), None, name) for name in TABLES})


@pytest.mark.parametrize(("sql", "why", "instead"), ALL, ids=[sql for sql, _, _ in ALL])
def test_rows_without_one_owner_are_refused(asked, sql, why, instead):
    entries = len(list(asked.ledger.history()))
    with pytest.raises(QuestionError) as caught:
        asked.quote(sql, epsilon=1)
    assert why in caught.value.why
    assert instead in caught.value.instead
    assert asked.ledger.remaining().used == 0
    assert len(list(asked.ledger.history())) == entries


MULTIPLIED = "visits v JOIN wards w ON v.ward = w.ward JOIN wards x ON w.site = x.site JOIN wards y ON x.site = y.site"


def test_rows_that_public_tables_multiply_beyond_measure_are_refused_before_the_charge(asked):
    """One protected row would make 10^6: the time would tell whether it is there. Public tables are counted first."""
    wards = table_of("wards", [("A", 1, "x")] * 100, random.Random(1))
    data = Dataset(asked.policy, asked.ledger, {**asked.sources, "wards": find_source(wards, None, "wards")})
    question = data.quote(f"SELECT COUNT(*) AS n FROM (SELECT v.person FROM {MULTIPLIED}) t", epsilon=1)
    with pytest.raises(QuestionError, match="would become 1000000, and 1000 are the most") as caught:
        question.release()
    assert "fewer rows for each key" in caught.value.instead
    assert asked.ledger.remaining().used == 0


@pytest.mark.parametrize(
    ("repeats", "relation", "becomes"),
    [
        (1001, "visits v JOIN wards w ON v.ward = w.ward", 1001),
        (1001, "visits v WHERE EXISTS (SELECT 1 FROM wards w WHERE w.ward = v.ward AND w.floor < v.age)", 1001),
        (1001, "visits v ANTI JOIN wards w ON v.ward = w.ward AND w.floor < v.age", 1001),
        (11, "visits v LEFT JOIN stays s ON s.patient = v.person JOIN wards w ON v.ward = w.ward", 1100),
        (1001, "(SELECT person, ward FROM visits) v LEFT JOIN wards w ON v.ward = w.ward", 1001),
        (1001, "(SELECT v.person, COUNT(*) AS n FROM visits v JOIN wards w ON v.ward = w.ward GROUP BY v.person) t", 1001),
        (1001, "(SELECT ward FROM stays UNION ALL SELECT v.ward FROM visits v JOIN wards w ON v.ward = w.ward) t", 1001),
        (11, "visits v JOIN stays s ON v.person = s.patient JOIN wards w ON v.ward = w.ward", 1100),
    ],
)
def test_where_rows_are_multiplied_does_not_matter(asked, repeats, relation, becomes):
    wards = table_of("wards", [("A", 1, "x")] * repeats, random.Random(1))
    data = Dataset(asked.policy, asked.ledger, {**asked.sources, "wards": find_source(wards, None, "wards")})
    with pytest.raises(QuestionError, match=f"would become {becomes}, and"):
        data.quote(f"SELECT COUNT(*) AS n FROM {relation}", epsilon=1).release()
    assert asked.ledger.remaining().used == 0


@pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")
def test_rows_that_public_tables_multiply_within_measure_are_answered(asked, tmp_path):
    wards = table_of("wards", [("A", 1, "x")] * 10 + [(None, 2, None)] * 2000, random.Random(1))  # NULL meets nothing
    ledger = dither.Ledger.create(tmp_path / "b.ledger", budget=dither.pure(10))
    ledger.bind(asked.policy.domain, asked.policy.hash)
    data = Dataset(asked.policy, ledger, {**asked.sources, "wards": find_source(wards, None, "wards")})
    both = "SELECT ward FROM visits UNION ALL SELECT v.ward FROM visits v JOIN wards w ON v.ward = w.ward"
    own = "(SELECT person, COUNT(*) AS n FROM visits GROUP BY person) t"
    alone = f"{own} JOIN (SELECT s.patient FROM stays s JOIN wards w ON s.ward = w.ward) s ON t.person = s.patient"
    for relation in (MULTIPLIED, f"({both}) u", alone):
        assert len(data.quote(f"SELECT COUNT(*) AS n FROM {relation}", epsilon=1).release()) == 1
    assert ledger.remaining().used == 0.3


def test_a_public_table_that_cannot_be_read_is_said_before_the_charge(asked, tmp_path):
    file = tmp_path / "wards.csv"
    file.write_text('ward,floor,site\n"A,1,x\n')
    data = Dataset(asked.policy, asked.ledger, {**asked.sources, "wards": find_source(file, tmp_path, "wards")})
    with pytest.raises(dither.errors.DataError, match="cannot be read"):
        data.quote("SELECT COUNT(*) FROM visits v JOIN wards w ON v.ward = w.ward", epsilon=1).release()
    assert asked.ledger.remaining().used == 0
