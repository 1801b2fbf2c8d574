"""For owners: who may ask, with which share; a new token, whose secret is shown once; and the end of one."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from dither.extras import needs
from dither.privacy.guarantee.guarantee import Guarantee
from dither.server.core.callers import ALL, Caller
from dither.server.core.gateway import Gateway
from dither.server.core.problems import Problem, absent
from dither.server.core.roles import ROLES
from dither.server.core.tokens import Token
from dither.server.http.authentication import GatewayOf
from dither.server.http.models import TokenRequest
from dither.server.http.refusals import refused
from dither.server.http.request_body import Written, read_as
from dither.server.page.caller import Form, FormOf, PageCaller
from dither.server.page.parameters import parameters_of, whole_number
from dither.server.page.render import page_reply
from dither.server.page.route import PageRoute

with needs("dither[server]"):
    from fastapi import APIRouter
    from starlette.requests import Request
    from starlette.responses import RedirectResponse, Response

routes = APIRouter(route_class=PageRoute, include_in_schema=False)
LINES, PAGES = 100, 10_000  # tokens on a page; pages
FOR = "dataset:"  # before the name of a dataset, in the name of its check box
SHARE = ("epsilon", "delta", "rho")
FIELDS = {"name", "role", *SHARE, "daily", "days", "sure"}
EMPTY = {"name": "", "role": "analyst", "epsilon": "", "delta": "", "rho": "", "daily": "", "days": "90"}
NEVER = "0"  # days: it does not end


@routes.get("/people")
async def show(request: Request, gateway: GatewayOf, caller: PageCaller) -> Response:
    """Tokens, and the form for a new one; with `revoke=`, the question whether that one is to end."""
    caller.must("own")
    found = parameters_of(request, "revoke", "revoked", "ended", "page")
    number = whole_number(found, "page", 1, PAGES)
    if found.get("ended", "yes") != "yes":
        raise refused("ended", "it is 'yes', or left out", "ended=yes")
    revoke, revoked = [await _token(gateway, caller, found.get(name)) for name in ("revoke", "revoked")]
    return await _page(gateway, caller, number=number, ended="ended" in found, revoke=revoke, revoked=revoked)


@routes.post("/people")
async def create(request: Request, gateway: GatewayOf, caller: PageCaller, form: FormOf) -> Response:
    """A new token. Its secret is in this reply and nowhere else, so it does not lead to another page."""
    caller.must("own")
    parameters_of(request)
    try:
        stated = _stated(form)
        grants = await gateway.token_grants(
            caller, name=stated.name, role=stated.role, datasets=stated.datasets, share=_share(stated)
        )
        cautions = {name: grant["cautions"] for name, grant in grants.items() if any(grant["cautions"].values())}
        if cautions and form.get("sure") != "yes":
            return await _page(gateway, caller, form=form, cautions=cautions)
        token, secret = await gateway.create_token(
            caller, name=stated.name, role=stated.role, datasets=stated.datasets, share=_share(stated), days=stated.days
        )
    except Problem as problem:
        return await _page(gateway, caller, form=form, problem=problem)
    words = [grant["words"] for grant in grants.values()]
    return page_reply(
        caller, "token.html", status=201, headers={"Cache-Control": "no-store"}, token=token, secret=secret, words=words
    )


@routes.post("/people/revoke")
async def revoke(request: Request, gateway: GatewayOf, caller: PageCaller, form: FormOf) -> Response:
    """Let a token end now, once it was said that it shall."""
    caller.must("own")
    parameters_of(request)
    for name in sorted({*form} ^ {"id", "sure"}):
        raise refused(name[:100], "the form has an id, and says that it is meant", "the form of the page")
    if form["sure"] != "yes":
        raise refused("sure", "it is 'yes'", "the form of the page")
    ended = await gateway.revoke_token(caller, form["id"])
    return RedirectResponse(f"/people?revoked={ended.id}", 303)


async def _token(gateway: Gateway, caller: Caller, which: str | None) -> Token | None:
    if which is None:
        return None
    found = next((token for token in await gateway.list_tokens(caller) if token.id == which), None)
    if found is None:
        raise absent()
    return found


def _stated(form: Form) -> TokenRequest:
    """The form as the request that a program would send: one reader for both, so the same rules."""
    chosen = [name.removeprefix(FOR) for name in form if name.startswith(FOR)]
    for name in sorted(form.keys() - FIELDS - {f"{FOR}{each}" for each in chosen}):
        raise refused(name[:100], "nothing of that name is known here", ", ".join(sorted(FIELDS)))
    if not chosen:
        raise refused("datasets", "none is chosen", "at least one of them")
    share = {name: text for name in SHARE if (text := form.get(name, "").strip())}
    daily, days = form.get("daily", "").strip(), form.get("days", EMPTY["days"]).strip()
    stated = {
        "name": form.get("name", "").strip(),
        "role": form.get("role", EMPTY["role"]),
        "datasets": chosen,
        "share": share or None,
        "daily": daily or None,
        "days": None if days == NEVER else Written(days),
    }
    return read_as(TokenRequest, stated)


def _share(stated: TokenRequest) -> dict[str, str]:
    share = {} if stated.share is None else {name: text for name, text in stated.share if text is not None}
    return share | ({} if stated.daily is None else {"daily": stated.daily})


async def _page(
    gateway: Gateway,
    caller: Caller,
    *,
    form: Form | None = None,
    problem: Problem | None = None,
    cautions: dict[str, dict[str, bool]] | None = None,
    revoke: Token | None = None,
    revoked: Token | None = None,
    number: int = 1,
    ended: bool = False,
) -> Response:
    tokens = [token for token in await gateway.list_tokens(caller) if ended or _state(token) == "in_force"]
    tokens.reverse()  # the newest first
    shown = tokens[LINES * (number - 1) : LINES * number]
    shares = await gateway.shares_left(caller, [token.name for token in shown])
    budgets = {one["name"]: one["budget"] for one in await gateway.owner_datasets(caller) if one["opens"]}
    names = gateway.dataset_names(caller)
    only = {f"{FOR}{names[0]}": "yes"} if form is None and len(names) == 1 else {}
    told: dict[str, Any] = {
        "people": [_facts(token, shares) for token in shown],
        "datasets": [*names, *([ALL] if ALL in caller.datasets else [])],
        "budgets": budgets,
        "roles": ROLES,
        "form": EMPTY | only | (form or {}),
        "problem": problem,
        "cautions": cautions or {},
        "revoke": revoke,
        "revoked": revoked,
        "own": caller.token_id,
        "ended": ended,
        "newer": number - 1,
        "older": number + 1 if len(tokens) > LINES * number else None,
    }
    return page_reply(caller, "people.html", status=200 if problem is None else problem.status, **told)


def _state(token: Token) -> str:
    if token.revoked is not None:
        return "revoked"
    return "expired" if token.expires is not None and token.expires <= datetime.now(UTC) else "in_force"


def _facts(token: Token, shares: dict[str, Any]) -> dict[str, Any]:
    """A line of the table: a token, and the shares of its name in its datasets."""
    seen = shares if ALL in token.datasets else {name: found for name, found in shares.items() if name in token.datasets}
    own = {name: found[token.name] for name, found in seen.items() if token.name in found}
    daily = None if token.daily is None else str(Guarantee.from_json(token.daily))
    return {"token": token, "state": _state(token), "shares": own, "daily": daily}
