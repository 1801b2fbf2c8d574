"""Problems: what somebody outside is told when there is no answer. Every door shows the same, and nothing else.

Told in full is what follows from the question, the policy's declared facts and the ledger alone: refusals of a question, of
a number, and of the budget. Everything else may name a file, a server or a row: it is one of a few fixed texts.

Theorem. With the policy, the ledger and the question fixed, no text here depends on a row, but for the one bit whether a
question failed after its charge (and the name of its receipt, which the ledger gave before a row was read).
Proof. A `Problem` is made from an error in one place, `problem_of`. At the stage "quote" no private row has been read. At
the stage "release" the errors that are told are raised by the ledger at `reserve`, before `touch`: `BudgetError`,
`InProgressError`, and `ConflictError` with a fixed text. All others have the fixed texts below. ∎
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, get_args

from dither.errors import (
    BudgetError,
    ConflictError,
    DitherError,
    InProgressError,
    InputError,
    PolicyError,
    PrecisionError,
    ReleaseError,
    show,
)

Kind = Literal[
    "refused", "budget", "in-progress", "failed", "absent", "unauthorized", "forbidden", "too-many", "busy", "too-large",
    "unavailable", "conflict", "unacceptable",
]  # fmt: skip
Stage = Literal["quote", "release"]
STATUS: dict[str, int] = {
    **{"refused": 422, "budget": 402, "in-progress": 409, "failed": 500, "absent": 404, "unauthorized": 401},
    **{"forbidden": 403, "too-many": 429, "busy": 503, "too-large": 413, "unavailable": 503, "conflict": 409},
    **{"unacceptable": 406},
}
TITLES: dict[str, str] = {
    "refused": "The question is refused",
    "budget": "The budget does not cover it",
    "in-progress": "Somebody else's same question is being computed",
    "failed": "It failed after it was charged",
    "absent": "There is no such thing, or it is not yours",
    "unauthorized": "No valid token",
    "forbidden": "This role may not do that",
    "too-many": "Too many requests",
    "busy": "Too many questions are waiting",
    "too-large": "The request is too large",
    "unavailable": "The dataset cannot be asked now",
    "conflict": "It contradicts what was asked before",
    "unacceptable": "There is no such format",
}
FAILED = "what was charged stays charged, and the cause is not told: it may depend on a row"
AGAIN = "asking again after five minutes, which costs nothing more; or asking the owner"
UNAVAILABLE = "the owner of the gateway can see why"
RETRY = 5  # seconds


@dataclass(eq=False)
class Problem(Exception):  # noqa: N818 - what RFC 9457 calls it
    """Why there is no answer, for people and for programs."""

    kind: Kind
    why: str = ""
    instead: str = ""
    where: str = ""
    came: str = ""
    receipt: str | None = None  # of the charge, where there was one
    retry_after: int | None = None  # seconds
    error: str = ""  # the class of the error in `dither.errors`

    def __post_init__(self) -> None:
        super().__init__(self.kind, self.why)

    @property
    def status(self) -> int:
        """As HTTP counts them."""
        return STATUS[self.kind]

    @property
    def title(self) -> str:
        """The kind in words."""
        return TITLES[self.kind]

    def facts(self) -> dict[str, Any]:
        """All of it, for another process."""
        return asdict(self)

    @classmethod
    def from_facts(cls, facts: dict[str, Any]) -> Problem:
        """What `facts` gave; of a process that may be broken, so nothing else is taken."""
        known = {field.name for field in fields(cls)}
        kind = facts.get("kind")
        if kind not in get_args(Kind) or not facts.keys() <= known:
            return failed(None)
        return cls(**facts)

    def to_json(self) -> dict[str, Any]:
        """As problem+json (RFC 9457)."""
        told: dict[str, Any] = {"type": f"urn:dither:{self.kind}", "title": self.title, "status": self.status}
        if self.why:
            told["detail"] = f"{self.why}. What would work: {self.instead}." if self.instead else f"{self.why}."
        names = ("where", "came", "why", "instead", "receipt", "error")
        return told | {name: getattr(self, name) for name in names if getattr(self, name)}


def absent() -> Problem:
    """Of what is not there, and of what is somebody else's: the same bytes."""
    return Problem("absent")


def failed(receipt: str | None) -> Problem:
    """Something went wrong after the charge, or it is not known whether before."""
    return Problem("failed", why=FAILED, instead=AGAIN, receipt=receipt, error="ReleaseError")


def unavailable() -> Problem:
    """The ledger or a source cannot be reached, or does not fit the policy."""
    return Problem("unavailable", why=UNAVAILABLE, instead="asking again later", retry_after=RETRY, error="LedgerError")


def problem_of(error: BaseException, stage: Stage, hidden: tuple[str, ...] = ()) -> Problem:
    """What is told of an error; `hidden` are places on this machine that nobody outside hears of."""
    problem = _problem(error, stage)
    texts = (problem.where, problem.came, problem.why, problem.instead)
    return unavailable() if any(place in text for place in hidden for text in texts) else problem


def _problem(error: BaseException, stage: Stage) -> Problem:
    match error:
        case ReleaseError():
            return failed(str(error.came))
        case BudgetError() if stage == "release":
            return _told(error, "budget")
        case InProgressError():
            return Problem("in-progress", why="it is computed now", instead="asking again in a while", retry_after=RETRY,
                           error="InProgressError")  # fmt: skip
        case ConflictError() if error.where == "idempotency_key":
            why = "that Idempotency-Key stands for another question"
            return Problem("conflict", why=why, instead="a new key for a new question", error="ConflictError")
        case ConflictError() if error.where == "analyst":
            why = "the budget is shared out, and you have no share of it"
            return Problem("budget", why=why, instead="asking the owner for a share", error="BudgetError")
        case ConflictError() | PolicyError():
            return unavailable()
        case InputError() | PrecisionError() if stage == "quote":
            return _told(error, "refused")
        case DitherError():
            return unavailable()
        case _:
            return failed(None) if stage == "release" else unavailable()


def _told(error: DitherError, kind: Kind) -> Problem:
    came = "" if error.came is None else show(error.came)
    problem = Problem(kind, where=error.where, came=came, why=error.why, instead=error.instead)
    problem.error = type(error).__name__
    return problem
