"""Integer totals a group, bounded a person: the one SELECT that runs on private rows.

Why a person moves the totals by no more than `bounding.py` claims. In all ways what a person adds depends on her own rows
and on the salt alone, is made of exact integers, and never depends on the position of a row. Rows outside the declared
keys, rows that do not meet the condition and rows without a person are dropped before anything is counted.

weights   w = min(K, C K // n) for her n rows, K the resolution: her rows together weigh at most n (C K // n) <= C K, and
          each moves a family by at most w reach in L1 norm.
clip      Her totals v (times K, cut at 2^52 so that no square overflows) have S = sum v^2. If S <= L^2 they stay; otherwise
          each becomes v L // r with r * r >= S, truncated towards zero: the length is at most L sqrt(S) / r <= L. r comes
          from a double, and the integer test decides whether it is used; where it fails, the person counts as nothing.
groups    Her totals in a group with n > R rows become t R // n, truncated towards zero: at most R reach, and of a family
          at most R reach together. She keeps at most max_groups groups: first by a hash of salt, person and group, then by
          the group itself, so that no tie is left to the engine.
"""

from __future__ import annotations

from collections.abc import Sequence

from dither.query.bounding import Bounding
from dither.query.engines.sql import cell, keys_of, measured, render
from dither.query.measure import Measure
from dither.query.plan import Plan
from dither.query.strategy import Family

WIDEST = 2**52  # of one total in `clip`: 2^20 groups of 4 squares fit into 127 bits
MARGIN = "1.0000001"  # far more than the error of a square root in doubles


def totals_sql(plan: Plan, families: Sequence[Family], bounding: Bounding, relation: str, salt: int) -> str:
    """The SELECT: columns g0.. (the group), then t0.. (its totals), one row a group that occurs.

    `relation` is read once: sources that could change between two readings must not be read twice.
    """
    measures = [measure for family in families for measure in family.measures]
    keys = [f"g{place}" for place in range(len(plan.groups))]
    sums = [f"t{place}" for place in range(len(measures))]
    rows = _rows(plan, measures, relation, keys, sums)
    if bounding.way == "each row":
        return _sum(f"({rows})", keys, sums)
    if bounding.way == "weights":
        return _weighted(rows, keys, sums, bounding)
    person = _persons(rows, keys, sums, measures)
    if bounding.way == "clip":
        return _clipped(person, keys, sums, families, bounding)
    scaled = _scaled(person, keys, sums, measures, bounding.rows)
    return _sum(f"({_chosen(scaled, keys, sums, bounding.groups, salt) if keys else scaled})", keys, sums)


def _rows(plan: Plan, measures: Sequence[Measure], relation: str, keys: list[str], sums: list[str]) -> str:
    """Rows that count: of a person, meeting the condition, in a declared group."""
    wanted = [f"{render(group.by)} AS {key}" for group, key in zip(plan.groups, keys, strict=True)]
    wanted += [f"{measured(measure)} AS {total}" for measure, total in zip(measures, sums, strict=True)]
    kept = [keys_of(render(group.by), group.keys) for group in plan.groups]
    if plan.table.person is not None:
        column = plan.table.column(plan.table.person)
        assert column is not None
        wanted.append(f"{cell(column)} AS p")
        kept.append(f"({cell(column)} IS NOT NULL)")
    if plan.where is not None:
        kept.append(render(plan.where))
    return f"SELECT {', '.join(wanted)} FROM {relation}" + (f" WHERE {' AND '.join(kept)}" if kept else "")


def _weighted(rows: str, keys: list[str], sums: list[str], bounding: Bounding) -> str:
    most, finest = bounding.groups * bounding.rows * bounding.resolution, bounding.resolution
    weights = f"SELECT p, least({finest}::BIGINT, {most}::BIGINT // count(*)) AS w FROM r GROUP BY p"
    products = [f"{total} * w AS {total}" for total in sums]  # at most LARGEST: fits into 64 bits
    weighed = f"SELECT {', '.join([*keys, *products])} FROM r JOIN ({weights}) USING (p)"
    return f"WITH r AS MATERIALIZED ({rows}) {_sum(f'({weighed})', keys, sums)}"


def _persons(rows: str, keys: list[str], sums: list[str], measures: Sequence[Measure]) -> str:
    """A person's totals a group, and her number of rows n in it."""
    by = ", ".join(["p", *keys])
    added = [
        f"1::HUGEINT AS {total}" if measure.kind == "person" else f"sum({total})::HUGEINT AS {total}"
        for total, measure in zip(sums, measures, strict=True)
    ]
    return f"SELECT {by}, count(*)::HUGEINT AS n, {', '.join(added)} FROM ({rows}) GROUP BY {by}"


def _clipped(person: str, keys: list[str], sums: list[str], families: Sequence[Family], bounding: Bounding) -> str:
    cut = [f"least(greatest({total} * {bounding.resolution}, -{WIDEST}), {WIDEST}) AS {total}" for total in sums]
    vectors = f"SELECT {', '.join(['p', *keys, *cut])} FROM ({person})"
    squares, roots, scaled, place = [], [], [], 0
    for number, family in enumerate(families):
        mine = sums[place : place + len(family.measures)]
        place += len(mine)
        length = bounding.length(family)
        squares.append(f"sum({' + '.join(f'{total} * {total}' for total in mine)})::HUGEINT AS s{number}")
        # NULL where she stays as she is; 0, and so nothing, should the root be too small
        root = f"ceil(sqrt(s{number}::DOUBLE) * {MARGIN})::HUGEINT + 1"
        roots.append(f"CASE WHEN s{number} <= {length**2}::HUGEINT THEN NULL ELSE {root} END AS r{number}, s{number}")
        for total in mine:
            shrunk = f"CASE WHEN r{number} * r{number} >= s{number} THEN {total} * {length} // r{number} ELSE 0 END"
            scaled.append(f"CASE WHEN r{number} IS NULL THEN {total} ELSE {shrunk} END AS {total}")
    norms = f"SELECT p, {', '.join(roots)} FROM (SELECT p, {', '.join(squares)} FROM v GROUP BY p)"
    taken = f"SELECT {', '.join([*keys, *scaled])} FROM v JOIN ({norms}) USING (p)"
    return f"WITH v AS MATERIALIZED ({vectors}) {_sum(f'({taken})', keys, sums)}"


def _scaled(person: str, keys: list[str], sums: list[str], measures: Sequence[Measure], most: int) -> str:
    scaled = [
        total if measure.kind == "person" else f"CASE WHEN n <= {most} THEN {total} ELSE {total} * {most} // n END AS {total}"
        for total, measure in zip(sums, measures, strict=True)
    ]
    return f"SELECT {', '.join(['p', *keys, *scaled])} FROM ({person})"


def _chosen(person: str, keys: list[str], sums: list[str], most: int, salt: int) -> str:
    by = ", ".join(keys)
    order = f"hash({salt}::UBIGINT, p, {by}), {by}"
    inner = f"SELECT {', '.join([*keys, *sums])}, row_number() OVER (PARTITION BY p ORDER BY {order}) AS place FROM ({person})"
    return f"SELECT {', '.join([*keys, *sums])} FROM ({inner}) WHERE place <= {most}"


def _sum(rows: str, keys: list[str], sums: list[str]) -> str:
    added = ", ".join(f"coalesce(sum({total}), 0)::HUGEINT AS {total}" for total in sums)
    if not keys:
        return f"SELECT {added} FROM {rows}"
    return f"SELECT {', '.join([*keys, added])} FROM {rows} GROUP BY {', '.join(keys)}"


