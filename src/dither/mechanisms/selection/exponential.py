"""The exponential mechanism: a candidate is chosen with probability proportional to exp(rate * score). Best under zCDP.

Theorem. Let one person move every score by at most S steps. Choosing i with probability proportional to exp(epsilon
s_i / (2S)) is epsilon-differentially private of bounded range; with monotone scores so is exp(epsilon s_i / S).

Proof. ln P(i)/P'(i) = rate (s_i - s'_i) + ln Z'/Z. The second term does not depend on i, and the first lies in an
interval of length 2 S rate, or S rate where all scores move in one direction: length epsilon. So the range is bounded
by epsilon, and with it the loss (`privacy/guarantee/bounded_range.py`): rho = epsilon^2/8, a quarter of what other
epsilon-private choices have.

Utility. With n candidates, m of them best: P(score <= OPT - (2D/epsilon)(ln(n/m) + t)) <= e^-t
(`accuracy.exponential_shortfall`): the bad ones weigh at most n exp(-ln(n/m) - t) against m. Exactly, at worst: one
best, n - 1 others k + 1 steps below, so x/(1 + x) for x = (n - 1) exp(-rate (k + 1)).

McSherry and Talwar 2007. Under a budget of pure epsilons `PermuteAndFlip` errs less.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from attrs import frozen

from dither.arguments import argument_errors
from dither.channels.closed_form_rows import exponential
from dither.channels.matrix import MatrixEntry
from dither.errors import DataError, GuaranteeError
from dither.mechanisms.selection.selection import Selection
from dither.noise.categorical import Categorical
from dither.noise.row_choices import are_rehearsed, weighted_rows
from dither.numeric.balls import precision
from dither.numeric.enclosure import certify, to_ball
from dither.numeric.lattice import Lattice
from dither.numeric.number import Enclosure, Number, NumberLike, ln, rational
from dither.numeric.representation import short_repr
from dither.privacy.guarantee.definitions import bounded_range
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.unit import UnitLike

if TYPE_CHECKING:
    import numpy as np
    from flint import arb
    from numpy.typing import NDArray


@argument_errors
@frozen(kw_only=True, slots=False, init=False)
class Exponential(Selection):
    """The exponential mechanism, a choice with probability proportional to exp(rate * score): pure epsilon, bounded range.

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
        >>> from dither import Exponential
        >>> mechanism = Exponential(epsilon=1, sensitivity=1, candidates=["red", "green", "blue"], integers=True)
        >>> mechanism.release([30, 12, 9]) in ("red", "green", "blue")
        True
        >>> mechanism.error("0.95")
        7.0
    """

    code: ClassVar[str] = "exponential"
    __repr__ = short_repr

    @property
    def guarantee(self) -> Guarantee:
        """Bounded range epsilon: pure epsilon, and zCDP with rho = epsilon^2 / 8."""
        return bounded_range(self.epsilon, unit=self.unit)

    def worst_tail(self, k: int, rate: arb) -> arb:
        weight = (self.size - 1) * (-(rate * (k + 1))).exp()
        return weight / (1 + weight)

    def _choose(self, places: NDArray[np.int64]) -> Any:
        return self.label(Categorical(places, rate=self.rate).sample())

    def choices(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """For each row of `places` (scores in whole steps) a candidate, by its number: releases with noise of their own."""
        return super().choices(places) if are_rehearsed() else weighted_rows(self.row_gaps(places), self.rate)

    def _row(self, gaps: list[int]) -> list[MatrixEntry]:
        return exponential(gaps, self.rate)

    def tail(self, value: Any, shortfall: NumberLike) -> Enclosure:
        """The exact probability that the choice falls short by `shortfall` or more, for a `value` that is no secret."""
        least = rational(shortfall, name="shortfall", nonnegative=True)
        places = self.places(value)
        gaps = (int(places.max()) - places).tolist()
        scores = [self.exactly(score) for score in self.scores(value)]
        best = max(scores)
        far = Counter(gap for gap, score in zip(gaps, scores, strict=True) if best - score >= least)
        every = Counter(gaps)

        def share() -> arb:
            weights = {gap: (-(self.rate.ball() * gap)).exp() for gap in every}
            bad, all_of_them = (
                sum((n * weights[gap] for gap, n in part.items()), start=to_ball(0)) for part in (far, every)
            )
            return bad / all_of_them

        lower, upper = certify(share)
        return Enclosure(max(0.0, lower), min(1.0, upper))

    @classmethod
    def from_channel(
        cls,
        channel: Mapping[Any, Mapping[Any, NumberLike]],
        *,
        neighbours: Iterable[tuple[Hashable, Hashable]],
        unit: UnitLike | None = None,
    ) -> Exponential:
        """Any finite private mechanism as an exponential mechanism, and what that costs: a factor of two.

        `channel` gives the probability of each output for each input, `neighbours` the pairs of inputs that are to be hidden
        from each other, `unit` the neighbouring relation that these stand for. The score ln P(output | input) moves by at
        most the channel's own epsilon between neighbours, so that is the sensitivity; with twice that as epsilon the
        exponential mechanism has weights exp(ln P) = P, and is the channel again, up to the rounding of scores (to
        1/65536 of epsilon or finer) and the step that is kept to spare. Its own theorem promises twice the epsilon that
        the channel has. Raises DataError where the channel or the neighbours are not well formed, GuaranteeError where
        the channel tells nothing.
        """
        if not isinstance(channel, Mapping) or not all(isinstance(row, Mapping) for row in channel.values()):
            raise DataError("channel", channel, "it maps each input to its outputs", "{'yes': {'y': '3/4', 'n': '1/4'}}")
        rows = {given: {out: rational(p, name="probability") for out, p in row.items()} for given, row in channel.items()}
        outputs = tuple(dict.fromkeys(out for row in rows.values() for out in row))
        for given, row in rows.items():
            if any(row.get(out, 0) <= 0 for out in outputs) or sum(row.values()) != 1:
                why = f"the row of {given!r} does not give each output a probability above zero, one in all"
                raise DataError("channel", row, why, "{'yes': '3/4', 'no': '1/4'}")
        pairs = [tuple(pair) for pair in neighbours]
        if not all(len(pair) == 2 and all(given in rows for given in pair) for pair in pairs):
            raise DataError("neighbours", pairs[:3], "they are pairs of inputs of the channel", "[('yes', 'no')]")
        moved = [_size(ln(rows[a][out] / rows[b][out])) for a, b in pairs for out in outputs]
        worst = max(moved, default=Number(0))
        if worst == 0:
            raise GuaranteeError("channel", channel, "neighbours have the same row, so it tells nothing", "another channel")
        reach = Fraction(worst.bounds().upper)
        lattice = Lattice.below(reach / 2**16)
        largest = max(_size(ln(p)) for row in rows.values() for p in row.values())
        if largest.bounds().upper / float(lattice.step) > 2**40:
            raise GuaranteeError("channel", channel, "its rows differ too little for their logarithms", "another channel")
        places = {given: [_nearest(ln(row[out]), lattice.step) for out in outputs] for given, row in rows.items()}

        def score(given: Hashable, output: Hashable) -> Fraction:
            if given not in places:
                raise DataError("value", given, "it is no input of the channel", str(list(places)[:3]))
            return places[given][outputs.index(output)] * lattice.step

        # Scores are on the lattice already: what they move by there is what counts.
        steps = lattice.scalar_cost(reach)
        return cls(epsilon=2 * steps * lattice.step, sensitivity=steps * lattice.step, candidates=outputs, score=score,
                   step=lattice.step, unit=unit)  # fmt: skip


def _size(value: Number) -> Number:
    return value if value >= 0 else -value


def _nearest(value: Number, step: Fraction) -> int:
    """The whole number of steps nearest to an exact number; ties upwards, which a logarithm never has."""
    with precision(256):
        whole = (value.ball() / to_ball(step) + to_ball(Fraction(1, 2))).floor().unique_fmpz()
    assert whole is not None  # 256 bits are far more than a logarithm needs
    return int(whole)
