"""Keys that nobody declared: those that enough people hold are shown, and the question is about them.

Stage one counts how many people hold each key (each tuple of keys, where there are several such columns) among the rows
that meet the condition, at most max_groups keys of a person, chosen by a keyed hash; where each row is a person, she holds
one. A rule of `dither.density` decides which are shown. NULL is no key, and neither is a text of more than 500 characters,
nor a day before the year 1 or after 9999. A key that is not shown and a key that nobody holds look the same: nothing is said
of either.

Which rule. Where rho counts, `RhoKeys` or `TruncatedRhoKeys`, whose prices are in rho; otherwise those of `density.keys`. Of
these the one that needs the fewest holders, by public facts. A key that fewer than `min_people` of the policy hold is never
shown: the engine leaves it out, having bounded people, in the SELECT whose counts get the noise, so that 10^8 keys of one
person each never come to Python. The rule holds that for certain as well, whatever it is given.

Theorem. What is released has the same law whether the engine leaves keys of fewer than m = `min_people` out or not.
Proof. A rule decides about each key by itself, and shows none of fewer than m holders, whatever is drawn. So what it shows
of the others does not depend on those keys, and a question about keys that are shown reads the totals of these alone.

(With min_people = 1, that any key is shown which one person alone holds has a probability of at most delta, for all of her
keys together; then all keys come to Python.)

Where people are all that is counted, the noisy counts of stage one are the answer: they get the whole price.

Others. With `other` all rows whose key is not shown are counted in one group more, which bounding treats as any other. Keys
are then those of `CASE WHEN key is shown THEN key ELSE others END`: a function of a single row.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any, ClassVar

from dither.density.unknown_keys.choose import rule_at
from dither.density.unknown_keys.key_rule import KeyRule
from dither.errors import QuestionError
from dither.numeric.balls import round_up
from dither.numeric.number import Number
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.loss.loss import Loss
from dither.privacy.unit import Unit
from dither.query.counters.counter_sets import CounterSet
from dither.query.engines.templates.group_keys import LONGEST_KEY
from dither.query.groups.group_choice import GroupChoice, Groups, Row, only, read_key, unknown_groups, written
from dither.query.groups.group_choice import GroupKeys as Keys
from dither.query.plan.base import Expression
from dither.query.plan.expressions import Case, ColumnValue, Compare, Constant, InList, Logic
from dither.query.plan.question import Group, Question
from dither.query.plan.spelling import spell
from dither.query.plan.text import number
from dither.query.policy.column import Key, Type
from dither.query.statistics.bounding import Bounding, EachRow, KeepPersons
from dither.query.statistics.limits import MANY, hard_limits, limits_of
from dither.query.statistics.statistic import counted

MOST_SHOWN = 100_000  # keys of an answer
LONGEST_LIST = 16_000_000  # characters of all keys of an answer: it must fit into an entry of the ledger
MADE_UP: dict[Type, Key] = {Type.TEXT: "a", Type.INTEGER: 0, Type.BOOLEAN: False, Type.DATE: datetime.date(2000, 1, 1)}


@dataclass(frozen=True)
class UnknownKeys(GroupChoice):
    """Which keys are shown of columns whose keys nobody declared."""

    code: ClassVar[str] = "unknown_keys"

    rule: KeyRule
    other: str | None  # what rows of all other keys are called together
    most: int  # keys that are shown at most, the first in order

    @classmethod
    def make(
        cls,
        question: Question,
        amount: Number | Fraction,
        *,
        pure: bool,
        delta: Fraction,
        unit: Unit,
        other: str | None,
        most: int,
        counts: bool,
    ) -> UnknownKeys:
        """The choice at its price: epsilon where `pure`, otherwise rho; `counts` where they are to be read off it."""
        table = question.table
        alone = table.person is None or table.alone
        held = 1 if alone else limits_of(table, MANY).groups
        facts: dict[str, Any] = {"delta": delta, "max_keys": held, "unit": unit, "min_people": table.min_people}
        rule = rule_at(amount, pure=pure, counts=counts, **facts)
        reason = "how many people hold a key is all that is counted"
        bounding: Bounding = EachRow.of(unit) if alone else KeepPersons(held, 1, 1, unit, reason)
        if not alone:
            bounding = replace(bounding, complete=bounding.loses_nothing(hard_limits(table, MANY)))
        return cls(_counted(question, other), bounding, rule, other, most)

    @property
    def counters(self) -> CounterSet:
        """People; rows where each is one."""
        return CounterSet((self.bounding.people,))

    @property
    def min_people(self) -> int:
        """Those that the policy asks for."""
        return self.rule.min_people

    @property
    def guarantee(self) -> Guarantee:
        """That of the rule."""
        return self.rule.guarantee

    def loss(self) -> Loss:
        """That of the rule."""
        return self.rule.guarantee.loss()

    def spelled(self) -> dict[str, object]:
        """The rule, and what is done with other keys."""
        return {"noise": spell(self.rule), "other": self.other, "most": self.most}

    def keeps(self, row: Row) -> bool:
        """A key that is there."""
        return None not in row[: len(self.question.groups)]

    def noisy(self, rows: Sequence[Row]) -> dict[str, Any]:
        """The keys that are shown, in order, and their noisy counts where the rule tells them."""
        width = len(self.question.groups)
        ordered = sorted(rows, key=lambda row: repr(row[:width]))  # never the engine's order, which changes from run to run
        held = {row[:width]: int(row[width]) for row in ordered}
        if len(held) != len(rows):  # two keys of the engine's that Python takes for one
            raise RuntimeError("the engine gave a key twice")
        found = self.rule.release(held)
        listed, left = [], LONGEST_LIST
        for keys in list(found)[: self.most]:
            spelled = [written(key) for key in keys]
            left -= len(json.dumps(spelled))
            if left < 0:
                break
            listed.append(spelled)
        counts = [int(found[key]) for key in list(found)[: len(listed)]] if isinstance(found, dict) else None
        return {"keys": listed, "counts": counts}

    def chosen(self, question: Question, released: Any) -> Groups:
        """Declared keys, each beside every key that is shown."""
        by = [group.by for group in self.question.groups]
        shown: list[Keys] = [tuple(map(read_key, keys, by)) for keys in released["keys"]]
        return self._beside(question, shown)

    def rehearsed(self, question: Question) -> Groups:
        """One made-up key of each type; a text that is not the label of all others, as no key that is shown is."""
        made = {**MADE_UP, Type.TEXT: "b"} if self.other == MADE_UP[Type.TEXT] else MADE_UP
        return self._beside(question, [tuple(made[group.by.facts.type] for group in self.question.groups)])

    def _beside(self, question: Question, shown: list[Keys]) -> Groups:
        if self.other is None:
            cells = _cells(question, shown)
            return only(question, cells)
        (group,), listed = self.question.groups, [keys[0] for keys in shown]
        label = _stand_in(group.by, listed, self.other)
        sorted_out = Group(
            group.name, _or_other(group.by, listed, label), (*(key for key in listed if key is not None), label)
        )
        asked = replace(question, groups=tuple(sorted_out if one.keys is None else one for one in question.groups))
        cells = _cells(question, [*shown, (label,)])
        named = self.other if group.by.facts.type is Type.TEXT else None
        return Groups(asked, tuple(cells), tuple(_cells(question, [*shown, (named,)])))

    def told(self, question: Question) -> list[str]:
        """Who sees which keys."""
        rule, names = self.rule, " and ".join(group.name for group in self.question.groups)
        each = "one key" if rule.max_keys == 1 else f"{rule.max_keys} keys"
        delta = f"{round_up(rule.delta):.3g}"
        alone = f"that any key is shown that one person alone holds has a probability of at most {delta}"
        if rule.min_people > 1:
            alone = f"a key that fewer than {number(rule.min_people)} people hold is never shown (min_people)"
        return [
            f"Keys       nobody declared those of {names}: which are shown is chosen from the data ({rule.guarantee})",
            f"           a key is shown half of the time if {number(rule.holders('0.5'))} people hold it, "
            f"nine times of ten if {number(rule.holders('0.9'))} do",
            f"           {alone}; at most {each} of a person count{'s' if rule.max_keys == 1 else ''}",
            f"           missing keys and texts of more than {LONGEST_KEY} characters are no keys; at most "
            f"{number(self.most)} are shown, the first in order",
        ]

    def rows(self, question: Question) -> str:
        """Declared keys, and those that are shown."""
        told = [
            f"{group.name} that is shown" if group.keys is None else f"{len(group.keys)} {group.name}"
            for group in question.groups
        ]
        others = "" if self.other is None else ", and one for all others together"
        return f"one for each of {' x '.join(told)}{others}"


def _counted(question: Question, other: str | None) -> Question:
    """How many people hold each key, among rows that the question counts."""
    unknown = unknown_groups(question)
    conditions = [] if question.where is None else [question.where]
    for group in question.groups:
        if group.keys is not None:
            conditions.append(InList(group.by, tuple(_constant(key) for key in group.keys)))
        elif other is not None and group.by.facts.type is Type.TEXT:
            conditions.append(Compare("<>", group.by, Constant(other)))
    where = Logic(True, tuple(conditions)) if len(conditions) > 1 else conditions[0] if conditions else None
    return counted(replace(question, where=where), unknown)


def _constant(key: Key) -> Constant:
    return Constant(Fraction(key) if isinstance(key, int) and not isinstance(key, bool) else key)


def _cells(question: Question, shown: list[Keys]) -> list[Keys]:
    """Every combination of declared keys with the keys that are shown, sorted by the columns of GROUP BY."""
    unknown = [place for place, group in enumerate(question.groups) if group.keys is None]
    known = [place for place, group in enumerate(question.groups) if group.keys is not None]
    ranks = {keys: rank for rank, keys in enumerate(shown)}
    found = []
    for keys in shown:
        for declared in product(*(question.groups[place].listed for place in known)):
            cell = dict(zip([*unknown, *known], [*keys, *declared], strict=True))
            found.append((tuple(cell[place] for place in range(len(question.groups))), ranks[keys]))

    def order(one: tuple[Keys, int]) -> tuple[Any, ...]:
        """Column by column; others last, which only the single unknown column has."""
        cell, rank = one
        single = len(unknown) == 1
        return tuple(rank if single and place == unknown[0] else key for place, key in enumerate(cell))

    return [cell for cell, _ in sorted(found, key=order)]


def _stand_in(by: Expression, listed: list[Key | None], label: str) -> Key:
    """How the engine calls all other keys: by the label, or by a value that is not among those shown."""
    if by.facts.type is Type.TEXT:
        return label
    taken, start = set(listed), MADE_UP[by.facts.type]
    if isinstance(start, datetime.date):
        return next(day for away in range(len(taken) + 1) if (day := start + datetime.timedelta(days=away)) not in taken)
    return next(free for free in range(len(taken) + 1) if free not in taken)


def _or_other(by: Expression, listed: list[Key | None], label: Key) -> Expression:
    """A key that is shown, or the label; also for rows that have none."""
    options = tuple(_constant(key) for key in listed if key is not None)
    return Case(((InList(by, options), by),), _constant(label)) if options else _constant(label)


def read_other(question: Question, stated: object) -> str | None:
    """What all other keys are called, or why they cannot be counted together."""
    if stated is None:
        return None
    unknown = unknown_groups(question)
    if not isinstance(stated, str) or not 0 < len(stated) <= LONGEST_KEY or not stated.isprintable():
        why = f"it is no name of 1 to {LONGEST_KEY} printable characters for all keys that are not shown"
        raise QuestionError("other", stated, why, "'others'")
    if len(unknown) != 1:
        why = "it is about one column of GROUP BY whose keys nobody declared" + (
            ", and there are several" if unknown else ""
        )
        raise QuestionError("other", stated, why, "leaving it out")
    by = unknown[0].by
    if by.facts.type is Type.BOOLEAN:
        raise QuestionError("other", stated, "true and false have no others", "leaving it out")
    assert isinstance(by, ColumnValue)
    return stated
