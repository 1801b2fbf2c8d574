"""Parameters in the address of a page: each once, and none that is not known."""

from __future__ import annotations

from dither.extras import needs
from dither.server.http.refusals import refused

with needs("dither[server]"):
    from starlette.requests import Request

LONGEST = 1000  # characters of a parameter


def parameters_of(request: Request, *names: str, repeated: str = "") -> dict[str, str]:
    """The parameters of an address, by name; those that are empty are left out, as a form without script sends them.

    Args:
        request: of a page.
        names: that the page knows.
        repeated: one that may stand several times; it is left to whoever asks for it.

    Raises:
        Problem: one is not known, stands twice, or is too long.
    """
    found: dict[str, str] = {}
    for name, value in request.query_params.multi_items():
        if name not in names and (not repeated or name != repeated):
            raise refused(name[:100], "nothing of that name is known here", ", ".join(names) or "no parameter")
        if name in found:
            raise refused(name, "it stands twice in the address", "each parameter once")
        if len(value) > LONGEST:
            raise refused(name, "it is too long", "a shorter text")
        if name in names:
            found[name] = value
    return {name: value for name, value in found.items() if value}


def whole_number(found: dict[str, str], name: str, usual: int, most: int) -> int:
    """A parameter that is a whole number from 1 to `most`; `usual` where it is left out."""
    text = found.get(name, str(usual))
    if not (text.isascii() and text.isdigit() and len(text) <= 9 and 1 <= int(text) <= most):
        raise refused(name, f"it is no whole number from 1 to {most:,}", str(usual))
    return int(text)
