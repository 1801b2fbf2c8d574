"""The description of the API (OpenAPI): what each route takes and gives, with examples that are answered as they stand."""

from __future__ import annotations

from typing import Any

from dither import __version__
from dither.extras import needs
from dither.server.http import models, reply_models
from dither.server.http.formats import TYPES

with needs("dither[server]"):
    from fastapi import FastAPI
    from fastapi.openapi.utils import get_openapi
    from pydantic import BaseModel
    from pydantic.json_schema import models_json_schema

REF = "#/components/schemas/{model}"
SQL = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
EXAMPLES: dict[str, Any] = {
    "QuoteRequest": {"dataset": "clinic", "sql": SQL, "epsilon": "0.1"},
    "QueryRequest": {"dataset": "clinic", "sql": SQL, "error": {"n": 100}},
    "DiffRequest": {"dataset": "clinic", "policy": 'version = 1\ndomain = "clinic"\n...'},
    "TokenRequest": {"name": "ana", "datasets": ["clinic"], "share": {"epsilon": "0.5"}, "days": 90},
}
REPLIES: dict[str, type[BaseModel] | None] = {
    "quote": reply_models.QuoteReply,
    "events": None,
    "me": reply_models.MeReply,
    "datasets": reply_models.DatasetsReply,
    "dataset": reply_models.DatasetReply,
    "questions": reply_models.Reply,
    "sample": reply_models.SampleReply,
    "budget": reply_models.BudgetsReply,
    "answers": reply_models.AnswersReply,
    "ledger": reply_models.EntriesReply,
    "verify": reply_models.VerifyReply,
    "diff": reply_models.Reply,
    "new token": reply_models.NewTokenReply,
    "tokens": reply_models.TokensReply,
    "token": reply_models.TokenReply,
    "health": reply_models.HealthReply,
}
BODIES = (models.QuoteRequest, models.QueryRequest, models.DiffRequest, models.TokenRequest)
PROBLEMS = {
    401: "There is no valid token",
    402: "The budget, the share or today's portion of it does not cover the price; nothing was charged",
    403: "The role of the token may not do that",
    404: "There is no such thing, or it is not yours",
    406: "There is no such format",
    408: "The body did not come in time",
    409: "It is being computed, or the key stands for another question",
    413: "The request is too large",
    415: "The body is no JSON",
    422: "It is refused, with its place and what would work; nothing was charged",
    429: "Too many requests; see Retry-After",
    500: "It failed after it was charged; the cause is not told, since it may depend on a row",
    503: "It cannot be asked now; see Retry-After",
}
STRING = {"type": "string"}
HEADERS: list[dict[str, Any]] = [
    {
        "name": "Prefer",
        "in": "header",
        "schema": STRING,
        "description": "`wait=N`: for how many seconds the reply may wait for the answer, from 0 to 30.",
    },
    {
        "name": "Idempotency-Key",
        "in": "header",
        "schema": {"type": "string", "pattern": "^[!-~]{1,200}$"},
        "description": "The same key is the same question, and never pays twice.",
    },
]
TABLES = {kind: {"schema": STRING} for form, kind in TYPES.items() if form != "json"}


def _schema(model: type[BaseModel]) -> dict[str, Any]:
    return {"schema": {"$ref": REF.format(model=model.__name__)}}


def _problems() -> dict[int | str, Any]:
    content = {"application/problem+json": _schema(reply_models.ProblemReply)}
    return {status: {"description": words, "content": content} for status, words in PROBLEMS.items()}


def _body(model: type[BaseModel] | None) -> dict[str, Any]:
    if model is None:
        return {}
    content = {"application/json": _schema(model) | {"example": EXAMPLES[model.__name__]}}
    return {"requestBody": {"required": True, "content": content}}


def documented(reply: str, body: type[BaseModel] | None = None, status: int = 200) -> dict[str, Any]:
    """What a route says of itself: the kind of its reply, and of its body where it has one."""
    model = REPLIES[reply]
    content: dict[str, Any] = {"text/event-stream": {"schema": STRING}}
    if model is not None:
        content = {"application/json": _schema(model)}
    if reply == "sample":
        content |= {kind: TABLES[kind] for kind in (TYPES["csv"], TYPES["arrow"])}
    responses = {**_problems(), status: {"description": "Done", "content": content}}
    return {"responses": responses, "openapi_extra": _body(body), "status_code": status}


def answered(body: type[BaseModel] | None = None) -> dict[str, Any]:
    """The same of a route that gives an answer, now or later."""
    done = {"application/json": _schema(reply_models.AnswerReply), **TABLES}
    waiting = {"application/json": _schema(reply_models.WaitingReply)}
    responses: dict[int | str, Any] = {
        **_problems(),
        200: {"description": "The answer", "content": done},
        202: {"description": "It is under way; see Location", "content": waiting},
    }
    parameters = HEADERS if body is not None else HEADERS[:1]
    return {"responses": responses, "openapi_extra": {**_body(body), "parameters": parameters}}


def describe(app: FastAPI) -> dict[str, Any]:
    """The whole description, as /openapi.json has it."""
    kinds: list[type[BaseModel]] = [*BODIES, *(model for model in REPLIES.values() if model is not None)]
    kinds += [reply_models.ProblemReply, reply_models.AnswerReply, reply_models.WaitingReply]
    _, schemas = models_json_schema([(kind, "validation") for kind in dict.fromkeys(kinds)], ref_template=REF)
    made = get_openapi(
        title="dither",
        version=__version__,
        summary="A gateway to private data: price and error first, one budget, answers with noise.",
        routes=app.routes,
    )
    made["components"] = {
        "schemas": schemas["$defs"],
        "securitySchemes": {"token": {"type": "http", "scheme": "bearer", "bearerFormat": "dth_..."}},
    }
    made["security"] = [{"token": []}]
    made["paths"]["/health"]["get"]["security"] = []
    return made
