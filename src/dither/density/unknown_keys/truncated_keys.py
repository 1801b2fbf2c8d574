"""Partition selection with noise of bounded support: a threshold that keys of fewer people cannot reach, whatever is drawn.

    TruncatedGeometricKeys   (epsilon, delta), for one key a person, or few
    TruncatedGaussianKeys    (epsilon, delta), for several
    TruncatedRhoKeys         (rho, delta), for budgets that add up rhos

Theorem. Give each key independent whole noise z with |z| <= B, and show key and noisy count n + z where that is T = B + m or
more. Then a key that fewer than m people hold is never shown. With delta' = 1 - (1 - p)^k, geometric noise of rate
epsilon / k is (epsilon, delta')-differentially private, and Gaussian noise of variance sigma2 promises no less than a
release that shows everything with probability delta' (and otherwise nothing), next to Gaussian noise of mu^2 = k / sigma2.

    m, n    min_people; the people who hold a key
    k       the most keys whose counts differ between neighbours: max_keys, or twice that when a person is replaced
    p       the probability of the last step of the noise, P(z = B) = P(z = -B); one B for all keys and all data

Proof. `truncated_keys.md`. In short: n < m gives n + z < T, so the release is a function of noisy counts of all keys that
there could be. Of one key, n against n - 1 people, the two supports have all in common but one step each, of probability p.
Given the common part, geometric noise is e^(epsilon/k) apart at most, and Gaussian noise is two normal laws truncated to
the same interval, which are 1/sigma-Gaussian-DP. Keys are independent.

The (epsilon, delta) of Gaussian noise is delta' + (1 - delta') H(e^epsilon), H the Gaussian profile of mu: a part of delta
is the edge's, and the rest gives sigma; of a few parts the one with the least T is taken.

Against a threshold without a bound. There a key is shown by a tail of the noise, and here by its last step, which is
smaller where the noise is wide: T is lower by about ln(k / epsilon) k / epsilon for geometric noise. And a count that is
shown never lies farther than B from the truth.

Source. Geng, Ding, Guo and Kumar 2020 for the noise; Dong, Roth and Su 2022 for Gaussian DP.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from fractions import Fraction
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING, ClassVar, SupportsIndex

from attrs import field, frozen

from dither.arguments import argument_errors
from dither.density.unknown_keys.key_rule import first
from dither.density.unknown_keys.sole_holder_loss import BITS, any_shown
from dither.density.unknown_keys.threshold_keys import ThresholdKeys
from dither.mechanisms.additive.additive import log_odds
from dither.noise.gaussian import RoundedGaussian
from dither.noise.laplace import DiscreteLaplace
from dither.noise.law import TableLaw
from dither.noise.truncation import LEAST_KEPT, Truncated
from dither.numeric.balls import precision
from dither.numeric.enclosure import to_ball
from dither.numeric.number import Number, NumberLike
from dither.numeric.representation import short_repr
from dither.privacy import calibrate
from dither.privacy.guarantee.definitions import approx, gdp
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.records import read_rho
from dither.privacy.unit import Unit, UnitLike

if TYPE_CHECKING:
    from flint import arb

EDGES = tuple(Fraction(part, 16) for part in (1, 2, 4, 8, 12))  # of delta: what the last step of the noise may have


def least_bound(whole: TableLaw, changed: int, delta: Fraction, guess: float) -> int:
    """The smallest bound with which the last steps of so many keys have `delta` at most, found near the guess."""

    def meets(bound: int) -> bool:
        with precision(BITS):
            beyond = whole.above(bound)
            edge = whole.mass(bound) / (1 - 2 * beyond)
            return bool(2 * beyond <= to_ball(1 - LEAST_KEPT)) and any_shown(edge, changed) <= delta

    return first(meets, least=1, guess=max(1, math.ceil(guess)))


def normal_reach(sigma2: Fraction, share: Fraction) -> float:
    """About where the last step of Gaussian noise has a probability of `share`: only a first guess."""
    spread = math.sqrt(sigma2)
    return -NormalDist().inv_cdf(min(0.5, max(1e-300, float(share)))) * spread


class TruncatedKeys(ThresholdKeys):
    """Keys whose count with noise reaches a threshold that keys of fewer than `min_people` cannot reach."""

    most_keys = 2**40

    @property
    @abstractmethod
    def whole(self) -> TableLaw:
        """The distribution of the noise of one key before it is truncated."""

    @cached_property
    def bound(self) -> int:
        """The farthest that a noisy count lies from the count."""
        return least_bound(self.whole, self.changed, self.delta, self._guess())

    @cached_property
    def law(self) -> Truncated:
        """The noise of one count."""
        return Truncated(self.whole, self.bound)

    @cached_property
    def threshold(self) -> int:
        """The smallest noisy count that is shown."""
        return self.bound + self.min_people

    @cached_property
    def below(self) -> Fraction:
        """Nothing below the threshold is shown: a key of fewer people might be."""
        return Fraction(0)

    def shared_profile(self, moved: Fraction, x: arb) -> arb:
        """Never asked for: `moved` and `x` do not matter where the edge alone has a delta."""
        raise AssertionError("keys of one's own are never shown")


@argument_errors
@frozen(kw_only=True, slots=False, init=False)
class TruncatedGeometricKeys(TruncatedKeys):
    """Keys and counts with truncated geometric noise: for one key a person, or few, and keys of few people never shown.

    Args:
        epsilon: the promise, together with `delta`.
        delta: the promise: not below the probability that the noise of any key of one person is the farthest there is.
        max_keys: how many different keys of one person are counted, 1 or more.
        unit: whose coming, going or replacement is hidden, of people and not of rows; one who comes or goes unless said.
        min_people: a key that fewer people hold is never shown; 1 unless said.

    Raises:
        NumberError: an `epsilon` that is not positive, a `delta` that is not between 0 and 1, a `max_keys` or `min_people`
            below 1, or noise that is not drawn.
        SizeError: more than 2^40 keys a person.
        UnitError: a unit that is not known, or one of rows.

    Example:
        >>> from dither.density import TruncatedGeometricKeys
        >>> rule = TruncatedGeometricKeys(epsilon=1, delta="1e-6", max_keys=1, min_people=2)
        >>> rule.bound, rule.threshold, rule.holders("0.5")
        (14, 16, 16)
        >>> rule.release({"rare": 1})
        {}
    """

    code: ClassVar[str] = "truncated_geometric_keys"
    __repr__ = short_repr

    @cached_property
    def whole(self) -> DiscreteLaplace:
        """Two-sided geometric noise of one count, before it is truncated."""
        return DiscreteLaplace(rate=self.epsilon / self.changed)

    def _guess(self) -> float:
        rate = float(self.epsilon / self.changed)
        return (log_odds(self.changed, 1 - self.delta) + math.log(math.tanh(rate / 2))) / rate


@argument_errors
@frozen(kw_only=True, slots=False, init=False)
class TruncatedGaussianKeys(TruncatedKeys):
    """Keys and counts with truncated Gaussian noise: for several keys a person, and keys of few people never shown.

    Args:
        epsilon: the promise, together with `delta`.
        delta: the promise: what Gaussian noise tells beyond epsilon, and its farthest step.
        max_keys: how many different keys of one person are counted, 1 or more.
        unit: whose coming, going or replacement is hidden, of people and not of rows; one who comes or goes unless said.
        min_people: a key that fewer people hold is never shown; 1 unless said.

    Raises:
        NumberError: an `epsilon` that is not positive, a `delta` that is not between 0 and 1, a `max_keys` or `min_people`
            below 1, or noise that is not drawn.
        SizeError: more than 2^40 keys a person.
        UnitError: a unit that is not known, or one of rows.

    Example:
        >>> from dither.density import TruncatedGaussianKeys
        >>> rule = TruncatedGaussianKeys(epsilon=1, delta="1e-6", max_keys=16, min_people=2)
        >>> rule.threshold - rule.bound
        2
    """

    code: ClassVar[str] = "truncated_gaussian_keys"
    __repr__ = short_repr

    @cached_property
    def _parts(self) -> tuple[int, Fraction]:
        """The bound and the variance, of the part of delta with the least bound."""
        found = []
        for part in EDGES:
            edge = self.delta * part
            sigma2 = calibrate.gaussian(self.epsilon, (self.delta - edge) / (1 - edge)) ** 2 * self.changed
            guess = normal_reach(sigma2, edge / self.changed)
            found.append((least_bound(RoundedGaussian(sigma2=sigma2), self.changed, edge, guess), sigma2))
        return min(found)

    @cached_property
    def bound(self) -> int:
        """The farthest that a noisy count lies from the count."""
        return self._parts[0]

    @cached_property
    def sigma2(self) -> Fraction:
        """The variance of the noise of a count, before it is truncated and rounded."""
        return self._parts[1]

    @cached_property
    def whole(self) -> RoundedGaussian:
        """Rounded Gaussian noise of one count, before it is truncated."""
        return RoundedGaussian(sigma2=self.sigma2)

    def _guess(self) -> float:
        return float(self.bound)


@argument_errors
@frozen(kw_only=True, slots=False, init=False)
class TruncatedRhoKeys(TruncatedKeys):  # type: ignore[override]  # its __attrs_init__ takes rho as well
    """Keys and counts with truncated Gaussian noise, priced in rho. `epsilon` is 0: all but delta is in rho.

    Args:
        rho: the promise in zCDP: what counts tell.
        delta: the promise: not below the probability that the noise of any key of one person is the farthest there is.
        max_keys: how many different keys of one person are counted, 1 or more.
        unit: whose coming, going or replacement is hidden, of people and not of rows; one who comes or goes unless said.
        min_people: a key that fewer people hold is never shown; 1 unless said.

    Raises:
        NumberError: a `rho` that is not positive, a `delta` that is not between 0 and 1, a `max_keys` or `min_people` below
            1, or noise that is not drawn.
        SizeError: more than 2^40 keys a person.
        UnitError: a unit that is not known, or one of rows.

    Example:
        >>> from dither.density import TruncatedRhoKeys
        >>> rule = TruncatedRhoKeys(rho="0.1", delta="1e-6", max_keys=4, min_people=2)
        >>> rule.bound, rule.threshold
        (23, 25)
    """

    code: ClassVar[str] = "truncated_rho_keys"

    rho: Fraction = field(converter=read_rho)
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
        """The variance of the noise of a count, before it is truncated and rounded."""
        return self.changed / (2 * self.rho)

    @cached_property
    def whole(self) -> RoundedGaussian:
        """Rounded Gaussian noise of one count, before it is truncated."""
        return RoundedGaussian(sigma2=self.sigma2)

    def _guess(self) -> float:
        return normal_reach(self.sigma2, self.delta / self.changed)
