"""A folder of made-up rows: a file a table, a policy that points at them, and a ledger of its own.

The names of the files, the head of the policy, its domain and `made_up = true` in it say what they are; so does every quote
and every answer under it. `made_up` is part of the policy's hash: who takes it out has another policy, which a ledger that
was asked refuses.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex

from dither.arguments import argument_errors
from dither.errors import ConflictError, DataError
from dither.query.owner.create_ledger import create_ledger
from dither.query.owner.wizard.policy_text import path_key, toml
from dither.query.policy.cell_format import COLUMN_FACTS, NUMBER_FACTS
from dither.query.policy.csv_dialect import DIALECT_FACTS
from dither.query.policy.policy import Policy, load_policy
from dither.query.policy.table import Table
from dither.query.policy.toml_text import read_toml, toml_text
from dither.query.sample.csv_writer import csv_bytes
from dither.query.sample.sample_dataset import DELTA, EPSILON
from dither.query.sample.sample_policy import sample_domain
from dither.query.sample.sample_rows import ROWS, sample_rows

if TYPE_CHECKING:
    import pyarrow

HEAD = """\
# MADE-UP ROWS. What the files beside this one hold was made up from a policy; nothing was taken from the data.
# The ledger is one of its own: what is spent here is spent of nothing.
"""
PLAIN_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
PATTERN_SIGNS = "*?[]"


@argument_errors
def write_sample(
    policy: str | Path, out: str | Path, rows: SupportsIndex = ROWS, *, seed: SupportsIndex = 0, csv: bool = False
) -> dict[str, Path]:
    """Write made-up rows of a policy into a new folder, with a policy and a ledger of their own. Gives the files, by table.

    Args:
        policy: a policy file; neither its sources nor its ledger are looked at.
        out: a folder that is not there yet, or is empty.
        rows: of each table, as of `sample_rows`.
        seed: as of `sample_rows`.
        csv: CSV files instead of Parquet, written as the policy says that the real ones are.

    Raises:
        PolicyError: the policy file cannot be read.
        ConflictError: there is something in the folder.
        DataError: the folder cannot be written.
        NumberError, SizeError: as of `sample_rows`.

    Example:
        >>> import pathlib, tempfile, dither.demo
        >>> from dither.query.sample.sample_folder import write_sample
        >>> folder = tempfile.TemporaryDirectory()
        >>> policy = pathlib.Path(folder.name, "policy.toml")
        >>> _ = policy.write_text(dither.demo.POLICY)
        >>> write_sample(policy, folder.name + "/sample")["visits"].name
        'sample_visits.parquet'
        >>> dither.open(folder.name + "/sample/policy.toml").policy.domain
        'sample of clinic'
        >>> folder.cleanup()
    """
    found, folder = load_policy(Path(policy)), Path(out)
    tables = sample_rows(found, rows, seed=seed)
    if any(sign in str(folder.resolve()) for sign in PATTERN_SIGNS) or not str(folder.resolve()).isprintable():
        raise DataError("out", str(out), "an engine would read that name as a pattern", "a plain name, such as sample")
    files = {name: folder / f"{stem}.{'csv' if csv else 'parquet'}" for name, stem in _stems(found.tables).items()}
    stated = read_toml(toml_text(Path(policy)))
    text = policy_text(_sample_facts(stated, found, files, f"made up, {rows} rows, seed {seed}", csv=csv))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise ConflictError("out", str(out), "there is something in it already", "a folder that is not there yet")
        for table in found.tables:
            _write(table, tables[table.name], files[table.name], csv=csv)
        (folder / "policy.toml").write_text(text, encoding="utf-8")
    except OSError as error:
        why = f"it cannot be written: {error.strerror}"
        raise DataError("out", str(out), why, "a folder that this user can write to") from None
    create_ledger(folder / "policy.toml", write=True)
    return files


def policy_text(facts: Mapping[str, Any]) -> str:
    """The facts of a policy as TOML."""
    lines = [f"{path_key(name)} = {toml(fact)}" for name, fact in facts.items() if not isinstance(fact, dict)]
    for name in ("ledger", "limits"):
        if name in facts:
            lines += ["", f"[{name}]", *(f"{path_key(fact)} = {toml(said)}" for fact, said in facts[name].items())]
    for name, table in facts["tables"].items():
        own = {fact: said for fact, said in table.items() if fact != "columns"}
        lines += ["", f"[tables.{path_key(name)}]", *(f"{path_key(fact)} = {toml(said)}" for fact, said in own.items())]
        columns = (f"{path_key(column)} = {toml(said)}" for column, said in table["columns"].items())
        lines += ["", f"[tables.{path_key(name)}.columns]", *columns]
    return "\n".join([*HEAD.splitlines(), *lines, ""])


def _sample_facts(
    stated: dict[str, Any], policy: Policy, files: Mapping[str, Path], version: str, *, csv: bool
) -> dict[str, Any]:
    """What the owner states, with other sources and another ledger, and under another name."""
    budget = {"epsilon": str(EPSILON), "delta": DELTA} if "ledger" not in stated else stated["ledger"]["budget"]
    facts = {name: fact for name, fact in stated.items() if name not in ("domain", "engine", "ledger", "tables")}
    facts |= {"domain": sample_domain(policy.domain), "made_up": True, "data_version": version}
    facts["ledger"] = {"location": "sample.ledger", "budget": budget}
    facts["tables"] = {
        name: {"source": files[name].name, **(_typed(own) if not csv else _without(own, ("source",)))}
        for name, own in stated["tables"].items()
    }
    return facts


def _typed(table: dict[str, Any]) -> dict[str, Any]:
    """A table whose cells are stored as what they are: nothing is said of how they would be written."""
    facts = _without(table, ("source", "null", *DIALECT_FACTS, *NUMBER_FACTS))
    return facts | {"columns": {name: _without(own, COLUMN_FACTS) for name, own in table["columns"].items()}}


def _without(facts: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: fact for name, fact in facts.items() if name not in names}


def _stems(tables: tuple[Table, ...]) -> dict[str, str]:
    """A name for the file of each table, by which it is known what it is; a number where the table's own is no plain one."""
    plain = {table.name.lower() for table in tables if PLAIN_NAME.fullmatch(table.name)}
    numbers = iter(number for number in range(1, 2 * len(tables) + 1) if f"table_{number}" not in plain)
    return {
        table.name: f"sample_{table.name if table.name.lower() in plain else f'table_{next(numbers)}'}" for table in tables
    }


def _write(table: Table, rows: pyarrow.Table, file: Path, *, csv: bool) -> None:
    import pyarrow.parquet

    if csv:
        file.write_bytes(csv_bytes(table, rows))
    else:
        pyarrow.parquet.write_table(rows, file)
