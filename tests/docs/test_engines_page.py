"""docs/engines.md: a row for every node that there is, each with a question that both engines were asked."""

from __future__ import annotations

import pytest

from dither.errors import QuestionError
from dither.query.conformance.node_examples import AGGREGATES, ELEMENTARY, EXAMPLES, POWERS, QUESTIONS, tables_policy
from dither.query.engines.postgres.support import check_support
from dither.query.engines.spark.support import check_support as check_spark
from dither.query.plan.aggregates import Aggregate
from dither.query.plan.expressions import Like
from dither.query.plan.mathematics.elementary import Elementary, Power
from dither.query.sql.parse import parse
from tests.docs import engines_page
from tests.docs.engines_page import PAGE, asked, coded, leaves, verdicts, written

NODES = {kind: sql for each in EXAMPLES for kind, sql in each.items()}


def test_it_is_as_the_code_is():
    page = PAGE.read_text()
    assert written(page) == page


def test_every_node_and_every_aggregate_has_a_row():
    assert {*coded(), *leaves(Aggregate)} == {*NODES, Elementary, Power}
    assert set(AGGREGATES) == set(leaves(Aggregate))


def untried(questions):
    """The nodes that stand in none of the questions."""
    found = {type(node) for sql in questions for node in asked(sql)}
    return {kind.__name__ for kind in coded() if kind not in found}


def test_every_node_is_asked_of_every_engine():
    """The conformance suite has a question with each node, and no engine refuses one: it would not be compared there."""
    assert not untried(QUESTIONS)
    assert not [sql for sql in QUESTIONS if "refused" in verdicts(sql)]
    assert untried([sql for sql in QUESTIONS if "LIKE" not in sql]) == {"Like"}


def test_every_row_has_a_question_with_its_node():
    for kind, sql in NODES.items():
        assert kind in {type(node) for node in asked(sql)}, kind
    for name, sql in ELEMENTARY.items():
        assert name in {node.name for node in asked(sql) if isinstance(node, Elementary)}
    assert [{node.exact for node in asked(sql) if isinstance(node, Power)} for sql in POWERS] == [{True}, {False}]


def test_a_node_without_a_row_is_found(monkeypatch):
    class Unlisted(Like):
        code = "unlisted"

    module = "dither.query.plan.expressions"
    Unlisted.__module__ = module
    monkeypatch.setattr(f"{module}.Unlisted", Unlisted, raising=False)
    assert Unlisted in coded()


def test_what_an_engine_refuses_is_refused_on_the_page(monkeypatch):
    def refuse(question):
        raise QuestionError("question", "like", "it computes otherwise", "another one")

    assert verdicts(NODES[Like]) == ("exact", "exact", "exact")
    monkeypatch.setattr(engines_page, "check_support", refuse)
    assert verdicts(NODES[Like]) == ("exact", "refused", "exact")
    page = PAGE.read_text()
    assert written(page) != page


@pytest.mark.parametrize("sql", engines_page.BORDERS.values(), ids=engines_page.BORDERS)
def test_what_hangs_on_last_digits_is_refused_with_words(sql):
    for check in (check_support, check_spark):
        with pytest.raises(QuestionError, match="engines differ in its last digits"):
            check(parse(sql, tables_policy()))
