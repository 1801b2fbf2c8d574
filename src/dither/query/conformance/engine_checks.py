"""Conformance tests of an engine: it gives DuckDB's values and whole numbers, fails on no row, and tells nothing.

What an engine computes is a function of content: values of every expression, and totals of random questions in every way of
bounding a person, are compared with DuckDB's on hostile rows (`hostile_rows.py`), and so is a question for every node and
aggregate there is (`node_examples.py`), unless the engine refuses it. Values that a machine's library rounds may differ in
the last digits, and their totals by a step a row. Which groups of a person are kept is chosen by a hash; both sides take the
portable one. Then neighbours: without one person, totals move by no more than is claimed.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dither.arguments import argument_errors
from dither.errors import BrokenPromise, DataError, QuestionError
from dither.privacy.unit import Unit
from dither.query.conformance.counted_totals import counted, farthest, near, read_question, same
from dither.query.conformance.engine_reader import EngineReader
from dither.query.conformance.hostile_rows import (
    CONDITIONS,
    LIBRARY,
    TABLE,
    VALUES,
    hostile_policy,
    hostile_table,
    random_question,
)
from dither.query.conformance.node_examples import QUESTIONS, hostile_tables, tables_policy
from dither.query.counters.counter_sets import CounterPlan, choose_counters
from dither.query.engines.duckdb.run import DuckDBEngine
from dither.query.engines.engine import Engine
from dither.query.engines.postgres.accuracy import is_exact
from dither.query.engines.templates.relations import rows_of
from dither.query.plan.base import Expression
from dither.query.plan.question import Question
from dither.query.policy.policy import Policy
from dither.query.sources.find_source import find_source
from dither.query.sources.source import Source
from dither.query.sql.parse import parse
from dither.query.statistics.bounding import Bounding, Clip
from dither.query.statistics.choose_bounding import choose_bounding, with_shares

if TYPE_CHECKING:
    import pyarrow

Load = Callable[[str, "pyarrow.Table"], Source]
WAYS = ("each row", "weights", "clip", "groups", "clip sum", "persons")
ROWS = 240


@argument_errors
def check_engine(engine: Engine, load: Load, *, questions: int = 30, seed: int = 1) -> int:
    """Raise BrokenPromise unless an engine computes what DuckDB computes: a conformance test; gives how many checks passed.

    Args:
        engine: What is checked: see `dither.query.engines.engine.Engine`.
        load: Called with a name and an Arrow table; makes such a table where the engine reads it, and gives its source.
        questions: How many random questions are asked in all ways of bounding together, and how many about neighbours.
        seed: Of the random rows and questions.

    Raises:
        BrokenPromise: A value or a whole number differs, a row makes it fail, or a neighbour moves more than is claimed.

    Example:
        >>> import pathlib
        >>> from dither.query.engines.duckdb.run import DuckDBEngine
        >>> from dither.query.sources.find_source import find_source
        >>> from dither.testing import check_engine
        >>> check_engine(DuckDBEngine(), lambda name, table: find_source(table, pathlib.Path(), name), questions=6) > 80
        True
    """
    checks = engine_checks(engine, load, questions=questions, seed=seed)
    for _, check in checks:
        check()
    return len(checks)


@argument_errors
def engine_checks(engine: Engine, load: Load, *, questions: int = 30, seed: int = 1) -> list[tuple[str, Callable[[], None]]]:
    """What `check_engine` checks, one by one: pairs of a name and a function that raises BrokenPromise.

    Args:
        engine: What is checked.
        load: Called with a name and an Arrow table; makes such a table where the engine reads it, and gives its source.
        questions: How many random questions are asked in all ways of bounding together, and how many about neighbours.
        seed: Of the random rows and questions.

    Raises:
        BrokenPromise: By each check: a value or a whole number differs, a row makes it fail, or a neighbour moves too much.

    Example:
        >>> from dither.query.engines.duckdb.run import DuckDBEngine
        >>> from dither.testing import engine_checks
        >>> [name for name, check in engine_checks(DuckDBEngine(), lambda name, table: None)][-2:]
        ['neighbours: persons', 'failures']
    """
    checks = _EngineChecks(engine, load, random.Random(seed), -(-questions // len(WAYS)))  # noqa: S311
    named: list[tuple[str, Callable[[], None]]] = [
        (f"value: {sql}", partial(checks.value, sql)) for sql in VALUES + CONDITIONS
    ]
    named += [(f"library: {sql}", partial(checks.library, sql)) for sql in LIBRARY]
    named += [(f"question: {sql}", partial(checks.question, sql)) for sql in QUESTIONS]
    named += [(f"totals: {way}", partial(checks.totals, way)) for way in WAYS]
    named += [(f"neighbours: {way}", partial(checks.neighbours, way)) for way in WAYS]
    return [*named, ("failures", checks.failures)]


class _EngineChecks:
    def __init__(self, engine: Engine, load: Load, rng: random.Random, each: int) -> None:
        self._engine, self._load, self._rng, self._each = engine, load, rng, each
        self._kept: tuple[str, tuple[EngineReader, EngineReader]] | None = None

    def _sides(self, tables: Mapping[str, pyarrow.Table], policy: Policy) -> tuple[EngineReader, EngineReader]:
        """DuckDB and the engine, with the same rows, in the place of all that was there."""
        self._kept = None
        frames = {name: find_source(table, Path(), name) for name, table in tables.items()}
        theirs = {name: self._load(name, table) for name, table in tables.items()}
        return EngineReader(DuckDBEngine(frames.values()), frames, policy), EngineReader(self._engine, theirs, policy)

    def _each_row(self) -> tuple[EngineReader, EngineReader]:
        """With hostile rows, each of a person of her own."""
        if self._kept is None or self._kept[0] != "each row":
            tables = {TABLE: hostile_table(random.Random(7), ROWS)}  # noqa: S311
            self._kept = "each row", self._sides(tables, hostile_policy(person=False))
        return self._kept[1]

    def _three_tables(self) -> tuple[EngineReader, EngineReader]:
        """With hostile rows of people, and two tables beside."""
        if self._kept is None or self._kept[0] != "three tables":
            self._kept = "three tables", self._sides(hostile_tables(7, ROWS // 4), tables_policy())
        return self._kept[1]

    def value(self, sql: str) -> None:
        """An expression has DuckDB's value in every row."""
        where = parse(f"SELECT COUNT(*) AS n FROM {TABLE} WHERE ({sql}) IS NULL", hostile_policy(person=False)).where  # noqa: S608
        of = getattr(where, "value", None)
        if of is None:
            raise DataError("sql", sql, "it is no value", "cost + 1")
        self._compare(sql, of, same)

    def library(self, sql: str) -> None:
        """A value that libraries round is there where DuckDB's is, and differs in the last digits at most."""
        question = parse(f"SELECT COUNT({sql}) AS n FROM {TABLE}", hostile_policy(person=False))  # noqa: S608
        if (of := question.aggregates[0].of) is not None and self._answers(question):
            self._compare(sql, of, near)

    def question(self, sql: str) -> None:
        """A question has DuckDB's whole numbers in all that is counted for it; of values that libraries round, within a
        step a row."""
        question = read_question(sql, tables_policy())
        exact = all(is_exact(one.of) for one in question.aggregates if one.of is not None)
        if not exact:
            question = read_question(sql, hostile_policy(person=False))
        if not self._answers(question):
            return
        asked, sides = counted(question), self._three_tables() if exact else self._each_row()
        for ours, theirs in zip(*(side.totals(*asked) for side in sides), strict=True):
            if ours.keys() != theirs.keys() or farthest(ours, theirs) > (0 if exact else ROWS):
                told = f"{list(ours.items())[:3]} on DuckDB, {list(theirs.items())[:3]} here"
                raise BrokenPromise("question", sql, told, "the same whole numbers")

    def _answers(self, question: Question) -> bool:
        """Whether the engine does not refuse a question, before the charge."""
        try:
            self._engine.check(question)
        except QuestionError:
            return False
        return True

    def _compare(self, sql: str, node: Expression, agree: Callable[[Any, Any], bool]) -> None:
        ours, theirs = (side.values(node) for side in self._each_row())
        for row, value in ours.items():
            if not agree(value, theirs.get(row)):
                told = f"{value!r} on DuckDB, {theirs.get(row)!r} here, in row {row}"
                raise BrokenPromise("value", sql, told, "the same value")

    def totals(self, way: str) -> None:
        """Random questions have DuckDB's whole numbers."""
        for _ in range(self._each):
            policy, question, plan, bounding, _ = self._asked(way)
            sides = self._sides({TABLE: hostile_table(self._rng, self._rng.choice([5, 60, 300]))}, policy)
            found = [sorted(map(repr, *side.run(side.select(question, plan.sets, bounding)))) for side in sides]
            if found[0] != found[1]:
                raise BrokenPromise("totals", way, f"{found[0][:3]} on DuckDB, {found[1][:3]} here", question.relation.code)

    def neighbours(self, way: str) -> None:
        """Without one person, totals move by no more than is claimed."""
        for _ in range(max(1, self._each // 2)):
            policy, question, plan, bounding, shares = self._asked(way)
            table, self._kept = hostile_table(self._rng, 40), None
            gone = self._rng.choice([1, 2, 3, 4])
            rest = table.filter([person.as_py() != gone for person in table["person"]])
            if way == "each row":
                rest = table.slice(1)
            found = []
            for rows in (table, rest):
                side = EngineReader(self._engine, {TABLE: self._load(TABLE, rows)}, policy)
                (totals,) = side.totals((question, plan.sets, bounding))
                keys = [set(group.listed) for group in question.groups]
                found.append({r: n for r, n in totals.items() if all(k in of for k, of in zip(r, keys, strict=True))})
            if _breaks(found[0], found[1], plan, bounding, shares):
                raise BrokenPromise("neighbours", way, "one person moves the totals by more than is claimed", "its claim")

    def failures(self) -> None:
        """What goes wrong says nothing, and the next SELECT works."""
        policy, self._kept = hostile_policy(person=True), None
        side = EngineReader(self._engine, {TABLE: self._load(TABLE, hostile_table(self._rng, 9))}, policy)
        try:
            with side.reading() as run:
                run(f"SELECT CAST({side.words.text('canary')} AS BIGINT) AS x")
        except Exception as error:
            if "canary" in f"{error} {error.__cause__} {error.__context__}":
                raise BrokenPromise("failures", str(error), "it tells of a cell", "the engine failed") from None
        else:
            raise BrokenPromise("failures", "a cast that cannot be", "it did not fail", "an error")
        side.run(f"SELECT count(*) AS n FROM {rows_of(side.words, TABLE)} AS source")  # noqa: S608

    def _asked(self, way: str) -> tuple[Policy, Question, CounterPlan, Bounding, tuple[Fraction, ...]]:
        rng, person = self._rng, way != "each row"
        policy = hostile_policy(person=person, groups=rng.choice([1, 2, 3]), rows=rng.choice([1, 2, 5]))
        question = parse(random_question(rng, person=person, people=way == "persons"), policy)
        pure = way != "clip"
        plan = choose_counters(question, pure=pure)
        cells = math.prod(len(group.listed) for group in question.groups)
        wished = None if way in ("persons", "each row") else way
        bounding = choose_bounding(question, plan, wished, cells=cells, unit=Unit.ADD_REMOVE, pure=pure)
        amounts = [Fraction(rng.randrange(1, 1000), 1000) for _ in plan.sets]
        return policy, question, plan, with_shares(bounding, amounts), tuple(one / sum(amounts) for one in amounts)


def _breaks(
    one: Mapping[Any, Any], other: Mapping[Any, Any], plan: CounterPlan, bounding: Bounding, shares: tuple[Fraction, ...]
) -> bool:
    """Whether two neighbours differ by more than is claimed: each set of counters by itself, or all of them together where
    they have one weight."""
    place, together = 0, Fraction(0)
    for family, share in zip(plan.sets, shares, strict=True):
        last = place + len(family.measures)
        none = (0,) * last
        changes = [
            int(a) - int(b)
            for key in {*one, *other}
            for a, b in zip(one.get(key, none)[place:last], other.get(key, none)[place:last], strict=True)
        ]
        place = last
        squares = Fraction(sum(change**2 for change in changes), bounding.l2_squared(family))
        sums = squares if isinstance(bounding, Clip) else Fraction(sum(map(abs, changes)), bounding.l1(family))
        together += share * sums
        if max(sums, squares) > 1 and not bounding.joint:
            return True
    return bool(bounding.joint and together > 1)
