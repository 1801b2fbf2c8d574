"""Composition of mechanisms: for each coordinate, for each cell of a partition, several at once; and post-processing.

    Repeated       one mechanism for each of k values that a person may all move: the guarantees add up
    Partitioned    one mechanism for each cell, a person's records lying in one cell: the worst cell (`dither.parallel`)
    Together       several mechanisms on one data set, each with a value of its own: the guarantees add up
    Processed      a function of a release: the same guarantee, as the function sees no data

Releases are independent, so k half-widths that hold with probability c^(1/k) each hold together with probability c.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, SupportsIndex

from attrs import frozen

from dither.arguments import argument_errors
from dither.errors import DataError, GuaranteeError, SizeError
from dither.mechanisms.additive.additive import read_confidence
from dither.mechanisms.protocol import Mechanism, SupportsArray
from dither.numeric.enclosure import certify, to_ball
from dither.numeric.number import NumberLike, integer
from dither.numeric.representation import Record
from dither.privacy.compose import compose, parallel
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.loss.loss import Loss
from dither.privacy.unit import Unit, UnitLike, read_unit

PERSON, EXAMPLE = Unit.ADD_REMOVE, "Geometric(epsilon=1, sensitivity=1)"


@argument_errors
@frozen(kw_only=True, slots=False, init=False, repr=False)
class Repeated(Record):
    """Sequential composition: one mechanism for each of several values, all of which one person may move.

    Args:
        mechanism: what each value is released with.
        times: how many values there are.

    Raises:
        NumberError: `times` is no integer above zero.
        DataError: the mechanism has no guarantee, error and release.

    Example:
        >>> from dither import Geometric, Repeated
        >>> mechanism = Repeated(mechanism=Geometric(epsilon="0.5", sensitivity=1), times=3)
        >>> print(mechanism.guarantee)
        ε = 1.5 (add/remove one person)
        >>> len(mechanism.release([10, 20, 30]))
        3
    """

    mechanism: Mechanism
    times: int

    def __init__(self, *, mechanism: Mechanism, times: SupportsIndex) -> None:
        self.__attrs_init__(mechanism=_read_mechanism(mechanism), times=integer(times, name="times", least=1))

    @property
    def guarantee(self) -> Guarantee:
        """As many copies of the guarantee."""
        return self.times * self.mechanism.guarantee

    def loss(self) -> Loss:
        """As many copies of the loss."""
        return self.times * _loss(self.mechanism)

    def error(self, confidence: NumberLike) -> Any:
        """The half-width that all values stay within together, with a probability of at least `confidence`."""
        return self.mechanism.error(each_of(confidence, self.times))

    def release(self, values: Sequence[Any] | SupportsArray) -> list[Any]:
        """Each of the `values` with noise of its own. Raises DataError or SizeError where they are no list of so many."""
        return [self.mechanism.release(value) for value in _listed(values, self.times)]

    def truth(self, values: Sequence[Any]) -> Sequence[Any]:
        """What a release of these `values` is an estimate of."""
        return [_truth(self.mechanism, value) for value in values]

    def neighbours(self) -> Iterator[tuple[Any, Any]]:
        """Pairs in which all values move at once."""
        return (([one] * self.times, [other] * self.times) for one, other in _neighbours(self.mechanism))


@argument_errors
@frozen(kw_only=True, slots=False, init=False, repr=False)
class Partitioned(Record):
    """Parallel composition: one mechanism for each cell of a partition, each person's records lying in one cell.

    Args:
        mechanism: what each cell is released with.
        cells: how many cells there are.
        unit: the neighbouring relation of the whole, add/remove one person by default.
        inside: what a change inside a cell costs, where a person is replaced; see `dither.parallel`.

    Raises:
        NumberError: `cells` is no integer above zero.
        DataError: the mechanism has no guarantee, error and release, or `inside` is no guarantee.
        UnitError: the unit is unknown, or does not follow from that of the mechanism.

    Example:
        >>> from dither import Geometric, Partitioned
        >>> mechanism = Partitioned(mechanism=Geometric(epsilon="0.5", sensitivity=1), cells=3)
        >>> print(mechanism.guarantee)
        ε = 0.5 (add/remove one person)
        >>> len(mechanism.release([10, 20, 30]))
        3
    """

    mechanism: Mechanism
    cells: int
    unit: Unit
    inside: Guarantee | None  # what a change inside a cell costs, where a person is replaced; see `dither.parallel`

    def __init__(
        self, *, mechanism: Mechanism, cells: SupportsIndex, unit: UnitLike = PERSON, inside: Guarantee | None = None
    ) -> None:
        one, count = _read_mechanism(mechanism), integer(cells, name="cells", least=1)
        if inside is not None and not isinstance(inside, Guarantee):
            raise DataError("inside", inside, "it is not a guarantee", "pure(0, unit='replace one person')")
        self.__attrs_init__(mechanism=one, cells=count, unit=read_unit(unit), inside=inside)
        _ = self.guarantee  # refuses units that do not go together, now and not at the first release

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of one cell (add/remove), or of two (replace)."""
        return parallel([self.mechanism.guarantee] * min(2, self.cells), unit=self.unit, inside=self.inside)

    def error(self, confidence: NumberLike) -> Any:
        """The half-width that all cells stay within together, with a probability of at least `confidence`."""
        return self.mechanism.error(each_of(confidence, self.cells))

    def release(self, values: Sequence[Any] | SupportsArray) -> list[Any]:
        """The `values` of the cells, each with its own noise. Raises DataError or SizeError where they are not so many."""
        return [self.mechanism.release(value) for value in _listed(values, self.cells)]

    def truth(self, values: Sequence[Any]) -> Sequence[Any]:
        """What a release of these `values` is an estimate of."""
        return [_truth(self.mechanism, value) for value in values]

    def neighbours(self) -> Iterator[tuple[Any, Any]]:
        """One cell moves; and another one as well where a person is replaced."""
        moves = self.unit.replacement is self.unit and self.cells > 1
        for one, other in _neighbours(self.mechanism):
            rest = [one] * (self.cells - 1 - moves)
            yield [one, *[other] * moves, *rest], [other, *[one] * moves, *rest]


