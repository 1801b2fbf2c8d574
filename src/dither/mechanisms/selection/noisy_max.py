"""Report noisy max, with the gap: the best candidate after noise, and by how much it won, for the price of one.

Theorem. Let one person move every score by at most S steps. Add independent two-sided geometric noise, P(x)
proportional to exp(-epsilon |x| / (2S)), to each score. Let i win, ties going to the candidate that is listed first,
and let the gap be the number of steps by which i could fall and still win. Releasing both is epsilon-differentially
private; with monotone scores so is exp(-epsilon |x| / S).

Proof. Write v_j for noisy scores and m = max(v_j + 1 for j before i; v_j for j after i). Then i wins exactly when v_i
>= m, and the gap is v_i - m. Fix the noise of all others. m is a maximum of scores plus constants, so it moves by at
most S when the scores do; the noise of i must equal gap + m - s_i, which moves by at most 2S (by at most S if all
scores move one way). So the probability changes by at most e^epsilon for each value of the others' noise, and in all.

The plain difference to the runner-up will not do: at a tie it is zero for several winners at once, and which of them
may be named depends on how many tie, which one person changes by as many as there are candidates. (With the gap
counted as above it takes part in the tie-break, and 0 is a value like any other.) One-sided noise will not do either:
the winner's noise would have to be negative.

Ding, Wang, Zhang and Kifer 2019, for continuous noise. The gap is in units of score, and is an estimate of how far
ahead the winner was; without need for it, `PermuteAndFlip` errs less.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from attrs import frozen

from dither.arguments import argument_errors
from dither.errors import SizeError
from dither.mechanisms.selection.selection import Selection
from dither.noise.laplace import DiscreteLaplace
from dither.numeric.lattice import add
from dither.numeric.representation import short_repr
from dither.privacy.guarantee.definitions import pure
from dither.privacy.guarantee.guarantee import Guarantee

# Scores are bounded before the noise; bounding them after it would make ties that the proof does not have.
UNBOUNDED = 2**128

if TYPE_CHECKING:
    import numpy as np
    from flint import arb
    from numpy.typing import NDArray


@argument_errors
@frozen(kw_only=True, slots=False, init=False)
class NoisyMax(Selection):
    """Report noisy max: the winner after noise, and the gap by which it won, for pure epsilon.

    Args:
        epsilon: the pure privacy loss of one release, above zero.
        sensitivity: the largest change of any one score: a number, or the `linf` of a `Sensitivity`.
        candidates: what they are called, or how many there are (then they are called 0, 1, 2, ...).
        score: a function of the data and a candidate; None (the default) where a release is given the scores.
        monotone: whether all scores move in one direction when a person is added (counts do); False by default.
        integers: whether scores are whole numbers, which are not rounded; False by default.
        step: of the lattice, in units of the score; by default a power of two, at most sensitivity / 4096.
        unit: the neighbouring relation; that of a `Sensitivity`, otherwise add/remove one person by default.

    Raises:
        NumberError: a parameter is no exact number, or lies outside its range.
        DataError: labels repeat or are not hashable, or the score cannot be called.
        SizeError: there are fewer than two candidates, or more than 2^27.
        UnitError: the unit is unknown, not that of the sensitivity, or a replacement with monotone scores.

    Example:
        >>> from dither import NoisyMax
        >>> mechanism = NoisyMax(epsilon=1, sensitivity=1, candidates=["red", "green"], integers=True)
        >>> winner, gap = mechanism.release([30, 12])
        >>> winner in ("red", "green") and gap >= 0
        True
    """

    code: ClassVar[str] = "noisy_max"
    __repr__ = short_repr

    def _check(self) -> None:
        if self.size < 2:
            raise SizeError("candidates", self.size, "a gap needs somebody to win against", "at least two candidates")
        _ = self.law  # refuses a scale that cannot be drawn, now and not at the first release

    @property
    def guarantee(self) -> Guarantee:
        """Pure differential privacy: epsilon for one release."""
        return pure(self.epsilon, unit=self.unit)

    @cached_property
    def law(self) -> DiscreteLaplace:
        """The noise of each score, in steps."""
        return DiscreteLaplace(rate=self.rate)

    def worst_tail(self, k: int, rate: arb) -> arb:
        """At most n - 1 times P(N - N' >= k + 1) = sum over d > k of (1-q)^2/(1+q)^2 (d + (1+q^2)/(1-q^2)) q^d, q = e^-rate.

        Each of the n - 1 others wins against the best only if its noise exceeds that of the best by k + 1 steps or more.
        """
        q = (-rate).exp()
        d = k + 1
        # The sum of q^j (d + j) over j >= 0 is d/(1-q) + q/(1-q)^2.
        tail = (d + (1 + q**2) / (1 - q**2)) / (1 - q) + q / (1 - q) ** 2
        one = ((1 - q) / (1 + q)) ** 2 * (-(rate * d)).exp() * tail
        return (self.size - 1) * one

    def _choose(self, places: NDArray[np.int64]) -> Any:
        import numpy as np

        noisy: Any = add(places, self.law.sample(self.size), bound=UNBOUNDED)
        winner = int(np.argmax(noisy))  # of several the first
        before, after = noisy[:winner], noisy[winner + 1 :]
        rivals = [int(part.max()) + first for part, first in ((before, 1), (after, 0)) if part.size]
        gap = int(noisy[winner]) - max(rivals)
        return self.label(winner), gap if self.integers else self.lattice.number(gap)

    def shortfall(self, value: Any, output: Any) -> Fraction:
        """How far the winner of an `output` falls short of the best score of a `value`."""
        return super().shortfall(value, output[0])
