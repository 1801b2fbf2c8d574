"""Arithmetic on aggregates, and windows over the answer: what is computed once the aggregates are released.

Each aggregate inside is one of the question, released once however often it is named. What is not listed is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

from sqlglot import exp

from dither.errors import QuestionError
from dither.query.plan.aggregates import Aggregate
from dither.query.plan.derived import (
    Cast,
    ConstantTerm,
    FirstKnown,
    KeyValue,
    NullIf,
    Operation,
    OverKind,
    Rank,
    RankKind,
    ReleasedValue,
    Round,
    Shift,
    Sign,
    SortBy,
    Term,
    Total,
    WindowStatistic,
)
from dither.query.plan.expressions import Constant
from dither.query.plan.question import Group
from dither.query.policy.table import NAME_LENGTH
from dither.query.sql.aggregates import READERS, read_aggregate, read_window, window_keys
from dither.query.sql.clauses.integer_division import is_whole_number
from dither.query.sql.clauses.scalar_subqueries import term_of
from dither.query.sql.expressions import Reader
from dither.query.sql.syntax import refuse, shown

SIGNS: dict[type[exp.Expr], Sign] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.Mod: "%", exp.IntDiv: "//"}
OVERS: dict[type[exp.Expr], OverKind] = {exp.Avg: "avg", exp.Min: "min", exp.Max: "max", exp.Count: "count"}
RANKS: dict[type[exp.Expr], RankKind] = {exp.RowNumber: "row_number", exp.Rank: "rank", exp.DenseRank: "dense_rank"}
WHOLE = {exp.DataType.Type.INT, exp.DataType.Type.BIGINT}
MOST_DIGITS = 15  # of ROUND, before and behind the point
MOST_TERMS = 1000  # of all computed columns of a question, names written out
MOST_OFFSET = 1_000_000  # rows of LAG and LEAD
WHY = (
    "an aggregate stands by itself, or in + - * / // %, ROUND, CAST, COALESCE, NULLIF, SUM, AVG, MIN, MAX and COUNT (...) "
    "OVER (), RANK, ROW_NUMBER, LAG and LEAD over the answer; anything else is computed after the answer has come"
)


class DerivedReader:
    """Reads columns that are computed from aggregates; those that are new are added to the question's own."""

    def __init__(
        self,
        reader: Reader,
        groups: Sequence[Group],
        aggregates: list[Aggregate],
        meant: Callable[[exp.Expr], exp.Expr],
        taken: Sequence[str],
    ) -> None:
        self.reader, self.groups, self.aggregates, self.meant = reader, groups, aggregates, meant
        self.taken = {name.lower() for name in taken}  # names that columns of the answer have
        self.adds = True  # whether an aggregate may be added: HAVING and ORDER BY ask for nothing
        self._read = 0

    def computes(self, node: exp.Expr) -> bool:
        """Whether a node is computed from released numbers, or from columns that are."""
        waiting, seen = [node], set[str]()
        while waiting:
            one = waiting.pop()
            if isinstance(one, exp.Subquery):
                continue
            if any(term_of(part) is not None for part in one.find_all(exp.Var)):
                return True
            if one.find(*READERS, *RANKS, exp.Lag, exp.Lead) is not None:
                return True
            for column in one.find_all(exp.Column):
                stands = self.meant(column)
                if stands is not column and column.name.lower() not in seen:
                    seen.add(column.name.lower())
                    waiting.append(stands)
        return False

    def is_derived(self, node: exp.Window) -> bool:
        """Whether a window looks at released numbers; otherwise it is released as a whole, or refused."""
        inner = node.this
        if type(inner) in RANKS or isinstance(inner, (exp.Lag, exp.Lead)):
            return True
        if node.args.get("order") is not None or not (isinstance(inner, exp.Sum) or type(inner) in OVERS):
            return False
        return (isinstance(inner, exp.Count) and isinstance(inner.this, exp.Star)) or self.computes(inner.this)

    def meaning(self, node: exp.Expr) -> Term | None:
        """What a node means that is computed from aggregates of the question, in HAVING and ORDER BY; None for all else."""
        if not self.computes(node):
            return None
        known, self.adds = self.adds, False
        try:
            return self.term(node)
        except QuestionError:
            return None
        finally:
            self.adds = known

    def term(self, node: exp.Expr, *, inside: bool = False, names: tuple[str, ...] = ()) -> Term:
        """What a node means; `inside` a window there is no other; `names` are those that are being written out."""
        self._read += 1
        if self._read > MOST_TERMS:
            raise refuse(node, f"written out, computed columns have more than {MOST_TERMS} parts", "fewer of them")

        def of(part: exp.Expr) -> Term:
            return self.term(part, inside=inside, names=names)

        kind = type(node)
        if kind is exp.Paren:
            return of(node.this)
        if kind in READERS:
            return ReleasedValue(self._released(node))
        if (scalar := term_of(node)) is not None:
            return scalar
        if kind is exp.Column and (stands := self.meant(node)) is not node:
            if node.name.lower() in names:
                raise refuse(node, "the column would be computed from itself", "another name: ... AS another_name")
            return self.term(stands, inside=inside, names=(*names, node.name.lower()))
        if kind is exp.Neg and not isinstance(node.this.unnest(), exp.Literal):
            return Operation("-", ConstantTerm(Fraction(0)), of(node.this))
        if kind in (exp.Literal, exp.Neg):
            return ConstantTerm(self._number(node))
        if kind in SIGNS:
            made = Operation(SIGNS[kind], of(node.this), of(node.expression))
            if kind is exp.IntDiv and not is_whole_number(made, self.aggregates):
                why = "// divides whole numbers: of others no two engines mean the same"
                raise refuse(node, why, "/ between them, and FLOOR after the answer has come")
            return made
        if kind is exp.Round:
            return Round(of(node.this), self._digits(node))
        if kind is exp.Cast:
            return self._cast(node, of(node.this))
        if kind is exp.Coalesce:
            return FirstKnown((of(node.this), *(of(part) for part in node.expressions)))
        if kind is exp.Nullif:
            return NullIf(of(node.this), self._number(node.expression))
        if kind is exp.Window:
            if inside:
                raise refuse(node, "a window does not look into another window", "one window in a column")
            return self._window(node, names)
        raise self._unknown(node)

    def _unknown(self, node: exp.Expr) -> Exception:
        found = node.find(*READERS)
        if isinstance(node, exp.Subquery) or node.find(exp.Select) is not None:
            why = "a subquery among aggregates is a question of its own, to be asked beside this one, in one batch"
            return refuse(node, why, "two questions, in one batch")
        if isinstance(node, exp.Filter) and found is not None:
            return refuse(
                node, f"FILTER is not answered beside {shown(found)}", "its condition in WHERE, in a question of its own"
            )
        if found is not None:
            return refuse(node, WHY, f"{shown(found)} in a column of its own, and the rest after the answer has come")
        why = "columns are computed from aggregates and numbers only"
        return refuse(node, why, f"an aggregate of {shown(node)}, or {shown(node)} in GROUP BY")

    # -- parts ---------------------------------------------------------------------------------------------------

    def _released(self, node: exp.Expr) -> str:
        """The name of the aggregate that a node asks for, which is added where the question has none like it."""
        return self._added(read_aggregate(node, self.reader, ""), node, READERS[type(node)].name)

    def _added(self, made: Aggregate, node: exp.Expr, short: str) -> str:
        if not made.is_number:
            raise refuse(node, "it is no number that could be computed with", f"{shown(node)} by itself")
        found = next((one for one in self.aggregates if replace(one, name="") == made), None)
        if found is None:
            if not self.adds:
                raise refuse(
                    node, "SELECT does not ask for it, so nothing of it is released", f"{shown(node)} in SELECT too"
                )
            found = replace(made, name=self._unused(shown(node), short))
            self.aggregates.append(found)
        return found.name

    def _unused(self, text: str, short: str) -> str:
        """A name for what is released and not shown: as it is written, or, where that is too long or taken, a short one."""
        taken = self.taken | {one.name.lower() for one in self.aggregates}
        number, name = 1, text if len(text) <= NAME_LENGTH and text.isprintable() else short
        while any(f"{name}{end}".lower() in taken for end in ("", "_low", "_high")):
            number += 1
            name = f"{short}_{number}"
        return name

    def _number(self, node: exp.Expr) -> Fraction:
        found = self.reader.meaning(node.unnest())
        if not isinstance(found, Constant) or not isinstance(found.value, Fraction):
            raise refuse(node, "here stands a number", "a number that is written out")
        return found.value

    def _digits(self, node: exp.Expr) -> int:
        given = node.args.get("decimals")
        digits = Fraction(0) if given is None else self._number(given)
        if digits.denominator != 1 or abs(digits) > MOST_DIGITS:
            why = f"digits are a whole number from -{MOST_DIGITS} to {MOST_DIGITS}"
            raise refuse(node, why, "a number of digits such as 2")
        return int(digits)

    def _cast(self, node: exp.Expr, of: Term) -> Term:
        to = node.args["to"].this
        if to is exp.DataType.Type.DECIMAL and len(node.args["to"].expressions) == 2:
            digits = self._number(node.args["to"].expressions[1].this)
            return Round(of, int(digits))
        if (to not in WHOLE and to is not exp.DataType.Type.DOUBLE) or node.args["to"].expressions:
            why = "a released number is cast to INTEGER, BIGINT, DOUBLE or DECIMAL"
            raise refuse(node, why, "the number as it is, or one of these types")
        return Cast(of, to in WHOLE)

    # -- windows -------------------------------------------------------------------------------------------------

    def _window(self, node: exp.Expr, names: tuple[str, ...]) -> Term:
        inner, order = node.this, node.args.get("order")
        assert isinstance(node, exp.Window)
        if not self.is_derived(node):
            return ReleasedValue(self._running(node))
        by = tuple(dict.fromkeys(self._key(part) for part in node.args.get("partition_by") or []))
        if isinstance(inner, exp.Sum):
            return Total(by, self.term(inner.this, inside=True, names=names))
        if type(inner) in OVERS:
            every = isinstance(inner.this, exp.Star)
            of = ConstantTerm(Fraction(1)) if every else self.term(inner.this, inside=True, names=names)
            return WindowStatistic(by, OVERS[type(inner)], of)
        if order is None:
            raise refuse(node, "without ORDER BY nobody knows which row comes first", "OVER (ORDER BY <column>)")
        sorts = tuple(SortBy(self._sorted(item.this, names), bool(item.args.get("desc"))) for item in order.expressions)
        if type(inner) in RANKS:
            if any(found for found in inner.args.values()):
                raise refuse(node, "it has no argument: rows are ranked by ORDER BY", "the same with empty parentheses")
            return Rank(by, RANKS[type(inner)], sorts)
        if inner.args.get("default") is not None:
            why = "what stands where there is no such row is said by COALESCE"
            instead = "the same without it, within COALESCE(<it>, <number>), which stands for missing values of groups too"
            raise refuse(node, why, instead)
        offset = Fraction(1) if inner.args.get("offset") is None else self._number(inner.args["offset"])
        if offset.denominator != 1 or not 0 <= offset <= MOST_OFFSET:
            raise refuse(node, f"it looks 0 to {MOST_OFFSET} rows away", "a number of rows such as 1")
        rows = int(offset) if isinstance(inner, exp.Lag) else -int(offset)
        return Shift(by, self.term(inner.this, inside=True, names=names), rows, sorts)

    def _running(self, node: exp.Window) -> str:
        means = [self.reader.meaning(self.meant(key)) for key in window_keys(node)]
        return self._added(read_window(node, means, self.groups, ""), node, "sum")

    def _key(self, node: exp.Expr) -> int:
        place = self._place(node)
        if place is None:
            why, instead = "rows of an answer are divided by columns of GROUP BY", "PARTITION BY a column of GROUP BY"
            raise refuse(node, why, instead)
        return place

    def _place(self, node: exp.Expr) -> int | None:
        """Which group a node is."""
        meaning = self.reader.meaning(self.meant(node))
        found = (place for place, group in enumerate(self.groups) if meaning is not None and group.meaning == meaning)
        return next(found, None)

    def _sorted(self, node: exp.Expr, names: tuple[str, ...]) -> Term:
        place = self._place(node)
        return self.term(node, inside=True, names=names) if place is None else KeyValue(place)


def column_name(node: exp.Expr) -> str:
    """The name of a computed column that has none: as it is written."""
    text = re.sub(r"\s+", " ", shown(node))
    return text if 0 < len(text) <= NAME_LENGTH and text.isprintable() else "value"
