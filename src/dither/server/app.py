"""The application: routes over one gateway, and what surrounds them.

Theorem. A reply, its status, its headers and its length are a function of the request, of what the `Gateway` gave for it,
and of the requests of the same token that are open; so HTTP adds nothing to what the gateway's theorem lets a caller see,
but when a reply leaves.
Proof. This process opens no source and no ledger. A route calls one method of the gateway with what the request says, and
writes the value by the files of `http/`, which read nothing else; the other replies are fixed texts (`http/refusals.py`)
chosen by the request, by its size and time, and by `OpenRequests`. Whatever is raised beside a `Problem` is one of those
texts. The log and the metrics, which are the owner's, get templates of routes, statuses, ids and rounded durations. ∎
"""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any

from dither.extras import needs
from dither.server.core.gateway import Gateway
from dither.server.http.authentication import OpenRequests, caller_of
from dither.server.http.documents import describe
from dither.server.http.logs import RequestLog
from dither.server.http.metrics import Metrics
from dither.server.http.middleware import Middleware
from dither.server.http.problem_reply import tell_problems
from dither.server.http.routes import datasets, history, login, owner, questions, service
from dither.server.mcp.protocol import mount_mcp
from dither.server.oidc.login import Login
from dither.server.oidc.provider import Provider
from dither.server.page.route import problem_page
from dither.server.page.routes.all_routes import PAGES
from dither.server.page.routes.wizard import ADDRESS, BODY_BYTES

with needs("dither[server]"):
    from fastapi import FastAPI

ROUTES = (questions.routes, datasets.routes, history.routes, owner.routes, service.routes)
# Some versions export traces and logs with the texts of errors if the environment says so.
TELEMETRY = {"tracing": False, "metrics": False, "logs": False, "operation_spans": False, "auto_configure": False}


def create_app(gateway: Gateway, *, log: RequestLog | None = None, metrics: Metrics | None = None) -> FastAPI:
    """The gateway over HTTP, as an ASGI application.

    Args:
        gateway: whom every route asks; whoever made it closes it.
        log: where requests are logged; nowhere if left out.
        metrics: where they are counted.

    Raises:
        MissingExtraError: `dither[server]` is not installed; or people log in, and `dither[server-oidc]` is not.
        PolicyError: people log in, and the secret of the client is not where the owner said.
    """
    told: dict[str, Any] = {"telemetry": TELEMETRY} if "telemetry" in inspect.signature(FastAPI.__init__).parameters else {}
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url="/openapi.json", redirect_slashes=False, **told)
    app.state.gateway, app.state.open_requests = gateway, OpenRequests()
    for routes in ROUTES:
        app.include_router(routes)
    mount_mcp(app, gateway, caller_of)
    _add_login(app, gateway)
    for routes in PAGES:
        app.include_router(routes)
    app.openapi = cache(lambda: describe(app))  # type: ignore[method-assign]
    tell_problems(app, problem_page)
    limits = gateway.config.limits
    larger, log = {ADDRESS: BODY_BYTES}, log or RequestLog(None)
    app.add_middleware(Middleware, body_bytes=limits.body_bytes, larger=larger, log=log, metrics=metrics)
    return app


def _add_login(app: FastAPI, gateway: Gateway) -> None:
    """Logins at a provider, where the owner names one; and its tokens beside ours, where the owner allows them."""
    facts = gateway.config.oidc
    if facts is None:
        return
    provider, failures = Provider(facts), gateway.config.limits.wrong_tokens_per_minute
    app.state.login = Login(provider, gateway.tokens, failures_per_minute=failures)
    app.include_router(login.routes)
    if facts.bearer:
        gateway.foreign_caller = provider.caller
