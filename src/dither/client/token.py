"""The token of a gateway: it is sent, and shown nowhere: in no message, no repr, no pickle."""

from __future__ import annotations

import os
import re
from typing import NoReturn

from dither.errors import ArgumentError, DataError

VARIABLE = "DITHER_TOKEN"
LONGEST = 8192  # signs; those of a login provider are long
BEARER = re.compile(r"[A-Za-z0-9\-._~+/]+=*")  # RFC 6750: what may stand behind `Bearer`
HIDDEN = "(not shown)"


class Token:
    """A secret text; `header` alone gives it away."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    @property
    def header(self) -> str:
        """What is sent as `Authorization`."""
        return f"Bearer {self._text}"

    def without(self, text: str) -> str:
        """The same text, should somebody else have put the token into it."""
        return text.replace(self._text, HIDDEN)

    def __repr__(self) -> str:
        return f"Token{HIDDEN}"

    def __reduce__(self) -> NoReturn:
        why = "a token is not written anywhere, so what is connected to a gateway is not pickled or copied"
        raise DataError(
            "gateway", "pickled", why, "dither.connect in the other process; answers and receipts may be pickled"
        )


def read_token(given: str | None) -> Token:
    """The token that was given, or that of the environment; refused without repeating it."""
    text = os.environ.get(VARIABLE) if given is None else given
    instead = f"token='dth_...', as `dither token create` printed it, or the same in the variable {VARIABLE}"
    if text is None or text == "":
        raise ArgumentError("token", given, f"none was given, and {VARIABLE} is not set", instead)
    if not isinstance(text, str):
        raise DataError.from_text("token", f"a {type(text).__name__}", "it is not a text", instead)
    if len(text) > LONGEST or not BEARER.fullmatch(text):
        why = "it has signs that no token has, such as spaces or line ends, or too many of them"
        raise DataError.from_text("token", HIDDEN, why, instead)
    return Token(text)
