"""Features: rows of a question, for a model that is fitted to them under the same ledger. They do not leave this process.

A handle says what the rows are: columns with bounds or keys from the policy, a target, whose they are. It holds no row. What
is fitted gets them after the charge, and only what it released is stored. The same fit asked again gets what was stored,
and costs nothing.

Which of a person's rows count, where she has more than are counted, depends on her rows alone: they are put in the order of
their cells first, since the order in which an engine gives rows may depend on everybody's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp

from dither.arguments import argument_errors
from dither.errors import DataError, DitherError, InputError, QuestionError, ReleaseError
from dither.ledger.entries.receipt import Receipt
from dither.privacy.guarantee.guarantee import Guarantee
from dither.query.engines.fan_out import check_matches
from dither.query.engines.templates.relations import question_sql, rows_of, with_tables
from dither.query.holdings import Holdings
from dither.query.plan.describe import uncounted_rows
from dither.query.plan.question import Question
from dither.query.plan.spelling import spell
from dither.query.policy.column import Column, Type
from dither.query.policy.table import Table
from dither.query.pricing import price
from dither.query.pricing.unprotected_facts import unprotected_columns, unprotected_words
from dither.query.release import FAILED, LEASE, lease_renewed, untold
from dither.query.sql.parse import parse
from dither.query.sql.syntax import read

WAYS = "clinic.features('SELECT age, cost, ward FROM visits', target='readmitted')"
Rows = list[tuple[Any, ...]]  # cells of the columns, the target at the end, then whose the row is


@argument_errors
@dataclass(frozen=True, repr=False)
class Features:
    """Rows to fit a model to, as a handle that `fit` takes. Made by `Dataset.features`.

    Args:
        holdings: policy, ledger and sources of the dataset.
        sql: a SELECT of columns.
        question: it, as it was read.
        columns: the columns, with bounds or keys.
        target: what is to be predicted; None where nothing is.
        max_rows: how many rows of a person count.

    Raises:
        BudgetError, ReleaseError: by `fit`, which see.

    Example:
        >>> import pyarrow, dither
        >>> from dither.learn import LogisticRegression
        >>> ages = [20, 30, 40, 50] * 500
        >>> rows = pyarrow.table({"age": ages, "ill": [age > 35 for age in ages]})
        >>> with dither.Ledger.temporary(dither.approx(3, "1e-6"), domain="people") as ledger:
        ...     people = dither.protect(rows, name="people", person="each row", ledger=ledger, bounds={"age": (0, 100)})
        ...     handle = people.features("SELECT age FROM people", target="ill")
        ...     model = LogisticRegression(epsilon=1, delta="1e-7").fit(handle)
        >>> model.predict([[25], [60]])
        array([False,  True])
    """

    holdings: Holdings = field(repr=False)
    sql: str
    question: Question = field(repr=False)
    columns: tuple[Column, ...]
    target: Column | None
    max_rows: int

    def __repr__(self) -> str:
        target = None if self.target is None else self.target.name
        return f"Features({self.sql!r}, target={target!r}, max_rows={self.max_rows})"

    @property
    def shape(self) -> tuple[None, int]:
        """How many rows there are is private; how many columns is not."""
        return None, len(self.columns)

    @property
    def unprotected(self) -> str:
        """What of the policy's facts was taken from the data, in one sentence; '' where nothing was."""
        names = [column.name for column in (*self.columns, *([self.target] if self.target else []))]
        return unprotected_words(unprotected_columns(self.question.relation, names, self.holdings.policy))

    @property
    def uncounted(self) -> str:
        """The rows that no fit counts, since they belong to nobody; '' where there are none by the owner's word."""
        return uncounted_rows([self.question.relation])

    @property
    def asked(self) -> dict[str, Any]:
        """What tells these rows from others of the same policy and data version."""
        where = self.question.where
        columns = [*self.columns, *([self.target] if self.target else [])]
        named = ", ".join(column.name for column in columns)
        return {"columns": named, "rows": spell(self.question.relation), "where": "" if where is None else spell(where)}

    def released(
        self,
        guarantee: Guarantee,
        question: dict[str, Any],
        compute: Callable[[Rows], str],
        *,
        analyst: str = "",
        text: str = "",
    ) -> tuple[str, Receipt]:
        """What `compute` made of the rows, as it is stored under the receipt of the charge, perhaps before."""
        ledger, engine, policy = self.holdings.ledger, self.holdings.engine, self.holdings.policy
        price.check_limit(guarantee, policy.per_question, ledger.budget)
        terms: dict[str, Any] = {"analyst": analyst, "data_version": policy.data_version, "policy_hash": policy.hash}
        stored = ledger.recall(guarantee, question, **terms)
        if stored is not None and stored.answer is not None:
            return stored.answer, stored
        relation = self.question.relation
        sources = self.holdings.table_sources({table.name: table for table in relation.tables}.values())
        places = {name: (rows_of(engine.words, name), source.texts) for name, source in sources.items()}
        select = self._select(question_sql(engine.words, self.question, places))
        engine.check(self.question)
        engine.rehearse(sources, [select])
        check_matches(relation, sources, engine, None)
        with engine.opened([*sources.values()]) as opened:
            try:
                told: dict[str, Any] = {"text": text, "door": "learn", "unprotected": self.unprotected}
                receipt = ledger.reserve(guarantee, question, **terms, lease=LEASE, **told)
            except InputError as error:
                with suppress(DitherError):  # the refusal is what is told, logged or not
                    ledger.record_refusal(text, error.why, analyst=analyst)
                raise
            if receipt.answer is not None:
                return receipt.answer, receipt
            ledger.touch(receipt)
            done: list[str] = []
            with lease_renewed(ledger, receipt), untold():
                heads = {name: source.relation for name, source in sources.items()}
                rows = opened.read()(with_tables(engine.words, heads, select), lambda _: True)
                done.append(compute(counted(rows, self.question.table, self.max_rows)))
            if not done:
                raise ReleaseError("fit", receipt.name, FAILED, "asking the owner of the data")
            return ledger.commit(receipt, done[0]), receipt

    def _select(self, rows: str) -> str:
        """A SELECT of the columns, the target, and whose a row is."""
        words, table = self.holdings.engine.words, self.question.table
        texts = {column.name for column in table.columns if column.type is Type.TEXT}
        names = [column.name for column in (*self.columns, *([self.target] if self.target else []))]
        names += [] if table.person is None else [table.person]
        cells = []
        for name in names:
            cell = f"q.{words.name(name)}"
            cells.append(words.sound(cell) if name in texts else cell)  # Python has no text that is not UTF-8: it would fail
        return f"SELECT {', '.join(f'{cell} AS c{place}' for place, cell in enumerate(cells))} FROM ({rows}) AS q"


