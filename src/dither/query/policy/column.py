"""A column as its owner states it: type, clamping bounds, keys. Nothing here is ever read from data.

A number enters sums as a whole number of steps: q(x) = the step nearest to x, counted from the lower bound, 0..G. The clamp
that matters is the one on the integer, after the cast, so the map may be any deterministic one; a person moves a sum by at
most G a row whatever the cell holds.
"""

from __future__ import annotations

import datetime
import re
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction
from math import ceil

from dither.errors import NumberError, PolicyError
from dither.numeric.number import Number
from dither.query.policy.cell_format import COLUMN_FACTS, CellFormat, read_cell_format
from dither.query.policy.fact import Fact
from dither.query.policy.origin import origin_words, read_origin

FINEST = 2**20  # steps between the bounds of a float, unless the owner says otherwise
MOST_STEPS = 2**52  # beyond this a double cannot tell the steps apart
MOST_KEYS = 100_000  # that follow from bounds, or are combinations of others
MOST_LISTED = 1_000_000  # that an owner lists
AUTO = "auto"  # instead of bounds or limits: they are found privately
ISO_DAY = re.compile(r"\s*\d{4}-\d{2}-\d{2}")
MOST_FOUND = 2**30  # steps from zero, within which bounds are found
LONGEST_TEXT = 2000  # characters of a text that are read
NO_FACTS = "the column has no bounds, step or keys, and may be missing; its type is no such fact"


class Type(Enum):
    """What the cells of a column are read as."""

    INTEGER = "integer"
    DECIMAL = "decimal"
    FLOAT = "float"
    TEXT = "text"
    BOOLEAN = "boolean"
    DATE = "date"
    TIMESTAMP = "timestamp"

    @property
    def is_number(self) -> bool:
        return self in (Type.INTEGER, Type.DECIMAL, Type.FLOAT)

    @property
    def is_date(self) -> bool:
        return self in (Type.DATE, Type.TIMESTAMP)


Key = str | int | bool | datetime.date


