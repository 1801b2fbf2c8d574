"""Computed columns, and rows that were chosen by released numbers, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dither.query.answers.derived import has_interval
from dither.query.groups.top_groups import TopGroups
from dither.query.plan.derived import derived_words
from dither.query.plan.question import Question
from dither.query.pricing.offer import Offer


def computed_words(offer: Offer) -> list[str]:
    """Columns that are computed from released ones: of what, and that nothing is paid for them."""
    keys = tuple(group.name for group in offer.question.groups)
    lines = []
    for column in offer.question.derived:
        bar = "" if has_interval(column, offer) else "; it has no error bar"
        paid = "at no further price" if column.names else "at no price"
        lines.append(f"Computed   {column.name}: {derived_words(column.of, keys)}, of released numbers, {paid}{bar}")
    return lines


def selected_words(offer: Offer) -> list[str]:
    """That rows were chosen by what was released, where they were: their error bars were not made for the chosen.

    Groups that a release of its own chose are counted afterwards, with noise that had no part in the choice.
    """
    question = offer.question
    if not question.selects or isinstance(offer.choice, TopGroups):
        return []
    by = "HAVING" if question.having else "ORDER BY and LIMIT"
    rules = [f"{keep.rule} of the policy" for keep in question.rules]
    by = " and ".join(rules if len(rules) == len(question.having) and rules else [by, *rules])
    hidden = "rows whose noisy number of people is below {} are not shown ({})"
    told = [hidden.format(keep.value, keep.rule) for keep in question.rules]
    return [*told, f"{by} chose the rows by released numbers: error bars may fail more often among those that are shown"]


def open_words(question: Question, columns: Mapping[str, Sequence[object]]) -> list[str]:
    """That an interval has no end, where one has none."""
    found = [
        column.name
        for column in question.derived
        if any(
            end is None and value is not None
            for which in ("_low", "_high")
            if column.name + which in columns
            for end, value in zip(columns[column.name + which], columns[column.name], strict=True)
        )
    ]
    return [f"no end (None) of {', '.join(found)}: what is divided by may be zero, by its error bar"] if found else []
