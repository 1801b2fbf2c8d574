"""Problems as replies: problem+json (RFC 9457), the same bytes for the same problem."""

from __future__ import annotations

import json
import math
from collections.abc import Callable

from dither.extras import needs
from dither.server.core.problems import Problem, absent
from dither.server.http.refusals import fault, refused, unknown_method
from dither.server.http.request_body import validation_problem

with needs("dither[server]"):
    from fastapi import FastAPI
    from fastapi.exceptions import RequestValidationError
    from starlette.exceptions import HTTPException
    from starlette.requests import Request
    from starlette.responses import Response

TYPE = "application/problem+json"
LOGIN = "/v1/login"


def problem_reply(problem: Problem) -> Response:
    """The reply that tells a problem."""
    headers = {}
    if problem.retry_after is not None:
        headers["Retry-After"] = str(math.ceil(problem.retry_after))
    if problem.receipt is not None:
        headers["Dither-Receipt"] = problem.receipt
    if problem.status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="dither"'
    text = json.dumps(problem.to_json(), ensure_ascii=False)
    return Response(text.encode("utf-8", "backslashreplace"), problem.status, headers, TYPE)


def tell_problems(app: FastAPI, page: Callable[[Request, Problem], Response] | None = None) -> None:
    """Let every refusal of an application be told so; to people in a browser, outside the API, as a page if there is one."""

    def told(request: Request, problem: Problem) -> Response:
        return problem_reply(problem) if page is None or not _is_browser(request) else page(request, problem)

    async def ours(request: Request, error: Exception) -> Response:
        return told(request, error if isinstance(error, Problem) else fault())

    async def library(request: Request, error: Exception) -> Response:
        """What the router refuses: an address or a method that it does not know."""
        status = error.status_code if isinstance(error, HTTPException) else 500
        if status == 405:
            reply = told(request, unknown_method())
            allowed = (getattr(error, "headers", None) or {}).get("Allow")
            if allowed:
                reply.headers["Allow"] = allowed
            return reply
        if status >= 500:
            return told(request, fault())
        other = refused("request", "it cannot be read", "what /openapi.json says")
        return told(request, absent() if status == 404 else other)

    async def validation(request: Request, error: Exception) -> Response:
        if not isinstance(error, RequestValidationError):
            return told(request, fault())
        found = error.errors()
        return told(request, validation_problem(found, start=(str(found[0]["loc"][0]),)))

    app.add_exception_handler(Problem, ours)
    app.add_exception_handler(HTTPException, library)
    app.add_exception_handler(RequestValidationError, validation)


def _is_browser(request: Request) -> bool:
    """Whether people look at an address that is theirs: a login is, the rest of the API is not."""
    path = request.url.path
    api = path == "/mcp" or (f"{path}/".startswith("/v1/") and not path.startswith(LOGIN))
    return not api and "text/html" in request.headers.get("accept", "")