@dataclass(frozen=True)
class Column:
    """One column: what it holds, and within which bounds or among which keys."""

    name: str
    type: Type
    lower: Fraction | None = None
    upper: Fraction | None = None
    step: Fraction | None = None
    keys: tuple[Key, ...] | None = None
    nullable: bool = True
    first: datetime.date | None = None  # of dates and timestamps: the bounds
    last: datetime.date | None = None
    clamped: bool = False  # of an inner question: whether a value beyond the first or the last key counts as that key
    auto: bool = False  # whether bounds are found privately, within those that stand here
    cells: CellFormat = field(default=CellFormat(), repr=False)  # how cells are written that are stored as text
    known_from: str | None = field(default=None, repr=False)  # the origin of its facts; None where the owner does not say

    @property
    def is_bounded(self) -> bool:
        return self.lower is not None

    @property
    def has_bounds(self) -> bool:
        """Whether the owner states bounds, of numbers or of dates."""
        return self.lower is not None or self.first is not None

    @property
    def facts(self) -> tuple[str, ...]:
        """What the owner states of its values, beyond the type; what the type or another fact implies is none."""
        found = ["bounds"] if self.has_bounds and not self._is_all_auto else []
        found += ["step"] if self._has_own_step else []
        found += ["keys"] if self.keys is not None else []
        return (*found, *([] if self.nullable else ["completeness"]))

    @property
    def _is_all_auto(self) -> bool:
        """Whether neither end of the bounds is stated."""
        width = MOST_FOUND * (self.step or 0)
        return self.auto and self.lower == -width and self.upper == width

    @property
    def _has_own_step(self) -> bool:
        """Whether the step is another than bounds and type imply."""
        if self.step is None or self.lower is None or self.upper is None:
            return False
        return self.step != (1 if self.type is Type.INTEGER else (self.upper - self.lower) / FINEST)

    @property
    def steps(self) -> int:
        """G: how many steps lie between the bounds."""
        assert self.lower is not None
        assert self.upper is not None
        assert self.step is not None
        return -((self.lower - self.upper) // self.step)

    def describe(self) -> str:
        """The column in a line: name, type, bounds, keys, and whether a cell may be missing."""
        words = [f"{self.name}: {self.type.value}"]
        if self.is_bounded:
            found = ", bounds found privately" if self.auto else ""
            words.append(f"{self.lower} to {self.upper}{found}")
        if self.first is not None:
            words.append(f"{self.first} to {self.last}")
        if self.keys is not None:
            shown = ", ".join(str(key) for key in self.keys[:5])
            words.append(f"one of {shown}" + (f" and {len(self.keys) - 5} more" if len(self.keys) > 5 else ""))
        words += [written] if (written := self.cells.describe()) else []
        told = ", ".join([*words, "may be missing" if self.nullable else "never missing"])
        return told + origin_words(self.known_from)


def read_column(name: str, stated: Fact, where: str, of_table: CellFormat | None = None) -> Column:
    """A column from the words of a policy; `where` is its place in it, `of_table` how all cells of its table are written."""
    if not isinstance(stated, dict):
        raise PolicyError(where, stated, "a column is a table of facts", 'cost = { type = "decimal", bounds = [0, 2000] }')
    known = {"type", "bounds", "step", "keys", "nullable", "known_from", *COLUMN_FACTS}
    for extra in stated.keys() - known:
        raise PolicyError(f"{where}.{extra}", stated[extra], "no such fact of a column is known", ", ".join(sorted(known)))
    kind = _type(stated.get("type"), f"{where}.type")
    nullable = stated.get("nullable", True)
    if not isinstance(nullable, bool):
        raise PolicyError(f"{where}.nullable", nullable, "it is not a truth value", "true or false")
    first = last = lower = upper = None
    ends = stated.get("bounds")
    listed = ends if isinstance(ends, (list, tuple)) else [ends]
    auto = kind.is_number and any(isinstance(end, str) and end == AUTO for end in listed)
    if kind in (Type.DATE, Type.TIMESTAMP):
        first, last = _dates(stated.get("bounds"), kind, f"{where}.bounds")
    elif auto:
        lower, upper = _outer(stated.get("bounds"), stated.get("step"), kind, where)
    else:
        lower, upper = _bounds(stated.get("bounds"), kind, f"{where}.bounds")
    step = _step(stated.get("step"), kind, lower, upper, f"{where}.step")
    keys = _keys(stated.get("keys"), kind, f"{where}.keys")
    cells = read_cell_format(stated, kind.value, of_table or CellFormat(), where)
    column = Column(name, kind, lower, upper, step, keys, nullable, first, last, auto=auto, cells=cells)
    origin = read_origin(stated.get("known_from"), column.facts, NO_FACTS, f"{where}.known_from")
    return replace(column, known_from=origin)


def _type(stated: Fact, where: str) -> Type:
    try:
        return Type(stated)
    except ValueError as error:
        raise PolicyError(where, stated, "it names no type", ", ".join(kind.value for kind in Type)) from error


def _number(value: Fact, where: str) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise PolicyError(where, value, "it is not a number", "0, 2000, 0.5 or '1/3'")
    if isinstance(value, str) and ISO_DAY.match(value):  # as a number, 2024-01-31 is 1992
        raise PolicyError(where, value, "it is a date, and the column is one of numbers", "0, 2000, 0.5 or '1/3'")
    try:
        return Number(value).fraction()
    except NumberError as error:
        raise PolicyError(where, value, error.why, "0, 2000, 0.5 or '1/3'") from error


def _bounds(stated: Fact, kind: Type, where: str) -> tuple[Fraction | None, Fraction | None]:
    if stated is None:
        return None, None
    if not kind.is_number:
        raise PolicyError(where, stated, f"a {kind.value} column has no bounds", "keys, or a column of numbers or dates")
    if not isinstance(stated, (list, tuple)) or len(stated) != 2:
        raise PolicyError(where, stated, "bounds are two numbers", '[0, 2000], or "auto" to find them privately')
    lower, upper = (_number(end, where) for end in stated)
    if lower >= upper:
        raise PolicyError(where, stated, "the lower bound is not below the upper one", "[0, 2000]")
    if kind is Type.INTEGER and (lower.denominator != 1 or upper.denominator != 1):
        raise PolicyError(where, stated, "bounds of whole numbers are whole", "[0, 2000]")
    return lower, upper


def _dates(stated: Fact, kind: Type, where: str) -> tuple[datetime.date | None, datetime.date | None]:
    """The first and the last day, or moment; a day as the last moment is the end of that day."""
    if stated is None:
        return None, None
    example = "[2024-01-01, 2024-12-31]"
    if not isinstance(stated, (list, tuple)) or len(stated) != 2:
        raise PolicyError(where, stated, "bounds of dates are two dates", example)
    first, last = (_date(end, kind, where) for end in stated)
    if kind is Type.TIMESTAMP:
        start, end = datetime.time.min, datetime.time.max
        first = first if isinstance(first, datetime.datetime) else datetime.datetime.combine(first, start)
        last = last if isinstance(last, datetime.datetime) else datetime.datetime.combine(last, end)
    if first > last:
        raise PolicyError(where, [str(first), str(last)], "the first day is not before the last one", example)
    return first, last


def _date(stated: Fact, kind: Type, where: str) -> datetime.date:
    if isinstance(stated, str):
        with suppress(ValueError):  # refused below, as it was written
            stated = (datetime.date if len(stated) == len("2024-01-31") else datetime.datetime).fromisoformat(stated)
    if not isinstance(stated, datetime.date):
        raise PolicyError(where, stated, "it is no date", "2024-01-31, or '2024-01-31'")
    if isinstance(stated, datetime.datetime) and (kind is Type.DATE or stated.tzinfo is not None):
        why = "a date has no time" if kind is Type.DATE else "timestamps have no zone"
        raise PolicyError(where, str(stated), why, "2024-01-31" if kind is Type.DATE else "2024-01-31T12:30:00")
    return stated


def _step(stated: Fact, kind: Type, lower: Fraction | None, upper: Fraction | None, where: str) -> Fraction | None:
    if lower is None or upper is None:
        if stated is not None:
            raise PolicyError(where, stated, "a step needs bounds", "bounds = [0, 2000] beside it")
        return None
    if stated is not None:
        step = _number(stated, where)
    elif kind is Type.INTEGER:
        step = Fraction(1)
    else:
        step = (upper - lower) / FINEST
    if step > 0 and (upper - lower) % step:
        why = f"it does not fit a whole number of times between {lower} and {upper}"
        raise PolicyError(where, stated, why, f"{(upper - lower) / ceil((upper - lower) / step)}, or other bounds")
    if step <= 0 or step > upper - lower or (upper - lower) / step > MOST_STEPS:
        why = f"it must be above zero, and fit between 1 and 2^52 times into {upper - lower}"
        raise PolicyError(where, stated if stated is not None else str(step), why, "0.01 for cents, 1 for whole numbers")
    return step


def _outer(ends: Fact, step: Fact, kind: Type, where: str) -> tuple[Fraction, Fraction]:
    """Within which bounds others are found: one end may be stated."""
    unit = _step_alone(step, kind, f"{where}.step")
    low, high = ends if isinstance(ends, (list, tuple)) and len(ends) == 2 else (AUTO, AUTO)
    if isinstance(ends, (list, tuple)) and len(ends) != 2:
        raise PolicyError(f"{where}.bounds", ends, "bounds are two numbers", '[0, "auto"]')
    lower = None if low == AUTO else _number(low, f"{where}.bounds")
    upper = None if high == AUTO else _number(high, f"{where}.bounds")
    width = MOST_FOUND * unit
    if lower is not None:
        return lower, lower + width
    return (-width, width) if upper is None else (upper - width, upper)


def _step_alone(stated: Fact, kind: Type, where: str) -> Fraction:
    """The step of a column whose bounds are not stated."""
    if stated is None and kind is not Type.INTEGER:
        why = "bounds that are found privately need the unit in which values are counted"
        raise PolicyError(where, None, why, 'step = "0.01" for cents, or bounds = [0, 2000]')
    step = Fraction(1) if stated is None else _number(stated, where)
    if step <= 0 or (kind is Type.INTEGER and step.denominator != 1):
        raise PolicyError(where, stated, "it must be above zero, and whole for whole numbers", "0.01 for cents")
    return step


def _keys(stated: Fact, kind: Type, where: str) -> tuple[Key, ...] | None:
    if stated is None:
        return None
    if kind in (Type.FLOAT, Type.DECIMAL, Type.TIMESTAMP):
        raise PolicyError(where, stated, f"a {kind.value} column has no keys", "text, integer, boolean or date")
    if not isinstance(stated, (list, tuple)) or not 0 < len(stated) <= MOST_LISTED:
        raise PolicyError(where, stated, f"keys are a list of 1 to {MOST_LISTED}", '["A", "B", "C"]')
    wanted: dict[Type, type] = {Type.TEXT: str, Type.INTEGER: int, Type.BOOLEAN: bool, Type.DATE: datetime.date}
    for key in stated:
        if type(key) is not wanted[kind]:
            example = {Type.INTEGER: "[1, 2]", Type.BOOLEAN: "[true, false]", Type.DATE: "[2025-01-01, 2025-01-02]"}
            raise PolicyError(
                where, key, f"keys of a {kind.value} column are {wanted[kind].__name__}s", example.get(kind, '["A", "B"]')
            )
        if isinstance(key, str) and len(key) >= LONGEST_TEXT:
            why = f"of texts of more than {LONGEST_TEXT} characters only those are read: no text is told apart by more"
            raise PolicyError(where, key, why, f"keys of less than {LONGEST_TEXT} characters")
        if isinstance(key, str) and any("\ud800" <= sign <= "\udfff" for sign in key):
            raise PolicyError(where, key, "it holds half a character (a lone surrogate)", "text that can be encoded")
        if isinstance(key, int) and not -(2**63) <= key < 2**63:
            raise PolicyError(where, key, "it does not fit into 64 bits", "a smaller number")
    if len(set(stated)) != len(stated):
        raise PolicyError(where, stated, "a key is listed twice", "each once")
    return tuple(sorted(stated))
