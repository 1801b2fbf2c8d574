"""What is left of a budget, as a gateway tells it: of all of it, of your share, and of the portion of today."""

from __future__ import annotations

from dataclasses import dataclass

from dither.client.parts import Parts, sign_text


@dataclass(frozen=True)
class RemoteBudget:
    """What is left, in percent and in words."""

    dataset: str
    left: str  # "95.6%"
    used: float | None  # from 0 to 1
    words: str
    share: str | None = None  # what is left of yours, in words; None where the budget is not shared out
    today: str | None = None  # what is left of today's portion of it, in words

    @classmethod
    def read(cls, told: Parts) -> RemoteBudget:
        """From what a gateway replied."""
        share, today = (_words(told.part(name)) for name in ("share", "today"))
        name, left, words = (sign_text(told.text(part, ""), 1000) for part in ("dataset", "left", "words"))
        return cls(name, left, told.number("used"), words, share, today)

    def __str__(self) -> str:
        told = [("of all", self.words or self.left), ("your share", self.share), ("today", self.today)]
        return "; ".join(f"{name}: {words}" if name != "of all" else words for name, words in told if words)


def _words(told: Parts | None) -> str | None:
    return None if told is None else sign_text(told.text("words", told.text("left", "")), 1000)
