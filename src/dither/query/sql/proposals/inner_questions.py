"""What would work in place of an inner question that is refused: with the person in it, with its conditions elsewhere."""

from __future__ import annotations

from sqlglot import exp

from dither.query.sql.proposals.whole_question import DIALECT, edited


def with_person(node: exp.Select, person: str | None) -> str | None:
    """The whole question where an inner one is grouped by the person too, and shows her."""
    if person is None:
        return None

    def change(mine: exp.Expr) -> None:
        assert isinstance(mine, exp.Select)
        name = exp.column(exp.to_identifier(person))
        if mine.args.get("distinct") is None:
            group = mine.args.get("group")
            mine.set("group", exp.Group(expressions=[name.copy(), *([] if group is None else group.expressions)]))
        if all(item.name != person for item in mine.expressions):
            mine.set("expressions", [name, *mine.expressions])

    return edited(node, change)


def as_where(clause: exp.Expr) -> str | None:
    """The whole question with a HAVING or a QUALIFY as a WHERE, or as a part of it."""

    def change(mine: exp.Expr) -> None:
        select = mine.parent_select
        if select is not None:
            select.set(str(mine.arg_key), None)
            select.where(mine.this.sql(DIALECT), dialect=DIALECT, copy=False)

    return edited(clause, change)
