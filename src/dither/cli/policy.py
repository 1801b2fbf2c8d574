"""`dither policy ...`: draft a policy, make one by questions or from SmartNoise's, check one, compare two, make up rows."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from dither.cli.lazy_group import Home, LazyGroup
from dither.cli.policy_wizard import run_wizard
from dither.errors import ConflictError
from dither.numeric.number import Number
from dither.query.owner.csv_checks import mending_line
from dither.query.owner.csv_draft import draft_from_rows
from dither.query.owner.database_draft import draft_database
from dither.query.owner.draft import draft
from dither.query.owner.inspect import BANNER, inspect
from dither.query.owner.open_lines import open_lines, seen_lines
from dither.query.owner.origin_lines import data_origins, unstated_origins
from dither.query.owner.policy_diff import policy_diff
from dither.query.owner.smartnoise import import_smartnoise
from dither.query.policy.chains import parents
from dither.query.policy.origin import LISTED
from dither.query.policy.policy import load_policy
from dither.query.policy.table import Table
from dither.query.sources.find_source import find_source
from dither.query.sources.postgres_catalogue import is_address
from dither.query.sources.source import Source
from dither.query.sources.sql_quotes import name


class PolicyCommands(LazyGroup):
    """The one that quotes is in a file of its own, and imported when it is asked for: the others need no parser of SQL."""

    homes: ClassVar = {
        "sample": Home(
            "dither.cli.policy_sample",
            "Make up rows of what a policy declares, to try questions for nothing; no data is read.",
        ),
    }


policy = typer.Typer(cls=PolicyCommands, no_args_is_help=True, help="What is protected, and how: draft a policy, check one.")


@policy.command()
def init(
    file: Annotated[
        str,
        typer.Argument(
            help="A .parquet, .csv or .duckdb file, a glob of such, a directory, or "
            "postgresql://host/database?table=schema.visits (?schema=clinic: all of its tables), in quotes."
        ),
    ],
    out: Annotated[Path | None, typer.Option(help="Where to write; left out, it is printed.")] = None,
    table: Annotated[
        str | None, typer.Option(help="Which table of a .duckdb file; of other files, what questions call it.")
    ] = None,
    read_data: Annotated[
        bool, typer.Option("--read-data", help="Look at the first rows of a CSV file. NOT PRIVATE: for the owner alone.")
    ] = False,
) -> None:
    """Draft a policy from names and types of columns; no row is read unless you say so."""
    if is_address(file):
        if table is not None:
            raise ConflictError(
                "--table", table, "an address names its tables itself", f"?table=schema.{table} in the address"
            )
        if read_data:
            raise ConflictError("--read-data", file, "only CSV files are looked into", "leaving it out")
        found = draft_database(file, Path.cwd() if out is None else out.parent)
        _write(found.text, out)
        for caution in found.cautions:
            typer.echo(f"caution: {caution}", err=True)
        return
    make = draft_from_rows if read_data else draft
    _write(make(Path(file), Path.cwd() if out is None else out.parent, table), out, private=read_data)


@policy.command()
def wizard(
    file: Annotated[str | None, typer.Argument(help="As for init; left out, it is asked for.", show_default=False)] = None,
    out: Annotated[Path, typer.Option(help="Where to write the policy.")] = Path("policy.toml"),
    read_data: Annotated[
        bool, typer.Option("--read-data", help="Look at the first rows of a CSV file. NOT PRIVATE: for the owner alone.")
    ] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the replies of a run that was left.")] = False,
) -> None:
    """Make a policy by questions in plain words, one at a time; no row is read unless you say so."""
    if not run_wizard(file, out, read_data=read_data, resume=resume):
        raise typer.Exit(1)
    typer.echo(f"\nwrote {out}")
    check(out, read_data=False)
    found = load_policy(out)
    table = next(one.name for one in found.tables if not one.public)
    most = None if found.per_question is None else found.per_question.charge().epsilon
    price = "0.1" if most is None or most > Number("0.1") else str(most)
    asked = f"SELECT COUNT(*) AS n FROM {name(table) if not table.isidentifier() else table}"  # noqa: S608
    typer.echo("Next:")
    typer.echo(f"  dither policy check {shlex.quote(str(out))} --read-data")
    typer.echo(f"  dither ledger create --policy {shlex.quote(str(out))} --write")
    typer.echo(f"  dither quote {shlex.quote(asked)} --epsilon {price} --policy {shlex.quote(str(out))}")


@policy.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="SmartNoise's metadata: a .yaml file.")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Where to write; left out, it is printed.")] = None,
) -> None:
    """Draft a policy from SmartNoise's metadata. What has no counterpart is told in comments."""
    _write(import_smartnoise(file), out)


