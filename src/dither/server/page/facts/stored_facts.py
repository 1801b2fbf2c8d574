"""Stored answers as the page lists them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

COUNT = 50  # on a page
LONGEST = 400  # signs of a question in the list


@dataclass(frozen=True)
class StoredFacts:
    """One answer of the list."""

    id: str
    dataset: str
    sql: str
    analyst: str
    price: str
    when: str  # as ISO 8601 writes it, in UTC
    day: str
    hour: str


def stored_facts(told: dict[str, Any]) -> StoredFacts:
    """What the list shows of an answer."""
    sql, when = str(told["sql"]), str(told["when"])
    day, _, hour = when.removesuffix("Z").partition("T")
    shown = sql if len(sql) <= LONGEST else f"{sql[:LONGEST]} ..."
    return StoredFacts(told["id"], told["dataset"], shown, told["analyst"], told["price"], when, day, hour)


def split_page(found: Sequence[dict[str, Any]]) -> tuple[Sequence[dict[str, Any]], int | None]:
    """The first so many answers, and before which time the next page begins; None where there are no more.

    Answers of one moment stay on one page, since the next begins before a time.
    """
    if len(found) <= COUNT:
        return found, None
    cut = COUNT
    while cut > 1 and found[cut - 1]["time"] == found[cut]["time"]:
        cut -= 1
    cut = cut if found[cut - 1]["time"] != found[cut]["time"] else COUNT
    return found[:cut], int(found[cut - 1]["time"])
