"""A gateway for tests of the page of a question: a clinic, one that counts rho, one with little left, one that attacks."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pyarrow
import pyarrow.parquet
import pytest

from dither import create_ledger
from dither.server.core.gateway import Gateway
from tests.server.gateways import config, running, write_clinic
from tests.server.page.asking import Asker

SQL = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
TABLE = '<img src=x onerror="alert(1)">'
COLUMN = '"><script>alert(2)</script>'
KEYS = ["</textarea><svg onload=alert(3)>", "'; DROP TABLE x; --", "a\u202eb\u2066c", "=1+1", "{{ 7*7 }}", "tab\tbell\x07"]
HOSTILE = f"""\
version = 1
domain = "hostile"
data_version = "1"
[ledger]
location = "hostile.ledger"
budget = {{ epsilon = "9" }}
[tables.{json.dumps(TABLE)}]
source = "hostile.parquet"
person = "who"
max_rows = 3
[tables.{json.dumps(TABLE)}.columns]
who = {{ type = "integer", nullable = false }}
{json.dumps(COLUMN)} = {{ type = "text", keys = {json.dumps(KEYS)} }}
"""


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    folder = tmp_path_factory.mktemp("ask")
    pyarrow.parquet.write_table(pyarrow.table({"who": [1, 2], COLUMN: KEYS[:2]}), folder / "hostile.parquet")
    (folder / "hostile.toml").write_text(HOSTILE, "utf-8")
    create_ledger(folder / "hostile.toml", write=True)
    write_clinic(folder, "counted", budget='rho = "0.5"')
    write_clinic(folder, "small", budget='epsilon = "0.3"')
    with running(config(folder, "clinic", "hostile", "counted", "small")) as made:
        yield made


@pytest.fixture(scope="module")
def ana(gateway: Gateway) -> Iterator[Asker]:
    made = Asker(gateway)
    yield made
    made.leave()


@pytest.fixture(scope="module")
def ben(gateway: Gateway) -> Iterator[Asker]:
    made = Asker(gateway, "ben", datasets=["clinic"])
    yield made
    made.leave()
