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
    most = join.most_rows
    conditions = [render(words, one) for one in join.on]
    theirs = other[1].person
    if not other[1].public:
        assert of[1].person is not None
        here = next(here.name for here, there in join.columns if there.name == theirs)
        conditions.insert(0, f"l.{words.name(of[1].person)} = r.{words.name(here)}")
    looked = f"SELECT {renamed(words, join.columns)} FROM ({few_pairs(words, other, most[1], of, most[0])}) AS q"
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    found = f"EXISTS (SELECT 1 FROM ({looked}) AS r{where})"
    rows = few_pairs(words, of, most[0], other, most[1])
    return f"SELECT l.*, {found} AS {words.name(join.match.name)} FROM ({rows}) AS l"
