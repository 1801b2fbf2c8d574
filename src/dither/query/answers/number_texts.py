"""Numbers with intervals as people read them: no more decimals than the interval is worth, and thousands apart.

Theorem. The interval that is shown holds the one that exports have, as they write it.
Proof. Exports write the shortest decimal of a float, which `str` gives. Of it the low end is rounded down and the high end
up: to so many decimals or, where none are stated, to `DIGITS` significant ones, which `number` shows as they are. ∎
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from typing import Any

from dither.query.plan.text import DIGITS, number

WIDTH_DIGITS = 3  # of the width of an interval
MOST_DECIMALS = 9
LARGEST = 1e15  # beyond it a number is shown by its power of ten
CONTEXT = Context(prec=60)  # of a result: below 1e15, with at most 9 decimals


def decimals_of(lows: Sequence[Any], highs: Sequence[Any]) -> int | None:
    """How many decimals the numbers of a column have, by its shortest interval; None where they are shown as they are.

    Example:
        >>> decimals_of([451.421, 0.0], [972.451, 536.9]), decimals_of([44.6], [45.8]), decimals_of([3], [9])
        (0, 2, None)
    """
    known = [end for end in (*lows, *highs) if end is not None]
    if any(isinstance(end, bool) or not isinstance(end, (int, float)) for end in known):
        return None
    if all(isinstance(end, int) for end in known) or any(not abs(end) < LARGEST for end in known):
        return None
    pairs = zip(lows, highs, strict=True)
    widths = [high - low for low, high in pairs if low is not None and high is not None and high > low]
    if not widths:
        return None
    found = max(0, WIDTH_DIGITS - 1 - math.floor(math.log10(min(widths))))
    return found if found <= MOST_DECIMALS else None


def number_text(value: Any, decimals: int | None, rounding: str = ROUND_HALF_EVEN) -> str | None:
    """A number with so many decimals; what is no number, or has no decimals stated, as it is; None stays None.

    Example:
        >>> number_text(13469404.5, 0), number_text(0.25, None), number_text(None, 2)
        ('13,469,404', '0.25', None)
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < math.inf:
        return number(value)
    exact = Decimal(str(value))
    if decimals is not None and abs(value) < LARGEST:
        rounded = exact.quantize(Decimal(1).scaleb(-decimals), rounding, CONTEXT)
        return f"{rounded if rounded else abs(rounded):,f}"  # there is no -0
    return number(value if isinstance(value, int) else float(Context(prec=DIGITS, rounding=rounding).plus(exact)))


def low_text(value: Any, decimals: int | None) -> str | None:
    """The low end, rounded down."""
    return number_text(value, decimals, ROUND_FLOOR)


def high_text(value: Any, decimals: int | None) -> str | None:
    """The high end, rounded up."""
    return number_text(value, decimals, ROUND_CEILING)
