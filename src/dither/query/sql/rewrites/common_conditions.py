"""Conditions that every side of an OR repeats: `(a = b AND c) OR (a = b AND d)` is `a = b AND (c OR d)`.

It means the same, also where parts are NULL: AND and OR are the lesser and the greater of FALSE < NULL < TRUE, which
distribute, and `a = b OR (a = b AND c)` is `a = b`. Only equalities of two columns are taken out: tables are joined by them.
"""

from __future__ import annotations

from sqlglot import exp


def without_repetition(node: exp.Expr) -> exp.Expr | None:
    """An OR with its common equalities in front; None where it has none."""
    if isinstance(node.parent, exp.Or):
        return None  # the whole chain is looked at once
    either = [_conditions(part) for part in node.flatten()]
    common = [one for one in either[0] if _of_columns(one) and all(one in other for other in either[1:])]
    if not common:
        return None
    rest = [[one for one in part if one not in common] for part in either]
    parts = common
    if all(rest):
        others = _joined(exp.Or, [exp.Paren(this=_joined(exp.And, part)) for part in rest])
        parts = [*common, exp.Paren(this=others)]
    return exp.Paren(this=_joined(exp.And, parts))


def _joined(how: type[exp.Connector], parts: list[exp.Expr]) -> exp.Expr:
    found = parts[0]
    for part in parts[1:]:
        found = how(this=found, expression=part)
    return found


def _conditions(node: exp.Expr) -> list[exp.Expr]:
    inner = node.unnest()
    return [part for one in inner.flatten() for part in _conditions(one)] if isinstance(inner, exp.And) else [inner]


def _of_columns(node: exp.Expr) -> bool:
    return isinstance(node, exp.EQ) and isinstance(node.this, exp.Column) and isinstance(node.expression, exp.Column)
