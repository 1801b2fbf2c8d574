"""Partition selection, what all rules for unknown keys share: a promise, the holders that a key needs, a release.

A rule sees only keys that somebody holds. So a key that nobody holds must look, from outside, like a key with nothing in it:
it is never shown, and neither is a key whose count is zero.

A rule may ask for more, `min_people`: a key that fewer people hold is never shown, whatever the noise (a pre-threshold).
So keys of fewer people need not reach the rule at all.

Theorem. What a rule promises for min_people = 1 it promises with m, if it counts max(0, n - (m - 1)) people instead of n.

Proof. One person more or less moves that number by at most one, in no more keys than before. And it is zero where n < m.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from typing import Any, SupportsIndex

from attrs import field, frozen

from dither.arguments import argument_errors
from dither.density.unknown_keys.key_counts import PairsLike, PlainKey, TotalsLike, bound_keys
from dither.errors import NumberError, PrecisionError, UnitError
from dither.numeric.lattice import LARGEST_INDEX
from dither.numeric.number import Number, NumberLike, integer
from dither.numeric.search import first_integer
from dither.privacy.guarantee.definitions import approx
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.records import read_delta, read_epsilon
from dither.privacy.unit import Unit, UnitLike, read_unit

MOST_PEOPLE = 10**9


def _read_some_delta(value: NumberLike) -> Fraction:
    delta = read_delta(value)
    if delta == 0:
        why = "a key of one person alone can only be shown at the price of a delta, so no key ever could"
        raise NumberError("delta", value, why, "a small probability such as '1e-6'")
    return delta


def _read_max_keys(value: SupportsIndex) -> int:
    return integer(value, name="max_keys", least=1)


def _read_min_people(value: SupportsIndex) -> int:
    least = integer(value, name="min_people", least=1)
    if least > MOST_PEOPLE:
        raise NumberError("min_people", value, f"it must be at most {MOST_PEOPLE}", "20")
    return least


def _read_person(value: UnitLike) -> Unit:
    """A unit of people: one row more of a person who has all her keys takes the place of another key of hers."""
    unit = read_unit(value)
    if unit in (Unit.ADD_REMOVE_ROW, Unit.REPLACE_ONE_ROW):
        why = "keys are bounded for each person, so one row more can put one key in the place of another and change both"
        whole = Unit.ADD_REMOVE if unit is Unit.ADD_REMOVE_ROW else Unit.REPLACE_ONE
        raise UnitError("unit", unit.value, why, f"'{whole}', with each row as a person of its own if rows are protected")
    return unit


@argument_errors
@frozen(kw_only=True, slots=False, init=False)
class KeyRule(ABC):
    """Which keys are shown, where each person holds at most `max_keys` of them."""

    epsilon: Number  # the promise, together with delta
    # not below the probability that any key that one person alone holds is shown
    delta: Fraction = field(converter=_read_some_delta)
    max_keys: int = field(converter=_read_max_keys)  # different keys of one person that are counted
    unit: Unit = field(converter=_read_person)  # whose coming, going or replacement the promise is about
    min_people: int = field(converter=_read_min_people)  # a key that fewer hold is never shown

    def __init__(
        self,
        *,
        epsilon: NumberLike,
        delta: NumberLike,
        max_keys: SupportsIndex,
        unit: UnitLike = Unit.ADD_REMOVE,
        min_people: SupportsIndex = 1,
    ) -> None:
        self.__attrs_init__(epsilon=read_epsilon(epsilon), delta=delta, max_keys=max_keys, unit=unit, min_people=min_people)

    @abstractmethod
    def __attrs_post_init__(self) -> None:
        """Compute what a release needs, so that what cannot be done is refused now."""

    @property
    def replaces(self) -> bool:
        """Whether one person takes the place of another: then twice as many keys change."""
        return self.unit.replacement is self.unit

    @property
    def changed(self) -> int:
        """The most keys whose counts differ between neighbouring data sets."""
        return self.max_keys * (2 if self.replaces else 1)

    @property
    def guarantee(self) -> Guarantee:
        """(epsilon, delta), of the keys and all that is shown with them."""
        return approx(self.epsilon, self.delta, unit=self.unit)

    def count(self, pairs: PairsLike) -> dict[PlainKey, int]:
        """How many people hold each key, from `pairs` (person, key), `max_keys` of a person at most. Not to be published."""
        totals: dict[PlainKey, int] = {}
        for own in bound_keys(pairs, max_keys=self.max_keys):
            weight = self.weight(len(own))
            for key in own:
                totals[key] = totals.get(key, 0) + weight
        return totals

    def weight(self, held: int) -> int:
        """What a person who has `held` so many keys adds to each of them."""
        return 1

    @abstractmethod
    def chance(self, holders: SupportsIndex) -> float:
        """The probability that a key with so many `holders` is shown, rounded down."""

    @abstractmethod
    def holders(self, chance: NumberLike) -> int:
        """How many holders a key needs to be shown with probability `chance` at least."""

    @abstractmethod
    def error(self, confidence: NumberLike) -> float:
        """How far off a release may be, with probability `confidence` at least."""

    @abstractmethod
    def release(self, value: TotalsLike) -> Any:
        """The keys that are shown, from `value`: a mapping of keys to counts."""


def first(meets: Callable[[int], bool], *, least: int, guess: int) -> int:
    """The smallest whole number from `least` on that meets, where all larger ones do too; found near the guess."""
    found = first_integer(lambda at: at > LARGEST_INDEX or meets(at), least=least, guess=guess)
    if found > LARGEST_INDEX:
        raise PrecisionError("threshold", found, "none was found that surely keeps the promise", "less extreme parameters")
    return found
