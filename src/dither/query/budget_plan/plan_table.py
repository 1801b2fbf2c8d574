"""A plan to look at: a table of 80 columns, and below it what is needed, what is left, and what would fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dither.table import table
from dither.terminal import wrapped

LONGEST_QUESTION = 24
LONGEST_ERROR = 18
LEFT = (0, 1, 3)  # columns of texts
ONCE = (
    "Each of the times is meant for new data, under a new data_version in the policy. On the same data a question costs "
    "once: asked again, its stored answer is given for free."
)


class Row(NamedTuple):
    """A line of the table."""

    text: str
    times: int
    errors: tuple[str, ...]
    each: str
    every: str
    fits: int
    price: str  # or why there is none


def plan_text(
    domain: str,
    rows: Sequence[Row],
    *,
    needed: str,
    left: str,
    after: str | None,
    asks: tuple[int, int],
    probability: str,
    factor: str | None,
    fitting: Sequence[tuple[str, ...]] | None,
    details: Sequence[str],
) -> str:
    """The plan in words. `after` is None where it does not fit, `factor` where no larger error makes it fit."""
    paid, wished = asks
    cells = [
        (
            *(str(at), _cut(row.text, LONGEST_QUESTION), f"{row.times:,}"),
            *(_cut(", ".join(row.errors), LONGEST_ERROR), row.each, row.every, f"{row.fits:,}"),
        )
        for at, row in enumerate(rows, 1)
    ]
    answers = f"{len(rows)} question{'s' if len(rows) > 1 else ''}, asked {wished:,} time{'s' if wished > 1 else ''} in all"
    lines = [
        wrapped(f"Plan for {domain}: {answers}. Nothing was charged, and no row was read."),
        wrapped(ONCE),
        "",
        *table(
            [("", "question", "times", f"error {probability}".rstrip(), "each", "all", "fits"), *cells], left=LEFT, rule=1
        ),
        "",
        wrapped(f"Needed     {needed} of the whole budget; {left} is left"),
    ]
    if after is not None:
        lines.append(wrapped(f"Fits       all of it; {after} of the budget is left afterwards"))
    else:
        lines += [wrapped(line) for line in _short(rows, paid, wished)]
        lines.append(wrapped(_would_fit(factor, fitting)))
    lines += [wrapped(f"Price {at}    {row.price}") for at, row in enumerate(rows, 1) if details]
    lines += [wrapped(f"Left       {one}") for one in details]
    return "\n".join(lines)


def _short(rows: Sequence[Row], paid: int, wished: int) -> list[str]:
    """What does not fit: which questions, and how many of their times."""
    found = [f"Too much   {paid:,} of {wished:,} answers are paid for, if questions are paid in this order"]
    for at, row in enumerate(rows, 1):
        if row.fits < row.times:
            why = f": {row.price}" if row.each == "-" else ""
            found.append(f"           question {at}: {row.fits:,} of {row.times:,} times{why}")
    return found


def _would_fit(factor: str | None, fitting: Sequence[tuple[str, ...]] | None) -> str:
    if factor is None or fitting is None:
        why = "no larger error makes it fit. Fewer times would: see the column 'fits'"
        return f"Would fit  {why}; where keys are not declared, a smaller delta for each question"
    told = "; ".join(f"{at}: {', '.join(errors)}" for at, errors in enumerate(fitting, 1) if errors)
    return f"Would fit  all of it, with errors {factor} times as large ({told}); or fewer times: see the column 'fits'"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."
