"""What an expression makes of public values, asked of the engine itself: the same templates that rows will meet.

No private row is near: the engine is one of its own, in memory, and gets keys and bounds of the policy, and constants of the
question.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

from dither.query.engines.duckdb.words import DUCKDB
from dither.query.engines.templates.expressions import render
from dither.query.plan.base import Expression
from dither.query.policy.column import Column, Key, Type


def images(by: Expression, columns: Sequence[Column]) -> list[Key] | None:
    """The values of an expression for all keys of its columns, missing ones too, sorted; None if they are no keys."""
    lists = [f"SELECT unnest(CAST(? AS {DUCKDB.types[c.type]}[])) AS {DUCKDB.name(c.name)}" for c in columns]
    tables = ", ".join(f"({select}) AS keys{place}" for place, select in enumerate(lists))
    given = [[*(column.keys or ()), None] for column in columns]
    rows = _rows(f"SELECT DISTINCT {render(DUCKDB, by)} FROM {tables}", given)
    found = [value for (value,) in rows if value is not None]
    return sorted(_as_key(value) for value in found) if all(_is_key(by, value) for value in found) else None


def kept(condition: Expression, columns: Sequence[Column]) -> set[tuple[Key, ...]]:
    """The combinations of the keys of columns that meet a condition about them, as rows would."""
    lists = [f"SELECT unnest(CAST(? AS {DUCKDB.types[c.type]}[])) AS {DUCKDB.name(c.name)}" for c in columns]
    tables = ", ".join(f"({select}) AS keys{place}" for place, select in enumerate(lists))
    names = ", ".join(DUCKDB.name(column.name) for column in columns)
    rows = _rows(f"SELECT {names} FROM {tables} WHERE {render(DUCKDB, condition)}", [list(c.keys or ()) for c in columns])
    return {tuple(map(_as_key, row)) for row in rows}


def constant_images(expressions: Sequence[Expression]) -> list[Key] | None:
    """The values of expressions without columns, in their order; None if one is no key."""
    ((*found,),) = _rows(f"SELECT {', '.join(render(DUCKDB, by) for by in expressions)}", [])
    return list(map(_as_key, found)) if all(map(_is_key, expressions, found)) else None


def _rows(sql: str, given: list[list[Key | None]]) -> list[tuple[Any, ...]]:
    import duckdb

    with duckdb.connect(":memory:", config={"threads": 1, "enable_external_access": False}) as engine:
        return engine.execute(sql, given).fetchall()


def _is_key(by: Expression, value: Any) -> bool:
    """Whether a value can be a key: no infinity, and no number beyond what doubles tell apart."""
    if by.facts.type is Type.INTEGER:
        return value is not None and abs(value) < 2**53
    return by.facts.type not in (Type.DECIMAL, Type.FLOAT) and isinstance(value, (str, int, datetime.date))


def _as_key(value: Any) -> Any:
    return int(value) if isinstance(value, float) else value
