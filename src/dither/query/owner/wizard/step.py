"""One step of the wizard: a question to a data owner, and how a reply to it is read. Data, whatever shows it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from dither.errors import DitherError, PolicyError

LONGEST_REPLY = 1_000_000  # characters


@dataclass(frozen=True)
class Step:
    """A question, why it matters, and what a reply may be. What was seen in data is shown and never a default."""

    key: str  # of this step alone: replies are kept under it
    question: str
    why: str
    examples: tuple[str, ...]
    read: Callable[[str], Any] = field(repr=False, compare=False)  # the reply as a value; refused with an error
    default: str | None = None
    choices: tuple[tuple[str, str], ...] = ()  # words that may be replied, each with what it means
    seen: str = ""  # what the rows show, for the owner's eyes
    assumed: str | None = None  # a reply with which the rest is counted where there is no default
    lines: bool = False  # whether a reply may have several lines

    def value(self, reply: str) -> Any:
        """What a reply says. Every refusal names the step, what came, why, and what would work.

        Raises:
            PolicyError: the reply is none that can be read here.
        """
        if not reply:
            raise PolicyError(self.key, reply, "there is no default: it is your decision", self.advice)
        if len(reply) > LONGEST_REPLY:
            raise PolicyError(self.key, reply, f"it has more than {LONGEST_REPLY:,} characters", self.advice)
        if not all(sign.isprintable() or (self.lines and sign in "\n\r\t") for sign in reply):
            raise PolicyError(self.key, reply, "it has signs that cannot be printed", self.advice)
        try:
            return self.read(reply)
        except OSError as error:  # of a name that no disk takes
            raise PolicyError(self.key, reply, f"it cannot be looked at: {error.strerror}", self.advice) from error
        except DitherError as error:
            why = getattr(error, "why", str(error))
            instead = getattr(error, "instead", "") if getattr(error, "where", "") == self.key else ""
            raise PolicyError(self.key, reply, why, instead or self.advice) from error

    @property
    def advice(self) -> str:
        """What would work, in a line."""
        words = [word for word, _ in self.choices] + [one for one in self.examples if one not in dict(self.choices)]
        return ", or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)

    def to_json(self) -> dict[str, Any]:
        """What a page needs to show it."""
        return {
            "key": self.key,
            "question": self.question,
            "why": self.why,
            "examples": list(self.examples),
            "default": self.default,
            "choices": [list(choice) for choice in self.choices],
            "seen": self.seen,
        }


Steps: TypeAlias = Generator[Step, Any, Any]  # a step is asked, the value of its reply comes back
