"""What a quote needs of a dataset: the policy, the ledger, and where the rows of each table are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from dither.arguments import argument_errors
from dither.errors import DataError, PolicyError
from dither.hints import OF_A_DATASET
from dither.ledger.entries.budget import Remaining
from dither.ledger.ledger import Ledger
from dither.privacy.guarantee.guarantee import Guarantee
from dither.query.engines.choose import choose_engine
from dither.query.engines.engine import Engine, TableSource
from dither.query.policy.policy import Policy
from dither.query.policy.table import Table
from dither.query.sources.postgres_catalogue import is_address
from dither.query.sources.source import Source


@argument_errors
@dataclass(frozen=True)
class Holdings:
    """Policy, ledger and sources of a dataset. Answers hold no reference to it: who has an answer cannot reach the rows."""

    policy: Policy
    ledger: Ledger
    sources: Mapping[str, Source] = field(repr=False)  # where the rows of each table are, found when it was opened

    @cached_property
    def engine(self) -> Engine:
        """What reads the rows; opened when somebody releases."""
        return choose_engine(self.sources, self.policy.engine, [table.name for table in self.policy.tables if table.public])

    @property
    def engine_words(self) -> list[str]:
        """What a quote says of the engine: nothing where it is certified."""
        told = None if self.policy.engine is None else self.policy.engine.uncertified
        stated = [table.source or "" for table in self.policy.tables]  # also where sources are left out, for quotes alone
        read = any(source.engine == "postgresql" for source in self.sources.values()) or any(map(is_address, stated))
        return [f"Engine     {told}"] if read and told else []

    @cached_property
    def lost(self) -> set[int]:
        """Receipts whose answers were being computed here when something went wrong: nobody here waits for them."""
        return set()

    if not TYPE_CHECKING:  # a checker of types would take every name for one that is there

        def __getattr__(self, name: str) -> Any:
            if hasattr(type(self), name):  # it is there, and computing it failed: the failure is told
                return object.__getattribute__(self, name)
            meant = OF_A_DATASET.get(name.lower())
            told = f"'{type(self).__name__}' object has no attribute '{name}'"
            raise AttributeError(f"{told}: {meant}" if meant else told, name=name, obj=self)

    def table_source(self, table: Table) -> TableSource:
        """Where the rows of a table are, and how they are stored there."""
        return self.engine.table(table, self.source(table))

    def table_sources(self, tables: Iterable[Table]) -> dict[str, TableSource]:
        """The same of several tables, by name."""
        return self.engine.tables({table: self.source(table) for table in tables})

    def source(self, table: Table) -> Source:
        """Where the rows of a table are."""
        if table.name not in self.sources:
            why = "the policy does not say where its rows are"
            raise PolicyError(f"tables.{table.name}.source", None, why, '"visits.parquet"')
        return self.sources[table.name]


def remaining_for(ledger: Ledger, guarantee: Guarantee, analyst: str | None) -> tuple[Remaining, str]:
    """What is left for questions at the price `guarantee`: of the budget, or of the share of `analyst` where that admits
    fewer; and of which of them it is, in words."""
    whole = ledger.remaining()
    try:
        own = None if not analyst else ledger.remaining(analyst)
    except DataError:  # no share of that name
        own = None
    if own is None or whole.like(guarantee) < own.like(guarantee):
        return whole, "of the budget"
    return own, f"of the share of {analyst}"


def left_words(
    ledger: Ledger,
    guarantee: Guarantee,
    analyst: str | None,
    *,
    which: str = "question like this one",
    details: bool = False,
) -> str:
    """The same in words, for a quote; in brackets, why there is room for more than their epsilons add up to."""
    remaining, of = remaining_for(ledger, guarantee, analyst)
    reason = remaining.reason(guarantee)
    return remaining.words(guarantee, which=which, of=of, details=details) + (f"\n           ({reason})" if reason else "")
