"""What differs between two policies in words about the ledger and the engine."""

from __future__ import annotations

from collections.abc import Iterator

from dither.query.owner.changes.change import (
    LOOSENS,
    MEANING,
    NEUTRAL,
    NOTHING,
    TIGHTENS,
    PolicyChange,
    Rule,
    Verdict,
    fact_changes,
    larger,
    place_words,
    said,
)
from dither.query.policy.engine_facts import EngineFacts
from dither.query.policy.policy import LedgerFacts

FRESH = "Another ledger has another budget: the same people would be asked about with what was spent forgotten."


def ledger_changes(old: LedgerFacts | None, new: LedgerFacts | None) -> Iterator[PolicyChange]:
    """Each fact that differs."""
    if old is None or new is None:
        if old is not new:
            words = [NOTHING if one is None else place_words(one.location) for one in (old, new)]
            yield PolicyChange("ledger", words[0], words[1], LOOSENS, FRESH)
        return
    yield from fact_changes(old, new, LEDGER_RULES, "ledger")


def engine_changes(old: EngineFacts | None, new: EngineFacts | None) -> Iterator[PolicyChange]:
    """Each fact that differs; what is not stated is what holds without it."""
    yield from fact_changes(old or EngineFacts(), new or EngineFacts(), ENGINE_RULES, "engine")


def _place(old: LedgerFacts, new: LedgerFacts, where: str) -> Iterator[PolicyChange]:
    """Where a ledger is, and which one it is: the identity decides."""
    known = old.identity is not None and old.identity == new.identity
    if old.location != new.location:
        told = "The same ledger at another place." if known else FRESH
        yield PolicyChange(
            f"{where}.location", place_words(old.location), place_words(new.location), NEUTRAL if known else LOOSENS, told
        )
    if old.identity != new.identity:
        told = "From now on one ledger alone is accepted." if old.identity is None else FRESH
        verdict: Verdict = TIGHTENS if old.identity is None else LOOSENS
        yield PolicyChange(f"{where}.identity", said(old.identity), said(new.identity), verdict, told)


def _budget(old: LedgerFacts, new: LedgerFacts, where: str) -> Iterator[PolicyChange]:
    if verdict := larger(old.budget, new.budget):
        told = "All that may ever be told of one person; a ledger keeps the budget it was made with, and refuses another."
        yield PolicyChange(f"{where}.budget", str(old.budget), str(new.budget), verdict, told)


def _witness(old: LedgerFacts, new: LedgerFacts, where: str) -> Iterator[PolicyChange]:
    if old.witness != new.witness:
        added = old.witness is None
        told = "A second place tells when an old copy of the ledger is put back."
        if not added:
            told = "What the second place knew is not compared any more: an old copy could be put back unnoticed."
        yield PolicyChange(
            f"{where}.witness", place_words(old.witness), place_words(new.witness), TIGHTENS if added else LOOSENS, told
        )


def _texts(old: LedgerFacts, new: LedgerFacts, where: str) -> Iterator[PolicyChange]:
    if old.texts != new.texts:
        told = f"Questions are {'kept' if new.texts else 'not kept'} as they were asked, for the owner's eyes."
        yield PolicyChange(f"{where}.texts", said(old.texts), said(new.texts), NEUTRAL, told)


def _shares(old: LedgerFacts, new: LedgerFacts, where: str) -> Iterator[PolicyChange]:
    before, after = dict(old.shares), dict(new.shares)
    for analyst in sorted(after.keys() - before.keys()):
        first = not before
        told = "Only those who have a share may ask from now on." if first else "One more may ask."
        yield PolicyChange(f"{where}.shares.{analyst}", NOTHING, str(after[analyst]), TIGHTENS if first else LOOSENS, told)
    for analyst in sorted(before.keys() - after.keys()):
        told = "A ledger that has the share keeps it; `dither ledger share` changes it."
        told += "" if after else " A new one would let everybody ask."
        yield PolicyChange(f"{where}.shares.{analyst}", str(before[analyst]), NOTHING, NEUTRAL if after else LOOSENS, told)
    for analyst in sorted(before.keys() & after.keys()):
        if verdict := larger(before[analyst], after[analyst]):
            told = "What one analyst may spend in all; the budget of all together stays."
            shown = str(before[analyst]), str(after[analyst])
            yield PolicyChange(f"{where}.shares.{analyst}", *shown, verdict, told)
    if before == after and old.shares != new.shares:
        yield PolicyChange(f"{where}.shares", said(list(before)), said(list(after)), NEUTRAL, "Only the order is another.")


def _amounts(old: EngineFacts, new: EngineFacts, where: str) -> Iterator[PolicyChange]:
    for name, told in (
        ("work_mem", "How much memory one question takes; no matter of what is told."),
        ("time_limit", "When a question that runs long fails: it is charged then, and not answered."),
    ):
        before, after = getattr(old, name), getattr(new, name)
        if before != after:
            yield PolicyChange(f"{where}.{name}", said(before), said(after), NEUTRAL, told)


def _version(old: EngineFacts, new: EngineFacts, where: str) -> Iterator[PolicyChange]:
    if old.server_version == new.server_version:
        return
    shown = said(old.server_version), said(new.server_version)
    if new.uncertified:
        told = f"{new.uncertified}."
        yield PolicyChange(f"{where}.server_version", *shown, LOOSENS, told)
    else:
        told = "The conformance suite has run on the versions that are accepted."
        yield PolicyChange(f"{where}.server_version", *shown, TIGHTENS if old.uncertified else MEANING, told)


LEDGER_RULES: dict[str, Rule[LedgerFacts]] = {
    **dict.fromkeys(("location", "identity"), _place),
    "budget": _budget,
    "witness": _witness,
    "texts": _texts,
    "shares": _shares,
}
ENGINE_RULES: dict[str, Rule[EngineFacts]] = {
    **dict.fromkeys(("work_mem", "time_limit"), _amounts),
    "server_version": _version,
}
