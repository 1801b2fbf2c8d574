"""The scoring of a choice: its candidates, its score function, and on what lattice scores are compared."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from typing import Any, SupportsIndex, TypeAlias, TypedDict

from dither.errors import DataError, NumberError, SizeError, UnitError
from dither.mechanisms.additive.additive import read_flag
from dither.mechanisms.additive.lattice_step import choose_step
from dither.mechanisms.sensitivity import SensitivityLike, read_linf
from dither.numeric.number import NumberLike, integer
from dither.privacy.unit import Unit, UnitLike

MOST_CANDIDATES = 2**27

CandidatesLike: TypeAlias = SupportsIndex | Sequence[Hashable]  # how many there are, or what they are called
Score: TypeAlias = Callable[[Any, Any], Any]  # (data, candidate) -> a number


class Scoring(TypedDict):
    """What every choice has beside its price."""

    sensitivity: Fraction
    candidates: int | tuple[Hashable, ...]
    score: Score | None
    monotone: bool
    integers: bool
    step: Fraction
    unit: Unit


def read_scoring(
    sensitivity: SensitivityLike,
    candidates: CandidatesLike,
    score: Score | None,
    monotone: bool,
    integers: bool,
    step: NumberLike | None,
    unit: UnitLike | None,
) -> Scoring:
    """What every choice has beside its price, checked together."""
    moved, whom = read_linf(sensitivity, unit)
    if monotone and whom.replacement is whom:
        why = "a replaced person moves some scores up and others down"
        raise UnitError("monotone", monotone, f"the unit is '{whom}', and {why}", "monotone=False")
    listed = read_candidates(candidates)
    if score is not None and not callable(score):
        raise DataError("score", score, "it cannot be called", "a function of the data and a candidate")
    one_way, whole = read_flag(monotone, name="monotone"), read_flag(integers, name="integers")
    if whole and moved.denominator != 1:
        why = "whole scores move by whole numbers"
        raise NumberError("sensitivity", sensitivity, why, f"{math.ceil(moved)}, or integers=False")
    return {
        "sensitivity": moved,
        "candidates": listed,
        "score": score,
        "monotone": one_way,
        "integers": whole,
        "step": choose_step(step, moved, integers=whole),
        "unit": whom,
    }


def read_candidates(candidates: CandidatesLike) -> int | tuple[Hashable, ...]:
    """How many candidates there are, or what they are called."""
    found: int | tuple[Hashable, ...]
    if isinstance(candidates, Sequence) and not isinstance(candidates, (str, bytes)):
        found = tuple(candidates)
        count = len(found)
        try:
            different = len(set(found))
        except TypeError as error:
            raise DataError("candidates", candidates, "labels must be hashable", "text, numbers or tuples") from error
        if different < count:
            raise DataError("candidates", candidates, f"only {different} of {count} are different", "each label once")
    else:
        found = count = integer(candidates, name="candidates", least=1)  # type: ignore[arg-type]  # text is refused
    if not 1 <= count <= MOST_CANDIDATES:
        raise SizeError("candidates", count, f"there must be 1 to {MOST_CANDIDATES}", "at least one candidate")
    return found
