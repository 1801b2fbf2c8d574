"""Which facts from the data a question uses: named one by one, and none left out, by changing each fact and asking again."""

from __future__ import annotations

import copy
import re
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import dither
from dither.errors import DitherError
from dither.query.counts import TablePlaces
from dither.query.dataset import Dataset
from dither.query.engines.key_lists import KeyLists
from dither.query.engines.templates.relations import rows_of
from dither.query.policy.policy import Policy, read_policy
from dither.query.pricing.fingerprint import question
from dither.query.pricing.make_offer import read_question
from dither.query.pricing.unprotected_facts import MOST_TOLD, unprotected_facts, unprotected_words
from dither.query.quote import Quote
from dither.query.release import Release
from tests.golden.clinic import save
from tests.golden.questions import QUESTIONS
from tests.query.chain_shop import policy as shop_policy
from tests.query.clinics import clinic, ledger
from tests.seeds import examples, of_the_day

ORIGINS = {"ward": "data", "cost": "data", "age": "law", "sex": "data"}
SUMMED = "bounds, step and completeness of cost"
BOTH = f"keys of ward, and {SUMMED}"
OWN = "(SELECT person, {} FROM visits GROUP BY person)"
USES = {
    "SELECT COUNT(*) AS n FROM visits": "",
    "SELECT COUNT(*) AS n FROM visits WHERE cost > 3 AND ward = 'A' AND sex IS NOT NULL": "",
    "SELECT COUNT(DISTINCT person) AS n FROM visits WHERE ward LIKE 'A%'": "",
    "SELECT SUM(age) AS s, AVG(age) AS a FROM visits": "",
    "SELECT SUM(cost) AS s FROM visits": SUMMED,
    "SELECT SUM(age + 2 * cost) AS s FROM visits": SUMMED,
    "SELECT AVG(CASE WHEN ward = 'A' THEN cost END) AS s FROM visits": SUMMED,
    "SELECT SUM(CASE WHEN cost > 7 THEN age ELSE 0 END) AS s FROM visits": "",
    "SELECT MEDIAN(cost) AS m FROM visits": SUMMED,
    "SELECT STDDEV(cost) AS m FROM visits": SUMMED,
    "SELECT CORR(age, cost) AS c, CORR(cost, age) AS d FROM visits": SUMMED,
    "SELECT CORR(cost, age) AS c FROM visits": SUMMED,
    "SELECT COUNT(cost) AS n FROM visits": "completeness of cost",
    "SELECT COUNT(DISTINCT ward) AS n FROM visits": "keys of ward",
    "SELECT MODE(ward) AS n FROM visits": "keys of ward",
    "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward": "keys of ward",
    "SELECT ward, SUM(cost) AS n FROM visits GROUP BY ward": BOTH,
    "SELECT UPPER(ward) AS w, COUNT(*) AS n FROM visits GROUP BY w": "keys of ward",
    "SELECT FLOOR(cost / 100) AS w, COUNT(*) AS n FROM visits GROUP BY w": "bounds and completeness of cost",
    "SELECT cost > 10 AS w, COUNT(*) AS n FROM visits GROUP BY w": "completeness of cost",
    "SELECT age AS w, COUNT(*) AS n FROM visits GROUP BY w": "",
    "SELECT COUNT(*) AS n FROM visits WHERE cost % 2 = 0": "bounds and step of cost",
    "SELECT SUM(age) AS n FROM (SELECT * FROM visits) v": "",
    "WITH v AS (SELECT *, cost * 2 AS twice FROM visits) SELECT AVG(age) AS n FROM v WHERE twice > 3": "",
    "WITH v AS (SELECT *, cost * 2 AS twice FROM visits) SELECT AVG(twice) AS n FROM v": SUMMED,
    "WITH v AS (SELECT ward AS w FROM visits) SELECT w, COUNT(*) AS n FROM v GROUP BY w": "keys of ward",
    f"SELECT COUNT(*) AS n FROM {OWN.format('SUM(cost) AS c')} q": "",
    f"SELECT COUNT(*) AS n FROM {OWN.format('SUM(cost) AS c')} q WHERE c > 100": SUMMED,
    f"SELECT COUNT(*) AS n FROM {OWN.format('MAX(cost) AS c')} q WHERE c > 100": "",
    f"SELECT AVG(c) AS n FROM {OWN.format('MAX(cost) AS c')} q": SUMMED,
    f"SELECT AVG(c) AS n FROM {OWN.format('COUNT(cost) AS c')} q": "",
    f"SELECT SUM(age) AS n FROM visits v JOIN {OWN.format('SUM(cost) AS c')} q ON v.person = q.person WHERE c > 1": SUMMED,
    f"SELECT SUM(c) AS n FROM visits v JOIN {OWN.format('MIN(cost) AS c')} q ON v.person = q.person": SUMMED,
    f"SELECT SUM(c) AS n FROM visits v LEFT JOIN {OWN.format('MIN(cost) AS c')} q ON v.person = q.person": SUMMED,
    "SELECT COUNT(*) AS n FROM visits WHERE person IN (SELECT person FROM visits WHERE cost > 3)": "",
    "SELECT AVG(b) AS n FROM (SELECT cost - LAG(cost) OVER (PARTITION BY person ORDER BY day) AS b FROM visits) q": SUMMED,
    "SELECT COUNT(*) AS n FROM (SELECT SUM(cost) OVER (PARTITION BY person) AS b FROM visits) q WHERE b > 3": SUMMED,
    "SELECT SUM(x) AS n FROM (SELECT age AS x FROM visits UNION ALL SELECT cost AS x FROM visits) q": SUMMED,
    "SELECT COUNT(*) AS n FROM (SELECT age AS x FROM visits UNION ALL SELECT cost AS x FROM visits) q WHERE x > 3": "",
    "SELECT COUNT(*) AS n FROM visits WHERE age > (SELECT AVG(cost) FROM visits)": SUMMED,
    "SELECT ward, AVG(age) AS n FROM visits WHERE age > (SELECT AVG(cost) FROM visits) GROUP BY ward": BOTH,
}  # fmt: skip
OUTSIDE = " were taken from the data: outside the guarantee"


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    budget = dither.approx(1000, "1e-6")
    return clinic(tmp_path_factory.mktemp("uses"), budget=budget, known_from=ORIGINS, values_from_data="accepted")


