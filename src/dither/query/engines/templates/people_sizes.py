"""How many people there are of each size: the SELECTs of `statistics/people_by_size.py`.

What a person's size is depends on her own rows that meet the condition and are in declared groups, and on nothing else; each
person is in one kind, the number of edges that her size is above, and those of kind 0 are not told.

rows      her rows: n, or the squares of her rows in each group, added up
groups    the groups that she is in
sums      what the steps of a value add up to in each group: their absolute values, or their squares, added up; the total of
          a group is cut at 2^52 first, so that 2^20 squares fit into 127 bits
values    the largest of her steps, or the largest of those taken negative; whoever has no value has no size
"""

from __future__ import annotations

from dither.query.engines.templates.clip import WIDEST
from dither.query.engines.templates.people_rows import Shape, totals_of_people
from dither.query.engines.words import Words
from dither.query.statistics.people_by_size import PeopleByGroups, PeopleByRows, PeopleBySize, PeopleBySums, PeopleByValues


def by_rows(shape: Shape, bounding: PeopleByRows, rows: str, salt: int | str) -> str:
    """By their rows, or by the squares of their rows in each group, added up."""
    words, by = shape.words, ", ".join(["p", *(shape.keys if bounding.squared else [])])
    mine = f"SELECT {by}, count(*) AS n FROM ({rows}) AS r{_declared(shape)} GROUP BY {by}"
    if bounding.squared:  # at most the square of a count of 64 bits
        square = words.total(f"{words.wide('n')} * n")
        return _counted(words, bounding, f"SELECT p, {square} AS s FROM ({mine}) AS mine GROUP BY p")
    return _counted(words, bounding, f"SELECT p, {words.wide('n')} AS s FROM ({mine}) AS mine")


def by_groups(shape: Shape, bounding: PeopleByGroups, rows: str, salt: int | str) -> str:
    """By the groups that they are in."""
    words = shape.words
    there = totals_of_people(shape, rows)
    return _counted(words, bounding, f"SELECT p, {words.wide('count(*)')} AS s FROM ({there}) AS mine GROUP BY p")


def by_sums(shape: Shape, bounding: PeopleBySums, rows: str, salt: int | str) -> str:
    """By what their values add up to."""
    words = shape.words
    cut = words.narrow(words.least([words.greatest(["t0", str(-WIDEST)]), str(WIDEST)]))
    mine = f"SELECT p, {cut} AS t FROM ({totals_of_people(shape, rows)}) AS mine"
    size = f"{words.wide('t')} * t" if bounding.squared else f"abs({words.wide('t')})"
    return _counted(words, bounding, f"SELECT p, {words.wide(words.total(size))} AS s FROM ({mine}) AS cut GROUP BY p")


def by_values(shape: Shape, bounding: PeopleByValues, rows: str, salt: int | str) -> str:
    """By the largest of their values."""
    words, step = shape.words, "-x0" if bounding.negative else "x0"
    kept = f"SELECT * FROM ({rows}) AS r{_declared(shape)}"
    if shape.question.table.person is None:
        return _counted(words, bounding, f"SELECT {words.wide(step)} AS s FROM ({kept}) AS mine")
    return _counted(words, bounding, f"SELECT p, {words.wide(f'max({step})')} AS s FROM ({kept}) AS mine GROUP BY p")


def _declared(shape: Shape) -> str:
    """Rows in declared groups."""
    there = " AND ".join(f"{name} IS NOT NULL" for name in shape.keys)
    return f" WHERE {there}" if there else ""


def _counted(words: Words, bounding: PeopleBySize, sizes: str) -> str:
    """How many there are of each kind, given the size s of each."""
    above = list(enumerate(bounding.edges, 1))
    kinds = " ".join(f"WHEN s > {words.wide(str(edge))} THEN {words.integer(kind)}" for kind, edge in reversed(above))
    placed = f"SELECT CASE {kinds} END AS g0 FROM ({sizes}) AS sizes"
    return f"SELECT g0, {words.wide('count(*)')} AS t0 FROM ({placed}) AS placed GROUP BY g0"
