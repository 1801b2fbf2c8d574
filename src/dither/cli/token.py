"""`dither token create|list|revoke`: who may ask a gateway. The secret goes to standard output, the rest beside it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, cast

import typer

from dither.errors import DataError
from dither.privacy.guarantee.guarantee import Guarantee
from dither.server.core.config import GatewayConfig, read_gateway
from dither.server.core.roles import Role
from dither.server.core.token_shares import (
    Grant,
    ShareTerms,
    one_portion,
    open_ledgers,
    read_datasets,
    read_grant,
    write_shares,
)
from dither.server.core.tokens import ALL, Token, TokenStore
from dither.terminal import fitted_table

token = typer.Typer(no_args_is_help=True, help="Who may ask a gateway: make a token, look at all, let one end.")
Config = Annotated[Path, typer.Option(help="The configuration of the gateway.")]
MOST_DAYS = 3650


@token.command()
def create(
    name: Annotated[str, typer.Argument(help="Of the analyst, as in ledgers: two tokens of one name spend one share.")],
    config: Config = Path("gateway.toml"),
    role: Annotated[str, typer.Option(help="owner, analyst, or auditor, who reads and asks nothing.")] = "analyst",
    dataset: Annotated[
        list[str] | None, typer.Option(help="What it is for, once or more; left out, all that there are now; * for all.")
    ] = None,
    epsilon: Annotated[str | None, typer.Option(help="A share of each ledger, exactly: 0.5, 1/3, or ln(3).")] = None,
    delta: Annotated[str | None, typer.Option(help="With --epsilon or --rho; left out, that of the budget.")] = None,
    rho: Annotated[str | None, typer.Option(help="Instead of --epsilon: a share in zCDP.")] = None,
    daily: Annotated[str | None, typer.Option(help="The most of the share in one UTC day, as it counts: 0.1.")] = None,
    days: Annotated[int, typer.Option(help="After how many days it ends; 0: it does not.")] = 90,
) -> None:
    """Make a token, and the share of its name in the ledgers. Its secret is shown once."""
    if not 0 <= days <= MOST_DAYS:
        raise DataError("--days", days, f"it is not from 0 to {MOST_DAYS}", "--days 90")
    stated, terms = read_gateway(config), ShareTerms(epsilon, delta, rho, daily)
    known, datasets = cast(Role, role), read_datasets(stated, cast(Role, role), dataset or ())
    with _store(stated) as store, open_ledgers(stated, datasets) as ledgers:
        grants = [read_grant(each, *found, name, known, terms) for each, found in ledgers.items()]
        portion = one_portion(grants)
        in_force = [each for each in store.list() if _state(each) == "in force"]
        others = {each.name for each in in_force if each.role == "analyst"} - {name}
        without = portion is None and known != "auditor" and any(each.daily for each in in_force if each.name == name)
        write_shares(ledgers, name, grants)
        expires = datetime.now(UTC) + timedelta(days=days) if days else None
        made, secret = store.create(name=name, role=known, datasets=datasets, expires=expires, daily=portion)
        typer.echo(secret)
        _say(made, grants, others)
        if without:
            typer.echo(f"caution: another token of {name} has a portion of a day, and this one has none: --daily", err=True)


@token.command(name="list")
def list_(
    config: Config = Path("gateway.toml"),
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """All tokens, those that ended among them; never a secret."""
    with _store(read_gateway(config)) as store:
        tokens = store.list()
    if as_json:
        for each in tokens:
            typer.echo(json.dumps(_facts(each)))
    elif not tokens:
        typer.echo("no token yet: dither token create NAME")
    else:
        rows = [[str(value) for value in _facts(each).values()] for each in tokens]
        head = list(_facts(tokens[0]))
        typer.echo("\n".join(fitted_table([head, *rows], left=range(len(head)), rule=1)))


@token.command()
def revoke(
    id: Annotated[str, typer.Argument(help="Of the token, as `dither token list` tells it.")],  # noqa: A002
    config: Config = Path("gateway.toml"),
) -> None:
    """Let a token end now. What its name has spent stays spent, and its share stays in the ledger."""
    with _store(read_gateway(config)) as store:
        ended = store.revoke(id)
    typer.echo(f"{ended.id} of {ended.name} is refused from now on")


@contextmanager
def _store(config: GatewayConfig) -> Iterator[TokenStore]:
    store = TokenStore(config.database)
    try:
        yield store
    finally:
        store.close()


def _say(made: Token, grants: list[Grant], others: set[str]) -> None:
    until = "it does not end" if made.expires is None else f"until {made.expires:%Y-%m-%d %H:%M} UTC"
    lines = [f"token {made.id} of {made.name}, {made.role}, {until}; it is not shown again"]
    for grant in grants:
        lines.append(grant.words(made.role))
        if grant.new and not grant.shared:
            lines.append(f"caution: from now on all who ask about {grant.dataset} need a share")
            if others:
                lines.append(f"caution: {', '.join(sorted(others))} may have a token and no share of it")
        if grant.without_gaussian:
            lines.append("caution: no Gaussian noise is paid from a share without a delta: ask with --noise geometric")
    for line in lines:
        typer.echo(line, err=True)


def _state(each: Token) -> str:
    if each.revoked is not None:
        return "revoked"
    return "expired" if each.expires is not None and each.expires <= datetime.now(UTC) else "in force"


def _facts(each: Token) -> dict[str, str]:
    return {
        **{"id": each.id, "name": each.name, "role": each.role},
        "datasets": "all" if ALL in each.datasets else " ".join(each.datasets),
        "state": _state(each),
        "made": f"{each.created:%Y-%m-%d}",
        "ends": "never" if each.expires is None else f"{each.expires:%Y-%m-%d}",
        "last used": "never" if each.last_day is None else each.last_day.isoformat(),
        "in a day": "" if each.daily is None else str(Guarantee.from_json(each.daily)),
    }
