"""The application: routes over one gateway, and what surrounds them."""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any

from dither.extras import needs
from dither.server.core.gateway import Gateway
from dither.server.http.authentication import OpenRequests
from dither.server.http.documents import describe
from dither.server.http.logs import RequestLog
from dither.server.http.metrics import Metrics
from dither.server.http.middleware import Middleware
from dither.server.http.problem_reply import tell_problems
from dither.server.http.routes import datasets, history, login, owner, questions, service
from dither.server.oidc.login import Login
from dither.server.oidc.provider import Provider

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
    _add_login(app, gateway)
    app.openapi = cache(lambda: describe(app))  # type: ignore[method-assign]
    tell_problems(app)
    limits = gateway.config.limits
    app.add_middleware(Middleware, body_bytes=limits.body_bytes, log=log or RequestLog(None), metrics=metrics)
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
