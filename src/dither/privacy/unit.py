"""The unit of privacy, whom a guarantee protects: which two data sets count as neighbours.

    add/remove one person    the one has all that the other has, and all the records of one person more
    replace one person       same size; one person's records are exchanged for another person's
    add/remove one row       the same with a single row in place of a person
    replace one row

A replacement is a removal and an addition, so a guarantee for add/remove covers replacement as a group of two
(`Guarantee.to`). The other way round nothing follows: a mechanism that prints the number of people is perfectly
private for replacement and not at all for add/remove. Adding or removing a person with up to k rows is a group of k rows;
replacing one is not a group of replaced rows, since the other person may have more or fewer.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, NoReturn, TypeAlias, Union

from dither.errors import UnitError

UnitLike: TypeAlias = Union["Unit", str]  # a unit, or the text of one


class Unit(Enum):
    """The neighbouring relation that a guarantee speaks of.

    `Unit(text)` is the member with this text.

    Raises:
        UnitError: the text names no neighbouring relation.

    Example:
        >>> from dither import Unit
        >>> Unit("add/remove one person").replacement
        <Unit.REPLACE_ONE: 'replace one person'>
    """

    ADD_REMOVE = "add/remove one person"
    REPLACE_ONE = "replace one person"
    ADD_REMOVE_ROW = "add/remove one row"
    REPLACE_ONE_ROW = "replace one row"

    @classmethod
    def _missing_(cls, value: Any) -> NoReturn:
        raise UnitError("unit", value, "it names no neighbouring relation", ", ".join(repr(unit.value) for unit in cls))

    @property
    def replacement(self) -> Unit:
        """The replacement relation that this add/remove relation covers as a group of two."""
        return {Unit.ADD_REMOVE: Unit.REPLACE_ONE, Unit.ADD_REMOVE_ROW: Unit.REPLACE_ONE_ROW}.get(self, self)

    def __str__(self) -> str:
        return self.value


def read_unit(value: UnitLike) -> Unit:
    """A unit, or the text of one."""
    if isinstance(value, Unit):
        return value
    if isinstance(value, str):  # an array would answer `==` with an array
        for unit in Unit:
            if value == unit.value:
                return unit
    return Unit._missing_(value)


def read_replacement(value: UnitLike) -> Unit:
    """A unit whose data sets have one public size: something is replaced, and nothing comes or goes."""
    unit = read_unit(value)
    if unit.replacement is not unit:
        why = "how many there are is public here, so one is replaced and none is removed"
        raise UnitError("unit", unit.value, why, f"'{unit.replacement}'")
    return unit
