"""Keys and numbers as texts for people."""

from __future__ import annotations

from typing import Any

DIGITS = 6  # of numbers that are not whole
LARGEST = 1e15  # beyond it a number is shown by its power of ten


def plain(value: Any) -> str:
    """A key as a text that can be shown: one of the data may hold what a terminal obeys, or what no chart can draw."""
    text = str(value)
    return text if text.isprintable() else text.encode("unicode_escape").decode()


def number(value: Any) -> str:
    """A cell, as people read it."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return plain(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.{DIGITS}g}"


def key_text(value: Any) -> str:
    """A key, as people read it: a label, whose digits stand together."""
    return str(value) if type(value) is int else number(value)


def rounded(value: float) -> str:
    """About how large a number is: four digits, and no power of ten where people write it in full."""
    digits = float(f"{value:.4g}")
    return f"{digits:,.15g}" if abs(digits) < LARGEST else f"{digits:,.4g}"
