"""Quotes side by side: what another price, another bound, another kind of noise or another question would change."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from dither.query.answers.derived.errors import errors_of
from dither.query.plan.text import number
from dither.query.pricing.ask import NoiseKind, Terms
from dither.query.pricing.offer import Offer
from dither.query.pricing.spend import counts_rho, rho_in
from dither.table import table

NO_PRICE: Terms = {"epsilon": None, "rho": None, "guarantee": None, "error": None}


class Column(NamedTuple):
    """An offer, how many of it the budget has left, and what it has in common with the first."""

    offer: Offer
    left: int
    beside: str = ""


def compare(columns: Sequence[Column]) -> str:
    """A table with a column for each offer."""
    quotes = [column.offer for column in columns]
    names = list(dict.fromkeys(name for quote in quotes for name in errors_of(quote)))
    asked = [" ".join(quote.sql.split()) for quote in quotes]
    beside = {"beside the first": [column.beside for column in columns]} if any(column.beside for column in columns) else {}
    rows: dict[str, list[str]] = {
        "noise": [noise_of(quote) for quote in quotes],
        **beside,
        "price": [quote.price for quote in quotes],
        "of the whole budget": [share_of(quote) for quote in quotes],
        "such questions left": [number(column.left) for column in columns],
        **{f"error of {name}": [_error(quote, name) for quote in quotes] for name in names},
        "with probability": [f"{float(quote.confidence * 100):.4g}%" for quote in quotes],
        "a person counts by": [quote.bounding.way for quote in quotes],
    }
    lines = [f"{at}: {text}" for at, text in enumerate(asked, 1)] if len(set(asked)) > 1 else [f"All ask {asked[0]}"]
    head = ["", *(str(at) for at in range(1, len(quotes) + 1))]
    cells = [head, *([name, *row] for name, row in rows.items())]
    return "\n".join([*lines, *table(cells, left=range(len(head)))])


def noise_of(offer: Offer) -> str:
    """The kinds of noise that an offer has."""
    return ", ".join(dict.fromkeys(statistic.noise for statistic in offer.statistics))


def share_of(offer: Offer) -> str:
    """The part of the whole budget that one such question takes; where it keeps two sums, of each: one must have room."""
    return " or ".join(f"{letter}: {_percent(part)}" for letter, part in offer.budget.parts_of(offer.guarantee).items())


def other_noise(offer: Offer) -> list[tuple[str, Terms]]:
    """How to ask for the other kind of noise at the same charge and at the same epsilon; none where rho does not count."""
    budget, kinds = offer.budget, {statistic.noise for statistic in offer.statistics}
    if not counts_rho(budget) or not kinds & {"geometric", "Gaussian"}:
        return []
    promise = offer.guarantee
    pure, delta = promise.charge().epsilon if "geometric" in kinds else None, budget.ceiling.charge().delta
    other: NoiseKind = "geometric" if pure is None else "gaussian"
    found: list[tuple[str, Terms]] = [("same charge", {**NO_PRICE, "rho": rho_in(budget, promise), "noise": other})]
    if pure is not None and delta:
        found.append(("same ε", {**NO_PRICE, "epsilon": pure, "noise": other}))
    elif pure is None and delta:
        epsilon = offer.asked if offer.asked is not None else Fraction(offer.epsilon(delta))
        found.append(("same ε", {**NO_PRICE, "epsilon": epsilon, "noise": other}))
    return found


def _percent(part: Fraction) -> str:
    percent = float(part * 100)
    return f"{percent:,.3g}%" if percent < 1000 else f"{percent:,.0f}%"


def _error(quote: Offer, name: str) -> str:
    errors = errors_of(quote)
    if name not in errors:
        return "not asked"
    error = errors[name]
    return "depends on the data" if error is None else f"{error:,.4g}"
