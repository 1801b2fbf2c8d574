"""The quote of a question about public tables alone: free, and answered exactly, without noise and without the ledger."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

from dither.errors import QuestionError
from dither.query.answers.answer import Answer
from dither.query.answers.free_answer import FreeAnswer
from dither.query.answers.record import Kind
from dither.query.free_quote import FreeQuote
from dither.query.holdings import Holdings
from dither.query.policy.policy import MADE_UP
from dither.query.policy.table import Table
from dither.query.public.engine import public_engine
from dither.query.public.nodes import Node, Order, PublicSelect, PublicUnion, Rows, Term
from dither.query.public.parse import read_public
from dither.query.public.template import MOST_ROWS, public_sql
from dither.query.sql.clauses.public_table import PublicTable
from dither.query.sql.options import read_options
from dither.terminal import Explanation

EXACT = "of public tables alone: no noise, and no price"
STORED: list[tuple[tuple[str, ...], Kind]] = [  # by how DuckDB calls a type
    (("BOOL",), "boolean"),
    (("TIMESTAMP",), "timestamp"),
    (("DATE",), "date"),
    (("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"), "whole"),
    (("DECIMAL", "FLOAT", "DOUBLE"), "number"),
]
Cell = str | bool | int | float | datetime.date | None


class PublicQuote(FreeQuote):
    """A question about public tables; `release` reads them, and charges nothing. Made by `Dataset.quote`.

    Args:
        sql: the question, as it was put.
        table: of no columns: they are known once it is answered.
        holdings: policy, ledger and sources of the dataset.
        asked: the question as nodes.

    Raises:
        QuestionError: the engine cannot compute it, or the answer has more than a million rows.
        DataError: as `FreeQuote`; or a table in a database has more than a million rows.

    Example:
        >>> import tempfile, pyarrow, dither
        >>> folder = tempfile.TemporaryDirectory()
        >>> ledger = dither.Ledger.create(folder.name + "/visits.ledger", budget=dither.pure(3))
        >>> rows, wards = pyarrow.table({"ward": ["A"]}), pyarrow.table({"ward": ["A", "B"], "beds": [20, 12]})
        >>> clinic = dither.protect(rows, name="visits", person="each row", public={"wards": wards}, ledger=ledger)
        >>> quote = clinic.quote("SELECT SUM(beds) AS beds FROM wards")
        >>> quote.price, quote.release()["beds"]
        ('free: nothing private is read', [32])
        >>> folder.cleanup()
    """

    def __init__(self, sql: str, table: PublicTable, holdings: Holdings, asked: PublicSelect) -> None:
        super().__init__(sql, table, holdings)
        object.__setattr__(self, "asked", asked)

    asked: PublicSelect

    def _says(self) -> str:
        return f"{EXACT}; {MADE_UP}" if self.holdings.policy.made_up else EXACT

    def describe(self) -> Explanation:
        """How dither understood the SQL."""
        names = ", ".join(table.name for table in public_tables(self.asked))
        return Explanation(f"Of         {names}\nAsks       {EXACT}")

    def rehearsed(self) -> PublicQuote:
        """The same, once its SELECT has run on made-up rows: what can never work is refused here."""
        engine, sources = public_engine(public_tables(self.asked), self.holdings, fetch=False)
        engine.rehearse(sources, [public_sql(self.asked, sources, placed=False)], threads=1)
        return self

    def release(self, **how: Any) -> Answer:
        """The answer, at no charge; `how` are the keywords of `Quote.release`, and change nothing."""
        engine, sources = public_engine(public_tables(self.asked), self.holdings, fetch=True)
        select = public_sql(self.asked, sources, placed=True)
        try:
            with engine.reading([*sources.values()], threads=1) as run:  # in one thread: floats add up alike
                head = run(f"DESCRIBE {select}", lambda _: True)
                rows = run(select, lambda _: True)
        except Exception:
            why = "the engine cannot compute it from these tables"
            raise QuestionError("question", self._sql, why, "a simpler question") from None
        if len(rows) > MOST_ROWS:
            raise QuestionError("question", self._sql, f"it has more than {MOST_ROWS} rows", "LIMIT, or a total of them")
        names = [name for name, *_ in head]
        if len({name.lower() for name in names}) < len(names):
            why = "two columns of the answer would have one name"
            raise QuestionError("question", self._sql, why, "the names of columns instead of *")
        cells = {name: [_plain(row[at]) for row in rows] for at, name in enumerate(names)}
        kinds: dict[str, Kind] = {name: _kind(stored) for name, stored, *_ in head}
        return FreeAnswer(
            sql=self._sql,
            columns=dict(cells),
            kinds=kinds,
            keys=tuple(name for name in names if kinds[name] not in ("whole", "number")),
            guarantee=self.guarantee,
            says=self._says(),
            explained=self.explain()[:],
            frame_kind=next((source.kind for source in self.holdings.sources.values()), ""),
        )

    def __repr__(self) -> str:
        return f"PublicQuote({self._sql!r})"


def public_quote(text: str, holdings: Holdings) -> PublicQuote | None:
    """The quote of a question whose tables are all public; None for all others."""
    if not any(table.public for table in holdings.policy.tables):
        return None
    asked = read_public(read_options(text)[0], holdings.policy)
    if asked is None:
        return None
    return PublicQuote(text, PublicTable({}, {}, ()), holdings, asked).rehearsed()


def public_tables(node: Node | Rows | Order | None) -> list[Table]:
    """The tables that are read, each once."""
    found: list[Table] = []
    match node:
        case PublicSelect():
            parts: list[Any] = [*(of for *_, of in node.given), *(item for item, _ in node.items), *node.rows]
            parts += [node.where, *node.groups, node.having, *node.order]
            found = [table for part in parts for table in public_tables(part)]
        case PublicUnion(left, right):
            found = public_tables(left) + public_tables(right)
        case Rows(of=of, on=on):
            found = [of] if isinstance(of, Table) else [] if isinstance(of, str) else public_tables(of)
            found += public_tables(on)
        case Term(_, several):
            found = [table for part in several for table in public_tables(part)]
        case Order(by):
            found = public_tables(by)
    return list(dict.fromkeys(found))


def _plain(cell: Any) -> Cell:
    """A cell as answers hold it: of decimals the nearest double."""
    return float(cell) if isinstance(cell, Decimal) else cell


def _kind(stored: str) -> Kind:
    return next((kind for starts, kind in STORED if stored.startswith(starts)), "text")
