"""A plan of a budget: what questions cost together over a year, what is left, what does not fit and what would.

Prices are those of quotes, added up by the filter of the ledger (`planned_total.py`). Nothing is charged and no row is read.
The price of a question does not depend on the rows: it is the same for every version of the data, while the policy is.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

from dither.arguments import argument_errors
from dither.errors import NumberError
from dither.ledger.entries.budget import Remaining
from dither.ledger.ledger import Ledger
from dither.numeric.search import halve_integers
from dither.privacy.text import percent, percent_down
from dither.query.answers.explain import uncounted_lines
from dither.query.answers.table import preformatted
from dither.query.budget_plan.plan_line import PlanLine, Quoting, make_lines, used_after
from dither.query.budget_plan.plan_table import plan_text
from dither.query.budget_plan.planned_question import PlanLike, read_plan
from dither.terminal import Explanation, wrapped

GRAIN = 100  # factors of errors are multiples of 1/100
LARGEST_FACTOR = 1024


@argument_errors
@dataclass(frozen=True)
class BudgetPlan:
    """What questions cost together, how much of the budget is left afterwards, and what would fit. Made by `Dataset.plan`.

    Args:
        domain: whom the budget is about.
        remaining: what is left now; of the whole budget first, then of the analyst's share.
        lines: the questions with their quotes.
        quoting: how a question gets its quote.

    Raises:
        DataError, NumberError, QuestionError: by `Dataset.plan`, which see.

    Example:
        >>> import tempfile, pyarrow, dither
        >>> folder = tempfile.TemporaryDirectory()
        >>> ledger = dither.Ledger.create(folder.name + "/people.ledger", budget=dither.pure(3))
        >>> people = dither.protect(pyarrow.table({"age": [31, 44]}), name="people", person="each row", ledger=ledger)
        >>> plan = people.plan([{"sql": "SELECT COUNT(*) AS n FROM people", "times": "monthly", "epsilon": "0.5"}])
        >>> plan.fits, plan.lines[0].fits, plan.fitting.fits, plan.factor
        (False, 6, True, Fraction(2, 1))
        >>> folder.cleanup()
    """

    domain: str
    remaining: tuple[Remaining, ...]
    lines: tuple[PlanLine, ...]
    quoting: Quoting = field(repr=False, compare=False)  # how a line gets its quote

    @property
    def fits(self) -> bool:
        """Whether all times of all questions are paid, in whatever order they are asked."""
        return all(line.fits == line.question.times for line in self.lines)

    @property
    def needed(self) -> Fraction:
        """What all of it takes of the whole budget, rounded up; above 1 where it is more."""
        return sum((line.part * line.question.times for line in self.lines if line.part is not None), start=Fraction(0))

    @property
    def left(self) -> str:
        """What is left of the whole budget when all of it was asked, such as '52.1%'; '0%' where it does not fit."""
        both = [(line.question, line.quote) for line in self.lines]
        return percent_down(1 - used_after(self.remaining[0].spent, both)) if self.fits else "0%"

    @property
    def factor(self) -> Fraction | None:
        """How many times as large all errors must be for the plan to fit, to 1/100; 1 where it does; None: none is."""
        return self._found[0]

    @property
    def fitting(self) -> BudgetPlan | None:
        """The plan with errors that are so many times as large, by the same `factor` for all, which fits."""
        return self._found[1]

    @cached_property
    def _found(self) -> tuple[Fraction | None, BudgetPlan | None]:
        if self.fits:
            return Fraction(1), self
        tried: dict[Fraction, BudgetPlan | None] = {}

        def fits(hundredths: int) -> bool:
            return self._with_errors(Fraction(hundredths, GRAIN), tried) is not None

        low, high = GRAIN, 2 * GRAIN
        while not fits(high):
            low, high = high, 2 * high
            if high > LARGEST_FACTOR * GRAIN:
                return None, None
        factor = Fraction(halve_integers(fits, low, high), GRAIN)
        return factor, tried[factor]

    def _with_errors(self, factor: Fraction, tried: dict[Fraction, BudgetPlan | None]) -> BudgetPlan | None:
        """The plan with all errors so many times as large; None where it does not fit, or has no such noise."""
        if factor not in tried:
            try:
                asked = [line.question.with_errors(factor) for line in self.lines]
                lines = make_lines(self.remaining, asked, self.quoting)
                made = BudgetPlan(self.domain, self.remaining, lines, self.quoting)
                tried[factor] = made if made.fits else None
            except NumberError:  # noise of that size cannot be drawn
                tried[factor] = None
        return tried[factor]

    # -- to look at --------------------------------------------------------------------------------------------

    def facts(self) -> dict[str, Any]:
        """The plan for programs: exact guarantees and factors, as JSON has them."""
        lines = [
            {
                "name": line.question.name,
                "sql": line.question.sql,
                "times": line.question.times,
                "fits": line.fits,
                "price": None if line.quote is None else line.quote.price,
                "guarantee": None if line.quote is None else json.loads(line.quote.guarantee.to_json()),
                "errors": line.errors,
                "part": None if line.part is None else percent(line.part),
                "refused": line.refused,
                **({"unprotected": line.unprotected} if line.unprotected else {}),
            }
            for line in self.lines
        ]
        fitting = None if self.fitting is None else [line.errors for line in self.fitting.lines]
        return {
            **{"domain": self.domain, "budget": json.loads(self.remaining[0].ceiling.to_json())},
            **{"left": self.remaining[0].percent, "needed": percent(self.needed), "left_after": self.left},
            **{"fits": self.fits, "questions": lines},
            "would_fit": {"factor": None if self.factor is None else str(self.factor), "errors": fitting},
        }

    def explain(self, *, details: bool = False) -> Explanation:
        """The plan in words: a line for each question, what all need, what is left and what would fit.

        With `details` also the price of each question, and what is left as the budget counts it.
        """
        rows = [line.row for line in self.lines]
        used = sum(line.fits for line in self.lines), sum(line.question.times for line in self.lines)
        fitting = None if self.fits or self.fitting is None else [line.row.errors for line in self.fitting.lines]
        shares = [f"of the share: {one.percent}" for one in self.remaining[1:]]
        left = ", ".join([self.remaining[0].percent, *shares])
        told = plan_text(
            self.domain,
            rows,
            needed=percent(self.needed),
            left=left,
            after=self.left if self.fits else None,
            asks=used,
            probability=self._probability,
            factor=None if fitting is None or self.factor is None else f"{float(self.factor):.4g}",
            fitting=fitting,
            details=[one.details for one in self.remaining] if details else [],
        )
        outside = [wrapped(f"Outside {at}  {one.unprotected}") for at, one in enumerate(self.lines, 1) if one.unprotected]
        uncounted = uncounted_lines([offer for line in self.lines for offer in line.offers])
        return Explanation("\n".join([told, *uncounted, *outside]))

    @property
    def _probability(self) -> str:
        """With which all errors hold; empty where they differ."""
        found = {line.confidence for line in self.lines if any(line.errors) and line.confidence is not None}
        return f"{float(100 * found.pop()):.4g}%" if len(found) == 1 else ""

    def __str__(self) -> str:
        return str(self.explain())

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return preformatted(self.explain())


def make_plan(stated: PlanLike, domain: str, ledger: Ledger, analyst: str | None, quoting: Quoting) -> BudgetPlan:
    """The plan of these questions, of the analyst's share too where one is named."""
    remaining = (ledger.remaining(), *(() if analyst is None else (ledger.remaining(analyst),)))
    return BudgetPlan(domain, remaining, make_lines(remaining, read_plan(stated), quoting), quoting)
