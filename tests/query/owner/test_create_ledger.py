"""The ledger of a policy is made by an explicit step, once; a copied policy has no second budget."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

import pytest

import dither
from dither.errors import BudgetError, ConflictError, DataError, LedgerError, PolicyError, TamperError
from dither.query.owner.draft import draft

POLICY = """# a comment that stays
version = 1
domain = "people"

[ledger]  # whose budget it is
location = "people.ledger"
budget = { epsilon = "3" }

[tables.people]
source = "people.csv"
person = "each row"
columns = { age = { type = "integer", bounds = [0, 100] } }
"""
COUNT = "SELECT COUNT(*) AS n FROM people"


@pytest.fixture
def policy(tmp_path):
    folder = tmp_path / "clinic"
    folder.mkdir()
    (folder / "people.csv").write_text("age\n31\n44\n62\n")
    (folder / "policy.toml").write_text(POLICY)
    return folder / "policy.toml"


def test_a_policy_without_an_identity_asks_nothing_and_says_what_to_do(policy):
    with pytest.raises(PolicyError, match="names no ledger yet") as told:
        dither.open(policy)
    assert f"dither ledger create --policy {policy} --write" in str(told.value)
    assert not (policy.parent / "people.ledger").exists()


def test_the_identity_is_written_and_nothing_else_is_changed(policy):
    before, mode = policy.read_text(), policy.stat().st_mode
    identity = dither.create_ledger(policy, write=True)
    after = policy.read_text()
    assert after.replace(f'identity = "{identity}"\n', "") == before
    assert policy.stat().st_mode == mode
    assert dither.open(policy).quote(COUNT, epsilon=1).release()["n"]
    with pytest.raises(ConflictError, match="names ledger"):
        dither.create_ledger(policy)
    assert [file.name for file in policy.parent.glob("policy*")] == ["policy.toml"]


@pytest.mark.parametrize(
    "ledger",
    [
        'ledger = { location = "people.ledger", budget = { epsilon = "3" } }',
        '[ ledger ]\r\nlocation = "people.ledger"\r\nbudget = { epsilon = "3" }\r',
        '[ledger]\nlocation = "people.ledger"\n[ledger.budget]\nepsilon = "3"',
    ],
)
def test_other_spellings_of_the_table(policy, ledger):
    head, tables = POLICY[: POLICY.index("[ledger]")], POLICY[POLICY.index("[tables") :]
    policy.write_bytes(f"{head}{ledger}\n{tables}".encode())
    identity = dither.create_ledger(policy, write=True)
    assert tomllib.loads(policy.read_text())["ledger"]["identity"] == identity
    assert "\r" not in ledger or f'\r\nidentity = "{identity}"\r\n'.encode() in policy.read_bytes()
    dither.open(policy).ledger.close()


def test_a_file_that_cannot_take_it_is_told_before_a_ledger_is_made(policy):
    dotted = POLICY.replace("[ledger]  # whose budget it is\n", "").replace("location", "ledger.location")
    policy.write_text(dotted.replace("budget", "ledger.budget"))
    with pytest.raises(PolicyError, match="by hand") as told:
        dither.create_ledger(policy, write=True)
    assert "identity =" not in str(told.value)  # there is no ledger yet
    assert not (policy.parent / "people.ledger").exists()
    identity = dither.create_ledger(policy)
    policy.write_text(policy.read_text().replace("ledger.budget", f'ledger.identity = "{identity}"\nledger.budget', 1))
    dither.open(policy).ledger.close()


def test_a_policy_that_lost_its_identity_is_told_how_to_find_it(policy):
    """As after a crash between ledger and file: another place would be a second budget."""
    identity = dither.create_ledger(policy)
    with pytest.raises(ConflictError, match="a ledger already") as told:
        dither.create_ledger(policy, write=True)
    assert "another place" not in str(told.value)
    assert "dither ledger show" in str(told.value)
    policy.write_text(policy.read_text().replace("location =", f'identity = "{identity}"\nlocation ='))
    dither.open(policy).ledger.close()


def test_a_disk_that_is_full_when_the_identity_is_written(policy, monkeypatch):
    def full(self, target):
        if target == policy:
            raise OSError(28, "No space left on device")
        return replace(self, target)

    replace, before = Path.replace, policy.read_text()
    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(PolicyError, match="the ledger was made") as told:
        dither.create_ledger(policy, write=True)
    assert policy.read_text() == before
    assert [file.name for file in policy.parent.glob("policy*")] == ["policy.toml"]
    line = next(part for part in str(told.value).split(", ") if "identity =" in part).partition("What would work: ")[2]
    policy.write_text(before.replace("location =", f"{line}\nlocation ="))
    dither.open(policy).ledger.close()


@pytest.mark.parametrize(("bad", "error"), [(3, DataError), ("nowhere.toml", PolicyError), (None, DataError)])
def test_what_is_no_policy(bad, error):
    with pytest.raises(error):
        dither.create_ledger(bad)


def test_a_policy_without_a_ledger(policy):
    policy.write_text("\n".join(line for line in POLICY.splitlines() if "ledger" not in line and "budget" not in line))
    with pytest.raises(PolicyError, match="names the ledger"):
        dither.create_ledger(policy)


def test_every_copy_is_refused_with_the_command_that_moves_it(policy, tmp_path, monkeypatch):
    dither.create_ledger(policy, write=True)
    dither.open(policy).quote(COUNT, epsilon=1).release()
    there = tmp_path / "copy"
    shutil.copytree(policy.parent, there, ignore=shutil.ignore_patterns("*.ledger*"))
    with pytest.raises(LedgerError, match="is not there") as told:  # policy and data alone
        dither.open(there / "policy.toml")
    assert "dither ledger move" in str(told.value)
    shutil.rmtree(there)
    shutil.copytree(policy.parent, there)
    with pytest.raises(ConflictError, match="here is a copy") as told:  # the ledger with them
        dither.open(there / "policy.toml")
    assert "dither ledger move" in str(told.value)
    with pytest.raises(ConflictError, match="names ledger"):  # a second ledger for the same policy
        dither.create_ledger(there / "policy.toml")
    monkeypatch.setenv("DITHER_HOME", str(tmp_path / "another home"))  # another user or host
    with pytest.raises(ConflictError, match="here is a copy"):
        dither.open(there / "policy.toml")
    (policy.parent / "people.ledger").unlink()
    with pytest.raises(LedgerError, match="is not there"):
        dither.open(policy)
    with pytest.raises(ConflictError, match="names ledger"):
        dither.create_ledger(policy)


def test_a_ledger_that_was_deleted_is_not_made_again_for_a_policy_without_its_identity(policy):
    dither.create_ledger(policy, write=True)
    (policy.parent / "people.ledger").unlink()
    policy.write_text(POLICY)
    with pytest.raises(TamperError, match="is gone"):
        dither.create_ledger(policy, write=True)
    assert policy.read_text() == POLICY


def test_renamed_tables_and_files_are_no_way_to_a_second_budget(policy):
    dither.create_ledger(policy, write=True)
    data = dither.open(policy)
    data.quote(COUNT, epsilon=1).release()
    data.ledger.close()
    (policy.parent / "people.ledger").rename(policy.parent / "other.ledger")
    text = policy.read_text().replace("people.ledger", "other.ledger")
    policy.write_text(text)
    with pytest.raises(ConflictError, match="is kept at"):
        dither.open(policy)


def test_a_second_place_in_the_home_is_found_there(policy, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "heads").mkdir()
    policy.write_text(POLICY.replace("budget =", 'witness = "~/heads/a"\nbudget ='))
    dither.create_ledger(policy, write=True)
    assert Path(tmp_path, "heads", "a").exists()
    data = dither.open(policy)
    old = (policy.parent / "people.ledger").read_bytes()
    data.quote(COUNT, epsilon=1).release()
    data.ledger.close()
    for rest in policy.parent.glob("people.ledger-*"):
        rest.unlink()
    (policy.parent / "people.ledger").write_bytes(old)
    with pytest.raises(TamperError, match="old copy"):
        dither.open(policy)


def test_a_second_place_beside_the_keys_is_in_their_folder(policy, tmp_path, monkeypatch):
    monkeypatch.setenv("DITHER_HOME", str(tmp_path / "not" / "there yet"))
    policy.write_text(POLICY.replace("budget =", 'witness = "~/.dither/heads"\nbudget ='))
    dither.create_ledger(policy, write=True)
    data = dither.open(policy)
    assert data.ledger.witness == str(tmp_path / "not" / "there yet" / "heads")
    assert data.ledger.verify().witnessed


def test_shares_of_the_policy(policy):
    policy.write_text(POLICY.replace("budget =", 'shares = { ana = { epsilon = "1" } }\nbudget ='))
    dither.create_ledger(policy, write=True)
    quote = dither.open(policy).quote(COUNT, epsilon=1)
    with pytest.raises(ConflictError, match="share"):
        quote.release()
    assert quote.release(analyst="ana")["n"]
    with pytest.raises(BudgetError):
        dither.open(policy).quote(COUNT, epsilon="0.5").release(analyst="ana")
    text = policy.read_text()
    policy.write_text(text.replace('ana = { epsilon = "1" }', 'ana = { epsilon = "2" }'))
    with pytest.raises(ConflictError, match="has a share of"):
        dither.open(policy)
    for bad in ("3", '"ana"', "{ ana = 3 }", "{ ana = { epsilon = 1, size = 2 } }"):
        policy.write_text(text.replace('{ ana = { epsilon = "1" } }', bad))
        with pytest.raises(PolicyError, match="shares"):
            dither.open(policy)


def test_a_draft_in_the_folder_of_the_keys_has_no_second_place_there(policy, monkeypatch):
    """As in somebody's home: then the folder of keys lies in that of the ledger."""
    own, other = policy.parent / ".dither", policy.parent.parent / "keys"
    for home, line in ((own, "# witness = "), (other, 'witness = "~/.dither/heads"')):
        monkeypatch.setenv("DITHER_HOME", str(home))
        text = draft(policy.parent / "people.csv", policy.parent)
        assert any(written.startswith(line) for written in text.splitlines())
