"""`dither.connect` and the protocol for models against a gateway that listens: real processes, ledgers and noise."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

import dither
from dither.client.quote import RemoteBatch
from dither.errors import BudgetError, ConflictError, DataError, GatewayError, NumberError, QuestionError
from dither.query.answers.free_answer import FreeAnswer
from dither.server.core.gateway import Gateway
from dither.server.mcp.remote_door import RemoteDoor
from dither.server.mcp.tools import call
from tests.server.gateways import config, running

app = pytest.importorskip("dither.server.app")
listening = pytest.importorskip("tests.server.http.listening")

COLUMNS = ["ward", "n", "n_low", "n_high"]
TWO = ["SELECT COUNT(*) AS n FROM visits", "SELECT AVG(age) AS a FROM visits"]
SQL = "SELECT ward, COUNT(*) AS n FROM visits WHERE age >= {} GROUP BY ward"


@dataclass
class Real:
    url: str
    gateway: Gateway
    folder: Path

    def token(self, name: str, share: str = "1", datasets: tuple[str, ...] = ("clinic",)) -> str:
        with dither.open(self.folder / "clinic.toml").ledger as ledger:
            ledger.share(name, dither.pure(share))
        return self.gateway.tokens.create(name=name, role="analyst", datasets=datasets)[1]

    def connect(self, name: str, share: str = "1", **how: Any) -> Any:
        return dither.connect(self.url, self.token(name, share), **how)

    def charges(self, name: str) -> int:
        with dither.open(self.folder / "clinic.toml").ledger as ledger:
            return sum(entry.kind == "reserved" and entry.body["analyst"] == name for entry in ledger.history())


@pytest.fixture(scope="module")
def real(tmp_path_factory) -> Iterator[Real]:
    folder = tmp_path_factory.mktemp("real")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DITHER_HOME", str(folder / "home"))
        made = config(folder, "clinic", "shop")
        with running(made) as gateway, listening.listening(app.create_app(gateway), made) as port:
            yield Real(f"http://127.0.0.1:{port}", gateway, folder)


@pytest.fixture(autouse=True)
def same_home(home, real, monkeypatch) -> None:
    """Where the keys of its ledgers are."""
    monkeypatch.setenv("DITHER_HOME", str(real.folder / "home"))


def test_the_same_as_in_one_process(real):
    gateway = real.connect("ana")
    assert (gateway.name, gateway.role, gateway.datasets) == ("ana", "analyst", ("clinic",))
    quote = gateway.quote(SQL.format(1), epsilon="0.1")
    data = dither.open(real.folder / "clinic.toml")
    local = data.quote(SQL.format(1), epsilon="0.1")
    assert (quote.price, quote.errors, quote.guarantee) == (local.price, local.errors, local.guarantee)
    assert (quote.confidence, quote.describe()) == (local.confidence, local.describe())
    data.ledger.close()
    assert quote.affordable == 10
    answer = quote.release()
    assert type(answer) is dither.Answer
    assert (answer.guarantee, list(answer.columns), answer["ward"]) == (
        quote.guarantee,
        ["ward", "n", "n_low", "n_high"],
        ["A", "B"],
    )
    assert quote.release().to_json() == answer.to_json()
    again = gateway.quote(SQL.format(1), epsilon="0.1").release()
    assert again.is_replay
    assert again.columns == answer.columns
    assert real.charges("ana") == 1
    assert gateway.dataset().remaining().share.startswith("90%")
    assert "ward: text, one of 2" in gateway.explain()
    assert [one.id for one in gateway["clinic"].answers("ward")] == [answer.receipt.name]
    assert gateway["clinic"].answer(answer.receipt.name).columns == answer.columns


def test_free_ones_batches_and_terms(real):
    clinic = real.connect("bea")["clinic"]
    free = clinic.quote("SELECT DISTINCT ward FROM visits").release()
    assert (type(free), free["ward"]) == (FreeAnswer, ["A", "B"])
    batch = clinic.quote(TWO, rho=None, epsilon="1/5", size=5)
    assert type(batch) is RemoteBatch
    answers = batch.release()
    assert (len(answers), [one.aggregates for one in answers]) == (2, [("n",), ("a",)])
    quote = clinic.quote("SELECT COUNT(*) AS n FROM visits", error={"n": 60})
    assert quote.errors["n"] <= 60
    assert clinic.quote(TWO[0], guarantee=dither.pure("0.25")).epsilon() == 0.25
    sample = clinic.sample(rows=7)
    assert (sample.num_rows, sample.column_names) == (7, ["patient", "ward", "age"])


def test_refusals_are_those_of_one_process(real):
    clinic, data = real.connect("cid", "0.3")["clinic"], dither.open(real.folder / "clinic.toml")
    for sql, terms, kind in (
        ("SELECT age FROM visits", {"epsilon": 1}, QuestionError),
        ("SELECT COUNT(*) AS n FROM visits", {}, NumberError),
        ("SELECT COUNT(*) AS n FROM visits", {"epsilon": "-1"}, NumberError),
        ("SELECT COUNT(*) AS n FROM visits", {"epsilon": "1", "rho": "1"}, NumberError),
    ):
        with pytest.raises(kind) as local:
            data.quote(sql, **terms)
        with pytest.raises(kind) as remote:
            clinic.quote(sql, **terms)
        assert str(remote.value) == str(local.value)
    data.ledger.close()
    with pytest.raises(BudgetError):
        clinic.quote(SQL.format(2), epsilon="0.5").release()
    assert real.charges("cid") == 0
    key = {"idempotency_key": "one"}
    clinic.quote(SQL.format(3), epsilon="0.1").release(**key)
    with pytest.raises(ConflictError):
        clinic.quote(SQL.format(4), epsilon="0.1").release(**key)
    with pytest.raises(DataError, match="not yours"):
        real.connect("cid", "0.3")["shop"]
    with pytest.raises(GatewayError, match="does not know it"):
        dither.connect(real.url, "dth_abc_" + "A" * 52)


def test_a_token_that_is_revoked_ends_at_once(real):
    gateway = real.connect("dan")
    quote = gateway.quote(SQL.format(5), epsilon="0.1")
    (token,) = [one for one in real.gateway.tokens.list() if one.name == "dan"]
    real.gateway.tokens.revoke(token.id)
    with pytest.raises(GatewayError):
        quote.release()
    assert real.charges("dan") == 0


def test_a_quote_that_the_gateway_forgot_is_quoted_again(real):
    gateway = real.connect("eli")
    quote = gateway.quote(SQL.format(6), epsilon="0.1")
    real.gateway.quotes._quotes.clear()
    assert quote.release().to_json() == quote.release().to_json()
    assert real.charges("eli") == 1


def test_a_model_over_stdio_and_over_http_is_one_analyst(real):
    """The door of `dither mcp`, and /mcp with the same token: one share for both."""
    secret = real.token("bot", "0.3")
    door = RemoteDoor(dither.connect(real.url, secret))

    def remote(name: str, **given: Any) -> Any:
        return asyncio.run(call(door, name, given))

    def direct(name: str, token: str = secret, **given: Any) -> Any:
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": given}}
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
        return httpx.post(f"{real.url}/mcp", json=body, headers=headers, timeout=60)

    def http(name: str, **given: Any) -> Any:
        return direct(name, **given).json()["result"]["structuredContent"]

    told = remote("quote", sql=SQL.format(7), epsilon="0.1")
    assert (told["left"], told["errors"]) == (3, remote("quote", sql=SQL.format(8), epsilon=0.1)["errors"])
    first = remote("ask", quote=told["quote"])
    assert (first["columns"], [row[0] for row in first["rows"]]) == (COLUMNS, ["A", "B"])
    assert http("ask", quote=told["quote"])["rows"] == first["rows"]
    for at in (9, 10):
        quote = http("quote", sql=SQL.format(at), epsilon="0.1")
        answer = http("ask", quote=quote["quote"])
        assert answer["charged"].endswith("once, under this receipt"), answer
    told = remote("quote", sql=SQL.format(11), epsilon="0.1")
    assert told["left"] == 0
    for refused in (
        remote("ask", quote=told["quote"]),
        http("ask", quote=told["quote"]),
    ):
        assert refused["refused"]["kind"] == "budget"
        assert refused["refused"]["instead"]
    assert real.charges("bot") == 3
    assert remote("list_datasets")["datasets"][0]["tables"][0]["name"] == "visits"
    assert remote("budget")["budgets"][0]["share"].startswith("0%")
    wrong = direct("budget", token="dth_abc_" + "B" * 52)
    assert (wrong.status_code, wrong.headers["content-type"]) == (401, "application/problem+json")
    assert wrong.content == httpx.get(f"{real.url}/v1/me", headers={"Authorization": "Bearer x"}).content
    assert wrong.json()["type"] == "urn:dither:unauthorized"
