"""Semi-joins as SQL (`plan/joins/semi_join.py`). EXISTS makes no row of a row, whatever the engine holds to be equal."""

from __future__ import annotations

from collections.abc import Callable

from dither.query.engines.templates.expressions import render
from dither.query.engines.templates.pairs import few_pairs, renamed
from dither.query.engines.words import Words
from dither.query.plan.joins.semi_join import SemiJoin
from dither.query.plan.relations import Relation


def semi_join_sql(words: Words, join: SemiJoin[Relation], rows_of: Callable[[Relation], str]) -> str:
    """A SELECT with all columns of the semi-join; that the owner is the same comes from here, whatever was asked."""
    of, other = (rows_of(join.of), join.of.table), (rows_of(join.other), join.other.table)
    head, rows, others = few_pairs(words, of, other, join.most_rows, keeps_right=False)
    conditions = [render(words, one) for one in join.on]
    theirs = other[1].person
    if not other[1].public:
        assert of[1].person is not None
        here = next(here.name for here, there in join.columns if there.name == theirs)
        conditions.insert(0, f"l.{words.name(of[1].person)} = r.{words.name(here)}")
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    looked = f"SELECT {renamed(words, join.columns)} FROM ({others}) AS q"
    found = f"EXISTS (SELECT 1 FROM ({looked}) AS r{where})"
    return f"{head}SELECT l.*, {found} AS {words.name(join.match.name)} FROM ({rows}) AS l"
