"""Scalar subqueries: `cost > (SELECT AVG(cost) FROM visits)`, one number that is a question of its own.

Each is released before the question around it, which sees the number that was released (`pricing/scalar_subqueries.py`).
In the tree a constant takes its place, together with arithmetic on numbers around it, `0.2 * (SELECT ...)`: the same
constant wherever the same subquery stands. Its value is NULL until it is released.

The subquery goes on as SQL text, to be read as any question. The text is written from the tree; it is taken only if it reads
as the same tree again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import sqlglot
from sqlglot import exp

from dither.errors import NumberError
from dither.numeric.number import Number
from dither.query.plan.derived import ConstantTerm, Operation, ScalarValue, Sign, Term
from dither.query.plan.expressions import ReleasedConstant
from dither.query.sql.syntax import DIALECT, refuse, shown

Values = Sequence[Fraction | None]
CONSTANT, TERM = "constant", "term"  # where a node of the tree keeps what it stands for
MOST = 10  # of one question
SIGNS: dict[type[exp.Expr], Sign] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/"}
ROWS = (exp.From, exp.Join, exp.Exists, exp.Any, exp.All, exp.SetOperation, exp.CTE, exp.Table, exp.Lateral)
COMPARED = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between)


class SubqueryMarks:
    """Puts constants into a tree, in the place of its scalar subqueries; `values` of those that were released."""

    def __init__(self, tree: exp.Select, values: Values = ()) -> None:
        self.texts: list[str] = []  # the subqueries, each once
        self._tree, self._values = tree, values
        for node in list(_constants(tree)):
            term = self._term(node)
            value = _computed(term)
            told = shown(node)
            mark = exp.Var(this=told)
            mark.meta[CONSTANT], mark.meta[TERM] = ReleasedConstant(_canonical(term), told, value), term
            node.replace(mark)

    def _term(self, node: exp.Expr) -> Term:
        if isinstance(node, exp.Subquery):
            return self._scalar(node)
        if isinstance(node, exp.Paren):
            return self._term(node.this)
        if isinstance(node, exp.Neg):
            return Operation("-", ConstantTerm(Fraction(0)), self._term(node.this))
        if isinstance(node, exp.Literal):
            try:
                return ConstantTerm(Number(str(node.this)).fraction())
            except NumberError as error:
                raise refuse(node, error.why, "a number such as 0.5") from error
        return Operation(SIGNS[type(node)], self._term(node.this), self._term(node.expression))

    def _scalar(self, node: exp.Subquery) -> Term:
        inner = node.unnest()
        if not isinstance(inner, exp.Select):
            raise refuse(node, "a subquery that gives one number is a SELECT", "a SELECT with one aggregate")
        if inner.args.get("from_") is None:
            raise refuse(node, "a subquery that gives one number is about a table", "the number by itself")
        text = self._text(inner)
        if text not in self.texts:
            self.texts.append(text)
            if len(self.texts) > MOST:
                raise refuse(node, f"more than {MOST} subqueries are not answered at once", "fewer of them")
        place = self.texts.index(text)
        return ScalarValue(place, shown(node), self._values[place] if place < len(self._values) else None)

    def _text(self, inner: exp.Select) -> str:
        """The subquery as a text of its own, with the names that WITH gives around it."""
        copy = inner.copy()
        if any(_constants(copy)):
            why = "a subquery that gives one number has none within it"
            raise refuse(inner, why, "the inner one by itself, asked before, and its number here")
        given = self._given(inner)
        if {part.alias.lower() for part in given} & {table.name.lower() for table in copy.find_all(exp.Table)}:
            own = copy.args.get("with_")
            parts = [*(part.copy() for part in given), *([] if own is None else own.expressions)]
            copy.set("with_", exp.With(expressions=parts))
        text = shown(copy)
        if not reads_as(text, copy):
            raise refuse(inner, "it cannot be asked by itself", "the subquery first, then its number in this question")
        return text

    def _given(self, inner: exp.Expr) -> list[exp.Expr]:
        """What WITH names before it, of the question and of all inner ones around it, the outermost first."""
        found: list[exp.Expr] = []
        below, around = inner, inner.parent
        while around is not None:
            clause = around.args.get("with_")
            parts: list[exp.Expr] = [] if clause is None or clause is below else list(clause.expressions)
            if isinstance(around, exp.With):  # it stands within one of them, and knows those before
                parts = around.expressions[: next(at for at, part in enumerate(around.expressions) if part is below)]
            found = [*parts, *found]
            below, around = around, around.parent
        return found


def reads_as(text: str, tree: exp.Expr) -> bool:
    """Whether a text that was written from a tree reads as that tree."""
    try:
        return bool(sqlglot.parse_one(text, read=DIALECT) == tree)
    except Exception:  # whatever a parser cannot read again, it wrote wrongly
        return False


def constant_of(node: exp.Expr) -> ReleasedConstant | None:
    """The constant that stands for subqueries; None for all other nodes."""
    return node.meta.get(CONSTANT) if isinstance(node, exp.Var) else None


def term_of(node: exp.Expr) -> Term | None:
    """The same as a term of columns that are computed."""
    return node.meta.get(TERM) if isinstance(node, exp.Var) else None


def compared(node: exp.Expr, constant: ReleasedConstant) -> ReleasedConstant:
    """The constant, where it is compared; all else would need bounds, and a constant has none before it is released."""
    around = node.parent
    while isinstance(around, exp.Paren):
        around = around.parent
    if not isinstance(around, COMPARED):
        why = "the number of a subquery is compared with values of a row, and not computed with them: it has no bounds"
        raise refuse(node, why, "the subquery on one side of a comparison, with what is added to it beside it")
    return constant


def _constants(tree: exp.Expr) -> Iterator[exp.Expr]:
    """The largest parts of a tree that are computed of scalar subqueries and numbers, in the order of the tree."""
    for part in _parts(tree):
        if part.find(exp.Subquery) is not None:
            yield part


def _parts(tree: exp.Expr) -> Iterator[exp.Expr]:
    """The largest constant parts of a tree, in its order; without recursion, since a chain of OR may be thousands long."""
    waiting = list(tree.iter_expressions(reverse=True))
    while waiting:
        part = waiting.pop()
        if _is_constant(part):
            yield part
        else:
            waiting += part.iter_expressions(reverse=True)


def scalars_of(tree: exp.Expr) -> Iterator[exp.Subquery]:
    """The scalar subqueries of a tree; not those within them."""
    for part in _parts(tree):
        for node in part.find_all(exp.Subquery):
            if node.find_ancestor(exp.Select) is part.find_ancestor(exp.Select) and _is_constant(node):
                yield node


def _is_constant(node: exp.Expr) -> bool:
    if isinstance(node, exp.Subquery):
        of_rows = isinstance(node.parent, ROWS) or (isinstance(node.parent, exp.In) and node.arg_key == "query")
        return not of_rows and not node.args.get("alias") and not isinstance(node.parent, exp.Subquery)
    if isinstance(node, exp.Literal):
        return not node.is_string
    if isinstance(node, (exp.Paren, exp.Neg)):
        return _is_constant(node.this)
    return type(node) in SIGNS and _is_constant(node.this) and _is_constant(node.expression)


def _computed(term: Term) -> Fraction | None:
    match term:
        case ConstantTerm(value):
            return value
        case ScalarValue(_, _, value):
            return value
        case Operation(sign, left, right):
            one, other = _computed(left), _computed(right)
            if one is None or other is None or (sign == "/" and not other):
                return None
            return {"+": one.__add__, "-": one.__sub__, "*": one.__mul__, "/": one.__truediv__}[sign](other)
    raise AssertionError(term)


def _canonical(term: Term) -> str:
    match term:
        case ConstantTerm(value):
            return str(value)
        case ScalarValue(place, _, _):
            return f"#{place + 1}"
        case Operation(sign, left, right):
            return f"({_canonical(left)} {sign} {_canonical(right)})"
    raise AssertionError(term)
