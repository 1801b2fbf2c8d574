"""Permute-and-flip: candidates are visited in random order, and the first to pass a coin flip is chosen. Best
under pure epsilon.

Theorem. Let one person move every score by at most S steps, q = exp(-epsilon / (2S)), and let a candidate whose score
lies g steps below the best pass with probability q^g. Choosing the first that passes, in random order, is
epsilon-differentially private; with monotone scores so is q = exp(-epsilon / S).

Proof. Give every score independent exponential noise E_j with P(E_j > x) = q^x and take the largest. A candidate at
gap g exceeds the best score with probability q^g, and by how much it does so is again such a variable, independent of
g; so those that exceed it are those that pass, and each of them is equally likely to be the largest: the law is that
of permute-and-flip. Now fix the noise of all others: i wins if E_i exceeds (max over j of s_j + E_j) - s_i, which
moves by at most 2S, or by at most S where all scores move one way. P(E_i > x) changes by at most q^(-2S) = e^epsilon,
or q^-S.

It never errs more than the exponential mechanism at the same epsilon, and up to half as much. But its range is *not*
bounded, so a guarantee counts it as rho = epsilon tanh(epsilon/2), not epsilon^2/8, and under zCDP `Exponential` is the
better choice. For small epsilon no much smaller rho is true: on two candidates, where the first wins with the distribution
function of Laplace noise, some D_a / a reaches 0.95 epsilon^2/2 at epsilon 0.1, 0.66 at 1 and 0.32 at 4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from attrs import frozen

from dither.arguments import argument_errors
from dither.channels.closed_form_rows import flips
from dither.channels.matrix import MatrixEntry
from dither.mechanisms.selection.selection import Selection
from dither.noise.bernoulli import passes
from dither.noise.row_choices import are_rehearsed, flipped_rows
from dither.noise.uniform_integers import uniform
from dither.numeric.representation import short_repr
from dither.privacy.guarantee.definitions import pure
from dither.privacy.guarantee.guarantee import Guarantee

if TYPE_CHECKING:
    import numpy as np
    from flint import arb
    from numpy.typing import NDArray


@argument_errors
@frozen(kw_only=True, slots=False, init=False)
class PermuteAndFlip(Selection):
    """Permute-and-flip, the first candidate in random order that passes a coin flip: pure epsilon, with the least error.

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
        SizeError: there are no candidates, or more than 2^27.
        UnitError: the unit is unknown, not that of the sensitivity, or a replacement with monotone scores.

    Example:
        >>> from dither import Exponential, PermuteAndFlip
        >>> how = {"epsilon": 1, "sensitivity": 1, "candidates": 10, "integers": True}
        >>> mechanism = PermuteAndFlip(**how)
        >>> mechanism.release([30, 12, 9, 0, 0, 0, 0, 0, 0, 0]) in range(10)
        True
        >>> mechanism.error("0.95") <= Exponential(**how).error("0.95")
        True
    """

    code: ClassVar[str] = "permute_and_flip"
    __repr__ = short_repr

    @property
    def guarantee(self) -> Guarantee:
        """Pure differential privacy: epsilon for one release; its range is not bounded."""
        return pure(self.epsilon, unit=self.unit)

    def worst_tail(self, k: int, rate: arb) -> arb:
        """1 - E[1 / (1 + K)], K binomial among n - 1 with p = exp(-rate (k + 1)): 1 - (1 - (1 - p)^n) / (n p)."""
        p = (-(rate * (k + 1))).exp()
        return 1 + ((self.size * (-p).log1p()).expm1()) / (self.size * p)

    def _row(self, gaps: list[int]) -> list[MatrixEntry]:
        return flips(gaps, self.rate)

    def _choose(self, places: NDArray[np.int64]) -> Any:
        import numpy as np

        gaps = places.max().astype(np.uint64) - places.astype(np.uint64)  # modulo 2^64 this is the true distance
        passed = np.flatnonzero(passes(gaps, self.rate))
        return self.label(passed[uniform(passed.size)])

    def choices(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """For each row of `places` (scores in whole steps) a candidate, by its number: releases with noise of their own."""
        return super().choices(places) if are_rehearsed() else flipped_rows(self.row_gaps(places), self.rate)
