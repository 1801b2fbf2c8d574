"""Offers of one dataset that were made lately: the same question, put in the same words and on the same terms.

An offer follows from the policy, the budget, the kinds of the sources and what was asked, and from nothing else: no row, no
public row, nothing that was spent. A dataset has one policy, one ledger and its sources for as long as it is open, so it has
a cache of its own, and another policy is another dataset. What is left of the budget is asked of the ledger each time.

Not kept: questions whose limits or scalar subqueries are released first, since their offers remember what followed from
what was released; those of many groups, and long ones, which take memory; and terms of which equal ones may be written
differently, such as guarantees.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Mapping
from contextlib import suppress
from dataclasses import fields
from decimal import Decimal
from fractions import Fraction
from math import prod

from dither.privacy.budget.filter import Filter
from dither.query.pricing.ask import Ask
from dither.query.pricing.offer import Offer

MOST_OFFERS = 128  # that a dataset keeps
MOST_GROUPS = 1_000  # of an offer that is kept
LONGEST_TEXT = 2_000  # characters
PLAIN = (type(None), str, bool, int, float, Fraction, Decimal)  # of which equal texts of one type mean the same
NAMES = tuple(one.name for one in fields(Ask))


class OfferCache:
    """A bounded cache of offers, the one that was used last leaving last.

    For several threads: each step is one of the dictionary's own, and what another thread did in between does no harm. There
    is no lock that a process could be copied with while somebody else holds it.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[Hashable, Offer] = OrderedDict()

    def __len__(self) -> int:
        return len(self._known)

    def find(self, ask: Ask, budget: Filter) -> Offer | None:
        """The offer for a question under a budget, where it was made before; None where it is to be made."""
        key = _key(ask)
        offer = None if key is None else self._known.get(key)
        if offer is None or offer.budget is not budget:
            return None
        with suppress(KeyError):  # it left just now
            self._known.move_to_end(key)
        return offer

    def keep(self, ask: Ask, offer: Offer) -> None:
        """Remember an offer that was just made."""
        groups = prod(1 if group.keys is None else len(group.keys) for group in offer.question.groups)
        key = _key(ask)
        if key is None or groups > MOST_GROUPS or offer.found is not None or offer.constants is not None:
            return
        with suppress(KeyError):
            self._known[key] = offer
            self._known.move_to_end(key)
            while len(self._known) > MOST_OFFERS:
                self._known.popitem(last=False)


def _key(ask: Ask) -> Hashable | None:
    """What was asked, by the types and texts of its terms: True, 1 and 1.0 are equal, and not the same term."""
    if type(ask.text) is not str or len(ask.text) > LONGEST_TEXT:
        return None
    found: list[Hashable] = []
    for name in NAMES:
        value = getattr(ask, name)
        parts = [part for pair in value.items() for part in pair] if isinstance(value, Mapping) else [value]
        if any(type(part) not in PLAIN for part in parts):
            return None
        found.append(tuple((type(part), repr(part)) for part in parts))
    return tuple(found)
