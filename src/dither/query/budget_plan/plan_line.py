"""The lines of a plan: each question with its quote, its part of the budget, and how many of its times fit."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from dither.errors import BudgetError, ConflictError, DataError, DitherError, show
from dither.ledger.entries.budget import Remaining
from dither.privacy.budget.filter import Spent
from dither.privacy.budget.filter_state import ratio
from dither.privacy.text import four_digits, percent
from dither.query.batch import Batch
from dither.query.budget_plan.plan_table import Row
from dither.query.budget_plan.planned_question import PlannedQuestion
from dither.query.budget_plan.planned_total import Charge, admitted, most_times, planned_total, rounding_slack
from dither.query.pricing.offer import Offer
from dither.query.quote import Quote

Quoted: TypeAlias = Quote | Batch
Quoting: TypeAlias = Callable[[PlannedQuestion], Quoted]


@dataclass(frozen=True)
class PlanLine:
    """A question of a plan with its quote, and how many of its times fit after the lines above.

    Args:
        question: as it was stated.
        quote: its price and its errors; None where the policy does not allow such a price for one question.
        refused: why not, in that case.
        fits: how many of its times are paid, if those of the lines above are paid first.
        part: what one time takes of the whole budget, rounded up; None where there is no quote.

    Raises:
        DitherError: by those who make one; a line itself is a plain value.

    Example:
        >>> from dither.query.budget_plan.budget_plan import PlanLine
        >>> from dither.query.budget_plan.planned_question import PlannedQuestion
        >>> asked = PlannedQuestion("SELECT COUNT(*) AS n FROM people", 12, "", {"epsilon": "0.5"})
        >>> PlanLine(asked, None, "the policy allows ε = 0.1 for one question", 0, None).errors
        []
    """

    question: PlannedQuestion
    quote: Quoted | None
    refused: str
    fits: int
    part: Fraction | None

    @property
    def errors(self) -> list[dict[str, float | None]]:
        """How far each number may be off, by its name; a mapping for each text of the question."""
        if self.quote is None:
            return []
        return self.quote.errors if isinstance(self.quote, Batch) else [self.quote.errors]

    @property
    def confidence(self) -> Fraction | None:
        """The probability with which the errors hold."""
        if self.quote is None:
            return None
        return self.quote.offers[0].confidence if isinstance(self.quote, Batch) else self.quote.confidence

    @property
    def unprotected(self) -> str:
        """What the guarantee does not cover, since the owner took it from the data; '' where there is nothing."""
        return "" if self.quote is None else self.quote.unprotected

    @property
    def offers(self) -> tuple[Offer, ...]:
        """What the questions of the line release; none where there is no quote, or a free one."""
        if self.quote is None or not self.quote.question:
            return ()
        return self.quote.offers if isinstance(self.quote, Batch) else (self.quote.offer,)

    @property
    def row(self) -> Row:
        """The line as a table shows it."""
        told = [f"{name} ± {_shown(error)}" for errors in self.errors for name, error in errors.items()]
        each, every = ("-", "-") if self.part is None else (percent(self.part), percent(self.part * self.question.times))
        price = self.refused if self.quote is None else self.quote.price
        return Row(self.question.text, self.question.times, tuple(told), each, every, self.fits, price)


def make_lines(remaining: tuple[Remaining, ...], asked: Sequence[PlannedQuestion], quoting: Quoting) -> tuple[PlanLine, ...]:
    """The lines of these questions, under all that is left: of the whole budget, and of a share."""
    quotes = [_quoted(question, at, quoting) for at, question in enumerate(asked, 1)]
    _each_once([quote for quote, _ in quotes])
    both = [(question, quote) for question, (quote, _) in zip(asked, quotes, strict=True)]
    fits = [min(several) for several in zip(*(_fits(one.spent, both) for one in remaining), strict=True)]
    lines = zip(both, quotes, fits, _parts(remaining[0].spent, both), strict=True)
    return tuple(PlanLine(question, quote, why, most, part) for (question, quote), (_, why), most, part in lines)


def _quoted(question: PlannedQuestion, at: int, quoting: Quoting) -> tuple[Quoted | None, str]:
    """The quote of a question; None, and the reason, where the policy does not allow such a price."""
    try:
        return quoting(question), ""
    except BudgetError as error:
        return None, error.why
    except DitherError as error:
        if hasattr(error, "instead"):
            error.where = f"question {at}: {error.where}"
            error.args = (f"{error.where} = {show(error.came)} is refused: {error.why}. What would work: {error.instead}.",)
        raise


def _each_once(quotes: Sequence[Quoted | None]) -> None:
    """On one version of the data the same question at the same price is charged once: it stands in a plan once."""
    seen: dict[str, int] = {}
    for at, quote in enumerate(quotes, 1):
        if quote is None or not quote.question:
            continue  # a free one
        spelled = json.dumps([quote.question, quote.guarantee.to_json()], sort_keys=True, default=str)
        if spelled in seen:
            why = f"it is question {seen[spelled]} again: on the same data it is charged once, and then answered for free"
            raise ConflictError(f"question {at}", _sql(quote), why, "one of them, with the larger number of times")
        seen[spelled] = at


def _sql(quote: Quoted) -> str:
    return "; ".join(offer.sql for offer in quote.offers) if isinstance(quote, Batch) else quote.sql


def _charges(spent: Spent, both: Sequence[tuple[PlannedQuestion, Quoted | None]]) -> list[Charge]:
    found = []
    for question, quote in both:
        charged = None if quote is None or not quote.question else quote.guarantee  # the ledger knows no free question
        price = spent.budget.nothing.totals if charged is None else spent.budget.price(charged)
        if price is None:
            why = f"it has no price under {spent.budget.ceiling}"
            raise DataError("plan", question.text, why, "a question that the share counts")
        found.append(Charge(price, question.times))
    return found


def _fits(spent: Spent, both: Sequence[tuple[PlannedQuestion, Quoted | None]]) -> list[int]:
    """How many times of each question are admitted, if they are paid in this order."""
    charges = _charges(spent, both)
    slack = rounding_slack(spent, charges)
    if admitted(spent, planned_total(spent, charges, slack=slack)):
        return [0 if quote is None else question.times for question, quote in both]
    found: list[int] = []
    for at, (charge, (_, quote)) in enumerate(zip(charges, both, strict=True)):
        before = [Charge(one.price, most) for one, most in zip(charges[:at], found, strict=True)]
        if quote is not None and not any(charge.price):
            found.append(charge.times)  # it is free
        else:
            found.append(0 if quote is None else most_times(spent, before, charge, slack=slack))
    return found


def _parts(spent: Spent, both: Sequence[tuple[PlannedQuestion, Quoted | None]]) -> list[Fraction | None]:
    """What one time of each takes of the whole budget, by the total that decides in the end."""
    charges, budget = _charges(spent, both), spent.budget
    place = budget.deciding(planned_total(spent, charges, slack=Fraction(0)))
    ceiling = budget.ceilings()[place]
    return [
        None if quote is None else ratio(charge.price[place], ceiling)
        for charge, (_, quote) in zip(charges, both, strict=True)
    ]


def used_after(spent: Spent, both: Sequence[tuple[PlannedQuestion, Quoted | None]]) -> Fraction:
    """The part of the budget that is used when all of it was asked."""
    return spent.budget.used(Spent(spent.budget, planned_total(spent, _charges(spent, both), slack=Fraction(0))))


def _shown(error: float | None) -> str:
    """Rounded up; an error that depends on the data is not known."""
    return "?" if error is None else four_digits(error) if error < 1000 else f"{math.ceil(error):,}"
