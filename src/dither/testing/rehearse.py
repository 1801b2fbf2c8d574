"""The exact law of a whole release: every draw is gone through, outcome by outcome, with its probability.

A release that draws from `dither.noise` is run again and again. Each draw is answered with one of its outcomes, and
the run ends with an output whose probability is the product of those of the outcomes. The runs together are a tree; a
branch is left when its probability falls below the cutoff, and what is left out is counted as `missing`. So for each
output the computed probability is a lower bound of the true one, and together with `missing` an upper bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb

from dither.errors import DataError, SizeError
from dither.noise.entropy import _rehearsed
from dither.noise.law import Law, check_size
from dither.numeric.enclosure import precision, to_ball
from dither.numeric.number import rational

BITS = 192
MOST_RUNS = 300_000

Options = Callable[[], Iterator[tuple[Any, arb]]]


@dataclass(frozen=True)
class Outcomes:
    """The outputs that were reached, each with its probability, and how much probability was left out."""

    masses: dict[Any, arb]
    missing: arb
    draws: int  # how many draws the longest run made

    def probability(self, output: object) -> tuple[float, float]:
        """Below and above the probability of an output."""
        ball = self.masses.get(as_key(output), arb(0))
        return float(ball.lower()), float((ball + self.missing).upper())


def outcomes(release: Callable[[Any], Any], value: object, *, cutoff: object = "1e-30") -> Outcomes:
    """The law of release(value), by going through every draw; branches below the cutoff are left out."""
    least = rational(cutoff, name="cutoff", positive=True)
    masses: dict[Any, arb] = {}
    with precision(BITS):
        script = _Script(to_ball(least))
        runs = 0
        while script.more:
            runs += 1
            if runs > MOST_RUNS:
                raise SizeError("release", f"{runs} runs", "its noise has too many outcomes to go through", _COARSER)
            output = script.run(release, value)
            if output is not None:
                key, chance = as_key(output[0]), script.chance
                masses[key] = masses[key] + chance if key in masses else chance
        if script.longest == 0:
            raise DataError("release", release, "it drew nothing from dither.noise", "noise that is drawn from there")
        found = sum(masses.values(), start=arb(0))
        return Outcomes(masses, (1 - found).max(arb(0)), script.longest)


_COARSER = "the same mechanism with a coarser step, a smaller scale or fewer dimensions; or a larger cutoff"


def as_key(output: Any) -> Any:
    """An output that can be looked up: arrays and lists as tuples, whole numbers as plain ones."""
    if isinstance(output, np.ndarray):
        output = output.tolist()
    if isinstance(output, (list, tuple)):
        return tuple(as_key(item) for item in output)
    return output.item() if isinstance(output, np.generic) else output


class _Left(Exception):  # noqa: N818 - not an error, a turn in the road
    """This branch is below the cutoff."""


class _Draw:
    """One draw on the path: which of its outcomes is being tried."""

    def __init__(self, listed: _Listed, before: arb) -> None:
        self.listed, self.before, self.at = listed, before, 0

    def chance(self) -> arb | None:
        """Of the path up to and with the present outcome; None when there is no further outcome."""
        entry = self.listed.get(self.at)
        return None if entry is None else self.before * entry[1]


class _Listed:
    """The outcomes of a draw, as far as they have been asked for."""

    def __init__(self, options: Options) -> None:
        self._rest, self._known = options(), list[tuple[Any, arb]]()

    def get(self, at: int) -> tuple[Any, arb] | None:
        while len(self._known) <= at:
            entry = next(self._rest, None)
            if entry is None:
                return None
            self._known.append(entry)
        return self._known[at]


class _Script:
    """Goes through all paths, depth first."""

    def __init__(self, cutoff: arb) -> None:
        self._cutoff = cutoff
        self._path: list[_Draw] = []
        self._at = 0
        self._laws: dict[Law, _Listed] = {}
        self.more = True
        self.chance = arb(1)
        self.longest = 0

    def run(self, release: Callable[[Any], Any], value: object) -> tuple[Any] | None:
        """The output of the present path, wrapped; None if it was left. Then the next path is prepared."""
        self._at, self.chance = 0, arb(1)
        try:
            with _rehearsed(self):
                output = (release(value),)
        except _Left:
            output = None
        self.longest = max(self.longest, self._at)
        self._advance()
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

    def draws(self, options: Options, size: int | tuple[int, ...] | None, dtype: type = np.int64) -> Any:
        if size is None:
            return self._one(options)
        shape = check_size(size)
        return np.array([self._one(options) for _ in range(math.prod(shape))], dtype=dtype).reshape(shape)

    def _one(self, options: Options) -> Any:
        if self._at == len(self._path):
            draw = _Draw(self._list(options), self.chance)
            chance = draw.chance()
            if chance is None or not chance >= self._cutoff:
                raise _Left
            self._path.append(draw)
        draw = self._path[self._at]
        self._at += 1
        entry, chance = draw.listed.get(draw.at), draw.chance()
        assert entry is not None
        assert chance is not None
        self.chance = chance
        return entry[0]

    def _list(self, options: Options) -> _Listed:
        law = getattr(options, "__self__", None)
        if not isinstance(law, Law):
            return _Listed(options)
        return self._laws.setdefault(law, self._laws.get(law) or _Listed(options))
