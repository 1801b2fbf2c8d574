"""The bridge to central privacy: what local reports promise about the whole collection, and what trust would buy.

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
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import SupportsIndex

from dither.errors import DataError, GuaranteeError, NumberError, UnitError
from dither.local.survey import Survey
from dither.local.surveys.coin_flip import CoinFlip
from dither.local.surveys.direct_encoding import DirectEncoding
from dither.mechanisms.accuracy import deviation_of_count, deviation_of_survey
from dither.numeric.number import Number, NumberLike, exact, integer, rational
from dither.privacy import amplify
from dither.privacy.guarantee.definitions import approx, pure
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.records import read_delta
from dither.privacy.unit import Unit, read_replacement

__all__ = ["Trust", "compare", "for_any_query", "people_needed", "shuffled"]


def for_any_query(people: Iterable[object]) -> Guarantee:
    """What a collection promises for any query: one entry a person, or one for all with the same; the largest counts.

    An entry is a survey, an epsilon, or a list of those that one and the same person answers: these add up.
    """
    if isinstance(people, (str, bytes, Survey)) or not isinstance(people, Iterable):
        raise DataError("people", people, "it lists what each person answers", "[survey], or ['0.5', 1, ['0.5', survey]]")
    entries = [_of_person(entry) for entry in people]
    if not entries:
        raise DataError("people", [], "nobody answers", "at least one survey or epsilon")
    unit = _same_unit(unit for _, unit in entries)
    return pure(max(epsilon for epsilon, _ in entries), unit=unit)


def _of_person(entry: NumberLike) -> tuple[Number, Unit | None]:
    if isinstance(entry, (list, tuple)):
        parts = [_of_person(one) for one in entry]
        if not parts:
            raise DataError("people", entry, "this person answers nothing", "at least one survey or epsilon")
        total = sum((epsilon for epsilon, _ in parts), start=Number(0))
        return total, _same_unit((unit for _, unit in parts), default=None)
    if hasattr(entry, "guarantee") and hasattr(entry, "epsilon"):
        epsilon, promise = exact(entry.epsilon, name="epsilon"), entry.guarantee
        unit = read_replacement(promise.unit)
        if not promise.within(pure(epsilon, unit=unit)):
            why = "it does not promise its epsilon without a delta"
            raise GuaranteeError("people", entry, why, "a survey, or a mechanism with a pure promise")
        return epsilon, unit
    return exact(entry, name="epsilon", nonnegative=True), None


def _same_unit(units: Iterable[Unit | None], default: Unit | None = Unit.REPLACE_ONE) -> Unit | None:
    named = {unit for unit in units if unit is not None}
    if len(named) > 1:
        raise UnitError("unit", [str(unit) for unit in named], "they speak of different neighbours", "one unit for all")
    return named.pop() if named else default


def shuffled(survey: Survey, people: object, delta: NumberLike) -> Guarantee:
    """What the reports of so many people promise in random order: epsilon rounded up, at this delta."""
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


@dataclass(frozen=True)
class Trust:
    """The deviation of a count, with a trusted collector and without one."""

    people: int
    epsilon: Number
    central: float  # Laplace noise at the collector
    local: float  # randomized response at the source

    @property
    def ratio(self) -> float:
        """How many times as far off a count is without trust."""
        return self.local / self.central

    def __str__(self) -> str:
        return (
            f"Of {self.people} people at ε = {self.epsilon}: a count is off by {self.central:.3g} with a trusted collector "
            f"and by {self.local:.3g} without one, {self.ratio:.3g} times as much."
        )


def compare(people: SupportsIndex, epsilon: NumberLike) -> Trust:
    """Laplace in the centre against randomized response at the source: deviations of a count, rounded up."""
    count, promise = integer(people, name="people", least=1), exact(epsilon, name="epsilon", positive=True)
    return Trust(count, promise, deviation_of_count(promise), deviation_of_survey(promise, count))


def people_needed(epsilon: NumberLike, deviation: NumberLike) -> tuple[int, int]:
    """How many people make a frequency this certain: with a trusted collector, and without one."""
    wanted = rational(deviation, name="deviation", positive=True)
    central, local = (Fraction(one(epsilon)) for one in (deviation_of_count, lambda e: deviation_of_survey(e, 1)))
    return max(1, math.ceil(central / wanted)), max(1, math.ceil((local / wanted) ** 2))
