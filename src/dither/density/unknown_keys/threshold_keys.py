"""Partition selection by a threshold: noise on the count of each key that is held, and only what reaches it is shown.

    GeometricKeys    where a person holds one key, or few
    GaussianKeys     where a person holds several

Theorem. Give each key that is held independent whole noise. Show key and noisy count where that is T or more, and with
probability r where it is T - 1. With

    k          the most keys whose counts differ between neighbours: max_keys, or twice that when a person is replaced
    noise      two-sided geometric with rate epsilon / k; or a normal variable of variance sigma2, rounded

this is (epsilon, delta)-differentially private for all T and r for which `sole_holder_loss.within` holds of a person with t
keys that nobody else holds and max_keys - t others, t = 0..max_keys. T is the smallest whole number for which it does with
r = 0, and r the largest share for which it still does: so no part of delta is lost to rounding.

With `min_people` = m, keys that fewer than m people hold are not counted at all, and "keys that nobody else holds" are those
that m - 1 others hold: without her they are not counted (`unknown_keys/key_rule.py`).

Proof. `unknown_keys/sole_holder_loss.py`, with what s shared keys, each moved by one, can tell. Hiding what is small is
post-processing.

    geometric  they are (epsilon s / k)-DP, so H(x) is at most that of two biased coins: max(0, 1 - x, (E - x) / (E + 1)),
               E = e^(epsilon s / k)
    Gaussian   they are a continuous Gaussian moved by sqrt s in L2 norm, rounded, which is post-processing too. So H(x) is
               at most the Gaussian profile of mu = sqrt(s / sigma2) at ln x.

sigma2 is the smallest for which shared keys alone stay within (epsilon, delta). The same delta then pays for keys of one's
own, where usually each of the two is given a half: whoever comes or goes does not have max_keys of both kinds. When a person
is replaced the one may have the former and the other the latter, which raises T a little.

The count is shown from the same noise, at no further price. Counts that are shown are too large more often than too small:
those with low noise were left out.

Korolova, Kenthapadi, Mishra and Ntoulas 2009; Balle and Wang 2018 for the profile.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from fractions import Fraction
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, ClassVar, SupportsIndex

from attrs import frozen

from dither.arguments import argument_errors
from dither.density.unknown_keys.key_counts import PlainKey, TotalsLike, order, read_totals
from dither.density.unknown_keys.key_rule import KeyRule, first
from dither.density.unknown_keys.sole_holder_loss import BITS, KeyContribution, any_shown, hardest, within
from dither.errors import NumberError, PrecisionError, SizeError
from dither.mechanisms.additive.additive import half_width, log_odds, read_confidence
from dither.noise.bernoulli import Bernoulli
from dither.noise.gaussian import RoundedGaussian
from dither.noise.laplace import DiscreteLaplace
from dither.noise.law import Law, probability
from dither.numeric.balls import precision
from dither.numeric.enclosure import to_ball
from dither.numeric.lattice import LARGEST_INDEX, add
from dither.numeric.number import NumberLike, integer
from dither.numeric.representation import short_repr
from dither.numeric.search import surely
from dither.privacy import calibrate
from dither.privacy.formulas.normal import profile

if TYPE_CHECKING:
    from flint import arb

MOST_KEYS = 1024  # of a person: all ways to hold them are gone through
LARGEST_RATE = 2**20  # of epsilon for each key that changes: hardly any noise is left there
SHARES = 2**10  # in which counts just below the threshold are cut


class ThresholdKeys(KeyRule):
    """Keys whose count with noise reaches a threshold, with that count."""

    most_keys = MOST_KEYS
    parts = 1  # of one: what is counted, the noise and the threshold are whole numbers of parts

    def __attrs_post_init__(self) -> None:
        if self.max_keys > self.most_keys:
            why = f"all ways to hold keys are gone through, for up to {self.most_keys} of a person"
            raise SizeError("max_keys", self.max_keys, why, "fewer keys a person, or MagicKeys")
        self._check_noise()
        _ = self.threshold, self.below

    def _check_noise(self) -> None:
        """Refuse noise that is too narrow or too wide to be drawn, in words of what was given."""
        try:
            if self.epsilon <= LARGEST_RATE * self.changed and self.law is not None and self._guess() < LARGEST_INDEX:
                return
        except (NumberError, PrecisionError):
            pass
        given = (str(self.epsilon), str(self.delta), self.max_keys)
        why = "noise that narrow or that wide is not drawn"
        raise NumberError("epsilon, delta, max_keys", given, why, "an epsilon nearer to 1, or a larger delta") from None

    @property
    def _spared(self) -> int:
        """What a key of one person less than `min_people` has: up to there it is never shown."""
        return self.min_people - 1

    @property
    @abstractmethod
    def law(self) -> Law:
        """The distribution of the noise of one key."""

    @abstractmethod
    def shared_profile(self, moved: Fraction, x: arb) -> arb:
        """H(e^(epsilon + `x`)) of shared keys that are `moved` so far: see `unknown_keys/sole_holder_loss.py`."""

    @abstractmethod
    def _guess(self) -> float:
        """About where the noise reaches with the probability that a key of one's own may have."""

    def _ways(self) -> range:
        """How many keys a person may hold; those who hold more do all that others do, where all weigh the same."""
        return range(self.max_keys, self.max_keys + 1)

    def contributions(self, threshold: int, below: Fraction) -> list[KeyContribution]:
        """All ways to hold keys, so many of which so many are nobody else's, at a `threshold` with a share `below` it."""
        found = []
        with precision(BITS):
            for held in self._ways():
                alone = self.shown_chance(threshold, below, self._spared + self.weight(held))
                square = Fraction(self.weight(held), self.parts) ** 2
                found += [KeyContribution(any_shown(alone, own), (held - own) * square) for own in range(held + 1)]
        return found

    def meets(self, threshold: int, below: Fraction) -> bool:
        """Whether the promise surely holds at a `threshold`, with a share `below` of what lies one below it shown."""
        ways = hardest(self.contributions(threshold, below))
        return within(ways, self.shared_profile, self.delta, replaces=self.replaces)

    def shown_chance(self, threshold: int, below: Fraction, total: int) -> arb:
        """The probability that a key with this `total` is shown at a `threshold`, with a share `below` one below it."""
        gap = threshold - 1 - total
        likely = self.law.above(gap) if gap >= 0 else 1 - self.law.cdf(gap)
        return likely + to_ball(below) * self.law.mass(gap)

    @cached_property
    def threshold(self) -> int:
        """The smallest noisy count that is always shown, in parts."""
        guess = self._spared + self.parts + math.ceil(self._guess())
        return first(lambda at: self.meets(at, Fraction(0)), least=self._spared + self.parts + 1, guess=guess)

    @cached_property
    def below(self) -> Fraction:
        """How often a noisy count one below the threshold is shown."""
        if self.parts > 1:
            return Fraction(0)  # a part more or less is nothing
        hidden = first(lambda j: self.meets(self.threshold, 1 - Fraction(j, SHARES)), least=1, guess=SHARES // 2)
        return 1 - Fraction(hidden, SHARES)

    def chance(self, holders: SupportsIndex) -> float:
        """The probability that a key with so many `holders` is shown, rounded down."""
        n = integer(holders, name="holders", least=0)
        return self._chance(n) if n >= self.min_people else 0.0

    def _chance(self, total: int) -> float:
        return probability(lambda: self.shown_chance(self.threshold, self.below, total)).lower

    def holders(self, chance: NumberLike) -> int:
        """How many holders a key needs to be shown with probability `chance` at least."""
        return self._holders(read_confidence(chance, name="chance"), 1)

    def _holders(self, level: Fraction, weight: int) -> int:
        def reached(n: int) -> bool:
            return bool(surely(lambda: to_ball(level) - self.shown_chance(self.threshold, self.below, n * weight)))

        return first(reached, least=self.min_people, guess=self.threshold // weight)

    def error(self, confidence: NumberLike) -> float:
        """What the noise of a key stays within with probability `confidence`: a key is shown and further off less often."""
        steps = half_width(self.law, read_confidence(confidence), 1)
        return steps if self.parts == 1 else steps / self.parts

    def release(self, value: TotalsLike) -> dict[PlainKey, float]:
        """The keys that are shown, in order, with their noisy counts, from `value`: a mapping of keys to counts."""
        import numpy as np

        keys, totals = read_totals(value, parts=self.parts)
        if not keys:
            return {}
        noisy: Any = add(totals, self.law.sample(totals.size))
        enough = totals > self._spared
        shown = enough & (noisy >= self.threshold)
        (close,) = np.nonzero(enough & (noisy == self.threshold - 1))
        shown[close] = Bernoulli(self.below).sample(close.size)
        found = sorted(((keys[at], int(noisy[at])) for at in np.flatnonzero(shown).tolist()), key=lambda one: order(one[0]))
        return {key: count if self.parts == 1 else count / self.parts for key, count in found}


@argument_errors
@frozen(kw_only=True, slots=False, init=False)
class GeometricKeys(ThresholdKeys):
    """Partition selection by a threshold on counts with geometric noise: for one key a person, or few.

    Args:
        epsilon: the promise, together with `delta`.
        delta: the promise: not below the probability that any key is shown which one person alone holds.
        max_keys: how many different keys of one person are counted, 1 or more.
        unit: whose coming, going or replacement is hidden, of people and not of rows; one who comes or goes unless said.
        min_people: a key that fewer people hold is never shown; 1 unless said.

    Raises:
        NumberError: an `epsilon` that is not positive, a `delta` that is not between 0 and 1, a `max_keys` or `min_people`
            below 1, or noise that is not drawn.
        SizeError: more than 1024 keys a person.
        UnitError: a unit that is not known, or one of rows.

    Example:
        >>> from dither.density import GeometricKeys
        >>> rule = GeometricKeys(epsilon=1, delta="1e-6", max_keys=1)
        >>> rule.threshold, rule.holders("0.5")
        (15, 15)
        >>> list(rule.release({"flu": 10**6, "rare": 0}))
        ['flu']
    """

    code: ClassVar[str] = "geometric_keys"
    __repr__ = short_repr

    @cached_property
    def law(self) -> DiscreteLaplace:
        """Two-sided geometric noise of one count."""
        return DiscreteLaplace(rate=self.epsilon / self.changed)

    def shared_profile(self, moved: Fraction, x: arb) -> arb:
        """H(e^(epsilon + `x`)) of two biased coins, for shared keys that are `moved` so far."""
        rate = self.epsilon * (moved / self.changed)
        other = (self.epsilon.ball() + x).exp()
        over = ((rate - self.epsilon).ball() - x).expm1() * other  # E - e^(epsilon + x), and 0 where it is 0
        return (over / (rate.ball().exp() + 1)).max(1 - other).max(to_ball(0))

    def _guess(self) -> float:
        return log_odds(self.max_keys, 1 - self.delta) / float(self.law.rate)


@argument_errors
@frozen(kw_only=True, slots=False, init=False)
class GaussianKeys(ThresholdKeys):
    """Partition selection by a threshold on counts with Gaussian noise: for several keys a person.

    Args:
        epsilon: the promise, together with `delta`.
        delta: the promise: not below the probability that any key is shown which one person alone holds.
        max_keys: how many different keys of one person are counted, 1 or more.
        unit: whose coming, going or replacement is hidden, of people and not of rows; one who comes or goes unless said.
        min_people: a key that fewer people hold is never shown; 1 unless said.

    Raises:
        NumberError: an `epsilon` that is not positive, a `delta` that is not between 0 and 1, a `max_keys` or `min_people`
            below 1, or noise that is not drawn.
        SizeError: more than 1024 keys a person.
        UnitError: a unit that is not known, or one of rows.

    Example:
        >>> from dither.density import GaussianKeys
        >>> rule = GaussianKeys(epsilon=1, delta="1e-6", max_keys=4)
        >>> rule.threshold, rule.holders("0.5")
        (44, 44)
    """

    code: ClassVar[str] = "gaussian_keys"
    __repr__ = short_repr

    @cached_property
    def sigma2(self) -> Fraction:
        """The variance of the noise of a count, before it is rounded."""
        return calibrate.gaussian(self.epsilon, self.delta) ** 2 * self.changed

    @cached_property
    def law(self) -> RoundedGaussian:
        """Rounded Gaussian noise of one count, in parts."""
        return RoundedGaussian(sigma2=self.sigma2 * self.parts**2)

    def shared_profile(self, moved: Fraction, x: arb) -> arb:
        """H(e^(epsilon + `x`)), the Gaussian profile of shared keys that are `moved` so far."""
        if not moved:
            return (1 - (self.epsilon.ball() + x).exp()).max(to_ball(0))
        return profile(to_ball(moved / self.sigma2).sqrt(), self.epsilon.ball() + x)

    def _guess(self) -> float:
        share = min(0.5, max(1e-300, float(self.delta / self.max_keys)))
        return -NormalDist().inv_cdf(share) * math.sqrt(self.sigma2) * self.parts
