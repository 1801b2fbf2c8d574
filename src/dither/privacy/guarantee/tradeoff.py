"""The trade-off function: of tests whether a person was in, at level a (false alarms), how large can the power be?

From a profile: if delta(eps) is proved, a test with level a has power at most e^eps a + delta, and applied to the other
hypothesis, 1 - e^-eps (1 - delta - a) (Wasserman and Zhou 2010). Every eps gives a bound; the least is taken.

    pure epsilon    min(e^eps a, 1 - e^-eps (1 - a))
    mu-GDP          Phi(Phi^-1(a) + mu), exactly
    a loss          the least over all eps, which is the power of the best test of the two that are hardest to tell apart
                    (`guarantee/power.py`): above it by no more than delta is
    others          the least over the epsilons of a grid, from conversions
"""

from __future__ import annotations

import math
from fractions import Fraction

from dither.errors import NumberError
from dither.numeric.number import Number, NumberLike, rational
from dither.privacy.guarantee.convert import Conversion
from dither.privacy.guarantee.power import direct, power_of_loss, reverse

GRID = 24  # epsilons tried


def power(conversion: Conversion, alpha: NumberLike) -> float:
    """The largest power at level alpha that these parts leave to any test, rounded up."""
    level = rational(alpha, name="alpha")
    if not 0 <= level <= 1:
        raise NumberError("alpha", alpha, "a level is a probability", "'0.05'")
    if level == 1:
        return 1.0
    if len(conversion.parts) == 1 and (exactly := conversion.parts[0].power(level)) is not None:
        return exactly
    if any(part.kind == "loss" for part in conversion.parts) and (loss := conversion.loss()) is not None:
        return power_of_loss(loss, level)
    return min([1.0, *(_bound(conversion, level, epsilon) for epsilon in _epsilons(conversion, level))])


def _bound(conversion: Conversion, level: Fraction, epsilon: Number) -> float:
    delta = Fraction(conversion.delta(epsilon))
    return max(0.0, min(direct(level, epsilon, delta), reverse(level, epsilon, delta), 1.0))


def _epsilons(conversion: Conversion, level: Fraction) -> list[Number]:
    """Epsilons worth trying: zero, the largest loss, and a grid up to where delta no longer matters."""
    bounded, others = conversion.split()
    found = [Number(0)] if others or bounded != 0 else []
    if not others:
        found.append(bounded)
    most = conversion.epsilon(level / 100 if level else Fraction(1, 10**12))
    if math.isfinite(most) and most > 0:
        found += [Number(Fraction(most * i / GRID)) for i in range(1, GRID + 1)]
    return found or [Number(0)]
