"""Sources of a gateway beside files: a table in PostgreSQL, with ledger and tokens in PostgreSQL too."""

from __future__ import annotations

import pyarrow
import pytest

import dither
from dither.server.core.config import GatewayConfig, GatewayDataset
from dither.server.core.questions import Asked
from tests.query.engines.postgres.tables import load
from tests.server.gateways import POLICY, ROWS, caller, finished, run, running


@pytest.mark.full("a PostgreSQL server")
def test_a_gateway_with_everything_in_postgres(server, tmp_path):
    psycopg = pytest.importorskip("psycopg")
    address = server.replace("postgres:@", "postgres@")
    with psycopg.connect(address, autocommit=True) as link:
        load(link, "gateway_visits", pyarrow.table(ROWS))
    text = POLICY.format(name="clinic", budget='epsilon = "100"').replace(
        "clinic.parquet", f"{address}&table=gateway_visits"
    )
    policy = tmp_path / "policy.toml"
    policy.write_text(text.replace("clinic.ledger", f"{server}#gateway_ledger"), "utf-8")
    dither.create_ledger(policy, write=True)
    made = GatewayConfig((GatewayDataset("clinic", policy),), f"{server}#gateway_tokens", workers=1)
    with running(made) as gateway:
        who = caller(gateway)
        asked = Asked("clinic", "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", {"epsilon": "50"})
        quote = run(gateway.quote(who, asked))
        answer = dither.Answer.from_json(run(finished(gateway, who, quote["id"])).answer)
        assert answer["ward"] == ["A", "B"]
        assert answer["n"] == [3, 2]  # noise of epsilon 50 is 0 but for one in e^16
        assert run(finished(gateway, who, asked)).replay
        assert run(gateway.verify(caller(gateway, "eve", "auditor"), "clinic"))["ok"]
        assert gateway.tokens.location.endswith("gateway_tokens") or "gateway_tokens" in gateway.config.database
