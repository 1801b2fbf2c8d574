"""The text of a TOML file, as editors save it: UTF-8, with a mark (BOM) at its beginning or without. UTF-16 is refused."""

from __future__ import annotations

import codecs
from pathlib import Path

from dither.errors import InputError, PolicyError

MARK = "\ufeff"  # what Notepad and PowerShell write before UTF-8
WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)


def toml_text(
    path: Path, where: str = "policy", error: type[InputError] = PolicyError, *, ends_of_lines: bool = False
) -> str:
    """The text without a mark; UnicodeDecodeError where it is no text. `ends_of_lines`: as they are, else as \\n."""
    stored = path.read_bytes()
    if stored.startswith(WIDE) or _wide_letters(stored[:100]):
        why = "it is stored as UTF-16 or UTF-32, which Windows calls Unicode, and TOML is UTF-8"
        instead = "the same file saved as UTF-8 (Notepad: Save as, Encoding: UTF-8; PowerShell: -Encoding utf8)"
        raise error(where, str(path), why, instead)
    text = stored.decode("utf-8").removeprefix(MARK)
    return text if ends_of_lines else text.replace("\r\n", "\n").replace("\r", "\n")


def _wide_letters(first: bytes) -> bool:
    """Whether every other byte is zero, and no other: plain letters of two bytes each, without a mark."""
    return any(set(first[start::2]) == {0} and 0 not in first[1 - start :: 2] for start in (0, 1))
