"""The exact output distributions of a release at neighboring values: which values these are, and what may come out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from typing import Any, Protocol

from dither.errors import BrokenPromise, DataError, InputError, SizeError
from dither.mechanisms.sensitivity import data_sets, neighbours
from dither.numeric.number import NumberLike
from dither.privacy.guarantee.guarantee import Guarantee
from dither.testing.enumerate import REPEATED, Outcomes, as_key, drew_nothing, outcomes_of, two_outputs

MOST_MISSING = 0.05  # more than that left out proves too little


class Released(Protocol):
    """A release and the guarantee that is claimed for it."""

    @property
    def guarantee(self) -> Guarantee: ...

    @property
    def release(self) -> Callable[[Any], Any]: ...


class Laws:
    """The values of pairs of neighbours, and the law of a release of each: computed when it is asked for, and once."""

    def __init__(
        self,
        mechanism: Released,
        pairs: Iterable[tuple[Any, Any]] | None,
        query: Callable[[Any], Any] | None,
        universe: Sequence[Any],
        rows: int,
        law: Callable[[Any], Outcomes] | None,
        cutoff: NumberLike,
    ) -> None:
        if not isinstance(mechanism.guarantee, Guarantee):
            raise DataError("guarantee", mechanism.guarantee, "it is no guarantee", "dither.pure(1)")
        self._mechanism, self._law, self._cutoff = mechanism, law, cutoff
        self._listed = pairs is not None
        self._given = partial(_pairs, mechanism, pairs, query, universe, rows)
        self.values: dict[Any, Any] = {}  # by their keys, as far as they have been looked at
        self.known: dict[Any, Outcomes] = {}

    @cached_property
    def pairs(self) -> list[tuple[Any, Any]]:
        """Of neighbouring values; at least one."""
        listed = list(self._given())
        if not listed or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in listed):
            why = "there is nothing to compare: a pair has two values"
            raise DataError("pairs", listed[:3], why, f"pairs=[(0, 1)]{'' if self._listed else ', or query= and universe='}")
        return listed

    def keys(self, pair: tuple[Any, Any]) -> tuple[Any, Any]:
        """The keys of two values, whose laws are known from now on."""
        first, second = (_value_key(value) for value in pair)
        for key, value in zip((first, second), pair, strict=True):
            if key not in self.known:
                self.values[key] = value
                found = _law(self._mechanism, value, self._cutoff) if self._law is None else self._law(value)
                _check_missing(self._mechanism, found, self._cutoff)
                self.known[key] = found
        if self._law is None and self.known[first].draws == self.known[second].draws == 0:
            raise drew_nothing(self._mechanism.release)
        return first, second

    def confirm(self, keys: tuple[Any, Any]) -> None:
        """Raise a DataError if a law comes out differently when it is computed again: then more is random than is seen."""
        if self._law is not None:
            return
        for key in keys:
            law = self.known[key]
            for _ in range(1 + REPEATED // len(law.masses)):
                again = _law(self._mechanism, self.values[key], self._cutoff)
                if again.masses.keys() != law.masses.keys():
                    raise two_outputs(sorted(again.masses.keys() ^ law.masses.keys(), key=repr)[:3])
                if not all(again.masses[output].overlaps(mass) for output, mass in law.masses.items()):
                    raise two_outputs(self._mechanism.release)

    def all(self) -> dict[Any, Outcomes]:
        """The output distributions of all values, computed as far as they are missing."""
        for pair in self.pairs:
            self.keys(pair)
        return self.known


def _value_key(value: Any) -> Any:
    """Equal for values that are surely equal; an object of another kind is only equal to itself."""
    try:
        return as_key(value)
    except DataError:
        return "object", id(value)


def _law(mechanism: Released, value: Any, cutoff: NumberLike) -> Outcomes:
    try:
        found = outcomes_of(mechanism.release, value, cutoff=cutoff)
    except InputError as error:
        if error.where in ("release", "cutoff", "output"):  # what `outcomes` itself refuses
            raise
        why = f"it is refused with {type(error).__name__}, which shows that it is there"
        raise BrokenPromise("release", value, why, "an answer to every value") from error
    return found


def _check_missing(mechanism: Released, found: Outcomes, cutoff: NumberLike) -> None:
    """A violation is certain only beyond e^epsilon times what was left out: too much of it proves nothing."""
    levels = [mechanism.guarantee.epsilon(delta) for delta in (0, "0.5")]
    epsilon = min((level for level in levels if math.isfinite(level)), default=0.0)
    missing = float(found.missing.upper())
    if missing * math.exp(min(epsilon, 700.0)) > MOST_MISSING:
        why = f"it leaves out {missing:.2g} of the probability, too much for an epsilon of {epsilon:.4g}"
        raise SizeError("cutoff", cutoff, why, "a smaller cutoff, or the same mechanism with a smaller epsilon")


def _pairs(
    mechanism: Released,
    pairs: Iterable[tuple[Any, Any]] | None,
    query: Callable[[Any], Any] | None,
    universe: Sequence[Any],
    rows: int,
) -> Iterator[tuple[Any, Any]]:
    if pairs is not None:
        yield from pairs
    elif query is not None:
        unit = mechanism.guarantee.unit
        answers = {data: query(tuple(universe[i] for i in data)) for data in data_sets(universe, rows, unit)}
        yield from ((answers[one], answers[other]) for one, other in neighbours(answers, len(universe), unit))
    elif len(universe):
        raise DataError("universe", universe, "without a query it says nothing", "query= as well")
    elif hasattr(mechanism, "neighbours"):
        yield from mechanism.neighbours()
