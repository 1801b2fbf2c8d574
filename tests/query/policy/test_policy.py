"""What an owner may state, and how every slip is answered with its place in the file."""

from __future__ import annotations

import copy
import datetime
from fractions import Fraction

import pytest

from dither import Unit, approx, zcdp
from dither.errors import PolicyError
from dither.query.policy.column import Type
from dither.query.policy.policy import load_policy, read_policy

TEXT = """
version = 1
domain = "clinic"
data_version = "2026-11"

[ledger]
location = "clinic.ledger"
budget = { epsilon = "3", delta = "1e-6" }

[limits]
per_question = { epsilon = 1 }

[tables.visits]
source = "visits.parquet"
person = "patient_id"
max_groups = 3
max_rows_per_group = 5

[tables.visits.columns]
patient_id = { type = "integer" }
ward = { type = "text", keys = ["B", "A", "C"] }
cost = { type = "decimal", bounds = [0, 2000], step = 0.01 }
age = { type = "integer", bounds = [0, 120], nullable = false }
weight = { type = "float", bounds = ["0.5", "300"] }
seen = { type = "date", keys = [2026-01-02, 2026-01-01] }
"""


@pytest.fixture
def stated():
    import tomllib

    return tomllib.loads(TEXT)


def test_a_policy_is_read_exactly(tmp_path):
    path = tmp_path / "policy.toml"
    path.write_text(TEXT)
    policy = load_policy(path)
    assert (policy.domain, policy.unit, policy.data_version) == ("clinic", Unit.ADD_REMOVE, "2026-11")
    assert policy.ledger.budget == approx(3, "1e-6")
    assert policy.per_question == approx(1, 0)
    table = policy.table("VISITS")
    assert (table.person, table.max_groups, table.max_rows_per_group) == ("patient_id", 3, 5)
    assert table.column("Cost").step == Fraction(1, 100)
    assert table.column("cost").steps == 200_000
    assert table.column("age").steps == 120
    assert table.column("weight").steps == 2**20
    assert table.column("ward").keys == ("A", "B", "C")
    assert table.column("seen").keys == (datetime.date(2026, 1, 1), datetime.date(2026, 1, 2))
    assert table.column("seen").type is Type.DATE
    assert not table.column("age").nullable
    assert table.column("nobody") is None
    assert policy.table("nobody") is None


def put(stated: dict, place: str, value: object) -> dict:
    facts = copy.deepcopy(stated)
    *way, last = place.split(".")
    inner = facts
    for name in way:
        inner = inner[name]
    if value is ...:
        inner.pop(last)
    else:
        inner[last] = value
    return facts


