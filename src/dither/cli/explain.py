"""`dither explain`: how dither reads the SQL of a question."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dither.query.plan.describe import describe
from dither.query.policy.policy import load_policy
from dither.query.sql.options import apply_options, check_options, read_options
from dither.query.sql.parse import parse
from dither.terminal import wrapped


def explain(
    sql: Annotated[str, typer.Argument(help="A SELECT of statistics.")],
    policy: Annotated[Path, typer.Option("--policy", help="The policy file.")] = Path("policy.toml"),
) -> None:
    """How a question is understood. Needs no price, no ledger and no data."""
    loaded, (text, options) = load_policy(policy), read_options(sql)
    question = parse(text, apply_options(options, loaded))
    check_options(options, loaded, question)
    typer.echo(wrapped(describe(question)))
