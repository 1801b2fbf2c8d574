"""Steps of other sources than a plain file: no names, other endings, Parquet, several tables of a DuckDB file."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import duckdb
import pyarrow
import pyarrow.parquet
import pytest

from dither.errors import ConflictError, PolicyError
from dither.query.owner.wizard.wizard import Wizard
from dither.query.policy.policy import read_policy
from dither.query.sources.find_source import find_source
from tests.query.owner.wizard.hospital import walk


@pytest.fixture(autouse=True)
def _inside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_a_file_without_names_never_shows_its_first_row_without_consent():
    Path("visits.csv").write_text("7,Süd,1.5\n8,Nord,2.5\n", encoding="utf-8")
    wizard = Wizard("visits.csv")
    replies = {"look": "no", "file.header": "yes", "file.separator": "comma"}
    walk(wizard, replies, until="file.separator")
    with pytest.raises(PolicyError, match="looks like a row"):
        wizard.answer("comma")
    assert "Süd" not in json.dumps(wizard.view(), ensure_ascii=False)
    wizard.back()
    wizard.back()
    replies = {"file.header": "no", "file.separator": "comma", "file.names": "patient, ward, cost", "file.decimal": "point"}
    replies |= {"domain": "clinic", "visits.person": "patient", "visits.ward.keep": "no", "visits.cost.type": "decimal"}
    replies |= {"visits.patient.type": "integer", "visits.cost.bounds": "0 to 10", "visits.cost.known_from": "unit"}
    replies |= {"visits.max_rows": "3", "visits.known_from": "other", "budget.people": "1000", "ledger.witness": "none"}
    walk(wizard, replies)
    stated = tomllib.loads(str(wizard.policy))
    assert stated["tables"]["visits"]["header"] == ["patient", "ward", "cost"]
    assert source_of(stated).header() == ["patient", "ward", "cost"]


def source_of(stated):
    """The one table of a policy, as it would be read."""
    (table,) = read_policy(stated).tables
    return find_source(table.source, Path.cwd(), "source", table.dialect)


@pytest.mark.parametrize(("name", "separator"), [("visits.txt", "\t"), ("visits.tsv", "\t"), ("visits.txt", ",")])
def test_other_endings_state_their_separator(name, separator):
    Path(name).write_text(f"patient{separator}age\n1{separator}30\n")
    replies = {"file.header": "yes", "file.separator": {"\t": "tab", ",": "comma"}[separator], "file.decimal": "point"}
    replies |= {
        "domain": "d",
        "visits.patient.type": "integer",
        "visits.age.type": "integer",
        "visits.age.bounds": "0 to 120",
    }
    replies |= {"visits.age.known_from": "unit", "visits.max_rows": "1", "visits.known_from": "other", "budget.people": "9"}
    stated = tomllib.loads(str(walk(Wizard(name), replies | {"ledger.witness": "none"}).policy))
    assert stated["tables"]["visits"]["separator"] == separator
    assert list(source_of(stated).schema("visits")) == ["patient", "age"]


def test_a_parquet_file_has_types_and_is_never_looked_into():
    table = pyarrow.table({"id": [1, 2], "note": ["a", "b"], "age": [30, 40], "many": [[1], [2]]})
    pyarrow.parquet.write_table(table, "people.parquet")
    wizard = Wizard("people.parquet")
    assert wizard.step.key == "domain"
    with pytest.raises(ConflictError, match="known without its rows"):
        Wizard("people.parquet", read_data=True)
    replies = {"domain": "d", "people.person": "each row", "people.age.bounds": "0 to 120", "people.age.known_from": "unit"}
    replies |= {"people.id.keep": "no", "budget.people": "100", "ledger.witness": "none"}
    stated = tomllib.loads(str(walk(wizard, replies).policy))
    assert stated["tables"]["people"] == {
        "source": "people.parquet",
        "person": "each row",
        "columns": {"age": {"type": "integer", "bounds": [0, 120], "known_from": "unit"}},
    }
    read_policy(stated)


def test_tables_of_a_duckdb_file_one_after_the_other_with_names_that_have_dots():
    with duckdb.connect("shop.duckdb") as made:
        made.execute('CREATE TABLE "a" ("b.c" INTEGER, "d" INTEGER)')
        made.execute('CREATE TABLE "a.b" ("c" INTEGER, "e" VARCHAR)')
        made.execute("CREATE TABLE regions (name VARCHAR)")
        made.execute("CREATE TABLE old (x INTEGER)")
    replies = {"domain": "d", "a.person": "d", 'a."b.c".bounds': "0 to 5", 'a."b.c".known_from': "unit", "a.max_rows": "2"}
    replies |= {"a.known_from": "other", '"a.b".person': "each row", '"a.b".c.bounds': "1 to 9", '"a.b".c.known_from': "law"}
    replies |= {'"a.b".e.keys': '["x, y", "z"]', '"a.b".e.known_from': "law", "regions.person": "nobody"}
    replies |= {"regions.name.keys": "n, s", "old.keep": "no", "budget.people": "100", "ledger.witness": "none"}
    replies |= {"regions.name.keep": "yes"}
    stated = tomllib.loads(str(walk(Wizard("shop.duckdb"), replies).policy))
    tables = stated["tables"]
    assert set(tables) == {"a", "a.b", "regions"}
    assert tables["a"]["columns"] == {
        "b.c": {"type": "integer", "bounds": [0, 5], "known_from": "unit"},
        "d": {"type": "integer"},
    }
    assert tables["a.b"]["columns"]["c"]["bounds"] == [1, 9]
    assert tables["a.b"]["columns"]["e"]["keys"] == ["x, y", "z"]
    assert tables["regions"]["public"] is True
    assert tables["regions"]["columns"] == {"name": {"type": "text", "keys": ["n", "s"]}}  # a public table needs no origin
    read_policy(stated)


def test_a_file_that_goes_away_is_asked_about_again_and_no_reply_is_lost():
    Path("visits.csv").write_text("patient,age\n1,30\n")
    replies = {"look": "no", "file.header": "yes", "file.separator": "comma", "file.decimal": "point"}
    wizard = walk(Wizard("visits.csv"), replies, until="domain")
    Path("visits.csv").unlink()
    step = wizard.answer("d")
    assert step is not None
    assert step.key == "file.encoding"
    with pytest.raises(PolicyError, match="No such file"):
        wizard.answer("")
    Path("visits.csv").write_text("patient,age\n1,30\n")
    assert wizard.answer("").key == "visits.person"


def test_names_of_columns_that_a_policy_cannot_have():
    Path("visits.csv").write_text(f"patient,{'x' * 129},age\n1,2,3\n")
    replies = {"look": "yes", "domain": "d", "visits.age.bounds": "no", "visits.max_rows": "2", "visits.known_from": "law"}
    replies |= {"budget.people": "10", "ledger.witness": "none"}
    stated = tomllib.loads(str(walk(Wizard("visits.csv"), replies).policy))
    assert list(stated["tables"]["visits"]["columns"]) == ["patient", "age"]
    for head, told in (("patient,a,A", "the same name in SQL"), ("patient,,a", "without a name")):
        Path("visits.csv").write_text(f"{head}\n1,2,3\n")
        wizard = walk(Wizard("visits.csv"), {"file.header": "yes"}, until="file.separator")
        with pytest.raises(PolicyError, match=told):
            wizard.answer("comma")


def test_words_that_a_face_takes_for_something_else_are_proposed_in_brackets():
    Path("visits.csv").write_text("patient,age\n" + "".join(f"{n},{n}\n" for n in range(40)) + "1,?\n")
    wizard = walk(Wizard("visits.csv", read_data=True), {"domain": "d"}, until="visits.age.missing")
    assert wizard.step.default == '["?"]'
    wizard.answer("")
    assert 'null = ["?"]' in wizard.draft()


@pytest.mark.parametrize(
    ("header", "examples"),
    [("Fall-Nr.;Ort", ()), ("Fall-Nr.;Pat.-Nr.", ("Pat.-Nr.", "each row")), ("case;patient_id", ("patient_id", "each row"))],
)
def test_only_a_recognized_column_is_an_example_of_the_person(header, examples):
    Path("cases.csv").write_text(f"{header}\n1;2\n2;2\n", encoding="utf-8")
    wizard = Wizard("cases.csv")
    walk(
        wizard,
        {"file.header": "yes", "file.separator": "semicolon", "file.decimal": "comma", "domain": "d"},
        until="cases.person",
    )
    assert wizard.step is not None
    assert wizard.step.examples == examples
    assert header.split(";")[0] in dict(wizard.step.choices)  # to choose, not to imitate


def test_a_column_without_repeats_is_doubted_before_it_limits_a_person():
    Path("cases.csv").write_text("case;patient_id\n1;2\n2;2\n", encoding="utf-8")
    for person, told in (("case", "is it really a number of the person"), ("patient_id", "at most 2 rows of one person")):
        wizard = Wizard("cases.csv", read_data=True)
        numbers = {"cases.case.bounds": "no", "cases.patient_id.bounds": "no"}
        walk(wizard, {"look": "yes", "domain": "d", "cases.person": person, **numbers}, until="cases.max_rows")
        assert wizard.step is not None
        assert told in wizard.step.seen
