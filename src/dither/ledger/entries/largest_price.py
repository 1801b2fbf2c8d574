"""Prices in refusals: a price as the epsilon that somebody asked for, and the largest one that still fits.

Theorem. Let limits be privacy filters in some state, and delta above 0 that of the budget. If zCDP with the rho of Gaussian
noise for (epsilon, delta - d) fits every limit, beside the delta d that the question has of its own, then so does every
question that is priced by this epsilon and loses d to its keys.

Proof. Such a question is made of noise with at most that rho (`query/pricing/spend.py`): the rho is calibrated for Gaussian
noise, and lowered where other noise would not keep (epsilon, delta). Filters admit a smaller price wherever they admit a
larger one. A pure epsilon is charged as itself; noise that knows a smaller rho of its own is charged less. So is every
other noise with a largest loss, such as that of a median: of these less is proposed than what may fit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dither.numeric.search import halve
from dither.privacy import calibrate
from dither.privacy.budget.filter import Spent
from dither.privacy.guarantee.approx import Approx
from dither.privacy.guarantee.definitions import approx, zcdp
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.text import four_digits_down, four_digits_proved

LEAST = Fraction(1, 10**4)  # an epsilon or a rho below it is nothing to propose
FINENESS = Fraction(1, 10**5)  # of what is found; four digits of it are told


@dataclass(frozen=True)
class Limits:
    """All that a charge must fit: the budget, and the share and the portion of a day, where there are some."""

    states: Sequence[Spent]
    delta: Fraction  # of the budget: the epsilon of a question is stated at it

    def admit(self, guarantee: Guarantee) -> bool:
        """Whether a charge fits all of them."""
        return all(state.budget.after(state, guarantee) is not None for state in self.states)

    def proposal(self, guarantee: Guarantee) -> str:
        """The largest price of the kind of a `guarantee` that fits, in words; '' where none does."""
        if found := self._largest(guarantee, guarantee.charge().delta):
            return f"a question of {found} or less"
        if found := self._largest(guarantee, Fraction(0)):
            return f"a question of {found} or less that has no δ of its own, such as one whose keys are declared"
        return "" if self._has_price(guarantee) else "a question with a smaller price"

    def _has_price(self, guarantee: Guarantee) -> bool:
        """Whether limits of which nothing is spent would admit some amount that can be proposed."""
        _, priced = self._kind(guarantee, Fraction(0))
        fresh = Limits([state.budget.nothing for state in self.states], self.delta)
        return priced is not None and fresh.admit(priced(LEAST))

    def _largest(self, guarantee: Guarantee, own: Fraction) -> str:
        """The same as a number, rounded down, such as 'ε = 0.41', beside a delta of the question's own.

        Never more than was asked for: other limits, such as a policy's for one question, are not known here.
        """
        letter, priced = self._kind(guarantee, own)
        if priced is None or not self.admit(priced(LEAST)):
            return ""
        most = told_price(guarantee, self.delta).charge()
        asked = most.epsilon if letter == "ε" else most.rho
        high = LEAST
        while (asked is None or high < asked) and self.admit(priced(2 * high)):
            high *= 2
        low, _ = halve(
            lambda amount: not self.admit(priced(amount)),
            *(high, 2 * high),
            enough=lambda below, above: above - below <= below * FINENESS,
        )
        return f"{letter} = {four_digits_down(low if asked is None else min(low, asked))}"

    def _kind(self, guarantee: Guarantee, own: Fraction) -> tuple[str, Callable[[Fraction], Guarantee] | None]:
        """The letter of what such prices are stated in, and the dearest guarantee of an amount; None if there is none."""
        charge, unit, delta = guarantee.charge(), guarantee.unit, self.delta
        in_rho = any(state.budget.ceiling.charge().epsilon is None for state in self.states)  # an ε would need a δ there
        if charge.epsilon is not None and (not in_rho or all(isinstance(part, Approx) for part in guarantee.parts)):
            return "ε", lambda epsilon: approx(epsilon, own, unit=unit)
        if charge.rho is None:
            return "", None
        if delta == 0:
            return "ρ", lambda rho: zcdp(rho, delta=own, unit=unit)
        if own >= delta:
            return "", None
        return "ε", lambda epsilon: zcdp(_gaussian_rho(epsilon, delta - own), delta=own, unit=unit)


def told_price(guarantee: Guarantee, delta: Fraction) -> Guarantee:
    """A price as people state it: (ε, δ) at a `delta` above 0, where it has no epsilon of its own."""
    charge = guarantee.charge()
    if delta == 0 or charge.epsilon is not None or charge.delta >= delta:
        return guarantee
    unit = guarantee.unit
    short = four_digits_proved(guarantee.epsilon(delta), lambda told: guarantee.within(approx(told, delta, unit=unit)))
    return guarantee if short == "∞" else approx(short, delta, unit=unit)


def _gaussian_rho(epsilon: Fraction, delta: Fraction) -> Fraction:
    return 1 / (2 * calibrate.gaussian(epsilon, delta) ** 2)
