"""The other side of an operator: what a guarantee or a loss can be added to, and what is refused in words.

Type checkers see no operator here: they report a difference or a comparison, and who runs it is told why.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar

from dither.errors import ArgumentError
from dither.numeric.number import Number

PLAIN = (str, bytes, numbers.Number, Decimal, Number, list, tuple, dict, set, type(None))  # what knows no guarantee itself
NO_INVERSE = ("-", "/", "//", "%", "**")
ORDER = ("<", "<=", ">", ">=")


def operand_error(whose: Operands, sign: str, other: Any) -> Any:
    """A refusal of what has no meaning here, a number or a text or a list; anything else may know a guarantee itself."""
    if isinstance(other, PLAIN):
        kind, example, second = whose.operand_words
        what = "numbers" if isinstance(other, (str, numbers.Number, Decimal, Number)) else "anything else"
        plural = "guarantees" if kind == "guarantee" else "losses"
        why = f"a {kind} is added to {plural}, not to {what}"
        instead = f"{example} + {second}, a multiple such as 2 * {example}, or .epsilon(delta), which is a number"
        raise ArgumentError(f"operand of {sign}", other, why, instead)
    return NotImplemented


def _refused(sign: str, *, reflected: bool = False) -> Callable[[Any, Any], Any]:
    def operator(self: Any, other: Any) -> Any:
        kind, example, second = self.operand_words
        if isinstance(other, (*PLAIN, type(self))):
            shown = str(other) if isinstance(other, type(self)) else other
            if sign in ORDER:
                why = f"a {kind} is a curve of epsilons and deltas, which has no order"
                instead = f"numbers: {example}.epsilon('1e-6') < 2"
                instead += "; or pure('0.5').within(pure(1)), whether one implies the other" * (kind == "guarantee")
            else:
                why = f"what was promised is not taken back: a {kind} is added and repeated, no more"
                instead = f"{example} + {second}, 2 * {example}, or numbers: 2 - {example}.epsilon('1e-6')"
            where = f"left side of {sign}" if reflected else f"operand of {sign}"
            raise ArgumentError(where, shown, why, instead)
        return NotImplemented

    return operator


class Operands:
    """What has a sum and multiples, and neither differences nor an order: other operators say so."""

    operand_words: ClassVar[tuple[str, str, str]]  # what it is called, and two examples of it

    if not TYPE_CHECKING:
        __sub__, __truediv__, __floordiv__, __mod__, __pow__ = (_refused(sign) for sign in NO_INVERSE)
        __rsub__, __rtruediv__, __rfloordiv__, __rmod__, __rpow__ = (_refused(sign, reflected=True) for sign in NO_INVERSE)
        __lt__, __le__, __gt__, __ge__ = (_refused(sign) for sign in ORDER)