@policy.command()
def diff(
    old: Annotated[Path, typer.Argument(help="The policy.toml that is in force.")],
    new: Annotated[Path, typer.Argument(help="The one that is to be.")],
    strict: Annotated[bool, typer.Option("--strict", help="Exit code 1 if anything is loosened.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """What differs between two policies, in words: what is loosened, what is tightened, and what follows."""
    found = policy_diff(load_policy(old), load_policy(new))
    typer.echo(json.dumps(found.to_json(), indent=2) if as_json else found.words)
    if strict and found.loosens:
        raise typer.Exit(1)


def _write(text: str, out: Path | None, *, private: bool = False) -> None:
    """To a file, or to the terminal. A private one, which says what was seen in the data, is the owner's alone."""
    if out is None:
        typer.echo(text, nl=False)
        return
    if out.exists():
        raise ConflictError("--out", str(out), "there is a file already", "another name")
    out.touch(mode=0o600 if private else 0o666, exist_ok=False)
    out.write_text(text, encoding="utf-8")
    typer.echo(f"wrote {out}: decide what it marks, then run dither policy check {out}")


@policy.command()
def check(
    file: Annotated[Path, typer.Argument(help="A policy.toml.")],
    read_data: Annotated[
        bool, typer.Option("--read-data", help="Count cells that do not fit. NOT PRIVATE: for the owner alone.")
    ] = False,
) -> None:
    """Check a policy and that its sources have the columns it describes."""
    from rich.console import Console
    from rich.table import Table as Columns
    from rich.text import Text

    console, bad, folder = Console(markup=False), list[str](), file.resolve().parent
    whole = not console.is_terminal  # a terminal gets lines that fit it; a file or a pipe, whole ones
    text = file.read_text(encoding="utf-8-sig", errors="replace") if file.is_file() else ""
    if undecided := open_lines(text):
        console.print(f"{len(undecided)} decisions of {file} are open:", soft_wrap=whole)
        for one in undecided:
            console.print(f"  {one}", soft_wrap=whole, highlight=False)
        raise typer.Exit(1)
    found = load_policy(file)
    sources = {
        table.name: find_source(table.source, folder, f"tables.{table.name}.source", table.dialect).under(found.engine)
        for table in found.tables
        if table.source is not None
    }
    for table in found.tables:
        if table.source is None:
            console.print(f"{table.name}: the policy does not say where its rows are")
            continue
        source, above = sources[table.name], parents(table, found.tables)
        source.check(table)
        hint = source.hint()
        console.print(
            f"{table.name}: {len(table.columns)} columns, {source.kind}: {'does not look right' if hint else 'fits'}"
        )
        bad += [f"{table.name}: say {hint}"] if hint else []
        if table.owner is not None and table.owner.through in sources:
            through, key = table.owner.through, ", ".join(column for _, column in table.owner.on)
            if sources[through].enforces_key({column for _, column in table.owner.on}):
                console.print(f"  each key leads to one row of {through}: {source.kind} keeps {key} unique", soft_wrap=whole)
        for caution in source.cautions():
            console.print(f"  caution: {caution}", style="yellow", soft_wrap=whole)
        missing = [one.name for one in above if one.name not in sources]
        if read_data and missing:
            console.print(f"  not read: the policy does not say where the rows of {missing[0]} are")
        elif read_data:
            with console.status("reading the data ..."):
                report = inspect(table, source, [(one, sources[one.name]) for one in above])
            console.print(BANNER, style="bold red")
            console.print(f"{report.rows:,} rows, {report.nobody:,} without a person, {report.people:,} people")
            if report.shared:
                console.print(f"  rows of several people count once for each: {report.shared:,} more")
            for lost in report.lost:
                by = "without GROUP BY" if lost.by is None else f"GROUP BY {lost.by}"
                share = f"{lost.rows:,} rows of {lost.people:,} people are beyond the limits ({lost.limit})"
                console.print(f"  {by}: {share}", soft_wrap=whole)
            shown = Columns("column", "missing", "unreadable", "clamped", "outside the keys", "too long")
            for column in report.columns:
                counts = (column.missing, column.unreadable, column.clamped, column.undeclared, column.long)
                shown.add_row(Text(column.name), *(f"{count:,}" for count in counts))
            console.print(shown)
            bad += [f"{table.name}: the data violates {fact}, on which answers rely" for fact in report.broken]
            bad += [_unreadable(table, column.name, source) for column in report.columns if column.is_mostly_unreadable]
    if unstated := unstated_origins(text, found):
        told = f"origin not stated: {', '.join(unstated)}; beside each: known_from = {LISTED}"
        console.print(told, soft_wrap=whole, highlight=False)
    if taken := data_origins(text, found):
        told = f"caution: {', '.join(taken)}: taken from the data, outside the guarantee; all who ask are told so"
        console.print(told, style="yellow", soft_wrap=whole, highlight=False)
    if seen := seen_lines(text):
        where = ", ".join(map(str, seen[:20]))
        told = f"caution: lines {where} tell what was seen in the data: delete them before anybody else reads the file"
        console.print(told, style="yellow", soft_wrap=whole, highlight=False)
    if found.ledger is not None and found.ledger.identity is None:
        told = f"ledger: none yet; it is made once, by: dither ledger create --policy {file} --write"
        console.print(told, soft_wrap=whole, highlight=False)
    console.print(f"policy hash {found.hash}", highlight=False, soft_wrap=whole)
    for line in bad:
        console.print(line, style="bold red", soft_wrap=whole)
    if bad:
        raise typer.Exit(1)


def _unreadable(table: Table, name: str, source: Source) -> str:
    """That most cells of a column are no value of its type, and what would mend it."""
    column = table.column(name)
    assert column is not None
    line = mending_line(column, source)
    return f"{table.name}.{name}: most cells are no {column.type.value}" + (f"; as they look: {line}" if line else "")
