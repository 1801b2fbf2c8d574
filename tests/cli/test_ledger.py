"""`dither ledger`, as people type it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from dither import Ledger, approx, demo, gdp, pure
from dither.cli.flags import refusal
from dither.cli.main import app


@pytest.fixture
def dither(tmp_path, monkeypatch):
    monkeypatch.setenv("DITHER_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "120")

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "dither", "ledger", *arguments]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=120)

    return run


def refused(result: subprocess.CompletedProcess[str], words: str) -> None:
    assert result.returncode == 2
    assert "is refused" in result.stderr
    assert words in result.stderr
    assert "Traceback" not in result.stderr


def test_from_creation_to_export(dither, tmp_path):
    made = dither("create", "clinic.ledger", "--domain", "clinic", "--epsilon", "1")
    assert made.returncode == 0, made.stderr
    assert "ε = 1 (add/remove one person)" in made.stdout
    assert "░░ 0.0 % used" in made.stdout
    with Ledger(tmp_path / "clinic.ledger") as ledger:
        receipt = ledger.reserve(pure("0.25"), "SELECT [bold]COUNT(*)[/bold] FROM visits", analyst="ana")
        ledger.commit(receipt, "128")
    (tmp_path / "receipts").write_text(receipt.to_json() + "\n\n")

    shown = dither("show", "clinic.ledger", "--like", "0.25")
    assert "ε = 0.75" in shown.stdout
    assert "██████████░" in shown.stdout
    assert "25.0 % used" in shown.stdout
    assert "about 3 more questions like ε = 0.25" in shown.stdout
    exact = json.loads(dither("show", "clinic.ledger", "--like", "0.25", "--json").stdout)
    assert (exact["spent"], exact["more_like"], exact["entries"]) == (["1/4", "0"], 3, 4)

    listed = dither("history", "clinic.ledger", "--internal")
    assert "reserved" in listed.stdout
    assert "[bold]COUNT(*)[/bold]" in listed.stdout, "a question is text, not markup"
    inside = dither("history", "clinic.ledger", "--last", "1", "--json", "--internal").stdout.splitlines()
    last = [json.loads(line) for line in inside]
    assert [(entry["kind"], entry["answer"]) for entry in last] == [("answered", "128")]

    verified = dither("verify", "clinic.ledger", "--receipt", "receipts")
    assert verified.returncode == 0
    assert "chain, sums and answers hold" in verified.stdout
    assert "1 receipts" in verified.stdout
    assert json.loads(dither("verify", "clinic.ledger", "--json").stdout)["ok"] is True

    assert dither("export", "clinic.ledger", "--to", "entries").returncode == 0
    lines = (tmp_path / "entries").read_text().splitlines()
    assert lines == dither("export", "clinic.ledger").stdout.splitlines()
    assert [json.loads(line)["kind"] for line in lines] == ["created", "bound", "reserved", "answered"]
    refused(dither("export", "clinic.ledger", "--to", "entries"), "there is a file already")


def test_a_fault_is_exit_code_1(dither, tmp_path):
    dither("create", "a.ledger", "--domain", "clinic", "--rho", "0.5")
    with Ledger(tmp_path / "a.ledger") as ledger:
        receipt = ledger.reserve(pure("0.25"), "question")
    (tmp_path / "receipts").write_text(receipt.to_json().replace(receipt.fingerprint, "0" * 64))
    result = dither("verify", "a.ledger", "--receipt", "receipts")
    assert result.returncode == 1
    assert "FAULT" in result.stdout
    (tmp_path / "receipts").write_text("nonsense")
    refused(dither("verify", "a.ledger", "--receipt", "receipts"), "did not write this")
    refused(dither("verify", "a.ledger", "--receipt", "missing"), "cannot be read")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["create", "a.ledger", "--domain", "clinic"], "exactly one of them is needed"),
        (["create", "a.ledger", "--domain", "clinic", "--epsilon", "1", "--rho", "1"], "exactly one"),
        (["create", "a.ledger", "--domain", "clinic", "--epsilon", "nan"], "epsilon"),
        (["create", "a.ledger", "--domain", "clinic", "--epsilon", "0"], "nothing could ever be asked"),
        (["create", "a.ledger", "--domain", "clinic", "--epsilon", "1", "--delta", "1"], "nothing is promised"),
        (["create", "a.ledger", "--domain", "", "--epsilon", "1"], "domain"),
        (["create", "a.ledger", "--domain", "clinic", "--epsilon", "1", "--unit", "nobody"], "neighbouring"),
        (["create", "nowhere/a.ledger", "--domain", "clinic", "--epsilon", "1"], "folder does not exist"),
        (["create", "a.ledger", "--domain", "clinic", "--epsilon", "1", "--witness", "heads"], "own folder"),
        (["show", "a.ledger"], "there is no ledger"),
        (["history", "a.ledger"], "there is no ledger"),
        (["verify", "a.ledger"], "there is no ledger"),
        (["export", "a.ledger"], "there is no ledger"),
    ],
)
def test_what_is_refused(dither, tmp_path, arguments, words):
    refused(dither(*arguments), words)
    assert not Path(tmp_path / "a.ledger").exists()


def test_a_ledger_is_made_once(dither):
    make = ["create", "a.ledger", "--domain", "clinic", "--epsilon", "1"]
    assert dither(*make).returncode == 0
    refused(dither(*make), "there is a ledger already")
    refused(dither("create", "b.ledger", "--domain", "b", "--epsilon", "1", "--write"), "no policy to write into")
    refused(dither("create", "--policy", "policy.toml", "--delta", "1e-6"), "the policy says where")
    refused(dither("show", "a.ledger", "--analyst", "eve"), "no such share")
    refused(dither("show", "a.ledger", "--like", "-1"), "below zero")


def test_a_second_ledger_for_a_domain_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("DITHER_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)

    def made(name: str, domain: str) -> str:
        result = CliRunner().invoke(app, ["ledger", "create", name, "--domain", domain, "--epsilon", "1"])
        assert result.exit_code == 0
        return str(result.output)

    assert "caution" not in made("a.ledger", "clinic") + made("b.ledger", "shop")
    assert "for 'clinic' too, at" in made("c.ledger", "clinic")
    Path("b.ledger").unlink()
    assert "caution" not in made("d.ledger", "shop")


def test_shares_that_pay_for_no_gaussian_noise(tmp_path, monkeypatch):
    monkeypatch.setenv("DITHER_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    with Ledger.create("a.ledger", budget=approx(3, "1e-6"), domain="clinic") as ledger:
        ledger.reserve(gdp(mu="0.1"), "question", analyst="bob")

    def share(name: str, *more: str) -> Any:
        return CliRunner().invoke(app, ["ledger", "share", "a.ledger", name, "--epsilon", "1", *more])

    assert "all who ask need a share" in share("ana", "--delta", "1e-7").output
    assert "without --delta" in share("ana").output
    assert "--epsilon 1 --delta 1e-7" in refusal(share("bob").exception)


def test_a_ledger_that_was_moved(tmp_path, monkeypatch):
    monkeypatch.setenv("DITHER_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    Ledger.create("clinic.ledger", budget=pure(1), domain="clinic").close()
    Path("clinic.ledger").rename("moved.ledger")

    def typed(*arguments: str) -> Any:
        return CliRunner().invoke(app, ["ledger", *arguments])

    told = refusal(typed("show", "moved.ledger").exception)
    assert "dither ledger restore, if it is gone" in told
    assert typed("restore", "moved.ledger", "--lost", "0").exit_code == 0
    assert "0.0 % used" in typed("show", "moved.ledger").output
    with Ledger("moved.ledger") as found:
        assert [entry.kind for entry in found.history()][-1] == "moved"


def test_a_new_key(tmp_path, monkeypatch):
    monkeypatch.setenv("DITHER_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> str:
        result = CliRunner().invoke(app, ["ledger", *arguments])
        assert result.exit_code == 0, result.output
        return result.output

    run("create", "a.ledger", "--domain", "clinic", "--epsilon", "1")
    told = run("rotate-key", "a.ledger")
    assert "from entry 4 on, key " in told
    assert "the old keys are still in it" in told
    assert "--forget" not in run("rotate-key", "a.ledger", "--forget")
    assert "the key of entries 1 to 5 was thrown away" in run("verify", "a.ledger")
    history = run("history", "a.ledger", "--details")
    assert "the new key answers for entries 1 to 5" in history
    assert "100%: ε = 1" in history
    assert "exactly one of them" in str(CliRunner().invoke(app, ["ledger", "rotate-key"]).exception)


def test_a_new_key_of_the_ledger_that_a_policy_names(tmp_path, monkeypatch):
    monkeypatch.setenv("DITHER_HOME", str(tmp_path / "home"))
    demo.save(tmp_path)
    result = CliRunner().invoke(app, ["ledger", "rotate-key", "--policy", str(tmp_path / "policy.toml")])
    assert result.exit_code == 0, result.output
    assert "on, key " in result.output
