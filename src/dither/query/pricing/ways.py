"""Offers of a question at a price: under the limits that its policy states, or under limits that it finds privately.

A fifth of the price is for the histograms (`statistics/limit_histogram.py`), equal parts for each; the rest for the question
as it would be asked under a policy with the limits that were found.

Theorem. Together they promise the sum of both prices: adaptive composition. The price of what follows is the same whatever
was found: an epsilon or a rho of each statistic, whose noise follows from it and from the limits. Of geometric noise it is
the epsilon that is charged, since its own smaller rho depends on the limits; of Gaussian noise mu, which does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol, TypeVar

from dither.errors import GuaranteeError, QuestionError
from dither.numeric.number import NumberLike
from dither.privacy.budget.filter import Filter
from dither.privacy.guarantee.definitions import pure, zcdp
from dither.query.plan.text import rounded
from dither.query.policy.policy import Policy
from dither.query.pricing import price
from dither.query.pricing.ask import Way
from dither.query.pricing.candidates import Candidate
from dither.query.pricing.found_policy import HARD, is_hard, policy_with
from dither.query.pricing.limit_searches import Search, one_table
from dither.query.pricing.offer import FoundLimits, Offer, Values
from dither.query.pricing.pricing import Pricing
from dither.query.pricing.spend import Spend
from dither.query.sql.options import Options, apply_options, read_options
from dither.query.sql.parse import parse
from dither.query.statistics.bounding import Bounding
from dither.query.statistics.counter_release import CounterRelease, Priced
from dither.query.statistics.limit_histogram import LimitHistogram

Made = TypeVar("Made", bound="HasPrice")
SHARE = Fraction(1, 5)  # of the price: for what is found privately
SMALL = 100  # an error of one part in so many of a group's size is small enough


class HasPrice(Protocol):
    """What is released, with a price."""

    @property
    def priced(self) -> list[Priced]: ...


class Ways(Protocol[Made]):
    """How a question is released at a price."""

    def made(self, promise: Spend | None) -> Made: ...

    def offer(self, made: Made) -> Offer: ...


@dataclass(frozen=True)
class Facts:
    """What an offer says of its question, whatever its mechanisms are."""

    sql: str
    budget: Filter
    asked: NumberLike | None  # the epsilon that was stated
    limits: Mapping[str, int]  # those that the question tightened
    frame: str
    constants: Values = ()  # what its scalar subqueries gave

    def offer(self, made: Candidate) -> Offer:
        """The offer of these mechanisms."""
        return Offer(
            *(self.sql, made.under.question, made.statistics, made.under.counters.readings, _bounding(made)),
            made.under.confidence,
            self.budget,
            asked=self.asked,
            choice=made.choice,
            weighed=made.weighed,
            limits=self.limits,
            frame=self.frame,
        )


@dataclass(frozen=True)
class Stated:
    """A question under the limits that its policy states."""

    pricing: Pricing
    facts: Facts

    def made(self, promise: Spend | None) -> Candidate:
        """All that is released at a price, or for a wished error where there is none."""
        return self.pricing.made(promise)

    def offer(self, made: Candidate) -> Offer:
        """The offer of these mechanisms."""
        _check_bounding(made, self.pricing.bounding)
        return self.facts.offer(made)


@dataclass(frozen=True)
class Found:
    """A question that finds limits privately, at a part of its price."""

    pricing: Pricing
    facts: Facts
    policy: Policy
    options: Options

    def made(self, promise: Spend | None) -> FoundLimits:
        """The histograms, and what follows from each outcome."""
        pricing, searches = self.pricing, self.pricing.searches
        if promise is None:
            why = "how far a number is off depends on the limits that are found privately"
            raise QuestionError("error", pricing.error, why, "epsilon=, or limits that the policy states")
        part, rest = promise.part(SHARE / len(searches)), promise.part(1 - SHARE)
        histograms = tuple(
            LimitHistogram.make(*search, part.amount, pure=pricing.is_pure, confidence=pricing.confidence)
            for search in searches
        )
        lowest = self._under(tuple(one.limits[0] for one in histograms), searches)
        second = price.total(lowest.made(rest).priced)
        if rest.epsilon is not None:
            second = pure(rest.epsilon, unit=pricing.unit)
        elif pricing.counters.requests:  # by which mechanism may depend on the limits, its rho does not
            second = zcdp(rest.amount, unit=pricing.unit)

        def at(limits: tuple[int, ...]) -> Offer:
            made = self._under(limits, searches).made(rest)
            if not price.total(made.priced).within(second):  # nobody knows of such limits; the highest are taken instead
                why = f"what follows under these limits promises less than {second}"
                raise GuaranteeError("limits", list(limits), why, "limits that the policy states")
            return self._stated(limits, searches).offer(made)

        return FoundLimits(histograms, second, pricing.stated, at)

    def offer(self, made: FoundLimits) -> Offer:
        """The offer; told as it is under the lowest limits."""
        lowest, highest = made.lowest, made.highest  # noise that cannot be drawn there is refused now, before a charge
        return replace(lowest, found=made, limits=highest.limits)

    @property
    def hard(self) -> Stated | None:
        """The question under the highest limits, if nobody can have more, by the owner's word."""
        searches, table = self.pricing.searches, self.pricing.question.table
        if not all(is_hard(search.fact, table, search.limits[-1]) for search in searches):
            return None
        return self._stated(tuple(search.limits[-1] for search in searches), searches)

    def _stated(self, limits: tuple[int, ...], searches: list[Search]) -> Stated:
        return Stated(self._under(limits, searches), self.facts)

    def _under(self, limits: tuple[int, ...], searches: list[Search]) -> Pricing:
        """The question under limits that were found."""
        name = one_table(self.pricing.question.relation)
        found = {search.fact: limit for search, limit in zip(searches, limits, strict=True)}
        policy = apply_options(self.options, policy_with(self.policy, name, found))
        question = parse(read_options(self.facts.sql)[0], policy, self.facts.constants)
        return replace(self.pricing, question=question, second=True)


