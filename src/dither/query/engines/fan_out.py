"""How many rows of public tables one row of a person can meet: counted before the charge.

Every protected row is multiplied by its matches, and matches multiply each other: three joins with a table that repeats a
key a thousand times make 10^9 rows of one, and the time, or the failure, would tell whether that one row is there. Public
tables tell nothing of anybody, so they are looked at before anything is charged, and such a question is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from dither.errors import DataError, QuestionError
from dither.query.engines.engine import Engine, TableSource
from dither.query.engines.templates.relations import matches_sql, rows_of, with_tables
from dither.query.plan.chain import MOST_REPEATED, Chain
from dither.query.plan.expressions import Compare
from dither.query.plan.joins.outer_join import OuterJoin
from dither.query.plan.joins.semi_join import SemiJoin, is_equality
from dither.query.plan.relations import (
    FilterRows,
    GroupByPerson,
    JoinOnPerson,
    JoinPublic,
    Project,
    Relation,
    Scan,
    UnionAll,
    WindowByPerson,
)

MOST_MATCHES = 1000  # rows that a question makes of one
PAIRED = 100  # what a join of two protected tables counts as: a person has up to 10^6 pairs there, whatever comes before


def check_matches(relation: Relation, sources: Mapping[str, TableSource], engine: Engine, threads: int | None) -> None:
    """Refuse a question that makes too many rows of one. Reads public tables only."""
    joins = _joins(relation)
    if not joins:
        return
    words = engine.words
    tables = dict.fromkeys(join.public.table.name for join in joins)
    places = {name: (rows_of(words, name), frozenset[str]()) for name in tables}
    looked = ", ".join(f"({matches_sql(words, join, places)})" for join in joins)
    try:
        with engine.reading([sources[name] for name in tables], threads=threads) as run:
            sql = with_tables(words, {name: sources[name].relation for name in tables}, f"SELECT {looked}")
            ((*most,),) = run(sql, lambda _: True)
    except Exception:
        why = "a public table cannot be read"
        raise DataError(
            "source of a public table", ", ".join(tables), why, "files or frames of the policy's columns"
        ) from None
    found = _made(relation, dict(zip(joins, most, strict=True))).pairs
    if found > MOST_MATCHES:
        named = ", ".join(dict.fromkeys(join.public.table.name for join in joins))
        why = f"one protected row would become {found}, and {MOST_MATCHES} are the most"
        why += f" (a join of protected tables counts as {PAIRED}, along a chain as {MOST_REPEATED})"
        raise QuestionError("JOIN", named, why, "ON with more columns, or a public table with fewer rows for each key")


def _looked_up(relation: SemiJoin[Relation]) -> JoinPublic | None:
    """The join whose pairs are looked at, where rows are compared with those of a public table by more than equalities."""
    public = relation.other
    while isinstance(public, (FilterRows, SemiJoin)):
        public = public.of
    if not isinstance(public, Scan) or not public.table.public or not relation.compares_pairs:
        return None
    columns = tuple((here, there) for here, there in relation.columns if there in public.table.columns)
    equal = tuple(one for one in relation.on if isinstance(one, Compare) and is_equality(one))
    return JoinPublic(relation.of, public, columns, equal, keep_all=False)


def _joins(relation: Relation) -> list[JoinPublic]:
    """All joins with public tables, each once."""
    match relation:
        case Scan() | Chain():
            return []
        case FilterRows(of) | Project(of) | GroupByPerson(of) | WindowByPerson(of):
            return _joins(of)
        case JoinPublic(of):
            return list(dict.fromkeys([*_joins(of), relation]))
        case JoinOnPerson(left, right) | OuterJoin(left, right):
            return list(dict.fromkeys([*_joins(left), *_joins(right)]))
        case SemiJoin(of, other):
            looked = _looked_up(relation)
            return list(dict.fromkeys([*_joins(of), *_joins(other), *([] if looked is None else [looked])]))
        case UnionAll(parts):
            return list(dict.fromkeys(join for part in parts for join in _joins(part)))


class Made(NamedTuple):
    """Of one row: how many rows are made, and how many pairs are looked at in one place, at most."""

    rows: int
    pairs: int

    def times(self, factor: int) -> Made:
        """Each row is made so many."""
        return Made(self.rows * factor, max(self.pairs, self.rows * factor))


def _made(relation: Relation, matches: Mapping[JoinPublic, int]) -> Made:
    """The most rows that are made of one, and pairs that are looked at."""
    match relation:
        case Scan():
            return Made(1, 1)
        case Chain(links):
            return Made(1, 1).times(MOST_REPEATED if len(links) > 1 else 1)
        case FilterRows(of) | Project(of) | GroupByPerson(of) | WindowByPerson(of):
            return _made(of, matches)
        case JoinPublic(of):
            return _made(of, matches).times(max(1, matches[relation]))
        case JoinOnPerson(left, right) | OuterJoin(left, right):
            first, second = _made(left, matches), _made(right, matches)
            paired = max(first.rows, second.rows, PAIRED)
            rows = first.rows * second.rows if None in relation.most_rows else paired
            return Made(rows, max(rows, first.pairs, second.pairs))
        case SemiJoin(of, other):
            # none is made of a row here; but where pairs are compared, as many are looked at
            looked, first = _looked_up(relation), _made(of, matches)
            pairs = [] if looked is None else [max(1, matches[looked])]
            pairs += [] if None in relation.most_rows else [PAIRED]
            here = first.rows * max(pairs, default=1)
            return Made(first.rows, max(first.pairs, here, _made(other, matches).pairs))
        case UnionAll(parts):
            several = [_made(part, matches) for part in parts]
            return Made(max(one.rows for one in several), max(one.pairs for one in several))
