"""From where an owner knows what a policy states: `known_from` of a column or of a table.

Whatever a policy states is public. Bounds, keys, steps and limits that come from outside the data tell nothing of anybody. A
maximum that was seen in the data is one person's value, and a list of keys that were seen there names rare ones: no price is
paid for it, so no guarantee covers it. What an owner took from the data is therefore said to be so, once by the owner for
the whole policy, and then to everybody who is shown a guarantee.

A known origin changes no number: prices, noise and answers are the same. It is part of the hash, since it is part of what
is promised.
"""

from __future__ import annotations

from collections.abc import Sequence

from dither.errors import PolicyError
from dither.query.policy.fact import Fact

DATA = "data"
RELEASE = "private release"  # with its receipt, or where it can be read
ORIGINS = ("law", "unit", "questionnaire", DATA)
LISTED = '"law", "unit", "questionnaire", "private release ..." with its receipt, or "data"'
CONSENT, ACCEPTED = "values_from_data", "accepted"
LONGEST_ORIGIN = 200  # characters


def read_origin(stated: Fact, facts: Sequence[str], of: str, where: str) -> str | None:
    """From where the facts of a column, or of a table, are known; None where the owner does not say."""
    if stated is None:
        return None
    words = stated.split() if isinstance(stated, str) and stated.isprintable() and len(stated) <= LONGEST_ORIGIN else []
    told = " ".join(words)
    if told == RELEASE:
        why = "it does not say which release: its receipt, or where it can be read"
        raise PolicyError(where, stated, why, f'"{RELEASE} 3 of the ledger clinic"')
    if told not in ORIGINS and not told.startswith(f"{RELEASE} "):
        raise PolicyError(where, stated, "it names no origin that is known", LISTED)
    if not facts:
        raise PolicyError(where, stated, f"nothing is stated here that could come from there: {of}", "leaving it out")
    return told


def listed(words: Sequence[str]) -> str:
    """A, b and c; with a comma before the last where one of them is a list itself."""
    if len(words) == 1:
        return words[0]
    return f"{', '.join(words[:-1])}{',' if any(' and ' in word for word in words) else ''} and {words[-1]}"


def origin_words(known_from: str | None) -> str:
    """What a policy in words says of an origin; '' where none is stated."""
    if known_from is None:
        return ""
    return f" (known from {known_from})" if known_from != DATA else " (taken from the data: outside the guarantee)"


def check_consent(origins: Sequence[tuple[str, str | None]], consent: Fact) -> bool:
    """Whether the owner accepts values from the data, refused where there are such and she does not; by place."""
    if consent is not None and consent != ACCEPTED:
        why = "it says that the owner takes values from the data into a public policy, or it is left out"
        raise PolicyError(CONSENT, consent, why, f'{CONSENT} = "{ACCEPTED}"')
    taken = [where for where, origin in origins if origin == DATA]
    if taken and consent is None:
        why = "what was seen in the data is about people in it, and a policy is public: the guarantee does not cover it"
        more = f" (so in {len(taken) - 1} more places)" if len(taken) > 1 else ""
        instead = 'a value from outside the data; or bounds = "auto", limits = "auto", or no keys: each question then finds'
        instead += f' them privately, at a part of its price; or, to take them all the same, {CONSENT} = "{ACCEPTED}"'
        raise PolicyError(taken[0], DATA, why + more, instead)
    return consent is not None