@pytest.mark.parametrize(
    ("place", "value"),
    [
        *(("version", bad) for bad in (..., 2, "1", True)),
        *(("domain", bad) for bad in (..., "", 3, "a\nb")),
        *(("unit", bad) for bad in ("nobody", 3, "add/remove one row")),
        ("data_version", 3),
        ("surprise", 1),
        ("ledger", 3),
        ("ledger.location", ...),
        ("ledger.surprise", 1),
        ("ledger.identity", 3),
        *(("ledger.budget", bad) for bad in (..., 3, {}, {"epsilon": 1, "rho": 1}, {"epsilon": "nan"}, {"epsilon": -1},
                                             {"epsilon": True}, {"epsilon": 1, "delta": 1}, {"delta": 0},
                                             {"epsilon": 1, "x": 1})),
        ("limits", 3),
        ("limits.per_question", {"epsilon": "x"}),
        ("limits.surprise", 1),
        *(("tables", bad) for bad in (..., {}, 3, {"visits": 3}, {"": {}})),
        ("tables.Visits", {}),
        ("tables.visits.surprise", 1),
        *(("tables.visits.columns", bad) for bad in (..., {}, 3, {"": {}})),
        ("tables.visits.columns.WARD", {"type": "text"}),
        *(("tables.visits.person", bad) for bad in (..., "nobody", 3, "cost", "weight")),
        *(("tables.visits.max_groups", bad) for bad in (..., 0, -1, 1.5, "3", True, 10**7)),
        *(("tables.visits.max_rows_per_group", bad) for bad in (..., 0)),
        *(("tables.visits.source", bad) for bad in ("", 3)),
        ("tables.visits.columns.cost", 3),
        ("tables.visits.columns.cost.surprise", 1),
        *(("tables.visits.columns.cost.type", bad) for bad in (..., "number", 3)),
        *(("tables.visits.columns.cost.bounds", bad) for bad in (3, [1], [1, 2, 3], [2, 1], [1, 1], ["x", 2],
                                                                  [float("nan"), 1],
                                                                 [True, 2], [0, float("inf")], [None, 1])),
        *(("tables.visits.columns.cost.step", bad) for bad in (0, -1, 3000, "1e-30", "x", True)),
        ("tables.visits.columns.age.bounds", ["0.5", 3]),
        ("tables.visits.columns.ward.bounds", [0, 1]),
        ("tables.visits.columns.ward.step", 1),
        *(("tables.visits.columns.ward.keys", bad) for bad in ([], 3, "A", [1], ["A", "A"], ["A", None])),
        ("tables.visits.columns.patient_id.keys", [True]),
        ("tables.visits.columns.patient_id.keys", [2**63]),
        ("tables.visits.columns.weight.keys", [1.5]),
        *(("tables.visits.columns.ward.nullable", bad) for bad in (1, "yes")),
    ],
)  # fmt: skip
def test_every_slip_is_answered_with_its_place(stated, place, value):
    with pytest.raises(PolicyError) as refused:
        read_policy(put(stated, place, value))
    parts = refused.value.where.split(".")
    assert parts[0] == place.split(".")[0].lower() or parts[0] == place.split(".")[0]
    assert len(refused.value.why) > 10
    assert len(refused.value.instead) > 3


def test_one_row_one_person(stated):
    facts = put(put(put(stated, "tables.visits.person", "each row"), "tables.visits.max_groups", ...),
                "tables.visits.max_rows_per_group", ...)  # fmt: skip
    table = read_policy(facts).tables[0]
    assert (table.person, table.max_groups, table.max_rows_per_group) == (None, 1, 1)
    with pytest.raises(PolicyError, match="max_groups"):
        read_policy(put(facts, "tables.visits.max_groups", 2))


def test_the_hash_changes_with_the_promise_and_with_nothing_else(stated):
    same = read_policy(stated).hash
    for place, value in (("tables.visits.source", "elsewhere.parquet"), ("ledger.location", "other"), ("data_version", "2"),
                         ("tables.visits.columns.ward.keys", ["C", "B", "A"]),
                         ("tables.visits.columns.cost.step", "1/100")):  # fmt: skip
        assert read_policy(put(stated, place, value)).hash == same, place
    for place, value in (("domain", "x"), ("unit", "replace one person"), ("tables.visits.max_groups", 4),
                         ("tables.visits.max_rows_per_group", 4), ("tables.visits.columns.cost.bounds", [0, 2001]),
                         ("tables.visits.columns.cost.step", 1), ("tables.visits.columns.ward.keys", ["A", "B"]),
                         ("tables.visits.columns.ward.nullable", False), ("limits.per_question", {"epsilon": 2}),
                         ("tables.visits.columns.new", {"type": "text"}), ("tables.visits.person", "ward")):  # fmt: skip
        assert read_policy(put(stated, place, value)).hash != same, place
    assert read_policy(put(stated, "ledger.budget", {"rho": "0.5"})).ledger.budget == zcdp("0.5")


@pytest.mark.parametrize("text", ["[", "version = 1\nversion = 2", "\xff"])
def test_files_that_are_none(tmp_path, text):
    path = tmp_path / "policy.toml"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(PolicyError, match="TOML"):
        load_policy(path)
    with pytest.raises(PolicyError, match="cannot be read"):
        load_policy(tmp_path / "missing")


DATES = {"type": "date", "bounds": [datetime.date(2024, 1, 1), "2024-12-31"]}
TIMES = {"type": "timestamp", "bounds": ["2024-01-01", datetime.date(2024, 12, 31)]}


