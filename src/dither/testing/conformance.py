"""Does a mechanism do what it says? Everything here is computed, nothing is sampled.

For every pair of neighbouring values, in both directions, the exact laws of the two releases (`laws.py`) are held
against the guarantee (`claim.py`).

Then the error: the probability that a release lies further off is at most 1 - confidence. Then the way back:
`for_error` at that error needs no more privacy. Then bad input: refused with an `InputError`, by type and shape and
never by value.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import attrs
from flint import arb

from dither.errors import BrokenPromise, DataError, InputError, show
from dither.fields import field_names
from dither.mechanisms.protocol import Mechanism
from dither.numeric.balls import precision
from dither.numeric.enclosure import to_ball
from dither.numeric.number import NumberLike
from dither.testing.claim import Claim
from dither.testing.enumerate import BITS, Outcomes
from dither.testing.laws import Laws

CONFIDENCES = ("0.5", "0.9", "0.95", "0.999")
POSITIVE = ("epsilon", "sensitivity", "l2_squared", "sigma2", "step", "gamma", "times", "cells", "k")
NOT_POSITIVE = (0, -1, float("nan"), float("inf"), -float("inf"), "nan", "", "x", True, [1], 1j)


@dataclass(frozen=True)
class Report:
    """What `check_mechanism` looked at, and found true."""

    mechanism: str
    pairs: int  # pairs of neighbouring values, each in both directions
    outputs: int  # outputs of the widest law
    epsilon: float  # the largest log ratio, of outputs a million times likelier than what was left out
    missing: float  # the largest probability that was left out
    errors: int  # how many half-widths were checked

    def __str__(self) -> str:
        return (
            f"{self.mechanism}: {self.pairs} pairs of neighbours, up to {self.outputs} outputs each, "
            f"largest log ratio {self.epsilon:.6g}, left out {self.missing:.1e}, {self.errors} half-widths"
        )


def check_mechanism(
    mechanism: Mechanism,
    *,
    pairs: Iterable[tuple[Any, Any]] | None = None,
    query: Callable[[Any], Any] | None = None,
    universe: Sequence[Any] = (),
    rows: int = 3,
    law: Callable[[Any], Outcomes] | None = None,
    cutoff: NumberLike = "1e-30",
) -> Report:
    """Raise BrokenPromise unless the mechanism does what it says.

    Neighbouring values are `pairs`; or the answers of `query` on all neighbouring data sets of up to `rows` rows from a
    small `universe`; or what `mechanism.neighbours()` lists. Draws must come from `dither.noise`, or `law` says what
    releases do.
    """
    checks = _Checks(mechanism, Laws(mechanism, pairs, query, universe, rows, law, cutoff))
    for _, check in checks.named():
        check()
    return checks.report()


def mechanism_checks(
    mechanism: Mechanism,
    *,
    pairs: Iterable[tuple[Any, Any]] | None = None,
    query: Callable[[Any], Any] | None = None,
    universe: Sequence[Any] = (),
    rows: int = 3,
    law: Callable[[Any], Outcomes] | None = None,
    cutoff: NumberLike = "1e-30",
) -> list[tuple[str, Callable[[], None]]]:
    """What `check_mechanism` checks, one by one: pairs of a name and a function that raises BrokenPromise.

    For `pytest.mark.parametrize`, so that a test says which promise is broken. Nothing is computed before a check is
    called; each can be called by itself, and laws are computed once for all of them. What does not apply to a mechanism
    (`for_error` where it has none) passes.
    """
    return _Checks(mechanism, Laws(mechanism, pairs, query, universe, rows, law, cutoff)).named()


class _Checks:
    """The checks of one mechanism, and what they found."""

    def __init__(self, mechanism: Mechanism, laws: Laws) -> None:
        self._mechanism, self._laws = mechanism, laws
        self._compared: set[tuple[Any, Any]] = set()
        self._ratio = 0.0
        self._errors = 0

    def named(self) -> list[tuple[str, Callable[[], None]]]:
        """In the order in which they are made."""
        return [
            ("guarantee", self._guarantee),
            ("error", self._error),
            ("for_error", partial(_check_way_back, self._mechanism)),
            ("bad values", self._bad_values),
            ("bad parameters", partial(_check_bad_fields, self._mechanism)),
        ]

    def report(self) -> Report:
        """What was found, once all of them passed."""
        laws = self._laws.all().values()
        missing = max(float(law.missing.upper()) for law in laws)
        widest = max(len(law.masses) for law in laws)
        return Report(show(self._mechanism), len(self._compared) // 2, widest, self._ratio, missing, self._errors)

    def _guarantee(self) -> None:
        """Every pair of neighbours in both directions, as soon as both laws are known."""
        compared: set[tuple[Any, Any]] = set()
        claim, ratio = Claim(self._mechanism.guarantee), 0.0
        for pair in self._laws.pairs:
            keys = self._laws.keys(pair)
            for first, second in (keys, keys[::-1]):
                if first != second and (first, second) not in compared:
                    compared.add((first, second))
                    values, laws = self._laws.values, self._laws.known
                    ratio = max(ratio, claim.check(values[first], values[second], laws[first], laws[second]))
        if not compared:
            why = "the values of each pair are equal"
            raise DataError("pairs", self._laws.pairs[:3], why, "values of neighbouring data sets that differ")
        self._compared, self._ratio = compared, ratio

    def _error(self) -> None:
        laws = self._laws.all()
        self._errors = _check_errors(self._mechanism, self._laws.values, laws)

    def _bad_values(self) -> None:
        _check_bad_values(self._mechanism, self._laws.pairs[0][0])


# -- the error -------------------------------------------------------------------------------------------------------


def _check_errors(mechanism: Mechanism, values: dict[Any, Any], laws: dict[Any, Outcomes]) -> int:
    checked = 0
    for level in CONFIDENCES:
        try:
            width = mechanism.error(level)
        except InputError:
            continue  # a mechanism may say that it has none
        _check_width(width)
        for key, law in laws.items():
            covered = partial(_covers, mechanism, values[key], width)
            with precision(BITS):
                outside = sum((mass for o, mass in law.masses.items() if not covered(law.outputs[o])), start=arb(0))
                if outside > to_ball(1 - Fraction(level)):
                    found = f"P(further off than {width!r}) = {float(outside):.6g} for the value {values[key]!r}"
                    raise BrokenPromise("error", found, f"it exceeds 1 - {level}", "a wider half-width")
            checked += 1
    return checked


def _check_width(width: Any) -> None:
    for part in width if isinstance(width, tuple) else (width,):
        if not isinstance(part, (int, float, Fraction)) or isinstance(part, bool) or not 0 <= part < math.inf:
            raise BrokenPromise("error", width, "a half-width is a number that is not negative", "a finite half-width")


def _covers(mechanism: Mechanism, value: Any, width: Any, output: Any) -> bool:
    if hasattr(mechanism, "shortfall"):  # a choice is off by what it falls short of the best
        return bool(mechanism.shortfall(value, output) <= Fraction(width))
    truth = mechanism.truth(value) if hasattr(mechanism, "truth") else value
    return _within(_plain(output), _plain(truth), width)


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else value


def _within(output: Any, truth: Any, width: Any) -> bool:
    if isinstance(width, tuple):
        return all(_within(o, t, w) for o, t, w in zip(output, truth, width, strict=True))
    if isinstance(truth, (list, tuple)):
        return all(_within(o, t, width) for o, t in zip(output, truth, strict=True))
    rounding = Fraction(math.ulp(output)) / 2 if isinstance(output, float) else 0  # a float stands for what is nearest
    return abs(Fraction(output) - Fraction(truth)) <= Fraction(width) + rounding


def _check_way_back(mechanism: Mechanism) -> None:
    build = getattr(type(mechanism), "for_error", None)
    if build is None:
        return
    names = set(inspect.signature(build).parameters)
    if "same" in names:  # it takes what the mechanism itself takes
        names = set(field_names(type(mechanism)) or names) - {"epsilon"}
    same = {name: getattr(mechanism, name) for name in names if hasattr(mechanism, name)}
    if "l2_squared" in same:
        same.pop("l2_sensitivity", None)
    for level in CONFIDENCES:
        width = mechanism.error(level)
        try:
            found = build(width, level, **same)
        except InputError:
            continue  # the width needs no noise at all
        if found.error(level) > width:
            raise BrokenPromise("for_error", found, f"its error at {level} exceeds {width}", "more privacy loss")
        for delta in (0, "1e-6"):
            here, there = mechanism.guarantee.epsilon(delta), found.guarantee.epsilon(delta)
            if there > here * (1 + 1e-9):
                why = f"it needs epsilon {there} at delta {delta}, where {here} is enough"
                raise BrokenPromise("for_error", found, why, "the least epsilon")


# -- bad input -------------------------------------------------------------------------------------------------------


def _check_bad_values(mechanism: Mechanism, example: Any) -> None:
    parts = _numbers(example)
    if not all(isinstance(x, (int, float, Fraction)) for x in parts):
        return  # its values are not numbers: nothing is known about them here
    listed = isinstance(_plain(example), (list, tuple))

    def release(filling: object) -> bool:
        """Whether it was answered, and then with something finite."""
        try:
            answer = mechanism.release([filling] * len(parts) if listed else filling)
        except InputError:
            return False
        if not all(math.isfinite(x) for x in _numbers(answer) if isinstance(x, float)):
            raise BrokenPromise("release", answer, f"it is not finite, for the value {filling!r}", "a bounded release")
        return True

    for filling in (None, "text", 1j, object()):
        if release(filling):
            raise BrokenPromise("release", filling, "it is no number and was answered", "an InputError")
    for plain, extreme in ((1.5, [math.nan, math.inf, -math.inf, 1e308, 5e-324]), (3, [10**400, -(2**63), 2**64])):
        usual = release(plain)
        for filling in extreme:
            if release(filling) is not usual:
                why = f"{plain} is {'answered' if usual else 'refused'} and this is not: refusals must not depend on values"
                raise BrokenPromise("release", filling, why, "saturation at a public bound, NaN as 0")
    if listed and not getattr(mechanism, "any_length", False):
        for wrong in ([], [*parts, *parts]):
            try:
                mechanism.release(wrong)
            except InputError:
                continue
            raise BrokenPromise("release", wrong, "it has the wrong shape and was answered", "a SizeError")


def _numbers(answer: Any) -> list[Any]:
    plain = _plain(answer)
    return [x for item in plain for x in _numbers(item)] if isinstance(plain, (list, tuple)) else [plain]


def _check_bad_fields(mechanism: Mechanism) -> None:
    change: Any = attrs.evolve if attrs.has(type(mechanism)) else dataclasses.replace
    for name in field_names(type(mechanism)) or ():
        for bad in NOT_POSITIVE if name in POSITIVE else ():
            try:
                change(mechanism, **{name: bad})
            except InputError:
                continue
            raise BrokenPromise(name, bad, "it makes no sense and was accepted", "an InputError")
