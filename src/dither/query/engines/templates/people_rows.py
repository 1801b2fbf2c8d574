"""Rows of people as the SELECTs of bounded totals read them: keys, whose a row is, and the steps of values."""

from __future__ import annotations

from collections.abc import Sequence

from dither.query.counters.counter_sets import CounterSet
from dither.query.engines.templates.counter_sums import Sums, counter_sum, read_steps, read_value
from dither.query.engines.templates.expressions import person, render
from dither.query.engines.templates.group_keys import key
from dither.query.engines.words import Words
from dither.query.plan.counters import Counter, ValueCounter
from dither.query.plan.question import Question
from dither.query.statistics.bounding import Bounding, EachRow


class Shape:
    """Names and columns that all parts of the SELECT share."""

    def __init__(self, words: Words, question: Question, families: Sequence[CounterSet], bounding: Bounding) -> None:
        self.words, self.question, self.families, self.bounding = words, question, families, bounding
        self.measures = [measure for family in families for measure in family.measures]
        self.keys = [f"g{place}" for place in range(len(question.groups))]
        self.totals = [f"t{place}" for place in range(len(self.measures))]
        self.columns: list[Counter] = []
        for measure in sorted(self.measures, key=lambda measure: isinstance(measure, ValueCounter)):
            if measure.base is not None and not any(measure.follows_from(column) for column in self.columns):
                self.columns.append(measure.base)

    def measured(self, measure: Counter, rows: str, count: str, added: str) -> str:
        """A measure from the number of rows, the count and the sum of its column; `{}` stands for the column."""
        places = (f"x{place}" for place, column in enumerate(self.columns) if measure.follows_from(column))
        x = "" if measure.base is None else next(places)
        return counter_sum(Sums(self.words, measure, rows, isinstance(self.bounding, EachRow), x, count, added))

    def all_measured(self, rows: str, count: str, added: str) -> list[str]:
        """All measures, named."""
        return [
            f"{self.words.wide(f'({self.measured(measure, rows, count, added)})')} AS {total}"
            for measure, total in zip(self.measures, self.totals, strict=True)
        ]


def rows_of_people(shape: Shape, relation: str, texts: frozenset[str]) -> str:
    """Rows of a person, meeting the condition; a key that is not declared is NULL.

    Where each row is a person, rows of other groups need not be dropped: they have groups of their own, which do not leave
    the engine (`_declared` of `templates/totals.py`).
    """
    words, question, alone = shape.words, shape.question, isinstance(shape.bounding, EachRow)
    spell = [
        render(words, group.by)
        if alone and group.keys and isinstance(group.keys[0], str)
        else key(words, group.by, group.keys)
        for group in question.groups
    ]
    inner = [f"{by} AS {name}" for by, name in zip(spell, shape.keys, strict=True)]
    outer = list(shape.keys)
    kept = []
    for place, column in enumerate(shape.columns):
        inner += read_value(words, column, place)
        outer.append(read_steps(words, column, place))
    if question.table.person is not None:
        whose = question.table.column(question.table.person)
        assert whose is not None
        inner.append(f"{person(words, whose, is_text=whose.name in texts)} AS p")
        outer.append("p")
        kept.append("p IS NOT NULL")
    where = "" if question.where is None else f" WHERE {render(words, question.where)}"
    read = f"SELECT {', '.join(inner) or '1'} FROM {relation} AS source{where}"
    if not outer:
        return read
    return f"SELECT {', '.join(outer)} FROM ({words.computed_once(read)}) AS e" + (
        f" WHERE {' AND '.join(kept)}" if kept else ""
    )


def totals_of_people(shape: Shape, rows: str, mine: Sequence[str] | None = None) -> str:
    """What each person adds to each group; `mine`: other totals of hers than all counters."""
    by, number = ["p", *shape.keys], f"count({shape.keys[0]})" if shape.keys else "count(*)"
    if mine is None:
        mine = shape.all_measured(number, "count({})", or_zero(shape.words.narrow_total("{}")))
    # as counts, these conditions stay above the grouping; a group of rows has one key, so that each is all or nothing
    declared = " AND ".join(f"count({name}) > 0" for name in shape.keys)
    person = f"SELECT {', '.join([*by, f'{number} AS n', *mine])} FROM ({rows}) AS r GROUP BY {', '.join(by)}"
    return f"{person} HAVING {declared}" if declared else person


def or_zero(total: str) -> str:
    """A sum of nothing is zero."""
    return f"coalesce({total}, 0)"


def group_totals(keys: list[str], added: list[str], rows: str) -> str:
    """The SELECT that adds up rows, group by group."""
    by = f" GROUP BY {', '.join(keys)}" if keys else ""
    return f"SELECT {', '.join([*keys, *added])} FROM {rows}{by}"
