"""Bytes of a CSV file as text, by the encoding that its owner states: the same letters on every machine.

latin-1, windows-1252    a byte is a letter: none fails, and no two bytes are one letter. The five bytes that windows-1252
                         leaves open are the control characters of latin-1, as browsers read them
utf-16                   with a mark at its beginning, which says in which order bytes stand; half a character fails
utf-8                    a mark at its beginning is left out

Files that are not UTF-8 are written as UTF-8 before the engine reads them, into a folder that only this user can enter and
that is there while somebody reads (`engines/duckdb/instance.py`): of the engine's own encodings one leaves bytes out.
"""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

AT_ONCE = 1 << 22  # bytes
OPEN = (0x81, 0x8D, 0x8F, 0x90, 0x9D)  # bytes without a letter in windows-1252
WINDOWS = "".join(chr(byte) if byte in OPEN else bytes([byte]).decode("cp1252") for byte in range(256))
ORDERS = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


def decoded(path: str | Path, encoding: str) -> Iterator[str]:
    """The text of a file, in pieces; UnicodeDecodeError where its bytes are none."""
    with Path(path).open("rb") as file:
        if encoding == "utf-16":
            mark = file.read(2)
            if mark not in ORDERS:
                raise UnicodeDecodeError("utf-16", mark, 0, len(mark), "no mark of the order of bytes")
            encoding = ORDERS[mark]
        decoder = codecs.getincrementaldecoder("utf-8-sig" if encoding == "utf-8" else encoding)()
        while piece := file.read(AT_ONCE):
            yield codecs.charmap_decode(piece, "strict", WINDOWS)[0] if encoding == "windows-1252" else decoder.decode(piece)
        if rest := decoder.decode(b"", final=True):
            yield rest


def write_as_utf8(path: str, encoding: str, target: Path) -> None:
    """A file again, in UTF-8 without a mark."""
    with target.open("xb") as file:
        for piece in decoded(path, encoding):
            file.write(piece.encode())


@contextmanager
def lines(path: str | Path, encoding: str) -> Iterator[Iterator[str]]:
    """The lines of a file, each with its end. What is no text is half a character (a surrogate), in its line alone: what
    stands further down does not show in the first line."""
    with Path(path).open("rb") as file:
        kind, errors = {"utf-8": "utf-8-sig", "windows-1252": "latin-1"}.get(encoding, encoding), "surrogateescape"
        if encoding == "utf-16":
            mark = file.read(2)
            if mark not in ORDERS:  # nothing of it can be told
                yield iter(["\udcff"])
                return
            kind, errors = ORDERS[mark], HALF
        with io.TextIOWrapper(file, kind, errors, newline="") as text:
            yield (line.translate(WINDOWS) for line in text) if encoding == "windows-1252" else text


def is_text(line: str) -> bool:
    """Whether all of a line is text."""
    return not any("\ud800" <= sign <= "\udfff" for sign in line)


def _half(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return "\udcff", error.end


HALF = "dither-half"  # UTF-16 has no way of its own to go on after what is no text
codecs.register_error(HALF, _half)
