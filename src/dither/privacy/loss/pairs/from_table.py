"""A pair from two finite distributions that somebody wrote down, with rational probabilities."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from dither.errors import GuaranteeError
from dither.numeric.number import Number, NumberLike, ln, rational
from dither.privacy.loss.pairs.finite import FinitePair, LossRow

MOST_OUTCOMES = 10_000

Distribution: TypeAlias = Sequence[NumberLike] | Mapping[Any, NumberLike]  # probabilities, or outcomes with theirs


def table(p: Distribution, q: Distribution) -> FinitePair:
    """The pair of two distributions: outcomes with one loss are put together; what only one of them has is lost."""
    rows_p, rows_q = _probabilities(p, "p"), _probabilities(q, "q")
    if isinstance(p, Mapping) != isinstance(q, Mapping) or (not isinstance(p, Mapping) and len(rows_p) != len(rows_q)):
        raise GuaranteeError("q", q, "its outcomes are not those of p", "two lists of one length, or two mappings")
    merged: dict[Fraction, Fraction] = {}
    gone = come = Fraction(0)
    for outcome in {**rows_p, **rows_q}:
        a, b = rows_p.get(outcome, Fraction(0)), rows_q.get(outcome, Fraction(0))
        if not a or not b:
            gone, come = gone + a, come + b
        else:
            merged[a / b] = merged.get(a / b, Fraction(0)) + a
    rows: list[LossRow] = [(ln(ratio), merged[ratio], Number(0)) for ratio in sorted(merged, reverse=True)]
    if not rows:
        raise GuaranteeError(
            "p, q", (p, q), "they have no outcome in common: everything is lost", "distributions that overlap"
        )
    return FinitePair(tuple(rows), gone, come)


def _probabilities(values: Distribution, name: str) -> dict[Hashable, Fraction]:
    items: dict[Hashable, NumberLike]
    if isinstance(values, Mapping):
        items = dict(values)
    elif isinstance(values, Sequence) and not isinstance(values, (str, bytes)):
        items = dict(enumerate(values))
    else:
        raise GuaranteeError(
            name, values, "it is not a finite distribution", "['1/4', '3/4'], or {'yes': '1/4', 'no': '3/4'}"
        )
    if len(items) > MOST_OUTCOMES:
        raise GuaranteeError(name, len(items), f"more than {MOST_OUTCOMES} outcomes are not tabled", "fewer outcomes")
    found = {key: rational(value, name=f"{name}[{key!r}]", nonnegative=True) for key, value in items.items()}
    if sum(found.values()) != 1:
        why = f"its probabilities add up to {sum(found.values(), start=Fraction(0))}, not to 1"
        raise GuaranteeError(name, values, why, "exact probabilities such as '1/3', which add up to 1")
    return found
