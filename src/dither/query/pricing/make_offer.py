"""From a question to an offer: what is asked, at which price, bounded and released in the best way that is known.

read      the text becomes a question, or is refused
spend     the stated price becomes an epsilon or a rho; a wished error becomes the least that is enough
make      candidates are made at that price (all groups counted; keys chosen first; the largest chosen first) and the most
          accurate is taken, by public facts alone
fit       where mechanisms promise less than was stated for all of them, at a lower price again
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial

from dither.density.quantiles.rank_scores import ENDS, read_ends
from dither.errors import NumberError, QuestionError
from dither.mechanisms.additive.additive import read_confidence
from dither.numeric.number import NumberLike, rational
from dither.privacy.budget.filter import Filter
from dither.privacy.guarantee.guarantee import Guarantee
from dither.query.counters.estimators import Guesses
from dither.query.groups.unknown_keys import read_other
from dither.query.holdings import Holdings
from dither.query.plan.aggregates import Quantile
from dither.query.plan.question import Question
from dither.query.policy.policy import Policy
from dither.query.pricing import price
from dither.query.pricing.ask import Ask
from dither.query.pricing.found_policy import HARD, with_auto
from dither.query.pricing.guesses import read_guesses
from dither.query.pricing.key_delta import counts_values, read_lost
from dither.query.pricing.limit_searches import check_wishes
from dither.query.pricing.offer import Offer, Values
from dither.query.pricing.pricing import Pricing
from dither.query.pricing.scalar_subqueries import TwoSteps, inner_ask
from dither.query.pricing.spend import HOWS, Spend, counts_rho, largest_epsilon, read_noise, read_spend, rho_in, stated_price
from dither.query.pricing.unprotected_facts import unprotected_facts
from dither.query.pricing.ways import Facts, Found, Made, Stated, Ways, better, check_hard
from dither.query.sql.options import Options, apply_options, check_options, read_options, tightened
from dither.query.sql.parse import parse, read_subqueries

LEAST_ALPHA = Fraction(1, 10**12)  # error bars that fail less often than this are not computed


def make_offer(
    ask: Ask,
    holdings: Holdings,
    *,
    promise: Spend | None = None,
    lost: Fraction | None = None,
    guesses: Guesses | None = None,
) -> Offer:
    """The offer for a question. In a batch its price and its delta are given parts of the whole, and guesses were read."""
    policy, budget = with_auto(holdings.policy, ask.limits, ask.bounds), holdings.ledger.budget
    question, options = read_question(ask.text, policy)
    holdings.engine.check(question)
    if promise is not None and (options.epsilon is not None or options.delta is not None):
        why = "a batch has one price for all its questions"
        raise QuestionError("OPTIONS", ask.text, why, "quote([...], epsilon='0.5')")
    epsilon, guarantee = stated_price(
        options, budget, epsilon=ask.epsilon, rho=ask.rho, guarantee=ask.guarantee, error=ask.error
    )
    _check_names(question)
    level = _confidence(ask.confidence)
    if guesses is None:
        guesses = read_guesses(ask.size, ask.spread, [question], policy)
    if ask.error is not None and any(way is not None for way in (epsilon, ask.rho, guarantee)):
        raise NumberError("price", "error beside another way", "a price is stated in exactly one way", HOWS)
    alone, other = promise is None, read_other(question, ask.other)
    noise = read_noise(ask.noise, budget, guarantee)
    may_choose = lost is None and counts_values(question)  # a delta is taken only if a lower bound is released with it
    if lost is None:
        lost = read_lost(question, budget, ask.delta, guarantee, counts_rho=counts_rho(budget))
        if may_choose and (noise == "geometric" or ask.error is not None or ask.limits == HARD):
            lost = Fraction(0)  # an error is to be known, or an interval to hold the truth: of the number with noise alone
    if promise is None and ask.error is None:
        promise = read_spend(budget, epsilon, ask.rho, guarantee, lost, noise)
    is_pure = promise.is_pure if promise is not None else noise == "geometric" or not counts_rho(budget)
    ends = _ends(ask.intervals, question, alone=alone)
    pricing = Pricing(question, ask.bounding, budget.unit, is_pure, level, guesses, ask.error, lost, other, ends)
    first = holdings.sources.get(question.relation.tables[0].name)
    facts = Facts(
        str(ask.text),
        budget,
        epsilon if alone and not (is_pure and counts_rho(budget)) else None,
        tightened(question, policy),
        "" if first is None else first.kind,
    )
    check_wishes(pricing.searches, ask.limits, ask.bounds)
    text = read_options(ask.text)[0]
    texts = read_subqueries(text, policy)
    if not texts:
        offer = _under(pricing, facts, policy, options, promise)
    else:

        def scalar(subquery: str, part: Spend) -> Offer:
            own = replace(inner_ask(ask, subquery), limits=HARD if ask.limits == HARD else None)
            return make_offer(own, holdings, promise=part, lost=Fraction(0), guesses=guesses)

        def around(part: Spend, values: Values) -> Offer:
            asked = parse(text, apply_options(options, policy), values)
            return _under(replace(pricing, question=asked), replace(facts, constants=values), policy, options, part)

        offer = _at_price(TwoSteps(tuple(texts), scalar, around), promise, budget)
    inner = [fact for one in offer.inner for fact in one.outside]
    if outside := tuple(dict.fromkeys([*unprotected_facts(question, holdings.policy), *inner])):
        offer = replace(offer, outside=outside)
    if policy.made_up:
        offer = replace(offer, made_up=True)
    if may_choose and lost and not offer.shows_values:
        return make_offer(ask, holdings, lost=Fraction(0))
    if ask.limits == HARD:
        check_hard(offer)
    if alone:  # otherwise the batch is one question, and looked at as a whole
        price.check_limit(price.total(offer.released), policy.per_question, budget)
    return offer


def _under(pricing: Pricing, facts: Facts, policy: Policy, options: Options, promise: Spend | None) -> Offer:
    """The offer under limits that are stated, or found privately, whichever is better."""
    if not pricing.searches:
        return _at_price(Stated(pricing, facts), promise, facts.budget)
    found = Found(pricing, facts, policy, options)
    offer, hard = _at_price(found, promise, facts.budget), found.hard
    return offer if hard is None else better(offer, _at_price(hard, promise, facts.budget), pricing.guesses.size)


def _at_price(ways: Ways[Made], promise: Spend | None, budget: Filter) -> Offer:
    """The offer at what was stated: an epsilon, a rho, a guarantee that all of it must keep, or a wished error."""
    if promise is not None and promise.most is not None:
        priced = partial(_promised, ways)
        promise = Spend(epsilon=largest_epsilon(promise.most, lambda e: rho_in(budget, priced(Spend(epsilon=e)))))
    made = ways.made(promise)
    fitting = None if promise is None else promise.fitting(price.total(made.priced))
    return ways.offer(made if fitting is None else ways.made(fitting))


def _promised(ways: Ways[Made], promise: Spend) -> Guarantee:
    return price.total(ways.made(promise).priced)


def read_question(text: str | list[str], policy: Policy) -> tuple[Question, Options]:
    """What is asked, and what the question says about its own privacy."""
    found, options = read_options(text)
    question = parse(found, apply_options(options, policy))
    check_options(options, policy, question)
    return question, options


def _ends(stated: bool | NumberLike, question: Question, *, alone: bool) -> Fraction:
    """The share of the price that goes to the ends of intervals of quantiles."""
    share: Fraction = (ENDS if stated else Fraction(0)) if isinstance(stated, bool) else read_ends(stated, name="intervals")
    if share != ENDS and alone and not any(isinstance(one, Quantile) for one in question.aggregates):
        why = "only the intervals of quantiles cost something: those of counts, sums and averages follow from their noise"
        raise QuestionError("intervals", stated, why, "leaving it out")
    return share


def _check_names(question: Question) -> None:
    """Each aggregate x also has columns x_low and x_high, which nothing else may be called."""
    taken = [group.name.lower() for group in question.groups]
    numbers = [aggregate.name for aggregate in question.aggregates] + [column.name for column in question.derived]
    taken += [f"{name.lower()}{end}" for name in numbers for end in ("", "_low", "_high")]
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
