"""MEDIAN, QUANTILE and the like, MIN and MAX: each asks below which value a share of the rows lies.

The kinds that SQL tells apart (between two rows, or one of them; exact or approximate) are the same here: what is released
is a value near the quantile, with an interval that holds it.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from sqlglot import exp

from dither.density.quantiles.rank_scores import read_share
from dither.errors import NumberError
from dither.query.plan.aggregates import Aggregate, Quantile
from dither.query.plan.expressions import Constant
from dither.query.policy.column import Type
from dither.query.sql.expressions import Reader
from dither.query.sql.functions import number_of
from dither.query.sql.refusals import CONSTANT, number_words, unbounded
from dither.query.sql.syntax import refuse, shown

SHARED: dict[type[Any], str] = {
    exp.Median: "median",
    exp.Min: "min",
    exp.Max: "max",
    exp.LogicalAnd: "bool_and",
    exp.LogicalOr: "bool_or",
    exp.Quantile: "quantile",
    exp.ApproxQuantile: "quantile",
    exp.PercentileCont: "quantile",
    exp.PercentileDisc: "quantile",
    exp.WithinGroup: "quantile",
}
FIXED = {
    **{exp.Median: Fraction(1, 2), exp.Min: Fraction(0), exp.Max: Fraction(1)},
    **{exp.LogicalAnd: Fraction(0), exp.LogicalOr: Fraction(1)},  # the least and the largest of 0 and 1
}
OF_CONDITIONS = (exp.LogicalAnd, exp.LogicalOr)


def read_quantile(node: Any, reader: Reader, name: str) -> Aggregate:
    """The aggregate, or why there is none."""
    argument, share = _asked(node, reader)
    if isinstance(argument, exp.Distinct):
        raise refuse(node, "DISTINCT is answered in COUNT only", "it without DISTINCT, which is another number")
    if not isinstance(argument, exp.Expr) or isinstance(argument, exp.Star):
        raise refuse(node, "it is of one number a row", "one column of numbers with bounds")
    if isinstance(node, OF_CONDITIONS):
        return Quantile(name, number_of(reader, argument, reader.condition(argument)), share)
    of = reader.value(argument)
    if of.facts.type is Type.BOOLEAN and isinstance(node, (exp.Min, exp.Max)):
        of = number_of(reader, argument, of)
    facts = of.facts
    if not facts.type.is_number:
        why = f"values are put in order along a line of numbers, and this is a {facts.type.value}"
        raise refuse(node, why, number_words(facts.type, shown(argument)))
    if not facts.is_bounded:
        raise unbounded(node, argument, of, reader.meaning)
    if facts.lower == facts.upper:
        raise refuse(node, "it is the same for every row", CONSTANT)
    if facts.is_wide:
        raise refuse(node, "its bounds are beyond 2^500, where doubles end", "the same in a larger unit")
    return Quantile(name, of, share)


def _asked(node: Any, reader: Reader) -> tuple[Any, Fraction]:
    """Of what, and which share of the rows lies below."""
    if type(node) in FIXED:
        return node.this, FIXED[type(node)]
    if not isinstance(node, exp.WithinGroup):
        percentile = isinstance(node, (exp.PercentileCont, exp.PercentileDisc))
        key = "expression" if percentile else "quantile"
        if percentile and node.expression is None:
            raise refuse(node, "it does not say of what", "WITHIN GROUP (ORDER BY <column>) behind it")
        return node.this, _share(node, node.args.get(key), reader)
    inner, order = node.this, node.expression
    if not isinstance(inner, (exp.PercentileCont, exp.PercentileDisc)) or inner.expression is not None:
        raise refuse(node, "WITHIN GROUP is answered for a percentile and a mode", "the aggregate without WITHIN GROUP")
    if not isinstance(order, exp.Order) or len(order.expressions) != 1:
        raise refuse(node, "a percentile is of one column", "ORDER BY with one column, and one aggregate for each")
    (item,) = order.expressions
    share = _share(node, inner.this, reader)
    return item.this, 1 - share if item.args.get("desc") else share


def _share(node: exp.Expr, stated: Any, reader: Reader) -> Fraction:
    if isinstance(stated, (exp.Array, exp.Tuple)):
        raise refuse(node, "a list of shares is not answered in one column", "a column of the answer for each share")
    found = None if stated is None else reader.meaning(stated)
    if isinstance(found, Constant) and isinstance(found.value, Fraction):
        try:
            return read_share(found.value, name="share")
        except NumberError as error:
            raise refuse(node, error.why, "a share such as 0.9") from None
    raise refuse(node, "the share of rows below is a number from 0 to 1", "a share such as 0.9")
