"""The dialect of a CSV file, as its owner states it. Nothing of it is guessed when rows are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dither.errors import PolicyError
from dither.query.policy.fact import Fact

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", ":": "colon", "^": "caret", "~": "tilde"}
QUOTES = ('"', "'", "")
ENCODINGS = {  # as they are written, and what they mean
    "utf-8": "utf-8",
    "utf8": "utf-8",
    "utf-8-sig": "utf-8",
    "latin-1": "latin-1",
    "latin1": "latin-1",
    "iso-8859-1": "latin-1",
    "windows-1252": "windows-1252",
    "cp1252": "windows-1252",
    "utf-16": "utf-16",
}
DIALECT_FACTS = ("separator", "encoding", "quote", "header")
MOST_NAMES = 10_000


@dataclass(frozen=True)
class CsvDialect:
    """How the lines of a CSV file are written."""

    separator: str = ","
    encoding: str = "utf-8"  # one of the values of ENCODINGS; a mark at the beginning of UTF-8 is left out
    quote: str = '"'  # doubled inside a cell; '' if there is none: then every line is a row
    names: tuple[str, ...] | None = None  # of the columns, in order; None: the first line has them

    def stated(self) -> dict[str, Any]:
        """What differs from the plain dialect; for the hash of a policy."""
        return {
            name: getattr(self, name) for name in PLAIN.__dataclass_fields__ if getattr(self, name) != getattr(PLAIN, name)
        }


PLAIN = CsvDialect()


def read_csv_dialect(stated: Mapping[str, Any], columns: Sequence[str], where: str) -> CsvDialect | None:
    """The dialect from the words of a policy; None where nothing is stated. `columns`: those that it describes, in order."""
    if not any(fact in stated for fact in DIALECT_FACTS):
        return None
    separator, quote = stated.get("separator", ","), stated.get("quote", '"')
    if not isinstance(separator, str) or separator not in SEPARATORS:
        named = ", ".join(f'"{sign}"' if sign != "\t" else '"\\t"' for sign in SEPARATORS)
        raise PolicyError(f"{where}.separator", separator, "it is no sign that separates cells", f"one of {named}")
    if quote not in QUOTES:
        raise PolicyError(
            f"{where}.quote", quote, "it is no quote", """ '"', "'", or "" if cells are never quoted""".strip()
        )
    encoding = _encoding(stated.get("encoding", "utf-8"), f"{where}.encoding")
    return CsvDialect(separator, encoding, quote, _names(stated.get("header", True), columns, f"{where}.header"))


def _encoding(stated: Fact, where: str) -> str:
    found = ENCODINGS.get(stated.lower()) if isinstance(stated, str) else None
    if found is None:
        known = ", ".join(f'"{name}"' for name in dict.fromkeys(ENCODINGS.values()))
        raise PolicyError(where, stated, "no such encoding is read", f"{known}; others: save the file as UTF-8")
    return found


def _names(stated: Fact, columns: Sequence[str], where: str) -> tuple[str, ...] | None:
    """The names of columns where the first line does not have them."""
    if stated is True:
        return None
    if stated is False:
        return tuple(columns)
    listed = isinstance(stated, (list, tuple)) and 0 < len(stated) <= MOST_NAMES
    if not listed or not all(isinstance(name, str) and name and name.isprintable() for name in stated):  # type: ignore[union-attr]
        why = "it says whether the first line has names, or lists the names of all columns in their order"
        raise PolicyError(where, stated, why, 'true, false, or ["patient", "ward", "cost"]')
    assert isinstance(stated, (list, tuple))
    if len({name.lower() for name in stated}) != len(stated):
        raise PolicyError(where, stated, "two columns have one name in SQL", "names that differ")
    return tuple(stated)
