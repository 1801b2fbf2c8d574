"""A clinic in files, with one hostile person, without her, and with somebody in her place; and a gateway over all three."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet

from dither.query.owner.create_ledger import create_ledger
from dither.server.core.config import GatewayConfig, GatewayDataset, Limits
from dither.server.core.gateway import Gateway

CANARY, NUMBER = "CANARY-7f3a", 987654321.125
ALICE = 4242  # the hostile person
KINDS = ("present", "removed", "replaced")
POLICY = """\
version = 1
domain = "{name}"
unit = "add/remove one person"
data_version = "1"

[ledger]
location = "{location}"
budget = {budget}

[limits]
per_question = {{ epsilon = "2" }}

[tables.visits]
source = "visits.csv"
person = "person"
max_rows = 4

[tables.visits.columns]
person = {{ type = "integer" }}
ward = {{ type = "text", keys = ["A", "B", "C"] }}
day = {{ type = "date" }}
age = {{ type = "integer", bounds = [0, 100] }}
cost = {{ type = "decimal", bounds = [0, 400], step = "0.01" }}
note = {{ type = "text" }}

[tables.tests]
source = "tests.parquet"
person = "person"
max_rows = 4

[tables.tests.columns]
person = {{ type = "integer" }}
ward = {{ type = "text", keys = ["A", "B", "C"] }}
level = {{ type = "float", bounds = [-8, 8], step = "1/16" }}
count = {{ type = "integer", bounds = [0, 1000] }}
done = {{ type = "boolean" }}

[tables.wards]
source = "wards.csv"
public = true

[tables.wards.columns]
ward = {{ type = "text" }}
beds = {{ type = "integer", bounds = [0, 50] }}
"""
# The rows of one person: cells that are none, too large, too long, endless, no number; more rows than count.
CELLS: list[tuple[str, ...]] = [
    ("A", "2025-02-30", "1e999", "nan", CANARY), ("B", "infinity", "-99999999999999999999", "inf", 3 * CANARY),
    ("C", "", "", "", ""), (CANARY, CANARY, CANARY, CANARY, CANARY), ("A", "9999-12-31", "17", str(NUMBER), "x" * 2_100_000),
    ("A", "2025-01-01", "0x11", "-inf", "\ufeff'; DROP TABLE visits; --"),
    ("c", "01.02.2025", "50", "1e308", "=cmd|' /C'!A0"),
    *(("B", "2025-03-03", "50", "399.999", "again") for _ in range(40)),
]  # fmt: skip
LEVELS: list[tuple[Any, ...]] = [
    ("A", float("nan"), 2**63 - 1, True), ("B", float("inf"), -(2**63), None), (None, float("-inf"), None, False),
    (CANARY, NUMBER, 987654321, True), ("C", 1e308, 0, None), ("C", None, None, None), ("A", -0.0, 1, True),
    *(("B", 8.0, 1000, True) for _ in range(40)),
]  # fmt: skip


def hostile_clinic(
    folder: Path, name: str, kind: str = "present", *, budget: str = '{ epsilon = "16" }', location: str = "clinic.ledger",
    **more: Any,
) -> GatewayDataset:  # fmt: skip
    """Write rows, policy and ledger into a folder; the dataset of that name."""
    folder.mkdir(parents=True)
    others = [
        (str(9 + place % 20), "AB"[place % 7 % 2], "2025-01-15", str(20 + place % 60), "12.50", "") for place in range(60)
    ]
    nobody = [("", "A", "2025-01-01", "44", "10", "nobody")] if kind == "present" else []
    hers = [(str(ALICE), *cells) for cells in CELLS] if kind == "present" else []
    hers += [("4243", "A", "2025-05-05", "30", "1", "")] if kind == "replaced" else []
    rows = [*others[:30], *hers, *nobody, *others[30:]]  # in the middle: she is neither first nor last
    quoted = [",".join(_quoted(cell) for cell in row) for row in [("person", "ward", "day", "age", "cost", "note"), *rows]]
    (folder / "visits.csv").write_text("\n".join(quoted) + "\n", encoding="utf-8")
    theirs: list[tuple[Any, ...]] = [(9 + place % 20, "AB"[place % 2], place / 16, place, True) for place in range(60)]
    mine = [(ALICE, *cells) for cells in LEVELS] if kind == "present" else []
    mine += [(None, "A", 0.5, 7, None)] if kind == "present" else [(4243, "C", 1.0, 3, False)] if kind == "replaced" else []
    columns = zip(*[*theirs[:30], *mine, *theirs[30:]], strict=True)
    types = (pyarrow.int64(), pyarrow.string(), pyarrow.float64(), pyarrow.int64(), pyarrow.bool_())
    named = zip(("person", "ward", "level", "count", "done"), columns, types, strict=True)
    table = pyarrow.table({name: pyarrow.array(cells, kind) for name, cells, kind in named})
    pyarrow.parquet.write_table(table, folder / "tests.parquet")
    (folder / "wards.csv").write_text("ward,beds\nA,10\nB,20\nC,5\n")
    (folder / "policy.toml").write_text(POLICY.format(name=name, budget=budget, location=location))
    create_ledger(folder / "policy.toml", write=True)
    return GatewayDataset(name, folder / "policy.toml", **more)


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if any(sign in cell for sign in ',"\n\r') else cell


def program(**facts: Any) -> list[str]:
    """The harness program, see `tests/server/replayed_process.py`."""
    return [sys.executable, "-m", "tests.server.replayed_process", json.dumps(facts)]


def gateway(
    folder: Path, datasets: Sequence[GatewayDataset], *, workers: int = 1, limits: Limits | None = None, **facts: Any
):
    """A gateway over these datasets; `facts` are those of the harness program."""
    (folder / "gateway").mkdir(exist_ok=True)
    limits = limits or Limits(under_way=1000, queue=1000, queries_per_second=1e5, quotes_per_second=1e5)
    config = GatewayConfig(tuple(datasets), str(folder / "gateway" / "gateway.db"), workers=workers, limits=limits)
    # Tests have homes of their own; a process that is started again later has this one's.
    return Gateway(config, program=program(home=os.environ["DITHER_HOME"], **facts))
