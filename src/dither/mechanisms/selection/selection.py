"""Private selection, what mechanisms that choose share: candidates, their scores on a lattice, and how far a choice may
fall short.

A score says how good a candidate is for the data; one person moves every score by at most the sensitivity D. Scores
are put on a lattice of step g, one by one, so on it each moves by at most S = ceil(D / g) steps, whatever the number
of candidates. Scores that are whole multiples of the step lose nothing. With `integers=True` scores are whole
numbers, the step is 1 and S = D exactly; otherwise D is taken 1/1024 of a step larger than stated
(`additive/lattice_step.py`).

*Monotone* scores all move in one direction when a person is added (counts do). Rounding keeps that. Replacing a person
moves some up and others down, so nothing monotone is promised about replacement.

Shortfall: the best score minus that of the choice. Each mechanism states, for n candidates, the probability that it
exceeds k steps in the worst case: one best candidate, all others k + 1 steps below. Two roundings of half a step are
added.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, Self

from attrs import field, frozen

from dither.arguments import argument_errors
from dither.channels.channel import Channel
from dither.channels.matrix import MatrixEntry
from dither.errors import DataError, GuaranteeError, NumberError, SizeError
from dither.mechanisms.additive.additive import log_odds, read_confidence
from dither.mechanisms.additive.calibration import least_rate, read_half_width
from dither.mechanisms.additive.lattice_step import spare
from dither.mechanisms.additive.whole_numbers import whole_numbers
from dither.mechanisms.selection.scoring import CandidatesLike, Score, read_scoring
from dither.mechanisms.sensitivity import SensitivityLike
from dither.noise.law import check_rate
from dither.numeric.balls import MOST_BITS, round_up
from dither.numeric.enclosure import to_ball
from dither.numeric.lattice import LARGEST_INDEX, Lattice, as_array
from dither.numeric.number import Number, NumberLike
from dither.numeric.search import first_integer, surely
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.loss.loss import Loss
from dither.privacy.records import read_epsilon
from dither.privacy.unit import Unit, UnitLike

if TYPE_CHECKING:
    import numpy as np
    from flint import arb
    from numpy.typing import NDArray


@argument_errors
@frozen(kw_only=True, slots=False, init=False)
class Selection(ABC):
    """A choice among candidates, better ones being likelier."""

    epsilon: Number = field(converter=read_epsilon)  # the promise
    sensitivity: Fraction  # the largest change of any one score
    candidates: int | tuple[Hashable, ...]  # what they are called, or how many there are, called 0, 1, 2, ...
    score: Score | None  # None: scores are given
    monotone: bool  # whether all scores move in one direction when a person is added
    integers: bool  # whether scores are whole numbers
    step: Fraction  # of the lattice
    unit: Unit  # whose coming, going or replacement the sensitivity is about

    def __init__(
        self,
        *,
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
        self.__attrs_init__(epsilon=epsilon, **scoring)

    def __attrs_post_init__(self) -> None:
        check_rate(self.rate, name="rate")  # refuses a scale that cannot be drawn, now and not at the first release
        self._check()

    def _check(self) -> None:  # noqa: B027 - not every mechanism has any
        """What a mechanism refuses beyond the checks that all choices share."""

    # -- what each of them says for itself ---------------------------------------------------------------------

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """What is promised about every release."""

    def loss(self) -> Loss:
        """The privacy loss of one release: a dominating pair."""
        return self.guarantee.loss()

    @abstractmethod
    def _choose(self, places: NDArray[np.int64]) -> Any:
        """A choice, given the scores in whole steps."""

    @abstractmethod
    def worst_tail(self, k: int, rate: arb) -> arb:
        """The probability, at worst, that the choice lies more than k steps below the best; not below the truth.

        `rate` is what a step of score is worth, as a ball.
        """

    @property
    def size(self) -> int:
        """How many candidates there are."""
        return self.candidates if isinstance(self.candidates, int) else len(self.candidates)

    # -- noise -------------------------------------------------------------------------------------------------

    @property
    def reach(self) -> int:
        """How far a score can move on the lattice, in steps."""
        moved = self.sensitivity if self.integers else spare(self.sensitivity, self.step)
        return self.lattice.scalar_cost(moved)

    @property
    def rate(self) -> Number:
        """What a step of score is worth: epsilon / 2S, or epsilon / S for monotone scores."""
        return self.epsilon / (self.reach if self.monotone else 2 * self.reach)

    @cached_property
    def lattice(self) -> Lattice:
        """The lattice that scores are rounded to."""
        return Lattice(self.step)

    # -- error -------------------------------------------------------------------------------------------------

    def error(self, confidence: NumberLike) -> float:
        """How far the choice may fall short of the best score, with a probability of at least `confidence`.

        For all scores below 2^62 steps.
        """
        level, rate = read_confidence(confidence), self.rate
        roundings = 0 if self.integers else 1
        return round_up((self._shortfall_steps(level, rate) + roundings) * self.step) + 0.0  # never -0.0

    def _shortfall_steps(self, level: Fraction, rate: Number) -> int:
        return first_integer(lambda k: self._stays_within(k, level, rate))

    def _stays_within(self, k: int, level: Fraction, rate: Number) -> bool:
        certain = surely(lambda: self.worst_tail(k, rate.ball()) - to_ball(1 - level), most=MOST_BITS // 8)
        return certain is True  # too close to call: the next shortfall is taken, and covers

    @classmethod
    def for_error(cls, half_width: NumberLike, confidence: NumberLike, **same: Any) -> Self:
        """The mechanism with the least epsilon whose choice falls short by at most `half_width`, at this `confidence`.

        The others (`same`) are the parameters of the class without epsilon. Raises NumberError where no choice is that good.
        """
        model, level = cls(epsilon=1, **same), read_confidence(confidence)
        steps = read_half_width(half_width) / model.step - (0 if model.integers else 1)
        if steps < 0:
            raise NumberError(
                "half_width", half_width, f"scores are rounded to steps of {Number(model.step)}", "a finer step"
            )
        k = math.floor(steps)
        if model.size == 1:
            raise NumberError("candidates", 1, "the only candidate is always chosen", "no release")
        rate = least_rate(Number, lambda x: model._stays_within(k, level, x), guess=model._guess(k, level))
        return cls(epsilon=rate * Fraction(1) / model.rate.fraction(), **same)

    def _guess(self, k: int, level: Fraction) -> float:
        return log_odds(self.size + 1, level) / (k + 1)

    # -- release -----------------------------------------------------------------------------------------------

    def release(self, value: Any) -> Any:
        """A candidate. The `value` is an array with one score for each, or the data if there is a score function."""
        return self._choose(self.places(value))

    def choices(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """For each row of `places` (scores in whole steps) a candidate, by its number: releases with noise of their own."""
        import numpy as np

        return np.array([self._choose(row) for row in places], dtype=np.int64)

    def channel(self, values: Iterable[Any]) -> Channel:
        """The exact matrix of output probabilities, for the scores or the data that `values` lists."""
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise DataError("values", values, "it lists scores or data", "[(3, 1, 2), (3, 2, 2)]")
        listed = tuple(value.tolist() if hasattr(value, "tolist") else value for value in values)
        rows = []
        for value in listed:
            places = self.places(value).tolist()
            rows.append(self._row([max(places) - place for place in places]))
        labels = range(self.candidates) if isinstance(self.candidates, int) else self.candidates
        return Channel(rows, [tuple(value) if isinstance(value, list) else value for value in listed], labels)

    def _row(self, gaps: list[int]) -> list[MatrixEntry]:
        """How likely each candidate is, exactly, given how many steps each lies below the best."""
        why = f"what {type(self).__name__} publishes is no choice among finitely many"
        raise GuaranteeError("mechanism", self, why, "Exponential or PermuteAndFlip")

    def places(self, value: Any) -> NDArray[np.int64]:
        """The scores of a `value` in whole steps: what a choice depends on."""
        array = as_array(self.scores(value), name="scores")
        if array.shape != (self.size,):
            why = f"there are {self.size} candidates"
            raise SizeError("shape of scores", array.shape, why, "one score for each candidate, in their order")
        return whole_numbers(array) if self.integers else self.lattice.indices(array)

    def scores(self, value: Any) -> Any:
        """One score for each candidate: the `value` itself, or what the score function says of it."""
        if self.score is None:
            return value
        labels = range(self.candidates) if isinstance(self.candidates, int) else self.candidates
        return [self.score(value, candidate) for candidate in labels]

    def exactly(self, score: Any) -> Fraction:
        """A `score` as an exact number; what is not finite or beyond the lattice, where the lattice puts it."""
        plain = score.item() if hasattr(score, "item") else score
        far = LARGEST_INDEX * self.step
        if isinstance(plain, float) and not math.isfinite(plain):
            return self.lattice.value(self.lattice.index(plain))
        return max(-far, min(far, Fraction(plain)))

    @staticmethod
    def row_gaps(places: NDArray[np.int64]) -> NDArray[np.uint64]:
        """How far each of `places` lies below the best of its row: modulo 2^64 this difference is the true distance."""
        import numpy as np

        gaps: NDArray[np.int64] = places.max(axis=1, keepdims=True) - places
        return gaps.view(np.uint64)

    def label(self, place: int) -> Any:
        """What the candidate at a `place` of the list is called."""
        return int(place) if isinstance(self.candidates, int) else self.candidates[place]

    # -- for the conformance suite -----------------------------------------------------------------------------

    def shortfall(self, value: Any, output: Any) -> Fraction:
        """How far an `output` falls short of the best score of a `value`."""
        scores = [self.exactly(score) for score in self.scores(value)]
        place = output if isinstance(self.candidates, int) else self.candidates.index(output)
        return max(scores) - scores[place]

    def neighbours(self) -> Iterator[tuple[Any, Any]]:
        """Scores with all kinds of ties, each moved up, down or not at all; for monotone scores up or not at all."""
        d, n = self.sensitivity, self.size
        moves = (Fraction(0), d) if self.monotone else (-d, Fraction(0), d)
        starts = {
            (Fraction(0),) * n,
            tuple(d * (i % 2) for i in range(n)),
            tuple(d * i for i in range(n)),
            tuple(d * 2 * (i == n - 1) for i in range(n)),
        }
        if self.integers:
            starts |= {(Fraction(LARGEST_INDEX),) * n, tuple(LARGEST_INDEX - d * (i > 0) for i in range(n))}
        else:
            half = self.step / 2
            far = LARGEST_INDEX * self.step  # where scores saturate
            starts |= {(far,) * n, tuple(far - d * (i % 2) for i in range(n))}
            starts |= {tuple(half + d * (i == 0) for i in range(n)), (half - self.step / 1024,) * n}
        changes = product(moves, repeat=n) if n <= 4 else iter([(moves[-1],) + (moves[0],) * (n - 1), (moves[0],) * n])
        for change in changes:
            for start in starts:
                other = [x + y for x, y in zip(start, change, strict=True)]
                yield ([int(x) for x in start], [int(x) for x in other]) if self.integers else (list(start), other)
