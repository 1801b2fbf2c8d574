"""The page on which questions are asked: the declared tables, a question, its price before it is paid, and the answer.

It works without script: a form that shows the price, and asks. The script `ask.js` quotes
while somebody types, by the same fields.

Theorem. One press of Ask is charged at most once, and never more than what the form states: a price that the asker typed,
or that of a quote which was shown to this caller for exactly this question and these wishes in the last ten minutes.
Proof. `Gateway.ask` is called in one place. With a typed price the terms are those of the form, and a release costs no more
than them. With wishes it is called only if the quote of the form is one of this caller's and has the same `Asked`; the
price of an `Asked` under a policy is one number. A form that is sent twice has the same key and the same question, which
`Questions.same` and the ledger know to be one. ∎
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from dither.extras import needs
from dither.server.core.callers import Caller
from dither.server.core.gateway import PAGE, Gateway
from dither.server.core.problems import Problem
from dither.server.core.questions import Asked, Question
from dither.server.http.authentication import GatewayOf
from dither.server.page.caller import FormOf, PageCaller
from dither.server.page.facts.answer_facts import answer_facts
from dither.server.page.facts.ask_facts import DatasetFacts, ask_facts, dataset_facts
from dither.server.page.facts.gateway_address import gateway_address
from dither.server.page.facts.question_form import (
    ACTIONS,
    OF_ADDRESS,
    OF_FORM,
    QuestionForm,
    form_of_question,
    question_form,
    read_form,
)
from dither.server.page.render import page_reply
from dither.server.page.route import PageRoute

with needs("dither[server]"):
    from fastapi import APIRouter
    from starlette.requests import Request
    from starlette.responses import RedirectResponse, Response

routes = APIRouter(route_class=PageRoute, include_in_schema=False)
WAIT = 1.5  # seconds after which a question that is not done has a page that follows it
LONGEST_ADDRESS = 2000  # signs; beyond them the terms of a question are left out of it
SEE_OTHER = 303


@routes.get("/ask")
async def show(request: Request, gateway: GatewayOf, caller: PageCaller) -> Response:
    """A question with its price; with `answer` or `question` in the address also what became of it."""
    caller.must("ask")
    fields = read_form(request.query_params.multi_items(), OF_ADDRESS)
    question = await _named(gateway, caller, fields)
    if question is None:
        seen = gateway.dataset_names(caller)
        if not seen:
            return page_reply(caller, "ask.html", **await ask_facts(gateway, caller, QuestionForm(), None))
        fields["dataset"] = fields.get("dataset") or seen[0]
        try:
            dataset = await dataset_facts(gateway, caller, fields["dataset"])
        except Problem as problem:
            if problem.kind != "unavailable":
                raise
            return await _page(request, gateway, caller, QuestionForm(fields["dataset"]), None, problem=problem)
        fields.setdefault("sql", dataset.first_question)
        return await _page(request, gateway, caller, question_form(fields, dataset.price), dataset)
    if "answer" not in fields and await _is_stored(gateway, caller, question):
        return _see(form_of_question(question.asked, {}), answer=question.receipt or "", question=question.id)
    dataset = await dataset_facts(gateway, caller, question.dataset)
    if "answer" in fields:
        sql = question.asked.sql if isinstance(question.asked.sql, str) else ";\n".join(question.asked.sql)
        form = question_form({**fields, "dataset": question.dataset, "sql": sql}, dataset.price)
    else:
        form = form_of_question(question.asked, dataset.price)
    return await _page(request, gateway, caller, form, dataset, question=question)


@routes.post("/ask")
async def send(request: Request, gateway: GatewayOf, caller: PageCaller, form: FormOf) -> Response:
    """Show the price of what was typed, or ask."""
    caller.must("ask")
    fields = read_form(list(form.items()), OF_FORM)
    action = fields.pop("action", "price")
    if action not in ACTIONS or "key" not in fields:
        raise Problem(
            "refused", where="action", why="the form is not that of the page", instead="the page /ask", error="DataError"
        )
    dataset = await dataset_facts(gateway, caller, fields.get("dataset", ""))
    typed = question_form(fields, dataset.price)
    if action != "ask":
        return await _page(request, gateway, caller, typed, dataset)
    try:
        asked = typed.asked()
        if typed.way == "error" and not _was_shown(gateway, caller, typed.quote, asked):
            return await _page(request, gateway, caller, typed, dataset, price_first=True)
        question = await gateway.ask(caller, asked, key=typed.idempotency_key(), wait=WAIT, door=PAGE)
    except Problem as problem:
        return await _page(request, gateway, caller, typed, dataset, problem=problem)
    if question.problem is not None:
        return await _page(request, gateway, caller, typed, dataset, problem=question.problem)
    if await _is_stored(gateway, caller, question):
        return _see(typed, answer=question.receipt or "", question=question.id)
    return _see(None, question=question.id)


async def _named(gateway: Gateway, caller: Caller, fields: dict[str, str]) -> Question | None:
    """The question that an address names; it is absent where it is not the caller's.

    Beside `answer` the question says how that was paid, as long as it is known.
    """
    others = ("sql", "dataset") if "answer" in fields else tuple(sorted(fields.keys() - {"question"}))
    extra = next((name for name in others if name in fields), None)
    if extra is not None and fields.keys() & {"answer", "question"}:
        why = "the address names a question that was asked, which has its own"
        raise Problem("refused", where=extra, why=why, instead="/ask?answer=... or /ask?question=...", error="DataError")
    if "answer" not in fields:
        return await gateway.question(caller, fields["question"]) if "question" in fields else None
    answer = await gateway.answer(caller, fields["answer"])
    with suppress(Problem):
        paid = await gateway.question(caller, fields.get("question", ""))
        answer.replay = answer.replay and not (paid.receipt == answer.receipt and not paid.replay)
    return answer


def _was_shown(gateway: Gateway, caller: Caller, quote: str, asked: Asked) -> bool:
    """Whether that quote, of this question at these wishes, was shown to this caller lately: price before payment."""
    try:
        return gateway.quotes.find(caller, quote) == asked
    except Problem:
        return False


async def _is_stored(gateway: Gateway, caller: Caller, question: Question) -> bool:
    """Whether the answer has an address that lasts."""
    if question.answer is None or question.receipt is None:
        return False
    try:
        await gateway.answer(caller, question.receipt)
    except Problem:
        return False
    return True


def _see(form: QuestionForm | None, **parameters: str) -> Response:
    """Go to the page of what was asked; the terms come along, so that the next question begins with them."""
    address = (QuestionForm() if form is None else form).terms_address(**parameters)
    if form is None or len(address) > LONGEST_ADDRESS:
        address = "/ask?" + "&".join(f"{name}={value}" for name, value in parameters.items())
    return RedirectResponse(f"{address}#answer", SEE_OTHER)


async def _page(
    request: Request,
    gateway: Gateway,
    caller: Caller,
    form: QuestionForm,
    dataset: DatasetFacts | None,
    *,
    problem: Problem | None = None,
    question: Question | None = None,
    price_first: bool = False,
) -> Response:
    """The page: with a problem it has the status of the problem, and what was typed stays."""
    facts: dict[str, Any] = await ask_facts(gateway, caller, form, dataset, problem=problem)
    if question is not None:
        facts["failure"] = question.problem
        facts["under_way"] = None if question.ended.is_set() else question
        if question.answer is not None:
            facts["answered"] = await asyncio.to_thread(answer_facts, question, gateway_address(request, gateway.config))
            facts["same"] = None if facts["same"] and facts["same"]["id"] == question.receipt else facts["same"]
    told = problem or facts["failure"] or facts["refusal"]
    facts["price_first"] = price_first and facts["refusal"] is None
    status = 200 if told is None else told.status
    headers = {} if told is None or told.retry_after is None else {"Retry-After": str(told.retry_after)}
    return page_reply(caller, "ask.html", status=status, headers=headers, **facts)
