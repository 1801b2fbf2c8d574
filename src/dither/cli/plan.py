"""`dither plan`: what the questions of a year cost together, and what would fit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from dither.query.dataset import open as open_policy


def plan(
    file: Annotated[
        Path, typer.Argument(help="A plan: [[question]] with sql, times and error or epsilon, for each question.")
    ] = Path("plan.toml"),
    policy: Annotated[Path, typer.Option("--policy", help="The policy file.")] = Path("policy.toml"),
    analyst: Annotated[str | None, typer.Option(help="Who will ask, where the ledger has shares.")] = None,
    details: Annotated[bool, typer.Option("--details", help="Say prices in ε, and what is left in ρ and δ, too.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Exact numbers, for programs.")] = False,
) -> None:
    """What the questions of a year cost together, and what would fit. Reads no data, costs nothing."""
    clinic = open_policy(policy)
    made = clinic.plan(file, analyst=analyst)
    typer.echo(json.dumps(made.facts(), indent=2, ensure_ascii=False) if as_json else str(made.explain(details=details)))
    clinic.ledger.close()
