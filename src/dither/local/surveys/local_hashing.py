"""Local hashing: a public hash function sends the values to a few cells, and the own cell is reported by the flat mechanism.

A person draws one of K public seeds, each as likely, hashes the value with it to one of g cells, and reports the seed with
the own cell with probability e^epsilon / (e^epsilon + g - 1), or any other cell equally likely.

Theorem. This is epsilon-differentially private, whatever the hash functions are.

Proof. The seed is drawn without looking at the value. Given the seed, the value determines the cell, and the cell is
reported by the flat mechanism on g cells (`mechanisms/response/k_ary_response.py`), whose ratios are e^epsilon, 1 or
e^-epsilon.

A report supports the values that its seed sends to its cell: p = E / (E + g - 1) for the own one. Where two values meet in
one seed of g, q = p / g + (1 - 1/g) (1 - p) / (g - 1) = 1 / g. The seeds are *balanced* so that this holds exactly
(`surveys/hash_families.py`); with `seeds=` there are as many as are asked for, *mixed*, and a mean squared error of
(sum of f^2) / ((g - 1) K), which more people do not help against, is added to the errors.

The variance of a rare value, times n, is (E - 1 + g)^2 / ((E - 1)^2 (g - 1)): least for g = E + 1, where it is
4 E / (E - 1)^2, that of `UnaryEncoding`. g is the prime power where it is least. A report takes a few bytes.

Wang, Blocki, Li and Jha 2017; with balanced seeds it is a relative of Feldman, Nelson, Nguyen and Talwar's 2022.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, SupportsIndex

from dither.arguments import argument_errors
from dither.channels.channel import Channel
from dither.errors import NumberError, SizeError
from dither.local.client_law import response
from dither.local.collect.intervals import normal_quantile
from dither.local.collect.reconstruct import simplex
from dither.local.survey import DomainLike, Survey
from dither.local.surveys.direct_encoding import histogram, smallest
from dither.local.surveys.hash_families import BalancedHashFamily, MixedHashFamily, digits, prime_powers
from dither.mechanisms.response.k_ary_response import Flat
from dither.noise.uniform_integers import uniform
from dither.numeric.number import NumberLike, integer
from dither.privacy.unit import Unit, UnitLike

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PART = 1 << 16  # people at a time: they stay in the cache
MOST_COUNTS = 1 << 24  # of a tally: one for each cell of each seed
MOST_LOOKUPS = 1 << 31  # of mixed seeds: minutes
MOST_ENTRIES = 1 << 14  # of a whole channel


@argument_errors
class LocalHashing(Survey):
    """Local hashing, a report that is a cell of a public hash function: few bytes, for many values.

    Args:
        domain: the values that an answer can have (texts, whole numbers, truth values, pairs of whole numbers), or how many.
        epsilon: the privacy parameter of one report, from 1e-9 to 500.
        seeds: how many hash functions there are; without it as many as make any two values collide equally often.
        unit: the neighbouring relation; something is replaced, and nothing added.

    Raises:
        NumberError: epsilon is no number or out of range, or there are too many seeds for a tally.
        DataError, SizeError: the domain lists a value twice, one of another kind, or not 2 to 2^20 values.
        UnitError: the unit adds or removes somebody.

    Example:
        >>> from dither.local import LocalHashing
        >>> survey = LocalHashing(range(1000), epsilon=1)
        >>> survey.cells, survey.seeds
        (4, 1024)
        >>> len(survey.randomize([3, 999]))
        2
    """

    kind: ClassVar[str] = "hashing"
    cells: int  # g, of each hash function

    def __init__(
        self,
        domain: DomainLike,
        *,
        epsilon: NumberLike,
        seeds: SupportsIndex | None = None,
        unit: UnitLike = Unit.REPLACE_ONE,
    ) -> None:
        super().__init__(domain, epsilon=epsilon, unit=unit)
        size = len(self.domain)
        self.cells = best_cells(size, float(self.epsilon), balanced=seeds is None)
        self.hash_family: BalancedHashFamily | MixedHashFamily = BalancedHashFamily(size, self.cells)
        if seeds is not None:
            count = integer(seeds, name="seeds", least=1)
            if count * self.cells > MOST_COUNTS:
                why = f"a tally has a count for each of {self.cells} cells of each seed, and at most {MOST_COUNTS}"
                raise NumberError("seeds", seeds, why, f"at most {MOST_COUNTS // self.cells}, or None for balanced ones")
            if count * size > MOST_LOOKUPS:
                why = f"to decode takes a look-up for each value and seed, and at most {MOST_LOOKUPS} are made"
                raise NumberError("seeds", seeds, why, f"at most {MOST_LOOKUPS // size}, or None for balanced ones")
            self.hash_family = MixedHashFamily(size, self.cells, count)
        self._flat = Flat(range(self.cells), epsilon=self.epsilon, unit=self.unit)

    @property
    def seeds(self) -> int:
        """How many hash functions there are."""
        return self.hash_family.seeds

    @cached_property
    def support(self) -> tuple[float, float]:
        """e^epsilon / (e^epsilon + g - 1) and 1 / g."""
        return 1 / (1 + (self.cells - 1) * math.exp(-float(self.epsilon))), 1 / self.cells

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of one report: the seed times g plus the cell, in the smallest unsigned integer that holds it."""
        return smallest(self.seeds * self.cells)

    def _encode(self, places: NDArray[np.int64]) -> NDArray[Any]:
        import numpy as np

        result = np.empty(places.size, dtype=self.dtype)
        for start in range(0, places.size, PART):
            own = places[start : start + PART]
            seeds = uniform(self.seeds, own.size)
            said = self._flat.randomize_places(self.hash_family.of(seeds, own))
            result[start : start + PART] = seeds * self.cells + said
        return result

    def _count(self, payload: NDArray[Any]) -> tuple[NDArray[np.int64], int]:
        return histogram(payload, self.seeds * self.cells)

    def _supports(self, counts: NDArray[np.int64]) -> NDArray[np.float64]:
        import numpy as np

        return self.hash_family.supports(counts).astype(np.float64)

    def _extra_variance(self, raw: NDArray[np.float64]) -> float:
        """The variance from hash collisions: nothing with balanced seeds."""
        left = self.hash_family.collisions()
        return left and left * float((simplex(raw) ** 2).sum())

    def error(self, people: SupportsIndex, confidence: NumberLike = "0.95") -> float:
        """The half-width of the interval of a frequency from `people` at this `confidence`; collisions at their worst."""
        return math.hypot(
            super().error(people, confidence), normal_quantile(confidence) * self.hash_family.collisions() ** 0.5
        )

    def cell(self) -> Channel:
        """The exact matrix of one answer under a given seed: from the own cell to the cell that is reported."""
        return self._flat.channel()

    def channel(self) -> Channel:
        """The exact matrix of one answer, for few values and seeds: outputs are pairs of a seed and a cell."""
        import numpy as np

        size, seeds, cells = len(self.domain), self.seeds, self.cells
        if size * seeds * cells > MOST_ENTRIES:
            why = f"the matrix of one answer has {size} rows and {seeds * cells} columns"
            raise SizeError("domain", size, why, "cell(), the matrix for a given seed, or fewer values")
        rows = self.cell().rows
        assert rows is not None
        share = [[entry / seeds for entry in row] for row in rows]
        own = self.hash_family.of(np.arange(seeds)[:, None], np.arange(size))
        matrix = [[entry for seed in range(seeds) for entry in share[own[seed, at]]] for at in range(size)]
        return Channel(matrix, self.domain, [(seed, cell) for seed in range(seeds) for cell in range(cells)])

    def client_draws(self) -> dict[str, object]:
        """The hash functions, and the chance of the own cell."""
        sizes = {"values": len(self.domain), "seeds": self.seeds, "cells": self.cells}
        return {**sizes, "hash": self.hash_family.arithmetic(), "truth": response(self.epsilon, self.cells - 1)}

    def parameters(self) -> dict[str, object]:
        """The hash functions, for the record: which family, how many, and to how many cells."""
        return {"hash": self.hash_family.name, "seeds": self.seeds, "cells": self.cells}


def best_cells(size: int, epsilon: float, *, balanced: bool = True) -> int:
    """The g with the least error: a prime power, and with balanced seeds one whose tally is not too large."""
    small = math.exp(-epsilon)
    fits = [g for g in prime_powers() if not balanced or g ** (digits(size, g) + 1) <= MOST_COUNTS]
    return min(fits, key=lambda g: (1 + (g - 1) * small) ** 2 / (g - 1))
