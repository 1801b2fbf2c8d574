"""What Spark refuses, though DuckDB answers it: where it computes otherwise.

Every node of a plan is answered: the conformance suite has a question for each (`query/conformance/node_examples.py`), and a
test that none is missing. Functions that engines round differently are answered where a row counts within one step
(`engines/postgres/accuracy.py`), and refused elsewhere. Doubles that overflow are infinities here, as on DuckDB.
"""

from __future__ import annotations

from dither.query.engines.postgres.accuracy import check_accuracy
from dither.query.engines.postgres.support import check_letters
from dither.query.plan.question import Question


def check_support(question: Question) -> None:
    """Refuse a question that Spark may answer differently from DuckDB."""
    check_letters(question, "Spark")
    check_accuracy(question)
