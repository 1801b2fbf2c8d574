"""The tables of docs/engines.md, from the nodes of plans and what engines refuse: `python -m tests.docs.engines_page`.

Which nodes there are is read off the package; the question of each is the one that the conformance suite asks. What becomes
of it on PostgreSQL and on Spark is what `check_support` of each says.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from dither.errors import QuestionError
from dither.query import plan, statistics
from dither.query.conformance import node_examples
from dither.query.conformance.counted_totals import counted, read_question
from dither.query.conformance.engine_checks import WAYS
from dither.query.conformance.node_examples import ELEMENTARY, POWERS, QUESTIONS, tables_policy
from dither.query.engines.postgres.accuracy import is_exact
from dither.query.engines.postgres.magnitudes import nodes
from dither.query.engines.postgres.support import check_support
from dither.query.engines.spark.support import check_support as check_spark
from dither.query.plan.aggregates import Aggregate, PairAggregate
from dither.query.plan.functions import ChangeText
from dither.query.plan.mathematics.elementary import Elementary, Power
from dither.query.plan.mathematics.pair_counters import PairValues
from dither.query.plan.question import Question
from dither.query.sql.parse import parse
from dither.query.statistics.bounding import Bounding

PAGE = Path(__file__).parent.parent.parent / "docs" / "engines.md"
KINDS = {  # tables of the page, by what nodes they have
    "expressions": node_examples.EXPRESSIONS,
    "relations": node_examples.RELATIONS,
    "own totals": node_examples.OWN_TOTALS,
    "counters": node_examples.COUNTERS,
    "aggregates": node_examples.AGGREGATES,
}
BORDERS = {
    "in a condition": "SELECT COUNT(*) AS n FROM rows WHERE LN(weight) > 1",
    "in the condition of an aggregate": "SELECT SUM(cost) FILTER (WHERE EXP(weight) > 9) AS s FROM rows",
    "as a key": "SELECT FLOOR(LOG10(age)) AS k, COUNT(*) AS n FROM rows GROUP BY k",
    "rounded": "SELECT SUM(ROUND(LN(weight), 1)) AS s FROM rows",
    "in an inner question": "SELECT SUM(v) AS s FROM (SELECT person, LN(weight) AS v FROM rows) AS q",
    "of another one": "SELECT SUM(EXP(LN(weight) / 2)) AS s FROM rows",
    "with more digits than doubles have": "SELECT SUM(POWER(age, 7)) AS s FROM rows",
}
LETTERS = "SELECT COUNT(*) AS n FROM rows WHERE UPPER(name) = 'A'"
WIDE = {"of many factors": f"SELECT COUNT(*) AS n FROM rows WHERE {' * '.join(['cost'] * 11)} > 1"}
WIDE["of quotients, many times"] = f"SELECT COUNT(*) AS n FROM rows WHERE {' * '.join(['(cost / weight)'] * 6)} > 1"


def coded() -> list[type]:
    """The classes of nodes of questions and of what is counted for them; without those that others are made of."""
    found = []
    for module in pkgutil.walk_packages(plan.__path__, f"{plan.__name__}."):
        for kind in vars(importlib.import_module(module.name)).values():
            own = isinstance(kind, type) and kind.__module__ == module.name and isinstance(getattr(kind, "code", None), str)
            if own and not inspect.isabstract(kind) and kind.__name__[0] != "_" and kind is not PairValues:
                found.append(kind)
    return [kind for kind in found if not any(other is not kind and issubclass(other, kind) for other in found)]


def leaves(base: type) -> Iterator[type]:
    """The classes of a family that no others are made of."""
    inside = [kind for kind in base.__subclasses__() if kind.__module__.startswith("dither.")]  # not those of tests
    yield from (found for one in inside for found in leaves(one)) if inside else [base]


def asked(sql: str) -> list[Any]:
    """All nodes of a question and of what is counted for it."""
    question = read_question(sql, tables_policy())
    parts = [question, *((asked, sets) for asked, sets, _ in counted(question))]
    return [node for part in parts for node in nodes(part)]


def verdicts(sql: str) -> tuple[str, str, str]:
    """What is promised of a question on DuckDB, on PostgreSQL and on Spark."""
    question = parse(sql, tables_policy())
    decides = all(is_exact(part) for part in (question.relation, question.where, *question.groups) if part is not None)
    exact = decides and all(is_exact(of) for one in question.aggregates for of in _values(one))
    postgres, spark = (_verdict(question, check, exact=exact) for check in (check_support, check_spark))
    return (
        "exact" if exact else "within one step" if "within one step" in (postgres, spark) else "may differ",
        postgres,
        spark,
    )


def _verdict(question: Question, check: Callable[[Question], None], *, exact: bool) -> str:
    """On an engine that refuses some."""
    try:
        check(question)
    except QuestionError:
        return "refused"
    if any(isinstance(node, ChangeText) and node.how in ("upper", "lower") for node in nodes(question)):
        return "exact for letters of ASCII"
    return "exact" if exact else "within one step"


def _values(aggregate: Aggregate) -> list[Any]:
    values = aggregate.pair if isinstance(aggregate, PairAggregate) else (aggregate.of,)
    return [of for of in values if of is not None]


def table(examples: Mapping[type, str]) -> Iterator[str]:
    """A row for each node."""
    yield from ("| what | code | question | DuckDB | PostgreSQL | Spark |", "|---|---|---|---|---|---|")
    for kind, sql in examples.items():
        code = getattr(kind, "code", None)
        yield _row(_words(kind), f"`{code}`" if code else "", sql)
        if kind is ChangeText:
            yield _row("UPPER, LOWER", f"`{code}`", LETTERS)


def _words(kind: type) -> str:
    """The first sentence of its docstring."""
    return re.split(r"(?<=[^.][.;:])\s", " ".join((kind.__doc__ or "").split()))[0].rstrip(".;:")


def _row(what: str, code: str, sql: str) -> str:
    cells = [what, code, f"`{sql}`", *verdicts(sql)]
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"


def mathematics() -> Iterator[str]:
    """Functions of numbers: as they are added up, and where borders are decided by them."""
    yield from ("| what | code | question | DuckDB | PostgreSQL | Spark |", "|---|---|---|---|---|---|")
    yield from (_row(name.upper(), f"`{Elementary.code}`", sql) for name, sql in ELEMENTARY.items())
    names = ("POWER by 2 and 3", "POWER by other constants")
    yield from (_row(name, f"`{Power.code}`", sql) for name, sql in zip(names, POWERS, strict=True))
    yield from (_row(f"a function that libraries round, {where}", "", sql) for where, sql in BORDERS.items())
    yield from (_row(f"products {where}", "`arithmetic`", sql) for where, sql in WIDE.items())


def ways() -> Iterator[str]:
    """A row for each way in which a person is bounded."""
    for module in pkgutil.iter_modules(statistics.__path__, f"{statistics.__name__}."):
        importlib.import_module(module.name)
    yield from ("| way | what it does | DuckDB | PostgreSQL | Spark |", "|---|---|---|---|---|")
    questions = [read_question(sql, tables_policy()) for sql in QUESTIONS]
    compared = {*WAYS, *(bounding.way for question in questions for _, _, bounding in counted(question))}
    for kind in sorted(leaves(Bounding), key=lambda one: one.way):
        other = "exact" if kind.way in compared else "refused"
        yield f"| {kind.way} | {_words(kind)} | exact | {other} | {other} |"


def written(page: str) -> str:
    """The page with its tables as they are."""
    tables = {name: "\n".join(table(examples)) for name, examples in KINDS.items()}
    tables |= {"mathematics": "\n".join(mathematics()), "ways": "\n".join(ways())}
    for name, found in tables.items():
        page = re.sub(rf"<!-- {name} -->\n(?:\n|\|.*\n)*", lambda _, n=name, f=found: f"<!-- {n} -->\n\n{f}\n\n", page)
    return page.rstrip("\n") + "\n"


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text()))
