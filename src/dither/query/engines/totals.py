"""Integer totals a group, bounded a person: the one SELECT that runs on private rows.

Two shapes. *Row level* (one row is one person): every row adds its measures to its group. *Group choice*: a person's rows are
first added up a group; where she has more than `max_rows_per_group` rows there, her totals are scaled down to that many rows
(x * most // rows, truncated towards zero); then at most `max_groups` of her groups are kept, by a keyed hash of person and group.

Why a person moves the totals by no more than is claimed. What she adds depends on her own rows and the salt alone: the sums
within (person, group) are exact integers, the choice is by a hash with ties decided by the group itself, never by position.
Within a group her total of a measure is at most most * reach, and of a family whose measures add up to at most G a row, at most
most * G: truncation towards zero only shrinks. There are at most `max_groups` such groups. Rows outside the declared keys, and
rows without a person, are dropped before anything is counted.
"""

from __future__ import annotations

from collections.abc import Sequence

from dither.query.engines.sql import cell as typed_cell
from dither.query.engines.sql import keys_of, measured, name, render
from dither.query.measure import Measure
from dither.query.plan import Plan


def totals_sql(plan: Plan, measures: Sequence[Measure], relation: str, salt: int) -> str:
    """The SELECT: columns g0.. (the group), then t0.. (its totals), one row a group that occurs."""
    keys = [f"g{place}" for place in range(len(plan.groups))]
    sums = [f"t{place}" for place in range(len(measures))]
    rows = _rows(plan, measures, relation, keys, sums)
    if plan.table.person is None:
        return _sum(f"({rows})", keys, sums)
    person = _persons(f"({rows})", keys, sums, plan.table.max_rows_per_group)
    chosen = person
    if plan.groups:
        chosen = _chosen(f"({person})", keys, sums, plan.table.max_groups, salt)
    return _sum(f"({chosen})", keys, sums)


def _rows(plan: Plan, measures: Sequence[Measure], relation: str, keys: list[str], sums: list[str]) -> str:
    """Rows that count: of a person, meeting the condition, in a declared group."""
    wanted = [f"{render(group.by)} AS {key}" for group, key in zip(plan.groups, keys, strict=True)]
    wanted += [f"{measured(measure)} AS {total}" for measure, total in zip(measures, sums, strict=True)]
    kept = [keys_of(render(group.by), group.keys) for group in plan.groups]
    if plan.table.person is not None:
        column = plan.table.column(plan.table.person)
        assert column is not None
        wanted.append(f"{typed_cell(column)} AS p")
        kept.append(f"({typed_cell(column)} IS NOT NULL)")
    if plan.where is not None:
        kept.append(render(plan.where))
    return f"SELECT {', '.join(wanted)} FROM {name(relation)}" + (f" WHERE {' AND '.join(kept)}" if kept else "")


def _persons(rows: str, keys: list[str], sums: list[str], most: int) -> str:
    by = ", ".join(["p", *keys])
    added = ", ".join(f"sum({total})::HUGEINT AS {total}" for total in sums)
    inner = f"SELECT {by}, count(*)::HUGEINT AS n, {added} FROM {rows} GROUP BY {by}"
    scaled = ", ".join(
        f"CASE WHEN n <= {most} THEN {total} ELSE ({total} * {most}::HUGEINT) // n END AS {total}" for total in sums
    )
    return f"SELECT {by}, {scaled} FROM ({inner})"


def _chosen(person: str, keys: list[str], sums: list[str], most: int, salt: int) -> str:
    by = ", ".join(keys)
    order = f"hash({salt}::UBIGINT, p, {by}), {by}"
    inner = f"SELECT {', '.join([*keys, *sums])}, row_number() OVER (PARTITION BY p ORDER BY {order}) AS place FROM {person}"
    return f"SELECT {', '.join([*keys, *sums])} FROM ({inner}) WHERE place <= {most}"


def _sum(rows: str, keys: list[str], sums: list[str]) -> str:
    added = ", ".join(f"coalesce(sum({total}), 0)::HUGEINT AS {total}" for total in sums)
    if not keys:
        return f"SELECT {added} FROM {rows}"
    return f"SELECT {', '.join([*keys, added])} FROM {rows} GROUP BY {', '.join(keys)}"
