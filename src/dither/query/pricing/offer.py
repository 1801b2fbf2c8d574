"""Everything that a question will release, priced: the value that travels from a quote to its answer.

An offer is made of public facts alone and holds no data and no way to it. What it promises, how far it may be off and
how the ledger will know it follow from its fields.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from dither.errors import DitherError, GuaranteeError
from dither.numeric.number import NumberLike
from dither.privacy.budget.filter import Filter
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.loss.loss import Loss
from dither.query.counters.counter_sets import Reading
from dither.query.groups.group_choice import GroupChoice, Groups, all_groups
from dither.query.plan.describe import uncounted_rows
from dither.query.plan.question import Question
from dither.query.pricing import price
from dither.query.pricing.candidates import priced
from dither.query.pricing.found_policy import LOWER, UPPER, is_hard
from dither.query.pricing.unprotected_facts import Fact, unprotected_words
from dither.query.statistics.bounding import Bounding
from dither.query.statistics.counter_release import CounterRelease, Priced
from dither.query.statistics.limit_histogram import LimitHistogram
from dither.query.statistics.people_beyond import Beyond
from dither.query.statistics.statistic import Statistic

Values = tuple[Fraction | None, ...]  # what scalar subqueries gave; None for NULL, and while nobody knows it


@dataclass(frozen=True)
class FoundLimits:
    """Histograms by which limits are found, and the offer that follows from each outcome."""

    histograms: tuple[LimitHistogram, ...]
    second: Guarantee  # of what follows, whatever was found
    stated: tuple[tuple[str, str], ...]  # what the question states of it that does not show under the lowest limits
    offer_at: Callable[[tuple[int, ...]], Offer] = field(repr=False, compare=False)  # by the limits, in their order

    @property
    def guarantee(self) -> Guarantee:
        """Of what follows."""
        return self.second

    def loss(self) -> Loss:
        """Of what follows: that of its guarantee, since its noise is not known beforehand."""
        return self.second.loss()

    @cached_property
    def known(self) -> dict[tuple[int, ...], Offer]:
        """Offers that were made."""
        return {}

    def at(self, limits: tuple[int, ...]) -> Offer:
        """What follows, under these limits."""
        if limits not in self.known:
            self.known[limits] = self.offer_at(limits)
        return self.known[limits]

    @property
    def priced(self) -> list[Priced]:
        """The releases whose guarantees add up to the price."""
        return [*self.histograms, self]

    @property
    def lowest(self) -> Offer:
        """What follows where nobody was seen beyond any limit."""
        return self.at(tuple(one.limits[0] for one in self.histograms))

    @property
    def highest(self) -> Offer:
        """What follows where people were seen everywhere."""
        return self.at(tuple(one.limits[-1] for one in self.histograms))

    def found(self, released: Sequence[Sequence[int]]) -> dict[str, int]:
        """The limits, by what was released; the highest, which the quote tried, should nothing follow from them.

        A release that fails may be asked for again and again, and each time tells that it did: none may fail by what was
        found. No limits are known for which that is so.
        """
        limits = tuple(one.limits[one.place(counts)] for one, counts in zip(self.histograms, released, strict=True))
        try:
            self.at(limits)
        except DitherError:
            limits = tuple(one.limits[-1] for one in self.histograms)
        return {one.fact: limit for one, limit in zip(self.histograms, limits, strict=True)}

    @property
    def of_people(self) -> list[LimitHistogram]:
        """Those of limits of a person: of rows, of sums or of groups, and not of bounds."""
        return [one for one in self.histograms if not one.fact.startswith((UPPER, LOWER))]

    def beyond(self, released: Sequence[Sequence[int]], most_people: int | None) -> Beyond | None:
        """How many people are beyond the limit of a person that was found, where it is no hard one; None where there are
        several, by which people are scaled down together: nobody knows how many are beyond any of them."""
        several = zip(self.histograms, released, strict=True)
        own = [(one, counts) for one, counts in several if one in self.of_people]
        if len(own) != 1:
            return None
        ((one, counts),) = own
        hard = one.place(counts) == len(one.limits) - 1 and is_hard(one.fact, one.question.table, one.limits[-1])
        return None if hard else one.beyond(counts, most_people)

    def offer(self, released: Sequence[Sequence[int]]) -> Offer:
        """What follows from what was released."""
        return self.at(tuple(self.found(released).values()))


@dataclass(frozen=True)
class Constants:
    """Scalar subqueries that are released first, and the offer that follows from each outcome (`scalar_subqueries.py`)."""

    texts: tuple[str, ...]
    offers: tuple[Offer, ...]  # of each
    second: Guarantee  # of what follows, whatever they gave
    offer_at: Callable[[Values], Offer] = field(repr=False, compare=False)

    @property
    def guarantee(self) -> Guarantee:
        """Of what follows."""
        return self.second

    def loss(self) -> Loss:
        """Of what follows: that of its guarantee."""
        return self.second.loss()

    @property
    def priced(self) -> list[Priced]:
        """The releases whose guarantees add up to the price."""
        return [*(one for offer in self.offers for one in offer.released), self]

    @cached_property
    def known(self) -> dict[Values, Offer]:
        """Offers that were made."""
        return {}

    def at(self, values: Values) -> Offer:
        """What follows from these numbers; refused should it promise less than was said, which the theorem rules out."""
        if values not in self.known:
            offer = self.offer_at(values)
            if not price.total(offer.released).within(self.second):
                why = f"what follows promises less than {self.second}"
                raise GuaranteeError("subquery", ", ".join(self.texts), why, "the subquery first, by itself")
            self.known[values] = replace(offer, inner=self.offers)
        return self.known[values]

    @property
    def unknown(self) -> Offer:
        """What follows while nobody knows them."""
        return self.at((None,) * len(self.offers))


@dataclass(frozen=True)
class Offer:
    """A question with its noise: what is counted, how a person is bounded, the mechanisms, and how answers are read."""

    sql: str
    question: Question = field(repr=False)
    statistics: tuple[Statistic, ...] = field(repr=False)  # counters first
    readings: tuple[Reading, ...] = field(repr=False)  # of each aggregate: of which statistic, and where
    bounding: Bounding = field(repr=False)
    confidence: Fraction
    budget: Filter = field(repr=False)  # of the ledger that will pay: prices are told in its currency
    asked: NumberLike | None = field(default=None, repr=False)  # the epsilon that was stated
    choice: GroupChoice | None = field(default=None, repr=False)  # of groups, where a private release chooses them
    weighed: str = field(default="", repr=False)  # why groups are chosen first, or why not
    limits: Mapping[str, int] = field(default_factory=dict, repr=False)  # those that the question tightened, by table
    frame: str = field(default="arrow", repr=False)  # the kind of table that the rows are in
    taken: str = field(default="", repr=False)  # why limits are not found privately, where that was asked for
    found: FoundLimits | None = field(default=None, repr=False)  # limits that are found first; then it is one of its offers
    constants: Constants | None = field(default=None, repr=False)  # scalar subqueries that are released first
    inner: tuple[Offer, ...] = field(default=(), repr=False)  # the offers of these, also once their numbers are known
    outside: tuple[Fact, ...] = field(default=(), repr=False)  # facts from the data that it uses, its subqueries included
    made_up: bool = field(default=False, repr=False)  # whether it is about made-up rows: then all that is shown says so

    @cached_property
    def guarantee(self) -> Guarantee:
        """The guarantee of the whole release: what the ledger will charge."""
        return self.budget.counted(price.total(self.released))

    @property
    def released(self) -> list[Priced]:
        """The releases whose guarantees add up to the price."""
        if self.constants is not None:
            return self.constants.priced
        if self.found is not None:
            return self.found.priced
        return priced(self.choice, self.statistics)

    def loss(self) -> Loss:
        """The privacy loss of this one question, by the exact laws of its noise, which is fixed before any release."""
        return price.loss(self.released)

    def epsilon(self, delta: NumberLike = 0) -> float:
        """The epsilon of this one question at a delta of your choice, by the exact law of its loss; rounded up."""
        return price.epsilon(self.released, delta)

    @property
    def uncounted(self) -> str:
        """The rows that no number counts, since they belong to nobody; '' where there are none by the owner's word."""
        inner = self.inner if self.constants is None else self.constants.offers
        return uncounted_rows(offer.question.relation for offer in (self, *inner))

    @property
    def unprotected(self) -> str:
        """What the guarantee does not cover, since the owner took it from the data; '' where there is nothing."""
        return unprotected_words(self.outside)

    @cached_property
    def price(self) -> str:
        """The guarantee as people know it: epsilon, and at which delta where there is no epsilon alone."""
        return price.text(self.released, self.budget, self.asked)

    @cached_property
    def errors(self) -> dict[str, float | None]:
        """How far each aggregate may be off because of noise; None where a guess is missing, and where the limits are
        found first. Scalar subqueries stand behind, by their texts."""
        first = {text: one.errors.get(one.question.shown[0]) for text, one in self._subqueries.items()}
        if self.found is not None:
            return dict.fromkeys(aggregate.name for aggregate in self.question.aggregates) | first
        return {name: statistic.error(place, self.confidence) for name, statistic, place in self.columns} | first

    @property
    def _subqueries(self) -> dict[str, Offer]:
        return {} if self.constants is None else dict(zip(self.constants.texts, self.constants.offers, strict=True))

    @property
    def in_steps(self) -> bool:
        """Whether what is released depends on what was released before, so that its statistics are not known yet."""
        return self.found is not None or self.constants is not None

    @property
    def columns(self) -> list[tuple[str, Statistic, int]]:
        """Each aggregate by its name: the statistic that it is read off, and where."""
        names = (aggregate.name for aggregate in self.question.aggregates)
        return [(name, self.statistics[at], place) for name, (at, place) in zip(names, self.readings, strict=True)]

    @property
    def shows_values(self) -> bool:
        """Whether values that nobody declared are chosen, to be counted."""
        return any(one.is_lower_bound for one in self.statistics)

    @property
    def counters(self) -> list[CounterRelease]:
        """The sets of counters among the statistics."""
        return [one for one in self.statistics if isinstance(one, CounterRelease)]

    @property
    def others(self) -> list[Statistic]:
        """The statistics that are not counters."""
        return list(self.statistics[len(self.counters) :])

    def chosen(self, released: Any) -> Groups:
        """The groups that are counted, from what was stored of their choice."""
        return all_groups(self.question) if self.choice is None else self.choice.chosen(self.question, released)
