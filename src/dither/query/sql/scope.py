"""Names in a question: which column of which relation a name means."""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import get_close_matches

from sqlglot import exp

from dither.query.plan.chain import Chain
from dither.query.plan.relations import OURS, Relation, Scan, shown_columns
from dither.query.policy.column import Column
from dither.query.policy.table import Table
from dither.query.sources.schema import Held, reason
from dither.query.sql.syntax import refuse

LONGEST_SHOWN = 200  # letters of a text that a proposal repeats


@dataclass(frozen=True)
class Name:
    """How a question may call a column: by its name, or by that of its relation and its own."""

    called: str  # the relation, as the question calls it
    name: str
    column: Column


@dataclass(frozen=True)
class Scope:
    """A relation, and the names by which its columns are known."""

    relation: Relation
    names: tuple[Name, ...]
    merged: tuple[Name, ...] = ()  # what names of USING mean without a relation in front of them

    @property
    def table(self) -> Table:
        """The relation as a table."""
        return self.relation.table

    def holds(self, name: str) -> bool:
        """Whether a name without a relation in front of it means a column."""
        return any(known.name.lower() == name.lower() for known in self.names)

    def column(self, node: exp.Expr) -> Column:
        """The column that a name means; refused where there is none, or more than one."""
        called, wanted = node.text("table").lower(), node.name.lower()
        for known in self.merged if not called else ():
            if known.name.lower() == wanted:
                return known.column
        relations = list(dict.fromkeys(known.called for known in self.names if not known.name.endswith(OURS)))
        if called and called not in [name.lower() for name in relations]:
            why = f"the table is called {relations[0]} here" if len(relations) == 1 else "no table is called that here"
            raise refuse(node, why, f"the name in front of the point: {' or '.join(relations)}")
        found = [
            known for known in self.names if known.name.lower() == wanted and (not called or known.called.lower() == called)
        ]
        if not found:
            for column, stored in (pair for table in self.relation.tables for pair in table.unread):
                if column.lower() == wanted:
                    raise refuse(node, *reason(column, Held(None, stored)))
            names = ", ".join(dict.fromkeys(known.name for known in self.names if not known.name.endswith(OURS)))
            alone = isinstance(self.relation, Scan) or (isinstance(self.relation, Chain) and len(self.relation.links) == 1)
            where = f"the table {self.table.name}" if alone else "what the question is about"
            if self._is_text(node):
                safe = len(node.name) <= LONGEST_SHOWN and node.name.isprintable()  # else a terminal could obey it
                text = f"{exp.Literal.string(node.name).sql()}, if" if safe else "single quotes, if"
                instead = f"{text} a text is meant: texts stand in single quotes; or one of its columns: {names}"
                raise refuse(node, f"{where} has no such column", instead)
            # A column that it is compared with is not what was meant: `ward = ward` is always true.
            beside = {one.name.lower() for one in (node.parent or node).find_all(exp.Column)} - {wanted}
            near = get_close_matches(
                node.name, [known.name for known in self.names if known.name.lower() not in beside], n=1
            )
            meant = f"did you mean {near[0]}? " if near else ""
            raise refuse(node, f"{where} has no such column", f"{meant}one of its columns: {names}")
        if len({known.column for known in found}) > 1:
            instead = "the table in front of it: " + ", or ".join(f"{known.called}.{known.name}" for known in found)
            raise refuse(node, "more than one table has a column of that name", instead)
        return found[0].column

    def _is_text(self, node: exp.Expr) -> bool:
        """Whether a name in double quotes that no column has is likely to be a text: it is compared with something."""
        name = node.this if isinstance(node, exp.Column) else None
        compared = isinstance(node.parent, (exp.Predicate, exp.In))
        return (
            compared and isinstance(name, exp.Identifier) and name.quoted and not node.text("table") and self._is_far(name)
        )

    def _is_far(self, name: exp.Identifier) -> bool:
        return not get_close_matches(name.name.lower(), [known.name.lower() for known in self.names], n=1)


def of(relation: Relation, called: str) -> Scope:
    """The names of a relation under an alias."""
    return Scope(relation, tuple(Name(called, column.name, column) for column in relation.table.columns))


def outside(relation: Relation, called: str) -> Scope:
    """The names of a relation under an alias, without those that no question may use."""
    return Scope(relation, tuple(Name(called, column.name, column) for column in shown_columns(relation.table)))


def unlike(columns: tuple[Column, ...], called: str, taken: tuple[Column, ...]) -> tuple[tuple[Column, Column], ...]:
    """Columns under names that are not taken: their own, or with their relation's name in front."""
    used = {column.name.lower() for column in taken}
    found = []
    for column in columns:
        name, number = column.name, 1
        while name.lower() in used:
            name = f"{called}.{column.name}" if number == 1 else f"{called} {number}.{column.name}"
            number += 1
        used.add(name.lower())
        found.append((replace(column, name=name), column))
    return tuple(found)
