"""The best Rényi order for a conversion. Any order gives a valid bound, so the search may use plain floats."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from dither.numeric.balls import precision

GOLDEN = (math.sqrt(5) - 1) / 2
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
    left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    f_left, f_right = value(left), value(right)
    best, f_best = grid[at], values[at]
    for _ in range(60):
        for t, f in ((left, f_left), (right, f_right)):
            if f < f_best:
                best, f_best = t, f
        if high - low < 1e-9:
            break
        if f_left <= f_right:
            high, right, f_right = right, left, f_left
            left = high - GOLDEN * (high - low)
            f_left = value(left)
        else:
            low, left, f_left = left, right, f_right
            right = low + GOLDEN * (high - low)
            f_right = value(right)
    return _order(best)
