"""From the local to the central model: what reports promise about the whole collection, and what a trusted curator buys.

Theorem (any query). Let person i report with epsilon(i), each with coins of their own. Then the collection of all reports,
and whatever anybody computes from it, is differentially private for replacing one person, at the level max epsilon(i).

Proof. Given the answers x the reports y have probability prod P(y(i) | x(i)). If person i is replaced only one factor
changes, by at most e^epsilon(i) <= e^(max epsilon). Sums over sets of y keep the bound, and so does whatever is computed
from y without looking at x. For no smaller level, if the person with the largest epsilon attains it.

Theorem (several surveys). A person who answers several surveys, each with fresh coins, reports with the sum of their
epsilons: the probability of the pair is a product, whatever was asked second after the first answer was seen.

`shuffled` is what a collector promises who sees the reports in random order, and not whose they are (`privacy/amplify.py`).

Trust. Of n people the number who would say yes is known to within (one deviation)

    sqrt 2 / epsilon                                 from a trusted collector who adds Laplace noise: O(1 / epsilon)
    sqrt n e^(epsilon/2) / (e^epsilon - 1)           from randomized responses: O(sqrt n / epsilon)

so as a frequency the first falls like 1 / n and the second like 1 / sqrt n. (`mechanisms/accuracy.py` has the proofs.)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, SupportsIndex, TypeAlias, Union, cast

from dither.arguments import argument_errors
from dither.errors import DataError, GuaranteeError, NumberError, UnitError
from dither.local.survey import Survey
from dither.local.surveys.coin_flip import CoinFlip
from dither.local.surveys.direct_encoding import DirectEncoding
from dither.mechanisms.accuracy import deviation_of_count, deviation_of_survey
from dither.numeric.number import Number, NumberLike, exact, integer, rational
from dither.numeric.representation import short_repr
from dither.privacy import amplify
from dither.privacy.guarantee.definitions import approx, pure
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.records import read_delta
from dither.privacy.unit import Unit, read_replacement

__all__ = ["Trust", "compare", "for_any_query", "people_needed", "shuffled"]


class PureMechanism(Protocol):
    """A mechanism, or a survey, whose guarantee is its epsilon without a delta."""

    @property
    def epsilon(self) -> NumberLike:
        """The privacy parameter of one answer."""

    @property
    def guarantee(self) -> Guarantee:
        """The same as a guarantee, for a neighbouring relation."""


# What one person answers: an epsilon, something with one, or several of those.
PersonLike: TypeAlias = Union[NumberLike, PureMechanism, "Sequence[PersonLike]"]


@argument_errors
def for_any_query(people: Iterable[PersonLike]) -> Guarantee:
    """What a collection promises for any query: the largest epsilon of a person counts.

    Args:
        people: one entry a person, or one for all with the same: a survey, an epsilon, or a list of those that one and the
            same person answers, which add up.

    Raises:
        DataError: it is no list, or somebody answers nothing.
        GuaranteeError: a mechanism promises its epsilon only with a delta.
        UnitError: they speak of different neighbours, or somebody is added or removed.

    Example:
        >>> from dither.local import bridge
        >>> print(bridge.for_any_query([1, ["0.5", 1]]))
        ε = 1.5 (replace one person)
    """
    if isinstance(people, (str, bytes, Survey)) or not isinstance(people, Iterable):
        raise DataError("people", people, "it lists what each person answers", "[survey], or ['0.5', 1, ['0.5', survey]]")
    entries = [_of_person(entry) for entry in people]
    if not entries:
        raise DataError("people", [], "nobody answers", "at least one survey or epsilon")
    unit = _same_unit(unit for _, unit in entries)
    return pure(max(epsilon for epsilon, _ in entries), unit=unit or Unit.REPLACE_ONE)


def _of_person(entry: PersonLike) -> tuple[Number, Unit | None]:
    if isinstance(entry, (list, tuple)):
        parts = [_of_person(one) for one in entry]
        if not parts:
            raise DataError("people", entry, "this person answers nothing", "at least one survey or epsilon")
        total = sum((epsilon for epsilon, _ in parts), start=Number(0))
        return total, _same_unit(unit for _, unit in parts)
    if hasattr(entry, "guarantee") and hasattr(entry, "epsilon"):
        epsilon, promise = exact(entry.epsilon, name="epsilon"), entry.guarantee
        unit = read_replacement(promise.unit)
        if not promise.within(pure(epsilon, unit=unit)):
            why = "it does not promise its epsilon without a delta"
            raise GuaranteeError("people", entry, why, "a survey, or a mechanism with a pure promise")
        return epsilon, unit
    return exact(cast(NumberLike, entry), name="epsilon", nonnegative=True), None


def _same_unit(units: Iterable[Unit | None]) -> Unit | None:
    named = {unit for unit in units if unit is not None}
    if len(named) > 1:
        raise UnitError("unit", [str(unit) for unit in named], "they speak of different neighbours", "one unit for all")
    return named.pop() if named else None


@argument_errors
def shuffled(survey: Survey, people: SupportsIndex, delta: NumberLike) -> Guarantee:
    """Privacy amplification by shuffling: what reports promise in random order, epsilon rounded up.

    Args:
        survey: what each person answers.
        people: how many answer.
        delta: of the guarantee; above 0.

    Raises:
        DataError: it is no survey of listed values.
        NumberError: delta is not above 0 and below 1, or people is no whole number.
        UnitError: the survey is not about replacing one person.

    Example:
        >>> from dither.local import DirectEncoding, bridge
        >>> bridge.shuffled(DirectEncoding(range(3), epsilon=1), 1000, "1e-6").epsilon("1e-6") < 0.2
        True
    """
    if not isinstance(survey, Survey):
        raise DataError("survey", survey, "it is not a survey", "DirectEncoding(range(10), epsilon=1)")
    if survey.unit is not Unit.REPLACE_ONE:
        raise UnitError("unit", survey.unit.value, "shuffling is proved for people", f"'{Unit.REPLACE_ONE}'")
    lost = read_delta(delta)
    if lost == 0:
        raise NumberError("delta", delta, "order hides a person only up to a delta", "'1e-6'")
    loss = amplify.shuffled(survey.epsilon, people, answers=_answers(survey))
    return approx(Fraction(loss.epsilon(lost)), lost, unit=Unit.REPLACE_ONE)


def _answers(survey: Survey) -> int | None:
    """How many answers it has where it is randomized response, with all wrong answers equally likely."""
    if isinstance(survey, DirectEncoding):
        return len(survey.domain)
    return 2 if isinstance(survey, CoinFlip) and sum(survey.chances) == 1 else None


@argument_errors
@dataclass(frozen=True)
class Trust:
    """The standard deviation of a count, with a trusted curator and without one.

    Args:
        people: how many are counted.
        epsilon: the privacy parameter of either.
        central: with Laplace noise at the curator.
        local: with randomized response at the source.

    Example:
        >>> from dither.local import bridge
        >>> trust = bridge.compare(10_000, 1)
        >>> trust.central < 2 < 90 < trust.local
        True
    """

    people: int
    epsilon: Number
    central: float
    local: float
    __repr__ = short_repr

    @property
    def ratio(self) -> float:
        """How many times as far off a count is without trust."""
        return self.local / self.central

    def __str__(self) -> str:
        return (
            f"Of {self.people} people at ε = {self.epsilon}: a count is off by {self.central:.3g} with a trusted collector "
            f"and by {self.local:.3g} without one, {self.ratio:.3g} times as much."
        )


@argument_errors
def compare(people: SupportsIndex, epsilon: NumberLike) -> Trust:
    """Laplace noise at a trusted curator against randomized response: standard deviations of a count, rounded up.

    Args:
        people: how many are counted.
        epsilon: the privacy parameter of either.

    Raises:
        NumberError: a parameter is not a positive number, or people not whole.

    Example:
        >>> from dither.local import bridge
        >>> round(bridge.compare(10_000, 1).ratio)
        68
    """
    count, promise = integer(people, name="people", least=1), exact(epsilon, name="epsilon", positive=True)
    return Trust(count, promise, deviation_of_count(promise), deviation_of_survey(promise, count))


@argument_errors
def people_needed(epsilon: NumberLike, deviation: NumberLike) -> tuple[int, int]:
    """How many people give a frequency this standard deviation: with a trusted curator, and without one.

    Args:
        epsilon: the privacy parameter of either.
        deviation: the standard deviation of the frequency that is wanted.

    Raises:
        NumberError: a parameter is not a positive number.

    Example:
        >>> from dither.local import bridge
        >>> bridge.people_needed(1, "0.01")
        (142, 9207)
    """
    wanted = rational(deviation, name="deviation", positive=True)
    central, local = (Fraction(one(epsilon)) for one in (deviation_of_count, lambda e: deviation_of_survey(e, 1)))
    return max(1, math.ceil(central / wanted)), max(1, math.ceil((local / wanted) ** 2))
