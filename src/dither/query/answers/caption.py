"""What stands around the table of an answer: below the names of its columns, and below its rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction

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


def wide_words(
    bounds: Mapping[str, tuple[Fraction, Fraction]], columns: Mapping[str, Column], quantiles: Collection[str] = ()
) -> list[str]:
    """Which intervals are all that the bounds allow, a line for each column: its numbers could be read as results.

    Args:
        bounds: of the values of a column, as the policy declares them.
        columns: the table that was released.
        quantiles: the columns that are quantiles. Where half of the values are 0 and half are 1, no noise is needed for an
            interval of 0 to 1, and more ε does not help.
    """
    lines = []
    for name, (lower, upper) in bounds.items():
        if not {f"{name}_low", f"{name}_high"} <= set(columns):
            continue
        ends = list(zip(columns[f"{name}_low"], columns[f"{name}_high"], strict=True))
        wide = sum(_holds_all(low, high, float(lower), float(upper)) for low, high in ends)
        where, nothing = f" in {wide:,} of {len(ends):,} rows", "these rows say nothing about it"
        if wide == len(ends):
            where, nothing = "", "this answer says nothing about it"
        told = f"the interval of {number(name)} is as wide as its bounds ({number(float(lower))} to {number(float(upper))})"
        said = "it leaves open every value" if name in quantiles else f"{nothing}; more ε or larger groups would"
        lines += [f"{told}{where}: {said}"] if wide else []
    return lines


def _holds_all(low: float | None, high: float | None, lower: float, upper: float) -> bool:
    return (low is None or low <= lower) and (high is None or high >= upper)
