"""What owners are told of a dataset: nothing secret, nothing of a row, and also of a dataset that does not open."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from dither import approx
from dither.errors import DataError
from dither.ledger.entries.budget import read_ceiling
from dither.query.dataset import open_without_rows
from dither.server.core.problems import Problem
from dither.server.core.processes import owner_facts as facts_module
from dither.server.core.processes.dataset_tasks import DatasetTasks
from dither.server.core.processes.owner_facts import closed_facts, owner_facts
from dither.server.core.processes.password_mask import masked, masked_policy
from dither.server.core.token_shares import _covers
from tests.server.gateways import ROWS, caller, config, run, running, write_clinic

PASSWORDS = [
    'location = "postgresql://ana:hunter2@host/db#clinic"',
    'location = "postgresql://ana:hun@ter2:hunter2@host/db"',
    "location = 'postgresql://:hunter2@host/db'",
    'location = "postgresql://ana@host/db?password=hunter2&sslmode=require"',
    'location = "postgresql://ana@host/db?sslmode=require&PASSWORD=hunter2"',
    'location = "postgresql://host/db?sslpassword=hunter2"',
    'location = "postgresql://ana:hunter2/@host/db"',
    '# location = "postgresql://ana:hunter2@host/db"',
    "# postgresql://ana:hunter2@host",
    # What cannot be masked is not shown.
    'location = "postgresql:\\u002f/ana:hunter2@host/db"',
    'location = "postgresql://ana\\u003ahunter2@host/db"',
    'location = "postgresql://ana:hunter2 \\u0040host/db"',
    'location = "postgresql://ana:hunter2 two@host/db"',
    'location = "postgresql://host/db?pass\\u0077ord=hunter2"',
    "# postgresql://ana:hunter2 two@host",
    '[tables."postgresql://ana:hunter2@host"]',
    'sources = [["postgresql:\\u002f/ana:hunter2@host"]]',
    'location = "postgresql://[ana:hunter2"',
    "location = ",
]


@pytest.mark.parametrize("line", PASSWORDS)
def test_no_password_of_an_address_is_in_what_is_shown(line):
    assert "hunter2" not in (masked_policy(f"version = 1\n{line}\n") or "")


def test_what_has_no_password_is_shown_as_it_is():
    for text in (
        'source = "visits.parquet"  # ask me@example.org: it is mine\n',
        'source = "postgresql://ana@host:5432/db?table=visits"  # write to me@example.org\n',
        'keys = ["a:b@c", "http"]\n',
        "",
    ):
        assert masked_policy(text) == text
    assert masked("postgresql://ana:one@two:three@host/db") == "postgresql://ana@host/db"
    assert masked("postgresql://ana:secret@host:5432/db?table=visits") == "postgresql://ana@host:5432/db?table=visits"


def test_facts_of_an_open_dataset(home, tmp_path):
    path = write_clinic(tmp_path)
    kept = path.read_text()
    path.write_text(f"# was: postgresql://ana:hunter2@host/db\n{kept}")
    dataset = open_without_rows(path)
    try:
        found = owner_facts(dataset, path)
        told = json.dumps(found)
        assert found["text"] == f"# was: postgresql://ana@host/db\n{kept}"
        assert (found["in_force"], found["hash"], found["unit"]) == (True, dataset.policy.hash, "add/remove one person")
        visits = {"name": "visits", "public": False, "source": "clinic.parquet", "engine": "DuckDB", "state": "there"}
        assert found["tables"] == [visits]
        assert found["budget"]["left"] == "100%"
        assert found["ledger"]["entries"] == dataset.ledger.head.entries
        secrets = [file.read_bytes() for file in Path(os.environ["DITHER_HOME"]).rglob("*") if file.is_file()]
        words = {word.strip('",') for text in secrets for word in text.decode("utf-8", "replace").split()}
        long = {word for word in words if re.fullmatch("[0-9a-f]{64}", word)} - {found["hash"]}
        assert long, "there are keys"
        assert not {word for word in long if word in told}
        assert "hunter2" not in told
        # Rows change nothing of it, and a file that is gone is told.
        pyarrow.parquet.write_table(pyarrow.table({**ROWS, "age": [1, 2, 3, 4, 5]}), tmp_path / "clinic.parquet")
        assert owner_facts(dataset, path) == found
        (tmp_path / "clinic.parquet").unlink()
        assert owner_facts(dataset, path)["tables"][0]["state"] == "missing"
        # A file that was edited is not in force.
        path.write_text(kept.replace("max_rows = 3", "max_rows = 4"))
        edited = owner_facts(dataset, path)
        assert (edited["in_force"], "max_rows = 4" in edited["text"]) == (False, True)
        for broken in ("version = ", "version = 1\n", "\0"):
            path.write_text(broken)
            again = owner_facts(dataset, path)
            assert (again["in_force"], again["text"], again["hash"]) == (False, None, found["hash"])
    finally:
        dataset.ledger.close()


def test_a_look_that_never_ends_holds_nobody_up(home, tmp_path, monkeypatch):
    path = write_clinic(tmp_path)
    dataset = open_without_rows(path)
    ended = facts_module.threading.Event()
    monkeypatch.setattr(facts_module, "SECONDS", 0.01)
    monkeypatch.setattr(facts_module, "find_source", lambda *_: ended.wait())
    try:
        for _ in range(facts_module.LOOKS + 2):  # the last of them find no room for another look
            assert owner_facts(dataset, path)["tables"][0]["state"] == "unknown"
        assert sum(thread.name == "dither-look" for thread in facts_module.threading.enumerate()) == facts_module.LOOKS
    finally:
        ended.set()
        dataset.ledger.close()


def test_a_dataset_that_does_not_open_is_told_to_its_owner_alone(home, tmp_path):
    good, bad = write_clinic(tmp_path), write_clinic(tmp_path, "shop")
    bad.write_text(bad.read_text().replace("shop.ledger", "postgresql://ana:hunter2@/nowhere?host=/nowhere"))
    tasks = DatasetTasks({"clinic": good, "shop": bad}, rows=False, strict=False)
    try:
        assert tasks.done({"task": "owner_facts", "dataset": "clinic", "policy": str(good)})["done"]["opens"]
        found = tasks.done({"task": "owner_facts", "dataset": "shop", "policy": str(bad)})["done"]
        assert not found["opens"]
        assert found["problem"]["why"]
        assert "hunter2" not in json.dumps(found)
        assert "problem" in tasks.done({"task": "declared", "dataset": "shop"})
        bad.unlink()
        assert "cannot be read" in tasks.done({"task": "owner_facts", "dataset": "shop"})["done"]["problem"]["why"]
    finally:
        tasks.close()
    error = DataError("ledger", "postgresql://ana:hunter2@host", "postgresql://ana:hunter2@host is gone", "another")
    assert closed_facts(error)["problem"]["why"] == "postgresql://ana@host is gone"
    assert "hunter2" not in json.dumps(closed_facts(error))
    assert closed_facts(ValueError("a cell of somebody's")) == {"opens": False, "problem": None}


def test_owners_alone_get_them_and_shares(home, tmp_path):
    with running(config(tmp_path, "clinic", "shop")) as gateway:
        olga, other = caller(gateway, "olga", "owner"), caller(gateway, "otto", "owner", ["shop"])
        for who in (caller(gateway, "ana"), caller(gateway, "udo", "auditor")):
            for work in (
                gateway.owner_dataset(who, "clinic"),
                gateway.owner_datasets(who),
                gateway.shares_left(who, ["ana"]),
            ):
                with pytest.raises(Problem) as found:
                    run(work)
                assert found.value.kind == "forbidden"
            how = {"name": "eve", "datasets": ["clinic"]}
            with pytest.raises(Problem) as found:
                run(gateway.token_grants(who, **how))
            assert found.value.kind == "forbidden"
        for name in ("clinic", "none"):
            with pytest.raises(Problem) as found:
                run(gateway.owner_dataset(other, name))
            assert found.value.kind == "absent"
        assert [one["name"] for one in run(gateway.owner_datasets(other))] == ["shop"]
        share = {"epsilon": "2"}
        entries = run(gateway.owner_dataset(olga, "clinic"))["ledger"]["entries"]
        told = run(gateway.token_grants(olga, name="ana", datasets=["clinic"], share=share))["clinic"]["cautions"]
        assert told == {"first": True, "above_left": False, "without_gaussian": False}
        told = run(gateway.token_grants(olga, name="ana", datasets=["clinic"], share={"epsilon": "3.01"}))["clinic"][
            "cautions"
        ]
        assert told["above_left"]
        assert run(gateway.owner_dataset(olga, "clinic"))["ledger"]["entries"] == entries, "a look writes nothing"
        run(gateway.create_token(olga, name="ana", datasets=["clinic"], share=share))
        left = run(gateway.shares_left(olga, ["ana", "nobody", "ana", "\n"]))
        assert {name: list(shares) for name, shares in left.items()} == {"clinic": ["ana"], "shop": []}
        assert left["clinic"]["ana"]["left"] == "100%"
        assert run(gateway.shares_left(other, ["ana"])) == {"shop": {}}
        # Her own broken text is told back to an owner, also where it has the place of the ledger in it.
        with pytest.raises(Problem) as found:
            run(gateway.policy_diff(olga, "clinic", '[ledger]\nlocation = "clinic.ledger\n'))
        assert (found.value.kind, found.value.where) == ("refused", "policy")


def test_a_share_with_the_delta_of_the_budget_is_held_against_its_epsilon_alone():
    # Once a question with keys that nobody declared has used some δ, no whole δ is left; that is no reason for a caution.
    budget = read_ceiling(approx(3, "1e-6"))
    spent = budget.after(budget.nothing, approx("0.1", "1e-8"))
    assert spent is not None
    for epsilon, delta, covered in (
        ("0.2", "1e-6", True),
        ("2.99", "1e-6", False),
        ("0.2", "9.9e-7", False),
        ("0.2", "1e-7", True),
    ):
        assert _covers(spent, read_ceiling(approx(epsilon, delta))) == covered
