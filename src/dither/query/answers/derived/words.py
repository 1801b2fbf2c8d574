"""Error bars, computed columns, and rows that were chosen by released numbers, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dither.query.answers.derived.errors import error_words
from dither.query.answers.derived.statements import has_interval, said_by
from dither.query.answers.interval_table import FINITE_ALONE, SELECTED, SHOWN_ALONE
from dither.query.groups.top_groups import TopGroups
from dither.query.plan.aggregates import RegressionLine
from dither.query.plan.derived import derived_words
from dither.query.plan.expressions import constants_of
from dither.query.plan.question import Question
from dither.query.pricing.offer import Offer
from dither.query.statistics.quantiles import QuantileStatistic
from dither.query.statistics.statement import Statement

NOT_INCLUDED = (
    "The error bars hold the noise. They do not hold what clamping, rounding to steps and bounding a person change, "
    "which depends on the data."
)
INCLUDED = "The error bars hold the truth if the data keeps to the limits that the owner declared hard."
ALL = "The error bars hold the truth."
NO_BARS = "What is said of noise does not hold what bounding a person changes, which depends on the data."


def bar_words(offer: Offer) -> str:
    """What the error bars of an answer hold, or that it has none."""
    if not any(statistic.has_interval(place) for _, statistic, place in offer.columns):
        return NO_BARS
    if any(one not in (Statement.TRUTH, Statement.RELEASED) for one in said_by(offer).values()):
        return NOT_INCLUDED
    return INCLUDED if states_hard_facts(offer.question) else ALL


def states_hard_facts(question: Question) -> bool:
    """Return whether owners call something hard of a table that is read: what answers say may rest on their word."""
    return any(table.hard for table in question.relation.tables)


def computed_words(offer: Offer) -> list[str]:
    """Columns that are computed from released ones: of what, and that nothing is paid for them."""
    keys = tuple(group.name for group in offer.question.groups)
    lines = []
    for column in offer.question.derived:
        bar = f"; {error_words(column.name, offer)}" if has_interval(column, offer) else "; it has no error bar"
        bar += "" if column.name in offer.question.shown else " (for QUALIFY, not shown)"
        paid = "at no further price" if column.names else "at no price"
        lines.append(f"Computed   {column.name}: {derived_words(column.of, keys)}, of released numbers, {paid}{bar}")
    return lines


def selected_words(offer: Offer) -> list[str]:
    """That rows were chosen by what was released, where they were: their error bars do not account for the choice.

    Groups that a release of its own chose are counted afterwards, with noise that had no part in the choice.
    """
    question = offer.question
    if not question.selects or isinstance(offer.choice, TopGroups):
        return []
    by = "QUALIFY" if question.qualify else "HAVING" if question.having else "ORDER BY and LIMIT"
    rules = [f"{keep.rule} of the policy" for keep in question.rules]
    by = " and ".join(rules if len(rules) == len(question.having) and rules else [by, *rules])
    hidden = "rows whose noisy number of people is below {} are not shown ({})"
    told = [hidden.format(keep.value, keep.rule) for keep in question.rules]
    return [*told, f"{by} {SELECTED}"]


def open_words(offer: Offer, columns: Mapping[str, Sequence[object]]) -> list[str]:
    """That an interval has no end, where one has none; a lower bound says itself that it has no upper one."""
    names = [name for name, statistic, _ in offer.columns if not statistic.is_lower_bound]
    names += [one.name for one in offer.question.derived]
    found = [
        name
        for name in names
        if any(
            end is None and value is not None
            for which in ("_low", "_high")
            if name + which in columns
            for end, value in zip(columns[name + which], columns[name], strict=True)
        )
    ]
    why = "what is divided by may be zero, by its error bar"
    why += ", or a part has no upper end" if offer.shows_values else ""
    return [f"no end (None) of {', '.join(found)}: {why}"] if found else []


def slope_words(offer: Offer) -> list[str]:
    """What the confidence of an interval that may have no end is about: all releases, not those that show both ends.

    Where the variance of x does not stand out from its noise an interval has no end, and holds the truth. Those that are
    left are of releases whose noise made the variance look large, and miss more often (a property of Fieller's sets).
    """
    names = _slopes(offer.question)
    if offer.constants is not None:
        inner = zip(offer.constants.texts, offer.constants.offers, strict=True)
        names += [f"({text})" for text, one in inner if _slopes(one.question)]
    if not names:
        return []
    percent = f"{float(offer.confidence * 100):.4g}%"
    all_of_them = f"the confidence of {percent} is over all releases, those without an interval (no end) included"
    return [f"{', '.join(names)}: {all_of_them}; {FINITE_ALONE}"]


def two_value_words(offer: Offer) -> list[str]:
    """What the confidence of MIN, MAX, BOOL_OR and other quantiles of two values is about: all releases.

    An interval is one value, or both, and then the number is missing. Where the truth is hard to tell, the numbers that are
    left are of releases whose noise made it look plain, and miss more often.
    """
    wholes = [offer, *(offer.constants.offers if offer.constants is not None else ())]
    columns = [(name, statistic) for one in wholes for name, statistic, _ in one.columns]
    names = [name for name, one in columns if isinstance(one, QuantileStatistic) and one.has_two_values]
    if not names:
        return []
    percent = f"{float(offer.confidence * 100):.4g}%"
    all_of_them = f"the confidence of {percent} is over all releases, those without a number included"
    return [f"{', '.join(names)}: {all_of_them}; {SHOWN_ALONE}"]


def _slopes(question: Question) -> list[str]:
    slopes = {one.name for one in question.aggregates if isinstance(one, RegressionLine)}
    named = {one.name: {one.name} for one in question.aggregates} | {one.name: {*one.names} for one in question.derived}
    return [name for name, parts in named.items() if parts & slopes and name in question.shown]


def constant_words(offer: Offer, constants: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """What scalar subqueries gave, and what is about these numbers instead of the true ones."""
    told = []
    for text, found in constants.items():
        value, low, high = (found[which] for which in ("value", "low", "high"))
        ends = "" if low is None or high is None else f" ({_plain(low)} to {_plain(high)})"
        told.append(f"({text}) was released as {'NULL' if value is None else _plain(value)}{ends}")
    about = ": rows are compared with the released numbers, not with the true ones, and error bars are about that"
    return [f"{'; '.join(told)}{about if in_rows(offer) else ''}"] if told else []


def in_rows(offer: Offer) -> bool:
    """Whether rows are compared with what scalar subqueries gave; otherwise only released numbers are."""
    question = offer.question
    return bool(constants_of((question.relation, question.where, question.groups, question.aggregates)))


def _plain(value: float) -> str:
    return f"{value:,.12g}"
