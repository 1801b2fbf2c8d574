"""What an expression makes of declared keys, asked of the engine itself: the same templates, on public values.

No private row is near: the engine is one of its own, in memory, and gets the keys of the policy.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from dither.query.engines.duckdb.words import DUCKDB
from dither.query.engines.templates.expressions import render
from dither.query.plan.base import Expression
from dither.query.policy.column import Column, Key, Type


def images(by: Expression, columns: Sequence[Column]) -> list[Key] | None:
    """The values of an expression for all keys of its columns, missing ones too; None if they are no keys."""
    import duckdb

    if by.facts.type in (Type.DECIMAL, Type.FLOAT):
        return None
    lists = [f"SELECT unnest(CAST(? AS {DUCKDB.types[c.type]}[])) AS {DUCKDB.name(c.name)}" for c in columns]
    tables = ", ".join(f"({select}) AS keys{place}" for place, select in enumerate(lists))
    with duckdb.connect(":memory:", config={"threads": 1, "enable_external_access": False}) as engine:
        given = [[*(column.keys or ()), None] for column in columns]
        rows = engine.execute(f"SELECT DISTINCT {render(DUCKDB, by)} FROM {tables}", given).fetchall()
    found: list[Key] = []
    for (value,) in rows:
        if by.facts.type is Type.INTEGER and value is not None:
            if not abs(value) < 2**53:
                return None  # an infinity, or beyond what doubles tell apart
            value = int(value)
        if value is not None and not isinstance(value, (str, int, datetime.date)):
            return None
        found += [] if value is None else [value]
    return sorted(found)
