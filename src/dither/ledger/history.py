"""The history of a ledger in words: who asked what and when, what it cost, what was left after it; for the owner's eyes."""

from __future__ import annotations

import csv
import heapq
import io
import json
import re
import textwrap
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from dither.ledger.access_log import AccessLine
from dither.ledger.entries.budget import Remaining
from dither.ledger.entries.entry import Entry
from dither.privacy.budget.filter import Filter, Spent, from_json
from dither.privacy.budget.filter_state import Totals
from dither.privacy.guarantee.definitions import approx
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.text import four_digits, four_digits_proved
from dither.table import table

WIDTH = 80
LONGEST_TEXT = 2000  # characters of a question that the table shows
LONGEST_NAME = 16
INDENT = "       "
UNTOLD = "(its text was not kept)"
WORDS = {
    "created": "made",
    "bound": "bound",
    "policy": "policy",
    "share": "share set",
    "moved": "moved",
    "rotated": "key rotated",
    "countersigned": "countersigned",
    "reserved": "asked",
    "touched": "data read",
    "renewed": "still computed",
    "rerun": "computed again",
    "answered": "answered",
    "replayed": "answered again",
    "refunded": "given back",
    "refused": "refused",
    "exported": "handed out",
}
# Literals and quoted names stay, comments go; a dash in a literal begins no comment. Where a comment could end elsewhere
# than it seems (one in another, other quotes), all that follows stays as it was asked.
LITERAL, ODD, COMMENT = r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"", r"\b[eE]'|['\"`$]|\{#", r"/\*.*?(?:\*/|\Z)|--[^\r\n]*"
SQL = re.compile(f"(?P<literal>{LITERAL})|(?P<odd>{ODD})|(?P<comment>{COMMENT})", re.DOTALL)
SPACES = re.compile(r"\s+")


@dataclass(frozen=True)
class HistoryLine:
    """What one entry says, in words."""

    entry: int | None  # its number in the chain; None for a line of the access log
    when: str  # UTC
    kind: str  # as the format calls it
    what: str  # the same in a word or two
    who: str  # the analyst, as she was named; empty where nobody was
    question: str  # its text on one line, without comments
    about: str  # what else there is to say
    price: str  # of a charge
    left: str  # of the whole budget, after it, in percent; empty for a line of the access log


def history_lines(
    entries: Iterable[Entry], logged: Iterable[AccessLine], budget: Filter, *, details: bool = False
) -> list[HistoryLine]:
    """The lines of entries and of the access log, by time; with `details`, what is left also as the budget counts it."""
    parts: tuple[Iterable[Entry | AccessLine], ...] = (entries, logged)
    both = heapq.merge(*parts, key=lambda one: one.time)  # entries stay in their order, whatever clocks did
    return [_line(one, one.state.spent if isinstance(one, Entry) else None, budget, details=details) for one in both]


def _line(one: Entry | AccessLine, spent: Totals | None, budget: Filter, *, details: bool) -> HistoryLine:
    return HistoryLine(
        entry=one.number if isinstance(one, Entry) else None,
        when=one.when.strftime("%Y-%m-%d %H:%M:%S"),
        kind=one.kind,
        what=WORDS[one.kind],
        who=one_line(str(one.body.get("analyst") or "")),
        question=_question(one),
        about=one_line(_about(one)),
        price=_price(Guarantee.from_json(one.body["guarantee"]), budget) if one.kind == "reserved" else "",
        left="" if spent is None else _left(Remaining(Spent(budget, spent)), details=details),
    )


def _left(remaining: Remaining, *, details: bool) -> str:
    return f"{remaining.percent}: {remaining.spent.budget.left(remaining.spent)}" if details else remaining.percent