@argument_errors
@frozen(kw_only=True, slots=False, init=False, repr=False)
class Together(Record):
    """Sequential composition: several mechanisms on one data set, each with a value of its own.

    Args:
        mechanisms: a list with at least one.

    Raises:
        DataError: it lists none, or one that has no guarantee, error and release.
        UnitError: the guarantees are about different neighbours.

    Example:
        >>> from dither import Geometric, Laplace, Together
        >>> count, mean = Geometric(epsilon="0.5", sensitivity=1), Laplace(epsilon="0.25", sensitivity="0.1")
        >>> mechanism = Together(mechanisms=[count, mean])
        >>> print(mechanism.guarantee)
        ε = 0.75 (add/remove one person)
        >>> len(mechanism.release([128, 36.6]))
        2
    """

    mechanisms: tuple[Mechanism, ...]

    def __init__(self, *, mechanisms: Sequence[Mechanism]) -> None:
        if not isinstance(mechanisms, (list, tuple)) or not mechanisms:
            raise DataError("mechanisms", mechanisms, "it lists no mechanism", "a list with at least one")
        self.__attrs_init__(mechanisms=tuple(_read_mechanism(mechanism) for mechanism in mechanisms))
        _ = self.guarantee  # refuses an empty list and units that do not add up

    @property
    def guarantee(self) -> Guarantee:
        """The sum of the guarantees of the mechanisms."""
        return compose(mechanism.guarantee for mechanism in self.mechanisms)

    def loss(self) -> Loss:
        """The sum of the privacy losses of the mechanisms."""
        return sum((_loss(mechanism) for mechanism in self.mechanisms), start=Loss(()))

    def error(self, confidence: NumberLike) -> tuple[Any, ...]:
        """One half-width for each; together they hold with a probability of at least `confidence`."""
        return tuple(one.error(each_of(confidence, len(self.mechanisms))) for one in self.mechanisms)

    def release(self, values: Sequence[Any] | SupportsArray) -> tuple[Any, ...]:
        """Each of the `values` from its mechanism. Raises DataError or SizeError where they are no list of so many."""
        pairs = zip(self.mechanisms, _listed(values, len(self.mechanisms)), strict=True)
        return tuple(mechanism.release(value) for mechanism, value in pairs)

    def truth(self, values: Sequence[Any]) -> Sequence[Any]:
        """What a release of these `values` is an estimate of."""
        return tuple(_truth(mechanism, value) for mechanism, value in zip(self.mechanisms, values, strict=True))

    def neighbours(self) -> Iterator[tuple[Any, Any]]:
        """Pairs in which all values move at once, each in the ways of its mechanism."""
        lists = [list(_neighbours(mechanism)) for mechanism in self.mechanisms]
        for at in range(max(len(pairs) for pairs in lists)):
            chosen = [pairs[at % len(pairs)] for pairs in lists]
            yield [one for one, _ in chosen], [other for _, other in chosen]


