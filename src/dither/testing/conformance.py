"""Conformance tests of a mechanism: its guarantee, its error and its refusals, computed and not sampled.

For every pair of neighbouring values, in both directions, the exact laws of the two releases (`laws.py`) are held
against the guarantee (`claim.py`).

Then the error: the probability that a release lies further off is at most 1 - confidence. Then the way back:
`for_error` at that error needs no more privacy. Then bad input: refused with an `InputError`, by type and shape and
never by value.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

from flint import arb

from dither.arguments import argument_errors
from dither.errors import BrokenPromise, DataError, InputError, show
from dither.fields import field_names
from dither.mechanisms.protocol import Mechanism
from dither.numeric.balls import precision
from dither.numeric.enclosure import to_ball
from dither.numeric.number import NumberLike
from dither.numeric.representation import short_repr
from dither.privacy.guarantee.guarantee import Guarantee
from dither.testing.claim import Claim
from dither.testing.enumerate import BITS, Outcomes
from dither.testing.invalid_input import as_list, check_parameters, check_values
from dither.testing.laws import Laws

CONFIDENCES = ("0.5", "0.9", "0.95", "0.999")


@argument_errors
@dataclass(frozen=True)
class Report:
    """What `check_mechanism` looked at, and found true.

    Args:
        mechanism: The mechanism, as it prints.
        pairs: How many pairs of neighbouring values were compared, each in both directions.
        outputs: How many outputs the widest law has.
        epsilon: The largest log ratio, of outputs a million times likelier than what was left out.
        missing: The largest probability that was left out.
        errors: How many half-widths were checked.

    Example:
        >>> import dither
        >>> from dither.testing import check_mechanism
        >>> report = check_mechanism(dither.RandomizedResponse(epsilon=1))
        >>> report.outputs, round(report.epsilon, 6)
        (2, 1.0)
    """

    mechanism: str
    pairs: int  # pairs of neighbouring values, each in both directions
    outputs: int  # outputs of the widest law
    epsilon: float  # the largest log ratio, of outputs a million times likelier than what was left out
    missing: float  # the largest probability that was left out
    errors: int  # how many half-widths were checked
    __repr__ = short_repr

    def __str__(self) -> str:
        return (
            f"{self.mechanism}: {self.pairs} pairs of neighbours, up to {self.outputs} outputs each, "
            f"largest log ratio {self.epsilon:.6g}, left out {self.missing:.1e}"
            + (f", {self.errors} half-widths" if self.errors else "")
        )


@argument_errors
def check_privacy(
    release: Callable[[Any], Any],
    guarantee: Guarantee,
    pairs: Iterable[tuple[Any, Any]],
    *,
    law: Callable[[Any], Outcomes] | None = None,
    cutoff: NumberLike = "1e-30",
) -> Report:
    """Raise BrokenPromise unless a function keeps a guarantee on every pair of neighboring values.

    The output distributions are computed by going through every outcome of every draw, not sampled. Nothing but privacy
    is checked: the function needs no class, no error and no rules for bad input.

    Args:
        release: A function of one value that draws from `dither.noise`, and from nothing else random.
        guarantee: What is claimed, such as `dither.pure(1)`.
        pairs: Values that two neighboring data sets can have; each pair is compared in both directions.
        law: The exact output distribution for a value; None where all draws come from `dither.noise`.
        cutoff: Runs less likely than this are left out of a distribution.

    Raises:
        BrokenPromise: The output distributions of a pair differ by more than the guarantee allows.
        DataError: There are no two values to compare, the function draws nothing, or something else is seen to be random.
        SizeError: A distribution has too many outcomes, or too much of it was left out.

    Example:
        >>> import dither
        >>> from dither.testing import check_privacy
        >>> def answer(smokes: bool) -> bool:
        ...     return smokes ^ dither.noise.Bernoulli("1/4").sample()
        >>> round(check_privacy(answer, dither.pure("ln(3)"), [(False, True)]).epsilon, 4)
        1.0986
    """
    if not callable(release):
        why = "it cannot be called"
        raise DataError("release", release, why, "a function of one value; check_mechanism takes a mechanism")
    if not isinstance(pairs, Iterable):
        raise DataError("pairs", pairs, "it is not a list of pairs", "[(False, True)]")
    laws = Laws(_Function(release, guarantee), pairs, None, (), 3, law, cutoff)
    compared, ratio = _compare(laws, guarantee)
    return _report(release, laws, compared, ratio, 0)


@dataclass(frozen=True)
class _Function:
    """A function with the guarantee that is claimed for it."""

    release: Callable[[Any], Any]
    guarantee: Guarantee


@argument_errors
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
    """Raise BrokenPromise unless the mechanism does what it says: a conformance test, computed and not sampled.

    Args:
        mechanism: What is checked: it has `guarantee`, `error` and `release`.
        pairs: Neighbouring values; None for what `query` and `universe` give, or else `mechanism.neighbours()`.
        query: Its answers on all neighbouring data sets are the neighbouring values.
        universe: The values that a row can have, for `query`.
        rows: How many rows a data set has at most, for `query`.
        law: The exact law of a release; None where all draws come from `dither.noise`.
        cutoff: Runs less likely than this are left out of a law.

    Raises:
        BrokenPromise: An output distribution breaks the guarantee or the error, or a refusal depends on a value.
        DataError: It is no mechanism, it takes bad input, or there are no two values to compare.
        SizeError: A law has too many outcomes, or too much of it was left out.

    Example:
        >>> import dither
        >>> from dither.testing import check_mechanism
        >>> check_mechanism(dither.Geometric(epsilon=1, sensitivity=1), pairs=[(0, 1)]).pairs
        1
    """
    checks = _Checks(_checked(mechanism), Laws(mechanism, pairs, query, universe, rows, law, cutoff))
    for _, check in checks.named():
        check()
    return checks.report()


@argument_errors
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

    Args:
        mechanism: What is checked: it has `guarantee`, `error` and `release`.
        pairs: Neighbouring values; None for what `query` and `universe` give, or else `mechanism.neighbours()`.
        query: Its answers on all neighbouring data sets are the neighbouring values.
        universe: The values that a row can have, for `query`.
        rows: How many rows a data set has at most, for `query`.
        law: The exact law of a release; None where all draws come from `dither.noise`.
        cutoff: Runs less likely than this are left out of a law.

    Raises:
        DataError: It is no mechanism.

    Example:
        >>> import dither
        >>> from dither.testing import mechanism_checks
        >>> [name for name, check in mechanism_checks(dither.RandomizedResponse(epsilon=1))]
        ['guarantee', 'error', 'for_error', 'bad values', 'bad parameters']
    """
    return _Checks(_checked(mechanism), Laws(mechanism, pairs, query, universe, rows, law, cutoff)).named()


