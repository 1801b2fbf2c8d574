"""What would work in place of an expression about a row that is not answered: the nearest that is, with the same columns."""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlglot import exp

from dither.query.policy.column import Type
from dither.query.sql.proposals.whole_question import DIALECT, never_fails, part_with, proposal

NAMED_ALIKE = {"nocase": "LOWER({})", "noaccent": "LOWER({})"}  # collations
NULLS = "IS NULL in a condition; CASE without ELSE for a missing value"
EQUALITIES = "a = 1 AND b = 2, joined by OR"
LABELS = "CASE WHEN ... THEN 'label' ELSE 'other' END"
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)


@never_fails(None)
def instead_of_expression(node: exp.Expr) -> str | None:
    """The nearest expression that is answered; None where there is none."""
    if isinstance(node, exp.Anonymous) and node.name.lower() in ("to_date", "strptime"):
        return "DATE '2026-01-31'"
    found = NEAREST.get(type(node))
    return None if found is None else found(node)


@never_fails((NULLS, None))
def instead_of_null(node: exp.Expr) -> tuple[str, str | None]:
    """What stands in place of the part around a NULL, and the whole question with it."""
    found = _around_null(node)
    return (NULLS, None) if found is None else (found[1], proposal(*found))


@never_fails((EQUALITIES, None))
def instead_of_tuple(node: exp.Expr) -> tuple[str, str | None]:
    """Equalities in place of tuples that are compared, and the whole question with them."""
    found = _around_tuple(node)
    return (EQUALITIES, None) if found is None else (found[1], proposal(*found))


def number_of(node: exp.Expr, kind: Type) -> str:
    """A number that a value which is none has."""
    if kind.is_date:
        return f"EXTRACT(epoch FROM {_sql(node)})"
    return f"LENGTH({_sql(node)})" if kind is Type.TEXT else f"CASE WHEN {_sql(node)} THEN 1 ELSE 0 END"


def _around_null(node: exp.Expr) -> tuple[exp.Expr, str] | None:
    around = node.parent
    if isinstance(around, (exp.EQ, exp.NEQ)):
        other = around.expression if around.this is node else around.this
        return around, f"{_sql(other)} IS {'NOT ' if isinstance(around, exp.NEQ) else ''}NULL"
    if isinstance(around, exp.In):
        rest = ", ".join(_sql(option) for option in around.expressions if not isinstance(option, exp.Null))
        listed = f"{_sql(around.this)} IN ({rest}) OR " if rest else ""
        return around, f"{listed}{_sql(around.this)} IS NULL"
    if isinstance(around, exp.Coalesce):
        rest = ", ".join(_sql(one) for one in (around.this, *around.expressions) if not isinstance(one, exp.Null))
        return around, f"COALESCE({rest})"
    if isinstance(around, exp.If) and isinstance(around.parent, exp.Case) and around.parent.this is None:
        return around.parent, _without_nulls(around.parent)
    return None


def _without_nulls(case: exp.Expr) -> str:
    """A CASE without the branches that give NULL: those behind them, and ELSE, are for rows that do not meet these."""
    missing: list[str] = []
    kept: list[str] = []
    for branch in case.args["ifs"]:
        condition, value = _sql(branch.this), branch.args["true"]
        if isinstance(value, exp.Null):
            missing.append(f"({condition})")
        else:
            others = [f"({condition})"] + [f"NOT COALESCE({one}, FALSE)" for one in missing] if missing else [condition]
            kept.append(f"WHEN {' AND '.join(others)} THEN {_sql(value)}")
    default = case.args.get("default")
    if default is not None and not isinstance(default, exp.Null):
        kept.append(f"WHEN {' AND '.join(f'NOT COALESCE({one}, FALSE)' for one in missing)} THEN {_sql(default)}")
    return f"CASE {' '.join(kept)} END"


def _around_tuple(node: exp.Expr) -> tuple[exp.Expr, str] | None:
    around = node.parent
    if isinstance(around, exp.In) and around.this is node:
        options = [option.expressions for option in around.expressions if isinstance(option, exp.Tuple)]
    elif isinstance(around, exp.EQ) and isinstance(around.expression, exp.Tuple):
        options = [around.expression.expressions]
    else:
        return None
    either = []
    for values in options:
        pairs = zip(node.expressions, values, strict=False)
        either.append(" AND ".join(f"{_sql(part)} = {_sql(value)}" for part, value in pairs))
    return around, "(" + ") OR (".join(either) + ")"


@never_fails("LIKE 'A%'")
def instead_of_pattern(node: exp.Expr) -> str:
    """In place of LIKE with a pattern that is not written out."""
    mine, pattern = _sql(node.this), node.expression.unnest()
    if isinstance(pattern, (exp.Any, exp.All)):
        listed = pattern.this.unnest()
        texts = listed.expressions if isinstance(listed, (exp.Tuple, exp.Array)) else [listed]
        word = " OR " if isinstance(pattern, exp.Any) else " AND "
        return word.join(f"{mine} LIKE {_sql(one)}" for one in texts)
    if isinstance(pattern, exp.Literal):
        return f"{mine} = {re.sub('[^0-9.]', '', str(pattern.this)) or '1'}"
    if isinstance(pattern, exp.Column) and isinstance(pattern.this, exp.Identifier) and pattern.this.quoted:
        return f"{mine} LIKE 'A%': texts stand in single quotes"
    return f"{mine} = {_sql(pattern)}"


