"""Integer totals a group, bounded a person: the one SELECT that runs on private rows.

Rows are read into one column x for each expression (its steps, or NULL), from which all measures follow
(`templates/counter_sums.py`). Squares are taken of at most 2^10 steps (`plan/lattice.py`): with weights they are at most
LARGEST of bounding.py, and fit into 64 bits; sums are of 128.

Why a person moves the totals by no more than `statistics/bounding.py` claims. In all ways what a person adds depends on
her own rows and on the salt alone, is made of exact integers, and never depends on the position of a row. Rows that do not
meet the condition, rows without a person and rows outside the declared keys are dropped before anything of a person is
bounded: the last after their key was read (NULL for all of them), since as a condition of the first read it would be read
twice.

weights   w = min(K, C K // n) for her n rows, K the resolution: her rows together weigh at most n (C K // n) <= C K, and
          each moves a family by at most w reach in L1 norm. Counters are linear in rows, so that w times her total of a
          group is the sum of w times what each of her rows adds: an engine of many machines weighs totals, of which there
          are fewer (`_weighted_totals`). In both forms n counts her rows in declared groups, and so w is the same.
clip, clip sum   See `engines/templates/clip.py`.
groups    Her totals in a group with n > R rows become t R // n, truncated towards zero: at most R reach, and of a family
          at most R reach together. She keeps at most max_groups groups: first by a hash of salt, person and group, then by
          the group itself, so that no tie is left to the engine.
values    Of her different pairs of group and value she keeps at most so many: first by a hash of salt, person, group and
          value, then by group and value. What is left is counted once in each group, whoever has it; or, `holders`, the
        people of each value, and then the values with so many people.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dither.query.counters.counter_sets import CounterSet
from dither.query.engines.templates.clip import clipped
from dither.query.engines.templates.counters import LARGEST, holds_integers
from dither.query.engines.templates.people_rows import Shape, group_totals, or_zero, rows_of_people, totals_of_people
from dither.query.engines.templates.people_sizes import by_groups, by_rows, by_sums, by_values
from dither.query.engines.words import SMALL, Words
from dither.query.plan.question import Question
from dither.query.policy.column import Key, Type
from dither.query.statistics.bounding import Bounding, Clip, ClipSum, EachRow, KeepGroups, KeepPersons, Weights
from dither.query.statistics.distinct_values import KeepHolders, KeepPairs, KeepValues
from dither.query.statistics.people_by_size import (
    PeopleByGroups,
    PeopleByRows,
    PeopleBySize,
    PeopleBySums,
    PeopleByValues,
)


def totals_sql(
    words: Words,
    question: Question,
    families: Sequence[CounterSet],
    bounding: Bounding,
    relation: str,
    salt: int | str,
    texts: frozenset[str] = frozenset(),
    packed: int | None = None,
    min_people: int = 1,
) -> str:
    """The SELECT: columns g0.. (the group), then t0.. (its totals), one row a group that occurs. Reads `relation` once.

    `texts` are the columns that the source holds as text, `salt` a number or what the engine knows it by; `packed`, if there
    is one total, the most that is told of it in a list for each group of all keys but the last (`_packed`). Groups whose
    first total, the number of people, is below `min_people` stay in the engine.
    """
    if isinstance(bounding, PeopleBySize):
        question, families = bounding.of, bounding.families
    shape = Shape(words, question, families, bounding)
    rows = rows_of_people(shape, relation, texts)
    if packed is None:
        select = SELECTS[type(bounding)](shape, bounding, rows, salt)
        if min_people == 1:
            return select
        assert shape.measures[0] == bounding.people, "groups are left out by the number of their people"
        # HAVING, above the bounding; not all engines know there what a total is called
        return f"SELECT * FROM ({select}) AS counted WHERE {shape.totals[0]} >= {words.integer(min_people)}"
    alone = isinstance(bounding, EachRow)  # its undeclared texts are looked at once a list, not once a total
    return _packed(shape, _added(shape, rows) if alone else SELECTS[type(bounding)](shape, bounding, rows, salt), packed)


def _packed(shape: Shape, select: str, most: int) -> str:
    """The totals of a SELECT whose last key is a whole number c, 0 to n - 1, in one row for each group of the other keys:
    a list of t n + c, in any order, for each total t; what is more than `most` counts as that, and n most fits 64 bits.

    Rows outside the declared keys have groups of their own and are let go here. A list costs a fraction of as many rows.
    """
    words, keys, size = shape.words, shape.keys, len(shape.question.groups[-1].listed)
    total = words.least(["t0", words.wide(str(most))])
    packed = words.collected(words.narrow(f"({total} * {size} + {keys[-1]})"))
    known = " AND ".join(f"{name} IS NOT NULL" for name in keys)
    found = group_totals(keys[:-1], [f"{packed} AS t0"], f"({select}) AS counted WHERE {known}")
    texts = " AND ".join(words.among(name, texts) for name, texts in zip(keys, _texts(shape), strict=True) if texts)
    return f"{found} HAVING {texts}" if texts else found


def _each_row(shape: Shape, bounding: EachRow, rows: str, salt: int | str) -> str:
    return _declared(shape, _added(shape, rows))


def _added(shape: Shape, rows: str) -> str:
    """Totals of rows, of which each is a person."""
    added = shape.all_measured("count(*)", "count({})", or_zero(shape.words.narrow_total("{}")))
    return group_totals(shape.keys, added, f"({rows}) AS r")


def _texts(shape: Shape) -> list[tuple[Key, ...]]:
    """Of each key, the declared texts, where `rows_of_people` leaves it to a later SELECT to look; otherwise nothing."""
    alone = isinstance(shape.bounding, EachRow)
    return [
        group.keys if alone and group.keys is not None and isinstance(group.keys[0], str) else ()
        for group in shape.question.groups
    ]


def _declared(shape: Shape, grouped: str) -> str:
    """Totals of rows without the texts of groups that nobody declared, of which there may be as many as rows.

    Theorem. What is released has the same law with these groups and without them.
    Proof. The statistics get the totals of declared cells alone (`counts.exact_totals`), and no cell holds such a text. A
    text that is not UTF-8 has no counterpart in Python, and is left out here as well: no row makes the release fail.

    It is a condition on groups that also names a count: an engine would move one on keys alone to the rows, and look at a
    list of texts once a row.
    """
    lists = zip(shape.keys, _texts(shape), strict=True)
    inside = " AND ".join(shape.words.among(name, texts) for name, texts in lists if texts)
    return f"{grouped} HAVING CASE WHEN count(*) > 0 THEN {inside} END" if inside else grouped


def _weighted(shape: Shape, bounding: Weights, rows: str, salt: int | str) -> str:
    words = shape.words
    if words.distributed:
        return _weighted_totals(shape, bounding, rows)
    most, finest = bounding.most * bounding.resolution, bounding.resolution
    declared = " AND ".join(f"{name} IS NOT NULL" for name in shape.keys)
    inside = f" WHERE {declared}" if declared else ""
    weight = words.least([words.integer(finest), words.divide(words.integer(most), "count(*)")])
    weights = f"SELECT p, {words.narrow(weight)} AS w FROM r{inside} GROUP BY p"
    # a product is at most LARGEST of bounding.py: it fits into 64 bits
    here, product = words.narrow_total("CASE WHEN {} IS NOT NULL THEN w END"), words.narrow_total("({} * w)")
    added = shape.all_measured(or_zero(words.narrow_total("w")), or_zero(here), or_zero(product))
    grouped = group_totals(shape.keys, added, f"r JOIN ({weights}) AS weights USING (p){inside}")
    return f"WITH {words.materialized('r', rows)} {grouped}"


def _weighted_totals(shape: Shape, bounding: Weights, rows: str) -> str:
    """The same whole numbers from the totals of each person in each group: no row is joined with anything.

    Where her counts and sums are proved to fit into 64 bits, also times her weight, they are weighed, and counters follow
    from what is added up; otherwise her counters are, which are wide.
    """
    words = shape.words
    most, finest = bounding.most * bounding.resolution, bounding.resolution
    weight = words.least([words.integer(finest), words.divide(words.integer(most), "sum(n) OVER (PARTITION BY p)")])
    count, total = (or_zero(words.narrow_total(f"({words.name(of)} * w)")) for of in ("count of {}", "sum of {}"))
    added, sums = shape.all_measured(or_zero(words.narrow_total("(n * w)")), count, total), _reaches(shape)
    used = {sql: reach for sql, reach in sums.items() if words.name(f"sum of {sql}") in " ".join(added)}
    if all(reach < SMALL and reach * most < LARGEST for reach in (1, *used.values())):
        mine = [f"count({sql}) AS {words.name(f'count of {sql}')}" for sql in sums if "*" not in sql]
        for sql, reach in used.items():
            mine.append(f"{words.narrow(or_zero(words.narrow_total(sql, most=reach)))} AS {words.name(f'sum of {sql}')}")
        weights = f"SELECT *, {words.narrow(weight)} AS w FROM ({totals_of_people(shape, rows, mine)}) AS mine"
        return group_totals(shape.keys, added, f"({weights}) AS weighed")
    weights = f"SELECT *, {words.narrow(weight)} AS w FROM ({totals_of_people(shape, rows)}) AS mine"
    # |w t| is at most the claim; where that fits, so does the product
    fits = all(bounding.l1(family) < LARGEST for family in shape.families)
    added = [
        words.narrow_total(f"({words.narrow(total)} * w)") if fits else words.total(f"{total} * w") for total in shape.totals
    ]
    named = [f"{words.wide(or_zero(one))} AS {total}" for one, total in zip(added, shape.totals, strict=True)]
    return group_totals(shape.keys, named, f"({weights}) AS weighed")


def _reaches(shape: Shape) -> dict[str, int]:
    """What may be added up of a row, each with the largest size of it: x and y, their squares and their product."""
    found = dict[str, int]()
    for place, column in enumerate(shape.columns):
        axes = [(f"{axis}{place}", of.reach) for axis, of in zip("xy", column.axes, strict=False)]
        found |= dict(axes)
        found |= {f"({one} * {other})": a * b for at, (one, a) in enumerate(axes) for other, b in axes[at:]}
    return found


def _clipped(shape: Shape, bounding: Clip | ClipSum, rows: str, salt: int | str) -> str:
    return clipped(shape.words, shape.keys, shape.totals, shape.families, bounding, totals_of_people(shape, rows))


def _chosen(shape: Shape, bounding: KeepGroups, rows: str, salt: int | str) -> str:
    words, most, person = shape.words, bounding.rows, totals_of_people(shape, rows)
    scaled = [
        total
        if measure.counts_persons
        else f"CASE WHEN n <= {most} THEN {total} ELSE {words.divide(f'{total} * {most}', 'n')} END"
        for total, measure in zip(shape.totals, shape.measures, strict=True)
    ]
    added = [_summed(words, part, total) for part, total in zip(scaled, shape.totals, strict=True)]
    if not shape.keys:
        return group_totals([], added, f"({person}) AS mine")
    order = ", ".join([words.order(salt, ["p", *_hashed(shape)]), *shape.keys])
    placed = f"SELECT *, row_number() OVER (PARTITION BY p ORDER BY {order}) AS place FROM ({person}) AS mine"
    return group_totals(shape.keys, added, f"({placed}) AS placed WHERE place <= {bounding.groups}")


def _hashed(shape: Shape) -> list[str]:
    """Keys as they are hashed: whole numbers that are doubles as whole numbers, of which engines write the same text."""
    return [
        shape.words.whole(name) if group.by.facts.type is Type.INTEGER and not holds_integers(group.by) else name
        for name, group in zip(shape.keys, shape.question.groups, strict=True)
    ]


def _values(shape: Shape, bounding: KeepValues, rows: str, salt: int | str) -> str:
    counted = shape.all_measured("count(*)", "count({})", "sum({})")
    return group_totals(shape.keys, counted, _kept_pairs(shape, shape.keys, bounding, rows, salt))


def _kept_pairs(shape: Shape, keys: list[str], bounding: KeepPairs, rows: str, salt: int | str) -> str:
    """The pairs of a group and a value that count of each person, to stand after FROM."""
    pair = [*keys, "x0"]
    pairs = f"SELECT p, {', '.join(pair)} FROM ({rows}) AS r GROUP BY p, {', '.join(pair)} HAVING {_there(pair)}"
    order = ", ".join([shape.words.order(salt, ["p", *_hashed(shape)[: len(keys)], "x0"]), *pair])
    placed = f"SELECT *, row_number() OVER (PARTITION BY p ORDER BY {order}) AS place FROM ({pairs}) AS mine"
    return f"({placed}) AS placed WHERE place <= {bounding.groups}"


def _there(names: list[str]) -> str:
    return " AND ".join(f"count({name}) > 0" for name in names)


def _holders(shape: Shape, bounding: KeepHolders, rows: str, salt: int | str) -> str:
    """By group and number of people: how many values so many people hold. Where each row is a person, it holds its value."""
    *keys, people = shape.keys
    pair, least = [*keys, "x0"], shape.words.integer(bounding.min_people)
    each_row = shape.question.table.person is None
    kept = f"({rows}) AS r" if each_row else _kept_pairs(shape, keys, bounding, rows, salt)
    held = f"SELECT {', '.join([*keys, f'count(*) AS {people}'])} FROM {kept} GROUP BY {', '.join(pair)}"
    held += f" HAVING count(*) >= {least} AND {_there(pair)}"
    return group_totals(shape.keys, [f"{shape.words.wide('count(*)')} AS t0"], f"({held}) AS held")


def _summed(words: Words, part: str, total: str) -> str:
    return f"{words.wide(or_zero(words.total(part)))} AS {total}"


SELECTS: dict[type[Bounding], Callable[[Shape, Any, str, int | str], str]] = {
    EachRow: _each_row,
    Weights: _weighted,
    Clip: _clipped,
    ClipSum: _clipped,
    KeepGroups: _chosen,
    KeepPersons: _chosen,
    PeopleByRows: by_rows,
    PeopleByGroups: by_groups,
    PeopleBySums: by_sums,
    PeopleByValues: by_values,
    KeepValues: _values,
    KeepHolders: _holders,
}
