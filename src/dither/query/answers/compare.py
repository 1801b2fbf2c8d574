"""Quotes side by side: what another price, another bound or another question would change."""

from __future__ import annotations

from collections.abc import Sequence

from dither.query.plan.text import number
from dither.query.pricing.offer import Offer
from dither.table import table


def compare(offers: Sequence[tuple[Offer, int]]) -> str:
    """A table with a column for each offer; each comes with how many of it the budget has left."""
    quotes = [offer for offer, _ in offers]
    names = list(dict.fromkeys(name for quote in quotes for name in quote.errors))
    asked = [" ".join(quote.sql.split()) for quote in quotes]
    rows: dict[str, list[str]] = {
        "price": [quote.price for quote in quotes],
        "such questions left": [number(left) for _, left in offers],
        **{f"error of {name}": [_error(quote, name) for quote in quotes] for name in names},
        "with probability": [f"{float(quote.confidence * 100):.4g}%" for quote in quotes],
        "a person counts by": [quote.bounding.way for quote in quotes],
    }
    lines = [f"{at}: {text}" for at, text in enumerate(asked, 1)] if len(set(asked)) > 1 else [f"All ask {asked[0]}"]
    head = ["", *(str(at) for at in range(1, len(quotes) + 1))]
    cells = [head, *([name, *row] for name, row in rows.items())]
    return "\n".join([*lines, *table(cells, left=range(len(head)))])


def _error(quote: Offer, name: str) -> str:
    if name not in quote.errors:
        return "not asked"
    error = quote.errors[name]
    return "depends on the data" if error is None else f"{error:,.4g}"
