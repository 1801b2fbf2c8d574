"""The terms of a question on the command line, its price and how it is counted: the same options of `quote` and `query`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Annotated, Any, get_type_hints

import typer

from dither.errors import DataError
from dither.query.batch import Batch
from dither.query.dataset import Dataset
from dither.query.quote import Quote


@dataclass(frozen=True)
class Terms:
    """A field for each option, in the order in which `--help` lists them."""

    epsilon: Annotated[str | None, typer.Option(help="The price, exactly: 0.5, 1/3, or ln(3).")] = None
    rho: Annotated[str | None, typer.Option(help="Instead of --epsilon: the price in zCDP.")] = None
    error: Annotated[
        list[str] | None, typer.Option(help="Instead of a price: the error that is wished for a column, such as n=20.")
    ] = None
    confidence: Annotated[str, typer.Option(help="With which probability the error bars hold.")] = "95%"
    size: Annotated[int | None, typer.Option(help="A public guess of the rows in a group, for the error of averages.")] = (
        None
    )
    spread: Annotated[
        list[str] | None,
        typer.Option(help="A public guess of a column's standard deviation, such as cost=300, for STDDEV and CORR."),
    ] = None
    bounding: Annotated[
        str | None, typer.Option(help="weights, clip, clip sum or groups; left out, the best that fits.")
    ] = None
    delta: Annotated[
        str | None,
        typer.Option(
            help="Where nobody declared the keys: the probability with which keys of one person alone may be shown."
        ),
    ] = None
    other: Annotated[
        str | None, typer.Option(help="Likewise: a name under which all keys that are not shown are counted.")
    ] = None
    noise: Annotated[str | None, typer.Option(help="gaussian or geometric; left out, what the budget counts best.")] = None
    intervals: Annotated[
        str | None,
        typer.Option(help="Of quantiles: the share of the price for the ends of their intervals, such as 1/2; 0 for none."),
    ] = None
    limits: Annotated[
        str | None,
        typer.Option(
            help="auto: find privately how much of one person counts; hard: what nobody can exceed, or be refused."
        ),
    ] = None
    bounds: Annotated[str | None, typer.Option(help="auto: find privately the bounds of columns that are added up.")] = None

    def quote(self, sql: list[str], clinic: Dataset) -> Quote | Batch:
        """The quote for one question, or for several as a batch."""
        terms: dict[str, Any] = {name: getattr(self, name) for name in get_type_hints(Terms)}
        terms["error"] = _by_name("--error", self.error, "n=20") if self.error else None
        terms["spread"] = _by_name("--spread", self.spread, "cost=300") if self.spread else None
        if self.intervals is None:
            del terms["intervals"]
        asked: Any = sql[0] if len(sql) == 1 else sql
        made: Quote | Batch = clinic.quote(asked, **terms)
        return made


def takes_terms(command: Callable[..., None]) -> Callable[..., None]:
    """The command with an option for each of the terms in place of its parameter `terms`."""
    options = get_type_hints(Terms, include_extras=True)
    hints = get_type_hints(command, include_extras=True)
    kind, parameters = inspect.Parameter.KEYWORD_ONLY, list[inspect.Parameter]()
    for name, own in inspect.signature(command).parameters.items():
        if name == "terms":
            parameters += [
                inspect.Parameter(option, kind, default=getattr(Terms, option), annotation=annotation)
                for option, annotation in options.items()
            ]
        else:
            parameters.append(own.replace(kind=kind, annotation=hints[name]))

    @wraps(command)
    def made(**given: Any) -> None:
        command(terms=Terms(**{option: given.pop(option) for option in options}), **given)

    made.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    made.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return made


def _by_name(flag: str, texts: list[str], example: str) -> dict[str, str]:
    """Numbers by the names of columns, from texts such as n=20."""
    found: dict[str, str] = {}
    for text in texts:
        name, sign, value = text.rpartition("=")
        if not sign:
            raise DataError(flag, text, "it names no column with its number", f"{flag} {example}")
        if name in found:
            raise DataError(flag, texts, "it is stated twice for one column", f"{flag} {example}")
        found[name] = value
    return found
