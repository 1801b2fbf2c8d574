"""`dither policy sample`: made-up rows of what a policy declares, to look at, or as a folder that can be asked."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dither.errors import ConflictError
from dither.query.policy.policy import MADE_UP, load_policy
from dither.query.sample.first_questions import first_price, first_questions
from dither.query.sample.sample_folder import write_sample
from dither.query.sample.sample_policy import sample_domain
from dither.query.sample.sample_rows import sample_rows
from dither.terminal import fitted_table

if TYPE_CHECKING:
    import pyarrow

SHOWN = 10  # rows of each table
WIDEST = 40  # characters of a cell that are shown


def sample(
    file: Annotated[Path, typer.Argument(help="A policy.toml; neither its data nor its ledger is looked at.")],
    rows: Annotated[int, typer.Option(help="Of each table, 1 to 1000000.")] = 1000,
    seed: Annotated[int, typer.Option(help="A whole number; the same one gives the same rows.")] = 0,
    out: Annotated[Path | None, typer.Option(help="A new folder for them, with a policy; left out, ten are shown.")] = None,
    csv: Annotated[bool, typer.Option("--csv", help="CSV files in it, as the policy says that they are written.")] = False,
) -> None:
    """Make up rows of what a policy declares, to try questions for nothing; no data is read."""
    if out is None:
        if csv:
            raise ConflictError("--csv", "without --out", "without a folder rows are only shown", "--out sample --csv")
        _show(sample_rows(load_policy(file), rows, seed=seed))
        return
    files, policy = write_sample(file, out, rows, seed=seed, csv=csv), load_policy(file)
    typer.echo(f"{MADE_UP}\nwrote {out}:")
    for path in files.values():
        typer.echo(f"  {path.name}")
    typer.echo(f"  policy.toml, about {_plain(sample_domain(policy.domain))!r}, with a ledger of its own")
    price = [word for name, most in first_price(policy).items() for word in (f"--{name}", most)]
    if asked := first_questions(policy)[:1]:
        command = ["dither", "query", *asked, *price, "--policy", str(out / "policy.toml")]
        typer.echo(f"Next:\n  {shlex.join(command)}")


def _show(tables: dict[str, pyarrow.Table]) -> None:
    typer.echo(MADE_UP)
    for name, rows in tables.items():
        shown = rows.slice(0, SHOWN)
        typer.echo(f"\n{_plain(name)}: {shown.num_rows} of {rows.num_rows:,} rows")
        cells = [[_plain(column), *map(_cell, shown[column].to_pylist())] for column in rows.column_names]
        left = {at for at, kind in enumerate(rows.schema.types) if str(kind) in ("string", "bool")}
        typer.echo("\n".join(fitted_table(list(zip(*cells, strict=True)), left=left, rule=1, keys=0)))


def _cell(value: Any) -> str:
    return "" if value is None else _plain(str(value))


def _plain(text: str) -> str:
    """Text that a terminal shows as it is: no sign of it moves the cursor."""
    shown = "".join(sign if sign.isprintable() else f"\\u{ord(sign):04x}" for sign in text)
    return shown if len(shown) <= WIDEST else f"{shown[: WIDEST - 3]}..."
