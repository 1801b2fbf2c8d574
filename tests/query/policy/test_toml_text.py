"""Policies as editors save them: with a mark before UTF-8, with ends of lines of Windows, and in UTF-16."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

import dither
from dither.cli.main import app
from dither.errors import PolicyError
from dither.query.budget_plan.planned_question import read_plan
from dither.query.policy.policy import load_policy
from dither.query.policy.toml_text import toml_text

POLICY = """[ledger]
location = "people.ledger"
budget = { epsilon = "3" }
[tables.people]
source = "people.csv"
person = "each row"
columns = { age = { type = "integer", bounds = [0, 100] }, "ärztin" = { type = "text" } }
"""
WHOLE = 'version = 1\ndomain = "people"\n' + POLICY
PLAN = 'version = 1\n[[question]]\nsql = "SELECT COUNT(*) AS n FROM people"\nepsilon = "0.1"\ntimes = "monthly"\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DITHER_HOME", str(tmp_path / "home"))
    (tmp_path / "people.csv").write_text("age,ärztin\n31,a\n44,b\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_a_mark_is_no_part_of_the_policy(folder, ends):
    path = folder / "policy.toml"
    plain = folder / "plain.toml"
    plain.write_text(WHOLE, encoding="utf-8")
    path.write_bytes(WHOLE.replace("\n", ends).encode("utf-8-sig"))
    assert load_policy(path).hash == load_policy(plain).hash
    assert "fits" in CliRunner().invoke(app, ["policy", "check", str(path)]).output
    identity = dither.create_ledger(path, write=True)
    stored = path.read_bytes()
    assert stored.startswith(b"\xef\xbb\xbf")  # what the editor wrote stays
    assert stored.count(b"\xef\xbb\xbf") == 1
    assert stored.count(b"\r\n") == (stored.count(b"\n") if ends == "\r\n" else 0)
    assert identity.encode() in stored
    assert dither.open(path).quote("SELECT COUNT(*) AS n FROM people", epsilon=1).release().rows()


def test_a_mark_before_the_part_of_the_ledger(folder):
    path = folder / "policy.toml"
    path.write_bytes(("[ledger]\n" + POLICY.partition("\n")[2]).encode("utf-8-sig"))
    with pytest.raises(PolicyError, match=r"^version"):  # it is read, and what it lacks is named
        load_policy(path)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_wide_letters_are_refused_with_what_to_do(folder, encoding):
    path = folder / "policy.toml"
    path.write_bytes(WHOLE.encode(encoding))
    with pytest.raises(PolicyError, match=r"UTF-16 or UTF-32.*saved as UTF-8 \(Notepad"):
        load_policy(path)
    checked = CliRunner().invoke(app, ["policy", "check", str(path)])
    assert "saved as UTF-8" in str(checked.exception)
    with pytest.raises(PolicyError, match=r"plan = .*saved as UTF-8"):
        toml_text(path, "plan")


def test_a_plan_is_read_alike(folder):
    path = folder / "plan.toml"
    path.write_bytes(PLAN.encode("utf-8-sig"))
    (found,) = read_plan(str(path))
    assert "COUNT" in str(found)


def test_what_is_no_text_is_told_so(folder):
    path = folder / "policy.toml"
    for stored in (b"PAR1\x15\x04\x15\xff\xfe\x00", b"\x80a\x00b"):
        path.write_bytes(stored)
        with pytest.raises(PolicyError, match="nor any text"):
            load_policy(path)


@pytest.mark.parametrize(
    "text", ["x = " + "9" * 5000, "x = " + "[" * 5000, ".".join("a" * 3000) + " = 1", "x = " + "[" * 200 + "]" * 200]
)
def test_more_than_a_reader_can_bear_is_no_toml(tmp_path, text):
    path = tmp_path / "policy.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(PolicyError, match=r"it is not TOML: (it is nested too deeply|a number in it is too long)"):
        load_policy(path)
