"""Plans in words: how dither understood a question. For people; engines have their own spelling."""

from __future__ import annotations

from fractions import Fraction

from dither.query.plan import (
    Aggregate,
    Arithmetic,
    Case,
    Cell,
    Compare,
    Constant,
    DatePart,
    Expression,
    IsMissing,
    Like,
    Logic,
    Not,
    OneOf,
    Plan,
)

COUNTED = {"rows": "how many rows", "persons": "how many people"}


def explain_plan(plan: Plan) -> str:
    """What is asked, clause by clause."""
    lines = [f"Of         {plan.table.name}"]
    if plan.where is not None:
        lines.append(f"Where      {words(plan.where)}")
    for group in plan.groups:
        lines.append(f"By         {group.name}: {words(group.by)}, one of {len(group.keys)} keys")
    lines += [f"Asks       {aggregate.name}: {asked(aggregate)}" for aggregate in plan.aggregates]
    lines += [f"Keeps      rows with {keep.name} {keep.operator} {_number(keep.value)}" for keep in plan.having]
    for order in plan.order:
        lines.append(f"Sorted     by {order.name}{', largest first' if order.descending else ''}")
    if plan.limit is not None:
        lines.append(f"Shows      the first {plan.limit}")
    return "\n".join(lines)


def asked(aggregate: Aggregate) -> str:
    """One aggregate."""
    if aggregate.of is None:
        return COUNTED[aggregate.kind]
    prefix = {"values": "how many values of", "sum": "the sum of", "average": "the average of"}[aggregate.kind]
    return f"{prefix} {words(aggregate.of)}"


def words(node: Expression) -> str:
    """An expression."""
    match node:
        case Cell(column):
            return column.name
        case Constant(value):
            return _number(value) if isinstance(value, Fraction) else repr(value) if isinstance(value, str) else str(value)
        case Arithmetic(operator, left, right):
            return f"({words(left)} {operator} {words(right)})"
        case DatePart(part, of):
            return f"the {part} of {words(of)}"
        case Compare(operator, left, right):
            return f"{words(left)} {operator} {words(right)}"
        case OneOf(value, options):
            return f"{words(value)} is one of {', '.join(words(option) for option in options)}"
        case Like(value, pattern):
            return f"{words(value)} looks like {pattern!r}"
        case IsMissing(value):
            return f"{words(value)} is missing"
        case Logic(every, parts):
            return "(" + (" and " if every else " or ").join(words(part) for part in parts) + ")"
        case Not(condition):
            return f"not ({words(condition)})"
        case Case(branches, otherwise):
            told = "; ".join(f"{words(value)} if {words(condition)}" for condition, value in branches)
            return f"({told}; otherwise {'nothing' if otherwise is None else words(otherwise)})"


def _number(value: Fraction) -> str:
    return str(value) if value.denominator == 1 else f"{float(value):g}"
