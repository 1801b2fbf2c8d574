"""For owners and auditors: what a ledger says, with a filter; whether it holds; and all of it as a file."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated, Any
from urllib.parse import urlencode

from dither.extras import needs
from dither.ledger.history import WORDS, HistoryLine, history_csv
from dither.server.core.callers import Caller
from dither.server.core.gateway import Gateway
from dither.server.core.problems import Problem, absent
from dither.server.http.authentication import GatewayOf
from dither.server.http.refusals import refused
from dither.server.page.caller import FormOf, PageCaller
from dither.server.page.parameters import parameters_of, whole_number
from dither.server.page.render import page_reply
from dither.server.page.route import PageRoute

with needs("dither[server]"):
    from fastapi import APIRouter, Path
    from starlette.requests import Request
    from starlette.responses import Response

routes = APIRouter(route_class=PageRoute, include_in_schema=False)
FILTER = ("dataset", "kind", "who", "words", "last")
LAST, MOST = 200, 10_000  # entries from the end
CHOICES = (LAST, 1000, MOST)
LINES = 100  # on a page
CONTENT = {"csv": "text/csv; charset=utf-8; header=present", "json": "application/json"}


@routes.get("/history")
async def show(request: Request, gateway: GatewayOf, caller: PageCaller) -> Response:
    """The last entries, the newest first."""
    caller.must("history")
    found = parameters_of(request, *FILTER, "page")
    number = whole_number(found, "page", 1, MOST)
    return await _page(gateway, caller, found, number)


@routes.get("/history/export/{form}")
async def export(
    request: Request, gateway: GatewayOf, caller: PageCaller, form: Annotated[str, Path(max_length=20)]
) -> Response:
    """The lines of the filter as a file, in the order in which they were written."""
    caller.must("history")
    found = parameters_of(request, *FILTER)
    if form not in CONTENT:
        raise absent()
    name, lines = await _lines(gateway, caller, found)
    text = (
        history_csv(lines) if form == "csv" else json.dumps([asdict(line) for line in lines], ensure_ascii=False, indent=1)
    )
    headers = {"Content-Disposition": f'attachment; filename="history-{name}.{form}"', "Content-Type": CONTENT[form]}
    return Response(text.encode("utf-8", "backslashreplace"), 200, headers)


@routes.post("/history/verify")
async def verify(request: Request, gateway: GatewayOf, caller: PageCaller, form: FormOf) -> Response:
    """Check all that the ledger says; nothing is written."""
    caller.must("history")
    parameters_of(request)
    for name in sorted({*form} ^ {"dataset"}):
        raise refused(name[:100], "the form has a dataset, and nothing else", "the form of the page")
    found = await gateway.verify(caller, form["dataset"])
    return await _page(gateway, caller, {"dataset": form["dataset"]}, 1, verified=found)


async def _lines(gateway: Gateway, caller: Caller, found: dict[str, str]) -> tuple[str, list[HistoryLine]]:
    """The dataset, and the lines of its ledger that pass the filter, the oldest first."""
    last, kind = whole_number(found, "last", LAST, MOST), found.get("kind")
    if kind is not None and kind not in WORDS:
        raise refused("kind", "there is no such kind of entry", ", ".join(WORDS))
    name = _dataset(gateway, caller, found)
    lines = [HistoryLine(**line) for line in await gateway.ledger(caller, name, last=last)]
    who, words = found.get("who", "").casefold(), found.get("words", "").casefold().split()
    return name, [line for line in lines if kind in (None, line.kind) and who in line.who.casefold() and _has(line, words)]


def _has(line: HistoryLine, words: list[str]) -> bool:
    text = f"{line.question}\n{line.about}\n{line.price}".casefold()
    return all(word in text for word in words)


def _dataset(gateway: Gateway, caller: Caller, found: dict[str, str]) -> str:
    names = gateway.dataset_names(caller)
    if "dataset" not in found and not names:
        raise absent()
    return found.get("dataset") or names[0]


async def _page(
    gateway: Gateway, caller: Caller, found: dict[str, str], number: int, verified: dict[str, Any] | None = None
) -> Response:
    name, problem, lines = _dataset(gateway, caller, found), None, list[HistoryLine]()
    try:
        name, lines = await _lines(gateway, caller, found)
    except Problem as one:  # of a dataset that does not open: the others can still be chosen
        if one.kind != "unavailable":
            raise
        problem = one if verified is None else None  # a ledger that does not hold is not read
    lines.reverse()
    shown = lines[LINES * (number - 1) : LINES * number]
    asked = {each: found[each] for each in FILTER if each in found} | {"dataset": name}
    told: dict[str, Any] = {
        "datasets": gateway.dataset_names(caller),
        "name": name,
        "asked": asked,
        "kinds": WORDS,
        "choices": CHOICES,
        "lines": shown,
        "count": len(lines),
        "first": LINES * (number - 1) + 1,
        "verified": verified,
        "problem": problem,
        "filter": urlencode(asked),
        "newer": urlencode(asked | {"page": number - 1}) if number > 1 else None,
        "older": urlencode(asked | {"page": number + 1}) if len(lines) > LINES * number else None,
        "last": whole_number(found, "last", LAST, MOST),
    }
    return page_reply(caller, "history.html", status=200 if problem is None else problem.status, **told)
