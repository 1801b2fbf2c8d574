"""The price of steps on Poisson samples: how much noise (epsilon, delta) buys, certified, before any row is read.

    q, T     the rate of the samples and the number of steps, both public and fixed beforehand
    z        the noise multiplier: the deviation of the noise of a step over what one person can move its sum by
    c        mu^2 of the number of rows

Theorem 1. Let people come or go. The number of rows at c and T steps at z, each on a Poisson sample of its own, are
together (epsilon, delta)-differentially private where the composition of `NormalPair(c)` and T times the sampled normal pair
of mu = 1/z is: `Loss.delta`, a certified upper bound, in both orders of the neighbours.

Theorem 2. Let somebody be replaced. It is (epsilon, delta)-private where Theorem 1 holds at epsilon / 2 and
delta / (1 + e^(epsilon/2)).

Proof. 1. Each step is dominated by its pair given all that was released before (`sampled_release.py`), the list of pairs is
fixed, and dominating pairs compose adaptively (Zhu, Dong and Wang 2022, Theorem 10). 2. Removing one and adding another are
two steps between neighbours: P(A) <= e^h P'(A) + d <= e^h (e^h P''(A) + d) + d with h = epsilon / 2, d = delta / (1 + e^h).

At q = 1 nothing is sampled: T Gaussians are sqrt(T) / z of Gaussian differential privacy, exactly, and are charged as such.
Below 1 (epsilon, delta) itself is charged: a curve of Renyi or of Gaussian privacy that is as good is not known.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from attrs import evolve, frozen

from dither.errors import GuaranteeError
from dither.learn.base.price import Price, read_price
from dither.learn.base.row_count import COUNT_SHARE
from dither.numeric.balls import ends, precision
from dither.numeric.number import Number, NumberLike, exact
from dither.privacy import calibrate
from dither.privacy.guarantee.approx import Approx
from dither.privacy.guarantee.definitions import approx
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.loss.loss import Loss
from dither.privacy.loss.pairs.normal import NormalPair
from dither.privacy.records import read_delta
from dither.privacy.unit import UnitLike

WAYS = "epsilon=1, delta='1e-6', or rate=1"


@frozen
class SamplePlan:
    """How rows are sampled, how often, and the noise of a step; public."""

    rate: Fraction
    steps: int
    multiplier2: Fraction  # z^2

    def variance(self, sensitivity: int) -> Fraction:
        """The variance of the noise of a sum that one person moves by at most `sensitivity` in L2 norm."""
        return self.multiplier2 * sensitivity**2


def read_sampled_price(
    epsilon: NumberLike | None,
    delta: NumberLike | None,
    guarantee: Guarantee | None,
    unit: UnitLike,
    *,
    rate: Fraction,
    steps: int,
) -> tuple[Price, SamplePlan]:
    """The price as stated, and what it buys; a part of it is for the number of rows."""
    price = read_price(epsilon, delta, guarantee, unit, ("gaussian",))
    assert price.mu2 is not None
    if rate == 1:
        return price, SamplePlan(rate, steps, price.replacement**2 * steps / ((1 - COUNT_SHARE) * price.mu2))
    target, lost = _stated(epsilon, delta, guarantee)
    promise = approx(target, lost, unit=price.unit)
    if price.replacement == 2:
        target, lost = target / 2, _halved(target, lost)
    count = COUNT_SHARE * price.mu2 / price.replacement**2
    return evolve(price, guarantee=promise), SamplePlan(rate, steps, multiplier(target, lost, rate, steps, count) ** 2)


@lru_cache(maxsize=64)
def multiplier(epsilon: Number, delta: Fraction, rate: Fraction, steps: int, count: Fraction) -> Fraction:
    """The smallest z of Theorem 1, rounded up."""
    first = Loss(((NormalPair(count), 1),))
    return calibrate.least_noise(lambda z: first + steps * Loss.gaussian(z).poisson_subsampled(rate), epsilon, delta)


def _stated(epsilon: NumberLike | None, delta: NumberLike | None, guarantee: Guarantee | None) -> tuple[Number, Fraction]:
    """epsilon and delta of a price that was read already."""
    if guarantee is None:
        assert epsilon is not None
        assert delta is not None
        return exact(epsilon, name="epsilon", positive=True), read_delta(delta)
    charge = guarantee.charge()
    if not isinstance(guarantee.parts[0], Approx) or charge.epsilon is None:
        why = "of steps on samples only (epsilon, delta) is known"
        raise GuaranteeError("guarantee", str(guarantee), why, WAYS)
    return Number(charge.epsilon), charge.delta


def _halved(epsilon: Number, delta: Fraction) -> Fraction:
    """delta / (1 + e^(epsilon/2)), rounded down."""
    with precision(128):
        return delta / (1 + ends((epsilon / 2).ball().exp())[1])
