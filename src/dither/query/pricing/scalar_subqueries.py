"""Questions with scalar subqueries in two steps: the numbers of the subqueries, then the question that sees them.

A fifth of the price is for the subqueries, equal parts for each; the rest for the question. Both are reserved and charged as
one: whatever fails, both are paid. What the second step sees of the first is the decimal that is stored and shown.

Theorem. Let the first step promise G1, and the second, for every value v of the constants, G2. Then both promise G1 + G2.

    v     what the first step released, each number a fraction or NULL
    Q_v   the question with v in the place of its subqueries

Proof. Q_v is a fixed question once v is known: each constant is compared with values of a row, so that what a row counts
for is a function of the row and v. So its release promises what that of any question does. The facts of a constant do not
depend on v (`plan/expressions.py`), and groups, bounds, counters, noise and prices follow from facts: for all v they are
those of the quote. So the promise of the second step is the same G2, whatever v is, and both together promise the sum:
adaptive composition, for each currency as in `privacy/guarantee`. Constants in SELECT and HAVING only change how released
numbers are read. Nothing fails by v: a constant is written as a double or as NULL, and both compare with every value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from dither.errors import QuestionError
from dither.query.pricing import price
from dither.query.pricing.ask import Ask
from dither.query.pricing.offer import Constants, Offer, Values
from dither.query.pricing.spend import Spend

SHARE = Fraction(1, 5)  # of the price: for the subqueries


@dataclass(frozen=True)
class TwoSteps:
    """How a question with scalar subqueries is released at a price."""

    texts: tuple[str, ...]  # of the subqueries
    first: Callable[[str, Spend], Offer]
    second: Callable[[Spend, Values], Offer]

    def made(self, promise: Spend | None) -> Constants:
        """The subqueries at their part of the price, and what follows from each outcome at the rest."""
        if promise is None:
            why = "a wished error does not say how the price is shared between a question and its subqueries"
            raise QuestionError("error", self.texts[0], why, "epsilon=, then quote.errors")
        part, rest = promise.part(SHARE / len(self.texts)), promise.part(1 - SHARE)
        offers = tuple(_checked(text, self.first(text, part)) for text in self.texts)
        unknown = self.second(rest, (None,) * len(offers))
        return Constants(self.texts, offers, price.total(unknown.released), lambda values: self.second(rest, values))

    def offer(self, made: Constants) -> Offer:
        """The offer; told as it is while nobody knows the numbers."""
        return replace(made.unknown, constants=made)


def inner_ask(ask: Ask, text: str) -> Ask:
    """A subquery as it is asked: what was stated of the groups, the price and the limits is about the question around it."""
    own = replace(ask, text=text, epsilon=None, rho=None, guarantee=None, error=None)
    return replace(own, bounding=None, delta=None, other=None, bounds=None)


def _checked(text: str, offer: Offer) -> Offer:
    """A subquery that gives one number, whatever the data is."""
    question, example = offer.question, "(SELECT AVG(x) FROM t)"
    if len(question.shown) != 1:
        raise QuestionError("subquery", text, "it gives more than one column, and one number is compared", example)
    if question.groups or question.having or question.qualify or question.limit is not None:
        why = "it gives one row for each group, or perhaps none, and one number is compared"
        raise QuestionError("subquery", text, why, f"{example}, without GROUP BY, HAVING and LIMIT")
    if any(one.name == question.shown[0] and not one.is_number for one in question.aggregates):
        raise QuestionError("subquery", text, "it gives no number", example)
    return offer
