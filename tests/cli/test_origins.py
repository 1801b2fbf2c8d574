"""Where values of a policy are known from: what `policy check` lists, what drafts leave to write, what commands tell."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import dither
from dither.errors import PolicyError
from dither.query.owner.origin_lines import data_origins, unstated_origins
from dither.query.policy.policy import load_policy
from tests.cli.test_policy import folder, run  # noqa: F401 - a fixture

POLICY = """version = 1
domain = "clinic"
[ledger]
location = "clinic.ledger"
budget = { epsilon = "100", delta = "1e-6" }
[tables.visits]
source = "visits.csv"
person = "id"
max_rows = 3
hard = ["max_rows"]
[tables.visits.columns]
id = { type = "integer", nullable = false }
ward = { type = "text", keys = ["A", "B"] }
cost = { type = "integer", bounds = [0, 90], step = 3, nullable = false }
note = { type = "text" }
smokes = { type = "boolean" }
[tables.visits.columns.age]
type = "integer"
bounds = [0, 100]
[tables.wards]
public = true
source = "wards.csv"
columns = { ward = { type = "text", keys = ["A"] } }
"""
BY_WARD = "SELECT ward, SUM(cost) AS cost FROM visits GROUP BY ward"
SAID = "keys of ward, and bounds, step and completeness of cost were taken from the data: outside the guarantee"
COLUMNS = "keys of ward (line 13), bounds and step of cost (line 14), bounds of age (line 19)"


def write(text: str) -> None:
    Path("visits.csv").write_text("id,ward,cost,note,smokes,age\n1,A,30,x,true,40\n2,B,60,y,false,50\n")
    Path("wards.csv").write_text("ward\nA\n")
    Path("policy.toml").write_text(text)


def known(text: str, **origins: str) -> str:
    """The policy with origins of columns."""
    lines = []
    for line in text.splitlines():
        name = line.partition(" ")[0]
        lines.append(f'{line.rstrip("} ")}, known_from = "{origins[name]}" }}' if name in origins else line)
    return "\n".join(lines) + "\n"


def accepted(text: str) -> str:
    return text.replace("version = 1\n", 'version = 1\nvalues_from_data = "accepted"\n')


def test_values_without_an_origin_are_listed_with_their_lines():
    write(POLICY)
    code, told = run("policy", "check", "policy.toml")
    assert code == 0
    assert f"origin not stated: {COLUMNS}, limits and hard limits of visits (line 9); beside each: known_from = " in told
    assert "caution" not in told
    write(POLICY.replace("max_rows = 3\n", 'max_rows = 3\nknown_from = "law"\n'))
    _, told = run("policy", "check", "policy.toml")
    assert "bounds of age (line 20); beside each" in told
    write(known(POLICY, ward="law", cost="unit").replace("max_rows = 3\n", 'max_rows = 3\nknown_from = "law"\n'))
    Path("policy.toml").write_text(Path("policy.toml").read_text().replace("[0, 100]", '[0, 100]\nknown_from = "unit"'))
    _, told = run("policy", "check", "policy.toml")
    assert "origin" not in told


def test_values_from_the_data_are_a_caution_and_need_consent():
    text = known(POLICY, ward="data", cost="data", id="data")
    write(text)
    with pytest.raises(PolicyError, match="the guarantee does not cover it"):
        run("policy", "check", "policy.toml")
    write(accepted(text))
    code, told = run("policy", "check", "policy.toml")
    assert code == 0
    listed = "completeness of id (line 13), keys of ward (line 14), bounds, step and completeness of cost (line 15)"
    assert f"caution: {listed}: taken from the data, outside the guarantee" in told
    assert "origin not stated: bounds of age (line 20), limits and hard limits of visits (line 10);" in told


def test_a_place_without_a_line_of_its_own_is_told_with_the_nearest(tmp_path):
    text = 'version = 1\ndomain = "d"\n\n[tables."a b"]\nperson = "each row"\n'
    text += 'columns = { "x y" = { type = "integer", bounds = [0, 9] } }\n'
    (tmp_path / "p.toml").write_text(text)
    policy = load_policy(tmp_path / "p.toml")
    assert unstated_origins(text, policy) == ["bounds of x y (line 6)"]
    assert unstated_origins("", policy) == ["bounds of x y"]
    assert data_origins(text, policy) == []


def test_drafts_say_where_origins_are_written():
    write(POLICY)
    code, draft = run("policy", "init", "visits.csv", "--read-data")
    assert code == 0
    (ward,) = (line for line in draft.splitlines() if line.startswith('"ward"'))
    (cost,) = (line for line in draft.splitlines() if line.startswith('"cost"'))
    assert 'keys = [...], known_from = "..."; seen in your data, not public: ' in ward
    assert 'bounds = [LOW, HIGH], known_from = "..."; seen in your data, not public: 30 to 60' in cost
    (limits,) = (line for line in draft.splitlines() if line.startswith("# known_from"))
    assert all(word in limits for word in ('"law"', '"unit"', '"questionnaire"', '"private release', '"data"'))
    write(known(POLICY, ward="..."))
    with pytest.raises(PolicyError, match="it names no origin that is known"):  # a draft's dots are no word
        run("policy", "check", "policy.toml")


def test_commands_tell_what_was_taken_from_the_data():
    write(accepted(known(POLICY, ward="data", cost="data")))
    assert run("ledger", "create", "--policy", "policy.toml", "--write")[0] == 0
    places = {
        "quote": run("quote", BY_WARD, "--epsilon", "1"),
        "table": run("query", BY_WARD, "--epsilon", "1"),
        "in words": run("query", BY_WARD, "--epsilon", "1", "--explain"),
        "csv": run("query", BY_WARD, "--epsilon", "1", "--format", "csv"),
        "html": run("query", BY_WARD, "--epsilon", "1", "--format", "html"),
        "several": run("query", BY_WARD, "SELECT COUNT(*) AS n FROM visits", "--epsilon", "1"),
        "history": run("ledger", "history", "clinic.ledger"),
        "history as JSON": run("ledger", "history", "clinic.ledger", "--json"),
        "history as CSV": run("ledger", "history", "clinic.ledger", "--csv"),
    }
    for place, (code, told) in places.items():
        assert (code, SAID in " ".join(told.split())) == (0, True), place
    run("query", BY_WARD, "--epsilon", "1", "--format", "json", "--out", "answer.json")
    facts = json.loads(Path("answer.json").read_text())
    assert facts["unprotected"] == facts["receipt"]["unprotected"] == SAID
    assert SAID in facts["says"]
    run("query", BY_WARD, "--epsilon", "1", "--format", "parquet", "--out", "answer.parquet")
    import pyarrow.parquet

    assert SAID in pyarrow.parquet.read_schema("answer.parquet").metadata[b"dither.says"].decode()
    run("query", "SELECT COUNT(*) AS n FROM visits", "--epsilon", "1", "--format", "json", "--out", "count.json")
    assert "unprotected" not in Path("count.json").read_text()
    assert SAID not in " ".join(run("quote", "SELECT COUNT(*) AS n FROM visits", "--epsilon", "1")[1].split())


def test_another_origin_is_another_policy():
    write(known(POLICY, ward="law"))
    run("ledger", "create", "--policy", "policy.toml", "--write")
    run("query", BY_WARD, "--epsilon", "1")
    Path("policy.toml").write_text(Path("policy.toml").read_text().replace('"law"', '"unit"'))
    with pytest.raises(dither.errors.ConflictError):
        run("query", BY_WARD, "--epsilon", "1")
