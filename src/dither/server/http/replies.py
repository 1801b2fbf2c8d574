"""Replies: a question under way or answered, and plain values as JSON."""

from __future__ import annotations

import asyncio
import datetime
import json
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from dither.extras import needs
from dither.server.core.questions import Question
from dither.server.http.formats import CONTENT, PAGE_POLICY, Format, write
from dither.server.http.problem_reply import problem_reply

with needs("dither[server]"):
    from starlette.responses import Response

LONGEST_WAIT = 30.0
WAIT = re.compile(r"wait\s*=\s*([0-9]{1,9})", re.IGNORECASE)


def plain(value: Any) -> Any:
    """What JSON has no word for: dates and decimals as texts."""
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (Decimal, datetime.timedelta)):
        return str(value)
    if isinstance(value, tuple):
        return list(value)
    raise TypeError


def json_reply(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A value as JSON."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, default=plain)
    return Response(text.encode("utf-8", "backslashreplace"), status, headers, "application/json")


def waiting_time(values: Sequence[str], default: float) -> float:
    """How long a client would wait, by `Prefer: wait=N`: 0 to 30 seconds. What cannot be read is passed over (RFC 7240)."""
    for each in ",".join(values).split(","):
        found = WAIT.fullmatch(each.partition(";")[0].strip())
        if found:
            return min(float(found[1]), LONGEST_WAIT)
    return default


async def question_reply(question: Question, form: Format, *, located: bool = True) -> Response:
    """A question as it stands: its answer in a format, 202 while it is under way, or its problem."""
    if question.problem is not None:
        return problem_reply(question.problem)  # not raised: each time it was, it would hold on to where
    if question.answer is None:
        told = {"id": question.id, "dataset": question.dataset, "state": question.state, "seconds": question.elapsed()}
        return json_reply(told, 202, {"Location": f"/v1/queries/{question.id}", "Retry-After": "1"})
    headers = {"Vary": "Accept", "Dither-Replay": "true" if question.replay else "false"}
    if question.receipt is not None:
        headers["Dither-Receipt"] = question.receipt
    if located:
        headers["Content-Location"] = f"/v1/queries/{question.id}"
    body = None if form == "json" else await asyncio.to_thread(write, question.answer, form)
    if body is None:  # JSON; also where a table cannot hold it: it is paid, so it is told in the nearest format
        return Response(_whole(question).encode(), 200, headers, CONTENT["json"])
    if form == "html":
        headers["Content-Security-Policy"] = PAGE_POLICY
    return Response(body, 200, headers | {"Content-Type": CONTENT[form]})


def _whole(question: Question) -> str:
    """The answer stands in the reply as it is stored: it is not read and written again."""
    told: dict[str, Any] = {"id": question.id, "dataset": question.dataset, "state": "done"}
    told |= {"receipt": question.receipt, "replay": question.replay}
    return f'{json.dumps(told, ensure_ascii=False)[:-1]}, "answer": {question.answer}}}'
