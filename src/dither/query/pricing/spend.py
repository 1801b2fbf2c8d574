"""What a question may cost: an epsilon, a rho or a guarantee, as stated, in what the budget counts: epsilon or rho."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import isqrt

from dither.errors import GuaranteeError, NumberError, QuestionError, UnitError, stated
from dither.numeric.number import Number, NumberLike, exact, rational
from dither.numeric.search import halve
from dither.privacy import calibrate
from dither.privacy.budget.filter import Filter
from dither.privacy.formulas import randomized_response
from dither.privacy.guarantee.approx import Approx
from dither.privacy.guarantee.definitions import approx, gdp, pure
from dither.privacy.guarantee.guarantee import Guarantee
from dither.query.pricing.ask import ErrorsLike, NoiseKind
from dither.query.sql.options import Options

HOWS = "epsilon='0.5', rho='0.01', guarantee=pure('0.5'), or error={'n': 20}"
SMALLEST = Fraction(1, 10**100)
LARGEST = 10**18  # beyond it the search for the noise of an epsilon takes seconds, and that noise hides nothing


NOISES = ("gaussian", "geometric")
FINENESS = Fraction(1, 2**12)  # of an epsilon that is found for a rho


@dataclass(frozen=True)
class Spend:
    """How much a question may cost: an epsilon of pure differential privacy, or a rho of zCDP."""

    epsilon: Number | None = None  # pure
    rho: Fraction | None = None
    target: Guarantee | None = None  # what the rho was made for, if Gaussian noise spends all of it
    most: Fraction | None = None  # the rho that was stated, where the epsilon is to be the largest with no more

    @property
    def is_pure(self) -> bool:
        return self.epsilon is not None

    @property
    def amount(self) -> Number | Fraction:
        """The epsilon of a pure price, otherwise the rho."""
        found = self.rho if self.epsilon is None else self.epsilon
        assert found is not None
        return found

    def part(self, share: Fraction) -> Spend:
        """A share of it; the target is for the whole."""
        if share == 1:
            return self
        if self.epsilon is not None:
            return Spend(epsilon=self.epsilon * share)
        assert self.rho is not None
        return Spend(rho=self.rho * share)

    def fitting(self, released: Guarantee) -> Spend | None:
        """None where what was made of it meets the target; otherwise a promise that does, whatever is made of it.

        Other mechanisms than Gaussian noise have less to say at the same rho: then the rho is what every rho-zCDP mechanism
        converts to the target with.
        """
        if self.target is None or keeps(released, self.target):
            return None
        wanted = self.target.charge()
        assert wanted.epsilon is not None
        left = wanted.delta - released.charge().delta
        if left <= 0:
            why = f"keys of the question have a delta of {float(released.charge().delta):.3g}, and all may have less"
            raise GuaranteeError("delta", str(self.target), why, "a smaller delta= for keys")
        return Spend(rho=calibrate.largest_rho(wanted.epsilon, left))


@lru_cache(maxsize=1024)  # both are values, and a search for the price of quantiles asks anew each time
def keeps(released: Guarantee, target: Guarantee) -> bool:
    """Whether it is proved that what was released keeps a target."""
    return released.within(target)


def counts_rho(budget: Filter) -> bool:
    """Whether Gaussian noise has a price under a budget."""
    return budget.price(gdp(1, unit=budget.unit)) is not None


def read_noise(stated: NoiseKind | None, budget: Filter, guarantee: Guarantee | None) -> NoiseKind | None:
    """The kind of noise that was stated; refused where it has no price under the budget, or not the promise asked for."""
    if stated is None:
        return None
    if stated not in NOISES:
        raise QuestionError("noise", stated, "it names no kind of noise", "'gaussian', 'geometric', or leaving it out")
    if stated == "geometric" and budget.price(pure(1, unit=budget.unit)) is None:
        raise GuaranteeError("noise", stated, f"it has no price under {budget.ceiling}", "'gaussian'")
    if stated == "gaussian" and not counts_rho(budget):
        why = f"the budget is {budget.ceiling}: it adds up epsilons, and Gaussian noise has none without a delta"
        raise GuaranteeError("noise", stated, why, "'geometric', or a budget such as approx(3, '1e-6') or zcdp('0.1')")
    if stated == "gaussian" and isinstance(guarantee, Guarantee) and _is_pure(guarantee):
        why = f"{guarantee} is asked for, and Gaussian noise has no epsilon without a delta"
        raise GuaranteeError("noise", stated, why, "'geometric', or approx('0.5', '1e-6') as the guarantee")
    return stated


def _is_pure(guarantee: Guarantee) -> bool:
    charge = guarantee.charge()
    return len(guarantee.parts) == 1 and isinstance(guarantee.parts[0], Approx) and charge.delta == 0


def rho_in(budget: Filter, guarantee: Guarantee) -> Fraction:
    """The rho that a budget counts for a guarantee that has one."""
    rho = budget.counted(guarantee).charge(classical=budget.classical).rho
    assert rho is not None
    return rho


def largest_epsilon(most: Fraction, rho_of: Callable[[Number], Fraction]) -> Number:
    """About the largest epsilon whose rho is no more: it was seen not to be. `rho_of` grows, and is at most epsilon^2/2."""
    digits = 1 << 40
    low = Fraction(isqrt(int(2 * most * digits**2)), digits)
    if low == 0:
        raise NumberError("rho", str(most), "it is too small for geometric noise", "noise='gaussian'")
    high = 2 * low
    while rho_of(Number(high)) <= most:
        low, high = high, 2 * high
    return Number(halve(lambda x: rho_of(Number(x)) > most, low, high, enough=lambda a, b: b - a <= a * FINENESS)[0])


def read_spend(
    budget: Filter,
    epsilon: NumberLike | None,
    rho: NumberLike | None,
    guarantee: Guarantee | None,
    lost: Fraction = Fraction(0),
    noise: NoiseKind | None = None,
) -> Spend:
    """The one way in which a price was stated; of its delta, so much is lost to a choice of keys."""
    found = _read_spend(budget, epsilon, rho, guarantee, lost, noise)
    if noise != "geometric" or found.rho is None:
        return found
    return Spend(epsilon=largest_epsilon(found.rho, randomized_response.charged_rho), most=found.rho)


def _read_spend(
    budget: Filter,
    epsilon: NumberLike | None,
    rho: NumberLike | None,
    guarantee: Guarantee | None,
    lost: Fraction,
    noise: NoiseKind | None,
) -> Spend:
    if sum(way is not None for way in (epsilon, rho, guarantee)) != 1:
        came = stated(epsilon=epsilon, rho=rho, guarantee=guarantee)
        raise NumberError("price", came, "a price is stated in exactly one way", HOWS)
    if guarantee is not None:
        return _from_guarantee(budget, guarantee, lost, noise)
    if rho is not None:
        wanted = rational(rho, name="rho", positive=True)
        if not counts_rho(budget):
            raise GuaranteeError("rho", rho, f"the budget is {budget.ceiling}, which does not count rho", "epsilon=")
        return Spend(rho=wanted)
    assert epsilon is not None
    number = exact(epsilon, name="epsilon", positive=True)
    if number < SMALLEST:
        raise NumberError("epsilon", epsilon, "it is below 1e-100, which is a slip", "'0.5'")
    if not counts_rho(budget) or noise == "geometric":
        return Spend(epsilon=number)
    delta = budget.ceiling.charge().delta
    if delta == 0:
        why = f"the budget is {budget.ceiling}: without a delta, epsilon says nothing about Gaussian noise"
        raise GuaranteeError("epsilon", epsilon, why, "rho='0.01', or guarantee=pure('0.5')")
    if number > LARGEST:
        raise NumberError("epsilon", epsilon, "it is above 1e18, which is a slip", "'0.5'")
    return _calibrated(number, delta, budget, lost)


def _calibrated(epsilon: Number, delta: Fraction, budget: Filter, lost: Fraction) -> Spend:
    rho = 1 / (2 * calibrate.gaussian(epsilon, delta - lost) ** 2)
    return Spend(rho=rho, target=approx(epsilon, delta, unit=budget.unit))


def _from_guarantee(budget: Filter, guarantee: Guarantee, lost: Fraction, noise: NoiseKind | None) -> Spend:
    if not isinstance(guarantee, Guarantee):
        raise GuaranteeError("guarantee", guarantee, "it is not a guarantee", "pure('0.5'), zcdp('0.01')")
    if guarantee.unit is not budget.unit:
        raise UnitError("guarantee", str(guarantee), f"the budget is about '{budget.unit}'", "the same unit")
    charge = guarantee.charge()
    alone = len(guarantee.parts) == 1
    if alone and isinstance(guarantee.parts[0], Approx) and charge.epsilon is not None:
        if charge.delta == 0:
            if charge.epsilon <= 0:
                raise NumberError("guarantee", str(guarantee), "it costs nothing", "an epsilon above zero")
            return Spend(epsilon=charge.epsilon)
        if noise == "geometric" or (lost and not counts_rho(budget)):
            return Spend(epsilon=charge.epsilon)
        promise = _calibrated(charge.epsilon, charge.delta, budget, lost)
    elif charge.delta == lost and charge.rho:
        promise = Spend(rho=charge.rho)
    else:
        raise GuaranteeError("guarantee", str(guarantee), "no noise here is made for it", "pure, approx, zcdp or gdp")
    if not counts_rho(budget):
        why = f"it asks for Gaussian noise, which has no price under {budget.ceiling}"
        raise GuaranteeError("guarantee", str(guarantee), why, "pure('0.5')")
    return promise


def stated_price(
    options: Options,
    budget: Filter,
    *,
    epsilon: NumberLike | None,
    rho: NumberLike | None,
    guarantee: Guarantee | None,
    error: ErrorsLike | None,
) -> tuple[NumberLike | None, Guarantee | None]:
    """Epsilon and guarantee, as the question and the arguments together state them."""
    if options.epsilon is None and options.delta is None:
        return epsilon, guarantee
    for name, other in (("rho", rho), ("guarantee", guarantee), ("error", error)):
        if other is not None:
            raise NumberError("price", f"OPTIONS beside {name}", "a price is stated in exactly one way", HOWS)
    wanted = options.epsilon if epsilon is None else epsilon
    if wanted is None:
        raise NumberError("price", "delta alone", "a price is stated in exactly one way", "epsilon = 0.5 beside it")
    if options.epsilon is not None and exact(wanted, name="epsilon") != Number(options.epsilon):
        came = f"{wanted} and, in OPTIONS, {options.epsilon}"
        raise NumberError("epsilon", came, "a price is stated in exactly one way", "one of the two")
    if options.delta is None:
        return wanted, None
    delta, most = rational(options.delta, name="delta"), budget.ceiling.charge().delta
    if delta > most:
        why = f"options may only tighten, and the budget is {budget.ceiling}" + (": it has no delta" if most == 0 else "")
        raise NumberError("delta", options.delta, why, f"delta = {float(most):g}, or leaving it out")
    if delta == most:
        return wanted, None
    return None, approx(wanted, delta, unit=budget.unit)
