"""Reports of a ledger: tables and a bar of the budget for people, JSON for programs."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from dither.ledger.entries.entry import Entry
from dither.ledger.history import asked, one_line
from dither.ledger.ledger import Ledger
from dither.ledger.verify import Verification
from dither.privacy.budget.filter import from_json
from dither.privacy.guarantee.guarantee import Guarantee

if TYPE_CHECKING:
    from rich.console import RenderableType

LONGEST_SHOWN = 60
WIDTH = 40  # of the bar
RECENT = 100  # entries among which the last question is looked for


def summary(ledger: Ledger, *, analyst: str | None = None, like: Guarantee | None = None) -> dict[str, Any]:
    """What `dither ledger show` says, in exact numbers."""
    remaining, head = ledger.remaining(analyst), ledger.head
    return {
        "location": ledger.location,
        "identity": ledger.identity,
        "domain": ledger.domain,
        "policy_hash": ledger.policy_hash,
        "analyst": analyst,
        "ceiling": json.loads(remaining.ceiling.to_json()),
        "spent": [total.to_json() for total in remaining.totals()],
        "left": remaining.details,
        "left_percent": remaining.percent,
        "used": remaining.used,
        "more_like": None if like is None else remaining.like(like),
        "entries": head.entries,
        "head": head.hash,
        "witness": ledger.witness,
    }


def overview(
    ledger: Ledger, *, analyst: str | None = None, like: Guarantee | None = None, details: bool = False
) -> RenderableType:
    """Whose it is, how much is gone, how much is left; with `details`, as the budget counts it."""
    facts, remaining = summary(ledger, analyst=analyst, like=like), ledger.remaining(analyst)
    table = Table.grid(padding=(0, 2))
    table.add_row("domain", Text(str(facts["domain"] or "nobody has said yet")))
    if analyst is not None:
        table.add_row("share of", Text(analyst))
    table.add_row("budget", Text(str(remaining.ceiling)))
    price, one = (like, str(like)) if like is not None else (last_price(ledger), "the last one")
    of = "of the budget" if analyst is None else "of the share"
    table.add_row("left", Text(remaining.words(price, which=f"question like {one}", of=of)))
    if reason := remaining.reason(price):
        table.add_row("", Text(reason))
    if details or remaining.in_epsilon:
        table.add_row("", Text(facts["left"].partition(" left of ")[0]))
    table.add_row("", Text(bar(facts["used"])))
    table.add_row("entries", Text(f"{facts['entries']}, head {facts['head'][:16]}"))
    table.add_row("second place", Text(facts["witness"] or "none: an old copy put back cannot be detected"))
    table.add_row("identity", Text(facts["identity"]))
    return Group(Text(ledger.location, style="bold"), table)


def last_price(ledger: Ledger) -> Guarantee | None:
    """The price of the last question, if it is among the latest entries."""
    asked = [entry for entry in ledger.history(max(1, ledger.head.entries - RECENT)) if entry.kind == "reserved"]
    return Guarantee.from_json(asked[-1].body["guarantee"]) if asked else None


def bar(used: float) -> str:
    """How much is gone, as a bar: full only when nothing is left."""
    full = math.floor(WIDTH * used)
    return f"{'█' * full}{'░' * (WIDTH - full)} {100 * used:.1f} % used"


def entries_table(entries: Iterable[Entry]) -> Table:
    """A table of entries as they are spelled inside, one a line."""
    table = Table("entry", "when (UTC)", "what", "who", "price", "about")
    for entry in entries:
        when, price = entry.when.strftime("%Y-%m-%d %H:%M:%S"), ""
        if entry.kind == "reserved":
            guarantee = Guarantee.from_json(entry.body["guarantee"])
            price = str(guarantee).removesuffix(f" ({guarantee.unit})")
        who = entry.body.get("analyst") or ""
        table.add_row(str(entry.number), when, entry.kind, Text(who), Text(price), Text(about(entry)))
    return table


def about(entry: Entry) -> str:
    """One line on what an entry says."""
    body = entry.body
    match entry.kind:
        case "created":
            text = f"ledger {body['ledger']}"
        case "bound":
            text = f"about '{body['domain']}', {body['unit']}"
        case "policy":
            text = f"{'looser' if body['loosens'] else 'tighter'} policy: {body['note']}"
        case "share":
            text = f"a share of {from_json(body['limit']).ceiling}"
        case "moved":
            text = f"to {body['place']}"
        case "rotated":
            text = f"to key {body['key'][:16]}"
        case "countersigned":
            text = f"entries 1 to {entry.number - 1}"
        case "reserved":
            text = asked(str(body["text"])) or str(body["question"])
        case "refused":
            text = f"refused: {one_line(str(body['why']))}"
        case "exported":
            text = f"entry {body['receipt']} as {body['what']}"
        case _:
            text = f"entry {body['receipt']}"
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 3] + "..."


def entry_json(entry: Entry) -> str:
    """An entry as it is, on one line."""
    stored = {"number": entry.number, "kind": entry.kind, "time": entry.time, "body": dict(entry.body)}
    proof = {"state": entry.state.to_json(), "previous": entry.previous, "hash": entry.hash, "mac": entry.mac}
    return json.dumps({**stored, **proof, "answer": entry.answer}, sort_keys=True)


def verification_json(result: Verification) -> str:
    """The result of a check, for programs."""
    known = {"entries": result.entries, "head": None if result.head is None else result.head.hash, "ok": result.ok}
    checked = {"signed": result.signed, "witnessed": result.witnessed, "receipts": result.receipts}
    return json.dumps({**known, **checked, "faults": list(result.faults)})


def verify_with_progress(ledger: Ledger, receipts: list[Any], console: Console) -> Verification:
    """Check everything, with a bar while it takes long."""
    from rich.progress import Progress

    with Progress(console=console, transient=True) as bars:
        task = bars.add_task("checking", total=None)
        return ledger.verify(receipts, progress=lambda done, total: bars.update(task, completed=done, total=total))
