"""The scale of prices that a slider goes through: round numbers, each about twice the one before.

Only a help for the hand: the number field beside the slider is what is asked by, and takes every number between.
"""

from __future__ import annotations

import re
from decimal import Decimal

FIRST = {"epsilon": Decimal("0.001"), "rho": Decimal("0.00001")}
MOST = Decimal(10)  # where the owner sets no limit
ROUND = (1, 2, 5)
SIGN = {"epsilon": "ε", "rho": "ρ"}
NUMBER = r"([0-9]{1,12}(?:\.[0-9]{1,12})?(?:e[+-]?[0-9]{1,2})?)"
FEW = 3  # digits of a limit that was not rounded when it was written


def price_scale(way: str, limit: str | None, budget: str | None) -> list[str]:
    """Round numbers up to the limit of one question, or to the budget where there is none, as both are written for people.

    A limit that cannot be read off its text (it counts something else, or was rounded) is only not at the end of the scale.
    """
    most = _read(way, limit)
    end = most if most is not None else min(_read(way, budget) or MOST, MOST)
    found, power = list[Decimal](), FIRST[way]
    while power <= end:
        found += [power * digit for digit in ROUND if power * digit <= end]
        power *= 10
    if most is not None and most not in found and len(most.as_tuple().digits) <= FEW:
        found.append(most)
    return [f"{each.normalize():f}" for each in found] or [f"{end.normalize():f}"]


def _read(way: str, text: str | None) -> Decimal | None:
    found = re.search(f"{SIGN[way]} = {NUMBER}", text or "")
    number = None if found is None else Decimal(found[1])
    return number if number is None or Decimal("1e-9") <= number <= Decimal("1e6") else None
