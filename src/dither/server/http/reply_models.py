"""What replies hold, for the description of the API: replies themselves are written from what the gateway gave."""

from __future__ import annotations

from typing import Any, Literal

from dither.extras import needs

with needs("dither[server]"):
    from pydantic import BaseModel, ConfigDict

Record = dict[str, Any]


class Reply(BaseModel):
    """A reply; programs pass over what they do not know."""

    model_config = ConfigDict(extra="allow")


class ProblemReply(Reply):
    """Why there is no answer (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str = ""
    where: str = ""
    came: str = ""
    why: str = ""
    instead: str = ""
    receipt: str = ""
    error: str = ""


class QuoteReply(Reply):
    """Price and error of a question, and what is left; `errors` and others are lists for several questions."""

    id: str
    dataset: str
    sql: str | list[str]
    free: bool
    price: str
    epsilon: float | None
    guarantee: Record | None
    confidence: str
    errors: dict[str, float | None] | list[dict[str, float | None]]
    left: int | None
    words: str
    explain: str
    describe: str
    unprotected: str
    slot: float | None
    expires: str


class WaitingReply(Reply):
    """A question under way."""

    id: str
    dataset: str
    state: Literal["queued", "running"]
    seconds: int


class AnswerReply(Reply):
    """A question that was answered; `answer` is what `Answer.to_json` writes."""

    id: str
    dataset: str
    state: Literal["done"]
    receipt: str | None
    replay: bool
    answer: Record


class MeReply(Reply):
    """Who a token is."""

    name: str
    role: Literal["owner", "analyst", "auditor"]
    datasets: list[str]
    token: str


class DatasetReply(Reply):
    """A dataset as it was declared."""

    name: str
    domain: str
    unit: str
    data_version: str
    tables: list[Record]


class DatasetsReply(Reply):
    """The datasets of a caller."""

    datasets: list[DatasetReply]


class SampleReply(Reply):
    """Made-up rows, by table."""

    tables: dict[str, list[Record]]


class BudgetsReply(Reply):
    """What is left, by dataset."""

    budgets: list[Record]


class AnswersReply(Reply):
    """Stored answers; `time` of the last is what `before` takes."""

    answers: list[Record]


class EntriesReply(Reply):
    """Entries of a ledger, in words."""

    entries: list[Record]


class VerifyReply(Reply):
    """Whether a ledger holds."""

    ok: bool
    faults: list[str]
    entries: int
    signed: bool = False
    witnessed: bool = False


class TokenReply(Reply):
    """A token, without its secret."""

    id: str
    name: str
    role: Literal["owner", "analyst", "auditor"]
    datasets: list[str]
    created: str
    expires: str | None
    revoked: str | None
    last_day: str | None


class NewTokenReply(TokenReply):
    """A token that was made; its secret is told here alone."""

    secret: str


class TokensReply(Reply):
    """All tokens."""

    tokens: list[TokenReply]


class HealthReply(Reply):
    """Whether questions can be asked."""

    status: Literal["ok", "degraded"]
    workers: int
