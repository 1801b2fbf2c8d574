"""Frequency oracles under local differential privacy: people randomise their answers, an untrusted collector estimates.

    randomize(values) -> Reports        at the source: each answer on its own, with exact probabilities
    tally(reports) -> Tally             at the collector: whole numbers, which can be added up
    estimate(found) -> Estimate         frequencies, with their error
    guarantee, error(people), for_error(people=, half_width=), channel()

The promise is about replacing one person's answer by another: that a person took part, and how many did, is public.

Every survey is of one shape. A report *supports* some of the values. It supports the true value with probability p and
any other value with probability q < p. So where a share h of n reports supports a value, its frequency f satisfies
h = q + (p - q) f on average, and (h - q) / (p - q) is an unbiased estimate. Given the answers, the number of supporting
reports is a sum of independent flips, so its variance is at most n h (1 - h), h being its mean: the deviation is at
most sqrt(h (1 - h) / n) / (p - q). Intervals are on h (`collect/intervals.py`), mapped to f: for one value at a
time, and on the raw estimate, whatever is done to make the frequencies look like frequencies.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from fractions import Fraction
from functools import cached_property
from itertools import islice
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Self, SupportsIndex, TypeAlias

from dither.arguments import argument_errors
from dither.channels.channel import Channel
from dither.errors import DataError, NumberError, SizeError
from dither.local.collect.estimate import Estimate, Frequencies, cut
from dither.local.collect.intervals import interval, normal_quantile
from dither.local.collect.reconstruct import project
from dither.local.collect.reports import Reports
from dither.local.collect.tally import Tally
from dither.local.least_epsilon import least_epsilon
from dither.local.portable_survey import PortableSurvey
from dither.numeric.number import Number, NumberLike, exact, integer, rational
from dither.privacy.guarantee.definitions import pure
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.unit import Unit, UnitLike, read_replacement

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_VALUES = 2**20
LARGEST_LABEL = 2**60  # of whole numbers: their hashes are all different
LEAST_EPSILON, MOST_EPSILON = Fraction(1, 10**9), 500

DomainLike: TypeAlias = Iterable[Hashable] | SupportsIndex  # the values that an answer can have, or how many there are


@argument_errors
class Survey(PortableSurvey):
    """A frequency oracle: a question with finitely many answers, each randomised by the person who gives it."""

    kind: ClassVar[str]  # its name on the wire
    methods: ClassVar[tuple[str, ...]] = ("simplex", "clip", "raw")  # of estimation, the usual one first

    domain: tuple[Hashable, ...]  # the values that an answer can have
    epsilon: Number  # the promise
    unit: Unit

    def __init__(self, domain: DomainLike, *, epsilon: NumberLike, unit: UnitLike = Unit.REPLACE_ONE) -> None:
        self.domain = read_domain(domain)
        self.epsilon = read_epsilon(epsilon)
        self.unit = read_replacement(unit)

    # -- what each of them says for itself ---------------------------------------------------------------------

    @property
    @abstractmethod
    def support(self) -> tuple[float, float]:
        """p and q: how likely a report is to support the true value, and any other; nearest floats."""

    @property
    @abstractmethod
    def dtype(self) -> np.dtype[Any]:
        """Type of one report: fixed size, little-endian."""

    @abstractmethod
    def _encode(self, places: NDArray[np.int64]) -> NDArray[Any]:
        """Randomised reports for values that are given by their numbers in the domain."""

    @abstractmethod
    def _count(self, payload: NDArray[Any]) -> tuple[NDArray[np.int64], int]:
        """Counts that the collector keeps of many reports, which add up; and how many were none of this survey's."""

    @abstractmethod
    def _supports(self, counts: NDArray[np.int64]) -> NDArray[np.float64]:
        """How many reports support each value, from the counts of a tally."""

    @abstractmethod
    def channel(self) -> Channel:
        """The exact matrix of one answer, for small domains."""

    def parameters(self) -> dict[str, object]:
        """What a collector must know besides the domain and epsilon, as plain JSON."""
        return {}

    # -- the promise -------------------------------------------------------------------------------------------

    @property
    def guarantee(self) -> Guarantee:
        """epsilon, pure, for replacing one answer: that somebody answered is public."""
        return pure(self.epsilon, unit=self.unit)

    @cached_property
    def record(self) -> dict[str, object]:
        """What says which survey this is: reports and tallies carry it, and those of another survey are refused."""
        return {
            "kind": self.kind,
            "domain": [_plain(value) for value in self.domain],
            "epsilon": self.epsilon.to_json(),
            "unit": self.unit.value,
            **self.parameters(),
        }

    # -- at the source -----------------------------------------------------------------------------------------

    def randomize(self, values: Iterable[Hashable]) -> Reports:
        """A report for each of the `values`. Who has them need not be the collector: run it where they are."""
        return Reports(self.record, self._encode(self.places(values)))

    def places(self, values: Iterable[Hashable]) -> NDArray[np.int64]:
        """The number in the domain of each of the `values`; a DataError where one is not in it."""
        import numpy as np

        if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
            raise DataError("values", values, "the answers of many people come in a list", str(list(self.domain[:2])))
        if isinstance(values, np.ndarray) and values.dtype.kind in "iu" and values.ndim == 1 and self._counts_up:
            inside = (values >= 0) & (values < len(self.domain))
            if inside.all():
                return values.astype(np.int64)
        listed = values.tolist() if hasattr(values, "tolist") else list(values)
        found = np.empty(len(listed), dtype=np.int64)
        try:
            for at, value in enumerate(listed):
                found[at] = self._place[value]
        except Exception:  # no key, not hashable, or whatever else it raises
            why = f"it is none of the {len(self.domain)} values of the survey"
            raise DataError(f"values[{at}]", value, why, str(list(self.domain[:3]))) from None
        return found

    @cached_property
    def _counts_up(self) -> bool:
        """Whether the values are 0, 1, 2, ...: then they are their own places."""
        return all(type(value) is int and value == place for place, value in enumerate(self.domain))

    @cached_property
    def _place(self) -> dict[Hashable, int]:
        return {value: place for place, value in enumerate(self.domain)}

    # -- at the collector --------------------------------------------------------------------------------------

    def tally(self, reports: Reports) -> Tally:
        """Counts of `reports`. What is no report of this survey is counted as rejected, and left out."""
        if not isinstance(reports, Reports):
            raise DataError("reports", type(reports), "they are no reports", "what randomize gave, or Reports.from_bytes")
        reports.check(self.record)
        payload = reports.one_per_client().payload_as(self.dtype)
        return Tally.of(self.record, reports, len(payload), *self._count(payload))

    def estimate(self, found: Reports | Tally, *, method: str | None = None, confidence: NumberLike = "0.95") -> Estimate:
        """Frequencies of all values, from what was `found`, reports or a tally.

        `method` is one of `methods`, the usual one of the survey unless it is given; each interval holds at this
        `confidence`.
        """
        import numpy as np

        tally = found if isinstance(found, Tally) else self.tally(found)
        tally.check(self.record, self._nothing.size)
        self._check_method(method)
        if tally.people == 0:
            raise SizeError("reports", 0, "there is nothing to estimate from", "at least one report")
        z = normal_quantile(confidence)
        p, q = self._each()
        share = self._supports(tally.counts) / tally.people
        raw = (share - q) / (p - q)
        spread = self._extra_variance(raw)
        likely = np.clip(share, q, p)  # what the chance of a supporting report can be
        deviation = np.sqrt(likely * (1 - likely) / tally.people) / (p - q)
        low, high = ((end - q) / (p - q) for end in interval(np.clip(share, 0.0, 1.0), tally.people, z))
        if spread:
            deviation = np.sqrt(deviation**2 + spread)
            low, high = (raw + np.sign(end - raw) * np.hypot(end - raw, z * math.sqrt(spread)) for end in (low, high))
        ends, frequencies = cut(low, high), self._reconstruct(method, raw, tally)
        return Estimate(
            self.domain,
            frequency=frequencies.values,
            raw=raw,
            deviation=deviation,
            low=ends[0],
            high=ends[1],
            half_width=(high - low) / 2,
            people=tally.people,
            method=frequencies.method,
            confidence=float(rational(confidence, name="confidence")),
            why=frequencies.why,
        )

    def _check_method(self, method: str | None) -> None:
        if method is not None and method not in self.methods:
            raise DataError("method", method, "this survey has no such method", ", ".join(self.methods))

    def _each(self) -> tuple[Any, Any]:
        """p and q of each value: the same for all, unless a survey says otherwise."""
        return self.support

    def _extra_variance(self, raw: NDArray[np.float64]) -> float:
        """The variance that is not from the flips of people: nothing, unless a survey says otherwise."""
        return 0.0

    def _reconstruct(self, method: str | None, raw: NDArray[np.float64], tally: Tally) -> Frequencies:
        chosen = self.methods[0] if method is None else method
        return Frequencies(project(raw, chosen), chosen)

    @cached_property
    def _nothing(self) -> NDArray[np.int64]:
        """The counts of no report at all."""
        import numpy as np

        return self._count(np.zeros(0, dtype=self.dtype))[0]

    # -- before anything is collected --------------------------------------------------------------------------

    def error(self, people: SupportsIndex, confidence: NumberLike = "0.95") -> float:
        """The half-width of the interval of a frequency, whatever it is, from `people` at this `confidence`; asymptotic."""
        count, z = read_people(people), normal_quantile(confidence)
        p, q = self.support
        middle = min(max(0.5, min(p, q)), max(p, q))  # where h (1 - h) is largest
        return z * math.sqrt(middle * (1 - middle) / count) / (p - q)

    @classmethod
    def for_error(
        cls,
        domain: DomainLike,
        *,
        people: SupportsIndex,
        half_width: NumberLike,
        confidence: NumberLike = "0.95",
        **same: Any,
    ) -> Self:
        """A survey with nearly the least epsilon whose error from `people` is within `half_width` at this `confidence`.

        `domain` and what is the `same` for every epsilon go to the class. A NumberError where no epsilon will do.
        """
        listed, wanted = read_domain(domain), rational(half_width, name="half_width", positive=True)
        found = least_epsilon(lambda e: cls(listed, epsilon=e, **same).error(people, confidence), wanted, half_width)
        return cls(listed, epsilon=found, **same)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.domain)} values, epsilon='{self.epsilon}')"


