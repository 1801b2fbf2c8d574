"""What a mechanism is: a differentially private release with its guarantee and its error.

    guarantee              the promise, fixed when the mechanism is made: a `Guarantee`, the tightest that is proved
    error(confidence)      how far a release may lie from the truth, with this probability at least; knows no data
    loss()                 a dominating pair of one release, for tight composition inside one question; optional, since
                           `guarantee.loss()` often has one that is not as tight
    channel(...)           the exact matrix of what may come out, where that is finite; optional
    release(value)         the value with noise; never raises because of what the value *is*, only of its type or shape
    neighbours()           pairs of values that two neighbouring data sets can have, the hardest among them: what
                           `dither.testing.check_mechanism` tries; optional for a mechanism of your own

A mechanism is a frozen class of attrs, or a frozen dataclass, with keyword-only fields that are exact numbers. What a
field takes is read by its converter; where several are read together, `__init__` reads them and hands them to
`__attrs_init__`. Its guarantee does not depend on any data and its release adds noise whose law does not depend on any
data. Accountants ask for `guarantee` or `loss`, never for the kind of a mechanism, so a new one is: one file here, one
test file, one line in the list of public names.

A value is what a query gave on the private data, and whether it moves by no more than the stated sensitivity when a
person comes, goes or is replaced is for whoever wrote the query to prove (`sensitivity.of` does it on small
universes).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, SupportsIndex, TypeAlias, runtime_checkable

from dither.numeric.number import NumberLike, RealLike
from dither.privacy.guarantee.guarantee import Guarantee


class SupportsArray(Protocol):
    """An array of numpy, or what becomes one: a column of a data frame."""

    def __array__(self) -> Any: ...


# A private vector, whole or real, and a matrix. A list keeps its elements apart; an array has one type.
IntegersLike: TypeAlias = Sequence[SupportsIndex] | SupportsArray
ValuesLike: TypeAlias = Sequence[RealLike | Sequence[RealLike]] | SupportsArray
MatrixLike: TypeAlias = Sequence[Sequence[RealLike] | SupportsArray] | SupportsArray


@runtime_checkable
class Mechanism(Protocol):
    """A guarantee, an error and a release: what accountants, combinations and the conformance suite ask for.

    Example:
        >>> from dither import Geometric, Mechanism
        >>> isinstance(Geometric(epsilon=1, sensitivity=1), Mechanism)
        True
    """

    @property
    def guarantee(self) -> Guarantee:
        """What is promised about every release."""

    def error(self, confidence: NumberLike) -> Any:
        """The half-width that a release stays within, with a probability of at least `confidence`."""

    def release(self, value: Any, /) -> Any:
        """The private `value` with noise: what may be published."""
