"""Which questions Spark answers: those made of nodes that were shown to give DuckDB's whole numbers there.

What is not listed is refused by its name before anything is charged. A node is added here together with its tests, and has a
row in docs/engines.md. Functions that engines round differently are answered where a row counts within one step
(`engines/postgres/accuracy.py`), and refused elsewhere. Doubles that overflow are infinities here, as on DuckDB.
"""

from __future__ import annotations

from dither.errors import QuestionError
from dither.query.engines.postgres.accuracy import check_accuracy
from dither.query.engines.postgres.magnitudes import nodes
from dither.query.engines.postgres.support import CERTIFIED
from dither.query.plan.expressions import Constant
from dither.query.plan.functions import ChangeText
from dither.query.plan.question import Question


def check_support(question: Question) -> None:
    """Refuse a question with a node that was not shown to be the same on Spark."""
    found = list(nodes(question))
    for node in found:
        code = getattr(node, "code", None)
        if isinstance(code, str) and code not in CERTIFIED:
            why = f"Spark does not answer {code.replace('_', ' ')} yet: it was not shown to compute the same as DuckDB"
            raise QuestionError("question", code.replace("_", " "), why, "the same rows in files, or another question")
    if any(isinstance(node, ChangeText) and node.how in ("upper", "lower") for node in found):
        texts = [node.value for node in found if isinstance(node, Constant) and isinstance(node.value, str)]
        texts += [key for group in question.groups for key in group.keys or () if isinstance(key, str)]
        other = next((text for text in texts if not text.isascii()), None)
        if other is not None:
            why = "UPPER and LOWER change letters of ASCII alone on Spark"
            raise QuestionError("question", other, why, "texts as they are stored, without UPPER and LOWER")
    check_accuracy(question)
