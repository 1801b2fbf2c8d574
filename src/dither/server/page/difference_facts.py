"""Two answers side by side, as the page shows them."""

from __future__ import annotations

from dataclasses import dataclass

from dither.server.core.questions import Question
from dither.server.page.answer_facts import AnswerFacts, answer_facts


@dataclass(frozen=True)
class DifferenceFacts:
    """Both answers, and how far they differ."""

    first: AnswerFacts
    second: AnswerFacts


def difference_facts(first: Question, second: Question, address: str) -> DifferenceFacts:
    """What the page shows of two questions that are answered; `address` is that of the gateway, for code."""
    return DifferenceFacts(answer_facts(first, address), answer_facts(second, address))
