"""Questions in files of SQL, and the record of what becomes of each: answered, with a rewrite, free, or refused.

A file has blocks. The first line of a block names it, and other lines of comment say more:

    -- [name] what is asked
    SELECT ...
    -- rewrite: words              below stands a question with the same numbers
    SELECT ...
    -- because: why it is refused, where that is no gap
    -- empty: why it is answered, and shows nothing
    -- within: how far its numbers may be off those of plain SQL, where that is more than rounding
    -- uncompared: why its numbers are not those of plain SQL

The record is a JSON file beside: for each name its verdict, and the words of the refusal.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from benchmarks.report import console, table
from dither.errors import DitherError
from dither.query.free_quote import FreeQuote
from dither.query.quote import Quote

Verdict = Literal["answered", "rewritten", "free", "empty", "refused"]
Quoted = Callable[[str], Quote]
VERDICTS: tuple[Verdict, ...] = ("answered", "rewritten", "free", "empty", "refused")
HEAD = re.compile(r"^-- \[([^\]]+)\] *(.*)$")
NOTE = re.compile(r"^-- (because|empty|within|uncompared): *(.*)$")
REWRITE = re.compile(r"^-- rewrite: *(.*)$")


@dataclass(frozen=True)
class FileQuestion:
    """One block of a file."""

    name: str
    asks: str
    sql: str
    rewrite: str | None = None
    how: str = ""  # what the rewrite does
    because: str = ""
    empty: str = ""
    within: str = ""
    uncompared: str = ""


@dataclass(frozen=True)
class Found:
    """What became of a question."""

    verdict: Verdict
    why: str = ""  # of the refusal of its own text
    instead: str = ""

    def told(self) -> dict[str, str]:
        """As it is recorded."""
        return {name: text for name, text in vars(self).items() if text}


def read_questions(path: Path) -> list[FileQuestion]:
    """All blocks of a file."""
    found: list[FileQuestion] = []
    head: tuple[str, str] | None = None
    texts: list[list[str]] = [[], []]
    facts: dict[str, str] = {}

    def close() -> None:
        if head is not None:
            sql, rewrite = ("\n".join(lines).strip().rstrip(";") for lines in texts)
            found.append(FileQuestion(*head, sql, rewrite or None, **facts))

    for line in path.read_text().splitlines():
        if named := HEAD.match(line):
            close()
            head, texts, facts = (named[1], named[2]), [[], []], {}
        elif how := REWRITE.match(line):
            facts["how"], texts = how[1], [texts[0] + texts[1], []]
        elif note := NOTE.match(line):
            facts[note[1]] = note[2]
        elif not line.startswith("--"):
            texts[1 if "how" in facts else 0].append(line)
    close()
    names = [one.name for one in found]
    assert len(set(names)) == len(names), f"a name stands twice in {path.name}"
    return found


def find(question: FileQuestion, quoted: Quoted) -> Found:
    """What becomes of it, by its quote: no row is read."""
    try:
        quote = quoted(question.sql)
        return Found("free" if isinstance(quote, FreeQuote) else "empty" if question.empty else "answered")
    except DitherError as error:
        why, instead = error.why, error.instead
    if question.rewrite is not None:
        try:
            quoted(question.rewrite)
        except DitherError:
            pass
        else:
            return Found("rewritten", why, instead)
    return Found("refused", why, instead)


def recorded(path: Path) -> dict[str, Found]:
    """The record of a file."""
    return {name: Found(**told) for name, told in json.loads(path.read_text()).items()}


def record(path: Path, found: Mapping[str, Found]) -> None:
    """Write it."""
    path.write_text(json.dumps({name: one.told() for name, one in found.items()}, indent=1, ensure_ascii=False) + "\n")


def tally(found: Iterable[Found]) -> str:
    """How many of each."""
    counts = Counter(one.verdict for one in found)
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS)


def print_verdicts(title: str, questions: Sequence[FileQuestion], found: Mapping[str, Found], path: Path) -> None:
    """A row a question, and whether that is what is recorded."""
    lines = []
    for one in questions:
        of = found[one.name]
        told = {"free": "public tables alone", "rewritten": one.how, "empty": one.empty, "refused": one.because or of.why}
        lines.append([one.name, one.asks, of.verdict, told.get(of.verdict, "")])
    table(title, ["query", "asks", "verdict", ""], lines)
    console.print(f"{tally(found.values())}; {'as recorded' if found == recorded(path) else 'NOT as recorded'}")
