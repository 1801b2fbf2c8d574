"""Outer joins as SQL (`plan/joins/outer_join.py`)."""

from __future__ import annotations

from collections.abc import Callable

from dither.query.engines.templates.expressions import render
from dither.query.engines.templates.pairs import few_pairs, renamed
from dither.query.engines.words import Words
from dither.query.plan.joins.outer_join import OuterJoin
from dither.query.plan.relations import Relation


def outer_join_sql(words: Words, join: OuterJoin[Relation], rows_of: Callable[[Relation], str]) -> str:
    """A SELECT with all columns of the join; that the owner is the same comes from here, whatever was asked."""
    left, right = (rows_of(join.left), join.left.table), (rows_of(join.right), join.right.table)
    head, rows, others = few_pairs(words, left, right, join.most_rows, keeps_right=join.full)
    assert left[1].person is not None
    theirs = next(here.name for here, there in join.columns if there.name == right[1].person)
    mine, hers = f"l.{words.name(left[1].person)}", f"r.{words.name(theirs)}"
    on = [f"{mine} = {hers}", *(render(words, one) for one in join.on)]
    shown = ["l.*", *(f"r.{words.name(here.name)}" for here, _ in join.columns)]
    shown += [f"coalesce({mine}, {hers}) AS {words.name(join.owner.name)}"] if join.full else []
    beside = f"SELECT {renamed(words, join.columns)} FROM ({others}) AS q"
    kind = "FULL" if join.full else "LEFT"
    return f"{head}SELECT {', '.join(shown)} FROM ({rows}) AS l {kind} JOIN ({beside}) AS r ON {' AND '.join(on)}"