def better(search: Offer, hard: Offer, size: int | None) -> Offer:
    """The offer under hard limits, where it is as good: no search can be nearer, or its noise is small beside the size.

    A search cannot see fewer people than `clear`, and each of them may lose what the lowest limit counts.
    """
    errors = ", ".join(f"{name} {rounded(error)}" for name, error in hard.errors.items() if error is not None)
    if errors:
        told = f"under those that nobody can exceed, errors would be {errors}, and of the truth (limits='hard')"
        search = replace(search, taken=told)
    assert search.found is not None
    unseen = max(one.clear for one in search.found.histograms)
    for name, statistic, _ in hard.columns:
        noise, least = hard.errors[name], search.found.lowest.errors[name]
        if noise is None or least is None:
            return search
        one = statistic.set.measures[0].step if isinstance(statistic, CounterRelease) else 1
        if noise > least + unseen * float(one) and (size is None or noise * SMALL > size):
            return search
    return replace(hard, taken="those that nobody can exceed: limits found privately would not be more accurate")


def check_hard(offer: Offer) -> None:
    """Refuse an offer whose error bars do not hold the truth of everybody, where that was wished for."""
    for name, statistic, _ in offer.columns:
        if not statistic.complete:
            why = f"of {name}, nobody says what no person can exceed, so that no error bar can hold the truth"
            raise QuestionError("limits", HARD, why, 'hard = ["max_rows"] in the policy, or leaving it out')


def _bounding(made: Candidate) -> Bounding:
    """How a person's rows are bounded for counters; people are counted in a way of their own."""
    own = (one.bounding for one in made.statistics if isinstance(one, CounterRelease) and not one.set.counts_persons)
    return next(own, made.under.bounding)


def _check_bounding(made: Candidate, bounding: Way | None) -> None:
    """A way of bounding that was stated must be one for what is asked."""
    for one in [] if made.under.counters.sets or made.choice else made.statistics:
        if bounding is not None and one.bounding.way != bounding:
            why = f"of what is asked here, a person is bounded in one way: '{one.bounding.way}'"
            raise QuestionError("bounding", bounding, why, "leaving it out")
