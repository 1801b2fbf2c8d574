"""The command line. Each command is a few lines; the work is in the library."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dither import __version__
from dither.cli.ledger import ledger
from dither.cli.local import local
from dither.cli.policy import policy
from dither.cli.query import explain, query, quote
from dither.errors import DitherError

app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False)
app.add_typer(ledger, name="ledger")
app.add_typer(local, name="local")
app.add_typer(policy, name="policy")
app.command()(explain)
app.command()(quote)
app.command()(query)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dither {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and stop.")
    ] = False,
) -> None:
    """Differential privacy that is exact."""


@app.command()
def demo(
    epsilon: Annotated[str, typer.Option(help="The price of each question, exactly: 0.5, 1/3, or ln(2).")] = "0.5",
    save: Annotated[Path | None, typer.Option(help="Keep the data, the policy and a script in this folder.")] = None,
) -> None:
    """Ask three private questions about a made-up clinic."""
    from dither.demo import show

    show(epsilon, save)


def main() -> None:
    """Run the command line; a refusal is one sentence on standard error and exit code 2."""
    try:
        app()
    except DitherError as error:
        typer.echo(f"dither: {error}", err=True)
        raise SystemExit(2) from None
    except OSError as error:  # a folder that is not there, a disk that is full
        typer.echo(f"dither: {error.filename or 'the disk'}: {error.strerror}", err=True)
        raise SystemExit(2) from None
