"""Values that a condition compares a column with and that are no declared key of it: said before the price, not refused.

The data may have rows of other keys, and then the question is a good one. More often it is a slip, such as 'Surgery' for
'surgery', and the answer is noise that costs as much. What is said follows from the question and the policy alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dither.numeric.representation import cut
from dither.query.plan.expressions import LEAVES, ColumnValue, Compare, Constant, InList, Value
from dither.query.plan.question import Question
from dither.query.plan.text import plain
from dither.query.policy.column import Column, Key

MOST_NAMES = 4  # of keys, in a line
MOST_LINES = 4  # of values: a list may have thousands
LONGEST = 60  # letters of a key
MOST_ALIKE = 1000  # keys among which one is looked for that is spelled nearly alike
NEAR = 0.6  # how alike two texts are where one may be meant by the other, as difflib has it


def undeclared_words(question: Question) -> list[str]:
    """A line for each value of `=`, `<>` and `IN` that is not among the declared keys of its column."""
    found: dict[tuple[str, Value], Column] = {}
    for column, values in _compared(question):
        declared = frozenset(column.keys or ())
        found |= {(column.name, value): column for value in values if value not in declared}
    lines = [_told(column, value) for (_, value), column in list(found.items())[:MOST_LINES]]
    more = len(found) - MOST_LINES
    return [*lines, f"nor are {more:,} more values of the question"] if more > 0 else lines


def _compared(node: Any) -> Iterator[tuple[Column, list[Value]]]:
    """Columns with declared keys, and the values that they are compared with: in conditions of rows, and not in HAVING or in
    scalar subqueries, which are questions of their own."""
    if type(node) in LEAVES:
        return
    match node:
        case Compare("=" | "<>", ColumnValue(column), Constant(value)):
            found = (column, [value])
        case Compare("=" | "<>", Constant(value), ColumnValue(column)):
            found = (column, [value])
        case InList(ColumnValue(column), options):
            found = (column, [option.value for option in options])
        case _:
            fields = getattr(node, "__dataclass_fields__", ())
            for part in node if isinstance(node, tuple) else [getattr(node, name) for name in fields]:
                yield from _compared(part)
            return
    if column.keys is not None:
        yield found


def _told(column: Column, value: Value) -> str:
    keys = column.keys or ()
    names = [cut(plain(key), LONGEST) for key in keys[:MOST_NAMES]]
    more = f", and {len(keys) - MOST_NAMES:,} more" if len(keys) > MOST_NAMES else ""
    meant = _meant(value, keys) if isinstance(value, str) else None
    near = "" if meant is None else f". Did you mean {cut(repr(meant), LONGEST)}?"
    shown = cut(repr(value) if isinstance(value, str) else plain(value), LONGEST)
    told = f"{shown} is not among the declared keys of {column.name} ({', '.join(names)}{more})"
    return f"{told}: the price is the same if no row has it{near}"


def _meant(value: str, keys: tuple[Key, ...]) -> str | None:
    """The key that is spelled alike: but for case and spaces at its ends, or nearly so."""
    from difflib import get_close_matches

    word, spelled = _spelled(value), {_spelled(key): key for key in reversed(keys) if isinstance(key, str)}
    near = [] if len(word) > LONGEST else get_close_matches(word, list(spelled)[:MOST_ALIKE], n=1, cutoff=NEAR)
    return spelled.get(word) or next((spelled[one] for one in near), None)


def _spelled(text: str) -> str:
    return text.strip().casefold()
