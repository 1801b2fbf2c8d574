"""Arguments of tools, which a model wrote: each is read by its kind, and refused with what would work."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from dither.server.core.problems import Problem
from dither.server.core.questions import Asked

NUMBERS = ("epsilon", "rho", "confidence", "delta")
WORDS = ("other", "noise", "limits", "bounds")
BY_NAME = {  # why what names no column is refused, and what would work
    "error": ("it names no column", '{"n": 50}: n may be off by 50'),
    "spread": ("it names no column", '{"cost": 300}: a guess of its standard deviation'),
}
TERMS = (*NUMBERS, *BY_NAME, "size", *WORDS)
LONGEST = 200  # signs of a name or a number
MOST_QUESTIONS = 100


def read_asked(given: Mapping[str, Any], only: str | None) -> Asked:
    """The question of a call of `quote`; `only` is the dataset that is meant where none is named."""
    check_names(given, ("dataset", "sql", *TERMS))
    dataset = read_name(given, "dataset", only)
    sql = given.get("sql")
    several = sql if isinstance(sql, list) else [sql]
    if not several or len(several) > MOST_QUESTIONS or not all(isinstance(one, str) and one.strip() for one in several):
        raise refused("sql", f"it is not a text, nor a list of 1 to {MOST_QUESTIONS} texts", "a SELECT of statistics")
    terms: dict[str, Any] = {name: _number(name, given[name]) for name in NUMBERS if given.get(name) is not None}
    terms |= {name: read_name(given, name, None) for name in WORDS if given.get(name) is not None}
    for term, refusal in BY_NAME.items():
        if given.get(term) is not None:
            if not isinstance(given[term], dict) or not given[term]:
                raise refused(term, *refusal)
            terms[term] = {str(name)[:LONGEST]: _number(term, one) for name, one in given[term].items()}
    if given.get("size") is not None:
        if type(given["size"]) is not int or not 0 < given["size"] < 10**15:
            raise refused("size", "it is not a whole number above 0", "1000")
        terms["size"] = given["size"]
    assert isinstance(sql, (str, list))
    return Asked(dataset, sql, terms)


def read_name(given: Mapping[str, Any], name: str, only: str | None) -> str:
    """A short text."""
    found = given.get(name, only)
    if not isinstance(found, str) or not 0 < len(found) <= LONGEST:
        raise refused(name, "it is not a short text", "list_datasets tells the names" if name == "dataset" else "a text")
    return found


def check_names(given: Mapping[str, Any], known: tuple[str, ...]) -> None:
    """No argument but these. Nobody says here who asks, or from which budget: the token does."""
    if set(given) - set(known):
        raise refused("arguments", "there is one that is not known", ", ".join(known) or "none")


def refused(where: str, why: str, instead: str) -> Problem:
    """A refusal before anything is asked."""
    return Problem("refused", where=where, why=why, instead=instead, error="ArgumentError")


def _number(name: str, value: Any) -> str:
    """The text of a number, at its printed decimal."""
    if isinstance(value, str) and 0 < len(value) <= LONGEST:
        return value
    if type(value) in (int, float) and math.isfinite(value) and len(repr(value)) <= LONGEST:
        return repr(value)
    raise refused(name, "it is not a number", 'a number such as 0.1, or a text such as "1/3"')
