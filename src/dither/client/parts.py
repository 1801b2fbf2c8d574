"""Parts of a reply: JSON that anybody may have written, read part by part, each of its kind."""

from __future__ import annotations

import json
import math
from typing import Any

from dither.errors import DataError, GatewayError

WORKING = "a gateway of this version of dither"
JSON = ("application/json", "application/problem+json")


def read_json(body: bytes, kind: str, where: str) -> dict[str, Any] | list[Any]:
    """The object or list of a body."""
    found: Any = None
    if kind in JSON:
        try:
            found = json.loads(body)
        except (ValueError, RecursionError):
            found = None
    if not isinstance(found, (dict, list)):
        raise wrong(where)
    return found


def wrong(where: str) -> GatewayError:
    """What is said of a reply that is none; not what is in it."""
    return GatewayError.from_text(where, "what came", "it is not what a gateway replies", WORKING)


class Parts:
    """An object of a reply; each part is asked for by name and kind, and all else is refused."""

    def __init__(self, found: Any, where: str) -> None:
        if not isinstance(found, dict):
            raise wrong(where)
        self._found, self._where = found, where

    def has(self, name: str) -> bool:
        """Whether the part is there, and is not null."""
        return self._found.get(name) is not None

    def raw(self, name: str) -> Any:
        """The part as it is, of any kind."""
        return self._found.get(name)

    def text(self, name: str, default: str | None = None) -> str:
        """A text."""
        return self._of(name, (str,), default)  # type: ignore[no-any-return]

    def flag(self, name: str, default: bool | None = None) -> bool:
        """True or false."""
        return self._of(name, (bool,), default)  # type: ignore[no-any-return]

    def whole(self, name: str) -> int | None:
        """A whole number that is not negative, or null."""
        found = self._of(name, (int, type(None)), None)
        if found is not None and found < 0:
            raise self._wrong(name)
        return found  # type: ignore[no-any-return]

    def number(self, name: str) -> float | None:
        """A finite number, or null."""
        return self._number(self._found.get(name), name)

    def numbers(self, name: str) -> dict[str, float | None]:
        """Finite numbers, or null, by name."""
        return self._numbers(self._found.get(name), name)

    def lists_of_numbers(self, name: str) -> list[dict[str, float | None]]:
        """Several of them."""
        return [self._numbers(one, name) for one in self.several(name)]

    def several(self, name: str) -> list[Any]:
        """A list."""
        return self._of(name, (list,), None)  # type: ignore[no-any-return]

    def objects(self, name: str) -> list[Parts]:
        """A list of objects."""
        return [Parts(one, f"{self._where}.{name}") for one in self.several(name)]

    def part(self, name: str) -> Parts | None:
        """An object, or null."""
        return Parts(self._found[name], f"{self._where}.{name}") if self.has(name) else None

    def _numbers(self, found: Any, name: str) -> dict[str, float | None]:
        if not isinstance(found, dict):
            raise self._wrong(name)
        return {key: self._number(value, name) for key, value in found.items()}

    def _number(self, found: Any, name: str) -> float | None:
        if found is None:
            return None
        if type(found) not in (int, float) or abs(found) > 1e300 or math.isnan(found):
            raise self._wrong(name)
        return float(found)

    def _of(self, name: str, kinds: tuple[type, ...], default: Any) -> Any:
        found = self._found.get(name, default)
        if type(found) not in kinds:
            raise self._wrong(name)
        return found

    def _wrong(self, name: str) -> GatewayError:
        return wrong(f"{self._where}.{name}")


def sign_text(text: str, most: int) -> str:
    """A text of somebody else for a terminal: no sign in it moves the cursor or turns the line round, and it ends."""
    cut = text if len(text) <= most else text[: most - 3] + "..."
    return "".join(sign if sign.isprintable() or sign in "\n\t" else sign.encode("unicode_escape").decode() for sign in cut)


def identifier(text: str, where: str) -> str:
    """An id that may stand in a path: letters, digits, dashes."""
    if not 0 < len(text) <= 200 or not all(sign.isascii() and (sign.isalnum() or sign in "-_") for sign in text):
        raise wrong(where)
    return text


def check_text(text: str, name: str, instead: str) -> str:
    """A text that somebody gave here."""
    if not isinstance(text, str):
        raise DataError(name, text, "it is not a text", instead)
    return text
