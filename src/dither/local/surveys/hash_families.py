"""Universal hash families, public: K hash functions, each of them sending d values to g cells.

Balanced. Write values and seeds with m digits in a field of g elements, g^m >= d, and let seed a send value x to
a(1) x(1) + ... + a(m) x(m). Two different values meet in the seeds a with a(1) z(1) + ... + a(m) z(m) = 0, z being their
difference, which is not zero; so they meet in exactly one seed of g. With K = g^m seeds there is no error from collisions.
How many reports support each value, the sum over a of T[a, a x], is computed digit by digit: replacing a(1) by x(1) in

    S[x(1), a(2), ..., c] = the sum over a(1) of T[a(1), a(2), ..., c + a(1) x(1)]

and so on; S[x, 0] is what is wanted. That takes m g K g steps instead of K d look-ups.

Mixed. Any number of seeds; a cell is 16 bits of a mixed 64-bit number, times g, without its last 16 bits. Two values
meet in about one seed of g, and the rest stays in the estimate whatever the number of reports: a mean squared error of
(sum of f^2) / ((g - 1) K). For tallies that must be small.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_CELLS = 256
LARGEST_TABLE = 1 << 24  # cells that are kept at hand, a byte each
PART = 1 << 18  # look-ups at a time


class BalancedHashFamily:
    """As many seeds as it takes for any two values to meet in exactly one of g."""

    name = "balanced"

    def __init__(self, values: int, cells: int) -> None:
        self.values, self.cells, self.digits = values, cells, digits(values, cells)
        self.seeds = cells**self.digits

    def arithmetic(self) -> dict[str, object]:
        """How a client computes a cell: polynomials over the integers modulo a prime, with x^degree = reduction."""
        prime, degree = _root(self.cells)
        reduction = int(field(self.cells)[1][self.cells // prime, prime]) if degree > 1 else 0  # x^(degree - 1) times x
        return {"family": self.name, "prime": prime, "degree": degree, "reduction": reduction, "digits": self.digits}

    def collisions(self) -> float:
        """The error that is left whatever the number of reports, over the sum of squared frequencies."""
        return 0.0

    def of(self, seeds: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[Any]:
        """The cell of each value (`places`) under each of the `seeds`; arrays of one shape, or of shapes that broadcast."""
        if self.seeds * self.values <= LARGEST_TABLE:
            return self._table.take(seeds * self.values + places)
        return self._by_digits(seeds, places)

    def _by_digits(self, seeds: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[Any]:
        add, multiply = field(self.cells)
        total: Any = 0
        for _ in range(self.digits):
            seeds, a = divmod(seeds, self.cells)
            places, x = divmod(places, self.cells)
            total = add[total, multiply[a, x]]
        return total  # type: ignore[no-any-return]

    @cached_property
    def _table(self) -> NDArray[np.uint8]:
        import numpy as np

        return self._by_digits(np.arange(self.seeds)[:, None], np.arange(self.values)).astype(np.uint8).reshape(-1)

    def supports(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many reports support each value, from how many name each cell of each seed."""
        import numpy as np

        g = self.cells
        add, multiply = field(g)
        left, rest = counts.reshape(-1, g), self.values - 1
        for digit in reversed(range(self.digits)):  # the leading digit first; it then stands last
            wanted = min(g, rest // g**digit + 1) if digit == self.digits - 1 else g
            split = left.reshape(g, -1, g)
            found = np.empty((split.shape[1], wanted, g), dtype=np.int64)
            for x in range(wanted):
                moved = add[np.arange(g), multiply[:, x, None]]  # c + a x
                found[:, x] = split[np.arange(g)[:, None], :, moved].sum(axis=0).T
            left = found.reshape(-1, g)
        return left[: self.values, 0]


class MixedHashFamily:
    """Any number of seeds, each hashed together with the value."""

    name = "mixed"

    def __init__(self, values: int, cells: int, seeds: int) -> None:
        self.values, self.cells, self.seeds = values, cells, seeds

    def arithmetic(self) -> dict[str, object]:
        """How a client computes a cell: the name says all."""
        return {"family": self.name}

    def collisions(self) -> float:
        """The error that is left whatever the number of reports, over the sum of squared frequencies."""
        return 1 / ((self.cells - 1) * self.seeds)

    def of(self, seeds: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[Any]:
        """The cell of each value (`places`) under each of the `seeds`."""
        import numpy as np

        words = mix(seeds >> 2, places) >> ((seeds & 3) << 4).astype(np.uint64)
        return ((words & np.uint64(0xFFFF)) * np.uint64(self.cells) >> np.uint64(16)).astype(np.int64)

    def supports(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many reports support each value, from how many name each cell of each seed: K d look-ups."""
        import numpy as np

        whole = -(-self.seeds // 4)  # a word holds the cells of four seeds
        table = np.zeros(4 * whole * self.cells, dtype=np.int64)
        table[: counts.size] = counts.reshape(-1)
        found, places = np.zeros(self.values, dtype=np.int64), np.arange(self.values)
        step = max(1, PART // (4 * self.values))
        for start in range(0, whole, step):
            words = mix(np.arange(start, min(start + step, whole))[:, None], places).astype("<u8")
            cells = words.view("<u2").reshape(len(words), self.values, 4).astype(np.uint32) * np.uint32(self.cells)
            cells >>= np.uint32(16)
            first = (4 * np.arange(start, start + len(words))[:, None] + np.arange(4)) * self.cells
            found += table.take(cells + first[:, None, :]).sum(axis=(0, 2))
        return found


def mix(seeds: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[np.uint64]:
    """64 bits of a pair, every one depending on every bit of it (the mix of splitmix64)."""
    import numpy as np

    word = seeds.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + places.astype(np.uint64) * np.uint64(0xD1B54A32D192ED03)
    word = word + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        word ^= word >> np.uint64(shift)
        word *= np.uint64(factor)
    word ^= word >> np.uint64(31)
    return word


def digits(values: int, base: int) -> int:
    """The least m with base^m >= values."""
    count = 1
    while base**count < values:
        count += 1
    return count


def prime_powers() -> list[int]:
    """The sizes up to MOST_CELLS that a finite field can have."""
    return [size for size in range(2, MOST_CELLS + 1) if _root(size)[0] ** _root(size)[1] == size]


def _root(size: int) -> tuple[int, int]:
    """The least prime that divides a size, and how often it does."""
    prime = next(p for p in range(2, size + 1) if size % p == 0)
    return prime, next(k for k in range(1, size) if size % prime ** (k + 1))


@lru_cache(maxsize=8)
def field(size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The tables of addition and multiplication of a finite field with `size` elements.

    An element is a number whose digits, in base p, are the coefficients of a polynomial over the integers modulo p. A
    polynomial x^k - t of which x runs through all elements but zero makes it a field, and gives logarithms.
    """
    import numpy as np

    p, k = _root(size)
    weights = p ** np.arange(k)
    parts = np.arange(size)[:, None] // weights % p
    add = (parts[:, None, :] + parts[None, :, :]) % p @ weights
    for t in range(1, size):
        powers, top = [1], size // p
        while len(powers) < size:
            low, high = powers[-1] % top * p, powers[-1] // top
            powers.append(int(add[low, high * parts[t] % p @ weights]))
            if powers[-1] == 1:
                break
        if len(powers) == size and powers[-1] == 1 and len(set(powers)) == size - 1:
            break
    order = np.zeros(size, dtype=np.int64)
    order[powers[:-1]] = np.arange(size - 1)
    multiply = np.array(powers[:-1])[(order[:, None] + order[None, :]) % (size - 1)]
    multiply[0, :] = multiply[:, 0] = 0
    return add, multiply
