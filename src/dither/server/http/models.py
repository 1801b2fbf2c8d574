"""What requests hold: the bodies of POST and the parameters of GET, as OpenAPI describes them."""

from __future__ import annotations

import re
from typing import Annotated, Any, TypeAlias

from dither.extras import needs
from dither.query.pricing.ask import BoundsWord, LimitsWord, NoiseKind, Way
from dither.server.core.questions import Asked
from dither.server.core.roles import Role
from dither.server.http.request_body import Written

with needs("dither[server]"):
    from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

LONGEST_NUMBER = 200
MOST_QUESTIONS = 100  # of a batch
WHOLE = re.compile(r"-?[0-9]{1,15}")
TERMS = (
    *("epsilon", "rho", "guarantee", "error", "confidence", "size", "spread", "bounding"),
    *("delta", "other", "noise", "intervals", "limits", "bounds"),
)


def _number(value: Any) -> str:
    """The text of a number, as it was written."""
    text = value.text if isinstance(value, Written) else value
    if not isinstance(text, str) or len(text) > LONGEST_NUMBER:
        raise ValueError("number")
    return text


def _share(value: Any) -> bool | str:
    return value if isinstance(value, bool) else _number(value)


def _whole(value: Any) -> int:
    if not isinstance(value, Written) or not WHOLE.fullmatch(value.text):
        raise ValueError("whole")
    return int(value.text)


def _seconds(value: Any) -> float:
    found = float(value.text) if isinstance(value, Written) else -1.0
    if not 0 <= found <= 86_400:
        raise ValueError("seconds")
    return found


def _record(value: Any) -> Any:
    """A stored value, such as a guarantee: its numbers are texts, or small whole ones."""
    if isinstance(value, Written):
        return _whole(value)
    if isinstance(value, list):
        return [_record(each) for each in value]
    return {name: _record(each) for name, each in value.items()} if isinstance(value, dict) else value


EITHER: dict[str, Any] = {"anyOf": [{"type": "string", "maxLength": LONGEST_NUMBER}, {"type": "number"}]}
Exact: TypeAlias = Annotated[
    str, BeforeValidator(_number), WithJsonSchema(EITHER | {"description": "A number; as text it may be 1/3 or ln(3)."})
]
Share: TypeAlias = Annotated[
    bool | str, BeforeValidator(_share), WithJsonSchema({"anyOf": [{"type": "boolean"}, *EITHER["anyOf"]]})
]


def _range(least: int, most: int) -> Any:
    return WithJsonSchema({"type": "integer", "minimum": least, "maximum": most})


Size: TypeAlias = Annotated[int, BeforeValidator(_whole), Field(ge=1, le=10**15 - 1), _range(1, 10**15 - 1)]
Days: TypeAlias = Annotated[int, BeforeValidator(_whole), Field(ge=1, le=36_500), _range(1, 36_500)]
Slot: TypeAlias = Annotated[
    float, BeforeValidator(_seconds), WithJsonSchema({"type": "number", "minimum": 0, "maximum": 86_400})
]
Name: TypeAlias = Annotated[str, Field(min_length=1, max_length=200)]
Question: TypeAlias = Annotated[str, Field(min_length=1)]  # its length is limited by the gateway, in bytes


SLOT: Any = Field(
    default=None, description="A wish, in seconds: the time slot with which the answer leaves, where there are any."
)


class Body(BaseModel):
    """A request: what is not known in it is refused."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Terms(Body):
    """The price of a question and how it is counted: the keywords of `Dataset.quote`."""

    epsilon: Exact | None = None
    rho: Exact | None = None
    guarantee: Annotated[dict[str, Any], BeforeValidator(_record)] | None = Field(
        default=None, description="The price as JSON of a guarantee, as `Guarantee.to_json` writes it."
    )
    error: Annotated[dict[str, Exact], Field(max_length=1000)] | None = Field(
        default=None, description="How far each aggregate may be off, by its name; the least price is taken."
    )
    confidence: Exact | None = Field(default=None, description="The probability of each error bar; 0.95 if left out.")
    size: Size | None = Field(default=None, description="A public guess of the rows of a group, for errors of averages.")
    spread: Annotated[dict[str, Exact], Field(max_length=1000)] | None = Field(
        default=None,
        description="Public guesses of standard deviations by column, for errors of deviations, correlations and slopes.",
    )
    bounding: Way | None = None
    delta: Exact | None = None
    other: Name | None = None
    noise: NoiseKind | None = None
    intervals: Share | None = None
    limits: LimitsWord | None = None
    bounds: BoundsWord | None = None

    def stated(self) -> dict[str, Any]:
        """The terms that were stated."""
        return {name: value for name in TERMS if (value := getattr(self, name)) is not None}


class QuoteRequest(Terms):
    """A question and its price: what would it cost, and how far may the answer be off?"""

    dataset: Name
    slot: Slot | None = SLOT
    sql: Question | Annotated[list[Question], Field(min_length=1, max_length=MOST_QUESTIONS)] = Field(
        description="A SELECT of statistics; a list of them is priced and asked as one."
    )

    def asked(self) -> Asked:
        """The question, for the gateway."""
        return Asked(self.dataset, self.sql, self.stated(), self.slot)


class QueryRequest(Terms):
    """A question to be asked: the id of a quote, or the question and its price."""

    quote: Name | None = Field(default=None, description="The id of a quote of the last 10 minutes.")
    dataset: Name | None = None
    slot: Slot | None = SLOT
    sql: Question | Annotated[list[Question], Field(min_length=1, max_length=MOST_QUESTIONS)] | None = None


class DiffRequest(Body):
    """A policy that is to be compared with the one in force."""

    dataset: Name
    policy: str = Field(description="The text of policy.toml.")


class Ceiling(Body):
    """A share: epsilon, perhaps with a delta (left out, that of the budget), or rho."""

    epsilon: Exact | None = None
    delta: Exact | None = None
    rho: Exact | None = None


class TokenRequest(Body):
    """A token to be made; its secret is told once, in the reply."""

    name: Name = Field(description="Of the analyst, as ledgers have it.")
    role: Role = "analyst"
    datasets: Annotated[list[Name], Field(min_length=1, max_length=100)] = Field(description='Names; ["*"] for all.')
    share: Ceiling | None = Field(default=None, description="What it may spend, of each of the datasets.")
    daily: Exact | None = Field(default=None, description="The most of the share in one UTC day, as it counts.")
    days: Days | None = Field(default=90, description="After so many days it ends; null: it does not.")


class Parameters(BaseModel):
    """Parameters in an address: what is not known is refused."""

    model_config = ConfigDict(extra="forbid")


class NoParameters(Parameters):
    """An address that takes none."""


class OneDataset(Parameters):
    """Of which dataset."""

    dataset: Name


class AnyDataset(Parameters):
    """Of one dataset, or of all."""

    dataset: Name | None = None


class SampleParameters(Parameters):
    """Made-up rows: of which table, and how many."""

    table: Name | None = None
    rows: Annotated[int, Field(ge=1, le=10_000)] = 100


class AnswersParameters(AnyDataset):
    """Stored answers: those with the words, before one of them."""

    q: Annotated[str, Field(max_length=1000)] = ""
    before: Annotated[int, Field(ge=0, le=2**62)] | None = None
    count: Annotated[int, Field(ge=1, le=500)] = 50


class LedgerParameters(OneDataset):
    """The last entries of a ledger."""

    last: Annotated[int, Field(ge=1, le=10_000)] = 100