@never_fails(None)
def name_as_number(node: exp.Expr) -> str | None:
    """The whole question where the name of a day or a month is compared as the number that EXTRACT gives."""
    around = node.parent
    if not isinstance(node, (exp.Dayname, exp.Monthname)) or not isinstance(around, (exp.EQ, exp.NEQ)):
        return None
    part, names = ("isodow", WEEKDAYS) if isinstance(node, exp.Dayname) else ("month", MONTHS)
    other = around.expression if around.this is node else around.this
    if not isinstance(other, exp.Literal) or str(other.this).lower() not in names:
        return None
    sign = "=" if isinstance(around, exp.EQ) else "<>"
    return proposal(around, f"EXTRACT({part} FROM {_sql(node.this)}) {sign} {names.index(str(other.this).lower()) + 1}")


@never_fails(LABELS)
def as_text(case: exp.Expr) -> str:
    """A CASE whose labels are texts, and which has an ELSE: what is no constant becomes one."""
    copy = case.copy()
    for place, branch in enumerate(copy.args["ifs"], 1):
        branch.set("true", _label(branch.args["true"], f"label {place}"))
    default = copy.args.get("default")
    copy.set("default", exp.Literal.string("other") if default is None else _label(default, "other"))
    return _sql(copy)


def _label(node: exp.Expr, otherwise: str) -> exp.Expr:
    bare = node.unnest()
    return exp.Literal.string(str(bare.this) if isinstance(bare, exp.Literal) else otherwise)


def _sql(node: exp.Expr) -> str:
    return str(node.sql(DIALECT))


def _is(node: exp.Expr) -> str | None:
    """x IS TRUE, IS FALSE: what is missing is neither."""
    if not isinstance(node.expression, exp.Boolean):
        return None
    return f"COALESCE({_sql(node.this)}, FALSE)" if node.expression.this else f"NOT COALESCE({_sql(node.this)}, TRUE)"


def _regular_expression(node: exp.Expr) -> str | None:
    """Patterns without alternatives or repetitions are patterns of LIKE."""
    pattern = node.expression
    if not isinstance(pattern, exp.Literal):
        return f"{_sql(node.this)} LIKE '%a%'"
    text = str(pattern.this)
    inner = text.removeprefix("^").removesuffix("$").replace(".*", "%").replace(".", "_")
    if re.search(r"[\\\[\](){}|+*?^$']", inner):
        return f"{_sql(node.this)} LIKE '%a%'"
    whole = isinstance(node, exp.SimilarTo)
    first, last = "" if whole or text.startswith("^") else "%", "" if whole or text.endswith("$") else "%"
    return f"{_sql(node.this)} LIKE '{first}{inner}{last}'"


def _glob(node: exp.Expr) -> str | None:
    text = str(node.expression.this) if isinstance(node.expression, exp.Literal) else "a*"
    return f"{_sql(node.this)} LIKE '{text.replace('*', '%').replace('?', '_')}'"


def _collated(node: exp.Expr) -> str:
    return NAMED_ALIKE.get(_sql(node.expression).strip('"').lower(), "{}").format(_sql(node.this))


def _literal(node: exp.Expr) -> str:
    return _sql(exp.Literal.string(str(node.this)))


def _remainder(node: exp.Expr) -> str | None:
    """x % 2, where x is not negative: engines do not agree on the sign of others."""
    by = node.expression.unnest()
    if not isinstance(by, exp.Literal) or by.is_string:
        return None
    x = _sql(node.this)
    return f"{x} - {by.this} * FLOOR({x} / {by.this})"


def _power(node: exp.Expr) -> str | None:
    """x ** 2 to x ** 4."""
    by = node.expression.unnest()
    if not isinstance(by, exp.Literal) or str(by.this) not in ("1", "2", "3", "4"):
        return None
    return " * ".join([f"({_sql(node.this)})" if node.this.find(exp.Binary) else _sql(node.this)] * int(by.this))


def _inner(node: exp.Expr) -> str:
    return _sql(node.this)


NEAREST: dict[type[exp.Expr], Callable[[exp.Expr], str | None]] = {
    exp.Is: _is,
    exp.TryCast: _inner,
    exp.Escape: _inner,
    exp.Collate: _collated,
    exp.RegexpLike: _regular_expression,
    exp.RegexpFullMatch: _regular_expression,
    exp.SimilarTo: _regular_expression,
    exp.Glob: _glob,
    exp.RawString: _literal,
    exp.ByteString: _literal,
    exp.National: _literal,
    exp.IntDiv: lambda node: f"FLOOR({_sql(node.this)} / {_sql(node.expression)})",
    exp.Placeholder: lambda node: "1",
    exp.StrToDate: lambda node: "DATE '2026-01-31'",
    exp.UnixToTime: lambda node: "TIMESTAMP '2026-01-31 12:30:00'",
    exp.Xor: lambda node: part_with(node, node, f"{_sql(node.this)} <> {_sql(node.expression)}"),
    exp.Mod: _remainder,
    exp.Pow: _power,
}
