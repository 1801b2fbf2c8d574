"""K-ary randomized response, the flat mechanism: one value among k, the true one likeliest, all others equally likely.

Theorem. Answering truthfully with probability e^epsilon c and with each other value with probability c, for c = 1 /
(e^epsilon + k - 1), is epsilon-differentially private, and for no smaller epsilon: every ratio of probabilities is
e^epsilon, 1 or e^-epsilon.

It is the exponential mechanism with scores 1 (the truth) and 0 at *half* the epsilon that its theorem would promise:
there the sum of the weights may change with the data, and here it does not.

Kairouz, Bonawitz and Ramage 2016. With many values the truth is rarely told; other surveys do better then.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from dither.arguments import argument_errors
from dither.channels.channel import Channel
from dither.channels.closed_form_rows import flat
from dither.errors import DataError, GuaranteeError, SizeError
from dither.mechanisms.protocol import IntegersLike
from dither.mechanisms.selection.scoring import read_candidates
from dither.noise.bernoulli import Bernoulli
from dither.noise.uniform_integers import uniform
from dither.numeric.number import Number, NumberLike
from dither.numeric.representation import short_repr
from dither.privacy.guarantee.definitions import pure
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.loss.loss import Loss
from dither.privacy.records import read_epsilon
from dither.privacy.unit import Unit, read_replacement

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def _read_values(values: Sequence[Hashable]) -> tuple[Hashable, ...]:
    listed = read_candidates(values)
    if isinstance(listed, int) or len(listed) < 2:
        why = "an answer needs at least two values to choose from"
        raise SizeError("values", values, why, "['yes', 'no', 'unsure']")
    return listed


@argument_errors
@frozen(slots=False)
class Flat:
    """K-ary randomized response: the true value with probability e^epsilon / (e^epsilon + k - 1), any other equally likely.

    Args:
        values: all that can be said, k different values.
        epsilon: the pure privacy loss of one answer, above zero.
        unit: replace one person (the default) or one row: how many answer is public.

    Raises:
        NumberError: epsilon is no exact number above zero.
        DataError: values repeat or are not hashable.
        SizeError: there are fewer than two values.
        UnitError: the unit is unknown, or none of replacement.

    Example:
        >>> from dither import Flat
        >>> mechanism = Flat(["yes", "no", "unsure"], epsilon="ln(4)")
        >>> print(mechanism.guarantee)
        ε = 1.387 (replace one person)
        >>> mechanism.release("no") in ("yes", "no", "unsure")
        True
    """

    values: tuple[Hashable, ...] = field(converter=_read_values)  # all that can be said
    epsilon: Number = field(converter=read_epsilon, kw_only=True)  # the promise
    unit: Unit = field(default=Unit.REPLACE_ONE, converter=read_replacement, kw_only=True)
    __repr__ = short_repr

    @property
    def guarantee(self) -> Guarantee:
        """Pure differential privacy: epsilon for one answer."""
        return pure(self.epsilon, unit=self.unit)

    def loss(self) -> Loss:
        """The privacy loss of one answer."""
        return Loss(Loss.randomized_response(self.epsilon, len(self.values)).terms, self.unit)

    def channel(self) -> Channel:
        """The exact matrix of answer probabilities, one row for each true value."""
        return Channel(flat(len(self.values), self.epsilon), self.values, self.values)

    @cached_property
    def truthful(self) -> Bernoulli:
        """The coin flip that decides whether an answer is the truth."""
        return Bernoulli.response(self.epsilon, len(self.values))

    @cached_property
    def _place(self) -> dict[Hashable, int]:
        return {value: place for place, value in enumerate(self.values)}

    def error(self, confidence: NumberLike) -> float:
        """Refused at any `confidence`: one answer is right or wrong, and an estimate depends on how many there are."""
        raise GuaranteeError("confidence", confidence, "one answer is right or wrong", "the error of an estimate from many")

    def release(self, value: Hashable) -> Hashable:
        """The `value`, or one of the others. Raises DataError where it is none of the values."""
        place = self._find(value)
        if self.truthful.sample():
            return self.values[place]
        return self.values[(place + 1 + uniform(len(self.values) - 1)) % len(self.values)]

    def randomize(self, values: Sequence[Hashable]) -> list[Hashable]:
        """The answers of many people with these true `values`, each with a flip of its own."""
        import numpy as np

        if not hasattr(values, "__iter__"):
            raise DataError("values", values, "the answers of many people come in a list", str(list(self.values[:2])))
        places = np.array([self._find(value) for value in values], dtype=np.int64)
        return [self.values[place] for place in self.randomize_places(places).tolist()]

    def randomize_places(self, places: IntegersLike) -> NDArray[np.int64]:
        """The answers of many people by the `places` of their values in the list, as places."""
        import numpy as np

        count, true = len(self.values), np.asarray(places)
        if true.dtype.kind not in "iu" or (true.size and not (0 <= int(true.min()) <= int(true.max()) < count)):
            raise DataError("places", true.dtype, f"they are whole numbers from 0 to {count - 1}", "an integer array")
        moved = 1 + uniform(count - 1, true.shape)
        moved[self.truthful.sample(true.shape)] = 0
        return np.asarray((true.astype(np.int64) + moved) % count, dtype=np.int64)

    def _find(self, value: Hashable) -> int:
        try:
            return self._place[value]
        except (KeyError, TypeError):
            raise DataError("value", value, "it is none of the values that can be said", str(self.values[:3])) from None

    def neighbours(self) -> Iterator[tuple[Any, Any]]:
        """Pairs of different values, of the first four."""
        few = self.values[:4]
        return ((one, other) for one in few for other in few if one != other)
