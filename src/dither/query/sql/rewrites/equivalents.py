"""What tools write, in the words that are read here: a tree is changed before anything looks at it, and means the same.

Nothing new reaches an engine: each rewrite gives nodes that the readers know already. Two trees mean the same if they give
every row, and every group, the same value, NULL included, under three-valued logic. Each function says why hers do.

Rewrites go from the leaves up, so that a part is rewritten before what is around it. Those that repeat a part count how much
they repeat (`Copies`): nested in each other they would grow as 2^n.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import count as numbers
from typing import Any

from sqlglot import exp

from dither.errors import QuestionError
from dither.query.sql.rewrites.common_conditions import without_repetition

MOST_COPIES = 10_000  # nodes that rewrites may repeat in one question
DAY, TIME = r"\d{4}-\d{2}-\d{2}", r"\d{2}:\d{2}:\d{2}"
FORMATS = {  # of TO_DATE and TO_TIMESTAMP: texts that read as constants are
    "YYYY-MM-DD": DAY,
    "YYYY-MM-DD HH24:MI:SS": f"{DAY} {TIME}",
    "YYYY-MM-DD HH24:MI:SS.MS": rf"{DAY} {TIME}\.\d{{3}}",
    "YYYY-MM-DD HH24:MI:SS.US": rf"{DAY} {TIME}\.\d{{6}}",
}
UTC = re.compile(rf"({DAY}[ T]{TIME}(?:\.\d{{1,6}})?) ?(?:Z|[+]00(?::?00)?)", re.ASCII)
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
NAMED_PARTS: dict[type[Any], tuple[str, tuple[str, ...]]] = {
    exp.Dayname: ("isodow", DAYS),
    exp.Monthname: ("month", MONTHS),
}
OF_VALUES: tuple[type[exp.Expr], ...] = (
    *(exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Median, exp.Quantile, exp.ApproxQuantile),
    *(exp.VariancePop, exp.Variance, exp.StddevPop, exp.StddevSamp, exp.Stddev, exp.LogicalAnd, exp.LogicalOr),
)  # aggregates that pass over NULL


ONE_GROUP = ("group", "order", "limit")  # the clauses by which one group is left


class Copies:
    """Repeats parts of a question, up to a limit."""

    def __init__(self, text: str) -> None:
        self._text, self._left = text, MOST_COPIES

    def of(self, node: exp.Expr) -> exp.Expr:
        """The same part once more."""
        for _ in node.walk():
            self._left -= 1
            if self._left < 0:
                why = f"written out, more than {MOST_COPIES} parts of it are repeated"
                raise QuestionError("question", self._text, why, "a shorter question")
        return node.copy()


def rewrite(tree: exp.Select, text: str) -> None:
    """Change a tree in place."""
    copies, named = Copies(text), _unused_names(tree)
    for node in reversed(list(tree.walk(bfs=True))):  # what is below comes first
        if isinstance(node, exp.Subquery):
            _name_subquery(node, named)
        elif isinstance(node, exp.Group):
            _group_by_all(node)
        made = REWRITES[type(node)](node, copies) if type(node) in REWRITES else None
        if made is not None:
            node.replace(made)
    _most_frequent(tree)


# -- clauses -----------------------------------------------------------------------------------------------------------


def _unused_names(tree: exp.Expr) -> Any:
    taken = {node.name.lower() for node in tree.find_all(exp.Identifier)}
    return (name for number in numbers(1) if (name := f"subquery_{number}") not in taken)


def _name_subquery(node: exp.Subquery, names: Any) -> None:
    """FROM (SELECT ...) gets a name that nothing in the question has: so no name means anything else than before."""
    if isinstance(node.parent, (exp.From, exp.Join)) and node.arg_key == "this" and node.args.get("alias") is None:
        node.set("alias", exp.TableAlias(this=exp.to_identifier(next(names))))


def _group_by_all(node: exp.Group) -> None:
    """GROUP BY ALL is by every column of SELECT that has no aggregate in it, by its place; by nothing where all have one."""
    select = node.parent
    if not isinstance(select, exp.Select) or not node.args.get("all") or node.expressions:
        return
    if any(item.is_star for item in select.expressions):
        return  # whose places are not known here
    places = [place for place, item in enumerate(select.expressions, 1) if item.find(exp.AggFunc) is None]
    node.set("all", None)
    node.set("expressions", [exp.Literal.number(place) for place in places])
    if not places:
        select.set("group", None)


def _most_frequent(tree: exp.Select) -> None:
    """SELECT k ... GROUP BY k ORDER BY COUNT(*) DESC LIMIT 1 is SELECT MODE(k). Counts, FETCH and GROUP BY ALL are rewritten
    before."""
    if len(tree.expressions) != 1 or not _has_only(tree, "expressions", "from_", "joins", "with_", "where", *ONE_GROUP):
        return
    item, order, group = tree.expressions[0], tree.args.get("order"), tree.args.get("group")
    key, limit = item.unalias(), tree.args.get("limit")
    if not isinstance(key, exp.Column) or not isinstance(order, exp.Order) or not isinstance(limit, exp.Limit):
        return
    (first, *others), named = order.expressions, [key, exp.Literal.number(1), exp.column(item.alias_or_name)]
    if not _has_only(limit, "expression") or not _has_only(group, "expressions"):  # LIMIT 1%, WITH ROLLUP
        return
    if not _has_only(order, "expressions") or not _has_only(first, "this", "desc", "nulls_first"):
        return
    counted = isinstance(first.this, exp.Count) and isinstance(first.this.this, exp.Star)
    grouped = isinstance(group, exp.Group) and len(group.expressions) == 1 and group.expressions[0] in named
    if counted and grouped and first.args.get("desc") and not others and _is_one(limit.expression):
        tree.set("expressions", [exp.alias_(exp.Mode(this=key.copy()), item.alias_or_name, quoted=True)])
        for name in ONE_GROUP:
            tree.set(name, None)


def _has_only(node: exp.Expr | None, *names: str) -> bool:
    """Whether a part that a rewrite takes away has no details but these, of which others would be refused."""
    return node is None or all(name in names for name, found in node.args.items() if found)


def _fetch(node: exp.Expr, copies: Copies) -> exp.Expr | None:
    """FETCH FIRST n ROWS ONLY is LIMIT n; with TIES or PERCENT it is not."""
    options, number = node.args.get("limit_options"), node.args.get("count")
    loose = options is not None and (options.args.get("with_ties") or options.args.get("percent"))
    return None if loose or not isinstance(number, exp.Literal) else exp.Limit(expression=number)


# -- aggregates --------------------------------------------------------------------------------------------------------


def _is_one(node: object) -> bool:
    return isinstance(node, exp.Literal) and not node.is_string and str(node.this) == "1"


def _rows() -> exp.Expr:
    return exp.Count(this=exp.Star(), big_int=True)


def _count(node: exp.Expr, copies: Copies) -> exp.Expr | None:
    """COUNT(1), COUNT(0), COUNT('x'): a constant is there in every row, so that all rows are counted."""
    return _rows() if isinstance(node.this, (exp.Literal, exp.Boolean)) else None


def _sum(node: exp.Expr, copies: Copies) -> exp.Expr | None:
    """SUM(1) adds one for every row. Of no rows it is NULL and not 0: a group of an inner question has a row, and of the
    outermost one either is a zero with noise. Within FILTER a group may have none, so it is left to `_filter`; and so may
    the frame of a window."""
    framed = isinstance(node.parent, exp.Window) and node.parent.args.get("spec") is not None
    return _rows() if _is_one(node.this) and not framed and not isinstance(node.parent, exp.Filter) else None


def _count_if(node: exp.Expr, copies: Copies) -> exp.Expr | None:
    """COUNT_IF(c) counts where c is TRUE; where it is FALSE or NULL the CASE has no value. (Of rows that all have NULL there
    it is 0, as the standard says of counts; DuckDB 2 says NULL.)"""
    if not isinstance(node.this, exp.Expr) or isinstance(node.this, (exp.Distinct, exp.Star)):
        return None
    return exp.Count(this=_case(node.this, exp.Literal.number(1)), big_int=True)


def _approx_distinct(node: exp.Expr, copies: Copies) -> exp.Expr | None:
    """APPROX_COUNT_DISTINCT(x) may be off by a little, and COUNT(DISTINCT x) is off by noise alone."""
    if node.args.get("accuracy") is not None or not isinstance(node.this, exp.Expr):
        return None
    return exp.Count(this=exp.Distinct(expressions=[node.this]), big_int=True)


def _mode_within_group(node: exp.Expr, copies: Copies) -> exp.Expr | None:
    """MODE() WITHIN GROUP (ORDER BY x) is MODE(x): the order decides only which of several most frequent values it is."""
    order = node.expression
    if not isinstance(node.this, exp.Mode) or node.this.this is not None or not isinstance(order, exp.Order):
        return None
    return exp.Mode(this=order.expressions[0].this) if len(order.expressions) == 1 else None


def _filter(node: exp.Expr, copies: Copies) -> exp.Expr | None:
    """F(x) FILTER (WHERE c) is F of x where c is TRUE and of NULL elsewhere, which F passes over. COUNT(*) counts ones."""
    of: exp.Expr = node.this
    where = node.expression
    if type(of) not in OF_VALUES or not isinstance(where, exp.Where):
        return None
    outermost = (select := node.find_ancestor(exp.Select)) is not None and select.parent is None
    if isinstance(of, exp.Sum) and _is_one(of.this) and outermost:
        of = _rows()
    inner = of.this
    if isinstance(inner, exp.Distinct):
        if len(inner.expressions) != 1:
            return None
        inner.set("expressions", [_case(where.this, inner.expressions[0])])
    elif isinstance(inner, exp.Star):
        of.set("this", _case(where.this, exp.Literal.number(1)))
    elif isinstance(inner, exp.Expr):
        of.set("this", _case(where.this, inner))
    else:
        return None
    return of


# -- values ------------------------------------------------------------------------------------------------------------


def _case(condition: exp.Expr, then: exp.Expr, otherwise: exp.Expr | None = None) -> exp.Case:
    return exp.Case(ifs=[exp.If(this=condition, true=then)], default=otherwise)


def _if(node: exp.Expr, copies: Copies) -> exp.Expr | None:
    """IF(c, x, y) is y where c is FALSE or NULL: as in a CASE."""
    if isinstance(node.parent, exp.Case) and node.arg_key == "ifs":
        return None  # a branch
    return _case(node.this, node.args["true"], node.args.get("false"))


def _to_date(node: exp.Expr, copies: Copies) -> exp.Expr | None:
    """TO_DATE('2024-01-31', 'YYYY-MM-DD'): the text has exactly the signs that the format names, so it is that day."""
    if node.name.lower() != "to_date" or len(node.expressions) != 2:
        return None
    text, form = node.expressions
    return _constant(text, form, exp.DataType.Type.DATE)


def _to_timestamp(node: exp.Expr, copies: Copies) -> exp.Expr | None:
    """TO_TIMESTAMP('2024-01-31 12:30:00', 'YYYY-MM-DD HH24:MI:SS'), likewise; in UTC, in which rows are read."""
    return _constant(node.this, node.args.get("scale"), exp.DataType.Type.TIMESTAMPNTZ)


def _constant(text: Any, form: Any, kind: Any) -> exp.Expr | None:
    if not all(isinstance(part, exp.Literal) and part.is_string for part in (text, form)):
        return None
    signs = FORMATS.get(str(form.this).upper())
    if signs is None or not re.fullmatch(signs, str(text.this), re.ASCII):
        return None
    if kind is exp.DataType.Type.DATE and signs != DAY:
        return None  # TO_DATE drops the time in one engine and keeps it in another
    return exp.Cast(this=text, to=exp.DataType(this=kind))


def _cast(node: exp.Expr, copies: Copies) -> exp.Expr | None:
    """TIMESTAMP '2024-01-31T00:00:00Z', with a time zone or without: UTC is the one that rows are read in."""
    kind, text = node.args["to"].this, node.this
    if kind not in (exp.DataType.Type.TIMESTAMPTZ, exp.DataType.Type.TIMESTAMPNTZ) or not isinstance(text, exp.Literal):
        return None
    found = UTC.fullmatch(str(text.this)) if text.is_string else None
    if found is None:
        return None
    text.set("this", found[1])
    return exp.Cast(this=text, to=exp.DataType(this=exp.DataType.Type.TIMESTAMPNTZ))


def _raw(node: exp.Expr, copies: Copies) -> exp.Expr | None:
    """$$a$$ is 'a'."""
    return exp.Literal.string(str(node.this))


def _coalesce(node: exp.Expr, copies: Copies) -> exp.Expr | None:
    """COALESCE(x, NULL) is COALESCE(x): what is missing is passed over."""
    parts = [node.this, *node.expressions]
    there = [part for part in parts if not isinstance(part, exp.Null)]
    return exp.Coalesce(this=there[0], expressions=there[1:]) if 0 < len(there) < len(parts) else None


def _case_without_nulls(node: exp.Expr, copies: Copies) -> exp.Expr | None:
    """A branch of CASE that gives NULL leaves its rows without a value, as those are that meet no branch: the branches
    behind it, and ELSE, are for rows that do not meet it, which is so where its condition is FALSE or NULL."""
    branches, default = node.args["ifs"], node.args.get("default")
    if node.this is not None or not any(isinstance(branch.args["true"], exp.Null) for branch in branches):
        return None
    missing: list[exp.Expr] = []
    kept: list[exp.If] = []

    def others() -> list[exp.Expr]:
        return [exp.Not(this=exp.Coalesce(this=copies.of(one), expressions=[exp.false()])) for one in missing]

    for branch in branches:
        if isinstance(branch.args["true"], exp.Null):
            missing.append(exp.Paren(this=branch.this))
        else:
            met = branch.this if not missing else _joined(exp.And, [exp.Paren(this=branch.this), *others()])
            kept.append(exp.If(this=met, true=branch.args["true"]))
    if default is not None and not isinstance(default, exp.Null):
        kept.append(exp.If(this=_joined(exp.And, others()), true=default))
    return exp.Case(ifs=kept) if kept else None


# -- conditions --------------------------------------------------------------------------------------------------------


def _ilike(node: exp.Expr, copies: Copies) -> exp.Expr | None:
    """x ILIKE 'A%' is LOWER(x) LIKE 'a%', which is how DuckDB has it, for patterns of ASCII; both are NULL where x is."""
    pattern = node.expression.unnest()
    if not isinstance(pattern, exp.Literal) or not pattern.is_string or not str(pattern.this).isascii():
        return None
    pattern.set("this", str(pattern.this).lower())
    return exp.Like(this=exp.Lower(this=node.this), expression=pattern, negate=node.args.get("negate"))


def _distinct_from(node: exp.Expr, copies: Copies) -> exp.Expr | None:
    """x IS NOT DISTINCT FROM y: both NULL, or both there and equal. Never NULL: x = y has a value where both are there, and
    FALSE AND NULL is FALSE. Beside a constant, which is there, a half is enough; x <> 1 OR x IS NULL is never NULL."""
    x, y, equal = node.this, node.expression, isinstance(node, exp.NullSafeEQ)
    if isinstance(x.unnest(), (exp.Null, exp.Literal)) and not isinstance(y.unnest(), exp.Null):
        x, y = y, x
    if isinstance(y.unnest(), exp.Null):
        return _is_null(x) if equal else _is_there(x)
    if isinstance(y.unnest(), exp.Literal):
        if equal:
            return exp.Paren(this=exp.And(this=exp.EQ(this=x, expression=y), expression=_is_there(copies.of(x))))
        return exp.Paren(this=exp.Or(this=exp.NEQ(this=x, expression=y), expression=_is_null(copies.of(x))))
    missing = exp.And(this=_is_null(copies.of(x)), expression=_is_null(copies.of(y)))
    there = exp.And(this=_is_there(copies.of(x)), expression=_is_there(copies.of(y)))
    both = exp.And(this=exp.EQ(this=x, expression=y), expression=there)
    same = exp.Paren(this=exp.Or(this=exp.Paren(this=both), expression=exp.Paren(this=missing)))
    return same if equal else exp.Not(this=same)


def _is(node: exp.Expr, copies: Copies) -> exp.Expr | None:
    """x IS TRUE where x is there and true, IS FALSE where it is there and false."""
    if not isinstance(node.expression, exp.Boolean):
        return None
    truth = bool(node.expression.this)
    found = exp.Coalesce(this=node.this, expressions=[exp.Boolean(this=not truth)])
    return found if truth else exp.Paren(this=exp.Not(this=found))


def _equal(node: exp.Expr, copies: Copies) -> exp.Expr | None:
    """DAYNAME(x) = 'Monday' is EXTRACT(isodow FROM x) = 1, and MONTHNAME likewise: both are NULL where x is."""
    name, text = (node.expression, node.this) if isinstance(node.this, exp.Literal) else (node.this, node.expression)
    part, names = NAMED_PARTS.get(type(name), ("", ()))
    if not isinstance(text, exp.Literal) or str(text.this) not in names:
        return None
    number = exp.Literal.number(names.index(str(text.this)) + 1)
    return type(node)(this=exp.Extract(this=exp.var(part), expression=name.this), expression=number)


def _glob(node: exp.Expr, copies: Copies) -> exp.Expr | None:
    """x GLOB 'a*' is x LIKE 'a%', for patterns without [ ] and without the signs of LIKE."""
    pattern = node.expression
    if not isinstance(pattern, exp.Literal) or not pattern.is_string or re.search(r"[][%_\\]", str(pattern.this)):
        return None
    text = str(pattern.this).replace("*", "%").replace("?", "_")
    return exp.Like(this=node.this, expression=exp.Literal.string(text))


def _is_null(node: exp.Expr) -> exp.Expr:
    return exp.Is(this=node, expression=exp.Null())


def _is_there(node: exp.Expr) -> exp.Expr:
    return exp.Not(this=_is_null(node))


def _in(node: exp.Expr, copies: Copies) -> exp.Expr | None:
    """x IN (a, b) with columns among them is x = a OR x = b. x IN (1, NULL) is never FALSE, so that under a condition of
    which only TRUE counts it is x IN (1)."""
    options = node.expressions
    if isinstance(node.this, exp.Tuple) or not options:
        return _in_tuples(node, copies)
    there = [option for option in options if not isinstance(option, exp.Null)]
    if 0 < len(there) < len(options) and only_true_counts(node):
        return exp.In(this=node.this, expressions=there)
    known = node.this.find(exp.Column) is None
    if len(there) < len(options) or not (known or any(option.find(exp.Column) for option in options)):
        return None
    if node.find(exp.Query) is not None:
        return None
    return exp.Paren(this=_joined(exp.Or, [exp.EQ(this=copies.of(node.this), expression=option) for option in options]))


def _in_tuples(node: exp.Expr, copies: Copies) -> exp.Expr | None:
    """(a, b) IN ((1, 2), ...) is TRUE where a = 1 AND b = 2 is, or the next one. Where a or b is NULL it is FALSE in DuckDB
    and may be NULL in the standard, so it is taken only where both keep no row: not under NOT."""
    mine, options = node.this, node.expressions
    if not isinstance(mine, exp.Tuple) or not options or not only_true_counts(node):
        return None
    if any(not isinstance(option, exp.Tuple) or len(option.expressions) != len(mine.expressions) for option in options):
        return None
    either = []
    for option in options:
        pairs = zip(mine.expressions, option.expressions, strict=True)
        either.append(_joined(exp.And, [exp.EQ(this=copies.of(part), expression=value) for part, value in pairs]))
    return exp.Paren(this=_joined(exp.Or, [exp.Paren(this=every) for every in either]))


def _joined(how: type[exp.Connector], parts: list[Any]) -> Any:
    found = parts[0]
    for part in parts[1:]:
        found = how(this=found, expression=part)
    return found


def only_true_counts(node: exp.Expr) -> bool:
    """Whether a condition that is NULL does what one that is FALSE does: in WHERE, HAVING and CASE, below AND and OR."""
    below, above = node, node.parent
    while isinstance(above, (exp.And, exp.Or, exp.Paren)):
        below, above = above, above.parent
    return isinstance(above, (exp.Where, exp.Having)) or (
        isinstance(above, (exp.If, exp.CountIf)) and below.arg_key == "this"
    )


REWRITES: dict[type[exp.Expr], Callable[[exp.Expr, Copies], exp.Expr | None]] = {
    exp.Fetch: _fetch,
    exp.Count: _count,
    exp.Sum: _sum,
    exp.CountIf: _count_if,
    exp.ApproxDistinct: _approx_distinct,
    exp.WithinGroup: _mode_within_group,
    exp.Filter: _filter,
    exp.If: _if,
    exp.Anonymous: _to_date,
    exp.UnixToTime: _to_timestamp,
    exp.Cast: _cast,
    exp.ILike: _ilike,
    exp.NullSafeEQ: _distinct_from,
    exp.NullSafeNEQ: _distinct_from,
    exp.In: _in,
    exp.RawString: _raw,
    exp.Coalesce: _coalesce,
    exp.Case: _case_without_nulls,
    exp.Is: _is,
    exp.EQ: _equal,
    exp.NEQ: _equal,
    exp.Glob: _glob,
    exp.Or: lambda node, _: without_repetition(node),
}
