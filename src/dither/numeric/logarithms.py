"""Rational combinations of logarithms of integers, c1 ln b1 + c2 ln b2 + ..., with pairwise coprime bases.

The bases are integers above 1 with no common factor between any two, so their logarithms are linearly independent over the
rationals (unique factorisation).
"""

from __future__ import annotations

import math
from fractions import Fraction


def insert(logs: dict[int, Fraction], base: int, coefficient: Fraction) -> None:
    """Add coefficient * ln(base) to {base: coefficient} and keep the bases coprime."""
    if base == 1 or coefficient == 0:
        return
    for old in list(logs):
        common = math.gcd(base, old)
        if common == 1:
            continue
        old_coefficient = logs.pop(old)
        times, rest = _multiplicity(base, common)
        old_times, old_rest = _multiplicity(old, common)
        insert(logs, common, coefficient * times + old_coefficient * old_times)
        insert(logs, rest, coefficient)
        insert(logs, old_rest, old_coefficient)
        return
    logs[base] = coefficient


def root(base: int, times: int) -> tuple[int, int]:
    """r and t with r^t = base, for the largest t that divides `times`."""
    if times > 1:
        from flint import fmpz

        for t in range(min(times, base.bit_length()), 1, -1):
            found = int(fmpz(base).root(t)) if times % t == 0 else 0
            if found**t == base:
                return found, t
    return base, 1


def _multiplicity(number: int, factor: int) -> tuple[int, int]:
    """How often a factor divides a number, and the quotient."""
    times = 0
    while number % factor == 0:
        number, times = number // factor, times + 1
    return times, number
