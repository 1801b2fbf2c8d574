"""Longitudinal surveys, memoization: a permanent randomized answer that is kept, and a fresh answer of it for each report.

The first time a person is asked she draws a permanent answer, by the flat mechanism at `forever`, and keeps it for good.
Each report is a fresh flat answer of the permanent one. E1 = e^forever, E2 = e^second, d values.

Theorem. All reports of one value together are forever-DP, however many. Proof. They are post-processing of one permanent
answer.

Theorem. One report alone is ln((E1 E2 + d - 1) / (E1 + E2 + d - 2))-DP, and no less. Proof. The product of two flat
matrices is flat: true with p = p1 p2 + (d - 1) q1 q2, each other value with q = p1 q2 + q1 p2 + (d - 2) q1 q2. Put in p1
= E1 q1, p2 = E2 q2 and divide. (For two values: ln((1 + e^(a + b)) / (e^a + e^b)).)

So E2 = (F (E1 + d - 2) - (d - 1)) / (E1 - F) makes one report exactly `first`, F = e^first; it needs first < forever. Where
E1 and F are rational so is E2, and nothing is rounded. Otherwise E2 is rounded down to a rational with 96 bits: the formula
grows with E2 (its derivative has the sign of (E1 - 1)(E1 + d - 1) > 0), so one report is never above `first`.

A person who changes her value draws another permanent answer for the new one and spends `forever` again. Theorem. Let it be
public which of her reports are about the same value. Then k different values are k forever-DP. Proof. Given that, her
reports are k independent groups, each of one permanent answer.

*Which* reports share a value is not hidden by this. With second very large, two reports "a", "a" have probability near p1
where the value stayed a, and q1^2 where it went from b to c: a ratio of E1 (E1 + d - 1), above E1^2. And a value that comes
back, (a, b, a) against (a, b, c), shows in the same way. Ask for values that seldom change.

The noise of the permanent answers does not average out over rounds: estimate each round for itself.

Erlingsson, Pihur and Korolova 2014 (with bits); Arcolezi et al. 2022.
"""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Iterable
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, SupportsIndex

from dither.arguments import argument_errors
from dither.channels.channel import Channel
from dither.errors import DataError, NumberError, PrecisionError
from dither.local.client_law import response
from dither.local.collect.reports import Reports
from dither.local.survey import DomainLike, Survey, read_domain, read_epsilon
from dither.local.surveys.direct_encoding import histogram, smallest
from dither.mechanisms.response.k_ary_response import Flat
from dither.numeric.balls import MOST_BITS, ends, precision
from dither.numeric.number import Number, NumberLike, exact, ln, rational
from dither.numeric.search import halve_integers
from dither.privacy.guarantee.definitions import pure
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.unit import Unit, UnitLike

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

KEPT_BITS = 96  # of E2, where it is rounded
FINENESS = 2**16  # in how many parts `for_error` divides `forever`


