"""Which tests run by default, what they may take, and how they are shared out."""

from __future__ import annotations

import json
import random

import dev
import pytest

from tests import tiers


def test_what_is_left_out_is_there_and_has_a_cause():
    assert [path for path in tiers.LEFT_OUT if not (tiers.ROOT / path).exists()] == []
    assert tiers.cause("tests/query/engines/spark/test_spark.py::test_x") == "a JVM"
    assert tiers.cause("tests/query/engines/sparks.py") is None
    assert tiers.cause("tests/test_layers.py::test_imports_point_downward") is None


def test_what_takes_long_is_left_out(monkeypatch):
    spent = {"tests": {"tests/test_a.py::test_b[1]": tiers.MOST, "tests/test_a.py::test_b[2]": tiers.MOST - 0.01}}
    monkeypatch.setattr(tiers, "durations", lambda: spent)
    assert tiers.cause("tests/test_a.py::test_b[1]") == "0.2 CPU seconds"
    assert tiers.cause("tests/test_a.py::test_b[2]") is None
    assert tiers.cause("tests/test_a.py") is None


def test_durations_are_of_files_that_are_there():
    known = tiers.durations()
    named = {*known["default"], *known["rest"], *(node.partition("::")[0] for node in known["tests"])}
    assert [path for path in named if not (tiers.ROOT / path).exists()] == []
    assert len(known["default"]) > 350
    assert min(known["tests"].values()) >= tiers.MOST


def test_durations_of_a_tier_leave_those_of_the_other_as_they_were(tmp_path, monkeypatch):
    before = {"default": {"tests/tiers.py": 1.0}, "rest": {"tests/seeds.py": 9.0}}
    monkeypatch.setattr(tiers, "DURATIONS", tmp_path / "durations.json")
    monkeypatch.setattr(tiers, "durations", lambda: before | {"tests": {"tests/seeds.py::a": 9.0, "tests/gone.py::b": 3.0}})
    reference = tiers.Reference()
    reference.seconds = [0.02]
    tiers.write({"tests/tiers.py::c": 0.1, "tests/tiers.py::d": 2.0}, "default", reference)
    found = json.loads((tmp_path / "durations.json").read_text())
    assert found == {
        "reference": {"seconds": 0.02},
        "default": {"tests/tiers.py": 2.1},
        "rest": {"tests/seeds.py": 9.0},
        "tests": {"tests/seeds.py::a": 9.0, "tests/tiers.py::d": 2.0},
    }
    with pytest.raises(ValueError, match="by default, and of one with --rest"):
        tiers.write({}, "full", reference)


def test_budgets():
    assert sum(by_default for by_default, _ in tiers.BUDGETS.values()) <= 420
    assert tiers.BUDGETS["tests/query"][0] <= 200
    assert all(by_default <= in_full for by_default, in_full in tiers.BUDGETS.values())


def test_a_folder_beyond_its_budget_is_found():
    by_default, in_full = tiers.BUDGETS["tests/query"]
    spent = {"tests/query": 1.31 * by_default, "tests/elsewhere": 10.0**6}
    assert tiers.over_budget(spent, 1.0, by_default=True) == ["tests/query"]
    assert tiers.over_budget(spent, 1.1, by_default=True) == []
    assert tiers.over_budget(spent, 1.0, by_default=False) == []
    assert tiers.over_budget({"tests/query": 1.31 * in_full}, 1.0, by_default=False) == ["tests/query"]


def test_shards_hold_each_file_once_and_take_about_as_long():
    seconds = tiers.durations()["default"]
    files = sorted(seconds)
    parts = tiers.shards(files, 4, "default")
    assert tiers.shards(random.Random(1).sample(files, len(files)), 4, "default") == parts
    taken = [sum(seconds[path] for path in files if parts[path] == place) for place in range(4)]
    assert sorted(parts) == files
    assert max(taken) < 1.1 * min(taken)
    assert set(tiers.shards(["tests/a.py", "tests/b.py"], 2, "full").values()) == {0, 1}  # of which nothing is known


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ([], ["--tier=default"]),
        (["-x", "-k", "noise"], ["--tier=default", "-x", "-k", "noise"]),
        (["--full", "-x"], ["--tier=full", "-x"]),
        (["--rest"], ["--tier=rest"]),
        (["--all"], ["--tier=full", "--all"]),
        (["--changed"], ["--tier=default", "--testmon"]),
        (["--changed", "--full"], ["--testmon", "--tier=full"]),
        (["tests/noise", "-x"], ["tests/noise", "-x"]),
        (["tests/test_layers.py::test_imports_point_downward"], ["tests/test_layers.py::test_imports_point_downward"]),
    ],
)
def test_what_pytest_is_told(options, told):
    assert dev.test_options(options) == told


def test_the_same_processor_takes_once_as_long(monkeypatch):
    reference = tiers.Reference()
    reference.seconds = [0.2, 0.1, 0.4]
    monkeypatch.setattr(tiers, "durations", lambda: {"reference": {"seconds": 0.1}})
    assert reference.factor == 2.0
    monkeypatch.setattr(tiers, "durations", lambda: {"reference": {"seconds": 0.4}})
    assert reference.factor == 1.0  # a quicker one is given as much
    reference.measure()
    assert len(reference.seconds) == 4
