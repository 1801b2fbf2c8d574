"""Two answers compared: for each number that both have, a - b, and an interval for the difference of what they estimate.

Theorem. P(A - B in [a_low - b_high, a_high - b_low]) >= 1 - alpha_a - alpha_b. An open end of the difference is infinite.

Legend. A, B: what the two numbers estimate, the truth or what was counted of it (`statistics/statement.py`); [a_low, a_high]
and [b_low, b_high]: their intervals, which fail with probability alpha_a and alpha_b at most, together or not.

Proof. If A is in its interval and B in its own, then a_low - b_high <= A - B <= a_high - b_low. One of the two fails with
probability alpha_a + alpha_b at most, however they depend on each other (Boole): the noise of two answers of one batch may
be the same. Ends are exact in whole numbers; as floats they are rounded outward, and where none holds an end, it is open.

Two copies of the same release of the same question estimate the same, so that A - B = 0: the interval [0, 0] never fails.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from html import escape
from typing import Any, Protocol, TypedDict

from dither.errors import DataError
from dither.ledger.entries.receipt import Receipt
from dither.query.answers.difference_chart import Pair, difference_chart
from dither.query.answers.interval_table import (
    FINITE_ALONE,
    NOT_COUNTED,
    SELECTED,
    SHOWN_ALONE,
    IntervalTable,
    drawn_columns,
    key_rows,
    percent,
    shown_keys,
    with_intervals,
)
from dither.query.answers.number_texts import decimals_of, high_text, low_text, number_text
from dither.query.answers.released import Released
from dither.query.answers.svg_chart import ENDS
from dither.query.answers.table import MOST_ROWS, aligned
from dither.query.plan.text import key_text, number
from dither.svg.ticks import real
from dither.terminal import fitted_table, wrapped

TRUE = {"truth", "of released numbers"}
NUMBERS = {"whole", "number"}
OF_EACH = (SELECTED, NOT_COUNTED, FINITE_ALONE, SHOWN_ALONE)  # ends of the lines that are repeated for a difference
SAME = "both are the same release of the same question: each difference is 0 exactly"


class Compared(IntervalTable, Protocol):
    """What is read of an answer to compare it."""

    @property
    def sql(self) -> str: ...
    @property
    def receipt(self) -> Receipt: ...
    @property
    def released(self) -> Released: ...
    @property
    def says(self) -> str: ...


class DifferenceRow(TypedDict):
    """A number that both answers have, of one group; None: no value, or an end that is open."""

    key: dict[str, Any]
    column: str
    a: Any
    b: Any
    difference: Any
    low: Any
    high: Any


@dataclass(frozen=True)
class Difference:
    """What two answers differ by; `Answer.difference` makes it.

    Args:
        keys: the columns by which rows are matched.
        columns: the numbers that both have.
        confidence: the least probability with which each interval holds.
        words: what the intervals hold, and what is not compared.
        only_first: the keys that only the first answer has.
        only_second: the keys that only the second has.

    Raises:
        DataError: `svg` got a name that is no column of it.
    """

    keys: tuple[str, ...]
    columns: tuple[str, ...]
    confidence: Fraction
    words: str
    only_first: tuple[dict[str, Any], ...]
    only_second: tuple[dict[str, Any], ...]
    _rows: tuple[DifferenceRow, ...] = field(repr=False)
    _pairs: tuple[Pair, ...] = field(repr=False)  # for the chart
    _notes: tuple[str, ...] = field(repr=False)  # below it

    def rows(self) -> list[DifferenceRow]:
        """One row for each group that both have and each number: a, b, a - b, and the ends of its interval."""
        return [DifferenceRow(**{**row, "key": dict(row["key"])}) for row in self._rows]

    def svg(self, name: str | None = None, *, alone: bool = True) -> str:
        """A chart as SVG text: for each group both numbers with their own intervals; as `Answer.svg` otherwise."""
        if name is not None and name not in self.columns:
            raise DataError("name", name, "it is no column of the difference", ", ".join(self.columns))
        shown = self.columns if name is None else (name,)
        return difference_chart(
            [pair for pair in self._pairs if pair.column in shown], self.keys, shown, self._notes, alone=alone
        )

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        rows, keys = self._texts()
        lines = fitted_table(rows, left=range(keys), rule=1, keys=keys)
        return "\n".join([*lines, *self._more(), wrapped(self.words)])

    def _repr_html_(self) -> str:
        (head, *body), keys = self._texts()

        def line(tag: str, cells: Sequence[str]) -> str:
            texts = enumerate(map(escape, cells))
            return "<tr>" + "".join(f"<{tag}{aligned(left=at < keys)}>{text}</{tag}>" for at, text in texts) + "</tr>"

        table = f"<thead>{line('th', head)}</thead><tbody>{''.join(line('td', row) for row in body)}</tbody>"
        below = "<br>".join(map(escape, [*self._more(), *self.words.splitlines()]))
        return f"<table>{table}</table><p>{below}</p>"

    def _more(self) -> list[str]:
        return [f"... and {len(self._rows) - MOST_ROWS:,} rows more"] if len(self._rows) > MOST_ROWS else []

    def _texts(self) -> tuple[list[list[str]], int]:
        """The head and the first rows as texts, and how many of the columns are keys."""
        several = ["column"] if len(self.columns) > 1 else []
        head = [*map(number, self.keys), *several, "a", "b", "a - b", "low", "high"]
        shown = self._rows[:MOST_ROWS]
        decimals = {
            name: decimals_of(*([row[end] for row in shown if row["column"] == name] for end in ("low", "high")))
            for name in self.columns
        }
        cells = [
            [
                *map(key_text, row["key"].values()),
                *([number(row["column"])] if several else []),
                *_cells(row, decimals[row["column"]]),
            ]
            for row in shown
        ]
        return [head, *cells], len(self.keys) + len(several)


def difference(first: Compared, second: Compared) -> Difference:
    """What the first answer has more than the second, number by number, with intervals.

    Raises:
        DataError: no column with error bars has the same name in both, their keys differ, or a key stands in two rows.
    """
    names = _common(first, second)
    keys = tuple(shown_keys(first))
    ours, theirs = _places(first, keys, "first"), _places(second, keys, "second")
    same = _same_release(first, second, names)
    both = [key for key in ours if key in theirs]
    rows, pairs = [], []
    drawn = [drawn_columns(one.columns, one.uninformative) for one in (first, second)]
    for key in both:
        for name in names:
            a, b = (
                [_number(columns[name + end][row]) for end in ENDS]
                for columns, row in zip(drawn, (ours[key], theirs[key]), strict=True)
            )
            found = _ends(a, b, same=same)
            own = dict(zip(keys, key, strict=True))
            rows.append(
                DifferenceRow(key=own, column=name, a=a[0], b=b[0], difference=found[0], low=found[1], high=found[2])
            )
            whole = {first.kinds.get(name), second.kinds.get(name)} == {"whole"}
            pairs.append(Pair(key, name, tuple(a), tuple(b), found, (first.confidence, second.confidence), whole))
    level = Fraction(1) if same else max(Fraction(0), first.confidence + second.confidence - 1)
    only = [[key for key in one if key not in other] for one, other in ((ours, theirs), (theirs, ours))]
    left, right = (tuple(dict(zip(keys, key, strict=True)) for key in several) for several in only)
    told = _held(first, second, names, level) if not same else [SAME]
    rest = _not_compared(first, second, names, (len(left), len(right)))
    notes = tuple([SAME, *rest] if same else rest)
    return Difference(keys, tuple(names), level, "\n".join([*told, *rest]), left, right, tuple(rows), tuple(pairs), notes)


def _common(first: Compared, second: Compared) -> list[str]:
    """The columns to compare; refused where there is none, or where rows cannot be matched."""
    ours, theirs = with_intervals(first), with_intervals(second)
    names = [name for name in ours if name in theirs]
    if not names:
        came = " and ".join(", ".join(several) or "none" for several in (ours, theirs))
        why = "no column with error bars has the same name in both"
        raise DataError("answers", came, why, "questions that name them alike, such as COUNT(*) AS n in both")
    keys, others = shown_keys(first), shown_keys(second)
    if set(keys) != set(others):
        came = " and ".join(", ".join(several) or "no keys" for several in (keys, others))
        raise DataError(
            "answers", came, "rows are matched by their keys, and these differ", "questions with the same GROUP BY"
        )
    for key in keys:
        kinds = [first.kinds[key], second.kinds[key]]
        if kinds[0] != kinds[1] and not NUMBERS.issuperset(kinds):
            why = f"the values of {number(key)} are of two kinds, and none of them equal"
            raise DataError("answers", " and ".join(kinds), why, "questions that group by the same expression")
    return names


def _places(one: Compared, keys: Sequence[str], which: str) -> dict[tuple[Any, ...], int]:
    """The row of each key, keys in the order of the first answer."""
    order = [shown_keys(one).index(key) for key in keys]
    several = [tuple(key[at] for at in order) for key in key_rows(one)]
    twice = [key for key, often in Counter(several).items() if often > 1]
    if twice:
        came = ", ".join(map(key_text, twice[0])) or f"{len(several)} rows without a key"
        raise DataError(
            f"{which} answer", came, "two rows have this key, and which belongs to which is not known", "GROUP BY"
        )
    return {key: row for row, key in enumerate(several)}


def _same_release(first: Compared, second: Compared, names: Sequence[str]) -> bool:
    """Whether both are the same numbers: of the same charge, the same text and the same counters.

    The text, since the ledger knows a question by what it counts: another text may give the same name to another number.
    """
    if any(first.columns[name] != second.columns[name] for name in names):
        return False
    if first.sql != second.sql or first.released.to_json() != second.released.to_json():
        return False
    ours, theirs = first.receipt, second.receipt
    return (ours.ledger, ours.number) == (theirs.ledger, theirs.number)


def _number(cell: Any) -> Any:
    """A number that can be compared; None for any other."""
    return cell if isinstance(cell, int | float) and real(cell) is not None else None


def _ends(a: Sequence[Any], b: Sequence[Any], *, same: bool) -> tuple[Any, Any, Any]:
    """a - b with the ends of its interval."""
    if same:
        return (None, None, None) if a[0] is None else (0, 0, 0)
    return _minus(a[0], b[0], 0), _minus(a[1], b[2], -1), _minus(a[2], b[1], 1)


def _minus(one: Any, other: Any, side: int) -> Any:
    """The difference of two numbers: to the nearest float, or to one below (-1) or above (1); None beyond all floats."""
    if one is None or other is None:
        return None
    if isinstance(one, int) and isinstance(other, int):
        return one - other
    exact = Fraction(one) - Fraction(other)
    try:
        near = float(exact)
    except OverflowError:
        return None
    if side and (Fraction(near) - exact) * side < 0:
        near = math.nextafter(near, math.inf * side)
    return near if math.isfinite(near) else None


def _held(first: Compared, second: Compared, names: Sequence[str], level: Fraction) -> list[str]:
    """What the intervals hold, and what each number says that is not the truth."""
    if level == 0:
        return ["low and high say nothing: the two intervals may fail together with probability 1"]
    found: dict[str, list[str]] = {}
    lines = []
    for name in names:
        said = [one.statements.get(name, "") for one in (first, second)]  # '' in answers of the first version
        held = "the true difference" if TRUE.issuperset(said) else "the difference of what was counted"
        found.setdefault(held if all(said) else "the difference without noise", []).append(number(name))
        if all(said) and not TRUE.issuperset(said):
            lines.append(f"{number(name)}: a is {said[0]!r}, b is {said[1]!r}")
    told = [f"{held} ({', '.join(several)})" if len(found) > 1 else held for held, several in found.items()]
    sure = f"since the interval of a holds with {percent(first.confidence)} and that of b with {percent(second.confidence)}"
    for one, which in ((first, "a"), (second, "b")):
        lines += [f"of {which}, {line}" for line in one.says.splitlines() if line.endswith(OF_EACH)]
    return [f"each low to high holds {' or '.join(told)} with {percent(level)} probability at least, {sure}", *lines]


def _not_compared(first: Compared, second: Compared, names: Sequence[str], only: tuple[int, int]) -> list[str]:
    lines = []
    for count, which in zip(only, ("first", "second"), strict=True):
        lines += [f"only in the {which}: {count:,} group{'s' if count > 1 else ''}"] if count else []
    for one, which in ((first, "first"), (second, "second")):
        rest = [number(name) for name in one.aggregates if name in one.columns and name not in names]
        lines += [f"not compared, of the {which}: {', '.join(rest)}"] if rest else []
    return lines


def _cells(row: DifferenceRow, decimals: int | None) -> list[str]:
    middle = [number_text(cell, decimals) for cell in (row["a"], row["b"], row["difference"])]
    return [cell or "" for cell in (*middle, low_text(row["low"], decimals), high_text(row["high"], decimals))]
