"""A policy for new data, one question at a time: the wizard of the terminal in a browser.

All replies travel in the form, and consent to look at rows in a field of its own: nothing is kept here, and neither is in an
address. Files are opened by a process of their own.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from dither.extras import needs
from dither.server.core.callers import Caller
from dither.server.core.gateway import Gateway
from dither.server.core.problems import Problem
from dither.server.http.authentication import GatewayOf
from dither.server.http.refusals import refused
from dither.server.page.caller import Form, FormOf, PageCaller
from dither.server.page.facts.wizard_facts import next_steps, reply_field, size_words
from dither.server.page.parameters import parameters_of
from dither.server.page.render import page_reply
from dither.server.page.route import PageRoute

with needs("dither[server]"):
    from fastapi import APIRouter
    from starlette.requests import Request
    from starlette.responses import RedirectResponse, Response

routes = APIRouter(route_class=PageRoute, include_in_schema=False)
ADDRESS = "/data/new"
BODY_BYTES = 4 * 2**20  # of a form: replies about some hundred columns, or the whole text of a policy
KEPT = ("source", "replies", "look", "key", "reply", "choice", "shown", "action")  # fields of the form
ACTIONS = ("begin", "answer", "back", "save", "download")
AGAIN = ("refused", "unavailable", "busy")  # kinds of problems after which the same may be tried again


@routes.get(ADDRESS)
async def choose(request: Request, gateway: GatewayOf, caller: PageCaller) -> Response:
    """The files for which a policy can be made."""
    parameters_of(request)
    return await _list(gateway, caller)


@routes.post(ADDRESS)
async def move(gateway: GatewayOf, caller: PageCaller, form: FormOf) -> Response:
    """The next step, the one before, or the policy at the end."""
    action = form.get("action", "answer")
    for name in sorted(form.keys() - set(KEPT)):
        raise refused(name[:100], "there is no such field", "the fields of the page")
    if action not in ACTIONS:
        raise refused("action", "there is no such button", ", ".join(ACTIONS))
    two = action == "answer" and _says_two(form)
    try:
        found = await gateway.wizard(caller, **_message(form, "show" if two else action))
    except Problem as problem:
        if problem.kind not in AGAIN:
            raise
        if action == "begin":
            return await _list(gateway, caller, problem)
        kept = [(name, form[name]) for name in KEPT if name in form]
        return page_reply(caller, "wizard_again.html", status=problem.status, problem=problem, kept=kept)
    if found is None or found.get("first"):
        return RedirectResponse(ADDRESS, 303)
    if action == "download" and found["policy"] is not None:
        return _download(found["name"], found["policy"])
    return _page(gateway, caller, found, form if two else None)


def _says_two(form: Form) -> bool:
    """Whether one reply was chosen and another typed: neither is left out silently."""
    typed = form.get("reply", "").strip()
    return bool(form.get("choice") and typed and typed not in (form["choice"], form.get("shown", "").strip()))


def _message(form: Form, action: str) -> dict[str, Any]:
    if action == "begin":
        return {"task": "step", "move": "begin", "source": form.get("source", "")}
    kept = {"replies": form.get("replies", ""), "look": form.get("look", ""), "key": form.get("key", "")}
    kept["reply"] = form.get("choice") or form.get("reply", "")
    task = "save" if action == "save" else "step"
    return {"task": task, "move": "show" if action == "download" else action, **kept}


async def _list(gateway: Gateway, caller: Caller, problem: Problem | None = None) -> Response:
    found = await gateway.wizard(caller, "files")
    files = [] if found is None else [(file["name"], size_words(file["size"])) for file in found["files"]]
    status = 200 if problem is None else problem.status
    told: dict[str, Any] = {"folder": _folder(gateway), "files": files, "more": found is not None and found["more"]}
    return page_reply(caller, "wizard_files.html", status=status, problem=problem, **told)


def _page(gateway: Gateway, caller: Caller, found: dict[str, Any], two: Form | None) -> Response:
    """A step, or the end."""
    step = found["view"]["step"]
    status = 200 if found["refusal"] is None and two is None else 422
    if step is None:
        told: dict[str, Any] = {"folder": _folder(gateway), "next": next_steps(_folder(gateway), found["name"])}
        return page_reply(caller, "wizard_end.html", status=status, **found | told)
    field = reply_field(step, found["typed"])
    typed, chosen = (field.typed, field.chosen) if two is None else (two.get("reply", ""), two.get("choice", ""))
    told = {"field": field, "typed": typed, "chosen": chosen, "two": two is not None}
    return page_reply(caller, "wizard.html", status=status, **found | told)


def _folder(gateway: Gateway) -> str:
    return "" if gateway.config.new_data is None else gateway.config.new_data.text


def _download(name: str, text: str) -> Response:
    headers = {"Content-Disposition": f"attachment; filename=\"policy.toml\"; filename*=UTF-8''{quote(name, safe='')}.toml"}
    return Response(text.encode(), 200, headers, "application/toml")
