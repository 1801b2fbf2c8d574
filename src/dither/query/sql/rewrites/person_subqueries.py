"""A scalar subquery about the person of a row: `cost > (SELECT AVG(o.cost) FROM visits o WHERE o.person = visits.person)`.

It is a total of the person's own rows, so the row has one owner still, and nothing is released for it: it becomes a join
with an inner question, `JOIN (SELECT person, AVG(cost) ... GROUP BY person)`, which is read as any other.

Both mean the same. A row meets one row of the inner question, that of its person, or none, if she has no row there. With
none the subquery is NULL, which no comparison meets, and the join drops the row: the same where the comparison must be met,
that is where it stands in WHERE by itself or joined by AND. A COUNT is 0 there instead: taken only where 0 does not meet the
comparison either. Where both read one table and the subquery leaves no row out, a row meets at least itself: then it is
the same everywhere.
"""

from __future__ import annotations

from itertools import count as numbers

from sqlglot import exp

from dither.errors import QuestionError
from dither.numeric.number import Number
from dither.query.policy.policy import Policy
from dither.query.policy.table import Table
from dither.query.sql.syntax import refuse, shown

SIGNS: dict[type[exp.Expr], tuple[bool, bool, bool]] = {  # whether 0 meets it, beside a number below, equal, above
    **{exp.EQ: (False, True, False), exp.NEQ: (True, False, True), exp.LT: (False, False, True)},
    **{exp.LTE: (False, True, True), exp.GT: (True, False, False), exp.GTE: (True, True, False)},
}
TURNED: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.LT: exp.GT,
    exp.LTE: exp.GTE,
    exp.GT: exp.LT,
    exp.GTE: exp.LTE,
    exp.EQ: exp.EQ,
    exp.NEQ: exp.NEQ,
}


class PersonSubqueries:
    """Puts joins into a tree, in the place of scalar subqueries about the person of a row."""

    def __init__(self, tree: exp.Select, policy: Policy) -> None:
        self._policy = policy
        taken = {node.name.lower() for node in tree.find_all(exp.Identifier)}
        self._names = (name for number in numbers(1) if (name := f"own_{number}") not in taken)
        for node in list(tree.find_all(exp.Subquery)):
            around = node.find_ancestor(exp.Select)
            inner = node.unnest()
            if isinstance(node.parent, (exp.From, exp.Join, exp.CTE, exp.Subquery)) or around is None:
                continue
            if node.find_ancestor(exp.Exists, exp.In, exp.Any, exp.All) is not None or not isinstance(inner, exp.Select):
                continue
            outside = [column for column in inner.find_all(exp.Column) if self._is_outside(column, inner, around)]
            if outside:
                self._join(node, inner, around, outside)

    # -- whose a name is -------------------------------------------------------------------------------------------

    def _is_outside(self, column: exp.Column, inner: exp.Select, around: exp.Select) -> bool:
        """Whether a name within a subquery is one of the question around it."""
        within: exp.Expr | None = column.find_ancestor(exp.Select)
        while within is not None and within is not around:
            if self._holds(column, within):
                return False
            within = within.find_ancestor(exp.Select)
        return self._holds(column, around)

    def _holds(self, column: exp.Column, select: exp.Expr) -> bool:
        several = _sources(select)
        if column.table:
            return any(source.alias_or_name.lower() == column.table.lower() for source in several)
        return any(self._has(source, column.name.lower()) for source in several)

    def _has(self, source: exp.Expr, name: str) -> bool:
        """Whether a table, or an inner question, has a column; also where it is not known which it has."""
        given = source if isinstance(source, exp.Subquery) else _given(source)
        if given is not None:
            names = [*(source.alias_column_names or given.alias_column_names or given.this.named_selects)]
            return "*" in names or name in [one.lower() for one in names]
        table = self._table(source)
        return table is None or table.column(name) is not None

    def _table(self, source: exp.Expr) -> Table | None:
        return self._policy.table(source.name) if isinstance(source, exp.Table) else None

    # -- the join --------------------------------------------------------------------------------------------------

    def _join(self, node: exp.Subquery, inner: exp.Select, around: exp.Select, outside: list[exp.Column]) -> None:
        mine, theirs, rest = self._keys(node, inner, outside)
        asked = inner.expressions[0].unalias() if len(inner.expressions) == 1 else None
        found = [] if asked is None else list(asked.find_all(exp.AggFunc))
        totals = [one for one in found if one.find_ancestor(exp.AggFunc) is None]
        if asked is None or not totals or any(inner.args.get(word) for word in ("group", "having", "limit", "distinct")):
            raise _refused(node, inner, "it is no total of a person's own rows")
        if not _means_the_same(node, inner, around, rest, totals):
            raise _refused(node, inner, "a row whose person has none there is kept by it, and dropped by a join")
        name = next(self._names)
        own = inner.copy()
        values = [exp.alias_(one.copy(), f"{name}_value_{at}", quoted=True) for at, one in enumerate(totals)]
        own.set("expressions", [exp.alias_(mine.copy(), f"{name}_key", quoted=True), *values])
        own.set("where", None if rest is None else exp.Where(this=rest))
        own.set("group", exp.Group(expressions=[mine.copy()]))
        own.set("order", None)  # of one row
        for at, one in enumerate(totals):
            value = exp.column(f"{name}_value_{at}", table=name, quoted=True)
            if one is asked:
                asked = value
            else:
                one.replace(value)
        node.replace(exp.Paren(this=asked))
        on = exp.EQ(this=theirs.copy(), expression=exp.column(f"{name}_key", table=name, quoted=True))
        alias = exp.TableAlias(this=exp.to_identifier(name, quoted=True))
        around.append("joins", exp.Join(this=exp.Subquery(this=own, alias=alias), on=on))

    def _keys(
        self, node: exp.Subquery, inner: exp.Select, outside: list[exp.Column]
    ) -> tuple[exp.Expr, exp.Expr, exp.Expr | None]:
        """The equality with the row around it: its column, the row's, and what else the subquery asks of its rows."""
        where = inner.args.get("where")
        whole = None if where is None else where.this.unnest()
        parts = [] if whole is None else list(whole.flatten()) if isinstance(whole, exp.And) else [whole]
        equal = [part for part in parts if any(side is outside[0] for side in _sides(part))]
        if len(outside) != 1 or len(equal) != 1 or not all(isinstance(side, exp.Column) for side in _sides(equal[0])):
            raise _refused(node, inner, "it looks at the row around it by more than the equality of the person")
        sides = _sides(equal[0])
        mine, theirs = (sides[1], sides[0]) if sides[0] is outside[0] else (sides[0], sides[1])
        tables = [self._table(source) for source in _sources(inner)]
        if len(tables) == 1 and tables[0] is not None and (tables[0].person or "").lower() != mine.name.lower():
            why = "it is about rows of several people, so it would be a release of its own for each group of them"
            asked = f"{shown(mine)}, {shown(inner.expressions[0])}"
            raise refuse(node, why, f"{asked} by GROUP BY {shown(mine)} first, and their numbers in this question")
        others = [part.copy() for part in parts if part is not equal[0]]
        return mine, theirs, exp.and_(*others) if others else None


