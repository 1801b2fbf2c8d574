"""One spelling for each question: what decides the released numbers, and nothing else.

Two texts with the same question and the same noise have the same spelling, so that the ledger answers the second from what
it stored for the first. Names of columns in the answer, HAVING, ORDER BY and LIMIT come after the release and are left out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from dither.query.groups.group_choice import GroupChoice
from dither.query.plan.relations import Scan
from dither.query.plan.spelling import spell
from dither.query.policy.column import Key
from dither.query.pricing.offer import Offer
from dither.query.statistics.bounding import Bounding
from dither.query.statistics.people_by_size import PeopleBySize
from dither.query.statistics.statistic import Statistic

VERSION = 2
MOST_KEYS = 100  # that are spelled out


def question(offer: Offer) -> dict[str, object]:
    """The question as the ledger keeps it."""
    first = {} if offer.constants is None else {"constants": [question(one) for one in offer.constants.offers]}
    return {**_counters(offer), **first, **({"statistics": [_part(part) for part in offer.others]} if offer.others else {})}


def _counters(offer: Offer) -> dict[str, object]:
    asked, bounding = offer.question, offer.bounding
    persons = [one.bounding for one in offer.counters if one.bounding != bounding]
    return {
        "dither": VERSION,
        "table": asked.table.name if isinstance(asked.relation, Scan) else spell(asked.relation),
        "where": spell(asked.where),
        "groups": [{"by": spell(group.by), "keys": _keys(group.keys)} for group in asked.groups],
        "counters": [spell(one.counters) for one in offer.counters],
        "bounding": _limits(bounding),
        "noise": [spell(one.mechanism) for one in offer.counters],
        **({"levels": levels} if any(levels := [one.spelled_levels() for one in offer.counters]) else {}),
        **({"persons": _limits(persons[0])} if persons else {}),
        **({"max_groups": dict(offer.limits)} if offer.limits else {}),
        **({} if offer.choice is None else {"choice": _choice(offer.choice)}),
        **({} if offer.found is None else {"limits": [_part(one) for one in offer.found.histograms]}),
        **({} if offer.found is None or not offer.found.stated else {"stated": dict(offer.found.stated)}),
    }


def batch_question(offers: Sequence[Offer], parts: Sequence[Statistic]) -> dict[str, object]:
    """A batch as the ledger keeps it: parts that several questions share are spelled once."""
    spelled = []
    for offer in offers:
        if offer.in_steps:  # its statistics are its own: they depend on what it finds, or releases, first
            spelled.append(question(offer))
            continue
        own = [next(at for at, part in enumerate(parts) if part is mine) for mine in offer.others]
        spelled.append({**_counters(offer), "statistics": own})
    return {"dither": VERSION, "batch": spelled, "statistics": [_part(part) for part in parts]}


def _choice(choice: GroupChoice) -> dict[str, object]:
    """What is counted for it, how a person is bounded, and the rule."""
    limits = _limits(choice.bounding)
    return {"is": choice.code, "counters": spell(choice.counters), "bounding": limits, **choice.spelled()}


def _limits(bounding: Bounding) -> list[object]:
    """How a person is bounded: what decides the totals."""
    others: dict[str, object] = {}
    if bounding.most != bounding.groups * bounding.rows:
        others["rows"] = bounding.most
    if bounding.sums:
        others["sums"] = [[spell(family), most] for family, most in bounding.sums]
    if isinstance(bounding, PeopleBySize):
        others |= bounding.spelled()
    if bounding.shares:
        others["shares"] = [str(share) for share in bounding.shares]
    return [bounding.way, bounding.groups, bounding.rows, bounding.resolution, *([others] if others else [])]


def _part(part: Statistic) -> dict[str, object]:
    """What is counted, how a person is bounded, and the mechanism."""
    counted = {"counters": spell(part.counters), "bounding": _limits(part.bounding)}
    if part.within:
        by = part.question.groups[-1]
        counted = {"by": spell(by.by), "keys": _keys(by.keys), **counted}
    return {"is": part.code, **counted, **part.spelled()}


def _keys(keys: tuple[Key, ...] | None) -> object:
    """The keys, or the hash of many; nothing where nobody declared them."""
    if keys is None:
        return None
    spelled = [spell(key) for key in keys]
    if len(spelled) <= MOST_KEYS:
        return spelled
    return {"count": len(spelled), "sha256": hashlib.sha256(json.dumps(spelled).encode()).hexdigest()}