@pytest.mark.parametrize("sql", USES)
def test_the_facts_that_a_question_uses_are_told(data, sql):
    assert data.quote(sql, epsilon=1).unprotected == (USES[sql] and USES[sql] + OUTSIDE)


def test_limits_of_a_table_are_told_with_every_question_about_it(tmp_path):
    data = clinic(tmp_path, limits_known_from="data", values_from_data="accepted")
    assert data.quote("SELECT COUNT(*) AS n FROM visits", epsilon=1).unprotected == "limits of visits" + OUTSIDE
    (tmp_path / "rows").mkdir()
    rows = clinic(tmp_path / "rows", person="each row", max_groups=None, max_rows_per_group=None, hard=["bounds.cost"],
                  limits_known_from="data", values_from_data="accepted")  # fmt: skip
    assert rows.quote("SELECT SUM(cost) AS n FROM visits", epsilon=1).unprotected == "hard limits of visits" + OUTSIDE
    assert rows.quote("SELECT * FROM visits LIMIT 0").unprotected == ""


def test_keys_that_follow_from_bounds_are_those_of_the_bounds(tmp_path):
    """A whole number within bounds has keys; where keys are listed, bounds do not matter."""
    facts = {"known_from": {"age": "data"}, "values_from_data": "accepted", "complete": ["person"]}
    sql = "SELECT age, COUNT(*) AS n FROM visits GROUP BY age"
    assert clinic(tmp_path, **facts).quote(sql, epsilon=1).unprotected == "bounds of age" + OUTSIDE
    assert clinic(tmp_path, **facts).quote("SELECT DISTINCT age FROM visits").unprotected == "bounds of age" + OUTSIDE
    listed = clinic(tmp_path, keys={"age": [20, 23]}, **facts)
    assert listed.quote(sql, epsilon=1).unprotected == "keys of age" + OUTSIDE
    budget = dither.approx(1000, "1e-6")
    found = clinic(tmp_path, budget=budget, keys={}, known_from={"cost": "data"}, values_from_data="accepted")
    assert found.quote("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", epsilon=1).unprotected == ""


def test_found_bounds_are_no_fact_and_the_step_is(tmp_path):
    def asked(bounds: object) -> dither.Dataset:
        facts = {"bounds": {"cost": bounds}, "known_from": {"cost": "data"}, "complete": ["person"]}
        return clinic(tmp_path, budget=dither.approx(1000, "1e-6"), values_from_data="accepted", **facts)

    sql = "SELECT SUM(cost) AS s FROM visits"
    quote = asked("auto").quote(sql, epsilon=1)
    assert quote.unprotected == "step of cost" + OUTSIDE
    assert quote.release().unprotected == quote.unprotected
    assert asked((0, "auto")).quote(sql, epsilon=1).unprotected == "bounds and step of cost" + OUTSIDE
    searched = asked((0, 400)).quote(sql, epsilon=1, bounds="auto")
    assert searched.unprotected == "bounds and step of cost" + OUTSIDE  # they are found within those


def test_tables_along_a_chain_are_told_apart(tmp_path):
    plain = shop_policy()
    tables = [replaced(table, known_from="data") if table.name in ("orders", "lines") else table for table in plain.tables]
    data = Dataset(replaced(plain, tables=tuple(tables)), ledger(tmp_path), {})
    sql = "SELECT SUM(lines.cost) AS s FROM lines JOIN orders ON lines.oid = orders.oid"
    alone = "bounds and step of lines.cost, limits of orders, and limits of lines" + OUTSIDE
    assert sorted(re.split(r", (?:and )?", told(data, sql))) == sorted(re.split(r", (?:and )?", alone))
    both = sql.replace("SUM(lines.cost)", "SUM(lines.cost + orders.cost)")
    assert "bounds and step of orders.cost" in told(data, both)
    assert "orders.cost" not in told(data, sql)
    assert "orders" not in told(data, "SELECT COUNT(*) AS n FROM buyers")


