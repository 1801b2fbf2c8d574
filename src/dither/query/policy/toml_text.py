"""The text of a TOML file, as editors save it: UTF-8, with a mark (BOM) at its beginning or without. UTF-16 is refused."""

from __future__ import annotations

import codecs
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dither.errors import InputError, PolicyError

MARK = "\ufeff"  # what Notepad and PowerShell write before UTF-8
WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)

DEPTH = 100  # of tables and lists in each other; ours have 6


def read_toml(text: str, *, parse_float: Callable[[str], Any] = float) -> dict[str, Any]:
    """What a text of TOML states; TOMLDecodeError where it is none, and where it is more than a reader can bear."""
    try:
        stated = tomllib.loads(text, parse_float=parse_float)
    except RecursionError:
        raise _not_toml("it is nested too deeply") from None
    except tomllib.TOMLDecodeError:
        raise
    except ValueError:  # a whole number of thousands of digits
        raise _not_toml("a number in it is too long") from None
    level: list[Any] = [stated]
    for _ in range(DEPTH):
        parts = [part.values() if isinstance(part, dict) else part for part in level if isinstance(part, (dict, list))]
        level = [value for part in parts for value in part]
        if not level:
            return stated
    raise _not_toml("it is nested too deeply")


def _not_toml(why: str) -> tomllib.TOMLDecodeError:
    """Made without its initializer, which since Python 3.14 wants the text and a place in it."""
    return tomllib.TOMLDecodeError.__new__(tomllib.TOMLDecodeError, why)


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
