"""Reports that are rows of bits: bit i of byte j says whether value 8 j + i is supported, and spare bits are zero.

`column_sums` counts the ones of every column by carry-save addition. It adds up blocks of rows as if each bit were a
one-digit number: three blocks of weight w become their sum modulo 2, of weight w, and their carry, of weight 2 w:

    sum = a ^ b ^ c        carry = (a & b) | ((a ^ b) & c)

Each block that comes in costs one such addition all told (half of the additions are of weight 1, a quarter of weight 2,
and so on), that is five operations on whole blocks. At the end one or two blocks of each weight are unpacked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BLOCK = 1 << 16  # bytes: a few blocks stay in the cache
PART = 1 << 10  # rows that are unpacked at once


def row_type(values: int) -> np.dtype[Any]:
    """Type of one report: a bit for each of the values, as bytes."""
    import numpy as np

    return np.dtype((np.void, -(-values // 8)))


def as_reports(rows: NDArray[np.uint8]) -> NDArray[Any]:
    """Rows of bytes as an array with one report a row."""
    import numpy as np

    return rows.reshape(-1).view(np.dtype((np.void, rows.shape[1])))


def as_rows(payload: NDArray[Any]) -> NDArray[np.uint8]:
    """An array of reports as rows of bytes."""
    import numpy as np

    return np.ascontiguousarray(payload).view(np.uint8).reshape(len(payload), payload.dtype.itemsize)


def has_spare_bits(rows: NDArray[np.uint8], values: int) -> NDArray[np.bool_]:
    """Which rows have a bit beyond the last value."""
    import numpy as np

    if values % 8 == 0:
        return np.zeros(len(rows), dtype=np.bool_)
    return np.asarray(rows[:, -1] >= 1 << values % 8)


def column_sums(rows: NDArray[np.uint8]) -> NDArray[np.int64]:
    """How many rows have a one in each column of bits."""
    import numpy as np

    count, width = rows.shape
    height = max(8, BLOCK // width // 8 * 8)  # rows of a block: whole words
    whole = count // height
    counts = _unpacked(rows[whole * height :])
    if whole < 4:
        return counts + _unpacked(rows[: whole * height])
    half = np.empty(height * width // 8, dtype=np.uint64)
    sums: list[NDArray[np.uint64]] = []  # of each weight
    waiting: list[NDArray[np.uint64] | None] = []  # for another one of the same weight
    for start in range(0, whole * height, height):
        block = _words(rows[start : start + height])
        for weight in range(len(sums) + 1):
            if weight == len(sums):
                sums.append(block.copy())
                waiting.append(None)
                break
            other, waiting[weight] = waiting[weight], None
            if other is None:
                waiting[weight] = block
                break
            total = sums[weight]
            carry = np.bitwise_and(total, other)
            np.bitwise_xor(total, other, out=half)
            np.bitwise_xor(half, block, out=total)
            np.bitwise_and(half, block, out=half)
            np.bitwise_or(carry, half, out=carry)
            block = carry
    for weight, (total, other) in enumerate(zip(sums, waiting, strict=True)):
        for left in (total, other):
            if left is not None:
                counts += _unpacked(left.view(np.uint8).reshape(height, width)) << weight
    return counts


def _words(rows: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Rows as words; those that do not start at a word are copied."""
    import numpy as np

    return np.require(rows.reshape(-1).view(np.uint64), requirements="A")


def _unpacked(rows: NDArray[np.uint8]) -> NDArray[np.int64]:
    import numpy as np

    counts = np.zeros(8 * rows.shape[1], dtype=np.int64)
    for start in range(0, len(rows), PART):
        counts += np.unpackbits(rows[start : start + PART], axis=1, bitorder="little").sum(axis=0, dtype=np.int64)
    return counts
