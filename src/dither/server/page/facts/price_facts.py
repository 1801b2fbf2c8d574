"""A quote as the page tells it: the price in a button, the error in words, and a caution where much would be spent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

UNIT = re.compile(r" \([^()]*\)$")
BRACKETS = re.compile(r"^\((.*)\)$")  # around several numbers
FEW = 10  # such questions are left: one takes more than a tenth


@dataclass(frozen=True)
class PriceFacts:
    """What a template needs of a quote."""

    id: str
    free: bool
    price: str  # short, for the button
    whole: str
    words: str
    probability: str  # of the error bars; empty where no error is told
    columns: tuple[str, ...]  # that a wish can name
    sizes: Mapping[str, str]  # how far each is off, where it is known
    unknown: tuple[str, ...]  # columns whose error depends on the rows
    caution: Literal["", "none", "much"]
    unprotected: str
    explain: str
    describe: str


def price_facts(quote: Mapping[str, Any], rho: str = "") -> PriceFacts:
    """What is told of a quote, at a price that was perhaps stated in rho, which stands for it in the button.

    Several questions in one have their errors in its words alone.
    """
    errors: Mapping[str, float | None] = quote["errors"] if isinstance(quote["errors"], dict) else {}
    known = {name: size for name, size in errors.items() if size is not None}
    left, words = quote["left"], str(quote["words"])
    return PriceFacts(
        id=quote["id"],
        free=quote["free"],
        price=f"ρ {rho}" if rho and not quote["free"] else short_price(quote["price"]),
        whole=plain_price(quote["price"]),
        words=words if known or not isinstance(quote["errors"], dict) else words[:1].upper() + words[1:],
        probability=percent(quote["confidence"]) if known else "",
        columns=tuple(errors),
        sizes={name: wish_text(size) for name, size in known.items()},
        unknown=tuple(name for name in errors if name not in known),
        caution="" if left is None or left >= FEW else "much" if left else "none",
        unprotected=quote["unprotected"],
        explain=quote["explain"],
        describe=quote["describe"],
    )


def plain_price(price: str) -> str:
    """Without the unit, which is the same for all questions: "ε = 0.1, δ = 1e-06"."""
    return BRACKETS.sub(r"\1", UNIT.sub("", price))


def short_price(price: str) -> str:
    """For a button: "ε 0.1"."""
    return plain_price(price).replace(" = ", " ")


def percent(confidence: str) -> str:
    """A probability such as "19/20", as people say it."""
    return f"{float(Fraction(confidence) * 100):.10g}%"


def wish_text(size: float) -> str:
    """An error as somebody would wish for it: three digits, rounded up, so that it costs no more than what was shown."""
    digits = f"{size:.2e}"
    text = Fraction(digits)
    step = Fraction(10) ** (int(digits.partition("e")[2]) - 2)
    found = text if text >= Fraction(size) else text + step
    return f"{float(found):.10g}"
