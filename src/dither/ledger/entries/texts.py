"""Short and long texts that a ledger stores: names, labels, questions as they were asked. Each has one spelling in UTF-8."""

from __future__ import annotations

from dither.errors import DataError

LONGEST_QUESTION = 1_000_000
LONGEST_NAME = 200


def read_name(value: str, name: str, *, empty: bool = False) -> str:
    """A short text: of a domain, an analyst, a version, a key."""
    if type(value) is not str or len(value) > LONGEST_NAME or not (value or empty) or not value.isprintable():
        why = f"it is not a text of 1 to {LONGEST_NAME} printable characters"
        raise DataError(name, value, why, "a name such as 'clinic'")
    return value


def read_text(value: str, name: str) -> str:
    """A text of several lines: a question as it was asked."""
    text = plain_text(value, name)
    if len(text) > LONGEST_QUESTION:
        raise DataError(name, text, f"it is longer than {LONGEST_QUESTION} characters", "a shorter one")
    return text


def plain_text(value: str, name: str) -> str:
    """Text that has one spelling in bytes: no lone halves of characters."""
    if type(value) is not str:
        raise DataError(name, value, "it is not a text", "a plain str")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise DataError(name, value, "it holds half a character (a lone surrogate)", "text that can be encoded") from error
    return value
