"""Queries of benchmarks: the verdicts are those recorded, and what is answered is what plain SQL says."""

from __future__ import annotations

import duckdb
import pytest
from benchmarks import clickbench, tpch
from benchmarks.clickbench import hits
from benchmarks.clickbench import verdicts as clicks
from benchmarks.question_files import find, read_questions, recorded
from benchmarks.tpch import small_tables
from benchmarks.tpch import verdicts as orders

import dither
from tests.query.noiseless import BUDGET, differences, released, without_limit

LEAST = {"tpch": 17, "clickbench": 27}  # answered, rewritten or free
SETS = {"tpch": orders, "clickbench": clicks}
assert tpch.__doc__
assert clickbench.__doc__
CASES = [(name, one) for name, module in SETS.items() for one in read_questions(module.QUERIES)]
ANSWERED = ("answered", "rewritten", "free")


@pytest.fixture(scope="module")
def worlds(tmp_path_factory):
    """The tables of each, under a budget that leaves no noise, and plain."""
    folder = tmp_path_factory.mktemp("tables")
    small_tables.make(folder)
    engine = duckdb.connect()
    for name in orders.COLUMNS:
        engine.execute(f"CREATE VIEW {name} AS FROM '{folder / name}.parquet'")
    engine.register("hits", hits.make_hits())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DITHER_HOME", str(folder / "home"))
        data = {"tpch": orders.protected(folder, folder, BUDGET), "clickbench": clicks.protected(folder, BUDGET)}
        yield data, engine
    engine.close()


@pytest.mark.parametrize("name", SETS)
def test_enough_is_answered(name):
    found = recorded(SETS[name].RECORD)
    assert list(found) == [one.name for one in read_questions(SETS[name].QUERIES)]
    assert sum(one.verdict in ANSWERED for one in found.values()) >= LEAST[name]


@pytest.mark.parametrize(("name", "question"), CASES, ids=[f"{name} {one.name}" for name, one in CASES])
def test_each_is_as_recorded(worlds, name, question):
    (data, engine), known = worlds, recorded(SETS[name].RECORD)[question.name]
    before = len(list(data[name].ledger.history()))
    assert find(question, lambda sql: data[name].quote(sql, epsilon=10**6)) == known
    assert len(list(data[name].ledger.history())) == before  # a quote, or a refusal, charges nothing
    if known.verdict == "empty":
        assert len(released(data[name], question.sql)) == 0
        assert question.empty
    if known.verdict not in ANSWERED:
        return
    sql = question.rewrite if known.verdict == "rewritten" else question.sql
    if question.rewrite is not None:  # the same rows as the query itself, without dither
        texts = [without_limit(text) for text in (question.rewrite, question.sql)]
        texts = texts if len(engine.execute(texts[1]).fetchall()) > 1 else [question.rewrite, question.sql]
        first, second = (sorted(engine.execute(text).fetchall()) for text in texts)
        assert first == second
    if not question.uncompared:
        assert differences(data[name], engine, sql, question.sql, float(question.within or 0.6)) == []


def test_no_answer_of_tpch_is_of_nothing(worlds):
    """So that rewrites are compared on rows; the largest orders are all below 300 pieces here."""
    _, engine = worlds
    found = {one.name: len(engine.execute(one.sql).fetchall()) for one in read_questions(orders.QUERIES)}
    assert [name for name, rows in found.items() if not rows] == ["Q18"]


def test_a_record_that_is_wrong_is_noticed():
    (first, *_) = read_questions(orders.QUERIES)
    assert find(first, lambda sql: _refuse()).verdict == "refused"


def _refuse():
    raise dither.errors.QuestionError("question", "x", "why", "instead")
