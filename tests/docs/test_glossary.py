"""The glossary: in the order of the alphabet, each word once."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

PAGE = Path(__file__).parent.parent.parent / "docs" / "glossary.md"


def place(word: str) -> str:
    """A word as it is sorted: without accents, case and marks of code."""
    return unicodedata.normalize("NFKD", word.replace("`", "")).encode("ascii", "ignore").decode().casefold()


def test_words_are_in_order_and_each_stands_once():
    rows = re.findall(r"^\| ([^|]+) \| [^|]+ \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert rows.pop(0) == "word"
    assert [place(word) for word in rows] == sorted(place(word) for word in rows)
    words = [place(word) for row in rows for word in row.split(", ")]
    assert [word for word in words if words.count(word) > 1] == []
    assert len(rows) > 80
