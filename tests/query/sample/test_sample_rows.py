"""Made-up rows: they fit the policy, joins find some, they are the same everywhere, and nothing is opened to make them."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from dataclasses import replace
from datetime import date
from decimal import Decimal

import duckdb
import pytest

from dither.errors import DataError, NumberError, SizeError
from dither.query.owner.inspect import inspect
from dither.query.policy.chains import parents
from dither.query.policy.policy import MADE_UP
from dither.query.policy.table import Table
from dither.query.sample import table_rows
from dither.query.sample.column_values import Values
from dither.query.sample.sample_policy import sample_policy
from dither.query.sample.sample_rows import sample_rows
from dither.query.sample.table_rows import PrivateRows
from dither.query.sources.frames import ArrowTable
from tests.query.sample.policies import POLICIES, TEXTS
from tests.query.sample.random_policy import random_policy
from tests.seeds import rounds

BEYOND = {"odd: 64 bits": ["c", "h"]}  # bounds that no cell can be within: they are clamped, as real cells would be
SAME = ("golden pure", "golden replace", "query 0")  # tables as of others in the list
DEMO, CHAIN = "eb700853ceb7aa3f", "f47392a885c24b6a"  # of rows that stay the same
FIRST = {"patient_id": 1, "day": date(2026, 1, 5), "ward": "cardiology", "age": 91, "cost": Decimal("1997.10")}
FITTED = [name for name in POLICIES if name not in SAME]


def faults(policy, tables):
    """What the owner's own look at the data finds wrong with it."""
    own, found = sample_policy(policy, ""), []
    sources = {name: ArrowTable(rows) for name, rows in tables.items()}
    for table in own.tables:
        report = inspect(table, sources[table.name], [(one, sources[one.name]) for one in parents(table, own.tables)])
        wrong = [one.name for one in report.columns if one.unreadable or one.clamped or one.undeclared or one.long]
        complete = {column.name for column in table.columns if not column.nullable}
        wrong += [f"{one.name} missing" for one in report.columns if one.missing and one.name in complete]
        wrong += [f"{one.limit} by {one.by}" for one in report.lost if one.rows] + list(report.broken)
        found += [f"{report.shared} shared"] if report.shared else []
        found += wrong
    return found


@pytest.mark.parametrize("name", FITTED)
def test_rows_fit_the_policy(name):
    tables = sample_rows(POLICIES[name], 120)
    assert faults(POLICIES[name], tables) == BEYOND.get(name, [])
    assert [*tables] == [table.name for table in POLICIES[name].tables]
    for rows in tables.values():
        assert 0 < rows.num_rows <= 120
        assert rows.schema.metadata == {b"dither": MADE_UP.encode()}


@pytest.mark.parametrize("rng", rounds(3, 5, "made-up rows"), ids=lambda rng: "round")
def test_rows_fit_random_policies(rng):
    policy = random_policy(rng)
    assert faults(policy, sample_rows(policy, 80, seed=rng.randrange(100))) == []


def no_limit_of_groups(monkeypatch):
    monkeypatch.setattr(table_rows, "most_rows", lambda table: table.most_rows)


def no_limit_of_sums(monkeypatch):
    monkeypatch.setattr(Table, "sum_limit", lambda table, name: None)


def keys_twice(monkeypatch):
    made = PrivateRows.__init__

    def init(self, *arguments):
        made(self, *arguments)
        self._taken = {}

    monkeypatch.setattr(PrivateRows, "__init__", init)
    monkeypatch.setattr(PrivateRows, "_key", lambda self, number: {})


def other_texts(monkeypatch):
    monkeypatch.setattr(table_rows, "values_of", lambda column, most: Values(1, lambda place: "other"))


def always_nullable(monkeypatch):
    cell = PrivateRows._cell
    monkeypatch.setattr(PrivateRows, "_cell", lambda self, column, *rest: cell(self, replace(column, nullable=True), *rest))


@pytest.mark.parametrize(
    ("bug", "name"),
    [
        (no_limit_of_groups, "odd: hard groups"),
        (no_limit_of_sums, "odd: sums"),
        (keys_twice, "odd: keys of rows"),
        (other_texts, "odd: hard groups"),
        (always_nullable, "demo"),
    ],
)
def test_rows_that_do_not_fit_are_found(monkeypatch, bug, name):
    bug(monkeypatch)
    assert faults(POLICIES[name], sample_rows(POLICIES[name], 200))


# -- what they hold ------------------------------------------------------------------------------------------------------


def test_cells_that_may_be_missing_are_missing_at_times_and_others_never():
    for name in ("odd: no bounds", "odd: never missing", "golden rho", "chain"):
        policy = POLICIES[name]
        for table in (one for one in policy.tables if not one.public):
            rows = sample_rows(policy, 400)[table.name]
            for column in table.columns:
                missing = rows[column.name].null_count
                assert (0 < missing < 60) if column.nullable else missing == 0, (name, column.name)
                assert rows[column.name][0].as_py() is not None, "the first row is whole, however few there are"


