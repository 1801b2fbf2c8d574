"""Top k: the exponential mechanism k times, each time without those already chosen.

Theorem. Each choice is the exponential mechanism with epsilon/k among the candidates that are left, so the whole is a
composition of k releases of bounded range epsilon/k: epsilon-differentially private, and rho = epsilon^2 / (8k).

Proof. Given the earlier choices the next one is the exponential mechanism on fewer scores, each of which still moves
by at most S steps. Adding Gumbel noise to all scores once and taking the k largest has the same law (Durfee and
Rogers 2019).
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, SupportsIndex

from attrs import frozen

from dither.arguments import argument_errors
from dither.errors import NumberError
from dither.mechanisms.norms import root_below
from dither.mechanisms.selection.scoring import CandidatesLike, Score, read_scoring
from dither.mechanisms.selection.selection import Selection
from dither.mechanisms.sensitivity import SensitivityLike
from dither.noise.categorical import Categorical
from dither.numeric.number import Number, NumberLike, integer
from dither.numeric.representation import short_repr
from dither.privacy.guarantee.definitions import bounded_range
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.records import read_rho
from dither.privacy.unit import UnitLike

if TYPE_CHECKING:
    import numpy as np
    from flint import arb
    from numpy.typing import NDArray


@argument_errors
@frozen(kw_only=True, slots=False, init=False)
class TopK(Selection):  # type: ignore[override]  # its __attrs_init__ takes k as well
    """The best k candidates, in order, by the exponential mechanism without replacement: pure epsilon, of bounded range.

    Args:
        k: how many candidates are chosen, at most as many as there are.
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
        SizeError: there are no candidates, or more than 2^27.
        UnitError: the unit is unknown, not that of the sensitivity, or a replacement with monotone scores.

    Example:
        >>> from dither import TopK
        >>> mechanism = TopK(k=2, epsilon=1, sensitivity=1, candidates=["red", "green", "blue"], integers=True)
        >>> len(set(mechanism.release([30, 12, 9])))
        2
    """

    code: ClassVar[str] = "top_k"

    k: int  # how many are chosen
    __repr__ = short_repr

    def __init__(
        self,
        *,
        k: SupportsIndex,
        epsilon: NumberLike,
        sensitivity: SensitivityLike,
        candidates: CandidatesLike,
        score: Score | None = None,
        monotone: bool = False,
        integers: bool = False,
        step: NumberLike | None = None,
        unit: UnitLike | None = None,
    ) -> None:
        scoring = read_scoring(sensitivity, candidates, score, monotone, integers, step, unit)
        self.__attrs_init__(k=integer(k, name="k", least=1), epsilon=epsilon, **scoring)

    def _check(self) -> None:
        if self.k > self.size:
            raise NumberError("k", self.k, f"there are only {self.size} candidates", f"1 to {self.size}")

    @classmethod
    def for_rho(cls, rho: NumberLike, *, k: SupportsIndex, **how: Any) -> TopK:
        """The mechanism whose k choices together are rho-zCDP: epsilon = sqrt(8 k rho), rounded down.

        The others (`how`) are the parameters of the class without epsilon. Raises NumberError where rho or k is refused.
        """
        return cls(epsilon=root_below(8 * integer(k, name="k", least=1) * read_rho(rho)), k=k, **how)

    @property
    def guarantee(self) -> Guarantee:
        """The composition of k releases of bounded range epsilon / k."""
        return self.k * bounded_range(self.epsilon / self.k, unit=self.unit)

    @property
    def rate(self) -> Number:
        """What a step of score is worth in one choice."""
        return super().rate / self.k

    def worst_tail(self, k: int, rate: arb) -> arb:
        """At most `self.k` times the tail of one choice, against the best that is left, at this `rate` and k steps."""
        weight = (self.size - 1) * (-(rate * (k + 1))).exp()
        return self.k * weight / (1 + weight)

    def _choose(self, places: NDArray[np.int64]) -> Any:
        import numpy as np

        left = np.arange(self.size)
        chosen = []
        for _ in range(self.k):
            at = Categorical(places[left], rate=self.rate).sample()
            chosen.append(self.label(left[at]))
            left = np.delete(left, at)
        return chosen

    def shortfall(self, value: Any, output: Any) -> Fraction:
        """The most by which a choice of an `output` falls short of the best that was left, by the scores of a `value`."""
        scores = dict(zip(map(self.label, range(self.size)), map(Fraction, self.scores(value)), strict=True))
        worst = Fraction(0)
        for label in output:
            worst = max(worst, max(scores.values()) - scores[label])
            del scores[label]
        return worst
