"""Stored answers: the list, one of them, two compared, and exports. Looking costs nothing."""

from __future__ import annotations

import asyncio
import re
from typing import Annotated
from urllib.parse import urlencode

from dither.errors import DataError
from dither.extras import needs
from dither.query.answers.answer import Answer
from dither.query.answers.batch_answer import BatchAnswer
from dither.server.core.callers import ROLES, Caller
from dither.server.core.gateway import Gateway
from dither.server.core.problems import Problem, absent
from dither.server.core.questions import Question
from dither.server.http.authentication import GatewayOf
from dither.server.http.formats import SEVERAL, Format, read_answer
from dither.server.http.refusals import refused
from dither.server.http.replies import question_reply
from dither.server.page.caller import PageCaller
from dither.server.page.facts.answer_facts import answer_facts
from dither.server.page.facts.difference_facts import difference_facts
from dither.server.page.facts.gateway_address import gateway_address
from dither.server.page.facts.stored_facts import COUNT, split_page, stored_facts
from dither.server.page.parameters import parameters_of
from dither.server.page.render import page_reply
from dither.server.page.route import PageRoute

with needs("dither[server]"):
    from fastapi import APIRouter, Path
    from starlette.requests import Request
    from starlette.responses import RedirectResponse, Response

routes = APIRouter(route_class=PageRoute, include_in_schema=False)
Id = Annotated[str, Path(alias="id")]
LONGEST_ID = 200
UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
EXPORTS: dict[str, Format] = {"json": "json", "csv": "csv", "arrow": "arrow", "html": "html"}
ENDINGS = {"json": "json", "csv": "csv", "arrow": "arrows", "html": "html", "svg": "svg"}
SVG = "image/svg+xml"


@routes.get("/answers")
async def answers(request: Request, gateway: GatewayOf, caller: PageCaller) -> Response:
    """Everybody's stored answers, the newest first, or those with the words."""
    asked = parameters_of(request, "words", "dataset", "before")
    words, dataset = asked.get("words", ""), asked.get("dataset")
    before = _time(asked["before"]) if "before" in asked else None
    found = await gateway.answers(caller, dataset=dataset, words=words, before=before, count=COUNT + 1)
    shown, earlier = split_page(found)
    kept = {name: value for name, value in (("words", words), ("dataset", dataset or "")) if value}
    return page_reply(
        caller,
        "answers.html",
        answers=[stored_facts(one) for one in shown],
        datasets=gateway.dataset_names(caller),
        dataset=dataset,
        words=words,
        is_filtered=bool(kept) or before is not None,
        is_older=before is not None,
        filter=urlencode(kept),
        older="" if earlier is None else urlencode({**kept, "before": earlier}),
        may_ask=caller.role in ROLES["ask"],
    )


@routes.get("/answers/compare")
async def compare(request: Request, gateway: GatewayOf, caller: PageCaller) -> Response:
    """Two answers and their differences; a list sends those that were marked as `pick`."""
    asked = parameters_of(request, "a", "b", repeated="pick")
    picked = request.query_params.getlist("pick")
    if len(picked) == 2 and not asked:
        return RedirectResponse(f"/answers/compare?{urlencode({'a': picked[0], 'b': picked[1]})}", 303)
    if picked or len(asked) < 2:
        return page_reply(caller, "compare.html", status=422, picked=len(picked) + len(asked), difference=None)
    first, second = [await _answered(gateway, caller, asked[name]) for name in ("a", "b")]
    facts = await asyncio.to_thread(difference_facts, first, second, gateway_address(request, gateway.config))
    return page_reply(caller, "compare.html", picked=2, difference=facts)


@routes.get("/answers/{id}")
async def answer(request: Request, gateway: GatewayOf, caller: PageCaller, which: Id) -> Response:
    """One answer, by the name of its receipt; or by the id of a question of the caller's own."""
    parameters_of(request)
    question = await _found(gateway, caller, which)
    if not question.ended.is_set():
        return RedirectResponse(f"/ask?{urlencode({'question': question.id})}#answer", 303)
    facts = await asyncio.to_thread(answer_facts, _done(question), gateway_address(request, gateway.config))
    return page_reply(caller, "answer.html", facts=facts, may_ask=caller.role in ROLES["ask"])


@routes.get("/answers/{id}/export/{form}")
async def export(request: Request, gateway: GatewayOf, caller: PageCaller, which: Id, form: str) -> Response:
    """An answer as a file: the bytes that the API gives."""
    parameters_of(request)
    if form not in ENDINGS:
        raise absent()
    question = await _answered(gateway, caller, which)
    found = await asyncio.to_thread(read_answer, question.answer or "{}")
    if isinstance(found, BatchAnswer) and form not in SEVERAL:
        raise Problem(
            "unacceptable", where=form, why="it answers several questions, which are no one table", instead="JSON, HTML"
        )
    if form == "svg":
        reply = await asyncio.to_thread(_drawn, found)
    else:
        reply = await question_reply(question, EXPORTS[form], located=False)
    reply.headers["Content-Disposition"] = f'attachment; filename="{file_name(question, form)}"'
    return reply


def _drawn(found: Answer | BatchAnswer) -> Response:
    try:
        drawn = "" if isinstance(found, BatchAnswer) else found.svg()
    except DataError as error:
        raise Problem("unacceptable", where="svg", why=error.why, instead="CSV, JSON, Arrow, HTML") from None
    return Response(drawn.encode("utf-8", "replace"), 200, media_type=SVG)


def file_name(question: Question, form: str) -> str:
    """The name of a file: letters, digits and dashes alone, whatever the dataset is called."""
    parts = [UNSAFE.sub("-", part).strip("-.")[:60] for part in (question.dataset, question.id)]
    return f"{'-'.join(part for part in ('dither', *parts) if part)}.{ENDINGS[form]}"


def _time(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,18}", text):
        raise refused("before", "it is no time in microseconds", "the link to older answers")
    return int(text)


async def _found(gateway: Gateway, caller: Caller, which: str) -> Question:
    if len(which) > LONGEST_ID:
        raise absent()
    return await (gateway.question(caller, which) if which.startswith("qy_") else gateway.answer(caller, which))


async def _answered(gateway: Gateway, caller: Caller, which: str) -> Question:
    return _done(await _found(gateway, caller, which))


def _done(question: Question) -> Question:
    """The question, if it is answered; its problem otherwise."""
    if question.problem is not None:
        raise Problem.from_facts(question.problem.facts())  # a new one: each that is raised holds on to where
    if question.answer is None:
        raise Problem("in-progress", why="it is computed now", instead="looking again in a while", retry_after=1)
    return question
