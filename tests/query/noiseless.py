"""Answers at prices that leave next to no noise, beside those of plain SQL."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import duckdb

import dither
from dither.errors import BudgetError, NumberError
from dither.query.answers.free_answer import FreeAnswer

BARS, WIDEST = 8, 25  # bars that are allowed, and how wide one may be
PRICES = [10**15, 10**12, 10**9, 10**6]  # noise below 2^-20 steps cannot be drawn: the largest that can be
BUDGET = dither.approx(10**20, "1e-6")


def released(data: dither.Dataset, sql: str) -> dither.Answer:
    """The answer with as little noise as there can be."""
    for price in PRICES:
        try:
            return data.quote(sql, epsilon=price).release(threads=1)
        except (NumberError, BudgetError):
            continue
    raise AssertionError(f"no price: {sql}")


def without_limit(sql: str) -> str:
    """All rows: which of several that are equal come first is nobody's to say."""
    return re.sub(r"\s+LIMIT\s+\d+(\s+OFFSET\s+\d+)?\s*$", "", sql, flags=re.IGNORECASE)


def differences(data: dither.Dataset, engine: duckdb.DuckDBPyConnection, sql: str, plain: str, within: float) -> list[str]:
    """Where the answer to `sql` is not what plain SQL says of `plain`; rows are those of the same keys."""
    answer = released(data, sql)
    result = engine.execute(without_limit(plain))
    names, rows = [column[0] for column in result.description], result.fetchall()
    columns = [name for name in answer.columns if not name.endswith(("_low", "_high")) or name in names]
    if len(columns) != len(names):
        return [f"columns {columns} and {names}"]
    mine = [[(row[name], _off(row, name, within)) for name in columns] for row in answer.rows()]
    if isinstance(answer, FreeAnswer) or not answer.keys:
        rows = engine.execute(plain).fetchall()
        found = [] if len(mine) == len(rows) else [f"{len(mine)} rows and {len(rows)}"]
        return found + [f"{one} and {other}" for one, other in zip(mine, rows, strict=False) if not _alike(one, other)]
    keys = [columns.index(name) for name in answer.keys if name in columns]
    theirs = {tuple(_key(row[place]) for place in keys): row for row in rows}
    found = []
    for row in mine:
        expected = theirs.pop(tuple(_key(row[place][0]) for place in keys), None)
        if expected is None:  # a key that the data has not: of nothing, an average is anything within its bounds
            nothing = [row[place][0] if place in keys else 0 for place in range(len(row))]
            if len(row) - len(keys) == 1 and not _alike(row, nothing):
                found.append(f"{row}, and nothing of that key")
        elif not _alike(row, expected):
            found.append(f"{row} and {expected}")
    if without_limit(sql) != sql:
        return found
    return found + [f"{row} is missing" for key, row in theirs.items() if "None" not in key]


def _off(row: dict[str, Any], name: str, within: float) -> float:
    """How far a number may be off: by rounding to steps, or by many bars of the noise that is left."""
    low, high = row.get(f"{name}_low"), row.get(f"{name}_high")
    if not isinstance(row[name], (int, float)) or isinstance(row[name], bool) or not isinstance(low, (int, float)):
        return 0.0
    return max(within, BARS * (high - low) / 2) if math.isfinite(high - low) else 0.0


def _key(value: Any) -> str:
    """Keys as they are compared."""
    if isinstance(value, (int, Decimal, float)) and not isinstance(value, bool):
        return f"{float(value):g}" if value != int(value) else str(int(value))
    return str(value).removesuffix(" 00:00:00")


def _alike(mine: list[tuple[Any, float]], other: Sequence[Any]) -> bool:
    return all(_same(one, off, right) for (one, off), right in zip(mine, other, strict=True))


def _same(left: Any, off: float, right: Any) -> bool:
    numbers = (int, float, Decimal)
    if isinstance(left, numbers) and isinstance(right, numbers) and not isinstance(left, bool):
        narrow = off <= max(BARS * WIDEST, abs(left) / 10)  # else it would be compared with nothing
        return narrow and math.isclose(float(left), float(right), rel_tol=1e-4, abs_tol=off)
    if right is None or left is None:
        return (
            left == right or left is None or (isinstance(left, numbers) and abs(left) <= off)
        )  # a sum of nothing is a zero
    return _key(left) == _key(right)
