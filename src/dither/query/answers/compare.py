"""Quotes side by side: what another price, another bound, another kind of noise or another question would change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from typing import NamedTuple

from dither.query.answers.derived.errors import errors_of
from dither.query.answers.table import aligned
from dither.query.plan.text import number, rounded
from dither.query.pricing.ask import NoiseKind, Terms
from dither.query.pricing.offer import Offer
from dither.query.pricing.spend import counts_rho, rho_in
from dither.terminal import fitted_table, wrapped

NO_PRICE: Terms = {"epsilon": None, "rho": None, "guarantee": None, "error": None}


class Column(NamedTuple):
    """An offer, how many of it the budget has left, and what it has in common with the first."""

    offer: Offer
    left: int
    beside: str = ""


@dataclass(frozen=True)
class Comparison:
    """Quotes side by side; `Quote.compare` makes it. Printed, it is a table.

    Args:
        questions: the SQL of each quote.
        facts: by its name, each fact of all quotes as text.
        refused: kinds of noise that the question cannot have, and why.
    """

    questions: tuple[str, ...]
    facts: dict[str, tuple[str, ...]]
    refused: tuple[str, ...] = ()

    def rows(self) -> list[dict[str, str]]:
        """One row for each quote: its question, price, share of the budget, errors and the rest."""
        return [
            {"question": question} | {name: told[at] for name, told in self.facts.items()}
            for at, question in enumerate(self.questions)
        ]

    def _asked(self) -> list[str]:
        several = [f"{at}: {text}" for at, text in enumerate(self.questions, 1)]
        return several if len(set(self.questions)) > 1 else [f"All ask {self.questions[0]}"]

    def __str__(self) -> str:
        head = ["", *(str(at) for at in range(1, len(self.questions) + 1))]
        cells = [head, *([name, *row] for name, row in self.facts.items())]
        lines = fitted_table(cells, left=range(len(head)))
        return "\n".join([*map(wrapped, self._asked()), *lines, *map(wrapped, self.refused)])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        def row(tag: str, cells: Sequence[str]) -> str:
            return "<tr>" + "".join(f"<{tag}{aligned(left=True)}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"

        head = row("th", ["", *(str(at) for at in range(1, len(self.questions) + 1))])
        body = "".join(row("td", [name, *told]) for name, told in self.facts.items())
        asked, refused = ("<br>".join(map(escape, lines)) for lines in (self._asked(), self.refused))
        return f"<p>{asked}</p><table><thead>{head}</thead><tbody>{body}</tbody></table>" + f"<p>{refused}</p>" * bool(
            refused
        )


def compare(columns: Sequence[Column], refused: Sequence[str] = ()) -> Comparison:
    """A table with a column for each offer."""
    quotes = [column.offer for column in columns]
    names = list(dict.fromkeys(name for quote in quotes for name in errors_of(quote)))
    asked = [" ".join(quote.sql.split()) for quote in quotes]
    beside = {"compared with 1": [column.beside for column in columns]} if any(column.beside for column in columns) else {}
    rows: dict[str, list[str]] = {
        "noise": [noise_of(quote) for quote in quotes],
        **beside,
        "price": [quote.price.removesuffix(f" ({quote.guarantee.unit})") for quote in quotes],
        "of the budget": [share_of(quote) for quote in quotes],
        "questions left": [number(column.left) for column in columns],
        **{f"error of {name}": [_error(quote, name) for quote in quotes] for name in names},
        "probability": [f"{float(quote.confidence * 100):.4g}%" for quote in quotes],
        "bounded by": [quote.bounding.way for quote in quotes],
    }
    return Comparison(tuple(asked), {name: tuple(row) for name, row in rows.items()}, tuple(refused))


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
    return "depends on the data" if error is None else f"{rounded(error)}"
