"""The source of all randomness: a cryptographic generator (AES-256-CTR), keyed by the operating system.

One stream a thread. A stream is dropped, with all that it has buffered, when the process forks: the child keys
a stream of its own, so no two processes ever see the same bits. It is keyed again after 2^30 bytes. If the
operating system has no randomness to give, keying fails and so does every draw that needs it.

There is no seed here and nowhere in the public interface; `dither.testing` swaps the stream in tests, or goes through
all outcomes of every draw instead of drawing.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from dither.errors import EntropyError

if TYPE_CHECKING:
    from flint import arb
    from numpy.typing import NDArray

BYTES_PER_KEY = 1 << 30
BLOCK = 1 << 17  # bytes encrypted at once: large enough to be fast, small enough to stay in the cache
POOL_WORDS = 256  # for single draws

_ZEROS = memoryview(bytes(BLOCK))


class Bits(Protocol):
    """A source of independent fair bits. Nothing it returns is ever returned again."""

    def fill(self, buffer: NDArray[np.generic]) -> None:
        """Overwrite a contiguous array with fresh bits."""

    def words(self, count: int) -> NDArray[np.uint64]:
        """A new array of 64-bit words."""

    def word(self) -> int:
        """One random 64-bit word, as an int."""

    def bits(self, count: int) -> int:
        """An integer of this many bits."""


class Keystream:
    """AES-256 in counter mode over zeros. `key_material` is the only place where keys come from."""

    def __init__(self) -> None:
        self._pool: list[int] = []
        self._left = 0
        self._process = -1

    def key_material(self) -> bytes:
        """A key of 32 bytes and a first counter of 16, fresh from the operating system."""
        try:
            return os.urandom(48)
        except (OSError, NotImplementedError) as error:
            raise EntropyError(
                "operating system randomness",
                error,
                "without it noise could be guessed, so nothing is drawn",
                "a system where os.urandom answers",
            ) from error

    def _rekey(self) -> None:
        self._pool.clear()
        self._left = 0  # stays zero if keying fails, so that the old key is never used again
        material = self.key_material()
        self._encryptor = Cipher(algorithms.AES(material[:32]), modes.CTR(material[32:])).encryptor()
        self._process = os.getpid()
        self._left = BYTES_PER_KEY

    def drop(self) -> None:
        """Forget the key and everything buffered; the next draw keys afresh."""
        self._pool.clear()
        self._left = 0

    def fill(self, buffer: NDArray[np.generic]) -> None:
        raw = buffer.reshape(-1).view(np.uint8)
        if self._process != os.getpid():
            self.drop()
        for start in range(0, raw.size, BLOCK):
            part = raw[start : start + BLOCK]
            if self._left < part.size:
                self._rekey()
            self._encryptor.update_into(_ZEROS[: part.size], part.data)
            self._left -= part.size

    def words(self, count: int) -> NDArray[np.uint64]:
        result = np.empty(count, dtype=np.uint64)
        self.fill(result)
        return result

    def word(self) -> int:
        if not self._pool or self._process != os.getpid():
            self._pool = self.words(POOL_WORDS).tolist()
        return self._pool.pop()

    def bits(self, count: int) -> int:
        if count <= 64:
            if self._pool and self._process == os.getpid():  # `word`, without the call: single draws pass here
                return self._pool.pop() >> (64 - count)
            return self.word() >> (64 - count)
        result = 0
        for _ in range(0, count, 64):
            result = (result << 64) | self.word()
        return result >> (-count % 64)

    def __reduce__(self) -> str | tuple[object, ...]:
        raise TypeError("a stream of random bits is not copied: two copies would give the same noise")


class Rehearsal(Protocol):
    """For tests only: draws that are gone through one by one, each with its probability, instead of drawn."""

    def draws(
        self, outcomes: Callable[[], Iterator[tuple[Any, arb]]], size: int | tuple[int, ...] | None, dtype: type = np.int64
    ) -> Any:
        """One of the outcomes, which are listed with falling probability, or an array of independent ones."""


class _Local(threading.local):
    def __init__(self) -> None:
        self.stream = Keystream()


_local = _Local()
_replacement: ContextVar[Bits | None] = ContextVar("dither test stream", default=None)
_rehearsal: ContextVar[Rehearsal | None] = ContextVar("dither test draws", default=None)


def stream() -> Bits:
    """The bits of the calling thread, or those that a test has put in their place."""
    return _replacement.get() or _local.stream


def _drop_after_fork() -> None:
    # Also takes away a stream that a test swapped in, so that forked workers are never seeded by accident.
    _local.stream = Keystream()
    _replacement.set(None)
    _rehearsal.set(None)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_drop_after_fork)


@contextmanager
def swapped(replacement: Bits) -> Iterator[None]:
    """For tests only: inside the block bits come from the replacement."""
    token = _replacement.set(replacement)
    try:
        yield
    finally:
        _replacement.reset(token)


@contextmanager
def rehearsed(rehearsal: Rehearsal) -> Iterator[None]:
    """For tests only: inside the block draws are enumerated instead of drawn."""
    token = _rehearsal.set(rehearsal)
    try:
        yield
    finally:
        _rehearsal.reset(token)
