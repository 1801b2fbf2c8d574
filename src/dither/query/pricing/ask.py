"""What an analyst states: a question in SQL, a price in one way, and what error bars are to hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, SupportsIndex, TypeAlias, TypedDict

from dither.numeric.number import NumberLike
from dither.privacy.guarantee.guarantee import Guarantee


class IbisExpression(Protocol):
    """An expression of Ibis, which writes itself as SQL."""

    def unbind(self) -> object:
        """The same expression without its backend."""


QuestionLike: TypeAlias = str | IbisExpression
QuestionsLike: TypeAlias = list[str] | list[IbisExpression] | list[QuestionLike] | tuple[QuestionLike, ...]
ErrorsLike: TypeAlias = Mapping[str, NumberLike]  # of each aggregate, by its name
SpreadLike: TypeAlias = Mapping[str, NumberLike]  # standard deviations, by the names of columns
NoiseKind: TypeAlias = Literal["gaussian", "geometric"]
BoundsWord: TypeAlias = Literal["auto"]  # found privately
LimitsWord: TypeAlias = Literal["auto", "hard"]  # found privately; those that nobody can exceed
Way: TypeAlias = Literal["weights", "clip", "clip sum", "groups"]  # see `statistics/bounding.py`


class Terms(TypedDict, total=False):
    """The keywords of `Dataset.quote`: how the price is stated, and what error bars are to hold."""

    epsilon: NumberLike | None
    rho: NumberLike | None
    guarantee: Guarantee | None
    error: ErrorsLike | None
    confidence: NumberLike
    size: SupportsIndex | None
    spread: SpreadLike | None
    bounding: Way | None
    delta: NumberLike | None
    other: str | None
    noise: NoiseKind | None
    intervals: bool | NumberLike
    limits: LimitsWord | None
    bounds: BoundsWord | None


@dataclass(frozen=True, kw_only=True)
class Ask:
    """A question as it was put, nothing of it checked yet; see `Dataset.quote` for what each word means."""

    text: str | list[str]
    epsilon: NumberLike | None = None
    rho: NumberLike | None = None
    guarantee: Guarantee | None = None
    error: ErrorsLike | None = None
    confidence: NumberLike = "0.95"
    size: SupportsIndex | None = None
    spread: SpreadLike | None = None
    bounding: Way | None = None
    delta: NumberLike | None = None
    other: str | None = None
    noise: NoiseKind | None = None
    intervals: bool | NumberLike = True
    limits: LimitsWord | None = None
    bounds: BoundsWord | None = None