def test_texts_that_are_free_are_plainly_made_up():
    rows = sample_rows(POLICIES["golden rho"], 300)["visits"]
    assert all(town is None or town.startswith("text ") for town in rows["town"].to_pylist())
    assert len(set(rows["town"].to_pylist())) > 20


def test_people_have_several_rows_and_are_the_same_in_all_tables():
    tables = sample_rows(POLICIES["demo"], 600)
    people = tables["visits"]["patient_id"].to_pylist()
    assert 1 < max(people.count(one) for one in set(people)) <= 6
    tables = sample_rows(POLICIES["golden rho"], 300)
    assert {*tables["visits"]["person"].to_pylist()} & {*tables["stays"]["patient"].to_pylist()}


JOINS = {
    "chain": [
        "orders JOIN lines USING (oid) JOIN returns USING (lid)",
        "parcels JOIN orders USING (oid, who)",
        "lines JOIN wards USING (ward)",
        "buyers JOIN orders USING (who)",
    ],
    "shop": [
        "customer JOIN orders ON c_custkey = o_custkey JOIN lineitem ON l_orderkey = o_orderkey",
        "customer JOIN nation ON c_nationkey = n_nationkey",
    ],
    "golden rho": ["visits JOIN wards USING (ward)", "visits JOIN stays ON person = patient"],
    "postgres 0": ["visits JOIN wards USING (ward)"],
    "odd: keys of rows": ["t JOIN u USING (a, b) JOIN v USING (a, b, line)"],
    "odd: public facts": ["t JOIN wards USING (ward)", "t JOIN years USING (year)"],
}


@pytest.mark.parametrize("name", JOINS)
def test_joins_find_rows(name):
    with duckdb.connect() as engine:
        for table, rows in sample_rows(POLICIES[name], 200).items():
            engine.register(table, rows)
        for join in JOINS[name]:
            ((found,),) = engine.execute(f"SELECT COUNT(*) FROM {join}").fetchall()
            assert found >= 10, join


def test_a_public_table_has_one_row_for_each_of_its_keys():
    wards = sample_rows(POLICIES["golden rho"], 500)["wards"]
    assert sorted(wards["ward"].to_pylist()) == ["A", "B", "C", "D"]  # the keys of the protected table's column
    years = sample_rows(POLICIES["odd: public facts"], 1000)["years"]["year"].to_pylist()
    assert len(years) == len(set(years)) == 200


# -- the same everywhere -------------------------------------------------------------------------------------------------


def digest(tables) -> str:
    plain = {name: rows.to_pylist() for name, rows in tables.items()}
    return hashlib.sha256(json.dumps(plain, default=str).encode()).hexdigest()[:16]


def test_the_same_rows_on_every_machine():
    assert digest(sample_rows(POLICIES["demo"], 50)) == DEMO
    assert digest(sample_rows(POLICIES["demo"], 50, seed=1)) != DEMO
    assert digest(sample_rows(POLICIES["chain"], 20, seed=-3)) == CHAIN
    first = sample_rows(POLICIES["demo"], 1)["visits"].to_pylist()[0]
    assert first == FIRST


def test_a_column_more_leaves_the_others_as_they_are():
    policy = POLICIES["demo"]
    (table,) = policy.tables
    fewer = replace(policy, tables=(replace(table, columns=table.columns[:-1]),))
    assert sample_rows(fewer, 30)["visits"].equals(sample_rows(policy, 30)["visits"].drop_columns(["cost"]))


READ = """
import sys
from dither.query.policy.policy import load_policy
from dither.query.sample.sample_rows import sample_rows
from pathlib import Path
policy = load_policy(Path(sys.argv[1]))
sample_rows(policy, 5)  # libraries are loaded now
seen = []
sys.addaudithook(lambda event, given: seen.append((event, given)))
rows = sample_rows(policy, 20, seed=3)
opened = [event for event, _ in seen if event.partition(".")[0] in ("open", "os", "sqlite3", "socket", "subprocess", "glob")]
print(opened, {name: table.num_rows for name, table in rows.items()})
"""


def test_nothing_is_opened(tmp_path):
    """Attack A25: neither the sources, which are not there, nor a ledger, nor anything else."""
    policy = tmp_path / "policy.toml"
    policy.write_text(TEXTS["golden rho"])
    done = subprocess.run([sys.executable, "-c", READ, str(policy)], capture_output=True, text=True, check=True)
    tables = {table.name: 4 if table.public else 20 for table in POLICIES["golden rho"].tables}
    assert done.stdout == f"[] {tables}\n"
    assert [path.name for path in tmp_path.iterdir()] == ["policy.toml"]


# -- refusals ------------------------------------------------------------------------------------------------------------


def test_what_is_no_policy_or_no_number_is_refused():
    policy = POLICIES["odd: the person alone"]
    with pytest.raises(DataError, match="not a policy"):
        sample_rows("policy.toml")
    for rows in (0, -1, 1.5, "9", True):
        with pytest.raises(NumberError, match="rows"):
            sample_rows(policy, rows)
    with pytest.raises(SizeError, match="at most 1,000,000"):
        sample_rows(policy, 10**6 + 1)
    with pytest.raises(NumberError, match="seed"):
        sample_rows(policy, 5, seed="monday")
