"""The command line. Each command is a few lines; the work is in the library."""

from __future__ import annotations

import os
from typing import Annotated, ClassVar

import typer

from dither import __version__
from dither.cli.flags import disk_refusal, refusal
from dither.cli.lazy_group import Home, LazyGroup
from dither.errors import DitherError
from dither.terminal import stated_width


class Commands(LazyGroup):
    """Each in its file, which is imported when the command is asked for."""

    homes: ClassVar = {
        "explain": Home("dither.cli.explain", "How a question is understood. Needs no price, no ledger and no data."),
        "quote": Home(
            "dither.cli.query",
            "What a question costs and how far its answer may be off. Reads no data, costs nothing.",
        ),
        "query": Home("dither.cli.query", "Ask a question: the ledger pays, then the data is read."),
        "plan": Home(
            "dither.cli.plan",
            "What the questions of a year cost together, and what would fit. Reads no data, costs nothing.",
        ),
        "demo": Home("dither.cli.demo", "Ask three private questions about a made-up clinic."),
        "serve": Home(
            "dither.cli.serve", "Let people ask over HTTP: the rows, the ledger and its key stay here. Ctrl-C ends it."
        ),
        "ledger": Home("dither.cli.ledger", "What was spent, for ever: make a budget, look at it, check it."),
        "local": Home("dither.cli.local", "Local differential privacy: surveys without a trusted collector."),
        "mcp": Home(
            "dither.cli.mcp",
            "Tools for a model that asks a gateway (Model Context Protocol): price first, within the share of its token.",
        ),
        "token": Home("dither.cli.token", "Who may ask a gateway: make a token, look at all, let one end."),
        "policy": Home("dither.cli.policy", "What is protected, and how: draft a policy, check one."),
    }


app = typer.Typer(cls=Commands, add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dither {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and stop.")
    ] = False,
) -> None:
    """Differential privacy that is exact."""
    context.with_resource(stated_width(os.environ.get("COLUMNS")))


def main() -> None:
    """Run the command line; a refusal is one sentence on standard error and exit code 2."""
    try:
        app()
    except DitherError as error:
        said = refusal(error) if hasattr(error, "instead") else str(error)
        typer.echo(f"dither: {said}", err=True)
        raise SystemExit(2) from None
    except OSError as error:  # a folder that is not there, a disk that is full
        typer.echo(f"dither: {disk_refusal(error)}", err=True)
        raise SystemExit(2) from None
