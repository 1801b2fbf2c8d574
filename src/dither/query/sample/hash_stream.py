"""Whole numbers from a hash: the same on every machine and in every version. They protect nobody."""

from __future__ import annotations

import hashlib
import json

BLOCK = 4096  # bytes that are hashed at once
SIZE = 16  # bytes of one draw: the remainder of 128 bits is as good as even


class HashStream:
    """Draws that follow from a few names alone, by SHAKE-128: one stream for each cell that is made up by itself."""

    def __init__(self, *names: str | int) -> None:
        self._names = json.dumps(names)  # no two lists of names are spelled alike
        self._block, self._at, self._blocks = b"", 0, 0

    def below(self, end: int) -> int:
        """A whole number from 0 to end - 1."""
        if self._at == len(self._block):
            self._block = hashlib.shake_128(f"{self._blocks} {self._names}".encode()).digest(BLOCK)
            self._at, self._blocks = 0, self._blocks + 1
        self._at += SIZE
        return int.from_bytes(self._block[self._at - SIZE : self._at], "little") % end
