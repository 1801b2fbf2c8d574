"""Versions of PostgreSQL: certified, by the owner's word, and refused."""

from __future__ import annotations

import dataclasses

import psycopg
import pyarrow
import pytest
from typer.testing import CliRunner

import dither
from dither.cli.main import app
from dither.errors import DataError, PolicyError
from dither.query.policy import engine_facts
from dither.query.sources import postgres_server, postgres_table
from tests.policies import opened
from tests.query.engines.postgres.tables import load

QUESTION = "SELECT COUNT(*) AS n FROM visits"
WORD = "by the owner's word: not certified"


@pytest.fixture
def policy(address, link, tmp_path):
    """A policy with what stands in [engine]."""
    load(link, "versions", pyarrow.table({"patient": [1, 2, None]}))

    def written(engine: str):
        path = tmp_path / "policy.toml"
        path.write_text(f"""
version = 1
domain = "clinic"
ledger = {{ location = "l.ledger", budget = {{ epsilon = "1000000" }} }}
[engine]
{engine}
[tables.visits]
source = "{address}&table=versions"
person = "patient"
max_groups = 1
max_rows_per_group = 1
columns = {{ patient = {{ type = "integer" }} }}
""")
        return path

    return written


@pytest.fixture
def uncertified(link, monkeypatch) -> int:
    """The version of the server, which nobody certified."""
    found = link.info.server_version // 10000
    for room in (engine_facts, postgres_server, postgres_table):
        monkeypatch.setattr(room, "CERTIFIED", tuple(one for one in room.CERTIFIED if one != found))
    return found


def test_a_certified_version_is_not_spoken_of(policy, link):
    for engine in ("", f"server_version = {link.info.server_version // 10000}"):
        data = opened(policy(engine))
        assert "Engine" not in data.explain() + data.quote(QUESTION, epsilon=1).explain()


@pytest.mark.parametrize("stated", ["", "server_version = 17"])
def test_other_versions_are_refused(stated, policy, uncertified):
    data = opened(policy(stated))
    with pytest.raises(DataError, match=rf"never run with the conformance suite.*server_version = {uncertified} "):
        data.quote(QUESTION, epsilon=1).release()
    assert data.ledger.remaining().used == 0


def test_a_version_by_the_owners_word(policy, uncertified):
    path = policy(f"server_version = {uncertified}")
    data = opened(path)
    told = f"Engine     PostgreSQL {uncertified} {WORD}"
    quote = data.quote(QUESTION, epsilon=10**4)
    assert told in quote.explain()
    assert told in data.quote([QUESTION, f"{QUESTION} WHERE patient > 1"], epsilon=1).explain()
    assert told in data.explain()
    assert round(quote.release()["n"][0]) == 2
    assert f"caution: PostgreSQL {uncertified} {WORD}" in CliRunner().invoke(app, ["policy", "check", str(path)]).output
    assert data.policy.hash == dataclasses.replace(data.policy, engine=None).hash


@pytest.mark.parametrize("stated", ["14", "9", "0", '"17"', "17.1", "true", "100", "-17"])
def test_versions_that_nobody_can_state(stated, policy):
    with pytest.raises(PolicyError, match=r"engine\.server_version"):
        dither.open(policy(f"server_version = {stated}"))


def test_older_versions_are_refused_whatever_is_stated(address, monkeypatch):
    monkeypatch.setattr(postgres_server, "OLDEST", 99)
    with postgres_table.connection(address) as link, pytest.raises(DataError) as error:
        postgres_server.check_server(link, link.info.server_version // 10000)
    assert "server_version" not in str(error.value)


def test_settings_hold_in_a_transaction(address):
    """As they are read back; one that the server keeps at something else is refused."""
    with postgres_table.connection(address) as link:
        postgres_server.check_server(link)
        for setting in ("transaction_read_only", "transaction_isolation"):
            assert link.execute(f"SELECT current_setting('{setting}')").fetchone()[0] in ("on", "repeatable read")
        link.execute("SET LOCAL TimeZone = 'Asia/Tokyo'")
        with pytest.raises(DataError, match="the server keeps TimeZone"):
            postgres_server.check_server(link)
    plain = psycopg.connect(address, autocommit=True, options=postgres_server.start_options())
    with plain, pytest.raises(DataError, match="not REPEATABLE READ"):
        postgres_server.check_server(plain)
