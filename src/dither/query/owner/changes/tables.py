"""What differs between two tables of one name, and between their lists of columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from fractions import Fraction
from typing import Any

from dither.query.owner.changes.change import (
    LOOSENS,
    MEANING,
    NEUTRAL,
    NOTHING,
    TIGHTENS,
    PolicyChange,
    Rule,
    Verdict,
    fact_changes,
    factor,
    nothing,
    place_words,
    said,
)
from dither.query.owner.changes.columns import column_changes, origin_changes
from dither.query.policy.csv_dialect import PLAIN
from dither.query.policy.owner import HIDDEN, Owner
from dither.query.policy.table import EACH_ROW, LIMITS, Table

OTHERS = "Other people are protected, or the same ones in another way: what was promised before does not hold on."


def table_changes(old: Table, new: Table, where: str) -> Iterator[PolicyChange]:
    """Each fact that differs."""
    if old.public == new.public:
        yield from fact_changes(old, new, RULES, where)
        return
    words = ["public" if one.public else f"of {_whose(one)}" for one in (old, new)]
    if new.public:
        told = "Its rows are answered exactly and for nothing: nobody in them is protected."
        yield PolicyChange(f"{where}.public", words[0], words[1], LOOSENS, told, compatible=False)
    else:
        told = "Its rows are protected from now on; what was told of them stays told."
        yield PolicyChange(f"{where}.public", words[0], words[1], TIGHTENS, told)
    yield from fact_changes(old, new, SHARED_RULES, where)


def _columns(old: Table, new: Table, where: str) -> Iterator[PolicyChange]:
    before, after = ({column.name: column for column in one.columns} for one in (old, new))
    for name in after.keys() - before.keys():
        told = "It may be asked about."
        yield PolicyChange(f"{where}.columns.{name}", NOTHING, after[name].describe(), LOOSENS, told)
    for name in before.keys() - after.keys():
        told = "It cannot be asked about any more."
        yield PolicyChange(f"{where}.columns.{name}", before[name].describe(), NOTHING, TIGHTENS, told)
    for name in before.keys() & after.keys():
        person = old.tells_whose(name) or new.tells_whose(name)
        yield from column_changes(before[name], after[name], f"{where}.columns.{name}", person=person)
    if list(before) != list(after) and before.keys() == after.keys():
        yield order_change(f"{where}.columns", list(before), list(after))


def order_change(where: str, old: list[str], new: list[str]) -> PolicyChange:
    """The same names in another order."""
    return PolicyChange(where, said(old), said(new), NEUTRAL, "Only the order is another.")


def _whose(table: Table) -> str:
    if table.owner is not None:
        return f"the owner of its {table.owner.through}"
    return EACH_ROW if table.person is None else table.person


def _person(old: Table, new: Table, where: str) -> Iterator[PolicyChange]:
    if old.person != new.person and HIDDEN not in (old.person, new.person):  # else the owner has a line
        words = [f"'{_whose(one)}'" for one in (old, new)]
        yield PolicyChange(f"{where}.person", words[0], words[1], LOOSENS, OTHERS, compatible=False)


def _owner(old: Table, new: Table, where: str) -> Iterator[PolicyChange]:
    if old.owner != new.owner:
        words = [f"'{_whose(one)}'" if one.owner is None else _chain(one.owner) for one in (old, new)]
        yield PolicyChange(f"{where}.owner", words[0], words[1], LOOSENS, OTHERS, compatible=False)


def _chain(owner: Owner) -> str:
    pairs = (child if child == parent else f"{child} = {parent}" for child, parent in owner.on)
    return f"{owner.through} on {', '.join(pairs)}"


def _limits(old: Table, new: Table, where: str) -> Iterator[PolicyChange]:
    """How much of a person counts. What max_rows alone states is stated of the other two as well, and told once."""
    noise = factor(old.most_rows, new.most_rows)
    implied = [one.max_rows is not None and one.max_groups == one.max_rows_per_group == one.max_rows for one in (old, new)]
    for name in LIMITS[:1] if all(implied) else LIMITS:
        before, after = getattr(old, name), getattr(new, name)
        if before == after:
            continue
        if name == "max_rows" and old.most_rows == new.most_rows and None in (before, after):
            told = "As many rows of a person count as before, by the other two limits."
            yield PolicyChange(f"{where}.{name}", said(before), said(after), NEUTRAL, told)
            continue
        more = new.most_rows > old.most_rows if None in (before, after) else after > before
        told = "More rows of a person count" if more else "Fewer rows of a person count"
        if noise:
            told += f", at most {old.most_rows} before and {new.most_rows} now: the noise of counts and sums {noise}"
        yield PolicyChange(f"{where}.{name}", said(before), said(after), LOOSENS if more else TIGHTENS, f"{told}.")


def _sums(old: Table, new: Table, where: str) -> Iterator[PolicyChange]:
    before, after = dict(old.max_sum), dict(new.max_sum)
    for name in sorted(before.keys() | after.keys()):
        was, now = before.get(name), after.get(name)
        if was == now:
            continue
        more = now is None or (was is not None and now > was)
        told = "More of what a person adds up to counts" if more else "Less of what a person adds up to counts"
        noise = factor(was or Fraction(0), now or Fraction(0))
        told += f"; the noise of its sums {noise}." if noise else "."
        yield PolicyChange(f"{where}.max_sum.{name}", said(was), said(now), LOOSENS if more else TIGHTENS, told)
    if before == after and old.max_sum != new.max_sum:
        yield order_change(f"{where}.max_sum", list(before), list(after))


def _hard(old: Table, new: Table, where: str) -> Iterator[PolicyChange]:
    for name in sorted(new.hard - old.hard):
        told = "Nobody exceeds it, by the owner's word: error bars rely on that, and are wrong where it is."
        yield PolicyChange(f"{where}.hard", NOTHING, name, MEANING, told)
    for name in sorted(old.hard - new.hard):
        told = "Somebody may exceed it: answers are about what was counted, and say so."
        yield PolicyChange(f"{where}.hard", name, NOTHING, MEANING, told)


def _unique(old: Table, new: Table, where: str) -> Iterator[PolicyChange]:
    if old.unique != new.unique:
        told = "The owner states that no two rows have the same values of these columns: error bars after a join rely on it."
        words = [", ".join(one.unique) or NOTHING for one in (old, new)]
        yield PolicyChange(f"{where}.unique", words[0], words[1], MEANING, told)


def _least(old: Table, new: Table, where: str) -> Iterator[PolicyChange]:
    for name, shown in (("min_people", "whose keys nobody declared"), ("min_group_size", "by their noisy size")):
        before, after = getattr(old, name), getattr(new, name)
        if before != after:
            told = f"{'Smaller' if after < before else 'Only larger'} groups are shown, of those {shown}."
            yield PolicyChange(f"{where}.{name}", said(before), said(after), LOOSENS if after < before else TIGHTENS, told)


def _source(old: Table, new: Table, where: str) -> Iterator[PolicyChange]:
    if old.source != new.source:
        told = "Rows are read from another place. If they are other rows, data_version has to change as well."
        yield PolicyChange(f"{where}.source", place_words(old.source), place_words(new.source), NEUTRAL, told)


def _dialect(old: Table, new: Table, where: str) -> Iterator[PolicyChange]:
    told = "Lines are cut into cells in another way"
    verdict: Verdict = MEANING
    if not (old.public and new.public):
        told, verdict = f"{told}, also those that say whose a row is: somebody may become two people, or two one", LOOSENS
    before, after = (one.dialect or PLAIN for one in (old, new))
    for one in fields(PLAIN):  # whatever fields there are
        was, now = getattr(before, one.name), getattr(after, one.name)
        if was != now:
            name = "header" if one.name == "names" else one.name
            yield PolicyChange(f"{where}.{name}", said(was), said(now), verdict, f"{told}.")
    if before == after and old.dialect != new.dialect:
        yield PolicyChange(f"{where}.separator", said(None), "as it is left out", NEUTRAL, "It is what holds without it.")


def _auto(old: Table, new: Table, where: str) -> Iterator[PolicyChange]:
    if old.auto != new.auto:
        told = "Each question finds them, at a part of its price." if new.auto else "No part of a price finds them any more."
        words = ["found privately" if one.auto else "stated" for one in (old, new)]
        yield PolicyChange(f"{where}.limits", words[0], words[1], MEANING, told)


def _known_from(old: Table, new: Table, where: str) -> Iterator[PolicyChange]:
    kept = [name for name in (*LIMITS, "max_sum", "hard") if getattr(new, name) and getattr(old, name) == getattr(new, name)]
    yield from origin_changes(old.known_from, new.known_from, kept, f"{where}.known_from")


SHARED_RULES: dict[str, Rule[Any]] = {  # where one of two tables is public: what can be compared
    **{one.name: nothing for one in fields(Table)},  # all that is about people: the line about `public` says it
    "columns": _columns,
    "source": _source,
    "dialect": _dialect,
    "unique": _unique,
}
RULES: dict[str, Rule[Table]] = {
    **dict.fromkeys(("name", "public", "unread"), nothing),  # compared by name; told above; found in the data, not stated
    **dict.fromkeys(("ids", "child_keys"), nothing),  # these follow from owners
    "columns": _columns,
    "person": _person,
    "owner": _owner,
    **dict.fromkeys(LIMITS, _limits),
    "max_sum": _sums,
    "hard": _hard,
    **dict.fromkeys(("min_people", "min_group_size"), _least),
    "auto": _auto,
    "known_from": _known_from,
    "source": _source,
    "dialect": _dialect,
    "unique": _unique,
}  # what relations of a question are marked with, such as `drops_rows`, no policy states
