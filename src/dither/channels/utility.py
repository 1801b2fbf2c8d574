"""How useful a channel is: the expected gain of somebody who makes the best of what it says.

A *gain* g(w, x) says how good the guess w is when x is true. She knows the prior, sees the output z, and guesses r(z):
U = max over r of the sum over x, z of prior(x) C[x, z] g(r(z), x). The maximum is taken output by output, so the best
remap is found exactly. A remap is post-processing: it costs no privacy, and it cannot raise U, since U counts the best
remap already.

    "identity"          1 for the truth, 0 for anything else
    "absolute"          minus the distance
    "squared"           minus the square of the distance
    ("threshold", t)    1 within a distance of t, 0 beyond it
    a function          g(guess, truth), a number that is taken exactly
    a matrix            a row for each guess, a column for each input
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from dither.channels.labels import read_labels
from dither.channels.matrix import StochasticMatrix, check_channel
from dither.channels.prior import PriorLike, RowLike, read_prior
from dither.errors import DataError, NumberError, SizeError
from dither.numeric.balls import round_down, round_up
from dither.numeric.number import NumberLike, rational

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NAMES = "'identity', 'absolute', 'squared', ('threshold', 3), a function g(guess, truth), or a matrix"
LARGEST_GAIN = 2**300
GainLike: TypeAlias = (
    Literal["identity", "absolute", "squared"]
    | tuple[Literal["threshold"], NumberLike]
    | Callable[[Any, Any], NumberLike]
    | Sequence[RowLike]
    | "NDArray[Any]"
)
LARGEST_PLAIN = 2**25  # whole labels up to this have squares of distances that are exact floats


@dataclass(frozen=True)
class Utility:
    """The best expected gain, and the remap that attains it."""

    value: Any  # exact where the channel is
    remap: Mapping[Hashable, Hashable]  # from outputs to guesses

    def __float__(self) -> float:
        return float(self.value)


@dataclass(frozen=True)
class GainTable:
    """g(w, x) for all guesses and inputs, exactly: by a function, of which some are known by name."""

    guesses: tuple[Hashable, ...]
    inputs: tuple[Hashable, ...]
    function: Callable[[Any, Any], Any]
    name: str | None = None

    @cached_property
    def rows(self) -> tuple[tuple[Fraction, ...], ...]:
        """The gain matrix: a row for each guess, a column for each input."""
        try:
            found = tuple(tuple(rational(self.function(w, x), name="gain") for x in self.inputs) for w in self.guesses)
        except TypeError as error:
            why = f"it cannot be computed for these inputs: {error}"
            raise DataError("gain", self.name or self.function, why, NAMES) from error
        if any(abs(value) > LARGEST_GAIN for row in found for value in row):
            raise NumberError("gain", "a huge one", "a gain lies within 2^300 of zero", "gains in other units")
        return found

    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Floats below and above, a row for each guess."""
        import numpy as np

        labels = (*self.guesses, *self.inputs)
        if self.name is not None and all(type(x) is int and abs(x) < LARGEST_PLAIN for x in labels):
            far = np.abs(np.array(self.guesses, dtype=np.int64)[:, None] - np.array(self.inputs, dtype=np.int64)[None, :])
            plain = {"identity": far == 0, "absolute": -far, "squared": -(far * far)}[self.name].astype(np.float64)
            return plain, plain
        lower = np.array([[round_down(g) for g in row] for row in self.rows])
        upper = np.array([[round_up(g) for g in row] for row in self.rows])
        return lower, upper


def read_gain(gain: GainLike, inputs: tuple[Hashable, ...], guesses: Iterable[Hashable] | None = None) -> GainTable:
    """A gain by name, by a function, or as a matrix with a row for each guess."""
    listed = inputs if guesses is None else read_labels(guesses, "guesses")
    if isinstance(gain, str) or (isinstance(gain, tuple) and len(gain) == 2 and gain[0] == "threshold"):
        return GainTable(listed, inputs, _by_name(gain), gain if isinstance(gain, str) else None)
    if callable(gain):
        return GainTable(listed, inputs, gain)
    plain: Any = gain
    plain = plain.tolist() if hasattr(plain, "tolist") else plain
    if not isinstance(plain, Sequence) or isinstance(plain, (str, bytes)):
        raise DataError("gain", gain, "it is no gain", NAMES)
    rows = [row.tolist() if hasattr(row, "tolist") else list(row) if isinstance(row, Sequence) else [] for row in plain]
    if len(rows) != len(listed) or any(len(row) != len(inputs) for row in rows):
        sizes = f"{len(listed)} guesses by {len(inputs)} inputs"
        raise SizeError("gain", [len(row) for row in rows[:4]], f"there are {sizes}", "a row for each guess")
    given = {w: dict(zip(inputs, row, strict=True)) for w, row in zip(listed, rows, strict=True)}
    return GainTable(listed, inputs, lambda guess, truth: given[guess][truth])


def _by_name(gain: GainLike) -> Callable[[Any, Any], Any]:
    if gain == "identity":
        return lambda guess, truth: int(guess == truth)
    if gain == "absolute":
        return lambda guess, truth: -abs(guess - truth)
    if gain == "squared":
        return lambda guess, truth: -((guess - truth) ** 2)
    if isinstance(gain, tuple):
        within = rational(gain[1], name="threshold", nonnegative=True)
        return lambda guess, truth: int(abs(guess - truth) <= within)
    raise DataError("gain", gain, "there is no gain of that name", NAMES)


def utility(
    channel: StochasticMatrix, prior: PriorLike, gain: GainLike, guesses: Iterable[Hashable] | None = None
) -> Utility:
    """The best expected gain over all remaps of the outputs."""
    check_channel(channel)
    chances = read_prior(prior, channel.inputs)
    table = read_gain(gain, channel.inputs, guesses)
    return _with_floats(channel, chances, table) if channel.rows is None else _exactly(channel, chances, table)


def _exactly(channel: StochasticMatrix, chances: list[Fraction], table: GainTable) -> Utility:
    assert channel.rows is not None
    weighted = [[(i, p * g) for i, (p, g) in enumerate(zip(chances, row, strict=True)) if p * g] for row in table.rows]
    total: Any = Fraction(0)
    remap: dict[Hashable, Hashable] = {}
    for output, column in zip(channel.outputs, zip(*channel.rows, strict=True), strict=True):
        best: Any = None
        for guess, row in zip(table.guesses, weighted, strict=True):
            value: Any = Fraction(0)
            for i, weight in row:
                value = value + column[i] * weight
            if best is None or value > best:
                best, remap[output] = value, guess
        total = total + best
    return Utility(total, remap)


def _with_floats(channel: StochasticMatrix, chances: list[Fraction], table: GainTable) -> Utility:
    import numpy as np

    gains = table.bounds()[0] * np.array([float(p) for p in chances])
    values = gains @ channel.matrix  # a row for each guess, a column for each output
    best = values.argmax(axis=0)
    remap = {output: table.guesses[int(at)] for output, at in zip(channel.outputs, best, strict=True)}
    return Utility(float(values.max(axis=0).sum()), remap)
