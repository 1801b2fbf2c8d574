"""Whether a mechanism refuses invalid input as it should: with an `InputError`, by type and shape and never by value.

A refusal that depends on a private value would tell something about it: that is a BrokenPromise. Bad input that is taken
harms no privacy by itself: that is a DataError.
"""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction
from typing import Any

import attrs

from dither.errors import BrokenPromise, DataError, InputError
from dither.fields import field_names
from dither.mechanisms.protocol import Mechanism

POSITIVE = ("epsilon", "sensitivity", "l2_squared", "sigma2", "step", "gamma", "times", "cells", "k")
ALONE = "check_privacy(release, guarantee, pairs) looks at privacy alone"
NOT_POSITIVE = (0, -1, float("nan"), float("inf"), -float("inf"), "nan", "", "x", True, [1], 1j)


def as_list(value: Any) -> Any:
    """An array as a list; anything else as it is."""
    return value.tolist() if hasattr(value, "tolist") else value


def check_values(mechanism: Mechanism, example: Any) -> None:
    """What is no number is refused, and a number is never refused for its size; for mechanisms whose values are numbers."""
    parts = _numbers(example)
    if not all(isinstance(x, (int, float, Fraction)) for x in parts):
        return  # its values are not numbers: nothing is known about them here
    listed = isinstance(as_list(example), (list, tuple))

    def release(filling: object) -> bool:
        """Whether it was answered, and then with something finite."""
        answer = _released(mechanism, [filling] * len(parts) if listed else filling)
        if answer is None:
            return False
        if not all(math.isfinite(x) for x in _numbers(answer[0]) if isinstance(x, float)):
            raise BrokenPromise("release", answer[0], f"it is not finite, for the value {filling!r}", "a bounded release")
        return True

    for filling in (None, "text", 1j, object()):
        if release(filling):
            raise DataError("release", filling, "it is not a number and was answered", f"an InputError; {ALONE}")
    for plain, extreme in ((1.5, [math.nan, math.inf, -math.inf, 1e308, 5e-324]), (3, [10**400, -(2**63), 2**64])):
        usual = release(plain)
        for filling in extreme:
            if release(filling) is not usual:
                why = f"{plain} is {'answered' if usual else 'refused'} and this is not: refusals must not depend on values"
                raise BrokenPromise("release", filling, why, "saturation at a public bound, NaN as 0")
    if listed and not getattr(mechanism, "any_length", False):
        for wrong in ([], [*parts, *parts]):
            if _released(mechanism, wrong) is not None:
                raise DataError("release", wrong, "it has the wrong shape and was answered", f"a SizeError; {ALONE}")


def _released(mechanism: Mechanism, value: Any) -> tuple[Any] | None:
    """Return what a value is answered with; None where it is refused as it should be."""
    try:
        return (mechanism.release(value),)
    except InputError:
        return None
    except Exception as error:
        why = f"it ends in a {type(error).__name__}, which is no refusal"
        raise DataError("release", value, why, f"an InputError; {ALONE}") from error


def _numbers(answer: Any) -> list[Any]:
    plain = as_list(answer)
    return [x for item in plain for x in _numbers(item)] if isinstance(plain, (list, tuple)) else [plain]


def check_parameters(mechanism: Mechanism) -> None:
    """Parameters that must be above zero are refused where they are not."""
    change: Any = attrs.evolve if attrs.has(type(mechanism)) else dataclasses.replace
    for name in field_names(type(mechanism)) or ():
        for bad in NOT_POSITIVE if name in POSITIVE else ():
            try:
                change(mechanism, **{name: bad})
            except InputError:
                continue
            raise DataError(name, bad, "it makes no sense and was accepted", f"an InputError; {ALONE}")
