"""Analysts' questions: the verdicts are those recorded, and what is answered is what plain SQL says."""

from __future__ import annotations

import pytest
from benchmarks.question_files import find, recorded

from tests.query.corpus.record import RECORD, questions, world_of
from tests.query.corpus.tables import datasets, plain
from tests.query.noiseless import BUDGET, differences, released

LEAST = 196  # answered, rewritten or free
ANSWERED = ("answered", "rewritten", "free")
CASES = {f"{section}/{one.name}": one for section, several in questions().items() for one in several}


@pytest.fixture(scope="module")
def worlds(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("corpus")
        patch.setenv("DITHER_HOME", str(folder / "home"))
        yield datasets(folder, BUDGET), plain()


def test_enough_is_answered():
    found = recorded(RECORD)
    assert list(found) == list(CASES)
    assert len(found) >= 150
    assert sum(one.verdict in ANSWERED for one in found.values()) >= LEAST


def test_each_refusal_leads_on():
    """By a rewrite that is answered, or it is said why there is none; others are gaps, counted here."""
    gaps = [name for name, one in recorded(RECORD).items() if one.verdict == "refused" and not CASES[name].because]
    assert len(gaps) <= 30


@pytest.mark.parametrize("name", CASES)
def test_each_is_as_recorded(worlds, name):
    question, known = CASES[name], recorded(RECORD)[name]
    data, engine = (several[world_of(question)] for several in worlds)
    before = len(list(data.ledger.history()))
    assert find(question, lambda sql: data.quote(sql, epsilon=10**6)) == known
    assert len(list(data.ledger.history())) == before  # a quote, or a refusal, charges nothing
    if known.verdict not in ANSWERED:
        return
    sql = question.rewrite if known.verdict == "rewritten" else question.sql
    if question.uncompared:
        released(data, sql)
    elif known.verdict == "free" and not name.startswith("public/"):
        released(data, sql)  # keys and columns of the policy: nothing was read, and all keys are listed
    else:
        assert differences(data, engine, sql, question.sql, float(question.within or 0.6)) == []
