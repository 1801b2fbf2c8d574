"""Which questions PostgreSQL answers: those made of nodes that were shown to give DuckDB's whole numbers there.

What is not listed is refused by its name before anything is charged. A node is added here together with its tests, and has a
row in docs/engines.md. Functions that engines round differently are answered where a row counts within one step
(`accuracy.py`), and refused elsewhere.
"""

from __future__ import annotations

from dither.errors import QuestionError
from dither.query.engines.postgres.accuracy import check_accuracy
from dither.query.engines.postgres.magnitudes import check_numbers, nodes
from dither.query.plan.expressions import Constant
from dither.query.plan.functions import ChangeText
from dither.query.plan.question import Question

EXPRESSIONS = ["arithmetic", "bucket", "case", "column", "compare", "date_part", "in_list", "is_null", "like", "literal"]
EXPRESSIONS += ["logic", "not", "abs", "change_text", "clamp", "coalesce", "concat", "greatest_least"]
EXPRESSIONS += ["length", "round", "substring", "width_bucket", "date_add", "date_cast", "date_diff", "date_trunc"]
EXPRESSIONS += ["quotient", "remainder", "sign", "whole_quotient", "released_constant", "elementary", "power"]
RELATIONS = ["chain", "filter", "group_by_person", "join_on_person", "join_public", "link", "project", "scan", "union_all"]
RELATIONS += [
    "outer_join",
    "semi_join",
    "window_by_person",
    "window_place",
    "window_total",
    "window_value",
    "frame",
    "sort_key",
]
CERTIFIED = frozenset([*EXPRESSIONS, *RELATIONS, "counter", "pair_counter", "person_total"])


def check_support(question: Question) -> None:
    """Refuse a question with a node that was not shown to be the same on PostgreSQL, or with numbers that could overflow."""
    for node in nodes(question):
        code = getattr(node, "code", None)
        if isinstance(code, str) and code not in CERTIFIED:
            why = f"PostgreSQL does not answer {code.replace('_', ' ')} yet: it was not shown to compute the same as DuckDB"
            raise QuestionError("question", code.replace("_", " "), why, "the same rows in files, or another question")
    _check_letters(question)
    check_accuracy(question)
    check_numbers(question)


def _check_letters(question: Question) -> None:
    """Refuse capital and small letters beside texts that have others than ASCII's, which PostgreSQL leaves as they are."""
    found = list(nodes(question))
    if any(isinstance(node, ChangeText) and node.how in ("upper", "lower") for node in found):
        texts = [node.value for node in found if isinstance(node, Constant) and isinstance(node.value, str)]
        texts += [key for group in question.groups for key in group.keys or () if isinstance(key, str)]
        other = next((text for text in texts if not text.isascii()), None)
        if other is not None:
            why = "UPPER and LOWER change letters of ASCII alone on PostgreSQL"
            raise QuestionError("question", other, why, "texts as they are stored, without UPPER and LOWER")
