"""Seeded noise: a deterministic generator for tests, never for a release."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import SupportsIndex

from dither.arguments import argument_errors
from dither.errors import NotPrivateWarning
from dither.noise.entropy import Keystream, swapped
from dither.numeric.number import integer


@argument_errors
@contextmanager
def seeded(seed: SupportsIndex) -> Iterator[None]:
    """Draw all noise of this thread, inside the block, from a seed. NOT PRIVATE: who knows the seed knows the noise.

    A warning (`NotPrivateWarning`) says so each time. Other asyncio tasks and forked processes are not seeded.

    Args:
        seed: A whole number that is not negative.

    Raises:
        NumberError: `seed` is negative, or no whole number.

    Example:
        >>> import warnings
        >>> from dither.noise import uniform
        >>> from dither.testing import seeded
        >>> def draw():
        ...     with warnings.catch_warnings(action="ignore"), seeded(7):
        ...         return uniform(10**20)
        >>> draw() == draw()
        True
    """
    number = integer(seed, name="seed", least=0)
    warnings.warn(
        f"NOT PRIVATE: noise comes from the seed {number}; whoever knows it can subtract the noise",
        NotPrivateWarning,
        stacklevel=3,
    )
    with swapped(_SeededStream(number)):
        yield


class _SeededStream(Keystream):
    """The keystream of releases, with keys that follow from a number."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._seed = seed
        self._keys = 0

    def key_material(self) -> bytes:
        self._keys += 1
        return hashlib.sha512(f"dither test stream {self._seed} {self._keys}".encode()).digest()[:48]
