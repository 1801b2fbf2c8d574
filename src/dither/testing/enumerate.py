"""The exact output distribution of a release, by exhaustive enumeration of the outcomes of every draw.

A release that draws from `dither.noise` is run again and again. Each draw is answered with one of its outcomes, and
the run ends with an output whose probability is the product of those of the outcomes. The runs together are a tree; a
branch is left when its probability falls below the cutoff, and what is left out is counted as `missing`. So for each
output the computed probability is a lower bound of the true one, and together with `missing` an upper bound.

That is so if nothing else is random. Draws from the generators of `random` and `numpy.random` are seen by their states, and
others (`secrets`, a generator of one's own) where they change an output of runs that are made again.
"""

from __future__ import annotations

import math
import pickle
import random
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any, NoReturn, TypeVar

import numpy as np
from flint import arb

from dither.arguments import argument_errors
from dither.errors import DataError, SizeError
from dither.fields import field_names
from dither.noise.entropy import rehearsed, swapped
from dither.noise.law import Law, check_size
from dither.numeric.balls import precision
from dither.numeric.enclosure import to_ball
from dither.numeric.number import Number, NumberLike, rational
from dither.numeric.representation import short_repr

BITS = 192
MOST_RUNS = 200_000
REPEATED = 20  # so often the first run is made again, the k-th a k-th as often, to see that nothing else is random

T = TypeVar("T")
OutcomeStream = Callable[[], Iterator[tuple[Any, arb]]]


@argument_errors
@dataclass(frozen=True)
class Outcomes:
    """The exact law of a release: its outputs, each with its probability, and how much probability was left out.

    Args:
        masses: The probability of each output as a ball, by its key (`as_key`): not above the true one.
        outputs: The output of each key.
        missing: How much probability was left out, not below the truth.
        draws: How many draws the longest run made.

    Example:
        >>> import dither
        >>> from dither.testing import outcomes
        >>> law = outcomes(dither.RandomizedResponse(epsilon=dither.ln(3)).release, True)
        >>> low, high = law.probability(True)
        >>> low <= 0.75 <= high
        True
    """

    masses: dict[Hashable, arb]  # by key: see `as_key`
    outputs: dict[Hashable, Any]  # the output of each key
    missing: arb  # an exact number, not below the truth
    draws: int  # how many draws the longest run made
    __repr__ = short_repr

    def probability(self, output: object) -> tuple[float, float]:
        """Floats below and above the probability of an `output`."""
        ball = self.masses.get(as_key(output), arb(0))
        return float(ball.lower()), float((ball + self.missing).upper())


@argument_errors
def outcomes(release: Callable[[T], Any], value: T, *, cutoff: NumberLike = "1e-30") -> Outcomes:
    """The law of release(value), by going through every outcome of every draw.

    Args:
        release: A function that draws from `dither.noise` and from nothing else random.
        value: What it is called with.
        cutoff: Runs less likely than this are left out, and counted as `missing`.

    Raises:
        DataError: It drew nothing, drew past `dither.noise`, or the same draws gave two outputs.
        NumberError: `cutoff` is no rational number above zero.
        SizeError: There are more runs than can be gone through.

    Example:
        >>> from dither.noise import Bernoulli
        >>> from dither.testing import outcomes
        >>> law = outcomes(lambda value: value ^ Bernoulli("1/4").sample(), False)
        >>> [str(law.outputs[key]) for key in law.masses], law.draws
        (['False', 'True'], 1)
    """
    found = outcomes_of(release, value, cutoff=cutoff)
    if found.draws == 0:
        raise drew_nothing(release)
    return found


