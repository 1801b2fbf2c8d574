"""The quote of a question that no row is needed for: it is free, and answered without the ledger."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from dither.errors import DataError
from dither.numeric.number import NumberLike
from dither.privacy.guarantee.definitions import pure
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.loss.loss import Loss
from dither.query.answers.answer import Answer
from dither.query.answers.compare import Comparison
from dither.query.answers.estimates import KINDS
from dither.query.answers.free_answer import FREE, FreeAnswer
from dither.query.answers.grouping_words import open_key_rows, open_key_words
from dither.query.holdings import Holdings
from dither.query.pricing.offer import Offer
from dither.query.pricing.unprotected_facts import unprotected_keys, unprotected_words
from dither.query.quote import Quote
from dither.query.sql.clauses.public_table import PublicTable, read_public_table
from dither.query.sql.options import read_options
from dither.terminal import Explanation


class FreeQuote(Quote):
    """A question that is answered from the policy alone; `release` charges nothing. Made by `Dataset.quote`.

    Args:
        sql: the question, as it was put.
        table: the answer.
        holdings: policy, ledger and sources of the dataset.

    Raises:
        DataError: `offer` or `compare` was asked for: nothing is released, so there is nothing to compare.

    Example:
        >>> import tempfile, pyarrow, dither
        >>> folder = tempfile.TemporaryDirectory()
        >>> ledger = dither.Ledger.create(folder.name + "/people.ledger", budget=dither.pure(3))
        >>> rows = pyarrow.table({"sex": ["f", "m", "f"]})
        >>> people = dither.protect(rows, name="people", person="each row", keys={"sex": ["f", "m"]}, ledger=ledger)
        >>> quote = people.quote("SELECT DISTINCT sex FROM people")
        >>> quote.price, quote.release()["sex"]
        ('free: nothing private is read', ['f', 'm'])
        >>> folder.cleanup()
    """

    def __init__(self, sql: str, table: PublicTable, holdings: Holdings) -> None:
        for name, value in {"_sql": sql, "table": table, "holdings": holdings, "ask": None}.items():
            object.__setattr__(self, name, value)

    table: PublicTable
    _sql: str

    @property
    def offer(self) -> Offer:
        """There is none: nothing is released."""
        raise self._free()

    def _free(self) -> DataError:
        return DataError("quote", self._sql, "the question is free, and nothing is released for it", "quote.release()")

    @property
    def sql(self) -> str:
        """The question, as it was put."""
        return self._sql

    @property
    def guarantee(self) -> Guarantee:
        """An epsilon of 0."""
        return pure(0, unit=self.holdings.ledger.budget.unit)

    def loss(self) -> Loss:
        """None at all."""
        return self.guarantee.loss()

    def epsilon(self, delta: NumberLike | None = None) -> float:
        """0."""
        return 0.0

    @property
    def price(self) -> str:
        """That it is free."""
        return FREE

    @property
    def errors(self) -> dict[str, float | None]:
        """Of no number."""
        return {}

    @property
    def confidence(self) -> Fraction:
        """What is public is sure."""
        return Fraction(1)

    @property
    def unprotected(self) -> str:
        """Which keys, or bounds from which they follow, the owner took from the data; '' where there are none."""
        relation, groups = self.table.relation, self.table.groups
        return "" if relation is None else unprotected_words(unprotected_keys(relation, groups, self.holdings.policy))

    @property
    def question(self) -> dict[str, object]:
        """The ledger does not know it."""
        return {}

    @property
    def affordable(self) -> int:
        """It can be asked whatever is left of the budget."""
        raise DataError("affordable", self._sql, "the question is free, and can be asked for ever", "quote.release()")

    def explain(self, *, details: bool = False, analyst: str | None = None) -> Explanation:
        """What is answered, and that it is free; `details` of the budget it has none, and no share of an `analyst`."""
        outside = f"\nOutside    {self.unprotected}" if self.unprotected else ""
        told = f"Question   {' '.join(self._sql.split())}\nPrice      {FREE}\nRows       {self._says()}{outside}"
        return Explanation(told)

    def describe(self) -> Explanation:
        """How dither understood the SQL."""
        return Explanation(f"Asks       {', '.join(self.table.columns)}: {self._says()}")

    def _says(self) -> str:
        if not self.table.keys:
            return "none: the columns with their types, by the policy"
        groups, columns = self.table.groups, {name: list(column) for name, column in self.table.columns.items()}
        rows = "all keys that there can be, by the policy or the question, whether the data has them or not"
        return "; ".join([rows, *open_key_words(groups, open_key_rows(groups, columns))])

    def compare(self, *others: Quote, epsilon: Sequence[NumberLike] | None = None) -> Comparison:
        """Refused: nothing is released."""
        raise self._free()

    def release(self, **how: Any) -> Answer:
        """The answer, at no charge; `how` are the keywords of `Quote.release`, and change nothing."""
        kinds = {name: KINDS[kind] for name, kind in self.table.types.items()}
        return FreeAnswer(
            sql=self._sql,
            columns={name: list(column) for name, column in self.table.columns.items()},
            kinds=kinds,
            keys=self.table.keys,
            guarantee=self.guarantee,
            says="\n".join(told for told in (self._says(), self.unprotected) if told),
            explained=self.explain()[:],
            frame_kind=next((source.kind for source in self.holdings.sources.values()), ""),
            unprotected=self.unprotected,
        )

    def __repr__(self) -> str:
        return f"FreeQuote({self._sql!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FreeQuote) and (self._sql, self.table) == (other._sql, other.table)

    def __hash__(self) -> int:
        return hash(self._sql)


def free_quote(text: str, holdings: Holdings) -> FreeQuote | None:
    """The quote of a question that no row is needed for; None for all others."""
    table = read_public_table(read_options(text)[0], holdings.policy)
    return None if table is None else FreeQuote(text, table, holdings)
