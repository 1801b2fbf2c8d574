"""Words of refusals: why a part of a question is not read, and which ways there are.

No refusal writes another question: what means the same is answered (`rewrites/equivalents.py`), what does not is named in
words. A piece of SQL has gaps, `<low>`, and is not read until the analyst has filled them in.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlglot import exp

from dither.errors import QuestionError
from dither.query.plan.base import Expression
from dither.query.plan.expressions import columns_of
from dither.query.policy.column import Type
from dither.query.sql.syntax import refuse, shown

ABSENT = "for those who are not there: UNION ALL, then GROUP BY the person"
NO_BOUNDS = "the policy states no bounds for it, and none are taken from the data; the owner adds bounds = [<low>, <high>]"
NO_BOUNDS_FOLLOW = "no bounds of it follow from those of its columns, and none are taken from the data"
CONSTANT = "an aggregate of a column; the number of rows is that of COUNT(*)"
LABELS = "a CASE of your own with constant labels: CASE WHEN <condition> THEN '<label>' ELSE '<other>' END"
WINDOWS = "PARTITION BY the person in an inner question, and QUALIFY there for a condition; or GROUP BY a column with keys"
ALLOWED = "comparisons, AND, OR, NOT, IN, BETWEEN, LIKE, IS NULL, CASE, + - * and the functions that the manual lists"
ANSWERED = "COUNT, SUM, AVG, MEDIAN, QUANTILE_CONT, MIN, MAX, STDDEV, VARIANCE, MODE and the others that the manual lists"
OWN_ANSWERED = "COUNT, SUM, AVG, MIN, MAX, BOOL_OR or BOOL_AND of their rows, each as a column of the inner question"
LIKE_WORDS = "a pattern that is written out, as text in single quotes; other texts are compared by ="
PATTERN = "a pattern of LIKE, in which % stands for any signs and _ for one"
CLOCK = (exp.CurrentDate, exp.CurrentTimestamp, exp.CurrentTime, exp.Localtimestamp)
CLOCK_CALLS = ("now", "today", "getdate", "transaction_timestamp")
ONE_ROW = (exp.ArgMax, exp.ArgMin, exp.First, exp.Last, exp.AnyValue)
OF_ONE_PERSON = (exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max, exp.LogicalAnd, exp.LogicalOr)
LISTS = (exp.GroupConcat, exp.ArrayAgg, exp.ApproxTopK)
AGGREGATES = (  # of DuckDB, which the parser has no node for
    *("geomean", "geometric_mean", "product", "histogram", "mad", "favg", "fsum", "sumkahan", "kahan_sum", "kurtosis_pop"),
    *("bitstring_agg", "entropy", "arbitrary", "every", "weighted_avg", "wavg", "sem", "reservoir_quantile"),
)


# -- aggregates --------------------------------------------------------------------------------------------------------


def unbounded(
    node: exp.Expr, inner: exp.Expr, of: Expression, meaning: Callable[[exp.Expr], Expression | None]
) -> QuestionError:
    """Refuse an aggregate of numbers without bounds: say how it is clamped, and of a quotient what its totals give."""
    what, whole = shown(inner), shown(node)
    clamped = clamp_template(what, of)
    clamped = whole.replace(f"({what})", f"({clamped})") if whole.count(f"({what})") == 1 else clamped
    why, instead = NO_BOUNDS_FOLLOW, f"bounds of your own in the place of the gaps: {clamped}"
    if any(column.lower is None for column in columns_of(of) if column.type.is_number):
        why = NO_BOUNDS
    bare = inner.unnest()
    if isinstance(bare, exp.Div):
        divisor = bare.expression.unnest()
        divisor = divisor.this if isinstance(divisor, exp.Nullif) else divisor
        found = [meaning(bare.this), meaning(divisor)]
        if all(part is not None and part.facts.type.is_number and part.facts.is_bounded for part in found):
            why = f"it is unbounded, because {shown(divisor)} can be close to 0"
            if isinstance(node, exp.Avg):
                ratio = f"SUM({shown(bare.this)}) / SUM({shown(divisor)})"
                instead += f". The ratio of the totals, which is another number, is answered: {ratio}"
    return refuse(node, why, instead)


def clamp_template(what: str, of: Expression) -> str:
    """Write a clamp with gaps: GREATEST and LEAST pass over NULL, so that a missing value would count as a bound."""
    clamped = f"LEAST(GREATEST({what}, <low>), <high>)"
    return f"CASE WHEN {what} IS NOT NULL THEN {clamped} END" if of.facts.nullable else clamped


def number_words(kind: Type, what: str) -> str:
    """Name a number that is made of a value which is none."""
    if kind.is_date:
        return f"a number made of it, such as EXTRACT(epoch FROM {what})"
    if kind is Type.TEXT:
        return f"a column that the owner declares as a number, with bounds; LENGTH({what}) is a number too, but another one"
    return f"the number that CAST({what} AS INTEGER) makes of it, 1 or 0"


def _aggregate(node: exp.Expr) -> QuestionError:
    around = node.find_ancestor(exp.Where, exp.AggFunc, exp.Group, exp.Select)
    of = node.this if isinstance(node, exp.IgnoreNulls) else node
    if isinstance(around, exp.Where):
        return refuse(node, "this aggregate is not answered here", "conditions on aggregates in HAVING")
    if isinstance(around, exp.AggFunc):
        why = "an aggregate is not one of another aggregate"
        return refuse(node, why, "an inner question with a person's own totals, and an aggregate of these")
    if isinstance(around, exp.Group):
        return refuse(node, "this aggregate is not answered here", "GROUP BY columns that are no aggregates")
    if isinstance(node, ONE_ROW) or isinstance(of, ONE_ROW):
        why, within = "it shows the value of a single row", node.find_ancestor(exp.Select)
        if within is not None and within.parent is not None:
            row = "QUALIFY ROW_NUMBER() OVER (PARTITION BY <person> ORDER BY <column>) = 1"
            return refuse(node, why, f"that row of each person: an inner question with {row}")
        return refuse(
            node, why, "other questions: MODE of a column with keys, or MIN, MAX and MEDIAN of numbers with bounds"
        )
    if isinstance(node, LISTS):
        return refuse(node, "it lists values of single rows", "GROUP BY the values, with COUNT(*)")
    within = node.find_ancestor(exp.Select)
    if within is not None and within.parent is not None and within.args.get("group") is not None:
        if isinstance(node, OF_ONE_PERSON):
            why = "an aggregate of an inner question is a column by itself"
            return refuse(node, why, "it with a name of its own there, and what is computed with it in the question around")
        return refuse(node, "this aggregate is not answered of the rows of one person", OWN_ANSWERED)
    if shown(node).partition("(")[0] in ANSWERED.replace(",", "").split():
        why = "here stands a value of each row, and an aggregate is of many"
        return refuse(node, why, "a column that is no aggregate; aggregates are columns of SELECT, or conditions of HAVING")
    return refuse(node, "this aggregate is not answered here", ANSWERED)


# -- rows --------------------------------------------------------------------------------------------------------------


def unknown_node(node: exp.Expr) -> QuestionError:
    """Say why a node is not read."""
    if isinstance(node, (exp.Subquery, exp.Select, exp.Exists, exp.Any, exp.All)):
        return within_a_condition(node)
    if isinstance(node, exp.Window):
        return refuse(node, "windows show single rows", WINDOWS)
    if isinstance(node, exp.Null):
        why = "NULL is no value: a comparison with it is never true"
        return refuse(node, why, "IS NULL asks whether a value is missing; a CASE without ELSE leaves it out")
    if isinstance(node, exp.ILike):
        why = "ILIKE is answered for patterns of ASCII that are written out: of other letters no two engines agree"
        return refuse(node, why, "LIKE, which tells large letters from small ones")
    if isinstance(node, exp.Tuple) and node.expressions:
        why = "several values at once are compared by IN, in WHERE and CASE; under NOT engines differ where one is NULL"
        return refuse(node, why, "an equality for each of the values, joined by AND; OR between several of these")
    dates = _dates(node)
    if dates is not None:
        return refuse(node, *dates)
    if isinstance(node, (exp.AggFunc, exp.IgnoreNulls)):
        return _aggregate(node)
    name = node.name if isinstance(node, exp.Anonymous) else type(node).__name__
    if isinstance(node, exp.Anonymous) and name.lower() in AGGREGATES:
        return refuse(node, f"{name.upper()} is no aggregate that is answered here", ANSWERED)
    if isinstance(node, (exp.RegexpLike, exp.RegexpFullMatch, exp.SimilarTo, exp.Glob, exp.Escape)):
        return refuse(node, f"{name} is not on the list of what may be computed from a row", PATTERN)
    why = f"{name} is not on the list of what may be computed from a row"
    inner = node.expressions[0] if isinstance(node, exp.Anonymous) and len(node.expressions) == 1 else None
    if isinstance(inner, exp.Column):  # so reads a column called "Kosten (EUR)" without quotes
        return refuse(node, why, f'"{node.name} ({inner.name})" in double quotes, if a column is called so; {ALLOWED}')
    return refuse(node, why, ALLOWED)


def _dates(node: exp.Expr) -> tuple[str, str] | None:
    """Say why a function of dates is not answered, and what is."""
    named = node.name.lower() if isinstance(node, exp.Anonymous) else ""
    if named in CLOCK_CALLS or isinstance(node, CLOCK):
        return "an answer does not depend on the clock", "a day of your own, DATE '<day>'"
    if isinstance(node, exp.Interval):
        return "an interval is no value by itself", "it added to a date or a timestamp"
    if named == "age":
        return "years, months and days together are no number", "DATE_DIFF, which counts the starts of years, months or days"
    if named in ("date_sub", "datesub") and node.expressions and re.fullmatch(r"'\w+'", shown(node.expressions[0])):
        return "whole periods are not counted, but starts of periods", "DATE_DIFF, which counts these"
    if isinstance(node, exp.TimeToStr):
        return "dates are not written as texts", "DATE_TRUNC, whose value is the first day of a period"
    if isinstance(node, (exp.Dayname, exp.Monthname)):
        return "names of days and months are not written", "EXTRACT of isodow or of month, which are numbers from 1 on"
    if isinstance(node, exp.DateBin):
        return "times are cut at periods of the calendar", "DATE_TRUNC, of a minute, an hour, a day, a week or more"
    if isinstance(node, exp.LastDay):
        return "of a month the first day is answered", "DATE_TRUNC of a month"
    if isinstance(node, exp.AtTimeZone):
        return "timestamps have no zone", "an interval that is added to them, where the offset is the same all year"
    if named in ("to_date", "strptime") or isinstance(node, (exp.StrToDate, exp.StrToTime, exp.UnixToTime)):
        return f"{named or type(node).__name__} is not on the list of what may be computed from a row", (
            "a constant, DATE '<day>' or TIMESTAMP '<moment>'; the policy says how cells are written"
        )
    return None


def within_a_condition(node: exp.Expr) -> QuestionError:
    """Say why a question within a condition is not read."""
    word = "" if isinstance(node, (exp.Subquery, exp.Select)) else f"{type(node).__name__.upper()} with "
    why = f"{word}a question within a condition would keep or drop a row because of other people's rows"
    ways = "IN, EXISTS or NOT EXISTS, with an equality of the two persons"
    return refuse(node, why, ways if word else f"JOIN with an inner question of one row a person; {ABSENT}")
