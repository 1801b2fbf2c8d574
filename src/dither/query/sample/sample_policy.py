"""The policy of made-up rows: what the owner declares, under a name that nobody takes for the real one."""

from __future__ import annotations

from dataclasses import replace

from dither.ledger.entries.texts import LONGEST_NAME
from dither.query.policy.cell_format import CellFormat
from dither.query.policy.policy import Policy
from dither.query.policy.table import Table


def sample_domain(domain: str) -> str:
    """The name of the domain of made-up rows."""
    return f"sample of {domain}"[:LONGEST_NAME]


def sample_policy(policy: Policy, data_version: str) -> Policy:
    """The same declarations for made-up rows in memory: no ledger, no sources, no words on how text is written."""
    tables, domain = tuple(_in_memory(table) for table in policy.tables), sample_domain(policy.domain)
    renamed = replace(policy, domain=domain, data_version=data_version, made_up=True)
    return replace(renamed, tables=tables, ledger=None, engine=None)


def _in_memory(table: Table) -> Table:
    columns = tuple(replace(column, cells=CellFormat()) for column in table.columns)
    return replace(table, columns=columns, source=None, dialect=None, unread=())