def dated(**columns):
    table = {"person": "p", "max_groups": 1, "max_rows_per_group": 1, "columns": {"p": {"type": "integer"}, **columns}}
    return read_policy(
        {"version": 1, "domain": "d", "tables": {"t": table | {"hard": ["bounds.d"] if "d" in columns else []}}}
    )


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ({"unique": ["ward"]}, "only a public table has it"),
        ({"public": True, "unique": ["wards"]}, "it names no column of this table"),
        ({"public": True, "unique": "ward"}, "it lists columns that together are never the same"),
        ({"public": True, "hard": ["keys.ward"]}, "a public table is about nobody"),
        ({"hard": ["keys.p"]}, "no such limit is stated for this table"),
    ],
)
def test_facts_that_answers_believe_are_of_columns_that_there_are(facts, why):
    columns = {"p": {"type": "integer"}, "ward": {"type": "text", "keys": ["A"]}}
    table = {"columns": columns, **({} if "public" in facts else {"person": "p", "max_rows": 1}), **facts}
    people = {"person": "p", "max_rows": 1, "columns": {"p": {"type": "integer"}}}
    with pytest.raises(PolicyError, match=why):
        read_policy({"version": 1, "domain": "d", "tables": {"t": table, "people": people}})


def test_facts_that_answers_believe_are_in_the_hash():
    columns = {"p": {"type": "integer"}, "ward": {"type": "text", "keys": ["A"]}}

    def policy(hard, unique):
        tables = {
            "t": {"person": "p", "max_rows": 1, "hard": hard, "columns": columns},
            "wards": {"public": True, "unique": unique, "columns": {"ward": {"type": "text"}, "year": {"type": "integer"}}},
        }
        return read_policy({"version": 1, "domain": "d", "tables": tables})

    several = [policy([], []), policy(["keys.ward"], []), policy([], ["ward"]), policy([], ["ward", "year"])]
    assert len({one.hash for one in several}) == 4
    assert several[3].hash == policy([], ["year", "ward", "WARD"]).hash
    assert "unique by ward, year" in several[3].explain()


def test_bounds_of_dates():
    _, day, at = dated(d=DATES, at=TIMES).tables[0].columns
    assert (day.first, day.last) == (datetime.date(2024, 1, 1), datetime.date(2024, 12, 31))
    assert (at.first, at.last) == (datetime.datetime(2024, 1, 1), datetime.datetime(2024, 12, 31, 23, 59, 59, 999999))
    assert (day.lower, day.upper, day.is_bounded) == (None, None, False)
    assert "d: date, 2024-01-01 to 2024-12-31" in dated(d=DATES).explain()
    assert dated(d=DATES).hash != dated(d=DATES | {"bounds": ["2024-01-01", "2024-12-30"]}).hash
    before = "db412172bc4bbd502b71e5037957ad83abb272bb75669660e473a600c07e8843"
    assert dated(e={"type": "date"}).hash == before  # a ledger of a policy without bounds of dates knows it still


@pytest.mark.parametrize(
    ("kind", "bounds", "why"),
    [
        ("date", ["2024-01-02", "2024-01-01"], "not before"),
        ("date", ["2024-01-02"], "two dates"),
        ("date", [0, 1], "no date"),
        ("date", ["2024-02-30", "2024-12-31"], "no date"),
        ("date", [datetime.datetime(2024, 1, 1), "2024-12-31"], "no time"),
        ("timestamp", ["2024-01-01T00:00:00+01:00", "2024-12-31"], "no zone"),
        ("text", ["2024-01-01", "2024-12-31"], "no bounds"),
    ],
)
def test_bounds_that_are_no_dates(kind, bounds, why):
    with pytest.raises(PolicyError, match=why):
        dated(e={"type": kind, "bounds": bounds})


def test_a_draft_points_to_the_list_of_what_is_open(stated):
    stated["domain"] = "FILL IN: one name for all tables"
    with pytest.raises(PolicyError, match="has not decided it yet") as told:
        read_policy(stated)
    assert told.value.where == "domain"
    assert "dither policy check FILE lists every line that is open" in told.value.instead
