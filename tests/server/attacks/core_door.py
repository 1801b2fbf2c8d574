"""The requests of `requests.py` over the core, and what came back."""

from __future__ import annotations

import json
from typing import Any

from dither.server.core.callers import Caller
from dither.server.core.gateway import Gateway
from dither.server.core.problems import Problem
from dither.server.core.questions import Asked, Question
from tests.server.attacks.requests import ASKS, masked, without_noise


async def replies(gateway: Gateway, ana: Caller, owner: Caller, dataset: str) -> list[str]:
    """What each request gives, about one dataset, with all taken out that may differ between neighbours."""
    found: list[Any] = [await gateway.dataset(ana, dataset)]
    for sql, terms, key in ASKS:
        asked = Asked(dataset, sql, terms)
        found.append(await _told(gateway.quote(ana, asked)))
        found.append(await _told(gateway.ask(ana, asked, key=key, wait=30)))
        found.append(await gateway.budget(ana, dataset))
    found.append(await gateway.answers(ana, dataset=dataset))
    found += [await _told(gateway.answer(ana, one["id"])) for one in found[-1]]
    found += [await gateway.ledger(owner, dataset), await gateway.verify(owner, dataset), await gateway.health()]
    return [masked(json.dumps(one, ensure_ascii=False), dataset) for one in found]


async def _told(work: Any) -> Any:
    try:
        found = await work
    except Problem as problem:
        return problem.to_json() | {"retry": problem.retry_after}
    return question_facts(found) if isinstance(found, Question) else found


def question_facts(question: Question) -> dict[str, Any]:
    """All that a door can tell of a question, but for how long it took."""
    answer = None if question.answer is None else without_noise(question.answer)
    problem = None if question.problem is None else question.problem.to_json() | {"retry": question.problem.retry_after}
    told = {"id": question.id, "state": question.state, "receipt": question.receipt, "replay": question.replay}
    return told | {"price": question.price, "answer": answer, "problem": problem, "ended": question.ended.is_set()}
