"""Conformance tests of an engine: it gives DuckDB's values and whole numbers, fails on no row, and tells nothing.

What an engine computes is a function of content: values of every expression, and totals of random questions in every way of
bounding a person, are compared with DuckDB's on hostile rows (`hostile_rows.py`). Which groups of a person are kept is
chosen by a hash; both sides take the portable one. Then neighbours: without one person, totals move by no more than is
claimed.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dither.arguments import argument_errors
from dither.errors import BrokenPromise, DataError, DitherError
from dither.privacy.unit import Unit
from dither.query.conformance.hostile_rows import (
    CONDITIONS,
    TABLE,
    VALUES,
    hostile_policy,
    hostile_table,
    random_question,
)
from dither.query.counters.counter_sets import CounterPlan, choose_counters
from dither.query.counts import TablePlaces
from dither.query.engines.duckdb.run import DuckDBEngine
from dither.query.engines.engine import Engine
from dither.query.engines.templates.expressions import render
from dither.query.engines.templates.relations import rows_of, with_tables
from dither.query.engines.words import Words
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
ROWS, SALT = 240, 12345
Totals = dict[tuple[Any, ...], tuple[int, ...]]


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
    named += [(f"totals: {way}", partial(checks.totals, way)) for way in WAYS]
    named += [(f"neighbours: {way}", partial(checks.neighbours, way)) for way in WAYS]
    return [*named, ("failures", checks.failures)]


class _Side:
    """An engine with rows of its own, and the portable hash."""

    def __init__(self, engine: Engine, source: Source, policy: Policy) -> None:
        portable = type("Portable", (type(engine.words),), {"order": Words.order, "salt": str(SALT)})
        self.engine, self.words = engine, portable()
        self._place = engine.table(policy.tables[0], source)

    @contextmanager
    def reading(self) -> Iterator[Callable[[str], list[tuple[Any, ...]]]]:
        head = {TABLE: self._place.relation}
        with self.engine.reading([self._place]) as run:
            yield lambda sql: run(with_tables(self.words, head, sql), lambda _: True)

    def select(self, question: Question, plan: CounterPlan, bounding: Bounding) -> str:
        texts = {TABLE: self._place.texts}
        return TablePlaces(self.words, {TABLE: rows_of(self.words, TABLE)}, texts).select(question, plan.sets, bounding)

    def run(self, sql: str) -> list[tuple[Any, ...]]:
        try:
            with self.reading() as run:
                return run(sql)
        except (RuntimeError, DitherError) as error:
            raise BrokenPromise("engine", type(self.engine).__name__, f"it failed: {error}", sql[:300]) from error


class _EngineChecks:
    def __init__(self, engine: Engine, load: Load, rng: random.Random, each: int) -> None:
        self._engine, self._load, self._rng, self._each = engine, load, rng, each
        self._kept: tuple[Any, tuple[_Side, _Side]] | None = None

    def _sides(self, table: pyarrow.Table, policy: Policy) -> tuple[_Side, _Side]:
        """DuckDB and the engine, with the same rows."""
        frame = find_source(table, Path(), "rows")
        return _Side(DuckDBEngine([frame]), frame, policy), _Side(self._engine, self._load(TABLE, table), policy)

    def value(self, sql: str) -> None:
        """An expression has DuckDB's value in every row."""
        policy = hostile_policy(person=False)
        if self._kept is None:
            table = hostile_table(random.Random(7), ROWS)  # noqa: S311
            self._kept = table, self._sides(table, policy)
        node = parse(f"SELECT COUNT(*) AS n FROM {TABLE} WHERE ({sql}) IS NULL", policy).where  # noqa: S608
        of = getattr(node, "value", None)
        if of is None:
            raise DataError("sql", sql, "it is no value", "cost + 1")
        found = []
        for side in self._kept[1]:
            row = side.words.name("row")
            select = f"SELECT {row}, {render(side.words, of)} AS v FROM {rows_of(side.words, TABLE)} AS source"  # noqa: S608
            found.append(dict(side.run(select)))
        for row, ours in found[0].items():
            if not _same(ours, found[1].get(row)):
                told = f"{ours!r} on DuckDB, {found[1].get(row)!r} here, in row {row}"
                raise BrokenPromise("value", sql, told, "the same value")

    def totals(self, way: str) -> None:
        """Random questions have DuckDB's whole numbers."""
        for _ in range(self._each):
            policy, question, plan, bounding, _ = self._asked(way)
            sides = self._sides(hostile_table(self._rng, self._rng.choice([5, 60, 300])), policy)
            found = [sorted(map(repr, side.run(side.select(question, plan, bounding)))) for side in sides]
            if found[0] != found[1]:
                raise BrokenPromise("totals", way, f"{found[0][:3]} on DuckDB, {found[1][:3]} here", question.relation.code)

    def neighbours(self, way: str) -> None:
        """Without one person, totals move by no more than is claimed."""
        for _ in range(max(1, self._each // 2)):
            policy, question, plan, bounding, shares = self._asked(way)
            table = hostile_table(self._rng, 40)
            gone = self._rng.choice([1, 2, 3, 4])
            rest = table.filter([person.as_py() != gone for person in table["person"]])
            if way == "each row":
                rest = table.slice(1)
            found = []
            for rows in (table, rest):
                side = _Side(self._engine, self._load(TABLE, rows), policy)
                width = len(question.groups)
                totals = side.run(side.select(question, plan, bounding))
                keys = [set(group.listed) for group in question.groups]
                found.append({r[:width]: r[width:] for r in totals if all(k in of for k, of in zip(r, keys, strict=False))})
            if _breaks(found[0], found[1], plan, bounding, shares):
                raise BrokenPromise("neighbours", way, "one person moves the totals by more than is claimed", "its claim")

    def failures(self) -> None:
        """What goes wrong says nothing, and the next SELECT works."""
        policy = hostile_policy(person=True)
        side = _Side(self._engine, self._load(TABLE, hostile_table(self._rng, 9)), policy)
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


def _same(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, float) and isinstance(theirs, float) and math.isnan(ours) and math.isnan(theirs):
        return True
    return bool(ours == theirs) and isinstance(ours, bool) == isinstance(theirs, bool)


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
