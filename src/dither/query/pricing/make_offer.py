"""From a question to an offer: what is asked, at which price, bounded and released in the best way that is known.

read      the text becomes a question, or is refused
spend     the stated price becomes an epsilon or a rho; a wished error becomes the least that is enough
make      candidates are made at that price (all groups counted; keys chosen first; the largest chosen first) and the most
          accurate is taken, by public facts alone
fit       where mechanisms promise less than was stated for all of them, at a lower price again
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import SupportsIndex

from dither.density.quantiles.rank_scores import ENDS, read_ends
from dither.errors import NumberError, QuestionError
from dither.mechanisms.additive.additive import read_confidence
from dither.numeric.number import Number, NumberLike, integer, rational
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.unit import Unit
from dither.query.counters.counter_sets import CounterPlan, choose_counters
from dither.query.groups.unknown_keys import read_other
from dither.query.holdings import Holdings
from dither.query.plan.aggregates import Quantile
from dither.query.plan.question import Question
from dither.query.policy.policy import Policy
from dither.query.pricing import price
from dither.query.pricing.ask import Ask, ErrorsLike, Way
from dither.query.pricing.candidates import Candidate, most_cells, with_keys, with_top
from dither.query.pricing.key_delta import read_lost
from dither.query.pricing.offer import Offer
from dither.query.pricing.spend import HOWS, Spend, counts_rho, largest_epsilon, read_noise, read_spend, rho_in, stated_price
from dither.query.sql.options import Options, apply_options, check_options, read_options, tightened
from dither.query.sql.parse import parse
from dither.query.statistics.bounding import Bounding
from dither.query.statistics.choose_bounding import choose_bounding
from dither.query.statistics.counter_release import CounterRelease
from dither.query.statistics.people_beyond import SHARE, PeopleBeyond, leaves_out

LARGEST_SIZE = 10**15
LEAST_ALPHA = Fraction(1, 10**12)  # error bars that fail less often than this are not computed


def make_offer(ask: Ask, holdings: Holdings, *, promise: Spend | None = None, lost: Fraction | None = None) -> Offer:
    """The offer for a question. In a batch its price and its delta are given parts of the whole."""
    policy, budget = holdings.policy, holdings.ledger.budget
    question, options = read_question(ask.text, policy)
    if promise is not None and (options.epsilon is not None or options.delta is not None):
        why = "a batch has one price for all its questions"
        raise QuestionError("OPTIONS", ask.text, why, "quote([...], epsilon='0.5')")
    epsilon, guarantee = stated_price(
        options, budget, epsilon=ask.epsilon, rho=ask.rho, guarantee=ask.guarantee, error=ask.error
    )
    _check_names(question)
    level, hint = _confidence(ask.confidence), _size(ask.size)
    if ask.error is not None and any(way is not None for way in (epsilon, ask.rho, guarantee)):
        raise NumberError("price", "error beside another way", "a price is stated in exactly one way", HOWS)
    alone, other = promise is None, read_other(question, ask.other)
    noise = read_noise(ask.noise, budget, guarantee)
    if lost is None:
        lost = read_lost(question, budget, ask.delta, guarantee, counts_rho=counts_rho(budget))
    if promise is None and ask.error is None:
        promise = read_spend(budget, epsilon, ask.rho, guarantee, lost, noise)
    is_pure = promise.is_pure if promise is not None else noise == "geometric" or not counts_rho(budget)
    counters = choose_counters(question, pure=is_pure)
    ends = _ends(ask.intervals, question, alone=alone)
    pricing = Pricing(question, counters, ask.bounding, budget.unit, is_pure, level, hint, ask.error, lost, other, ends)
    if promise is not None and promise.most is not None:
        promise = Spend(epsilon=largest_epsilon(promise.most, lambda e: rho_in(budget, pricing.promised(e))))
    made = pricing.made(promise)
    fitting = None if promise is None else promise.fitting(price.total(made.priced))
    made = made if fitting is None else pricing.made(fitting)
    _check_bounding(made, ask.bounding)
    if alone:  # otherwise the batch is one question, and looked at as a whole
        price.check_limit(price.total(made.priced), policy.per_question)
    first = holdings.sources.get(question.relation.tables[0].name)
    return Offer(
        str(ask.text),
        question,
        made.statistics,
        made.under.counters.readings,
        _bounding(made),
        level,
        hint,
        budget,
        asked=epsilon if alone and not (is_pure and counts_rho(budget)) else None,
        choice=made.choice,
        weighed=made.weighed,
        limits=tightened(question, policy),
        frame="" if first is None else first.kind,
    )


@dataclass(frozen=True)
class Pricing:
    """A question with all that its mechanisms depend on but the price."""

    question: Question
    counters: CounterPlan
    bounding: Way | None  # the way that was stated, or None
    unit: Unit
    is_pure: bool
    confidence: Fraction
    size: int | None
    error: ErrorsLike | None  # that is wished, instead of a price
    lost: Fraction  # the delta of keys that nobody declared
    other: str | None
    ends: Fraction  # the share of the price of quantiles that the ends of their intervals have

    def under(self, cells: int) -> price.Context:
        """The context for so many groups."""
        question, counters = self.question, self.counters
        way = choose_bounding(question, counters, self.bounding, cells=cells, unit=self.unit, pure=self.is_pure)
        facts = question, counters, way, cells, self.confidence, self.size, self.is_pure
        return price.Context(*facts, error_is_wished=self.error is not None, ends=self.ends)

    def promised(self, epsilon: Number) -> Guarantee:
        """What all that is released at an epsilon promises."""
        return price.total(self.made(Spend(epsilon=epsilon)).priced)

    def made(self, promise: Spend | None) -> Candidate:
        """All that is released, at a price, or for a wished error where there is none."""
        cells = most_cells(self.question, self.counters)
        if self.lost:
            return with_keys(self.under(cells), promise, self.error, lost=self.lost, other=self.other)
        if promise is None:
            made = Candidate(self.under(cells), price.for_error(self.error, self.under(cells)))
            share = SHARE[self.is_pure]
            paid = price.paid(made.statistics, pure=self.is_pure).amount
            return self._with_people_beyond(made, paid * (share / (1 - share)))
        made = with_top(self.under, cells, promise)
        if made.choice is not None or leaves_out(made.statistics) is None:
            return made
        share = SHARE[self.is_pure]
        made = with_top(self.under, cells, promise.part(1 - share))
        return self._with_people_beyond(made, promise.part(share).amount)

    def _with_people_beyond(self, made: Candidate, amount: Number | Fraction) -> Candidate:
        """Where rows may be left out: also how many people have more than is counted of them."""
        counted = leaves_out(made.statistics)
        if made.choice is not None or counted is None:
            return made
        pure, level = self.is_pure, self.confidence
        people = PeopleBeyond.make(self.question, counted.bounding, amount, pure=pure, confidence=level)
        return replace(made, statistics=(*made.statistics, people))


def read_question(text: str | list[str], policy: Policy) -> tuple[Question, Options]:
    """What is asked, and what the question says about its own privacy."""
    found, options = read_options(text)
    question = parse(found, apply_options(options, policy))
    check_options(options, policy, question)
    return question, options


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


def _ends(stated: bool | NumberLike, question: Question, *, alone: bool) -> Fraction:
    """The share of the price that goes to the ends of intervals of quantiles."""
    share: Fraction = (ENDS if stated else Fraction(0)) if isinstance(stated, bool) else read_ends(stated, name="intervals")
    if share != ENDS and alone and not any(isinstance(one, Quantile) for one in question.aggregates):
        why = "only the intervals of quantiles cost something: those of counts, sums and averages follow from their noise"
        raise QuestionError("intervals", stated, why, "leaving it out")
    return share


def _size(stated: SupportsIndex | None) -> int | None:
    hint = None if stated is None else integer(stated, name="size", least=1)
    if hint is not None and hint > LARGEST_SIZE:
        raise NumberError("size", "so large", f"no group has more than {LARGEST_SIZE} rows", "1000")
    return hint


def _check_names(question: Question) -> None:
    """Each aggregate x also has columns x_low and x_high, which nothing else may be called."""
    taken = [group.name.lower() for group in question.groups]
    taken += [f"{aggregate.name.lower()}{end}" for aggregate in question.aggregates for end in ("", "_low", "_high")]
    for name in taken:
        if taken.count(name) > 1:
            raise QuestionError(
                "SELECT", name, "two columns of the answer would have that name", "another name: ... AS total"
            )


def _confidence(stated: NumberLike) -> Fraction:
    """The confidence as a fraction, from a number such as 0.95 or from a text such as '95%'."""
    if isinstance(stated, str) and stated.strip().endswith("%"):
        stated = rational(stated.strip()[:-1], name="confidence") / 100
    level = read_confidence(stated)
    if 1 - level < LEAST_ALPHA:
        raise NumberError("confidence", stated, "it is nearer to 1 than 1e-12", "0.95")
    return level
