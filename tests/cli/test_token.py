"""`dither token`, as people type it: shares in ledgers, one secret on standard output, refusals that teach."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dither import Ledger, create_ledger
from dither.cli.flags import refusal
from dither.cli.main import app
from dither.server.core.tokens import TokenStore

POLICY = """version = 1
domain = "{name}"
ledger = {{ location = "{name}.ledger", budget = {budget}{more} }}
[tables.visits]
source = "nowhere.parquet"
person = "each row"
columns = {{ age = {{ type = "integer", bounds = [0, 100] }} }}
"""
GATEWAY = """version = 1
database = "gateway.db"
[datasets.clinic]
policy = "clinic.toml"
[datasets.wages]
policy = "wages.toml"
"""
PURE, BOTH = '{ epsilon = "3" }', '{ epsilon = "3", delta = "1e-6" }'
SECRET = re.compile(r"dth_[a-z2-7]{12}_[a-z2-7]{52}\n")


def write_policy(folder: Path, name: str, budget: str, more: str = "") -> None:
    (folder / f"{name}.toml").write_text(POLICY.format(name=name, budget=budget, more=more))
    create_ledger(folder / f"{name}.toml", write=True)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("DITHER_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    write_policy(tmp_path, "clinic", PURE)
    write_policy(tmp_path, "wages", BOTH)
    (tmp_path / "gateway.toml").write_text(GATEWAY)
    return tmp_path


def run(*typed: str):
    return CliRunner().invoke(app, ["token", *typed])


def made(*typed: str) -> tuple[str, str]:
    """The secret, which is all of standard output, and what is said beside it."""
    result = run("create", *typed)
    assert result.exit_code == 0, result.exception
    assert SECRET.fullmatch(result.stdout)
    assert result.stdout.strip()[17:] not in result.stderr
    return result.stdout.strip(), result.stderr


def refused(words: str, *typed: str) -> None:
    before = [token.id for token in tokens()]
    entries = [ledger_of(name).head.entries for name in ("clinic", "wages")]
    result = run("create", *typed)
    assert result.exit_code != 0
    assert words in refusal(result.exception), refusal(result.exception)
    assert [token.id for token in tokens()] == before
    assert [ledger_of(name).head.entries for name in ("clinic", "wages")] == entries  # nothing was written
    assert result.stdout == ""


def ledger_of(name: str) -> Ledger:
    with Ledger(f"{name}.ledger") as found:
        return found


def tokens():
    store = TokenStore("gateway.db")
    found = store.list()
    store.close()
    return found


def found(secret: str):
    store = TokenStore("gateway.db")
    token = store.find(secret)
    store.close()
    return token


@pytest.mark.usefixtures("folder")
def test_a_share_comes_with_a_token():
    secret, said = made("ana", "--dataset", "clinic", "--epsilon", "0.5", "--daily", "0.1", "--days", "7")
    token = found(secret)
    assert (token.name, token.role, token.datasets) == ("ana", "analyst", ("clinic",))
    assert str(ledger_of("clinic").remaining("ana").ceiling) == "ε = 0.5 (add/remove one person)"
    assert not ledger_of("wages").shared_out
    assert token.expires - token.created == pytest.approx(timedelta(days=7), abs=timedelta(minutes=2))
    assert "clinic: a share of ε = 0.5 (add/remove one person), ε = 0.1 (add/remove one person) of it in a day" in said
    assert "from now on all who ask about clinic need a share" in said
    assert "it is not shown again" in said


@pytest.mark.usefixtures("folder")
def test_a_second_token_of_a_name_spends_the_same_share():
    made("ana", "--dataset", "clinic", "--epsilon", "0.5")
    before = ledger_of("clinic").head
    for more in ((), ("--epsilon", "0.5"), ("--daily", "0.2")):
        _, said = made("ana", "--dataset", "clinic", *more)
        assert "clinic: a share of ε = 0.5" in said
        assert "caution" not in said
    assert ledger_of("clinic").head == before  # it is there
    assert [token.daily is None for token in tokens()] == [True, True, True, False]
    _, said = made("ana", "--dataset", "clinic")
    assert "caution: another token of ana has a portion of a day, and this one has none: --daily" in said
    refused("all tokens of that name spend it", "ana", "--dataset", "clinic", "--epsilon", "0.6")
    refused("the whole share is ε = 0.5", "ana", "--dataset", "clinic", "--daily", "0.6")


@pytest.mark.usefixtures("folder")
def test_without_a_share_all_of_the_budget_is_open_and_said_to_be():
    secret, said = made("ana", "--days", "0")
    assert found(secret).expires is None
    assert found(secret).datasets == ("clinic", "wages")  # those that there are now
    assert "clinic: all of the budget is open to it" in said
    assert "it does not end" in said
    _, said = made("bob", "--dataset", "clinic", "--epsilon", "1")
    assert "caution: ana may have a token and no share of it" in said


@pytest.mark.usefixtures("folder")
def test_where_a_ledger_is_shared_out_an_analyst_needs_a_share():
    made("bob", "--dataset", "clinic", "--epsilon", "1")
    refused("clinic is shared out, and ana has no share of it", "ana", "--dataset", "clinic")
    refused("NAME = 'ana'", "ana")
    refused("--epsilon 0.5, which gives a share", "ana", "--dataset", "*")
    _, said = made("ana", "--dataset", "wages")
    assert "wages: all of the budget is open to it" in said
    _, said = made("boss", "--role", "owner")
    assert "clinic: it has no share, and asks nothing until it has one" in said
    _, said = made("eve", "--role", "auditor")
    assert "clinic: it reads, and asks nothing" in said
    assert [token.datasets for token in tokens() if token.role != "analyst"] == [("*",), ("*",)]


@pytest.mark.usefixtures("folder")
def test_the_delta_of_a_share_is_that_of_the_budget_unless_it_is_said():
    made("ana", "--dataset", "wages", "--epsilon", "0.5")
    assert str(ledger_of("wages").remaining("ana").ceiling) == "(ε = 0.5, δ = 1e-06) (add/remove one person)"
    made("bob", "--dataset", "wages", "--epsilon", "0.5", "--delta", "1e-7", "--daily", "0.1")
    assert str(ledger_of("wages").remaining("bob").ceiling) == "(ε = 0.5, δ = 1e-07) (add/remove one person)"
    made("cem", "--dataset", "wages", "--rho", "0.01", "--delta", "0", "--daily", "0.002")
    assert str(ledger_of("wages").remaining("cem").ceiling) == "ρ = 0.01 zCDP (add/remove one person)"
    _, said = made("dan", "--dataset", "wages", "--epsilon", "0.5", "--delta", "0")
    assert "caution: no Gaussian noise is paid from a share without a delta" in said


@pytest.mark.usefixtures("folder")
def test_one_share_in_each_ledger_or_none_at_all():
    made("ana", "--epsilon", "0.5")
    assert ledger_of("clinic").shared_out
    assert ledger_of("wages").shared_out
    made("bob", "--epsilon", "0.5", "--dataset", "clinic")
    refused("wages is shared out, and bob has no share of it", "bob", "--dataset", "clinic", "--dataset", "wages")
    # a portion that one ledger counts in epsilon alone and the other with a delta is two portions
    refused("a token for each of them", "eve", "--epsilon", "0.5", "--daily", "0.1")


def test_two_datasets_with_one_ledger_have_one_share(folder):
    text = (folder / "clinic.toml").read_text()
    (folder / "again.toml").write_text(text)
    (folder / "gateway.toml").write_text(GATEWAY + '[datasets.again]\npolicy = "again.toml"\n')
    before = ledger_of("clinic").head.entries
    made("ana", "--dataset", "clinic", "--dataset", "again", "--epsilon", "0.5", "--daily", "0.5")
    assert ledger_of("clinic").head.entries == before + 1


def test_two_gateways_know_one_analyst(folder):
    (folder / "other.toml").write_text(GATEWAY.replace("gateway.db", "other.db"))
    made("ana", "--dataset", "clinic", "--epsilon", "0.5")
    before = ledger_of("clinic").head
    secret, said = made("ana", "--dataset", "clinic", "--config", "other.toml")
    assert "clinic: a share of ε = 0.5" in said
    assert ledger_of("clinic").head == before
    assert found(secret) is None  # the tokens are each gateway's own, the money is not
    refused("all tokens of that name", "ana", "--dataset", "clinic", "--config", "other.toml", "--epsilon", "0.6")


def test_a_share_that_the_policy_states_is_changed_there(folder):
    text = (folder / "clinic.toml").read_text()
    (folder / "clinic.toml").write_text(text.replace(PURE, f'{PURE}, shares = {{ ana = {{ epsilon = "1" }} }}'))
    _, said = made("ana", "--dataset", "clinic")
    assert "clinic: a share of ε = 1 " in said
    refused("the policy is where another one is stated", "ana", "--dataset", "clinic", "--epsilon", "0.5")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("words", "typed"),
    [
        ("clinic, wages, or * for all", ["ana", "--dataset", "clinics"]),
        ("--role = 'king'", ["ana", "--role", "king"]),
        ("--epsilon, --rho = ", ["ana", "--epsilon", "1", "--rho", "1"]),
        ("there is no share that it belongs to", ["ana", "--delta", "1e-6"]),
        ("--epsilon = 'x'", ["ana", "--epsilon", "x"]),
        ("--epsilon", ["ana", "--epsilon", "nan"]),
        ("--epsilon", ["ana", "--epsilon", "-1"]),
        ("--epsilon", ["ana", "--epsilon", "0", "--dataset", "clinic"]),
        ("--rho", ["ana", "--rho", "inf"]),
        ("--delta", ["ana", "--epsilon", "1", "--delta", "2"]),
        ("--daily = 'x'", ["ana", "--epsilon", "1", "--daily", "x"]),
        ("--daily", ["ana", "--epsilon", "1", "--daily", "0"]),
        ("--daily", ["ana", "--rho", "0.1", "--daily", "ln(3)", "--dataset", "wages"]),
        ("--daily", ["ana", "--epsilon", "1", "--daily", "2"]),
        ("a portion of a day is part of a share", ["ana", "--daily", "0.1"]),
        ("an auditor asks nothing", ["ana", "--role", "auditor", "--epsilon", "1"]),
        ("an auditor asks nothing", ["ana", "--role", "auditor", "--daily", "1"]),
        ("--days 90", ["ana", "--days", "-1"]),
        ("--days 90", ["ana", "--days", "1000000"]),
        ("NAME", [""]),
        ("NAME", ["a\nb"]),
        ("gateway = ", ["ana", "--config", "nowhere.toml"]),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_written(words, typed):
    refused(words, *typed)


def test_a_policy_without_a_ledger_says_how_to_make_one(folder):
    (folder / "new.toml").write_text(POLICY.format(name="new", budget=PURE, more=""))
    (folder / "gateway.toml").write_text(GATEWAY + '[datasets.new]\npolicy = "new.toml"\n')
    refused("new.toml --write", "ana")


@pytest.mark.usefixtures("folder")
def test_list_and_revoke():
    assert run("list").stdout == "no token yet: dither token create NAME\n"
    secret, _ = made("Ana Čović", "--dataset", "clinic", "--epsilon", "0.5", "--daily", "0.1")
    other, _ = made("eve", "--role", "auditor", "--days", "0")
    first = tokens()[0]
    listed = run("list").stdout
    assert listed.splitlines()[0].split()[:5] == ["id", "name", "role", "datasets", "state"]
    assert f"{first.id}  Ana Čović  analyst  clinic    in force" in listed
    assert "ε = 0.1 (add/remove one person)" in listed
    assert secret[17:] not in listed
    assert other[17:] not in listed
    facts = [json.loads(line) for line in run("list", "--json").stdout.splitlines()]
    assert [fact["ends"] for fact in facts] == [f"{first.expires:%Y-%m-%d}", "never"]
    assert facts[1]["datasets"] == "all"
    assert run("revoke", first.id).stdout == f"{first.id} of Ana Čović is refused from now on\n"
    assert found(secret) is None
    assert found(other) is not None
    assert [json.loads(line)["state"] for line in run("list", "--json").stdout.splitlines()] == ["revoked", "in force"]
    result = run("revoke", "aaaaaaaaaaaa")
    assert "an id of `dither token list`" in refusal(result.exception)
    assert str(ledger_of("clinic").remaining("Ana Čović").ceiling).startswith("ε = 0.5")  # the share stays
