"""Trees of texts that were read before: the same as those of a new text, and everybody has her own."""

from __future__ import annotations

import pytest
from sqlglot import exp

from dither.errors import QuestionError
from dither.query.sql import parse, syntax
from tests.golden.questions import QUESTIONS

LONG = "SELECT COUNT(*) AS n FROM visits WHERE age IN (" + ", ".join(map(str, range(1000))) + ")"


def nodes(tree: exp.Expr) -> list[tuple[object, ...]]:
    """All that readers look at: kinds, details, and places in the text."""
    plain = (str, bool, int, type(None))
    return [
        (type(node), node.meta, {name: part for name, part in node.args.items() if isinstance(part, plain)})
        for node in tree.walk()
    ]


@pytest.fixture(autouse=True)
def nothing_known():
    for known in (syntax._known_tree, parse._known):
        known.cache_clear()


@pytest.mark.parametrize("sql", QUESTIONS.values(), ids=QUESTIONS)
def test_a_hit_is_what_a_miss_makes(sql):
    if "OPTIONS" in sql:  # which is cut out before
        sql = "SELECT COUNT(*) AS n FROM visits"
    for made, found in (
        (syntax._tree(sql), syntax.read),
        (parse._rewritten(syntax._tree(sql), sql), lambda sql: parse._known(sql).copy()),
    ):
        first, second = found(sql), found(sql)
        assert nodes(first) == nodes(made) == nodes(second)
        assert first == made == second
        assert {id(node) for node in first.walk()}.isdisjoint(id(node) for node in second.walk())


def test_who_changes_a_tree_changes_her_own():
    sql = "SELECT COUNT(*) AS n FROM visits WHERE age > 3"
    before = nodes(syntax.read(sql))
    tree = syntax.read(sql)
    tree.set("where", None)
    tree.expressions[0].meta["start"] = 99
    assert nodes(syntax.read(sql)) == before


def test_refusals_have_their_places_each_time():
    told = []
    for _ in range(2):
        with pytest.raises(QuestionError) as refused:
            syntax.read("SELECT COUNT(* FROM visits")
        told.append(str(refused.value))
    assert told[0] == told[1]
    assert "line 1" in told[0]


def test_so_many_are_kept_and_long_ones_are_not():
    for number in range(syntax.MOST_KNOWN + 9):
        syntax.read(f"SELECT COUNT(*) AS n FROM visits WHERE age > {number}")
    assert syntax._known_tree.cache_info().currsize == syntax.MOST_KNOWN
    syntax._known_tree.cache_clear()
    assert len(LONG) > syntax.LONGEST_KNOWN
    assert syntax.read(LONG) == syntax.read(LONG)
    assert syntax._known_tree.cache_info().currsize == 0