@argument_errors
@frozen(kw_only=True, slots=False, init=False, repr=False)
class Processed(Record):
    """Post-processing: a function of a release, at the same guarantee. The function must not see the data.

    Args:
        mechanism: what is released.
        function: of a release.

    Raises:
        DataError: the mechanism has no guarantee, error and release, or the function cannot be called.

    Example:
        >>> from dither import Geometric, Processed
        >>> mechanism = Processed(mechanism=Geometric(epsilon="0.5", sensitivity=1), function=lambda x: max(x, 0))
        >>> mechanism.release(0) >= 0
        True
    """

    mechanism: Mechanism
    function: Callable[[Any], Any]

    def __init__(self, *, mechanism: Mechanism, function: Callable[[Any], Any]) -> None:
        self.__attrs_init__(mechanism=_read_mechanism(mechanism), function=function)
        if not callable(function):
            raise DataError("function", function, "it cannot be called", "round, or any function of a release")

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of the mechanism, which post-processing keeps."""
        return self.mechanism.guarantee.post_process()

    def loss(self) -> Loss:
        """The privacy loss of the mechanism."""
        return _loss(self.mechanism)

    def error(self, confidence: NumberLike) -> Any:
        """Refused at any `confidence`: how far off it is depends on the function."""
        why = "how far off a function of a release is depends on the function"
        raise GuaranteeError("confidence", confidence, why, ".mechanism.error(confidence), before the function")

    def release(self, value: Any) -> Any:
        """The function of a release of the `value`."""
        return self.function(self.mechanism.release(value))

    def neighbours(self) -> Iterator[tuple[Any, Any]]:
        """The pairs of the mechanism itself."""
        return _neighbours(self.mechanism)


def each_of(confidence: NumberLike, count: int) -> Fraction:
    """The confidence that each of several independent half-widths needs: c^(1/count), rounded up."""
    level = read_confidence(confidence)
    if count == 1:
        return level
    missed = certify(lambda: -(to_ball(level).log() / count).expm1()).lower
    # (1 - m)^(1/count) <= 1 - m/count: a little more than is needed, but never 1 where m is too small for a double
    return 1 - max(Fraction(missed), (1 - level) / count)


def _read_mechanism(mechanism: Mechanism) -> Mechanism:
    if isinstance(mechanism, type) or not isinstance(mechanism, Mechanism):
        raise DataError("mechanism", mechanism, "it has no guarantee, error and release", EXAMPLE)
    return mechanism


def _listed(values: Sequence[Any] | SupportsArray, count: int) -> list[Any]:
    plain = values.tolist() if hasattr(values, "tolist") else values
    if not isinstance(plain, (list, tuple)):
        raise DataError("values", type(values).__name__, "one value for each mechanism is needed", f"a list of {count}")
    if len(plain) != count:
        raise SizeError("length of values", len(plain), f"there are {count} mechanisms", f"a list of {count}")
    return list(plain)


def _neighbours(mechanism: Mechanism) -> Iterator[tuple[Any, Any]]:
    if not hasattr(mechanism, "neighbours"):
        raise DataError("mechanism", mechanism, "it lists no neighbouring values", "pairs= of its own")
    return iter(mechanism.neighbours())


def _truth(mechanism: Mechanism, value: Any) -> Any:
    return mechanism.truth(value) if hasattr(mechanism, "truth") else value


def _loss(mechanism: Mechanism) -> Loss:
    """The mechanism's own privacy loss, where it has one; otherwise what its guarantee implies."""
    own: Any = mechanism  # not all mechanisms have one
    return own.loss() if callable(getattr(own, "loss", None)) else mechanism.guarantee.loss()
