"""Problems of a gateway as errors: of the class that the same refusal has in one process, with its four parts."""

from __future__ import annotations

from dither import errors
from dither.client.exchange import Reply
from dither.client.parts import Parts, read_json, sign_text
from dither.client.token import HIDDEN, Token
from dither.errors import (
    BudgetError,
    ConflictError,
    DataError,
    DitherError,
    GatewayError,
    InProgressError,
    InputError,
    LedgerError,
    PrecisionError,
    QuestionError,
    ReleaseError,
    SizeError,
)

PREFIX = "urn:dither:"
KINDS: dict[str, type[DitherError]] = {
    "refused": QuestionError,
    "budget": BudgetError,
    "in-progress": InProgressError,
    "failed": ReleaseError,
    "absent": DataError,
    "conflict": ConflictError,
    "too-large": SizeError,
    "unavailable": LedgerError,
}
STATUSES = {422: "refused", 402: "budget", 404: "absent", 401: "unauthorized", 403: "forbidden", 413: "too-large"}
AGAIN = {"in-progress", "too-many", "busy", "unavailable"}  # may be asked again, after a while
WORDS: dict[str, tuple[str, str, str]] = {  # where, why and instead, for those that tell nothing of themselves
    "unauthorized": (
        "token",
        "the gateway does not know it, or it has expired or was revoked",
        "a new one, from whoever keeps the gateway: dither token create NAME",
    ),
    "forbidden": ("token", "its role may not do that", "a token of another role"),
    "absent": ("name", "there is no such thing, or it is not yours", "gateway.datasets lists what is yours"),
    "too-many": ("requests", "the gateway takes no more of them for now", "asking more slowly"),
    "busy": ("gateway", "too many questions are waiting", "asking again in a while"),
    "unavailable": ("dataset", "it cannot be asked now", "asking again in a while; the owner can see why"),
    "in-progress": ("question", "its answer is being computed", "asking again in a while"),
}
LONGEST = 4000  # signs of a text, cut beyond


def kind_of(reply: Reply) -> str:
    """Which problem it is; what is no problem of a gateway is known by its status alone."""
    parts = _parts(reply)
    told = parts.raw("type") if parts is not None else None
    if isinstance(told, str) and told.startswith(PREFIX):
        return told.removeprefix(PREFIX)
    return STATUSES.get(reply.status, "")


def error_of(reply: Reply, token: Token) -> DitherError:
    """The error that stands for a reply without an answer. No token is in it, whoever put it there."""
    kind, parts = kind_of(reply), _parts(reply) or Parts({}, "reply")
    if kind == "unauthorized":  # what it says is for those who write requests themselves
        parts = Parts({}, "reply")

    def told(name: str, default: str, most: int = LONGEST) -> str:
        found = parts.raw(name)
        return sign_text(token.without(found), most) if isinstance(found, str) and found else default

    where, why, instead = WORDS.get(kind, ("reply", f"the gateway says {reply.status}", "asking whoever keeps the gateway"))
    came = HIDDEN if where == "token" else "None" if kind == "refused" else "(not told)"  # None is not sent
    if kind == "failed":
        where, came = "receipt", told("receipt", came)
    made = _class(kind, told("error", ""))
    return made.from_text(
        told("where", where), told("came", came, 200), told("why", told("detail", why)).rstrip("."), told("instead", instead)
    )


def _class(kind: str, name: str) -> type[DitherError]:
    """Refusals are of many classes; a name that is none of them says nothing."""
    found = getattr(errors, name, None) if kind == "refused" and name in errors.__all__ else None
    if isinstance(found, type) and issubclass(found, (InputError, PrecisionError)):
        return found
    return KINDS.get(kind, GatewayError)


def _parts(reply: Reply) -> Parts | None:
    try:
        return Parts(read_json(reply.body, reply.kind, "reply"), "reply")
    except GatewayError:
        return None
