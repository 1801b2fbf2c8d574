"""What a fit costs and what to expect of it, before any data is there."""

from __future__ import annotations

from attrs import frozen

from dither.privacy.guarantee.guarantee import Guarantee
from dither.terminal import Explanation


@frozen
class FitQuote:
    """The price of a fit, and what to expect, in words."""

    estimator: str
    guarantee: Guarantee
    price: str  # as it was stated
    words: tuple[str, ...]

    def explain(self) -> Explanation:
        """A line each."""
        lines = [f"Model      {self.estimator}", f"Price      {self.price}", *(f"Expect     {one}" for one in self.words)]
        return Explanation("\n".join(lines))

    def __str__(self) -> str:
        return str(self.explain())
