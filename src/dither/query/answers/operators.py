"""Operators between answers: none has a meaning that keeps the intervals, so each is refused with what does.

Type checkers see no operator here: they report it, and who runs it is told why.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dither.errors import ArgumentError

SIGNS = ("-", "+", "*", "/")
ORDER = ("<", "<=", ">", ">=")
WHY = "an answer is a table of numbers with noise, each with an interval, which an operator would lose"
DIFFERENCE = "a.difference(b), which matches the groups and has an interval for each difference"
SQL = "SELECT COUNT(*) / 1000 AS n ..., which computes in the question and keeps the interval; or numbers, answer['n'][0]"


def _refused(sign: str) -> Callable[[Any, Any], Any]:
    def operator(self: Any, other: Any) -> Any:
        both = isinstance(other, Operators)
        instead = DIFFERENCE if both and sign in ("-", *ORDER) else SQL
        raise ArgumentError(f"operand of {sign}", "an answer" if both else other, WHY, instead)

    return operator


class Operators:
    """What is no number: operators say what there is instead."""

    if not TYPE_CHECKING:
        __array_ufunc__ = None  # NumPy leaves its operators to these
        __sub__, __add__, __mul__, __truediv__ = (_refused(sign) for sign in SIGNS)
        __rsub__, __radd__, __rmul__, __rtruediv__ = (_refused(sign) for sign in SIGNS)
        __lt__, __le__, __gt__, __ge__ = (_refused(sign) for sign in ORDER)