def make_features(sql: str, holdings: Holdings, target: str | None, max_rows: int | None) -> Features:
    """The handle of a SELECT of columns; reads no data."""
    if not isinstance(sql, str):
        raise DataError("sql", sql, "it is not a text", WAYS)
    if target is not None and not isinstance(target, str):
        raise DataError("target", target, "it is not the name of a column", WAYS)
    text = sql.strip().rstrip(";") if target is None else _with_target(sql, target)
    question = parse(f"SELECT COUNT(*) AS dither_rows FROM ({text}) AS features", holdings.policy)
    table = question.table
    named = {column.name.lower(): column for column in table.columns if column.name != table.person}
    wanted = None
    if target is not None:
        wanted = named.pop(target.lower(), None)
        if wanted is None:
            raise QuestionError("target", target, "the SELECT has no such column", f"SELECT ..., {target} FROM ...")
    if not named:
        raise QuestionError("sql", sql, "it selects no column to learn from", WAYS)
    for column in (*named.values(), *([wanted] if wanted else [])):
        _usable(column)
    return Features(holdings, sql, question, tuple(named.values()), wanted, _rows_per_person(table, max_rows))


def _with_target(sql: str, target: str) -> str:
    """The SELECT with its target, if it does not have it yet."""
    tree = read(sql)
    if target.lower() in [name.lower() for name in tree.named_selects]:
        return sql.strip().rstrip(";")
    return tree.select(exp.column(exp.to_identifier(target, quoted=True))).sql(dialect="duckdb")


def _usable(column: Column) -> None:
    """Refuse a column of which nothing public is stated."""
    if column.type.is_date:
        raise QuestionError(
            "column", column.name, "a date is no feature", f"EXTRACT(YEAR FROM {column.name}), or leave it out"
        )
    if column.auto:
        why = "its bounds are found privately, by each question"
        raise QuestionError("column", column.name, why, "bounds in the policy, or leave it out")
    if column.type is not Type.BOOLEAN and column.keys is None and not column.is_bounded:
        raise QuestionError(
            "column", column.name, "the policy states neither bounds nor keys of it", "bounds, or leave it out"
        )


def _rows_per_person(table: Table, stated: int | None) -> int:
    """How many rows of a person count: one where she has no more, otherwise as stated, within the owner's limit."""
    most = 1 if table.person is None or table.alone else table.most_rows
    if stated is None:
        return most
    if type(stated) is not int or not stated >= 1:
        raise DataError("max_rows", stated, "it is not a number of rows", f"max_rows={most}")
    if stated > most:
        raise DataError("max_rows", stated, f"the policy lets {most} rows of a person count", f"max_rows={most}")
    return stated


def counted(rows: Sequence[tuple[Any, ...]], table: Table, most: int) -> Rows:
    """The rows that count: of each person the first in the order of their cells, without whose they are."""
    if table.person is None:
        return [tuple(row) for row in rows]
    mine: dict[Any, list[tuple[Any, ...]]] = {}
    for row in rows:
        if row[-1] is not None:
            mine.setdefault(row[-1], []).append(tuple(row[:-1]))
    return [row for own in mine.values() for row in sorted(own, key=lambda row: [repr(cell) for cell in row])[:most]]
