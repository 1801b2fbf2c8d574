"""What PostgreSQL refuses, though DuckDB answers it: where it computes otherwise, or fails on some row.

Every node of a plan is answered: the conformance suite has a question for each (`query/conformance/node_examples.py`), and a
test that none is missing. Functions that engines round differently are answered where a row counts within one step
(`accuracy.py`), and refused elsewhere.
"""

from __future__ import annotations

from dither.errors import QuestionError
from dither.query.engines.postgres.accuracy import check_accuracy
from dither.query.engines.postgres.magnitudes import check_numbers, nodes
from dither.query.plan.expressions import Constant
from dither.query.plan.functions import ChangeText
from dither.query.plan.question import Question


def check_support(question: Question) -> None:
    """Refuse a question that PostgreSQL may answer differently from DuckDB, or with numbers that could overflow."""
    check_letters(question, "PostgreSQL")
    check_accuracy(question)
    check_numbers(question)


def check_letters(question: Question, engine: str) -> None:
    """Refuse UPPER and LOWER beside texts beyond ASCII, whose letters PostgreSQL and Spark leave as they are."""
    found = list(nodes(question))
    if any(isinstance(node, ChangeText) and node.how in ("upper", "lower") for node in found):
        texts = [node.value for node in found if isinstance(node, Constant) and isinstance(node.value, str)]
        texts += [key for group in question.groups for key in group.keys or () if isinstance(key, str)]
        other = next((text for text in texts if not text.isascii()), None)
        if other is not None:
            why = f"UPPER and LOWER change letters of ASCII alone on {engine}"
            raise QuestionError("question", other, why, "texts as they are stored, without UPPER and LOWER")
