"""What analysts are told of a dataset: the declared facts of its policy. Nothing is counted, looked up or read."""

from __future__ import annotations

from decimal import Decimal, Inexact, localcontext
from fractions import Fraction
from typing import Any

from dither.query.policy.column import Column
from dither.query.policy.policy import Policy
from dither.query.policy.table import Table


def declared_facts(policy: Policy) -> dict[str, Any]:
    """Tables, columns, types, bounds, keys and limits; not where rows or the ledger are."""
    return {
        "domain": policy.domain,
        "unit": policy.unit.value,
        "data_version": policy.data_version,
        "per_question": None if policy.per_question is None else str(policy.per_question),
        "keeps_texts": policy.keeps_texts,
        "tables": [_table(table) for table in policy.tables],
    }


def _table(table: Table) -> dict[str, Any]:
    person = None if table.public else "each row" if table.person is None else table.person
    return {
        "name": table.name,
        "public": table.public,
        "person": person,
        "max_rows": None if table.public or table.person is None else table.max_rows,
        "columns": [_column(column) for column in table.columns],
    }


def _column(column: Column) -> dict[str, Any]:
    bounds = None
    if column.lower is not None and column.upper is not None:
        bounds = [_number(column.lower), _number(column.upper)]
    elif column.first is not None and column.last is not None:
        bounds = [column.first.isoformat(), column.last.isoformat()]
    return {
        "name": column.name,
        "type": column.type.value,
        "bounds": bounds,
        "step": None if column.step is None else _number(column.step),
        "keys": None if column.keys is None else [_key(key) for key in column.keys],
        "nullable": column.nullable,
        "known_from": column.known_from,
    }


def _number(value: Fraction) -> str:
    """Exactly: a decimal where there is one of at most 60 digits, else a fraction."""
    with localcontext(prec=60) as context:
        found = Decimal(value.numerator) / Decimal(value.denominator)
        return str(value) if context.flags[Inexact] else f"{found:f}"


def _key(key: Any) -> Any:
    return key if isinstance(key, (str, int, bool)) else key.isoformat()
