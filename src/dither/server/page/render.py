"""Pages from templates. Everything is escaped, and text with signs that nobody sees is shown with them written out."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from dither.extras import needs
from dither.server.core.callers import ROLES, Caller
from dither.server.page.assets import asset_address
from dither.server.page.texts import LANGUAGE, fill, texts
from dither.server.page.visible_text import visible

with needs("dither[server]"):
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup, escape
    from starlette.responses import Response

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Content-Language": LANGUAGE,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "same-origin",  # other sites get none; without any our own forms would have no Origin
}
# Which pages there are, in their order, and what a caller must be allowed to do to see them.
PAGES = {
    "ask": ("/ask", "ask"),
    "answers": ("/answers", "look"),
    "budget": ("/budget", "look"),
    "data": ("/data", "own"),
    "people": ("/people", "own"),
    "history": ("/history", "history"),
    "policy": ("/policy", "own"),
}


def _shown(value: Any) -> Any:
    """What every expression of a template goes through; what is markup already is ours."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def exact(text: str) -> Markup:
    """A text as it is, escaped: for fields of forms, which must come back as they were."""
    return escape(text)


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("dither.server.page"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"fill": fill, "exact": exact}
    made.globals |= {"text": texts(), "language": LANGUAGE, "asset": asset_address}
    return made


def pages_of(caller: Caller | None) -> dict[str, str]:
    """Names and addresses of the pages that are for somebody, in their order."""
    return {} if caller is None else {name: at for name, (at, need) in PAGES.items() if caller.role in ROLES[need]}


def page_reply(
    caller: Caller | None,
    template: str,
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    **facts: Any,
) -> Response:
    """A page.

    Args:
        caller: who looks at it; None before somebody has logged in.
        template: its file.
        status: of the reply.
        headers: beside those that all pages have.
        facts: what the template shows.
    """
    body = _environment().get_template(template).render(caller=caller, pages=pages_of(caller), **facts)
    sent = HEADERS | dict(headers or {})
    return Response(body.encode("utf-8", "replace"), status, sent, "text/html; charset=utf-8")