def _sources(select: exp.Expr) -> list[exp.Expr]:
    """What stands behind FROM and JOIN."""
    source = select.args.get("from_")
    return [*([] if source is None else [source.this]), *(join.this for join in select.args.get("joins") or [])]


def _given(source: exp.Expr) -> exp.Expr | None:
    """The question that WITH gives the name of a table, in the SELECT where it stands or around it."""
    around = source.parent
    while around is not None:
        clause = around.args.get("with_")
        named: list[exp.Expr] = [] if clause is None else clause.expressions
        found = next((part for part in named if part.alias.lower() == source.name.lower()), None)
        if found is not None:
            return found
        around = around.parent
    return None


def _sides(part: exp.Expr) -> list[exp.Expr]:
    """The two sides of an equality; none of anything else."""
    equal = part.unnest()
    return [equal.this.unnest(), equal.expression.unnest()] if isinstance(equal, exp.EQ) else []


def _refused(node: exp.Subquery, inner: exp.Select, why: str) -> QuestionError:
    asked = shown(inner.expressions[0].unalias()) if inner.expressions else "AVG(x)"
    return refuse(node, why, f"JOIN with an inner question of {asked}, GROUP BY the person, on the person")


def _means_the_same(
    node: exp.Subquery, inner: exp.Select, around: exp.Select, rest: exp.Expr | None, totals: list[exp.AggFunc]
) -> bool:
    """Whether a join means the same where the person of a row has no row in the subquery."""
    several = [_sources(inner), _sources(around)]
    alone = all(len(one) == 1 and isinstance(one[0], exp.Table) for one in several)
    alone = alone and inner.args.get("with_") is None  # it may give the same name to other rows
    if rest is None and alone and several[0][0].name.lower() == several[1][0].name.lower():
        return True
    compared = node.parent
    while isinstance(compared, (exp.Paren, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Neg)):
        compared = compared.parent
    above = None if compared is None else compared.parent
    while isinstance(above, (exp.And, exp.Paren)):
        above = above.parent
    if not (type(compared) in SIGNS or isinstance(compared, exp.Between)) or not isinstance(above, exp.Where):
        return False
    return not any(isinstance(one, exp.Count) for one in totals) or _fails_at_zero(node, totals)


def _fails_at_zero(node: exp.Subquery, totals: list[exp.AggFunc]) -> bool:
    """Whether a COUNT of nothing does not meet the comparison that it stands in, alone beside a number."""
    compared = node.parent
    if compared is None or type(compared) not in SIGNS or node.unnest().expressions[0].unalias() is not totals[0]:
        return False
    left = compared.this is node
    beside = (compared.expression if left else compared.this).unnest()
    if not isinstance(beside, exp.Literal) or beside.is_string:
        return False
    number = Number(str(beside.this)).fraction()
    below, equal, above = SIGNS[type(compared) if left else TURNED[type(compared)]]
    return not (equal if number == 0 else above if number > 0 else below)
