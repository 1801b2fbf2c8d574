"""Pure differential privacy: the formulas of one epsilon, and the exact composition of many.

The hardest pair of an epsilon-DP mechanism is randomized response (Kairouz, Oh and Viswanath 2015): the loss is
+epsilon with probability e^epsilon / (1 + e^epsilon) and -epsilon otherwise. Whatever is computed for randomized
response therefore holds, under adaptive composition too, for every mechanism with the same epsilons.

    Rényi        D_a = ln( (sinh(a eps) - sinh((a-1) eps)) / sinh(eps) ) / (a - 1)
    zCDP         rho = eps tanh(eps/2)
    profile      the k-fold loss takes the values sum of ±eps_i; delta(eps) = E (1 - e^(eps - loss))_+

Theorem. D_a <= a eps tanh(eps/2) for all a > 1, and no smaller rho will do.
(Harrison and Manurangsi 2025; the proof is ours.)

Proof. sinh(a eps) - sinh((a-1) eps) = 2 cosh(t eps) sinh(eps/2) with t = a - 1/2, so (a-1) D_a = h(t^2) - h(1/4) where
h(s) = ln cosh(eps sqrt s). Its slope h'(s) = eps tanh(eps sqrt s) / (2 sqrt s) falls, since tanh(x)/x does: h is concave and
lies below its tangent at s = 1/4, whose slope is eps tanh(eps/2). As t^2 - 1/4 = a (a-1), D_a <= a eps tanh(eps/2). At a = 1
curve and tangent have one slope, the expected loss, so D_a / a comes as near to it as one likes.

On a set of losses l_1 > l_2 > ... with probabilities p_i, let A and B be the sums of p_i and p_i e^(-l_i) over the losses
above eps. Then delta(eps) = A - e^eps B, and inside a gap between two losses it can be inverted in closed form.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import lru_cache
from typing import TypeVar

from flint import arb, ctx

from dither.numeric.balls import ends, precision
from dither.numeric.enclosure import to_ball, upper_fraction
from dither.numeric.number import Number

K = TypeVar("K", int, Number)

MOST_LOSSES = 20_000  # more different values of the loss than this are left to the Rényi curve
MOST_WORK = 1_000_000
MOST_WORK_WITH_LOGARITHMS = 30_000  # sums of logarithms are slower to compare


def renyi(epsilon: Number, alpha: Fraction) -> arb:
    """The Rényi divergence of order alpha of randomized response."""
    if epsilon == 0:
        return to_ball(0)
    e, a = epsilon.ball(), to_ball(alpha)
    # divide by e^(a eps): sinh(a e) - sinh((a-1) e) = e^(a e) (1 - e^-e)(1 + e^(-(2a-1) e)) / 2, and so on
    top = -(-e).expm1() * (1 + (-(2 * a - 1) * e).exp()) / 2
    return (a * e + (top / e.sinh()).log()) / (a - 1)


def rho(epsilon: Number) -> arb:
    """The least rho with which every epsilon-DP mechanism is rho-zCDP."""
    return epsilon.ball() * (epsilon.ball() / 2).tanh()


@lru_cache(maxsize=1024)
def charged_rho(epsilon: Number) -> Fraction:
    """The same, rounded up to 64 binary digits: what a filter counts."""
    return min(classical_rho(epsilon), upper_fraction(lambda: rho(epsilon)))


def classical_rho(epsilon: Number) -> Fraction:
    """epsilon^2 / 2 (Bun and Steinke 2016), which is never less; rounded up where it is irrational."""
    if epsilon.is_rational:
        return epsilon.fraction() ** 2 / 2
    with precision(128):
        return ends(epsilon.ball() ** 2 / 2)[1]


LossProbability = tuple[Number, arb]  # a value of the loss, and a ball around its probability


def losses(entries: Iterable[tuple[Number, int]]) -> list[LossProbability] | None:
    """The values of the composed loss, largest first, with balls around their probabilities; None if too many."""
    groups = [(epsilon, count) for epsilon, count in entries if epsilon != 0]
    if all(epsilon.is_rational for epsilon, _ in groups):
        # On a common lattice losses are whole numbers of steps: many coincide, and they are quick to add.
        step = Fraction(1, math.lcm(*(epsilon.fraction().denominator for epsilon, _ in groups)))
        whole = [(int(epsilon.fraction() / step), epsilon, count) for epsilon, count in groups]
        found = _convolve(whole, 0, MOST_WORK)
        return None if found is None else [(Number(step * key), found[key]) for key in sorted(found, reverse=True)]
    mixed = _convolve([(epsilon, epsilon, count) for epsilon, count in groups], Number(0), MOST_WORK_WITH_LOGARITHMS)
    return None if mixed is None else sorted(mixed.items(), key=_DescendingLoss)


def _convolve(groups: list[tuple[K, Number, int]], zero: K, most: int) -> dict[K, arb] | None:
    total, work = {zero: to_ball(1)}, 0
    for key, epsilon, count in groups:
        work += len(total) * (count + 1)
        if work > most:
            return None
        merged: dict[K, arb] = {}
        for lies, share in enumerate(_binomial(epsilon, count)):
            move = key * (count - 2 * lies)
            for before, chance in total.items():
                at = before + move
                merged[at] = merged[at] + chance * share if at in merged else chance * share
        total = merged
        if len(total) > MOST_LOSSES:
            return None
    return total


class _DescendingLoss:
    """Sorts losses from the largest down, by exact comparison."""

    __slots__ = ("loss",)

    def __init__(self, pair: LossProbability) -> None:
        self.loss = pair[0]

    def __lt__(self, other: _DescendingLoss) -> bool:
        return self.loss > other.loss


def _binomial(epsilon: Number, count: int) -> Iterator[arb]:
    """The probability of 0, 1, 2, ... lies among `count` answers."""
    e = epsilon.ball()
    chance = (1 / (1 + (-e).exp())) ** count  # all answers truthful
    fall = (-e).exp()
    for lies in range(count + 1):
        yield chance
        chance = chance * fall * (count - lies) / (lies + 1)


def delta_of(pairs: list[LossProbability], epsilon: Number) -> arb:
    """delta(epsilon) = E (1 - e^(epsilon - loss))_+."""
    total = to_ball(0)
    for loss, chance in pairs:
        if loss <= epsilon:
            break
        total += chance * -(epsilon - loss).ball().expm1()
    return total


def epsilon_of(pairs: list[LossProbability], delta: Fraction) -> arb | None:
    """The epsilon >= 0 with delta(epsilon) = delta, as a ball; zero when even epsilon = 0 meets it; None if unclear.

    Losses are taken from the largest down. Where it cannot be told whether delta is reached (it may lie exactly on a sum of
    probabilities), delta is lowered by the width of the ball: a smaller delta has a larger epsilon, so the upper end holds.
    """
    above, weighted, target = to_ball(0), to_ball(0), to_ball(delta)
    positive = [(loss, chance) for loss, chance in pairs if loss > 0]
    for at, (loss, chance) in enumerate(positive):
        above += chance
        weighted += chance * (-loss.ball()).exp()
        if above <= target:
            continue
        if not above > target:
            target = above.lower().min(target.lower()) * (1 - arb((1, 8 - ctx.prec)))
        answer = ((above - target) / weighted).log()
        if not answer.is_finite():
            return None
        edge = (positive[at + 1][0] if at + 1 < len(positive) else Number(0)).ball()
        if answer >= edge:
            return answer
        if not answer < edge:
            # Below the edge the true profile lies above this line, so the solution is between the two.
            return answer.union(edge)
    return to_ball(0)
