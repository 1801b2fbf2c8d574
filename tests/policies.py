"""Policy files of tests."""

from __future__ import annotations

import re
from pathlib import Path

import dither


def opened(path: Path) -> dither.Dataset:
    """The dataset of a policy file, with a new ledger."""
    path.write_text(re.sub(r'(?m)^identity = "[0-9a-f]+"\n', "", path.read_text()))
    dither.create_ledger(path, write=True)
    return dither.open(path)
