"""Terms of a question for the wire: numbers as they were written, so that none is rounded on the way."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from operator import index
from typing import Any

from dither.errors import DataError, NumberError
from dither.numeric.number import Number, NumberLike, exact
from dither.privacy.guarantee.guarantee import Guarantee

EXAMPLE = "'SELECT COUNT(*) AS n FROM visits', or a list of such texts; of an Ibis expression ibis.to_sql(expression)"

BY_NAME = {  # why what names no column is refused, and what would work
    "error": ("it says of no column how far it may be off", "error={'n': 50}"),
    "spread": ("it names no column with its standard deviation", "spread={'cost': 300}"),
}
WORDS = {"bounding", "other", "noise", "limits", "bounds"}


def question(sql: str | list[str] | tuple[str, ...]) -> str | list[str]:
    """The text of a question, or a list of texts."""
    if isinstance(sql, str):
        return sql
    if not isinstance(sql, (list, tuple)) or not all(isinstance(one, str) for one in sql):
        raise DataError("sql", sql, "a gateway is asked in SQL, as text", EXAMPLE)
    return list(sql)


def wire_terms(terms: Mapping[str, Any]) -> dict[str, Any]:
    """Keywords of `quote` as JSON has them; those that were left out are left out."""
    return {name: _term(name, value) for name, value in terms.items() if value is not None}


def _term(name: str, value: Any) -> Any:
    if name == "guarantee":
        if not isinstance(value, Guarantee):
            raise DataError("guarantee", value, "it is not a guarantee", "pure('0.5')")
        return json.loads(value.to_json())
    if name in BY_NAME:
        if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
            raise DataError(name, value, *BY_NAME[name])
        return {key: number(f"{name} of {key}", one) for key, one in value.items()}
    if name == "size":
        try:
            return index(value)
        except TypeError:
            raise NumberError("size", value, "it is not a whole number", "size=1000") from None
    if name in WORDS:
        if not isinstance(value, str):
            raise DataError(name, value, "it is not a text", "see Dataset.quote")
        return value
    return value if name == "intervals" and isinstance(value, bool) else number(name, value)


def number(name: str, value: NumberLike) -> str | int:
    """A number as exact text; a text goes as it is, and is read there."""
    if isinstance(value, str):
        return value
    if isinstance(value, (int, Fraction, Decimal, Number, float)) or hasattr(value, "__index__"):
        return str(exact(value, name=name))
    raise NumberError(name, value, "it is not a number", "a number such as 0.5, or text such as '1/3'")