def outcomes_of(release: Callable[[T], Any], value: T, *, cutoff: NumberLike) -> Outcomes:
    """`outcomes`, also where nothing is drawn for this value."""
    least = rational(cutoff, name="cutoff", positive=True)
    masses: dict[Hashable, arb] = {}
    outputs: dict[Hashable, Any] = {}
    states = _generator_states()
    with precision(BITS):
        script = _Script(to_ball(least))
        runs = 0
        while script.more:
            runs += 1
            if runs > MOST_RUNS:
                raise _too_many(f"{runs} runs")
            again = [script.once(release, value) for _ in range(REPEATED // runs)]
            output = script.run(release, value)
            if _generator_states() != states:
                raise DataError("release", release, "it draws from random or numpy.random", "draws from dither.noise only")
            for other in again:
                if _shown(other) != _shown(output):
                    raise two_outputs((other, output))
            if output is not None:
                key = as_key(output[0])
                masses[key] = masses[key] + script.chance if key in masses else script.chance
                outputs[key] = output[0]
        missing = (1 - sum(masses.values(), start=arb(0))).upper()
        if missing < 0:
            raise DataError("release", release, "its draws differ from run to run", "a release without a memory")
        return Outcomes(masses, outputs, missing, script.longest)


def drew_nothing(release: Callable[[Any], Any]) -> DataError:
    return DataError("release", release, "it drew nothing from dither.noise", "noise that is drawn from there")


def two_outputs(found: Any) -> DataError:
    return DataError("release", found, "the same draws gave two outputs", "draws from dither.noise only")


def _generator_states() -> tuple[Any, bytes]:
    """Of the generators that others draw from without making one."""
    return random.getstate(), pickle.dumps(np.random.get_state(legacy=False))


def _too_many(found: str | Law) -> SizeError:
    why = "its noise has too many outcomes to go through"
    instead = "the same mechanism with a coarser step, a smaller scale or fewer dimensions; or a larger cutoff"
    return SizeError("release", found, why, instead)


def _shown(output: tuple[Any] | None) -> Hashable:
    return None if output is None else as_key(output[0])


PLAIN = (int, float, complex, str, bytes, type(None), Fraction, Decimal, Number, Enum, np.generic)


def as_key(output: Any) -> Hashable:
    """Two outputs have one key exactly when they look the same: 1, 1.0 and True differ, as do 0.0 and -0.0, [1] and (1,)."""
    kind = type(output).__name__
    if isinstance(output, PLAIN):
        return kind, repr(output)
    if isinstance(output, np.ndarray):
        return kind, str(output.dtype), output.shape, tuple(as_key(item) for item in output.reshape(-1).tolist())
    if isinstance(output, (list, tuple)):
        return kind, tuple(as_key(item) for item in output)
    if isinstance(output, (set, frozenset)):
        return kind, frozenset(as_key(item) for item in output)
    if isinstance(output, dict):
        return kind, tuple((as_key(name), as_key(item)) for name, item in output.items())
    names = field_names(type(output))
    if names is not None:
        return kind, tuple(as_key(getattr(output, name)) for name in names)
    raise DataError("output", kind, "what cannot be compared cannot be checked", "numbers, text, lists, arrays, dataclasses")


class _BelowCutoff(Exception):  # noqa: N818 - control flow, not an error
    """This branch is below the cutoff."""


class _Draw:
    """One draw on the path: which of its outcomes is being tried."""

    def __init__(self, listed: _OutcomeList, before: arb) -> None:
        self.listed, self.before, self.at = listed, before, 0

    def chance(self) -> arb | None:
        """Of the path up to and with the present outcome; None when there is no further outcome."""
        entry = self.listed.get(self.at)
        return None if entry is None else self.before * entry[1]


class _OutcomeList:
    """The outcomes of a draw, as far as they have been asked for."""

    def __init__(self, options: OutcomeStream) -> None:
        self._rest, self._known = options(), list[tuple[Any, arb]]()

    def get(self, at: int) -> tuple[Any, arb] | None:
        while len(self._known) <= at:
            entry = next(self._rest, None)
            if entry is None:
                return None
            self._known.append(entry)
        return self._known[at]


class _NoBits:
    """Stands in for the stream: draws that are not gone through would go unseen."""

    def _refuse(self, *_: object) -> NoReturn:
        raise DataError("release", "raw bits", "it draws past dither.noise", "the laws of dither.noise, as they are")

    fill = words = word = bits = _refuse


class _Script:
    """Goes through all paths, depth first."""

    def __init__(self, cutoff: arb) -> None:
        self._cutoff = cutoff
        self._path: list[_Draw] = []
        self._at = 0
        self._laws: dict[Law, _OutcomeList] = {}
        self.more = True
        self.chance = arb(1)
        self.longest = 0

    def run(self, release: Callable[[T], Any], value: T) -> tuple[Any] | None:
        """The output of the present path, wrapped; None if it was left. Then the next path is prepared."""
        output = self.once(release, value)
        self._advance()
        return output

    def once(self, release: Callable[[T], Any], value: T) -> tuple[Any] | None:
        """The output of the present path."""
        self._at, self.chance = 0, arb(1)
        try:
            with rehearsed(self), swapped(_NoBits()):
                output = (release(value),)
        except _BelowCutoff:
            output = None
        if self._at < len(self._path):
            raise DataError("release", release, "its draws differ from run to run", "a release without a memory")
        self.longest = max(self.longest, self._at)
        return output

    def _advance(self) -> None:
        while self._path:
            draw = self._path[-1]
            draw.at += 1
            chance = draw.chance()
            if chance is not None and chance >= self._cutoff:
                return
            self._path.pop()  # outcomes are listed with falling probability: the others are below the cutoff too
        self.more = False

    def draws(self, options: OutcomeStream, size: int | tuple[int, ...] | None, dtype: type = np.int64) -> Any:
        if size is None:
            return self._one(options)
        shape = check_size(size)
        return np.array([self._one(options) for _ in range(math.prod(shape))], dtype=dtype).reshape(shape)

    def _one(self, options: OutcomeStream) -> Any:
        if self._at == len(self._path):
            draw = _Draw(self._list(options), self.chance)
            chance = draw.chance()
            if chance is None or not chance >= self._cutoff:
                raise _BelowCutoff
            self._path.append(draw)
        draw = self._path[self._at]
        self._at += 1
        entry, chance = draw.listed.get(draw.at), draw.chance()
        assert entry is not None
        assert chance is not None
        self.chance = chance
        return entry[0]

    def _list(self, options: OutcomeStream) -> _OutcomeList:
        law = getattr(options, "__self__", None)
        if not isinstance(law, Law):
            return _OutcomeList(options)
        if law not in self._laws:
            if law.mass(MOST_RUNS) >= self._cutoff:
                raise _too_many(law)  # at once, and not after as many runs
            self._laws[law] = _OutcomeList(options)
        return self._laws[law]
