"""The whole question with other columns in one of its SELECTs."""

from __future__ import annotations

from sqlglot import exp

from dither.query.sql.proposals.whole_question import edited


def renamed(select: exp.Expr, name: str) -> str | None:
    """The last column of that name has another: an aggregate, where GROUP BY has a column of that name."""

    def change(mine: exp.Expr) -> None:
        same = [item for item in mine.expressions if item.alias_or_name.lower() == name.lower()]
        if same:
            same[-1].replace(exp.alias_(same[-1].unalias().copy(), f"{name}_2", quoted=not name.isidentifier()))

    return edited(select, change)


def each_once(select: exp.Expr) -> str | None:
    """Each column once."""

    def change(mine: exp.Expr) -> None:
        kept: list[exp.Expr] = []
        for item in mine.expressions:
            if all(item.unalias() != other.unalias() for other in kept):
                kept.append(item)
        mine.set("expressions", kept)

    return edited(select, change)


def with_count(select: exp.Expr) -> str | None:
    """COUNT(*) beside what there is."""
    counted = exp.Count(this=exp.Star(), big_int=True)
    return edited(select, lambda mine: mine.set("expressions", [*mine.expressions, counted]))
