"""What a draft leaves to its owner, all of it at once, with line numbers; and what it tells of the data."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dither.query.policy.policy import MARK

SEEN = "seen in your data, not public"  # in comments of a draft that looked at rows
HEAD = re.compile(r"^\s*\[+(.*?)\]+\s*(?:#.*)?$")
KEY = re.compile(r"""^\s*((?:"[^"]*"|[\w.-]+)+)\s*=""")
OPEN = re.compile(rf'"{MARK}:?\s*([^"]*)"')


@dataclass(frozen=True)
class OpenLine:
    """One decision that is open."""

    line: int  # from 1
    place: str  # such as tables.visits.person
    words: str  # what the draft says of it

    def __str__(self) -> str:
        return f"line {self.line}: {self.place}: {self.words or 'a decision'}"


def open_lines(text: str) -> list[OpenLine]:
    """The lines of a policy that still say FILL IN; comments do not count."""
    found, head = [], ""
    for number, line in enumerate(text.splitlines(), start=1):
        if line.lstrip().startswith("#"):
            continue
        if section := HEAD.match(line):
            head = section[1].replace('"', "")
        key = KEY.match(line)
        place = ".".join(part for part in (head, key[1].replace('"', "") if key else "") if part)
        found += [OpenLine(number, place, words.strip()) for words in OPEN.findall(line)]
    return found


def seen_lines(text: str) -> list[int]:
    """The lines whose comments tell what was seen in the data."""
    return [number for number, line in enumerate(text.splitlines(), start=1) if f"{SEEN}:" in line.partition("#")[2]]
