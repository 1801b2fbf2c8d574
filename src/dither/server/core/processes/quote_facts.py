"""A quote as people and programs outside see it: price, errors, what is left for this analyst, in words too."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

from dither.errors import DataError, DitherError
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.text import four_digits
from dither.query.batch import Batch
from dither.query.free_quote import FreeQuote
from dither.query.holdings import remaining_for
from dither.query.quote import Quote

WHOLE = "of the budget"
MOST = 10  # columns whose errors are told in words


def quote_facts(quote: Quote | Batch, analyst: str, daily: Guarantee | None = None) -> dict[str, Any]:
    """All that is told of a quote; it follows from question, policy, ledger, and the portion of a day that a token has."""
    if isinstance(quote, FreeQuote):
        told: dict[str, Any] = {"free": True, "price": quote.price, "epsilon": 0.0, "guarantee": None, "errors": {}}
        told |= {"confidence": "1", "left": None, "words": quote.price, "unprotected": quote.unprotected}
        return told | {"explain": quote.explain(), "describe": quote.describe()}
    left, of, more = what_is_left(quote, analyst, daily)
    several = [quote] if isinstance(quote, Quote) else list(quote)
    errors = [{name: _finite(error) for name, error in one.errors.items()} for one in several]
    return {
        "free": False,
        "price": quote.price,
        "epsilon": _epsilon(quote),
        "guarantee": json.loads(quote.guarantee.to_json()),
        "confidence": str(several[0].confidence),
        "errors": errors[0] if isinstance(quote, Quote) else errors,
        "left": left,
        "words": "; ".join([_words(errors, left, of), *_uncounted(several)]),
        "unprotected": "; ".join(dict.fromkeys(one.unprotected for one in several if one.unprotected)),
        "explain": "\n".join([quote.explain(analyst=analyst), *more]),
        "describe": "\n\n".join(one.describe() for one in several),
    }


def what_is_left(quote: Quote | Batch, analyst: str, daily: Guarantee | None) -> tuple[int, str, list[str]]:
    """How many such questions are left, of what; and what `explain` does not know: today's portion, or a share that is none.

    Raises:
        GuaranteeError: the question has no price under the budget, the share or the portion.
    """
    price, ledger = quote.guarantee, quote.holdings.ledger
    remaining, of = remaining_for(quote.holdings.ledger, price, analyst)
    left = remaining.like(price)
    if of == WHOLE and ledger.shared_out and not _has_share(quote, analyst):
        return 0, f"for {analyst}, who has no share", [f"Share      none of {analyst}: the budget is shared out"]
    if daily is None:
        return left, of, []
    today = ledger.remaining_today(analyst, daily)
    line = f"Today      {today.words(price, of=f'of the portion of {analyst}')}"
    fewer = today.like(price) < left
    return (today.like(price), f"of today's portion of {analyst}", [line]) if fewer else (left, of, [line])


def _has_share(quote: Quote | Batch, analyst: str) -> bool:
    try:
        quote.holdings.ledger.remaining(analyst)
    except DataError:
        return False
    return True


def _epsilon(quote: Quote | Batch) -> float | None:
    """At the delta of the budget, as the price says it; None where there is none."""
    return _epsilon_at(quote.guarantee, quote.holdings.ledger.budget.ceiling.charge().delta)


@lru_cache(maxsize=1024)
def _epsilon_at(guarantee: Guarantee, delta: Fraction) -> float | None:
    try:
        return _finite(guarantee.epsilon(delta))
    except DitherError:
        return None


def _words(errors: list[dict[str, float | None]], left: int, of: str) -> str:
    """Such as: n is off by at most 77; about 41 more such questions are left of the share of ana."""
    told = [f"{name} is off by at most {_short(size)}" for one in errors for name, size in one.items() if size is not None]
    more = f"about {left:,} more such {'question is' if left == 1 else 'questions are'} left {of}"
    more = more if left else f"no more such question is left {of}"
    return "; ".join([*told[:MOST], *(["..."] if len(told) > MOST else []), more])


def _uncounted(several: list[Quote]) -> list[str]:
    """Such as: rows without patient_id are not counted."""
    return [f"{told} are not counted" for told in dict.fromkeys(one.offer.uncounted for one in several) if told]


def _short(error: float) -> str:
    """Rounded up: it is off by no more than that."""
    return f"{math.ceil(error):,}" if error >= 100 else four_digits(error)


def _finite(value: float | None) -> float | None:
    return None if value is None or not abs(value) < float("inf") else value
