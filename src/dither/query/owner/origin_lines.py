"""Where bounds, keys and limits of a policy are from, for its owner: what states no origin, and what is from the data.

Completeness (`nullable = false`) that states no origin is not listed: mostly a schema says it.
"""

from __future__ import annotations

from collections.abc import Iterator

from dither.query.owner.open_lines import HEAD, KEY
from dither.query.policy.origin import DATA, listed
from dither.query.policy.policy import Policy
from dither.query.policy.table import LIMITS

SPELLED: dict[str, tuple[str, ...]] = {  # facts whose words in a policy are others
    "completeness": ("nullable",),
    "limits": (*LIMITS, "max_sum"),
    "hard limits": ("hard",),
}


def unstated_origins(text: str, policy: Policy) -> list[str]:
    """Facts without `known_from`, each with its line in the text of the policy."""
    return [told for told, origin in _facts(text, policy, unlisted=("completeness",)) if origin is None]


def data_origins(text: str, policy: Policy) -> list[str]:
    """Facts that were taken from the data, each with its line."""
    return [told for told, origin in _facts(text, policy) if origin == DATA]


def _facts(text: str, policy: Policy, unlisted: tuple[str, ...] = ()) -> Iterator[tuple[str, str | None]]:
    """The facts of each column and table in words, and their origin; public tables have none."""
    lines = _lines(text)
    for table in policy.tables:
        if table.public:
            continue
        for column in table.columns:
            facts = [fact for fact in column.facts if fact not in unlisted]
            if facts:
                places = [f"tables.{table.name}.columns.{column.name}", f"tables.{table.name}.columns"]
                yield f"{listed(facts)} of {column.name}{_line(facts, places, lines)}", column.known_from
        if table.facts:
            told = _line(list(table.facts), [f"tables.{table.name}"], lines)
            yield f"{listed(table.facts)} of {table.name}{told}", table.known_from


def _line(facts: list[str], places: list[str], lines: dict[str, int]) -> str:
    """The line of a fact itself where it has one, or of what it stands in."""
    inner = [f"{places[0]}.{word}" for fact in facts for word in SPELLED.get(fact, (fact,))]
    found = next((lines[place] for place in (*inner, *places) if place in lines), None)
    return "" if found is None else f" (line {found})"


def _lines(text: str) -> dict[str, int]:
    """The first line of each place of a policy."""
    found, head = dict[str, int](), ""
    for number, line in enumerate(text.splitlines(), start=1):
        if section := HEAD.match(line):
            head = section[1].replace('"', "")
            found.setdefault(head, number)
        elif key := KEY.match(line):
            found.setdefault(f"{head}.{key[1].replace(chr(34), '')}".removeprefix("."), number)
    return found