def _checked(mechanism: Mechanism) -> Mechanism:
    """The mechanism; refused by the first of guarantee, release and error that it lacks, with what would work."""
    if isinstance(mechanism, type):
        raise DataError("mechanism", mechanism, "it is a class", f"an instance: {mechanism.__name__}(...)")
    alone = "check_privacy(release, guarantee, pairs), which takes a plain function and needs nothing else"
    ways = {
        "guarantee": f"a guarantee such as dither.pure(1); or {alone}",
        "release": "a method release(value), which draws from dither.noise",
        "error": f"a method error(confidence), which gives a half-width or raises a GuaranteeError; or {alone}",
    }
    for part, instead in ways.items():
        if not hasattr(mechanism, part):
            raise DataError("mechanism", mechanism, f"it has no {part}", instead)
    return mechanism


class _Checks:
    """The checks of one mechanism, and what they found."""

    def __init__(self, mechanism: Mechanism, laws: Laws) -> None:
        self._mechanism, self._laws = mechanism, laws
        self._compared, self._ratio, self._errors = 0, 0.0, 0

    def named(self) -> list[tuple[str, Callable[[], None]]]:
        """In the order in which they are made."""
        return [
            ("guarantee", self._guarantee),
            ("error", self._error),
            ("for_error", partial(_check_way_back, self._mechanism)),
            ("bad values", self._bad_values),
            ("bad parameters", partial(check_parameters, self._mechanism)),
        ]

    def report(self) -> Report:
        """What was found, once all of them passed."""
        return _report(self._mechanism, self._laws, self._compared, self._ratio, self._errors)

    def _guarantee(self) -> None:
        self._compared, self._ratio = _compare(self._laws, self._mechanism.guarantee)

    def _error(self) -> None:
        laws = self._laws.all()
        self._errors = _check_errors(self._mechanism, self._laws.values, laws)

    def _bad_values(self) -> None:
        check_values(self._mechanism, self._laws.pairs[0][0])


def _compare(laws: Laws, guarantee: Guarantee) -> tuple[int, float]:
    """Compare every pair in both directions, as soon as both laws are known: how many pairs, and the largest log ratio."""
    compared: set[tuple[Any, Any]] = set()
    claim, ratio = Claim(guarantee), 0.0
    for pair in laws.pairs:
        keys = laws.keys(pair)
        for first, second in (keys, keys[::-1]):
            if first != second and (first, second) not in compared:
                compared.add((first, second))
                try:
                    found = claim.check(laws.values[first], laws.values[second], laws.known[first], laws.known[second])
                except BrokenPromise:
                    laws.confirm((first, second))
                    raise
                ratio = max(ratio, found)
    if not compared:
        why = "the values of each pair are equal"
        raise DataError("pairs", laws.pairs[:3], why, "values of neighbouring data sets that differ")
    return len(compared) // 2, ratio


def _report(checked: Mechanism | Callable[[Any], Any], laws: Laws, compared: int, ratio: float, errors: int) -> Report:
    known = laws.all().values()
    missing = max(float(law.missing.upper()) for law in known)
    return Report(show(checked), compared, max(len(law.masses) for law in known), ratio, missing, errors)


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
    return _within(as_list(output), as_list(truth), width)


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