@argument_errors
class Longitudinal(Survey):
    """Memoized randomized response: one value, reported many times; epsilon `first` for one report, `forever` for all.

    Args:
        domain: the values that an answer can have (texts, whole numbers, truth values, pairs of whole numbers), or how many.
        first: the privacy parameter of one report alone; below forever.
        forever: the privacy parameter of all reports of one value together.
        unit: the neighbouring relation; something is replaced, and nothing added.

    Raises:
        NumberError: first is not below forever, or one of them is no number or out of range.
        PrecisionError: first is too near to 0 or to forever.
        DataError, SizeError: the domain lists a value twice, one of another kind, or not 2 to 2^20 values.
        UnitError: the unit adds or removes somebody.

    Example:
        >>> from dither.local import Longitudinal
        >>> survey = Longitudinal(["yes", "no"], first="ln(2)", forever="ln(3)")
        >>> print(survey.second)
        ln(5)
        >>> client = survey.client()
        >>> reports = client.report("yes") + client.report("yes")
        >>> client.distinct, len(reports)
        (1, 2)
    """

    kind: ClassVar[str] = "longitudinal"

    def __init__(
        self, domain: DomainLike, *, first: NumberLike, forever: NumberLike, unit: UnitLike = Unit.REPLACE_ONE
    ) -> None:
        super().__init__(domain, epsilon=exact(forever, name="forever", positive=True), unit=unit)
        self.first = read_epsilon(first)
        if not self.first < self.forever:
            why = f"one report says less than all of them, and forever is {self.forever}"
            raise NumberError("first", first, why, "a first below forever")
        self.permanent_response = Flat(self.domain, epsilon=self.forever, unit=self.unit)
        self.fresh_response = Flat(
            self.domain, epsilon=ln(second_growth(self.first, self.forever, len(self.domain))), unit=self.unit
        )

    @property
    def forever(self) -> Number:
        """What all reports of one value spend together."""
        return self.epsilon

    @property
    def second(self) -> Number:
        """The epsilon of a fresh answer, given the permanent one."""
        return self.fresh_response.epsilon

    @property
    def guarantee(self) -> Guarantee:
        """forever, pure: for all reports of one value together."""
        return pure(self.forever, unit=self.unit)

    @property
    def first_guarantee(self) -> Guarantee:
        """first, pure: for one report by itself."""
        return pure(self.first, unit=self.unit)

    def parameters(self) -> dict[str, object]:
        """The epsilon of one report, for the record."""
        return {"first": self.first.to_json()}

    def client_draws(self) -> dict[str, object]:
        """The chance of the truth in the permanent answer, and of the permanent answer in a fresh one."""
        others = len(self.domain) - 1
        chances = {"permanent": response(self.forever, others), "fresh": response(self.second, others)}
        return {"values": others + 1, **chances}

    # -- at the source -----------------------------------------------------------------------------------------

    def client(self, stored: str | None = None) -> Client:
        """What one person keeps: new, or from `stored`, what `Client.to_json` wrote; a DataError otherwise."""
        return Client(self, {}) if stored is None else Client(self, _read_memo(stored, self))

    def permanent(self, values: Iterable[Hashable]) -> NDArray[np.int64]:
        """A permanent answer for each of the values, as numbers of values: for each person to keep, and to show nobody."""
        return self.permanent_response.randomize_places(self.places(values))

    def fresh(self, permanent: NDArray[np.int64]) -> Reports:
        """One round: a report from each permanent answer."""
        return Reports(self.record, self.fresh_response.randomize_places(permanent).astype(self.dtype))

    def _encode(self, places: NDArray[np.int64]) -> NDArray[Any]:
        """The first report of people who have not answered before."""
        return self.fresh_response.randomize_places(self.permanent_response.randomize_places(places)).astype(self.dtype)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of one report: the smallest unsigned integer that holds the number of a value."""
        return smallest(len(self.domain))

    # -- at the collector --------------------------------------------------------------------------------------

    @cached_property
    def support(self) -> tuple[float, float]:
        """p and q of the two randomized responses in a row."""
        others = len(self.domain) - 1
        (p1, q1), (p2, q2) = (_flat(float(stage), others) for stage in (self.forever, self.second))
        return p1 * p2 + others * q1 * q2, p1 * q2 + q1 * p2 + (others - 1) * q1 * q2

    def _count(self, payload: NDArray[Any]) -> tuple[NDArray[np.int64], int]:
        return histogram(payload, len(self.domain))

    def _supports(self, counts: NDArray[np.int64]) -> NDArray[np.float64]:
        import numpy as np

        return counts.astype(np.float64)

    def channel(self) -> Channel:
        """The exact matrix of one report: that of the permanent answer, and then that of the fresh one."""
        return self.permanent_response.channel().then(self.fresh_response.channel())

    @classmethod
    def for_error(  # type: ignore[override]
        cls,
        domain: DomainLike,
        *,
        forever: NumberLike,
        people: SupportsIndex,
        half_width: NumberLike,
        confidence: NumberLike = "0.95",
        unit: UnitLike = Unit.REPLACE_ONE,
    ) -> Longitudinal:
        """The survey with the least `first`, for a given `forever`, whose error in one round is within the half-width.

        `domain` and `unit` as in the class; `people` answer; an interval of a frequency is at most `half_width` to either
        side at this `confidence`. A NumberError where no first has an error that small.
        """
        listed, whole = read_domain(domain), exact(forever, name="forever", positive=True)
        wanted = rational(half_width, name="half_width", positive=True)

        def make(part: int) -> Longitudinal:
            return cls(listed, first=whole * Fraction(part, FINENESS), forever=whole, unit=unit)

        def fits(part: int) -> bool:
            return make(part).error(people, confidence) <= wanted

        if not fits(FINENESS - 1):
            why = f"with forever = {whole} no report has an error that small with so few people"
            raise NumberError("half_width", half_width, why, "more people, a larger half-width, or a larger forever")
        return make(halve_integers(fits, 0, FINENESS - 1))

    def __repr__(self) -> str:
        return f"Longitudinal({len(self.domain)} values, first='{self.first}', forever='{self.forever}')"


class Client:
    """What one person keeps between reports: a permanent answer for each value that she ever had. Show it to nobody."""

    def __init__(self, survey: Longitudinal, memo: dict[int, int]) -> None:
        self.survey = survey
        self._memo = memo  # the number of a value -> that of its permanent answer

    @property
    def distinct(self) -> int:
        """How many different values she has reported."""
        return len(self._memo)

    @property
    def guarantee(self) -> Guarantee:
        """`forever` for each different value: about what the values were, where it is public which reports share one."""
        return max(1, self.distinct) * self.survey.guarantee

    def report(self, value: Hashable) -> Reports:
        """One report, from the permanent answer for this `value`. Store the client before the report leaves."""
        import numpy as np

        place = int(self.survey.places([value])[0])
        if place not in self._memo:
            self._memo[place] = int(self.survey.permanent([value])[0])
        return self.survey.fresh(np.array([self._memo[place]]))

    def to_json(self) -> str:
        """For storing at home: who reads it knows the permanent answers, and so more than any report tells."""
        return json.dumps({"record": self.survey.record, "memo": sorted(self._memo.items())})

    def __repr__(self) -> str:
        return f"Client({self.distinct} values so far)"  # the memo is a secret


def _read_memo(stored: str, survey: Longitudinal) -> dict[int, int]:
    size = len(survey.domain)
    try:
        found = json.loads(stored)
        record, memo = found["record"], dict(found["memo"])
        if not all(type(number) is int for pair in memo.items() for number in pair):
            raise ValueError("numbers of values")
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        raise DataError("client", "...", "dither did not write this", "what Client.to_json gave") from error
    if record != survey.record or not all(0 <= at < size for pair in memo.items() for at in pair):
        raise DataError("client", "...", "it belongs to another survey", "the survey that it was stored for")
    return memo


def second_growth(first: Number, forever: Number, size: int) -> Fraction:
    """E2: exact where e^first and e^forever are rational, and otherwise rounded down."""
    one, all_of_them = first.exp_fraction(), forever.exp_fraction()
    if one is not None and all_of_them is not None:
        return (one * (all_of_them + size - 2) - (size - 1)) / (all_of_them - one)
    bits = 256
    while bits <= MOST_BITS:
        with precision(bits):
            grown, whole = first.ball().exp(), forever.ball().exp()
            if whole > grown:
                low, high = ends((grown * (whole + size - 2) - (size - 1)) / (whole - grown))
                shift = KEPT_BITS - (low.numerator // low.denominator).bit_length()
                rounded = Fraction(math.floor(low * Fraction(2) ** shift)) / Fraction(2) ** shift
                if rounded > 1 and high - low < low / 2**KEPT_BITS:
                    return rounded
        bits *= 2
    raise PrecisionError("first", str(first), "it is too near to 0 or to forever", "a first further from both")


def _flat(epsilon: float, others: int) -> tuple[float, float]:
    small = math.exp(-epsilon)
    return 1 / (1 + others * small), small / (1 + others * small)
