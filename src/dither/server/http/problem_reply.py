"""Problems as replies: problem+json (RFC 9457), the same bytes for the same problem."""

from __future__ import annotations

import json
import math

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


async def _problem(_: Request, error: Exception) -> Response:
    return problem_reply(error if isinstance(error, Problem) else fault())


async def _library(_: Request, error: Exception) -> Response:
    """What the router refuses: an address or a method that it does not know."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    if status == 405:
        reply = problem_reply(unknown_method())
        allowed = (getattr(error, "headers", None) or {}).get("Allow")
        if allowed:
            reply.headers["Allow"] = allowed
        return reply
    if status >= 500:
        return problem_reply(fault())
    return problem_reply(absent() if status == 404 else refused("request", "it cannot be read", "what /openapi.json says"))


async def _validation(_: Request, error: Exception) -> Response:
    if not isinstance(error, RequestValidationError):
        return problem_reply(fault())
    found = error.errors()
    return problem_reply(validation_problem(found, start=(str(found[0]["loc"][0]),)))


def tell_problems(app: FastAPI) -> None:
    """Let every refusal of an application be told so."""
    app.add_exception_handler(Problem, _problem)
    app.add_exception_handler(HTTPException, _library)
    app.add_exception_handler(RequestValidationError, _validation)
