"""The truncated geometric mechanism on a path, each output given the guess that gains most: no other mechanism gains more.

Theorem (Ghosh, Roughgarden and Sundararajan 2009). For a count, any prior and any gain that falls with the distance
between guess and truth, the truncated geometric mechanism with the best remap gains as much as any epsilon-private
mechanism. Here it is not believed but checked, case by case, by a certificate (`optimal/path_certificate.py`).

With K[i, j] = a^|i - j| the mechanism is C = K diag(k), k = (1-a)/(1+a) inside and 1/(1+a) at the ends. Let u(o) be what
output o adds to the gain. A dual in which every column is tight has C' lambda = u, so lambda = K^-1 (u / k), and K^-1 is
tridiagonal: (1 + a^2) / (1 - a^2) on the diagonal, 1 / (1 - a^2) at its two ends, -a / (1 - a^2) beside it. Its sum is
the gain of the mechanism, since rows of C add up to one: so if it passes, nothing gains more.

Gains are sums of products of floats that are rounded down, added up without error, so what is stated is attained.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from dither.channels.closed_form_rows import truncated
from dither.channels.kernels import GeometricKernel
from dither.channels.matrix import MatrixEntry
from dither.channels.neighbour_graph import Graph
from dither.channels.optimal.path_certificate import bound
from dither.channels.utility import GainTable
from dither.noise.laplace import DiscreteLaplace
from dither.numeric.balls import precision, round_down, round_up
from dither.numeric.enclosure import enclose
from dither.numeric.number import Number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class GeometricRemap:
    """Geometric noise on the places 0..size - 1, kept inside, and a guess for each place."""

    size: int
    epsilon: Number
    remap: tuple[int, ...]  # the number of the guess, for each place

    @cached_property
    def _noise(self) -> DiscreteLaplace:
        return DiscreteLaplace(rate=self.epsilon)

    def draw(self, place: int) -> int:
        """The number of a guess for the answer at this place, drawn exactly."""
        return self.remap[max(0, min(self.size - 1, place + self._noise.sample()))]

    @property
    def width(self) -> int:
        """How many guesses there are at least."""
        return max(self.remap) + 1

    def keeps(self, graph: Graph, epsilon: Number) -> bool:
        """Whether the noise is at least what this epsilon asks for: neighbours are one step apart."""
        fits = graph.is_line and len(graph) == self.size == len(self.remap) and min(self.remap) >= 0
        return fits and self.epsilon <= epsilon

    def row(self, place: int) -> dict[int, MatrixEntry]:
        """How likely each guess is, exactly, by its number."""
        found: dict[int, MatrixEntry] = {}
        for guess, chance in zip(self.remap, truncated(place, self.size, self.epsilon), strict=True):
            found[guess] = found[guess] + chance if guess in found else chance
        return found

    def lower_row(self, place: int) -> list[tuple[int, Fraction]]:
        """Guesses and chances that are not above the true ones."""
        import numpy as np

        low, _ = self.table
        chances = np.maximum(_down(low[0][np.abs(np.arange(self.size) - place)] * low[1]), 0.0)
        return [(guess, Fraction(chance)) for guess, chance in zip(self.remap, chances.tolist(), strict=True)]

    @cached_property
    def table(self) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
        """Powers of a, and k: floats below, and floats above."""
        return _powers(self.size, self.epsilon)


def best_on_path(table: GainTable, chances: list[Fraction], epsilon: Number) -> tuple[GeometricRemap, float, float | None]:
    """The mechanism, what it gains (rounded down), and a bound on what any can gain (rounded up)."""
    import numpy as np

    size = len(table.inputs)
    lower, upper = weighted_gains(table, chances)
    scores = GeometricKernel(size, epsilon).push((lower + upper) / 2)
    remap = tuple(int(r) for r in scores.argmax(axis=0))
    found = GeometricRemap(size, epsilon, remap)
    low, high = found.table
    gains = lower[list(remap)].T  # gains[i, o]: of the guess for o, when i is true
    far = np.abs(np.arange(size)[:, None] - np.arange(size)[None, :])
    least, most = _down(low[0][far] * low[1]), np.nextafter(high[0][far] * high[1], np.inf)
    columns = [math.fsum(column) for column in lower_products(gains, least, most).T.tolist()]
    gained = lower_sum(columns)
    return found, gained, bound(upper, _tight(columns, epsilon), epsilon)


def lower_products(gains: NDArray[np.float64], least: NDArray[np.float64], most: NDArray[np.float64]) -> NDArray[np.float64]:
    """Products of gains with chances between `least` and `most`, not above the true ones; with zero they are exact."""
    import numpy as np

    return np.where(gains == 0, 0.0, _down(gains * np.where(gains >= 0, least, most)))


def lower_sum(columns: list[float]) -> float:
    """Not above the sum: each column is one rounding away from its own, and the sum is exact."""
    return round_down(sum((Fraction(math.nextafter(x, -math.inf)) for x in columns if x), start=Fraction(0)))


def _tight(columns: list[float], epsilon: Number) -> NDArray[np.float64]:
    """K^-1 (u / k): the dual in which every column is tight, nearly."""
    import numpy as np

    if len(columns) == 1:
        return np.array(columns)
    kernel = GeometricKernel(len(columns), epsilon)
    a, scales = kernel.scales
    z = np.array(columns) / scales
    small = -math.expm1(-2 * float(epsilon))  # 1 - a^2
    found = (1 + a * a) * z
    found[0], found[-1] = z[0], z[-1]
    found[1:] -= a * z[:-1]
    found[:-1] -= a * z[1:]
    return np.asarray(found / small)


def weighted_gains(table: GainTable, chances: list[Fraction]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """prior(i) g(r, i), in floats below and above."""
    import numpy as np

    low, high = table.bounds()
    rare, often = (np.array([way(p) for p in chances]) for way in (round_down, round_up))
    lower = _down(low * np.where(low >= 0, rare, often))
    upper = np.nextafter(high * np.where(high >= 0, often, rare), np.inf)
    # a product with zero is exact
    return np.where((low == 0) | (often == 0), 0.0, lower), np.where((high == 0) | (often == 0), 0.0, upper)


def spread(table: GainTable, chances: list[Fraction]) -> float:
    """By how much guesses can change the expected gain, about; nothing that cannot happen counts."""
    lower, upper = weighted_gains(table, chances)
    return float((upper.max(axis=0) - lower.min(axis=0)).sum())


def _powers(size: int, epsilon: Number) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    import numpy as np

    with precision(128):
        a = (-epsilon.ball()).exp()
        running, powers = 1 + 0 * a, []
        for _ in range(size):
            powers.append(enclose(running))
            running = running * a
        end, inside = enclose(1 / (1 + a)), enclose((1 - a) / (1 + a))
    scales = [end if o in (0, size - 1) else inside for o in range(size)]
    if size == 1:
        scales = [powers[0]]
    low, high = ((np.array([x[side] for x in powers]), np.array([x[side] for x in scales])) for side in (0, 1))
    return low, high


def _down(x: NDArray[np.float64]) -> NDArray[np.float64]:
    import numpy as np

    return np.nextafter(x, -np.inf)
