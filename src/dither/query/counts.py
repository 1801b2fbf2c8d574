"""What is counted for an offer: one SELECT for all counters that bound a person in the same way, one
for each other statistic, in the groups that were chosen.

Totals are PRIVATE: only `release.py` asks for them, and gives them to the statistics that add noise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dither.query.counters.counter_sets import CounterSet
from dither.query.engines.engine import Run
from dither.query.engines.key_lists import KeyLists
from dither.query.engines.templates.relations import question_sql
from dither.query.engines.templates.totals import totals_sql
from dither.query.engines.words import Words
from dither.query.groups.group_choice import GroupChoice, GroupKeys, Groups, all_groups
from dither.query.plan.question import Question
from dither.query.plan.relations import Scan
from dither.query.pricing.offer import FoundLimits, Offer
from dither.query.statistics.bounding import Bounding
from dither.query.statistics.people_by_size import PeopleBySize
from dither.query.statistics.statistic import Counts, Statistic

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class TablePlaces:
    """Writes the SELECTs of bounded totals, each once, for tables whose place in FROM is given."""

    def __init__(
        self,
        words: Words,
        places: Mapping[str, str],
        texts: Mapping[str, frozenset[str]],
        salt: int | None = None,
        lists: KeyLists | None = None,
    ) -> None:
        self.words = words if lists is None else words.with_lists(lists)
        self.lists, self._places, self._texts = lists, places, texts  # what stands after FROM; columns that are held as text
        self._salt = words.salt if salt is None else salt
        self._written: dict[tuple[int, ...], tuple[str, object]] = {}  # by object: 1 equals True, but not in SQL

    def select(
        self,
        question: Question,
        families: Sequence[CounterSet],
        bounding: Bounding,
        packed: int | None = None,
        min_people: int = 1,
    ) -> str:
        """The SELECT of the totals of each group of so many people, with the contribution of a person bounded; `packed`: in
        lists of totals up to so many."""
        asked = question, bounding, *families
        which = (min_people, packed or 0, *map(id, asked))
        if which not in self._written:
            where, texts = self._rows(bounding.of if isinstance(bounding, PeopleBySize) else question)
            written = totals_sql(self.words, question, families, bounding, where, self._salt, texts, packed, min_people)
            self._written[which] = written, asked
        return self._written[which][0]

    def choice(self, choice: GroupChoice) -> str:
        """The SELECT by which groups are chosen."""
        return self.select(choice.question, (choice.counters,), choice.bounding, min_people=choice.min_people)

    def _rows(self, question: Question) -> tuple[str, frozenset[str]]:
        relation = question.relation
        if isinstance(relation, Scan):
            return self._places[relation.table.name], self._texts[relation.table.name]
        found = {table: (place, self._texts[table]) for table, place in self._places.items()}
        return f"({question_sql(self.words, question, found)})", frozenset()


@dataclass(frozen=True)
class Count:
    """One SELECT of bounded totals: what it counts, in which groups, and which statistics get the totals."""

    question: Question
    bounding: Bounding
    cells: Sequence[GroupKeys] | None  # those of the question that were chosen; None for all that were declared
    statistics: tuple[Statistic, ...]
    packed: int | None = None  # the largest count, where one statistic takes a table of counts: `cells` are its rows
    by_holders: bool = False  # whether the last group is how many people hold a value: `cells` are those of all others

    @property
    def sets(self) -> tuple[CounterSet, ...]:
        """What is counted for each statistic."""
        return tuple(statistic.counters for statistic in self.statistics)

    def select(self, place: TablePlaces) -> str:
        """The SELECT."""
        return place.select(self.question, self.sets, self.bounding, self.packed)

    def read(self, run: Run, place: TablePlaces) -> Iterator[tuple[Statistic, Any]]:
        """The exact counts of each statistic. PRIVATE: only noise may see them."""
        if self.packed is not None:
            return iter([(self.statistics[0], exact_table(run, self.select(place), self.question, self.cells))])
        if self.by_holders:
            return iter([(self.statistics[0], exact_holders(run, self.select(place), self.question, self.cells))])
        totals = exact_totals(run, place, self.question, self.sets, self.bounding, self.cells)
        return self.split(totals)

    def split(self, totals: Sequence[tuple[int, ...]]) -> Iterator[tuple[Statistic, Counts]]:
        """The counts of each statistic, for each group of the question."""
        first, *_ = self.statistics
        if first.within:
            size = len(first.question.groups[-1].listed)
            yield first, [[int(count) for (count,) in totals[at : at + size]] for at in range(0, len(totals), size)]
            return
        place = 0
        for statistic in self.statistics:
            last = place + len(statistic.counters.measures)
            yield statistic, [row[place:last] for row in totals]
            place = last


def counts_of(offer: Offer, chosen: Groups) -> list[Count]:
    """What is counted for an offer, in the groups that were chosen: counters together, each other statistic by itself."""
    counters = offer.counters
    found = [
        Count(chosen.question, bounding, chosen.cells, tuple(one for one in counters if one.bounding == bounding))
        for bounding in dict.fromkeys(one.bounding for one in counters)
    ]
    for one in offer.others:
        if one.of_choice:
            continue
        if not one.within:
            found.append(Count(chosen.question, one.bounding, chosen.cells, (one,)))
        elif one.by_holders:
            asked = replace(one.question, groups=(*chosen.question.groups, one.question.groups[-1]))
            found.append(Count(asked, one.bounding, chosen.cells, (one,), by_holders=True))
        elif offer.choice is None:
            found.append(Count(one.question, one.bounding, None, (one,), one.packed))
        else:
            inner = one.question.groups[-1]
            cells = [(*cell, key) for cell in chosen.cells for key in inner.listed] if one.packed is None else chosen.cells
            asked = replace(one.question, groups=(*chosen.question.groups, inner))
            found.append(Count(asked, one.bounding, cells, (one,), one.packed))
    return found


def histograms_of(found: FoundLimits) -> list[Count]:
    """What is counted to find limits: people of each size."""
    return [Count(one.question, one.bounding, None, (one,)) for one in found.histograms]


def exact_totals(
    run: Run,
    place: TablePlaces,
    question: Question,
    families: Sequence[CounterSet],
    bounding: Bounding,
    cells: Sequence[GroupKeys] | None = None,
) -> list[tuple[int, ...]]:
    """The totals of every group, in order, zeros where the data has nothing. PRIVATE: only noise may see it.

    Groups are all combinations of declared keys, or the `cells` that were chosen.
    """
    width = len(question.groups)
    if cells is None:
        cells = all_groups(question).cells
    if not cells:
        return []
    declared = set(cells)
    found = run(place.select(question, families, bounding), lambda row: row[:width] in declared)
    totals = {row[:width]: row[width:] for row in found}
    if len(totals) != len(found):  # two groups of the engine's that Python takes for one: one would hide the other
        raise RuntimeError("the engine gave a group twice")
    nothing = (0,) * sum(len(family.measures) for family in families)
    return [totals.get(cell, nothing) for cell in cells]


def exact_holders(run: Run, select: str, question: Question, cells: Sequence[GroupKeys] | None) -> list[dict[int, int]]:
    """For each group of the question but the last: how many values so many people hold. PRIVATE: only noise may see it."""
    width = len(question.groups) - 1
    cells = all_groups(replace(question, groups=question.groups[:-1])).cells if cells is None else cells
    places = {cell: place for place, cell in enumerate(cells)}
    held: list[dict[int, int]] = [{} for _ in cells]
    for row in run(select, lambda row: row[:width] in places) if cells else []:
        own, people = held[places[row[:width]]], int(row[width])
        if people in own:
            raise RuntimeError("the engine gave a group twice")
        own[people] = int(row[-1])
    return held


def exact_table(run: Run, select: str, question: Question, cells: Sequence[GroupKeys] | None) -> NDArray[np.int64]:
    """The counts of a packed SELECT: a row for each group of the question but the last, a column for each key of that one.

    Zeros where the data has nothing. PRIVATE: only noise may see it.
    """
    import numpy as np

    width, size = len(question.groups) - 1, len(question.groups[-1].listed)
    if cells is None:
        cells = all_groups(replace(question, groups=question.groups[:-1])).cells
    if not cells:  # no group was chosen: there is nothing to ask, and a list of no keys is no SQL
        return np.zeros((0, size), dtype=np.int64)
    places = {cell: place for place, cell in enumerate(cells)}
    found = run(select, lambda row: row[:width] in places)
    if len({row[:width] for row in found}) != len(found):
        raise RuntimeError("the engine gave a group twice")
    table = np.zeros((len(cells), size), dtype=np.int64)
    for row in found:
        if row[width] is not None:  # the one row without groups, of nothing
            counts, keys = np.divmod(np.array(row[width], dtype=np.int64), size)
            table[places[row[:width]], keys] = counts
    return table
