"""A first draft of a policy, from names and types of columns alone. What an owner must decide is marked, not guessed."""

from __future__ import annotations

import json
import os
from pathlib import Path

from dither.errors import DataError
from dither.ledger.storage import keyring
from dither.query.owner.csv_sniffer import is_row
from dither.query.policy.column import Type
from dither.query.policy.csv_dialect import CsvDialect
from dither.query.policy.origin import LISTED
from dither.query.policy.policy import MARK
from dither.query.sources.csv_files import CsvFiles
from dither.query.sources.find_source import find_source
from dither.query.sources.schema import reason
from dither.query.sources.source import DuckDBFile

ORIGIN = 'known_from = "..."'  # as comments spell it, where it is to be written
LIMITS = (
    f'max_rows = "{MARK}: how many rows of one person count in an answer, such as 10"',
    '# hard = ["max_rows"]  # if nobody can have more: then answers say that they are about all rows',
    f"# {ORIGIN}  # where these limits are from: {LISTED}; likewise below",
)


def policy_head(name: str, folder: Path) -> list[str]:
    """What stands before the tables: the domain, the ledger and the limits of a question.

    The folder of keys is a second place, unless it lies in the folder of the policy and of its ledger: then whoever puts
    back the one puts back the other.
    """
    heads = "~/.dither/heads" if not keyring.folder().resolve().is_relative_to(folder.resolve()) else "/another/disk/heads"
    mark = "" if heads.startswith("~") else "# "
    return [
        "# A policy says what is protected. Nothing in it comes from the rows: only names and types were read.",
        f"# Decide every line that says {MARK}, then run: dither policy check THIS-FILE",
        "version = 1",
        f'domain = "{MARK}: one name for all tables that share a person, such as clinic"',
        'unit = "add/remove one person"',
        'data_version = ""  # change it when the data changes: stored answers are about one version',
        "",
        "[ledger]",
        f'location = "{name}.ledger"',
        "# identity: dither ledger create --policy THIS-FILE --write makes the ledger, once, and writes it here",
        f'{mark}witness = "{heads}"  # second place: an old ledger put back is refused; better on another disk or server',
        f'budget = {{ epsilon = "{MARK}: such as 3", delta = "1e-6" }}  # all that may ever be spent',
        "",
        "[limits]",
        f'per_question = {{ epsilon = "{MARK}: such as 1", delta = "1e-6" }}  # the most for one question',
        "",
    ]


def draft(path: Path, folder: Path, table: str | None = None, dialect: CsvDialect | None = None) -> str:
    """TOML for a policy in a folder, which `dither policy check` refuses until every mark is gone."""
    source = find_source(str(path), Path.cwd(), "file", dialect)
    name = table or "".join(sign if sign.isalnum() else "_" for sign in path.stem.replace("*", "")).strip("_") or "rows"
    if isinstance(source, DuckDBFile):
        name = _chosen(source, table)
    stated = []
    if isinstance(source, CsvFiles) and dialect is None and source.other_separator is not None:
        source = CsvFiles(source.paths, CsvDialect(source.other_separator))
        stated = [f"separator = {_quoted(source.dialect.separator)}"]
    if isinstance(source, CsvFiles) and dialect is None and is_row(source.header()):
        why = "its first line looks like a row, and no row is written into a draft"
        raise DataError("file", str(path), why, "a line of names above it, or --read-data, for your eyes")
    lines = [
        *policy_head(name, folder),
        f"[tables.{_quoted(name)}]",
        f"source = {_quoted(os.path.relpath(path.absolute(), folder.absolute()))}",
        *stated,
        f'person = "{MARK}: the column that says whose a row is, or: each row"',
        "# or, instead of person, if a row belongs to whoever owns a row of another table with the same key:",
        '# owner = { through = "orders", on = "order_id" }',
        *LIMITS,
        "",
        f"[tables.{_quoted(name)}.columns]",
    ]
    if source.kind == "csv" and dialect is None:
        lines.insert(
            1, f"# dither policy init {path} --read-data looks at rows too, for your eyes: it proposes types and formats."
        )
    for column, held in source.schema(name).items():
        if held.type is None:
            lines.append(f"# {_quoted(column)}: {' '.join(reason(column, held)[0].split())}")
        else:
            lines.append(f"{_quoted(column)} = {{ {_facts(held.type, source.kind)} }}{column_advice(held.type)}")
    return "\n".join(lines) + "\n"


def _chosen(source: DuckDBFile, table: str | None) -> str:
    names = list(source.tables())
    if table is not None and table not in names:
        raise DataError("--table", table, "the file has no such table", f"one of: {', '.join(names) or 'none'}")
    if table is not None:
        return table
    if len(names) != 1:
        raise DataError("file", source.path, f"it has {len(names)} tables", f"--table, one of: {', '.join(names) or 'none'}")
    return names[0]


def _quoted(said: str) -> str:
    """As TOML spells it: signs beyond 16 bits as they are, which JSON would write as two halves."""
    return json.dumps(said, ensure_ascii=False).replace("\x7f", "\\u007f")


def _facts(kind: Type, source: str) -> str:
    if source == "csv":
        return f'type = "{MARK}: one of {", ".join(kind.value for kind in Type)}"'
    return f'type = "{kind.value}"'


def column_advice(kind: Type) -> str:
    """What a question may need to know of a column beside its type."""
    if kind.is_number:
        return f"  # to add it up: bounds = [0, 2000], {ORIGIN}"
    if kind is Type.TEXT:
        return f'  # to group by it: keys = ["A", "B"], {ORIGIN}'
    if kind in (Type.DATE, Type.TIMESTAMP):
        return f"  # to group by its months, say: bounds = [2025-01-01, 2025-12-31], {ORIGIN}"
    return ""
