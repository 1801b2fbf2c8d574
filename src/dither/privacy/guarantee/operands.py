"""The other side of an operator: what a guarantee can be added to, and what is refused in words."""

from __future__ import annotations

import numbers
from decimal import Decimal
from typing import Any

from dither.errors import ArgumentError
from dither.numeric.number import Number


def operand_error(sign: str, other: Any) -> Any:
    """A refusal of a number or a text, which have no meaning here; anything else may know a guarantee itself."""
    if isinstance(other, (str, numbers.Number, Decimal, Number)):
        why = "a guarantee is added to guarantees, not to numbers"
        instead = "pure('0.5') + pure(1), a multiple such as 2 * pure('0.5'), or .epsilon(delta), which is a number"
        raise ArgumentError(f"operand of {sign}", other, why, instead)
    return NotImplemented