def read_epsilon(epsilon: NumberLike) -> Number:
    """The privacy parameter of a report, in the range where floats tell p from q and hold e^epsilon."""
    found = exact(epsilon, name="epsilon", positive=True)
    if not LEAST_EPSILON <= found <= MOST_EPSILON:
        why = f"a survey has an epsilon from {float(LEAST_EPSILON):.0e} to {MOST_EPSILON}"
        raise NumberError("epsilon", epsilon, why, "1")
    return found


def read_domain(domain: DomainLike) -> tuple[Hashable, ...]:
    """The values that an answer can have: a list, or how many there are."""
    if isinstance(domain, (str, bytes, bool, Mapping)) or not isinstance(domain, (Iterable, Integral)):
        raise DataError("domain", domain, "it lists the values that an answer can have", "['yes', 'no'], or range(100)")
    if isinstance(domain, Integral):
        domain = range(min(integer(domain, name="domain", least=0), MOST_VALUES + 1))
    listed = tuple(islice(domain, MOST_VALUES + 1))
    if not 2 <= len(listed) <= MOST_VALUES:
        raise SizeError("domain", len(listed), f"an answer has 2 to {MOST_VALUES} values", "['yes', 'no']")
    for value in listed:
        if isinstance(value, int) and abs(value) >= LARGEST_LABEL:
            raise DataError("domain", value, "whole numbers lie within 2^60 of zero", "smaller numbers, or text")
        if not isinstance(value, (str, int, bool)) and not _is_cell(value):
            raise DataError(
                "domain", value, "a value is text, a whole number, yes or no, or a pair of whole numbers", "'yes'"
            )
    if len(set(listed)) != len(listed):
        twice = Counter(listed).most_common(1)[0][0]
        equal = [value for value in listed if value == twice]
        raise DataError("domain", equal, "a value is there twice (True is 1, and False is 0)", "each value once")
    return listed


def _is_cell(value: Hashable) -> bool:
    if not isinstance(value, tuple):
        return False
    return all(isinstance(x, int) and not isinstance(x, bool) and abs(x) < LARGEST_LABEL for x in value)


def _plain(value: Hashable) -> object:
    return list(value) if isinstance(value, tuple) else value


def read_people(people: SupportsIndex) -> int:
    """How many people answer: a whole number from 1 to 2^53."""
    count = integer(people, name="people", least=1)
    if count > 2**53:
        raise NumberError("people", people, "there are not so many", "10_000")
    return count
