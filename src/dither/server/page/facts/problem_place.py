"""The place of a refusal in a question: the line, what stands before it, what is meant, and what follows."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dither.server.core.problems import Problem

PLACE = re.compile(r"line ([0-9]{1,6}), column ([0-9]{1,6})")
WORD = re.compile(r"\w+|[^\w\s]|\Z", re.ASCII)


@dataclass(frozen=True)
class Place:
    """A place in a text."""

    line: int  # from 1
    before: str
    meant: str
    after: str


def problem_place(problem: Problem, sql: str) -> Place | None:
    """The place that a problem names; None where it names none, or none of this text."""
    found = PLACE.fullmatch(problem.where)
    lines = sql.split("\n")
    if found is None or not 1 <= int(found[1]) <= len(lines):
        return None
    number = int(found[1])
    line, column = lines[number - 1], int(found[2]) - 1
    if not 0 <= column <= len(line):
        return None
    came = problem.came[1:-1]  # without its quotes
    if not came or not line.startswith(came, column):
        word = WORD.match(line, column)
        came = word[0] if word is not None else line[column : column + 1]
    return Place(number, line[:column], came or " ", line[column + len(came) :])
