"""Text of others on a page: signs that nobody sees, or that turn the text around them, are shown as what they are."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

JOINERS = "\u200c\u200d"  # parts of words in some scripts
HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})  # categories of Unicode


def visible(text: str) -> str:
    """The text with every sign that is not seen written out, such as U+202E, which turns the direction of what follows."""
    return text if text.isascii() and text.isprintable() else "".join(map(_sign, text))


@lru_cache(maxsize=4096)
def _sign(sign: str) -> str:
    if sign in "\n\t" or sign in JOINERS or unicodedata.category(sign) not in HIDDEN:
        return sign
    return "" if sign == "\r" else f"\u27e8U+{ord(sign):04X}\u27e9"
