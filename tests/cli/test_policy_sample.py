"""`dither policy sample`: ten rows on the screen, or a folder and the command that asks it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dither import demo
from dither.cli.main import app
from dither.cli.policy import PolicyCommands
from dither.errors import ConflictError, NumberError, PolicyError
from dither.query.policy.policy import MADE_UP
from dither.query.sample.sample_folder import policy_text
from tests.query.sample.policies import ODD

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("policy.toml").write_text(demo.POLICY, encoding="utf-8")
    return tmp_path


def run(*arguments: object) -> str:
    """What is printed; refusals are raised."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


def test_ten_rows_of_each_table_are_shown():
    shown = run("policy", "sample", "policy.toml").splitlines()
    assert shown[:6] == [
        MADE_UP,
        "",
        "visits: 10 of 1,000 rows",
        "patient_id         day  ward         age     cost",
        "----------  ----------  -----------  ---  -------",
        "        14  2026-01-05  cardiology    91  1997.10",
    ]
    assert len(shown) == 15
    assert run("policy", "sample", "policy.toml", "--seed", 1).splitlines()[5] != shown[5]
    assert len(run("policy", "sample", "policy.toml", "--rows", 3).splitlines()) == 8
    assert [path.name for path in Path().iterdir()] == ["policy.toml"], "nothing is written"


@pytest.mark.parametrize("csv", [[], ["--csv"]])
def test_a_folder_is_written_and_the_next_command_asks_it(csv):
    said = run("policy", "sample", "policy.toml", "--rows", 40, "--out", "a sample", *csv)
    assert said.splitlines()[0] == MADE_UP
    assert "  policy.toml, about 'sample of clinic', with a ledger of its own" in said
    assert sorted(path.name for path in Path("a sample").glob("*.*"))[-1] == f"sample_visits.{'csv' if csv else 'parquet'}"
    (command,) = (line.strip() for line in said.splitlines() if line.startswith("  dither "))
    asked = run(*shlex.split(command)[1:])
    assert asked.startswith("made-up rows: no row is real")
    assert "n_low" in asked
    assert "fits" in run("policy", "check", "a sample/policy.toml", "--read-data")


def test_the_page_shows_what_is_printed():
    page = (ROOT / "docs" / "query.md").read_text(encoding="utf-8").partition("### Made-up rows")[2].partition("\n## ")[0]
    for said in re.findall(r"```console\n\$ dither (.*)\n```", page):
        assert f"```text\n{run(*shlex.split(said))}```" in page


def test_odd_names_and_keys_do_no_harm():
    Path("odd.toml").write_text(policy_text(ODD["markup"] | {"domain": "[red]x"}), encoding="utf-8")
    shown = "".join(run("policy", "sample", "odd.toml", "--seed", seed) for seed in range(5))
    assert "\x1b" not in shown
    assert "\\u001b[2J" in shown
    assert "[red]a[/]" in shown
    said = run("policy", "sample", "odd.toml", "--rows", 9, "--out", "odd")
    assert {path.name for path in Path("odd").glob("sample_*")} == {
        "sample_table_1.parquet",
        "sample_table_2.parquet",
        "sample_ORDER.parquet",
    }
    (command,) = (line.strip() for line in said.splitlines() if line.startswith("  dither "))
    assert "n_low" in run(*shlex.split(command)[1:])


def test_the_list_of_commands_says_what_the_command_says_of_itself():
    assert PolicyCommands().load("sample").help == PolicyCommands.homes["sample"].help
    assert "sample" in run("policy", "--help")
    assert "--seed" in run("policy", "sample", "--help")


def test_refusals():
    with pytest.raises(ConflictError, match="only shown"):
        run("policy", "sample", "policy.toml", "--csv")
    with pytest.raises(NumberError, match="rows"):
        run("policy", "sample", "policy.toml", "--rows", 0)
    with pytest.raises(PolicyError, match="cannot be read"):
        run("policy", "sample", "nowhere.toml")
    run("policy", "sample", "policy.toml", "--out", "once", "--rows", 2)
    with pytest.raises(ConflictError, match="something in it already"):
        run("policy", "sample", "policy.toml", "--out", "once")
