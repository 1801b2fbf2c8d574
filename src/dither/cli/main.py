"""The command line. Each command is a few lines; the work is in the library."""

from __future__ import annotations

from typing import Annotated

import typer

from dither import __version__
from dither.cli.ledger import ledger
from dither.errors import DitherError

app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False)
app.add_typer(ledger, name="ledger")


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
    epsilon: Annotated[str, typer.Option(help="The privacy parameter, exactly: 0.5, 1/3, or ln(3).")] = "0.5",
) -> None:
    """Show exact noise at work on a made-up count."""
    from dither.demo import show

    show(epsilon)


def main() -> None:
    """Run the command line; a refusal is one sentence on standard error and exit code 2."""
    try:
        app()
    except DitherError as error:
        typer.echo(f"dither: {error}", err=True)
        raise SystemExit(2) from None
