"""Replies of a data owner as values: one of some words, whole numbers, lists, two ends. What cannot be read is refused."""

from __future__ import annotations

import datetime
import json
import re
import tomllib
from collections.abc import Callable, Mapping
from typing import Any

from dither.errors import PolicyError
from dither.query.policy.toml_text import read_toml

YES = {"yes": True, "y": True, "no": False, "n": False}
NONE = ("no", "none")
TO = re.compile(r"\s+to\s+")
WHOLE = re.compile(r"[+-]?[0-9]{1,40}")
THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2}(\.[0-9]{3})+")  # 10.000: ten here, and ten thousand in many countries


def one_of(key: str, values: Mapping[str, Any], instead: str = "") -> Callable[[str], Any]:
    """A reader of one of some words, whatever their case."""
    known = {word.casefold(): value for word, value in values.items()}

    def read(reply: str) -> Any:
        if reply.casefold() not in known:
            raise PolicyError(key, reply, "it is none of the words that are known here", instead or ", ".join(values))
        return known[reply.casefold()]

    return read


def yes_or_no(key: str) -> Callable[[str], bool]:
    """A reader of yes and no."""
    return one_of(key, YES, "yes or no")


def whole_number(key: str, least: int, most: int, example: str) -> Callable[[str], int]:
    """A reader of a whole number within a range; marks of thousands are left out where they are underscores."""

    def read(reply: str) -> int:
        digits = reply.replace("_", "")
        if not WHOLE.fullmatch(digits):
            raise PolicyError(key, reply, "it is no whole number, written in digits alone", example)
        if not least <= int(digits) <= most:
            raise PolicyError(key, reply, f"it is not from {least} to {most}", example)
        return int(digits)

    return read


def two_ends(key: str, reply: str, example: str) -> list[str]:
    """The two ends of `0 to 5000` or `[0, 5000]`, as they are written."""
    inside = reply[1:-1] if reply.startswith("[") and reply.endswith("]") else reply
    parts = TO.split(inside.strip()) if TO.search(inside) else inside.split(",")
    ends = [part.strip().strip("\"'") for part in parts]
    if len(ends) != 2 or not all(ends):
        raise PolicyError(key, reply, "it does not say two ends, the lower one first", example)
    return ends


def number(key: str, text: str) -> int | str:
    """A number as a policy holds it: whole ones as such, others as they are written, which is exact."""
    if THOUSANDS.fullmatch(text):
        why = "its point may stand before decimals or between thousands"
        decimals = f"; {text}0, if they are decimals" if text.count(".") == 1 else ""
        raise PolicyError(key, text, why, text.replace(".", "") + decimals)
    return int(text) if WHOLE.fullmatch(text) else text


def moment(text: str) -> datetime.date | str:
    """A day as such; anything else as it is written, to be read or refused by whoever reads columns."""
    try:
        return datetime.date.fromisoformat(text) if len(text) == len("2024-01-31") else text
    except ValueError:
        return text


def words(key: str, reply: str, example: str) -> list[str]:
    """A list of words: with commas between them, or as TOML writes a list, for words with commas in them."""
    if not reply.startswith("["):
        listed = [word.strip() for word in reply.split(",")]
        if not all(listed):
            raise PolicyError(key, reply, "nothing stands before or after a comma", example)
        if len(listed) == 1 and ";" in reply:
            why = "a semicolon stands in it, so it would be one word"
            raise PolicyError(
                key, reply, why, f"commas between words, or {json.dumps(listed, ensure_ascii=False)} if it is one"
            )
        return listed
    try:
        found: Any = read_toml(f"words = {reply}")
    except tomllib.TOMLDecodeError as error:
        raise PolicyError(key, reply, "its brackets or quotes do not make a list", example) from error
    if found.keys() != {"words"} or not isinstance(found["words"], list):
        raise PolicyError(key, reply, "it is no list", example)
    listed = found["words"]
    if not all(isinstance(word, str) for word in listed):
        raise PolicyError(key, reply, "what stands in it is no text in quotes", example)
    return listed
