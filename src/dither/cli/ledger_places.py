"""`dither ledger move|backup|restore|share|rotate-key`: what an owner does with a ledger beside asking."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dither.errors import ConflictError, NumberError, stated
from dither.ledger.entries.budget import read_ceiling
from dither.ledger.ledger import Ledger
from dither.ledger.relocation import backup_ledger, move_ledger, restore_ledger
from dither.numeric.number import exact
from dither.privacy.guarantee.definitions import approx, gdp, zcdp
from dither.privacy.guarantee.guarantee import Guarantee
from dither.query.owner.create_ledger import ledger_facts, place

Location = Annotated[str, typer.Argument(help="A file such as clinic.ledger, or postgresql://user@host/database#schema.")]
Key = Annotated[Path | None, typer.Option(help="The key file, if it is not in ~/.dither/keys.")]


def read_budget(epsilon: str | None, delta: str, rho: str | None, unit: str) -> Guarantee:
    """A budget from options."""
    if (epsilon is None) == (rho is None):
        came = stated(**{"--epsilon": epsilon, "--rho": rho})
        raise NumberError("--epsilon, --rho", came, "exactly one of them is needed", "--epsilon 3 --delta 1e-6")
    return approx(epsilon, delta, unit=unit) if epsilon is not None else zcdp(rho or "0", delta=delta, unit=unit)


def move(
    location: Location,
    to: Annotated[str, typer.Argument(help="The new place, on this machine.")],
    key: Key = None,
) -> None:
    """Bring a ledger to another place; whoever has it open is refused from then on, and the old file with it."""
    move_ledger(location, to, key=key)
    typer.echo(f"the ledger is now {to}; write that into the policy. {location} is refused from now on and can be deleted.")


def backup(
    location: Location,
    to: Annotated[str, typer.Argument(help="A file that is not there yet.")],
    key: Key = None,
) -> None:
    """Copy a ledger, also while others use it. The copy is refused until it is restored."""
    file = backup_ledger(location, to, key=key)
    typer.echo(f"wrote {to}\nits key is not in it: keep a copy of {file} in another place")


def restore(
    location: Location,
    lost: Annotated[str, typer.Option(help="The most epsilon that was spent after the backup was made; 0 if nobody asked.")],
    backup: Annotated[str | None, typer.Option("--from", help="The backup; left out if pg_restore put it there.")] = None,
    lost_delta: Annotated[str, typer.Option(help="And the most delta.")] = "0",
    analyst: Annotated[str, typer.Option(help="Where there are shares: whose loss it was.")] = "",
    witness: Annotated[str | None, typer.Option(help="A new second place, if the old one is gone.")] = None,
    old_key: Annotated[
        bool, typer.Option("--old-key", help="Your word for a backup from before the key was rotated: nobody forged it.")
    ] = False,
    key: Key = None,
) -> None:
    """Put a backup to use. It is your word that the ledger itself is gone: two copies would be spent twice."""
    stated = (exact(lost, name="--lost", nonnegative=True), exact(lost_delta, name="--lost-delta", nonnegative=True))
    none = stated[0] == 0 and stated[1] == 0
    loss = None if none else stated
    restore_ledger(location, backup=backup, lost=loss, analyst=analyst, witness=witness, key=key, old_key=old_key)
    with Ledger(location, key=key) as restored:
        typer.echo(f"restored: {restored.remaining()}")


def share(
    location: Location,
    analyst: Annotated[str, typer.Argument(help="Who may spend so much. From then on all who ask need a share.")],
    epsilon: Annotated[str | None, typer.Option(help="The share, exactly: 1, 1/3, or ln(3).")] = None,
    delta: Annotated[str, typer.Option(help="With --epsilon or --rho: a small probability such as 1e-7.")] = "0",
    rho: Annotated[str | None, typer.Option(help="Instead of --epsilon: a share in zCDP.")] = None,
    key: Key = None,
) -> None:
    """Limit what one analyst may spend; what she spent before counts."""
    with Ledger(location, key=key) as found:
        limit = read_budget(epsilon, delta, rho, found.budget.unit.value)
        found.share(analyst, limit)
        typer.echo(f"{analyst}: {found.remaining(analyst)}; from now on all who ask need a share")
        usual = gdp(mu="0.1", unit=found.budget.unit)
        if found.budget.price(usual) is not None and read_ceiling(limit).price(usual) is None:
            typer.echo(
                "caution: no Gaussian noise is paid from a share without --delta: ask with --noise geometric", err=True
            )


def rotate_key(
    location: Annotated[str | None, typer.Argument(help="A file, or postgresql://...; left out with --policy.")] = None,
    policy: Annotated[Path | None, typer.Option(help="The policy that names it.")] = None,
    forget: Annotated[
        bool, typer.Option("--forget", help="Throw the old keys away; no backup from before can be restored then.")
    ] = False,
    key: Key = None,
) -> None:
    """Go on with a new signing key; the old one signs nothing that counts any more. Whoever has it open goes on."""
    if (location is None) == (policy is None):
        why = "exactly one of them says which ledger is meant"
        raise ConflictError("LOCATION, --policy", location, why, "dither ledger rotate-key clinic.ledger")
    facts = None if policy is None else ledger_facts(policy)
    found = location if facts is None or policy is None else place(facts.location, policy)
    with Ledger(found or "", key=key, identity=None if facts is None else facts.identity) as ledger:
        name = ledger.rotate_key(forget=forget)
        typer.echo(f"from entry {ledger.head.entries} on, key {name[:16]} signs")
        typer.echo(f"keep a copy of {ledger.handle.file.path} in another place")
        if not forget:
            typer.echo("the old keys are still in it, for backups from before; --forget throws them away")