def history_table(lines: Iterable[HistoryLine]) -> str:
    """The lines as a table, each with its question below it."""
    found = list(lines)
    head = ("entry", "when (UTC)", "what", "who", "price", "left")
    cells = [
        ("-" if one.entry is None else str(one.entry), one.when, one.what, _cut(one.who, LONGEST_NAME), one.price, one.left)
        for one in found
    ]
    first, rule, *rows = table([head, *cells], left=(1, 2, 3, 4), rule=1)
    shown = [first, rule]
    for row, one in zip(rows, found, strict=True):
        shown += [row, *_below(one)]
    return "\n".join(shown)


def history_csv(lines: Iterable[HistoryLine]) -> str:
    """The lines as CSV; no cell begins with what a spreadsheet would compute."""
    file = io.StringIO()
    names = [name for name in HistoryLine.__dataclass_fields__ if name != "kind"]
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([_cell(getattr(one, name)) for name in names] for one in lines)
    return file.getvalue()


def history_json(line: HistoryLine) -> str:
    """A line for programs."""
    return json.dumps(asdict(line), ensure_ascii=False)


def one_line(text: str) -> str:
    """A text of somebody's on one line, without signs that a terminal obeys."""
    return _printable(" ".join(text.split()))


def asked(text: str) -> str:
    """A question on one line: without comments, which could hide what follows them; literals as they were written."""
    shown, loose, at = "", "", 0
    for found in SQL.finditer(text):
        if found["odd"] or "/*" in (found["comment"] or "")[1:]:
            break
        loose, at = loose + text[at : found.start()], found.end()
        if found["literal"] is None:
            loose += " "
        else:
            shown, loose = shown + SPACES.sub(" ", loose) + found["literal"], ""
    return _printable((shown + SPACES.sub(" ", loose + text[at:])).strip())


def _printable(line: str) -> str:
    return line if line.isprintable() else line.encode("unicode_escape").decode()


def _question(entry: Entry | AccessLine) -> str:
    if entry.kind not in ("reserved", "refused"):
        return ""
    return asked(str(entry.body["text"])) or UNTOLD


def _about(entry: Entry | AccessLine) -> str:
    body = entry.body
    match entry.kind:
        case "created":
            return f"ledger {body['ledger']}"
        case "bound":
            return f"about '{body['domain']}', {body['unit']}"
        case "policy":
            changed = "looser than the one before" if body["loosens"] else "no looser than the one before"
            spent = isinstance(entry, Entry) and any(entry.state.spent)
            return f"a policy in force{f', {changed}' if spent else ''}: {body['note']}"
        case "share":
            return f"a share of {from_json(body['limit']).ceiling}"
        case "moved":
            return f"to {body['place']}"
        case "rotated":
            return f"from now on key {body['key'][:16]} signs"
        case "countersigned":
            return f"the new key answers for entries 1 to {entry.number - 1}"
        case "refused":
            return f"nothing was charged: {body['why']}"
        case "exported":
            return f"the answer of entry {body['receipt']}, as {body['what']}"
        case "reserved":
            return str(body.get("unprotected", ""))
        case "replayed":
            return f"entry {body['receipt']}, for free"
        case _:
            return f"entry {body['receipt']}"


def _price(guarantee: Guarantee, budget: Filter) -> str:
    """A price as people know it: in epsilon, at the delta of the budget where there is no epsilon alone."""
    delta = budget.ceiling.charge().delta
    if guarantee.charge().epsilon is None and delta:
        told = four_digits_proved(
            guarantee.epsilon(delta), lambda short: guarantee.within(approx(short, delta, unit=guarantee.unit))
        )
        return f"ε = {told} at δ = {four_digits(delta)}"
    return str(guarantee).removesuffix(f" ({guarantee.unit})")


def _below(line: HistoryLine) -> list[str]:
    question = line.question
    if len(question) > LONGEST_TEXT:
        question = f"{question[:LONGEST_TEXT]}... ({len(question):,} characters; --json has all)"
    texts = [text for text in (question, line.about) if text]
    return [shown for text in texts for shown in textwrap.wrap(text, WIDTH, initial_indent=INDENT, subsequent_indent=INDENT)]


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."


def _cell(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@") else value
