"""Randomized response: a person answers a yes-no question and lies with a known probability. Nobody need be trusted.

Theorem. Answering truthfully with probability p and lying otherwise is epsilon-differentially private for epsilon =
|ln(p / (1-p))|, and for no smaller one: the two laws are (p, 1-p) and (1-p, p). p = e^epsilon / (1 + e^epsilon) gives
epsilon back.

The coin flip of the textbooks (heads: the truth; tails: a second flip decides) is p = 3/4, so epsilon = ln 3 exactly.
The neighbours are a person who says one thing and the same person who would say another: replacement, everybody's
number being public.

Warner 1965. How to estimate from many answers: `accuracy.deviation_of_survey` has the error.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias

from attrs import field, frozen

from dither.arguments import argument_errors
from dither.channels.channel import Channel
from dither.channels.closed_form_rows import flat
from dither.errors import DataError, GuaranteeError, NumberError, stated
from dither.mechanisms.protocol import IntegersLike
from dither.noise.bernoulli import Bernoulli
from dither.numeric.number import Number, NumberLike, exact, ln, rational
from dither.numeric.representation import short_repr
from dither.privacy.guarantee.definitions import pure
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.loss.loss import Loss
from dither.privacy.records import read_epsilon
from dither.privacy.unit import Unit, UnitLike, read_replacement

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    YesNo: TypeAlias = SupportsIndex | np.bool_  # True or False, or 1 or 0


@argument_errors
@frozen(kw_only=True, slots=False, init=False)
class RandomizedResponse:
    """Randomized response: a truthful yes or no with a known probability, for pure epsilon.

    Args:
        epsilon: the pure privacy loss of one answer, above zero; needed unless `p` is given.
        p: the probability of the truth, strictly between 0 and 1; epsilon is then |ln(p / (1 - p))|.
        unit: replace one person (the default) or one row: how many answer is public.

    Raises:
        NumberError: a parameter is no exact number, lies outside its range, or `epsilon` is not that of `p`.
        UnitError: the unit is unknown, or none of replacement.

    Example:
        >>> from dither import RandomizedResponse
        >>> RandomizedResponse(p="3/4").epsilon
        Number('ln(3)')
        >>> RandomizedResponse(epsilon=1).release(True) in (True, False)
        True
    """

    epsilon: Number  # the promise
    p: Fraction | None  # the probability of the truth, where it was given
    unit: Unit = field(converter=read_replacement)
    __repr__ = short_repr

    def __init__(
        self, *, epsilon: NumberLike | None = None, p: NumberLike | None = None, unit: UnitLike = Unit.REPLACE_ONE
    ) -> None:
        if p is None and epsilon is None:
            raise NumberError("epsilon, p", stated(), "one of them is needed", "epsilon=1, or p='3/4'")
        if p is None:
            assert epsilon is not None
            loss, truth = read_epsilon(epsilon), None
        else:
            truth = rational(p, name="p")
            if not 0 < truth < 1:
                raise NumberError("p", p, "an answer that is certain hides nothing", "a probability such as '3/4'")
            loss = ln(max(truth / (1 - truth), (1 - truth) / truth)) if truth != Fraction(1, 2) else Number(0)
            if epsilon is not None and exact(epsilon, name="epsilon") != loss:
                raise NumberError("epsilon, p", (epsilon, p), f"p has epsilon = {loss}", "one of them")
        self.__attrs_init__(epsilon=loss, p=truth, unit=unit)

    @property
    def guarantee(self) -> Guarantee:
        """Pure differential privacy: epsilon for one answer."""
        return pure(self.epsilon, unit=self.unit)

    def loss(self) -> Loss:
        """The privacy loss of one release: a dominating pair."""
        return self.guarantee.loss()

    def channel(self) -> Channel:
        """The exact matrix of answer probabilities, one row for each true answer."""
        true, false = (self.p, 1 - self.p) if self.p is not None else flat(2, self.epsilon)[0]
        return Channel([[true, false], [false, true]], (True, False), (True, False))

    @cached_property
    def truthful(self) -> Bernoulli:
        """The coin flip that decides whether an answer is the truth."""
        return Bernoulli.response(self.epsilon) if self.p is None else Bernoulli(self.p)

    def error(self, confidence: NumberLike) -> float:
        """Refused at any `confidence`: one answer is right or wrong, and an estimate depends on how many there are."""
        why = "one answer is right or wrong"
        raise GuaranteeError("confidence", confidence, why, "accuracy.deviation_of_survey(epsilon, people) for a count")

    def release(self, value: YesNo) -> bool:
        """The truth, which is the `value`, or a lie. Raises DataError where it is neither yes nor no."""
        return _yes_or_no(value) == self.truthful.sample()

    def randomize(self, values: IntegersLike) -> NDArray[np.bool_]:
        """The answers of many people with these true `values`, each with a flip of its own."""
        import numpy as np

        array = np.asarray(values)
        if array.size == 0:
            return np.zeros(array.shape, dtype=np.bool_)
        if array.dtype.kind in "iu" and array.size and int(array.min()) >= 0 and int(array.max()) <= 1:
            array = array.astype(np.bool_)
        if array.dtype != np.bool_:
            raise DataError("values", array.dtype, "answers are yes or no", "an array of booleans, or of 0 and 1")
        return np.asarray(array == self.truthful.sample(array.shape))

    def neighbours(self) -> Iterator[tuple[Any, Any]]:
        """The only pair there is: yes and no."""
        yield True, False


def _yes_or_no(value: YesNo) -> bool:
    kind = type(value).__name__
    if kind in ("bool", "bool_") or (isinstance(value, numbers.Integral) and value in (0, 1)):
        return bool(value)
    raise DataError("value", value, "an answer is yes or no", "True or False")
