"""For owners: the policy in force, and what another one would change. A gateway does not change its own policy."""

from __future__ import annotations

import shlex
from typing import Any

from dither.extras import needs
from dither.server.core.callers import Caller
from dither.server.core.gateway import Gateway
from dither.server.core.problems import Problem, absent
from dither.server.http.authentication import GatewayOf
from dither.server.http.refusals import refused
from dither.server.page.caller import FormOf, PageCaller
from dither.server.page.parameters import parameters_of
from dither.server.page.render import page_reply
from dither.server.page.route import PageRoute

with needs("dither[server]"):
    from fastapi import APIRouter
    from starlette.requests import Request
    from starlette.responses import Response

routes = APIRouter(route_class=PageRoute, include_in_schema=False)
FIELDS = {"dataset", "policy"}
DIFF = "dither policy diff old.toml new.toml"
CREATE = "dither ledger create --policy new.toml --write"


@routes.get("/policy")
async def show(request: Request, gateway: GatewayOf, caller: PageCaller) -> Response:
    """The policy in force, beside a field with it to edit."""
    caller.must("own")
    return await _page(gateway, caller, parameters_of(request, "dataset").get("dataset"))


@routes.post("/policy")
async def compare(request: Request, gateway: GatewayOf, caller: PageCaller, form: FormOf) -> Response:
    """What the text in the field would change; nothing is written."""
    caller.must("own")
    parameters_of(request)
    for name in sorted({*form} ^ FIELDS):
        raise refused(name[:100], "the form has a dataset and a policy, and nothing else", "the form of the page")
    try:
        found = await gateway.policy_diff(caller, form["dataset"], form["policy"])
    except Problem as problem:
        if problem.kind in ("absent", "forbidden"):
            raise
        return await _page(gateway, caller, form["dataset"], form["policy"], problem=problem)
    return await _page(gateway, caller, form["dataset"], form["policy"], diff=found)


async def _page(
    gateway: Gateway,
    caller: Caller,
    dataset: str | None,
    typed: str | None = None,
    *,
    diff: dict[str, Any] | None = None,
    problem: Problem | None = None,
) -> Response:
    names = gateway.dataset_names(caller)
    if dataset is None and not names:
        raise absent()
    name = names[0] if dataset is None else dataset
    try:
        facts = await gateway.owner_dataset(caller, name)
    except Problem as found:
        if found.kind == "absent":
            raise
        problem, facts = problem or found, {"name": name, "opens": False, "problem": None}
    told: dict[str, Any] = {"datasets": names, "facts": facts, "diff": diff, "problem": problem}
    typed = (facts.get("text") or "") if typed is None else typed
    status = 200 if problem is None else problem.status
    return page_reply(caller, "policy.html", status=status, typed=typed, commands=_commands(facts, diff), **told)


def _commands(facts: dict[str, Any], diff: dict[str, Any] | None) -> list[str]:
    """What puts the new policy in force, beside the ledger; nothing where the ledger need not hear of it."""
    if diff is None or not diff["changes"]:
        return []
    if not diff["compatible"]:
        return [DIFF, CREATE]
    if not diff["amends"] or not facts["opens"]:
        return [DIFF]
    place = shlex.quote(facts["ledger"]["location"])
    word = "" if diff["loosens"] else " --tightens"
    return [DIFF, f'dither ledger amend {place} --policy new.toml --before old.toml{word} --note "..."']
