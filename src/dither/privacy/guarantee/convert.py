"""Conversion of a guarantee to (epsilon, delta) and back: the best of the bounds that hold for all of its parts together.

With e the probability that everything is lost, and delta' = (delta - e)/(1 - e) left for the rest:

    pairs      the exact loss distribution, where the hardest mechanisms of all parts are known (`loss/loss.py`)
    sum        the largest loss of every part, added up (no delta' needed)
    profile    the exact profile of the only part that has one (Gaussian; randomized response), the others by their sum
    orders     the Rényi curves of all parts, added up, at the best order
    tail       Bun and Steinke's bound on the rhos, added up
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from dither.errors import PrecisionError
from dither.numeric.balls import ends, precision, round_up
from dither.numeric.enclosure import certify, to_ball
from dither.numeric.number import Number
from dither.numeric.search import smallest, surely
from dither.privacy.formulas import normal
from dither.privacy.guarantee.currency import Currency
from dither.privacy.guarantee.renyi import epsilon_at, log_delta_at
from dither.privacy.guarantee.renyi_order import best_order
from dither.privacy.guarantee.zcdp import tail_delta
from dither.privacy.loss.loss import Loss

MOST_TERMS = 64  # kinds of mechanisms whose losses are added up unasked


@dataclass(frozen=True)
class Conversion:
    """The parts of one guarantee, converted to (epsilon, delta) together."""

    parts: tuple[Currency, ...]

    def lost(self) -> Fraction:
        """The probability that everything is lost, rounded up; exactly zero where nothing can be."""
        added = min(Fraction(1), sum((part.charged_delta() for part in self.parts), start=Fraction(0)))
        if added == 0:
            return added
        with precision(192):
            kept = to_ball(1)
            for part in self.parts:
                kept *= 1 - part.events()
            return min(added, ends(1 - kept)[1])

    def renyi(self, alpha: Fraction) -> arb | None:
        """The Rényi divergence of the rest, as a ball; None where some part has none."""
        total = to_ball(0)
        for part in self.parts:
            bound = part.renyi(alpha)
            if bound is None:
                return None
            total += bound
        return total

    def rho(self) -> arb | None:
        """The rho of the rest, as a ball; None where some part has none."""
        total = to_ball(0)
        for part in self.parts:
            rho = part.rho()
            if rho is None:
                return None
            total += rho
        return total

    def split(self) -> tuple[Number, list[Currency]]:
        """The parts with a largest loss, added up; and the others."""
        bounded, others = Number(0), []
        for part in self.parts:
            loss = part.largest_loss()
            if loss is None:
                others.append(part)
            else:
                bounded += loss
        return bounded, others

    def loss(self) -> Loss | None:
        """The hardest mechanisms of all parts together; None where they are not known."""
        found = [part.pairs() for part in self.parts]
        terms = [term for terms in found if terms is not None for term in terms]
        known = None not in found and (self._backed or len(terms) <= MOST_TERMS)
        return Loss(()) + Loss(tuple(terms)) if known else None

    @property
    def _backed(self) -> bool:
        return any(part.kind == "loss" for part in self.parts)

    def epsilon(self, delta: Fraction) -> float:
        """The smallest epsilon that is proved, rounded up."""
        lost = self.lost()
        if lost > delta:
            return math.inf
        left = (delta - lost) / (1 - lost)
        if left > 0 and len(self.parts) == 1 and (exactly := self.parts[0].rest_epsilon(left)) is not None:
            return exactly.upper
        bounded, others = self.split()
        found = [math.inf if others else bounded.bounds().upper]
        if (loss := self.loss()) is not None:
            if self._backed:
                return min(found[0], loss.epsilon_bracket(delta, both=False).upper)
            found.append(self._quick(lambda: loss.epsilon_bracket(delta, both=False, quick=True).upper, math.inf))
        if left > 0:
            if len(others) == 1 and (rest := others[0].rest_epsilon(left)) is not None:
                found.append(certify(lambda: bounded.ball() + to_ball(Fraction(rest.upper))).upper)
            found += self._epsilons_by_curve(left)
        return max(0.0, min(found))

    def _epsilons_by_curve(self, delta: Fraction) -> list[float]:
        order = best_order(lambda a: _float(self.renyi(a), lambda d: epsilon_at(a, d, to_ball(delta))))
        if order is None:
            return []
        by_order = certify(lambda: epsilon_at(order, _some(self.renyi(order)), to_ball(delta))).upper

        def meets(x: Fraction) -> bool | None:
            return surely(lambda: tail_delta(_some(self.rho()), to_ball(x)) - to_ball(delta), most=1024)

        if self.rho() is None or not meets(Fraction(by_order)):  # otherwise the tail bound is the smaller one
            return [by_order]
        return [by_order, smallest(meets, by_order).upper]

    def delta(self, epsilon: Number) -> float:
        """The smallest delta that is proved, rounded up."""
        lost = self.lost()
        if len(self.parts) == 1 and (exactly := self.parts[0].rest_delta(epsilon)) is not None:
            return min(1.0, round_up(lost + (1 - lost) * Fraction(min(1.0, exactly.upper))))
        found = 1.0
        if (loss := self.loss()) is not None:
            if self._backed:
                return loss.delta_bracket(epsilon, both=False).upper
            found = self._quick(lambda: loss.delta_bracket(epsilon, both=False, quick=True).upper, 1.0)
        return min(found, round_up(lost + (1 - lost) * Fraction(self._rest_delta(epsilon))))

    @staticmethod
    def _quick(ask: Callable[[], float], otherwise: float) -> float:
        """What the loss says, where it does: there are other bounds."""
        try:
            return ask()
        except PrecisionError:
            return otherwise

    def _rest_delta(self, epsilon: Number) -> float:
        bounded, others = self.split()
        if not others and bounded <= epsilon:
            return 0.0
        found = [1.0]
        if len(others) == 1 and bounded <= epsilon and (rest := others[0].rest_delta(epsilon - bounded)) is not None:
            found.append(rest.upper)
        order = best_order(lambda a: _float(self.renyi(a), lambda d: log_delta_at(a, d, epsilon.ball())))
        if order is not None:
            found.append(certify(lambda: log_delta_at(order, _some(self.renyi(order)), epsilon.ball()).exp()).upper)
        if self.rho() is not None:
            found.append(certify(lambda: tail_delta(_some(self.rho()), epsilon.ball())).upper)
        return min(found)

    def hardest(self, delta: Fraction) -> float:
        """An epsilon below which some mechanism with these promises fails at this delta: of each part its hardest."""
        if not all(part.attained for part in self.parts):
            return 0.0
        if (len(self.parts) > 1 or self._backed) and (loss := self.loss()) is not None:
            return self._quick(lambda: loss.epsilon_bracket(delta, quick=not self._backed).lower, 0.0)
        return max((_hardest(part, delta) for part in self.parts), default=0.0)


def _hardest(part: Currency, delta: Fraction) -> float:
    with precision(192):
        lost = max(Fraction(0), ends(part.events())[0]) if part.charged_delta() else Fraction(0)
    if lost >= delta:
        loss = part.largest_loss()
        return math.inf if lost > delta or loss is None else loss.bounds().lower
    left = (delta - lost) / (1 - lost)
    exactly = part.rest_epsilon(left)
    if exactly is None and (rho := part.rho()) is not None and part.largest_loss() is None:
        with precision(192):
            mu2 = ends(2 * rho)[0]
        exactly = normal.epsilon_between(max(mu2, Fraction(0)), left)  # a Gaussian is one such mechanism
    return 0.0 if exactly is None else exactly.lower


def _some(ball: arb | None) -> arb:
    assert ball is not None
    return ball


def _float(divergence: arb | None, convert: Callable[[arb], arb]) -> float:
    return math.inf if divergence is None else float(convert(divergence))
