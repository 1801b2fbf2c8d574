"""Questions that are Ibis expressions: Ibis writes them as SQL, which then goes the way of all questions.

Nothing is run by Ibis, and nothing that it writes is trusted: its text is read and refused like any other.
"""

from __future__ import annotations

from typing import Any

import sqlglot
from sqlglot import exp

from dither.errors import QuestionError
from dither.extras import needs
from dither.query.sql.syntax import DIALECT, LONGEST

AFTER = ("where", "order", "limit")  # what may stand around a question that is answered: it concerns released numbers


def as_sql(question: object) -> Any:
    """The SQL of an Ibis expression; anything else as it came."""
    if not type(question).__module__.startswith("ibis."):
        return question
    with needs("dither[ibis]"):
        import ibis

    try:
        text = str(ibis.to_sql(question, dialect=DIALECT))
    except Exception as error:
        came = type(question).__name__
        why = f"Ibis cannot write it as SQL: {type(error).__name__}"
        raise QuestionError("question", came, why, "an expression of tables, such as visits.count()") from None
    if len(text) > LONGEST:
        return text  # the reader of questions says so
    trees = sqlglot.parse(text, read=DIALECT)
    flat = _flat(trees[0]) if len(trees) == 1 else None
    return text if flat is None else flat.sql(DIALECT, pretty=True)


def _flat(tree: object) -> exp.Select | None:
    """SELECT * FROM (the question) ORDER BY ... LIMIT ...: how Ibis sorts and cuts what was aggregated. As one question its
    WHERE is a HAVING. None where there is nothing to unfold."""
    if not isinstance(tree, exp.Select) or [type(item) for item in tree.expressions] != [exp.Star]:
        return None
    source = tree.args.get("from_")
    around = {name for name, part in tree.args.items() if part} - {"expressions", "from_", "kind"}
    if source is None or not isinstance(source.this, exp.Subquery) or not around <= set(AFTER):
        return None
    inner, called = source.this.this, source.this.alias
    inner = _flat(inner) or inner
    if not isinstance(inner, exp.Select) or not any(item.find(exp.AggFunc) for item in inner.expressions):
        return None
    if inner.args.get("limit") is not None and around:
        return None  # sorted or kept after the cut: that is another question
    found = inner.copy()
    for name in AFTER:
        part = tree.args.get(name)
        if part is None:
            continue
        part = part.copy()
        for column in list(part.find_all(exp.Column)):
            if column.table == called:
                column.set("table", None)
        if name == "where":
            before = found.args.get("having")
            found.set("having", exp.Having(this=part.this if before is None else exp.and_(before.this, part.this)))
        else:
            found.set(name, part)
    return found
