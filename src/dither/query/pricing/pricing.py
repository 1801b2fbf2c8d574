"""A question with all that its mechanisms depend on but the price, and what is released at a price."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial

from dither.density.quantiles.rank_scores import ENDS
from dither.numeric.number import Number
from dither.privacy.unit import Unit
from dither.query.counters.counter_sets import CounterPlan, choose_counters
from dither.query.counters.estimators import Guesses
from dither.query.groups.group_choice import unknown_groups
from dither.query.plan.aggregates import Quantile
from dither.query.plan.question import Question
from dither.query.pricing import price
from dither.query.pricing.ask import ErrorsLike, Way
from dither.query.pricing.candidates import Candidate, most_cells, with_keys, with_top
from dither.query.pricing.limit_searches import Search, check_stated, searches
from dither.query.pricing.spend import Spend
from dither.query.statistics.choose_bounding import choose_bounding
from dither.query.statistics.people_beyond import SHARE, PeopleBeyond, cut_counts, leaves_out
from dither.query.workload.grouping_bounding import better_bounding


@dataclass(frozen=True)
class Pricing:
    """A question with all that its mechanisms depend on but the price."""

    question: Question
    bounding: Way | None  # the way that was stated, or None
    unit: Unit
    is_pure: bool
    confidence: Fraction
    guesses: Guesses
    error: ErrorsLike | None  # that is wished, instead of a price
    lost: Fraction  # the delta of keys and values that nobody declared
    other: str | None
    ends: Fraction  # the share of the price of quantiles that the ends of their intervals have
    second: bool = False  # whether limits were found before: then people beyond them are known, and all groups are counted

    @cached_property
    def counters(self) -> CounterPlan:
        """What is counted for it."""
        return choose_counters(self.question, pure=self.is_pure)

    @cached_property
    def searches(self) -> list[Search]:
        """The limits that are to be found privately."""
        if unknown_groups(self.question):  # keys that nobody declared are chosen within limits that are stated
            check_stated(self.question)
            return []
        cells = most_cells(self.question, self.counters)
        return searches(self.question, self.counters, cells=cells, unit=self.unit, pure=self.is_pure)

    @property
    def stated(self) -> tuple[tuple[str, str], ...]:
        """What was stated of how it is released, by name: under some limits only it may make a difference."""
        asked = any(isinstance(one, Quantile) for one in self.question.aggregates)
        intervals = [("intervals", str(self.ends))] if asked and self.ends != ENDS else []
        return (*([] if self.bounding is None else [("bounding", self.bounding)]), *intervals)

    def under(self, cells: int) -> price.Context:
        """The context for so many groups."""
        question, counters = self.question, self.counters
        choose = partial(choose_bounding, question, counters, cells=cells, unit=self.unit, pure=self.is_pure)
        way = choose(self.bounding)
        if self.bounding is None:
            way = better_bounding(question, counters, way, choose, pure=self.is_pure)
        facts = question, counters, way, cells, self.confidence, self.guesses, self.is_pure
        # keys of groups have all of it; and beside limits that are found nothing is chosen
        lost = Fraction(0) if self.second or unknown_groups(question) else self.lost
        return price.Context(*facts, error_is_wished=self.error is not None, ends=self.ends, lost=lost)

    def made(self, promise: Spend | None) -> Candidate:
        """All that is released, at a price, or for a wished error where there is none."""
        cells = most_cells(self.question, self.counters)
        if unknown_groups(self.question):
            return with_keys(self.under(cells), promise, self.error, lost=self.lost, other=self.other)
        if promise is None:
            made = Candidate(self.under(cells), price.for_error(self.error, self.under(cells)))
            share = SHARE[self.is_pure]
            paid = price.paid(made.statistics, pure=self.is_pure).amount
            return self._with_people_beyond(made, paid * (share / (1 - share)))
        if self.second:
            return Candidate(self.under(cells), price.make_statistics(promise, self.under(cells)))
        made = with_top(self.under, cells, promise)
        if made.choice is not None or (leaves_out(made.statistics) is None and cut_counts(self.question) is None):
            return made
        share = SHARE[self.is_pure]
        made = with_top(self.under, cells, promise.part(1 - share))
        return self._with_people_beyond(made, promise.part(share).amount)

    def _with_people_beyond(self, made: Candidate, amount: Number | Fraction) -> Candidate:
        """Where rows may be left out: also how many people have more than is counted of them."""
        bounding, cut = leaves_out(made.statistics), cut_counts(self.question)
        pure, level = self.is_pure, self.confidence
        if made.choice is not None:
            return made
        if bounding is not None:
            people = PeopleBeyond.make(self.question, bounding, amount, pure=pure, confidence=level)
        elif cut is not None:
            people = PeopleBeyond.of_own_counts(self.question, cut, self.unit, amount, pure=pure, confidence=level)
        else:
            return made
        return replace(made, statistics=(*made.statistics, people))
