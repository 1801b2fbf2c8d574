"""Discrete Laplace noise, P(x) ~ e^(-rate |x|) on whole numbers, moved by up to `shift`.

*A larger move dominates a smaller one*: the noise is log-concave, so the best tests are "above a threshold" for every
move, and the same test has more power when the noise is moved further.

Moved by s, the losses are rate (s - 2x) for x = 0 .. s: a short table. A long one is replaced by *continuous* Laplace
noise with

    e = rate s + 2 ln cosh(rate / 2),

which dominates it. Proof by the largest power at each level (the trade-off curve). With a = e^-rate, the thresholds j
= 1 .. s give the corners level a^j / (1+a), power 1 - a^(s+1-j) / (1+a), on the hyperbola level * (1 - power) =
a^(s+1) / (1+a)^2 = e^-e / 4. The curve of the continuous noise is that hyperbola in the middle and above it at the
ends, by e^e x + e^-e / (4x) >= 1, so no corner lies above it. It is concave and joins (0, 0) and (1, 1), so the
segments between the corners do not lie above it either; and the corners with j outside 1 .. s lie on the first and
the last segment.
"""

from __future__ import annotations

from fractions import Fraction

from dither.numeric.balls import ends, precision
from dither.numeric.number import Number
from dither.privacy.loss.pairs.finite import FinitePair, LossRow
from dither.privacy.loss.pairs.laplace import LaplacePair
from dither.privacy.loss.pairs.pair import Pair

LONGEST = 64  # losses that are worth a table


def discrete_laplace(rate: Number, shift: int) -> Pair:
    """A pair that dominates; exactly the hardest one for short moves."""
    if shift > LONGEST:
        with precision(128):
            more = ends(2 * (rate.ball() / 2).cosh().log())[1]
        return LaplacePair(rate * shift + Number(Fraction(more)))
    if shift == 1:
        return FinitePair.response(rate, 2)
    # at or below 0, in between, at or above `shift`; (1 - a) a^x is a difference of two powers
    rows: list[LossRow] = [(rate * shift, Fraction(1), Number(0))]
    for x in range(1, shift):
        loss = rate * (shift - 2 * x)
        rows += [(loss, Fraction(1), -rate * x), (loss, Fraction(-1), -rate * (x + 1))]
    return FinitePair((*rows, (-rate * shift, Fraction(1), -rate * shift)))
