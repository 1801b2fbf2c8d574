"""Above threshold (sparse vector): many questions, and only those that exceed a threshold cost anything.

Theorem. Let one person move every answer by at most S steps. Add noise once to the threshold, P(x) proportional to
exp(-a |x| / S), and to each answer, P(x) proportional to exp(-b |x| / (2 c S)). Say for each question in turn whether
the noisy answer reaches the noisy threshold, and for those that do by how much (the gap), until c have. This is (a +
b)-differentially private, however many questions are asked and although each may depend on what was said before. If
all answers move in one direction when a person is added (monotone), exp(-b |x| / (c S)) is enough.

Proof. Take an output, and noise t of the threshold, n_j of the answers, that lead to it. For the neighbour let t' = t
+ S, leave n_j for those below, and let n'_i = n_i + (f_i - f'_i) + S for those above: f_j + n_j < T + t gives f'_j +
n_j < T + t', and gaps stay as they are. t moves by S, and c of the n_i by at most 2S each: a factor of at most e^a
e^b. Monotone, answers moving up: the same with n_i moving by at most S; moving down: t' = t and n'_i = n_i + f_i -
f'_i, at most S.

The threshold's noise is drawn once for all c answers, and the noise of every answer grows with c. (Using the noise of
c = 1 again and again without drawing the threshold anew is a classic mistake, which the tests plant.) The budget is
split a : b = 1 : (2c)^(2/3), or 1 : c^(2/3), which makes the variance of noisy answer minus noisy threshold least.

Dwork and Roth 2014; Lyu, Su and Li 2017; Ding, Wang, Zhang and Kifer 2019 for the gap.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import product
from threading import Lock
from typing import Any, ClassVar, SupportsIndex

from attrs import field, frozen

from dither.arguments import argument_errors
from dither.errors import BudgetError, DataError, NumberError, UnitError
from dither.mechanisms.additive.additive import half_width, read_flag
from dither.mechanisms.additive.lattice_step import choose_step, spare
from dither.mechanisms.additive.whole_numbers import whole_number
from dither.mechanisms.combine import each_of
from dither.mechanisms.protocol import SupportsArray
from dither.mechanisms.sensitivity import SensitivityLike, read_linf
from dither.noise.laplace import DiscreteLaplace
from dither.numeric.balls import round_up
from dither.numeric.lattice import LARGEST_INDEX, Lattice
from dither.numeric.number import Number, NumberLike, RealLike, integer, rational
from dither.numeric.representation import short_repr
from dither.privacy.guarantee.definitions import pure
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.records import read_epsilon
from dither.privacy.unit import Unit, UnitLike

MOST = 10**12


@argument_errors
@frozen(kw_only=True, slots=False, init=False)
class AboveThreshold:
    """The sparse vector technique: which of many answers exceed a threshold, and by how much, for pure epsilon.

    Args:
        epsilon: the pure privacy loss of all questions together, above zero.
        sensitivity: the largest change of any one answer: a number, or the `linf` of a `Sensitivity`.
        threshold: what an answer must reach, in its units.
        count: how many answers above are given before it ends; 1 by default.
        queries: how many questions `error` speaks of; more may be asked. 1 by default.
        monotone: whether all answers move in one direction when a person is added (counts do); False by default.
        integers: whether answers and threshold are whole numbers, which are not rounded; False by default.
        step: of the lattice, in units of the answers; by default a power of two, at most sensitivity / 4096.
        unit: the neighbouring relation; that of a `Sensitivity`, otherwise add/remove one person by default.

    Raises:
        NumberError: a parameter is no exact number, or lies outside its range.
        UnitError: the unit is unknown, not that of the sensitivity, or a replacement with monotone answers.

    Example:
        >>> from dither import AboveThreshold
        >>> mechanism = AboveThreshold(epsilon=1, sensitivity=1, threshold=1000, queries=3, integers=True)
        >>> mechanism.error("0.95")
        24
        >>> [gap is not None for gap in mechanism.release([0, 9000, 9000])]
        [False, True]
    """

    epsilon: Number = field(converter=read_epsilon)  # the promise
    sensitivity: Fraction  # the largest change of any one answer
    threshold: Fraction
    count: int  # how many answers above are given
    queries: int  # how many questions the error speaks of; more may be asked
    monotone: bool  # whether all answers move in one direction when a person is added
    integers: bool  # whether answers and threshold are whole numbers
    step: Fraction  # of the lattice
    unit: Unit
    any_length: ClassVar[bool] = True  # a list of values may have any length
    __repr__ = short_repr

    def __init__(
        self,
        *,
        epsilon: NumberLike,
        sensitivity: SensitivityLike,
        threshold: NumberLike,
        count: SupportsIndex = 1,
        queries: SupportsIndex = 1,
        monotone: bool = False,
        integers: bool = False,
        step: NumberLike | None = None,
        unit: UnitLike | None = None,
    ) -> None:
        moved, whom = read_linf(sensitivity, unit)
        if monotone and whom.replacement is whom:
            why = f"the unit is '{whom}', and a replaced person moves answers both ways"
            raise UnitError("monotone", monotone, why, "monotone=False")
        bar, whole = rational(threshold, name="threshold"), read_flag(integers, name="integers")
        given, asked = integer(count, name="count", least=1), integer(queries, name="queries", least=1)
        if max(given, asked) > MOST:
            raise NumberError("count, queries", (count, queries), f"up to {MOST} are counted", "fewer")
        if whole and (moved.denominator != 1 or bar.denominator != 1):
            why = "whole answers move by whole numbers, past a whole threshold"
            raise NumberError("sensitivity, threshold", (sensitivity, threshold), why, "integers=False")
        self.__attrs_init__(
            epsilon=epsilon,
            sensitivity=moved,
            threshold=bar,
            count=given,
            queries=asked,
            monotone=read_flag(monotone, name="monotone"),
            integers=whole,
            step=choose_step(step, moved, integers=whole),
            unit=whom,
        )
        _ = self.threshold_law, self.answer_law  # refuses scales that cannot be drawn, now and not at the first question

    @property
    def guarantee(self) -> Guarantee:
        """Pure differential privacy: epsilon for all questions together."""
        return pure(self.epsilon, unit=self.unit)

    @cached_property
    def lattice(self) -> Lattice:
        """The lattice that answers are rounded to."""
        return Lattice(self.step)

    @property
    def reach(self) -> int:
        """How far an answer can move on the lattice, in steps."""
        return self.lattice.scalar_cost(self.sensitivity if self.integers else spare(self.sensitivity, self.step))

    @property
    def share(self) -> Fraction:
        """The part of epsilon that the threshold gets: 1 / (1 + m^(2/3)), to a thousandth."""
        moves = self.count if self.monotone else 2 * self.count
        return max(Fraction(1, 1000), Fraction(round(1000 / (1 + moves ** (2 / 3))), 1000))

    @cached_property
    def threshold_law(self) -> DiscreteLaplace:
        """The noise of the threshold, in steps."""
        return DiscreteLaplace(rate=self.epsilon * self.share / self.reach)

    @cached_property
    def answer_law(self) -> DiscreteLaplace:
        """The noise of an answer, in steps."""
        moves = self.count if self.monotone else 2 * self.count
        return DiscreteLaplace(rate=self.epsilon * (1 - self.share) / (moves * self.reach))

    def error(self, confidence: NumberLike) -> int | float:
        """With a probability of at least `confidence` all of `queries` answers are right, but for those this close to the
        threshold.

        A whole number where answers are whole numbers, so that it can be added to a threshold and asked.
        """
        each = each_of(confidence, 2)
        steps = half_width(self.threshold_law, each, 1) + half_width(self.answer_law, each, self.queries)
        return steps if self.integers else round_up((steps + 1) * self.step)  # two roundings of half a step

    def start(self) -> NoisyThreshold:
        """Draw the noise of the threshold, and be ready for questions."""
        return NoisyThreshold(self)

    def release(self, values: Sequence[RealLike] | SupportsArray) -> list[float | None]:
        """For each of the `values`, as far as they are answered: a gap for those above, None for those below.

        Raises DataError where they are no list of numbers.
        """
        if not hasattr(values, "__iter__") or isinstance(values, (str, bytes)):
            raise DataError("values", values, "answers to questions come in a list", "[3, 5, 8]")
        watch, answers = self.start(), []
        listed: Any = values
        for value in listed.tolist() if hasattr(listed, "tolist") else listed:
            answers.append(watch.ask(value))
            if watch.left == 0:
                break
        return answers

    # -- for the conformance suite -----------------------------------------------------------------------------

    def shortfall(self, values: Sequence[Any], output: Sequence[Any]) -> Fraction:
        """How far from the threshold the furthest of the `values` is that an `output` put on its wrong side."""
        wrong = [Fraction(0)]
        for value, gap in zip(values, output, strict=False):
            above = Fraction(value) - self.threshold
            wrong.append(above if gap is None else -above)
        return max(wrong)

    def neighbours(self) -> Iterator[tuple[Any, Any]]:
        """Two questions about the threshold, each answer moved up, down or not at all."""
        d = self.sensitivity
        moves = (Fraction(0), d) if self.monotone else (-d, Fraction(0), d)
        half = Fraction(0) if self.integers else self.step / 2
        for start in ((0, 0), (d, -d), (-d, half), (-2 * d, -d)):
            for change in product(moves, repeat=2):
                one = [self.threshold + x for x in start]
                other = [x + y for x, y in zip(one, change, strict=True)]
                yield ([int(x) for x in one], [int(x) for x in other]) if self.integers else (one, other)


class NoisyThreshold:
    """Questions asked of one noisy threshold, that of a mechanism. Not copied: two copies would answer twice as often."""

    def __init__(self, mechanism: AboveThreshold) -> None:
        self._mechanism = mechanism
        lattice = mechanism.lattice
        self._threshold = lattice.index(mechanism.threshold) + mechanism.threshold_law.sample()
        self.left = mechanism.count
        self._lock = Lock()  # two threads must not both have the last answer

    def ask(self, value: RealLike) -> float | None:
        """By how much a `value` exceeds the noisy threshold, or None if it does not. Refused once `count` have."""
        mechanism = self._mechanism
        place = whole_number(value) if mechanism.integers else mechanism.lattice.index(value)
        with self._lock:
            if self.left <= 0:
                why = "all answers above the threshold have been given"
                raise BudgetError("questions", mechanism.count, why, "a new mechanism, at its own price")
            gap = max(-LARGEST_INDEX, min(LARGEST_INDEX, place)) + mechanism.answer_law.sample() - self._threshold
            if gap < 0:
                return None
            self.left -= 1
        return gap if mechanism.integers else mechanism.lattice.number(gap)

    def __reduce__(self) -> str | tuple[object, ...]:
        raise TypeError("a watched threshold is not copied: two copies would answer twice as often")
