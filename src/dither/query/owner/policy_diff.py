"""The difference of two policies, fact by fact, in words: what it loosens, what it tightens, and what follows.

No row is read, and no ledger: both policies are public. Whoever puts a policy in force says whether it loosens anything
(`dither ledger amend`); this is what the two files say. It errs to one side: a fact that nobody has thought of loosens.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dither.errors import DataError
from dither.query.owner.changes.change import (
    LOOSENS,
    MEANING,
    NEUTRAL,
    NOT_UNDERSTOOD,
    NOTHING,
    TIGHTENS,
    PolicyChange,
    Rule,
    Verdict,
    fact_changes,
    larger,
    said,
)
from dither.query.owner.changes.ledgers import engine_changes, ledger_changes
from dither.query.owner.changes.tables import OTHERS, order_change, table_changes
from dither.query.policy.policy import Policy

ORDER: tuple[Verdict, ...] = (LOOSENS, MEANING, TIGHTENS, NEUTRAL)
ANEW = "Stored answers do not answer under the new policy: the same question is charged again."
APART = "The two policies are not compatible: a ledger that was spent under one cannot serve the other."


@dataclass(frozen=True)
class PolicyDiff:
    """What differs between two policies; made by `policy_diff`."""

    changes: tuple[PolicyChange, ...]  # what loosens first
    amends: bool  # whether the new policy has to be put in force: the promise, or the meaning of answers, is another

    @property
    def loosens(self) -> bool:
        """Whether anything more is allowed than before, or cannot be told."""
        return any(change.verdict == LOOSENS for change in self.changes)

    @property
    def compatible(self) -> bool:
        """Whether the same people are protected by the same rule, so that one ledger may serve both."""
        return all(change.compatible for change in self.changes)

    @property
    def lines(self) -> tuple[str, ...]:
        """A line for each change, then what follows for the ledger."""
        end = [] if self.compatible else [APART]
        end += [ANEW] if self.amends else []
        return (*(change.words for change in self.changes), *end)

    @property
    def words(self) -> str:
        """The whole in words."""
        if not self.changes:
            return "The two policies state the same."
        counts = [(verdict, sum(change.verdict == verdict for change in self.changes)) for verdict in ORDER]
        head = ", ".join(f"{count} {verdict}" for verdict, count in counts if count)
        several = "1 fact differs" if len(self.changes) == 1 else f"{len(self.changes)} facts differ"
        return "\n".join([f"{several}: {head}", *self.lines])

    def to_json(self) -> dict[str, Any]:
        """The same for programs."""
        changes = [
            {
                "where": change.where,
                "before": change.before,
                "after": change.after,
                "verdict": change.verdict,
                "consequence": change.consequence,
            }
            for change in self.changes
        ]
        return {"loosens": self.loosens, "compatible": self.compatible, "amends": self.amends, "changes": changes}


def policy_diff(old: Policy, new: Policy) -> PolicyDiff:
    """What differs between two policies, each difference with a verdict and its consequence.

    Args:
        old: the policy that is in force.
        new: the one that is to be.

    Returns:
        A value with `.loosens`, `.compatible`, `.lines`, `.words` and `.to_json()`.

    Raises:
        DataError: one of the two is no policy.

    Example:
        >>> import dither
        >>> from dataclasses import replace
        >>> from dither.query.owner.policy_diff import policy_diff
        >>> old = dither.Policy(domain="clinic", unit=dither.Unit.ADD_REMOVE, ledger=None, tables=(), data_version="2025")
        >>> diff = policy_diff(old, replace(old, data_version="2026"))
        >>> diff.loosens
        False
        >>> print(diff.lines[0])
        changes the meaning: data_version: '2025' -> '2026'. Answers are about other rows: a question is charged anew.
    """
    for name, policy in (("old", old), ("new", new)):
        if not isinstance(policy, Policy):
            raise DataError(name, policy, "it is not a policy", "what dither.open(...).policy is")
    found = list(fact_changes(old, new, RULES, ""))
    if not found and (old != new or old.hash != new.hash):  # whatever no rule saw
        found = [PolicyChange("policy", old.hash[:16], new.hash[:16], LOOSENS, NOT_UNDERSTOOD)]
    found.sort(key=lambda change: (ORDER.index(change.verdict), change.where))
    return PolicyDiff(tuple(found), old.hash != new.hash)


def _domain(old: Policy, new: Policy, _where: str) -> Iterator[PolicyChange]:
    if old.domain != new.domain:
        told = "A ledger is about one domain: the people of the new one have another budget."
        yield PolicyChange("domain", said(old.domain), said(new.domain), LOOSENS, told, compatible=False)


def _unit(old: Policy, new: Policy, _where: str) -> Iterator[PolicyChange]:
    if old.unit is not new.unit:
        yield PolicyChange("unit", old.unit.value, new.unit.value, LOOSENS, OTHERS, compatible=False)


def _ledger(old: Policy, new: Policy, _where: str) -> Iterator[PolicyChange]:
    yield from ledger_changes(old.ledger, new.ledger)


def _engine(old: Policy, new: Policy, _where: str) -> Iterator[PolicyChange]:
    yield from engine_changes(old.engine, new.engine)


def _tables(old: Policy, new: Policy, _where: str) -> Iterator[PolicyChange]:
    before, after = ({table.name: table for table in one.tables} for one in (old, new))
    for name in after.keys() - before.keys():
        table = after[name]
        told = "It may be joined with, and is answered exactly." if table.public else "It may be asked about."
        columns = f"{'public, ' * table.public}{len(table.columns)} columns"
        yield PolicyChange(f"tables.{name}", NOTHING, columns, LOOSENS, told)
    for name in before.keys() - after.keys():
        told = "It cannot be asked about any more."
        yield PolicyChange(f"tables.{name}", f"{len(before[name].columns)} columns", NOTHING, TIGHTENS, told)
    for name in before.keys() & after.keys():
        yield from table_changes(before[name], after[name], f"tables.{name}")
    if list(before) != list(after) and before.keys() == after.keys():
        yield order_change("tables", list(before), list(after))


def _version(old: Policy, new: Policy, _where: str) -> Iterator[PolicyChange]:
    if old.data_version != new.data_version:
        told = "Answers are about other rows: a question is charged anew."
        yield PolicyChange("data_version", said(old.data_version), said(new.data_version), MEANING, told)


def _per_question(old: Policy, new: Policy, _where: str) -> Iterator[PolicyChange]:
    if verdict := larger(old.per_question, new.per_question):
        told = "The most that one question may cost; the budget of all together stays."
        shown = said(old.per_question), said(new.per_question)
        yield PolicyChange("limits.per_question", *shown, verdict, told)


def _consent(old: Policy, new: Policy, _where: str) -> Iterator[PolicyChange]:
    if old.values_from_data != new.values_from_data:
        shown = ["accepted" if one.values_from_data else NOTHING for one in (old, new)]
        told = "Values that were taken from the data are accepted: the guarantee does not cover them."
        if not new.values_from_data:
            told = "Values that were taken from the data are refused."
        verdict: Verdict = LOOSENS if new.values_from_data else TIGHTENS
        yield PolicyChange("values_from_data", shown[0], shown[1], verdict, told)


def _made_up(old: Policy, new: Policy, _where: str) -> Iterator[PolicyChange]:
    if old.made_up != new.made_up:
        told = "Answers say that no row is real: of rows of people that would not be true, and their ledger is not for it."
        if not new.made_up:
            told = "Rows of people are asked about from now on, and a ledger of made-up rows is not theirs."
        yield PolicyChange("made_up", said(old.made_up), said(new.made_up), LOOSENS, told, compatible=False)


RULES: dict[str, Rule[Policy]] = {
    "domain": _domain,
    "unit": _unit,
    "ledger": _ledger,
    "tables": _tables,
    "data_version": _version,
    "per_question": _per_question,
    "engine": _engine,
    "values_from_data": _consent,
    "made_up": _made_up,
}
