"""Items of a domain too large to list, as rows of bytes, and hash keys of their prefixes: texts, and whole numbers.

Each prefix of an item has a 64-bit key, folded from its bytes: key(b + c) = mix(key(b) + c + 1). Keys of different
prefixes differ unless chance has it otherwise (two of a million with probability below 2^-25), which costs accuracy and
no privacy.
"""

from __future__ import annotations

import codecs
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, SupportsIndex

from dither.errors import DataError, NumberError
from dither.numeric.columns import objects, plain
from dither.numeric.number import integer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_BITS = 64
MOST_BYTES = 64
BYTES = [bytes([byte]) for byte in range(256)]


class ItemDomain(ABC):
    """Which items there are, each a row of `length` bytes."""

    length: int

    @property
    @abstractmethod
    def record(self) -> dict[str, object]:
        """The part of a survey's record that says which items there are."""

    @abstractmethod
    def read(self, values: Iterable[Hashable]) -> NDArray[np.uint8]:
        """The items of `values` as rows of bytes."""

    @abstractmethod
    def begins(self, prefix: bytes) -> bool:
        """Whether these bytes are a prefix of some item."""

    @abstractmethod
    def whole(self, row: bytes) -> bool:
        """Whether the bytes of a `row` are an item."""

    @abstractmethod
    def item(self, row: bytes) -> Hashable:
        """The item whose bytes a `row` is."""

    def longer(self, prefixes: Sequence[bytes]) -> list[bytes]:
        """All prefixes that are longer than these by one byte."""
        return [longer for start in prefixes for byte in BYTES if self.begins(longer := start + byte)]

    def rows(self, prefixes: Sequence[bytes]) -> NDArray[np.uint8]:
        """Prefixes of one length as rows of bytes."""
        import numpy as np

        return np.frombuffer(b"".join(prefixes), dtype=np.uint8).reshape(len(prefixes), -1)

    def keys(self, rows: NDArray[np.uint8]) -> NDArray[np.uint64]:
        """The hash key of every prefix of every row, of length 1, 2, ..."""
        import numpy as np

        found = np.empty(rows.shape, dtype=np.uint64)
        key = np.zeros(len(rows), dtype=np.uint64)
        for at in range(rows.shape[1]):
            key = mix(key + rows[:, at].astype(np.uint64) + np.uint64(1))
            found[:, at] = key
        return found

    @staticmethod
    def _list(values: Iterable[Hashable], example: str) -> list[Hashable]:
        if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
            raise DataError("values", values, "the items of many people come in a list", example)
        return list(values.tolist() if hasattr(values, "tolist") else values)


class TextDomain(ItemDomain):
    """Texts of up to so many bytes in UTF-8; longer ones are cut."""

    def __init__(self, longest: SupportsIndex) -> None:
        self.length = integer(longest, name="longest", least=1)
        if self.length > MOST_BYTES:
            raise NumberError("longest", longest, f"texts have up to {MOST_BYTES} bytes here", "8")

    @property
    def record(self) -> dict[str, object]:
        """The largest number of bytes of a text, for the record."""
        return {"longest": self.length}

    def read(self, values: Iterable[Hashable]) -> NDArray[np.uint8]:
        """UTF-8, cut to whole characters and filled up with zeros."""
        import numpy as np

        rows = []
        for at, text in enumerate(map(plain, self._list(values, "['yes', 'perhaps']"))):
            if type(text) is not str:
                raise DataError(f"type of values[{at}]", type(text).__name__, "it is no text", "'perhaps'")
            data = text.replace("\0", "").encode(errors="replace")
            if len(data) > self.length:
                data = data[: self.length].decode(errors="ignore").encode()
            rows.append(data.ljust(self.length, b"\0"))
        return np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(-1, self.length)

    def begins(self, prefix: bytes) -> bool:
        """Characters, maybe some bytes of one more; after a zero, only zeros."""
        text = prefix.rstrip(b"\0")
        if b"\0" in text:
            return False
        try:
            codecs.getincrementaldecoder("utf-8")().decode(text, final=len(text) < len(prefix))
        except UnicodeDecodeError:
            return False
        return True

    def whole(self, row: bytes) -> bool:
        """Whether the bytes end with a whole character."""
        return self.begins(row + b"\0")

    def item(self, row: bytes) -> Hashable:
        """The text without the zeros at its end."""
        return row.rstrip(b"\0").decode()

    def __repr__(self) -> str:
        return f"texts of up to {self.length} bytes"


class IntegerDomain(ItemDomain):
    """Whole numbers of so many bits, the highest first."""

    def __init__(self, bits: SupportsIndex) -> None:
        self.bits = integer(bits, name="bits", least=1)
        if self.bits > MOST_BITS:
            raise NumberError("bits", bits, f"whole numbers have up to {MOST_BITS} bits here", "32")
        self.length = (self.bits + 7) // 8

    @property
    def record(self) -> dict[str, object]:
        """The number of bits, for the record."""
        return {"bits": self.bits}

    def read(self, values: Iterable[Hashable]) -> NDArray[np.uint8]:
        """Numbers as rows of bytes, the highest first."""
        import numpy as np

        if isinstance(values, np.ndarray) and values.dtype.kind in "iu" and values.ndim == 1:
            listed = values
            good = values.size == 0 or (int(values.min()) >= 0 and int(values.max()) < 2**self.bits)
        else:
            listed = objects(list(map(plain, self._list(values, "[7, 12]"))))
            good = all(type(value) is int and 0 <= value < 2**self.bits for value in listed.tolist())
        if listed.ndim != 1 or not good:
            why = f"an item here is a whole number from 0 to 2^{self.bits} - 1"
            raise DataError("values", listed[:4].tolist(), why, "[7, 12]")
        return listed.astype(np.uint64).astype(">u8").view(np.uint8).reshape(-1, 8)[:, 8 - self.length :]

    def begins(self, prefix: bytes) -> bool:
        """Whether the bytes are not above those of the largest number."""
        largest: int = 2**self.bits - 1
        return int.from_bytes(prefix, "big") <= largest >> 8 * (self.length - len(prefix))

    def whole(self, row: bytes) -> bool:
        """Always: any bytes are a whole number."""
        return True

    def item(self, row: bytes) -> Hashable:
        """The number of these bytes, the highest first."""
        return int.from_bytes(row, "big")

    def __repr__(self) -> str:
        return f"whole numbers of {self.bits} bits"


def mix(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A fixed permutation of 64-bit words (splitmix64): public, as nothing depends on its being hard to invert."""
    import numpy as np

    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(words ^ (words >> np.uint64(31)))
