"""What the wizard's page shows of a step: choices as buttons where there are few, and a field for everything else."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]
MOST_CHOICES = 40  # as buttons; more are proposed while somebody types
YES_OR_NO = {"yes", "no"}
OPEN = "..."  # the end of a choice that somebody has to complete
BARE = re.compile(r"[a-z][a-z0-9_-]{0,62}")  # the name of a dataset
UNITS = ("kB", "MB", "GB", "TB")


@dataclass(frozen=True)
class ReplyField:
    """How a reply is given."""

    choices: tuple[tuple[str, str], ...]  # words and what they mean, as buttons
    named: tuple[tuple[str, str], ...]  # words that are completed, or too many for buttons
    chosen: str | None  # the button that is on; '' for the field below; None for none
    typed: str  # what stands in the field
    is_open: bool  # whether there is a field
    examples: tuple[str, ...]  # of what may stand in it: none where all of them are buttons


def reply_field(step: Json, typed: str | None) -> ReplyField:
    """The field of a step: with what was typed and refused, or with its default."""
    words = [(str(word), str(meaning)) for word, meaning in step["choices"]]
    if not words and set(step["examples"]) == YES_OR_NO:
        words = [("yes", ""), ("no", "")]
    several = len(words) > MOST_CHOICES
    choices = tuple(choice for choice in words if not several and not choice[0].endswith(OPEN))
    named = tuple(choice for choice in words if choice not in choices)
    now = step["default"] if typed is None else typed
    known = {word for word, _ in choices}
    is_open = not choices or known != YES_OR_NO or (now is not None and now not in known)
    examples = () if known.issuperset(step["examples"]) else tuple(step["examples"])
    chosen, text = (now, "") if now is None or now in known else ("", now)
    return ReplyField(choices, named, chosen, text, is_open, examples)


def next_steps(folder: str, name: str) -> Json:
    """What is typed to put a saved policy in force: commands and lines of the gateway's own file."""
    path = f"{folder.rstrip('/')}/{name}.toml"
    dataset = name.lower() if BARE.fullmatch(name.lower()) else "new-data"
    lines = f"[datasets.{dataset}]\npolicy = {json.dumps(path, ensure_ascii=False)}"
    return {"create": f"dither ledger create --policy {shlex.quote(path)} --write", "lines": lines}


def size_words(size: int) -> str:
    """Bytes in a unit that can be read at a glance, rounded up."""
    if size < 1000:
        return f"{size} B"
    for unit in UNITS:
        size = -(-size // 1000)
        if size < 1000 or unit == UNITS[-1]:
            break
    return f"{size:,} {unit}"
