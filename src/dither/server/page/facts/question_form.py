"""The form of a question, as fields of a page: what was typed, and the question that it stands for.

The same fields stand in addresses, so that a link can hold a question with its price. What is not known among them is
refused: a term that is misspelled would be one that nobody keeps.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args
from urllib.parse import urlencode

from dither.server.core.problems import Problem
from dither.server.core.questions import Asked

PriceWay: TypeAlias = Literal["epsilon", "rho", "error"]
Action: TypeAlias = Literal["price", "ask"]
WAYS: tuple[PriceWay, ...] = get_args(PriceWay)
ACTIONS: tuple[Action, ...] = get_args(Action)
WISH = "error:"  # before the name of a column, in the name of a field
TEXTS = ("confidence", "delta", "other", "bounding", "noise", "limits", "bounds")  # terms that are passed on as they are
MORE = (*TEXTS, "size", "spread", "intervals", "slot")
OF_ADDRESS = frozenset({"dataset", "sql", "way", "epsilon", "rho", *MORE, "answer", "question"})
OF_FORM = (OF_ADDRESS - {"answer", "question"}) | {"quote", "key", "action"}
LONGEST = 200  # signs of a field that is no question
MOST_WISHES = 1000
WHOLE = re.compile(r"[0-9]{1,15}")
SECONDS = re.compile(r"[0-9]{1,5}(\.[0-9]{1,9})?")
SPREAD = re.compile(r"\s*(.+?)\s*=\s*([^,=]+?)\s*(?:,|$)")  # a column and its standard deviation; names may have commas
KEY = re.compile(r"[A-Za-z0-9_-]{16,64}")
NO = "no"  # of intervals


@dataclass(frozen=True)
class QuestionForm:
    """What somebody typed."""

    dataset: str = ""
    sql: str = ""
    way: PriceWay = "epsilon"
    price: Mapping[str, str] = field(default_factory=dict)  # of epsilon and of rho, by their names
    wishes: Mapping[str, str] = field(default_factory=dict)  # how far each column may be off
    more: Mapping[str, str] = field(default_factory=dict)
    quote: str = ""  # the id of the quote that was shown
    key: str = ""  # of one rendering of the page

    def asked(self) -> Asked:
        """The question; a problem where a field cannot be what it should be."""
        terms: dict[str, Any] = {name: self.more[name] for name in TEXTS if self.more.get(name)}
        if self.way == "error":
            terms["error"] = {name: wish for name, wish in self.wishes.items() if wish}
        else:
            terms[self.way] = self.price.get(self.way, "")
        size, intervals, slot = (self.more.get(name, "") for name in ("size", "intervals", "slot"))
        if size:
            terms["size"] = int(_matched("size", size, WHOLE, "a whole number such as 5000"))
        if spread := self.more.get("spread"):
            terms["spread"] = _read_spread(spread)
        if intervals:
            terms["intervals"] = False if intervals == NO else intervals
        seconds = float(_matched("slot", slot, SECONDS, "seconds such as 10")) if slot else None
        return Asked(self.dataset, self.sql, terms, seconds)

    def idempotency_key(self) -> str:
        """The key of this question in this rendering: sent twice it is one question, and edited another."""
        asked = self.asked()
        text = json.dumps([self.key, asked.dataset, asked.sql, asked.terms, asked.slot], sort_keys=True)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    def terms_address(self, **first: str) -> str:
        """The address of the page with the terms of this form, and other parameters first."""
        told = list(first.items())
        if self.way == "error":
            told += [("way", "error"), *((WISH + name, wish) for name, wish in self.wishes.items() if wish)]
        else:
            told += [(self.way, self.price.get(self.way, ""))]
        told += [(name, value) for name, value in self.more.items() if value]
        return f"/ask?{urlencode(told, errors='surrogatepass')}"


def new_key() -> str:
    """A key for a rendering of the page."""
    return secrets.token_urlsafe(18)


def read_form(fields: Sequence[tuple[str, str]], known: frozenset[str]) -> dict[str, str]:
    """The fields by their names, each once; a problem where one is not known, comes twice or is too long."""
    found: dict[str, str] = {}
    for name, value in fields:
        if name not in known and not name.startswith(WISH):
            raise _refused(name[:LONGEST], "the page has no such field", ", ".join(sorted(known)))
        if name in found:
            raise _refused(name[:LONGEST], "it comes twice", "each field once")
        if name != "sql" and len(value) > LONGEST:
            raise _refused(name[:LONGEST], f"it has more than {LONGEST} signs", "a shorter one")
        found[name] = value
    if sum(name.startswith(WISH) for name in found) > MOST_WISHES:
        raise _refused("error", f"there are more than {MOST_WISHES:,} columns", "fewer columns")
    return found


def question_form(fields: Mapping[str, str], price: Mapping[str, str]) -> QuestionForm:
    """What was typed; what is left out is the default price, and for a way that is not stated, the one that has a number."""
    typed = {name: fields[name].strip() for name in ("epsilon", "rho") if name in fields}
    way = fields.get("way") or next((name for name in typed), None)
    way = way or next((name for name in price), "epsilon")
    if way not in WAYS:
        raise _refused("way", "there is no such way to state a price", ", ".join(WAYS))
    wishes = {name.removeprefix(WISH): value.strip() for name, value in fields.items() if name.startswith(WISH)}
    return QuestionForm(
        dataset=fields.get("dataset", ""),
        sql=fields.get("sql", "").replace("\r\n", "\n").replace("\r", "\n"),  # forms send both signs for a new line
        way=way,
        price={**price, **typed},
        wishes=wishes,
        more={name: fields[name].strip() for name in MORE if fields.get(name, "").strip()},
        quote=fields.get("quote", ""),
        key=_matched("key", fields["key"], KEY, "the key of the page") if "key" in fields else new_key(),
    )


def form_of_question(asked: Asked, price: Mapping[str, str]) -> QuestionForm:
    """A question that was asked, as it would be typed."""
    terms = asked.terms
    more = {name: str(terms[name]) for name in (*TEXTS, "size") if terms.get(name) is not None}
    if terms.get("spread"):
        more["spread"] = ", ".join(f"{name}={value}" for name, value in terms["spread"].items())
    intervals = terms.get("intervals")
    if intervals is not None and intervals is not True:
        more["intervals"] = NO if intervals is False else str(intervals)
    if asked.slot is not None:
        more["slot"] = f"{asked.slot:g}"
    typed = {name: str(terms[name]) for name in ("epsilon", "rho") if terms.get(name) is not None}
    wishes = {str(name): str(wish) for name, wish in (terms.get("error") or {}).items()}
    way: PriceWay = "error" if wishes else "rho" if "rho" in typed or ("rho" in price and not typed) else "epsilon"
    sql = asked.sql if isinstance(asked.sql, str) else ";\n".join(asked.sql)
    return QuestionForm(asked.dataset, sql, way, {**price, **typed}, wishes, more, key=new_key())


def _read_spread(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    place = 0
    while place < len(text):
        part = SPREAD.match(text, place)
        if part is None or part[1] in found:
            raise _refused("spread", "it cannot be read", "each column once, with a number: cost=300, age=12")
        found[part[1]], place = part[2], part.end()
    return found


def _matched(where: str, value: str, pattern: re.Pattern[str], instead: str) -> str:
    if not pattern.fullmatch(value) or not value.isascii():
        raise _refused(where, "it cannot be read", instead)
    return value


def _refused(where: str, why: str, instead: str) -> Problem:
    return Problem("refused", where=where, why=why, instead=instead, error="DataError")
