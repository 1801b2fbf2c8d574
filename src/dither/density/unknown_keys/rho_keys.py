"""Partition selection at a price in rho, keys with their counts: for budgets that add up rhos, where epsilons cost squares.

Theorem. Each person counts in at most m keys. Give each key that is held independent rounded Gaussian noise of variance
sigma2 = k / (2 rho); show key and noisy count where that is T or more, and with probability r where it is T - 1. If

    1 - (1 - q)^m <= delta          q the probability that a key of one holder is shown (of min_people, where that is more)

this promises no less than a release that shows everything with probability delta (and otherwise nothing), next to Gaussian
noise of mu^2 = 2 rho: (0, delta) + mu-GDP. In particular it is delta-approximately rho-zCDP.

    k       the most keys whose counts differ between neighbours: m, or twice that when a person is replaced

Proof. By the theorem of `unknown_keys/sole_holder_loss.py` the largest P(A) - x Q(A) is a + (1 - a) H(x (1 - b) / (1 -
a)), with a, b <= delta the probabilities that keys are shown which only the one data set has, and H the profile of shared
keys, which are Gaussian noise moved by at most sqrt k, rounded and cut: at most that of mu. It grows with a and b, so take
both as delta: it is at most delta + (1 - delta) H(x), which is the profile of the two promises together. For zCDP
condition on the events that no such key is shown: their probability is at least 1 - delta on either side, noise of
different keys is independent, and what is left is the noise of shared keys.

Against `GaussianKeys` at an epsilon of the same rho, epsilon = sqrt(2 rho): there the same noise must also hide all that
Gaussian noise tells beyond epsilon with probability delta, and is about sqrt(2 ln(1/delta)) times as wide.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING, ClassVar, SupportsIndex

from attrs import field, frozen

from dither.arguments import argument_errors
from dither.density.unknown_keys.sole_holder_loss import BITS, any_shown
from dither.density.unknown_keys.threshold_keys import ThresholdKeys
from dither.noise.gaussian import RoundedGaussian
from dither.numeric.balls import precision
from dither.numeric.number import Number, NumberLike
from dither.numeric.representation import short_repr
from dither.privacy.guarantee.definitions import approx, gdp
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.records import read_rho
from dither.privacy.unit import Unit, UnitLike

if TYPE_CHECKING:
    from flint import arb


@argument_errors
@frozen(kw_only=True, slots=False, init=False)
class RhoKeys(ThresholdKeys):  # type: ignore[override]  # its __attrs_init__ takes rho as well
    """Partition selection by counts with Gaussian noise, priced in rho. `epsilon` is 0: all but delta is in rho.

    Args:
        rho: the promise in zCDP: what keys that others hold too can tell.
        delta: the promise: not below the probability that any key is shown which one person alone holds.
        max_keys: how many different keys of one person are counted, 1 or more.
        unit: whose coming, going or replacement is hidden, of people and not of rows; one who comes or goes unless said.
        min_people: a key that fewer people hold is never shown; 1 unless said.

    Raises:
        NumberError: a `rho` that is not positive, a `delta` that is not between 0 and 1, a `max_keys` or `min_people` below
            1, or noise that is not drawn.
        SizeError: more than 2^40 keys a person.
        UnitError: a unit that is not known, or one of rows.

    Example:
        >>> from dither.density import RhoKeys
        >>> rule = RhoKeys(rho="0.1", delta="1e-6", max_keys=4)
        >>> rule.threshold, rule.holders("0.5")
        (24, 24)
    """

    code: ClassVar[str] = "rho_keys"

    rho: Fraction = field(converter=read_rho)

    most_keys = 2**40
    __repr__ = short_repr

    def __init__(
        self,
        *,
        rho: NumberLike,
        delta: NumberLike,
        max_keys: SupportsIndex,
        unit: UnitLike = Unit.ADD_REMOVE,
        min_people: SupportsIndex = 1,
    ) -> None:
        self.__attrs_init__(rho=rho, epsilon=Number(0), delta=delta, max_keys=max_keys, unit=unit, min_people=min_people)

    @property
    def guarantee(self) -> Guarantee:
        """(0, delta) and mu-Gaussian DP, mu^2 = 2 rho."""
        return approx(0, self.delta, unit=self.unit) + gdp(mu2=2 * self.rho, unit=self.unit)

    @cached_property
    def sigma2(self) -> Fraction:
        """The variance of the noise of a count, before it is rounded."""
        return self.changed / (2 * self.rho)

    @cached_property
    def law(self) -> RoundedGaussian:
        """Rounded Gaussian noise of one count."""
        return RoundedGaussian(sigma2=self.sigma2)

    def meets(self, threshold: int, below: Fraction) -> bool:
        """Whether keys of one's own are shown with delta at most, at a `threshold` with a share `below` one below it."""
        with precision(BITS):
            return any_shown(self.shown_chance(threshold, below, self.min_people), self.max_keys) <= self.delta

    def shared_profile(self, moved: Fraction, x: arb) -> arb:
        """Never asked for: `moved` and `x` do not matter where shared keys are priced in rho."""
        raise AssertionError("what shared keys tell is priced in rho")

    def _guess(self) -> float:
        share = min(0.5, max(1e-300, float(self.delta / self.max_keys)))
        return -NormalDist().inv_cdf(share) * math.sqrt(self.sigma2)
