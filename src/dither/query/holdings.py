"""What a quote needs of a dataset: the policy, the ledger, and where the rows of each table are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dither.errors import PolicyError
from dither.ledger.ledger import Ledger
from dither.query.policy.policy import Policy
from dither.query.policy.table import Table
from dither.query.sources.source import Source


@dataclass(frozen=True)
class Holdings:
    """Policy, ledger and sources: the owner's side. No answer holds it."""

    policy: Policy
    ledger: Ledger
    sources: Mapping[str, Source] = field(repr=False)  # where the rows of each table are, found when it was opened

    def source(self, table: Table) -> Source:
        """Where the rows of a table are."""
        if table.name not in self.sources:
            why = "the policy does not say where its rows are"
            raise PolicyError(f"tables.{table.name}.source", None, why, '"visits.parquet"')
        return self.sources[table.name]
