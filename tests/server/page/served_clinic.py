"""A gateway for browsers, in a process of its own: the demo's clinic and others that stories use up, break and distrust.

    clinic    the demo's rows, with a budget that no test exhausts; in it a worker dies at a question about ages above 41.5,
              and waits at one about ages above 42.5 until `go_on` is called
    small     a budget of one question
    people    a clinic in which shares may be given: once somebody has one, all need one
    hostile   every name, key and text is an attack on whoever shows it

Noise is replayed from a seed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pyarrow
import pyarrow.parquet

from dither import create_ledger, demo
from dither.server.core.config import read_gateway
from dither.server.core.roles import Role
from dither.server.core.tokens import TokenStore
from tests.server.attacks.served import served
from tests.server.gateways import write_clinic

GATEWAY = """\
version = 1
database = "gateway.db"
[server]
new_data = "incoming"
[limits]
quotes_per_second = 1e5
queries_per_second = 1e5
under_way = 1000
wrong_tokens_per_minute = 10000
"""
KILL, SLOW = "age > 41.5", "age > 42.5"
GO_ON = "go-on"

# -- texts that attack ---------------------------------------------------------------------------------------------------

TABLE = '<img src=x onerror="window.pwned=1">'
COLUMN = '"><script>window.pwned=2</script>'
FORMULA = "=cmd|' /C calc'!A0"
HEBREW = "\u05e9\u05dc\u05d5\u05dd(1)"
COUNT = "<b onmouseover=window.pwned=4>n</b>"
ANALYST = "<svg onload=window.pwned=5>'\"&amp;"
TURN = "\u202e"  # what follows is written from right to left
KEYS = (
    "=1+1", "</textarea></script><svg onload=window.pwned=3>", f"a{TURN}b\u2066c", "tab\tbell\x07", "'; DROP TABLE x; --",
    "{{ 7*7 }}${7*7}", "+1", "@SUM(1)",
)  # fmt: skip


def quoted(name: str) -> str:
    """A name in SQL."""
    return '"' + name.replace('"', '""') + '"'


HOSTILE_SQL = f"SELECT {quoted(COLUMN)}, COUNT(*) AS {quoted(COUNT)} FROM {quoted(TABLE)} GROUP BY {quoted(COLUMN)}"
HOSTILE = f"""\
# <script>window.pwned=6</script> {TURN}
version = 1
domain = {json.dumps("<i onclick=window.pwned=7>domain</i>&amp;")}
data_version = {json.dumps("<u>1</u>")}
[ledger]
location = "hostile.ledger"
budget = {{ epsilon = "50" }}
[tables.{json.dumps(TABLE)}]
source = "hostile.parquet"
person = "who"
max_rows = 3
[tables.{json.dumps(TABLE)}.columns]
who = {{ type = "integer", nullable = false }}
{json.dumps(COLUMN)} = {{ type = "text", keys = {json.dumps(KEYS)} }}
{json.dumps(FORMULA)} = {{ type = "integer", bounds = [0, 100] }}
{json.dumps(HEBREW)} = {{ type = "integer", bounds = [0, 100] }}
"""


def write_hostile(folder: Path) -> Path:
    """A policy whose texts are attacks, with rows and a ledger; its path."""
    folder.mkdir(parents=True, exist_ok=True)
    people = range(80)
    keys = [KEYS[place % len(KEYS)] for place in people]
    rows = {"who": list(people), COLUMN: keys, FORMULA: list(people), HEBREW: list(people)}
    pyarrow.parquet.write_table(pyarrow.table(rows), folder / "hostile.parquet")
    path = folder / "hostile.toml"
    path.write_text(HOSTILE, "utf-8")
    create_ledger(path, write=True)
    return path


def write_demo(folder: Path) -> Path:
    """The clinic of the demo with a large budget; the path of its policy."""
    demo.save(folder)
    text = demo.POLICY.replace('{ epsilon = "3", delta = "1e-6" }', '{ epsilon = "500", delta = "1e-6" }')
    text = text.replace("clinic.ledger", "page.ledger")
    assert text.count('"500"') == text.count("page.ledger") == 1
    path = folder / "policy.toml"
    path.write_text(text, "utf-8")
    create_ledger(path, write=True)
    return path


# -- the gateway ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ServedClinic:
    """Where it is, and what tests do behind its back."""

    where: str
    pid: int
    folder: Path
    tokens: dict[str, str]  # secrets, by role: all datasets

    def token(self, name: str, role: Role = "analyst", *datasets: str, days: float | None = None) -> str:
        """A new token of somebody; its secret."""
        store = TokenStore(read_gateway(self.folder / "gateway.toml").database)
        try:
            expires = None if days is None else datetime.now().astimezone() + timedelta(days=days)
            return store.create(name=name, role=role, datasets=datasets or ("*",), expires=expires)[1]
        finally:
            store.close()

    def sent(self, path: str, body: dict[str, str] | None = None, *, role: str = "owner") -> Any:
        """The reply of the API: to a question, or to a request."""
        headers = {"Authorization": f"Bearer {self.tokens[role]}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        with urlopen(Request(self.where + path, data, headers), timeout=60) as reply:
            return json.loads(reply.read())

    def answered(self, sql: str, *, dataset: str = "clinic", epsilon: str = "0.1", role: str = "analyst") -> str:
        """Ask it; the name of its receipt."""
        told = self.sent("/v1/queries", {"dataset": dataset, "sql": sql, "epsilon": epsilon}, role=role)
        return str(told["receipt"])

    def charges(self, sql: str, dataset: str = "clinic") -> int:
        """How many times a question was paid for."""
        lines = self.sent(f"/v1/ledger?dataset={dataset}&last=1000")["entries"]
        return sum(line["kind"] == "reserved" and sql in json.dumps(line) for line in lines)

    def go_on(self) -> None:
        """Let the slow question be answered."""
        (self.folder / GO_ON).touch()

    def end(self, secret: str) -> None:
        """Let a token end now: for its holder that is the same as its last day."""
        store = TokenStore(read_gateway(self.folder / "gateway.toml").database)
        try:
            store.revoke(secret.split("_")[1])
        finally:
            store.close()


@contextmanager
def served_clinic(folder: Path, **facts: Any) -> Iterator[ServedClinic]:
    """Start it in a folder; `facts` are those of the harness program (`tests/server/replayed_process.py`)."""
    policies = {
        "clinic": write_demo(folder / "clinic"),
        "hostile": write_hostile(folder / "hostile"),
        "people": write_clinic(folder / "people", "people", budget='epsilon = "20"'),
        "small": write_clinic(folder / "small", "small", budget='epsilon = "0.15"'),
    }
    (folder / "incoming").mkdir()
    (folder / "incoming" / "stays.csv").write_text("patient,ward,days\n1,A,3\n2,B,5\n", "utf-8")
    once = folder / "once"
    once.mkdir()
    datasets = [f"[datasets.{name}]\npolicy = {json.dumps(str(path))}\n" for name, path in policies.items()]
    (folder / "gateway.toml").write_text(GATEWAY + "\n".join(datasets), "utf-8")
    events = [[KILL, "read", "kill"], [SLOW, "read", f"wait {folder / GO_ON}"]]
    facts = {"seed": 22, "lease": 1, "home": os.environ["DITHER_HOME"], "events": events, "once": str(once)} | facts
    with (folder / "log").open("w") as log, served(folder / "gateway.toml", log, **facts) as found:
        yield ServedClinic(found.where, found.pid, folder, found.tokens)