def told(data: Dataset, sql: str) -> str:
    """What a question uses, without a quote: the shop has no rows here."""
    return unprotected_words(unprotected_facts(read_question(sql, data.policy)[0], data.policy))


def replaced(value: Any, **facts: Any) -> Any:
    """With other facts; of tables, with the origin of their numbers too."""
    if "columns" in value.__dataclass_fields__:
        facts["columns"] = tuple(replace(one, known_from="data") if one.facts else one for one in value.columns)
    return replace(value, **facts)


def test_long_lists_end():
    words = unprotected_words([("bounds", f"c{place}") for place in range(MOST_TOLD + 5)])
    assert words.endswith("c29 and 5 more" + OUTSIDE)
    assert unprotected_words([]) == ""


# -- none is left out ----------------------------------------------------------------------------------------------------

FACTS = [  # of the golden clinic: what is told, and the policy with another value of it
    ("keys", "ward", ("columns.ward.keys", ["A", "B", "C", "D", "E"])),
    ("keys", "new", ("columns.new.keys", [True])),
    ("bounds", "age", ("columns.age.bounds", [0, 90])),
    ("bounds", "cost", ("columns.cost.bounds", [0, 3000])),
    ("bounds", "share", ("columns.share.bounds", [-2, 1])),
    ("step", "cost", ("columns.cost.step", "0.1")),
    ("completeness", "new", ("columns.new.nullable", True)),
    ("limits", "visits", ("max_groups", 3)),
    ("bounds", "nights", ("columns.nights.bounds", [0, 40])),
    ("keys", "floor", ("columns.floor.keys", [0, 1, 2, 3, 4])),
    ("bounds", "floor", ("columns.floor.bounds", [0, 8])),
    ("completeness", "nights", ("columns.nights.nullable", True)),
    ("limits", "stays", ("max_rows_per_group", 4)),
]


def stated_policy(folder: Path) -> dict[str, Any]:
    facts = tomllib.loads((folder / "policy.toml").read_text())
    return {name: part for name, part in facts.items() if name != "ledger"}


def states_facts(column: dict[str, Any]) -> bool:
    """Whether a column states something that could come from the data."""
    return bool(column.keys() & {"keys", "nullable"}) or column.get("bounds", "auto") != "auto"


def changed(stated: dict[str, Any], of: str, place: str, value: Any) -> Policy:
    facts = copy.deepcopy(stated)
    *way, last = place.split(".")
    table = next(part for name, part in facts["tables"].items() if name == of)
    for name in way:
        table = table[name]
    table[last] = value
    return read_policy(facts)


def signature(quote: Quote, data: Dataset) -> tuple[Any, ...]:
    """All that decides an answer: the question, its noise and errors, its words, and what is selected."""
    offer = quote.offer
    tables = {table.name: table for one in (offer, *offer.inner) for table in one.question.relation.tables}
    words = data.engine.words
    texts = dict.fromkeys(tables, frozenset())
    place = TablePlaces(words, {name: rows_of(words, name) for name in tables}, texts, lists=KeyLists())
    selects = Release(data, (offer,), offer.guarantee, question(offer))._selects(place)
    lines = [line for line in quote.explain().splitlines() if not line.startswith("Outside")]
    return quote.question, quote.errors, lines, selects


def test_a_fact_that_is_not_told_decides_nothing(tmp_path):
    """Every fact gets another value: a question that is not the same after it had told the fact."""
    base = save(tmp_path / "rho", "rho")
    stated = stated_policy(tmp_path / "rho")
    columns = {name: part for name, part in stated["tables"].items() if not part.get("public")}
    marked = {**stated, "values_from_data": "accepted"}
    for name, part in columns.items():
        own = {
            column: {**facts, "known_from": "data"} if states_facts(facts) else facts
            for column, facts in part["columns"].items()
        }
        marked["tables"] = {**marked["tables"], name: {**part, "known_from": "data", "columns": own}}
    data = Dataset(read_policy(marked), base.ledger, base.sources)
    rng = of_the_day("unprotected facts")
    moved = 0
    for name in rng.sample(sorted(QUESTIONS), examples(12, len(QUESTIONS))):
        try:
            quote = data.quote(QUESTIONS[name], epsilon="0.5")
            before, facts = signature(quote, data), set(quote.offer.outside)
        except DitherError:
            continue
        for fact, of, (place, value) in FACTS:
            if (fact, of) in facts:
                continue
            table = "stays" if of in ("nights", "floor", "stays") else "visits"
            other = Dataset(changed(stated, table, place, value), base.ledger, base.sources)
            assert signature(other.quote(QUESTIONS[name], epsilon="0.5"), other) == before, (name, fact, of)
            moved += 1
    assert moved > 0
    base.ledger.close()
