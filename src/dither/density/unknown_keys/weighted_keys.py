"""Weighted partition selection: whoever holds few keys counts more in each. Where some people hold one key, others many.

Theorem. A person with t <= max_keys keys adds w(t) = floor(W / sqrt t) to each of them. Give each key that is held
independent rounded Gaussian noise of variance sigma2 W^2, and show key and noisy weight where that reaches T. This is
(epsilon, delta)-differentially private for every T for which `sole_holder_loss.within` holds of a person with t keys, of
which u are held by nobody else, for all u <= t <= max_keys.

    W      parts of a weight of one: weights are whole numbers of parts

Proof. t w(t)^2 <= W^2, so shared keys move by at most W in L2 norm, and by sqrt(t - u) w(t) where u keys are nobody else's.
A key of one's own starts at w(t). The rest is the proof of `unknown_keys/threshold_keys.py`; where a person is replaced, the
squares of the two add up.

Against `GaussianKeys`: keys of people who all hold max_keys keys need as many holders as there, and keys of people who hold
t need about sqrt(t / max_keys) times as many. What is shown is a weight, not a number of people.

Gopi, Gulhane, Kulkarni, Shen, Shokouhi and Yekhanin 2020.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, SupportsIndex

from attrs import frozen

from dither.arguments import argument_errors
from dither.density.unknown_keys.threshold_keys import GaussianKeys
from dither.errors import NumberError
from dither.mechanisms.additive.additive import read_confidence
from dither.numeric.number import NumberLike, integer
from dither.privacy import calibrate


@argument_errors
@frozen(kw_only=True, slots=False, init=False, repr=False)
class WeightedKeys(GaussianKeys):
    """Partition selection by weights with Gaussian noise: for people who hold few keys or many.

    Args:
        epsilon: the promise, together with `delta`.
        delta: the promise: not below the probability that any key is shown which one person alone holds.
        max_keys: how many different keys of one person are counted, 1 to 64.
        unit: whose coming, going or replacement is hidden, of people and not of rows; one who comes or goes unless said.
        min_people: 1, since weights do not tell how many people there are.

    Raises:
        NumberError: an `epsilon` that is not positive, a `delta` that is not between 0 and 1, a `max_keys` below 1, a
            `min_people` above 1, or noise that is not drawn.
        SizeError: more than 64 keys a person.
        UnitError: a unit that is not known, or one of rows.

    Example:
        >>> from dither.density import WeightedKeys
        >>> rule = WeightedKeys(epsilon=1, delta="1e-6", max_keys=4)
        >>> rule.holders("0.5", held=1), rule.holders("0.5", held=4)
        (22, 44)
    """

    code: ClassVar[str] = "weighted_keys"

    most_keys = 64
    parts = 2**10

    def __attrs_post_init__(self) -> None:
        if self.min_people > 1:
            why = "what is counted here are weights, and a weight does not say how many people it is of"
            raise NumberError("min_people", self.min_people, why, "GaussianKeys, or leaving it out")
        super().__attrs_post_init__()

    def weight(self, held: int) -> int:
        """What a person who has `held` so many keys adds to each of them, in parts."""
        return math.isqrt(self.parts**2 // held)

    @cached_property
    def sigma2(self) -> Fraction:
        """The variance of the noise of a weight, before it is rounded."""
        return calibrate.gaussian(self.epsilon, self.delta) ** 2 * (2 if self.replaces else 1)

    def _ways(self) -> range:
        return range(1, self.max_keys + 1)

    def chance(self, holders: SupportsIndex, held: SupportsIndex | None = None) -> float:
        """The probability that a key is shown that has so many `holders`, each with `held` keys (`max_keys` unless said)."""
        n = integer(holders, name="holders", least=0)
        return self._chance(n * self.weight(self._read(held))) if n else 0.0

    def holders(self, chance: NumberLike, held: SupportsIndex | None = None) -> int:
        """How many holders a key needs to be shown with probability `chance`, if each has `held` keys."""
        return self._holders(read_confidence(chance, name="chance"), self.weight(self._read(held)))

    def _read(self, held: SupportsIndex | None) -> int:
        own = self.max_keys if held is None else integer(held, name="held", least=1)
        if own > self.max_keys:
            raise NumberError("held", held, f"at most {self.max_keys} keys of a person are counted", "max_keys or fewer")
        return own
