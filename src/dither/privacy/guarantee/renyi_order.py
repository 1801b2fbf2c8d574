"""The best Rényi order for a conversion. Any order gives a valid bound, so the search may use plain floats."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from dither.numeric.balls import precision
from dither.numeric.search import golden

LOWEST, HIGHEST = -20.0, 40.0  # of ln(alpha - 1)


def best_order(objective: Callable[[Fraction], float]) -> Fraction | None:
    """An order that nearly minimises a function with one valley in ln(alpha - 1); None if it is infinite everywhere."""
    with precision(80):
        return _search(lambda t: _guarded(objective, _order(t)))


def _order(t: float) -> Fraction:
    return 1 + Fraction(math.exp(t))


def _guarded(objective: Callable[[Fraction], float], alpha: Fraction) -> float:
    value = objective(alpha)
    return value if not math.isnan(value) else math.inf


def _search(value: Callable[[float], float]) -> Fraction | None:
    grid = [LOWEST + i for i in range(int(HIGHEST - LOWEST) + 1)]
    values = [value(t) for t in grid]
    at = min(range(len(grid)), key=values.__getitem__)
    if math.isinf(values[at]):
        return None
    low, high = grid[max(at - 1, 0)], grid[min(at + 1, len(grid) - 1)]
    seen = [(values[at], grid[at])]

    def noted(t: float) -> float:
        seen.append((value(t), t))
        return seen[-1][0]

    golden(noted, low, high, times=60, close=1e-9)
    return _order(min(seen, key=lambda point: point[0])[1])  # the first of the lowest
