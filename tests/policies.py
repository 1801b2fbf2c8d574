"""Policy files of tests."""

from __future__ import annotations

import re
from pathlib import Path

import dither
from dither.errors import ConflictError
from dither.query.owner import create_ledger as creation


def opened(file: str | Path) -> dither.Dataset:
    """The dataset of a policy file, with a new ledger, or with the one that an earlier policy of the test made there."""
    path = Path(file)
    path.write_text(
        re.sub(r'\n?identity = "[0-9a-f]+"|(?<=\{) identity = "[0-9a-f]+",', "", path.read_text("utf-8")), "utf-8"
    )
    try:
        dither.create_ledger(path, write=True)
    except ConflictError:
        with dither.Ledger(creation.place(creation.ledger_facts(path).location, path)) as found:
            path.write_text(creation.with_identity(path, found.identity, ""), "utf-8")
    return dither.open(path)
