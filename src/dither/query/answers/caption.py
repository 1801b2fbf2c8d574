"""What stands around the table of an answer: below the names of its columns, and below its rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from dither.query.answers.record import Column
from dither.query.plan.text import number

ENDS = {  # what the two ends of an interval are of, by what its number says
    "truth": ("truth from", "to"),
    "at least": ("truth at least", "counted at most"),
    "of counted rows": ("counted from", "to"),
    "of clamped values": ("clamped from", "to"),
}
SAYS = {  # what a number is, where its statement alone would be read as if the number were the truth
    "truth": "estimate of the truth",
    "at least": "estimate of what was counted, which is at most the truth",
}


def statement_line(said: str, names: Sequence[str], meaning: str) -> str:
    """What some numbers of an answer say, in a line."""
    return f"{', '.join(names)}: {SAYS.get(said, said)} ({meaning})"


def held_words(statements: Mapping[str, str]) -> str:
    """What each interval of an answer holds."""
    if not statements:
        return "the noise"  # what version 1 said of them
    return "the truth" if set(statements.values()) <= {"truth", "of released numbers"} else "what was counted"


def column_heads(statements: Mapping[str, str], columns: Collection[str]) -> dict[str, str]:
    """What stands below the names of columns: over the ends of an interval what they hold, and over the number nothing.

    A number without an interval says itself what it is of; none is the truth, which only an interval holds.
    """
    heads: dict[str, str] = {}
    for name, said in statements.items():
        if {f"{name}_low", f"{name}_high"} <= set(columns):
            heads |= dict(zip((f"{name}_low", f"{name}_high"), ENDS.get(said, ("", "")), strict=True))
        else:
            heads[name] = "no interval" if said in ("truth", "at least") else said
    return {name: heads[name] for name in columns if heads.get(name)}


TOO_FEW = "too few rows for this ε"


def uninformative_words(
    uninformative: Mapping[str, Sequence[int]],
    columns: Mapping[str, Column],
    quantiles: Collection[str],
    computed: Collection[str],
) -> list[str]:
    """Which numbers are missing because their intervals say nothing, a line for each column.

    Args:
        uninformative: the rows, by column.
        columns: the table of the answer.
        quantiles: the columns that are quantiles. Where half of the values are at either bound, no noise is needed for an
            interval from one to the other, and more ε does not help.
        computed: the columns that are computed from others, which may be what is missing.
    """
    lines = []
    for name, rows in uninformative.items():
        why = f"{TOO_FEW}, or values at both bounds" if name in quantiles else TOO_FEW
        several = len(next(iter(columns.values())))
        where = f" in {len(rows):,} of {several:,} rows" if len(rows) < several else ""
        if name in computed:
            part = "its interval, or that of a number in it, is all that is possible"
            lines.append(f"{number(name)} is missing (–){where}: {why}; {part}")
            continue
        found = {(columns[f"{name}_low"][row], columns[f"{name}_high"][row]) for row in rows}
        told = [" to ".join("no end" if end is None else number(end) for end in ends) for ends in found]
        possible = f" ({told[0]})" if len(told) == 1 else ""
        lines.append(f"{number(name)} is missing (–){where}: {why}; its interval is all that is possible{possible}")
    return lines
