"""`dither ledger ...`: make a ledger with a privacy budget, look at it, verify it."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from dither.cli.ledger_places import Key, Location, backup, move, read_budget, restore, rotate_key, share
from dither.errors import ConflictError, DataError
from dither.errors import show as shown
from dither.ledger.entries.receipt import Receipt
from dither.ledger.history import history_csv, history_json, history_lines, history_table
from dither.ledger.ledger import Ledger
from dither.ledger.report import entries_table, entry_json, overview, summary, verification_json, verify_with_progress
from dither.ledger.storage.keyring import note_domain, places_of
from dither.privacy.guarantee.definitions import pure
from dither.privacy.unit import Unit
from dither.query.owner.create_ledger import create_ledger, ledger_facts, place
from dither.query.owner.policy_diff import policy_diff
from dither.query.policy.policy import Policy, load_policy

ledger = typer.Typer(no_args_is_help=True, help="What was spent, for ever: make a budget, look at it, check it.")

for command in (move, backup, restore, share, rotate_key):
    ledger.command()(command)
AsJson = Annotated[bool, typer.Option("--json", help="Exact numbers, for programs.")]


@ledger.command()
def create(
    location: Annotated[str | None, typer.Argument(help="A file, or postgresql://...; left out with --policy.")] = None,
    policy: Annotated[Path | None, typer.Option(help="The policy that names it; it says all the rest, too.")] = None,
    write: Annotated[bool, typer.Option("--write", help="Put its identity into the policy.")] = False,
    domain: Annotated[
        str | None, typer.Option(help="Whose data it is about: one name for all tables that share a person.")
    ] = None,
    epsilon: Annotated[str | None, typer.Option(help="The ceiling, exactly: 3, 1/3, or ln(3).")] = None,
    delta: Annotated[str, typer.Option(help="With --epsilon or --rho: a small probability such as 1e-6.")] = "0",
    rho: Annotated[str | None, typer.Option(help="Instead of --epsilon: a ceiling in zCDP.")] = None,
    unit: Annotated[str, typer.Option(help="Whom the promise is about.")] = "add/remove one person",
    witness: Annotated[str | None, typer.Option(help="A second place: a file on another disk, or postgresql://...")] = None,
    key: Key = None,
    as_json: AsJson = False,
) -> None:
    """Make a ledger with a budget: once. Whoever asks later finds it by its place and its identity."""
    if policy is not None:
        given = (location, domain, epsilon, rho, witness, key)
        if given != (None,) * 6 or (delta, unit) != ("0", Unit.ADD_REMOVE.value):
            why = "the policy says where the ledger is, and all the rest"
            raise ConflictError("--policy", str(policy), why, f"dither ledger create --policy {policy} --write")
        _create_for(policy, write=write, as_json=as_json)
        return
    if write:
        raise DataError("--write", write, "there is no policy to write into", "--policy policy.toml --write")
    if location is None or domain is None:
        why = "a ledger has a place and a domain"
        instead = "dither ledger create --policy policy.toml --write, or: create clinic.ledger --domain clinic --epsilon 3"
        raise DataError("LOCATION, --domain", (location, domain), why, instead)
    budget, others = read_budget(epsilon, delta, rho, unit), places_of(domain)
    with Ledger.create(location, budget=budget, domain=domain, witness=witness, key=key) as made:
        note_domain(domain, made.identity, location if "://" in location else str(Path(location).absolute()))
        _show(made, as_json=as_json)
    _tell_of_others(domain, others)


def _tell_of_others(domain: str, others: dict[str, str]) -> None:
    for identity, where in others.items():
        told = f"caution: ledger {identity} is for {shown(domain)} too, at {where}"
        typer.echo(f"{told}: if it is about the same people, they have two budgets now", err=True)


@ledger.command()
def show(
    location: Location,
    analyst: Annotated[str | None, typer.Option(help="The share of one analyst instead of the whole.")] = None,
    like: Annotated[str | None, typer.Option(help="How many more questions with this epsilon?")] = None,
    details: Annotated[bool, typer.Option("--details", help="As the budget counts it, in ε, or ρ and δ, too.")] = False,
    key: Key = None,
    as_json: AsJson = False,
) -> None:
    """How much is spent and left."""
    with Ledger(location, key=key) as found:
        _show(found, analyst=analyst, like=like, details=details, as_json=as_json)


@ledger.command()
def history(
    location: Location,
    last: Annotated[int, typer.Option(help="How many entries, from the end.", min=1)] = 20,
    key: Key = None,
    as_json: AsJson = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="For a spreadsheet.")] = False,
    internal: Annotated[bool, typer.Option("--internal", help="As entries are spelled inside.")] = False,
    details: Annotated[bool, typer.Option("--details", help="What was left in ε, or ρ and δ, too.")] = False,
) -> None:
    """Who asked what and when, what it cost, and what was left after it. For the owner's eyes."""
    from rich.console import Console

    if as_json + as_csv > 1 or (internal and as_csv):
        raise DataError("--csv", True, "it has one spelling, in words", "--csv alone, or --json --internal")
    with Ledger(location, key=key) as found:
        entries = found.history(max(1, found.head.entries - last + 1))
        if internal and not as_json:
            Console().print(entries_table(entries))
        elif internal:
            for entry in entries:
                typer.echo(entry_json(entry))
        else:
            lines = history_lines(entries, found.access_log.lines(), found.budget, details=details)[-last:]
            if as_json:
                for line in lines:
                    typer.echo(history_json(line))
            else:
                typer.echo(history_csv(lines) if as_csv else history_table(lines), nl=not as_csv)


