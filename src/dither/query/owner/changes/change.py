"""One difference of two policies: the place, both words, a verdict, and what follows from it.

    loosens              more may be asked or shown, more of a person counts, or somebody else is protected
    tightens             less than before, and nothing more
    changes the meaning  the same question has another answer, and nobody is exposed more
    neutral              neither: names of files, notes, origins

What nobody has thought of loosens. The verdict is about what is allowed; the budget bounds what is ever told in any case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, Final, Literal, TypeVar

from dither.errors import show
from dither.ledger.storage.postgres import without_password
from dither.privacy.guarantee.guarantee import Guarantee

Verdict = Literal["loosens", "tightens", "changes the meaning", "neutral"]
LOOSENS: Final = "loosens"
TIGHTENS: Final = "tightens"
MEANING: Final = "changes the meaning"
NEUTRAL: Final = "neutral"
NOTHING = "not stated"
NOT_UNDERSTOOD = "It is not known what follows from this, so it is taken for the worse."


@dataclass(frozen=True)
class PolicyChange:
    """One fact that differs."""

    where: str  # the place in the policy, such as tables.visits.max_rows
    before: str
    after: str
    verdict: Verdict
    consequence: str  # one sentence or two
    compatible: bool = True  # False: other people are protected, so that one ledger cannot serve both policies

    @property
    def words(self) -> str:
        """The change in a line, and its consequence."""
        return f"{self.verdict}: {self.where}: {self.before} -> {self.after}. {self.consequence}"


Part = TypeVar("Part")
Rule = Callable[[Part, Part, str], Iterator[PolicyChange]]


def fact_changes(old: Part, new: Part, rules: Mapping[str, Rule[Part]], where: str) -> Iterator[PolicyChange]:
    """What differs between two parts of one class, by a rule for each field; a field without a rule loosens."""
    for rule in dict.fromkeys(rules.values()):  # a rule for several fields speaks once
        yield from rule(old, new, where)
    for one in fields(old):  # type: ignore[arg-type]
        before, after = getattr(old, one.name), getattr(new, one.name)
        if one.name not in rules and before != after:
            yield PolicyChange(f"{where}.{one.name}".lstrip("."), said(before), said(after), LOOSENS, NOT_UNDERSTOOD)


def nothing(_old: Any, _new: Any, _where: str) -> Iterator[PolicyChange]:
    """The rule of a field that follows from others, whose rules speak."""
    return iter(())


def said(value: Any) -> str:
    """A fact as it is shown: short, and in one line."""
    if value is None or value in ((), ""):
        return NOTHING
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (Fraction, Guarantee)):
        return str(value)
    return show(value)


def place_words(place: str | None) -> str:
    """A file or an address, as it is shown: without a password."""
    if place is None or "://" not in place:
        return said(place)
    try:
        return said(without_password(place))
    except ValueError:  # not an address, so nobody knows which part of it is secret
        return "what is no address"


def larger(old: Guarantee | None, new: Guarantee | None) -> Verdict | None:
    """The verdict on a ceiling, None being no ceiling at all; None where both are equal. What cannot be compared loosens."""
    if old == new:
        return None
    if new is None or old is None:
        return LOOSENS if new is None else TIGHTENS
    return TIGHTENS if old.unit is new.unit and new.within(old) and not old.within(new) else LOOSENS


def factor(old: Fraction | int, new: Fraction | int) -> str:
    """How noise grows or shrinks when what one person may add goes from `old` to `new`."""
    if not old or not new or old == new:
        return ""
    grows = new > old
    ratio = Fraction(new) / Fraction(old) if grows else Fraction(old) / Fraction(new)
    return f"{'grows' if grows else 'shrinks'} by a factor of up to {float(ratio):.3g}"