@ledger.command()
def verify(
    location: Location,
    receipt: Annotated[list[Path] | None, typer.Option(help="A file with receipts, one JSON text a line.")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Fail also without key or second place.")] = False,
    key: Key = None,
    as_json: AsJson = False,
) -> None:
    """Check everything: chain, signatures, sums, answers, receipts, second place. Exit code 1 if something is wrong."""
    from rich.console import Console

    lines = [line for path in receipt or [] for line in _text(path).splitlines() if line.strip()]
    with Ledger(location, key=key) as found:
        result = verify_with_progress(found, [Receipt.from_json(line) for line in lines], Console(stderr=True))
    typer.echo(verification_json(result) if as_json else str(result))
    if not result.ok or (strict and not (result.signed and result.witnessed)):
        raise typer.Exit(1)


@ledger.command()
def amend(
    location: Location,
    policy: Annotated[Path, typer.Option(help="The policy file that is to be in force from now on.")],
    note: Annotated[str, typer.Option(help="Why: it is recorded for ever.")],
    tightens: Annotated[bool, typer.Option("--tightens", help="Say so if nothing more is allowed than before.")] = False,
    before: Annotated[
        Path | None,
        typer.Option(help="The policy in force until now: what differs is shown, and held against --tightens."),
    ] = None,
    key: Key = None,
) -> None:
    """Put another policy in force: an entry of its own. What was spent stays spent."""
    with Ledger(location, key=key) as found:
        new = load_policy(policy)
        if before is not None:
            _compare(found, load_policy(before), new, before, tightens=tightens)
        found.amend(new.hash, loosens=not tightens, note=note)
        typer.echo(f"in force: policy {new.hash}")


def _compare(found: Ledger, old: Policy, new: Policy, before: Path, *, tightens: bool) -> None:
    """Show what differs from the policy in force; refused where that is another, or the owner's word is not what differs."""
    if old.hash != found.policy_hash:
        why = f"the policy in force has the hash {found.policy_hash[:16]}, and this file {old.hash[:16]}"
        raise ConflictError("--before", str(before), why, "the file that was in force, or leaving it out")
    diff = policy_diff(old, new)
    if not diff.compatible:
        why = "other people are protected by the new policy: what was spent is about those of the old one"
        raise ConflictError("--policy", diff.lines[0], why, "a ledger of its own: dither ledger create")
    if tightens and diff.loosens:
        why = "the new policy allows more than the one in force"
        raise ConflictError("--tightens", diff.lines[0], why, "leaving --tightens out, or a policy that allows no more")
    typer.echo(diff.words)


@ledger.command()
def export(
    location: Location,
    to: Annotated[Path | None, typer.Option(help="A file; without one, standard output.")] = None,
    key: Key = None,
) -> None:
    """Every entry, answers included, as one JSON text a line."""
    if to is not None and to.exists():
        raise DataError("--to", str(to), "there is a file already", "a name that is free")
    with Ledger(location, key=key) as found, nullcontext() if to is None else to.open("w") as file:
        for entry in found.history():
            typer.echo(entry_json(entry), file=file)


def _create_for(policy: Path, *, write: bool, as_json: bool) -> None:
    domain = load_policy(policy).domain
    others = places_of(domain)
    identity = create_ledger(policy, write=write)
    facts = ledger_facts(policy)
    with Ledger(place(facts.location, policy), identity=identity) as made:
        _show(made, as_json=as_json)
    if not as_json:
        line = f'identity = "{identity}"'
        typer.echo(f"written into {policy}: {line}" if write else f"put this line under [ledger] of {policy}:\n{line}")
    _tell_of_others(domain, others)


def _show(
    found: Ledger, *, analyst: str | None = None, like: str | None = None, details: bool = False, as_json: bool
) -> None:
    from rich.console import Console

    question = None if like is None else pure(like, unit=found.budget.unit)
    if as_json:
        typer.echo(json.dumps(summary(found, analyst=analyst, like=question), indent=2))
    else:
        Console().print(overview(found, analyst=analyst, like=question, details=details))


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError("--receipt", str(path), f"it cannot be read: {error}", "a file with receipts") from error
