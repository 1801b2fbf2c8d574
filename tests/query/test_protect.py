"""`dither.protect` with public tables beside the protected one."""

from __future__ import annotations

import datetime

import numpy as np
import pyarrow
import pytest

import dither
from dither.errors import ArgumentError, DataError, GuaranteeError, PolicyError, QuestionError
from tests.query.clinics import clinic, visits

WARDS = pyarrow.table({"ward": ["A", "B", "A"], "site": ["north", "south", "south"], "floor": [1, 2, 30]})
PUBLIC = {
    "public": {"wards": WARDS},
    "types": {"wards.floor": "integer"},
    "bounds": {"cost": (0, 400), "wards.floor": (0, 9)},
}
KEYS = {"ward": ["A", "B", "C"], "wards.site": ["north", "south"]}
JOINED = "FROM visits JOIN wards ON visits.ward = wards.ward"
pytestmark = pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")


def test_a_public_table_is_joined_without_a_policy_file(tmp_path):
    data = clinic(tmp_path, keys=KEYS, complete=["cost", "wards.site"], **PUBLIC)
    wards = data.policy.table("wards")
    assert wards.public
    assert not wards.column("site").nullable
    asked = f"SELECT site, COUNT(*) AS n, SUM(floor) AS floor {JOINED} GROUP BY site"
    answer = data.quote(asked, epsilon=10**6, bounding="groups").release()
    in_a, in_b = (visits()["ward"].to_pylist().count(ward) for ward in "AB")
    assert answer["site"] == ["north", "south"]
    assert answer["n"] == [in_a, in_a + in_b]
    assert answer["floor"] == [in_a, 9 * in_a + 2 * in_b]  # 30 is beyond the stated bounds


def test_what_was_not_stated_is_not_taken_from_a_public_table(tmp_path):
    data = clinic(tmp_path, public={"wards": WARDS})
    with pytest.raises(GuaranteeError, match="declares no keys"):
        data.quote(f"SELECT site, COUNT(*) {JOINED} GROUP BY site", epsilon=1)
    with pytest.raises(QuestionError, match="states no bounds"):
        data.quote(f"SELECT SUM(floor) {JOINED}", epsilon=1)
    with pytest.raises(QuestionError, match="rows are looked at that may be somebody else"):
        data.quote(
            "SELECT COUNT(*) FROM wards WHERE EXISTS (SELECT 1 FROM visits WHERE visits.ward = wards.ward)", epsilon=1
        )


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ({"public": {"visits": WARDS}}, "the protected table has that name"),
        ({"public": {"wards": WARDS}, "keys": {"wards.town": ["a"]}}, "the data has no such column"),
        ({"keys": {"wards.site": ["a"]}}, "the data has no such column"),
        ({"public": WARDS}, "by name"),
    ],
)
def test_refusals(tmp_path, facts, why):
    with pytest.raises(PolicyError, match=why):
        clinic(tmp_path, **facts)


def test_a_column_of_the_protected_table_may_have_a_dot_in_its_name(tmp_path):
    table = pyarrow.table({"person": [1, 2], "wards.site": ["x", "y"]})
    data = dither.protect(
        table, name="visits", person="person", max_groups=1, max_rows_per_group=1, keys={"wards.site": ["x", "y"]},
        public={"wards": WARDS}, ledger=dither.Ledger.create(tmp_path / "a.ledger", budget=dither.pure(1)),
    )  # fmt: skip
    assert data.policy.table("visits").column("wards.site").keys == ("x", "y")
    assert data.policy.table("wards").column("site").keys is None


@pytest.mark.parametrize("data", [[1, 2], {"a": [1]}, None, 3, object()], ids=lambda data: type(data).__name__)
@pytest.mark.parametrize("others", [{}, {"epsilon": 1}, {"name": "visits"}, {"name": "", "person": "a", "ledger": None}])
def test_data_that_is_no_table_is_refused_first(data, others):
    with pytest.raises(DataError, match="a DataFrame of pandas, polars or Spark, or an Arrow table") as told:
        dither.protect(data, **others)
    assert told.value.where == "data"
    assert told.value.__context__ is None
    with pytest.raises(DataError, match="Arrow table"):
        dither.protect(data=data, **others)


def test_a_table_without_its_other_arguments_is_refused_as_before():
    for given in ({"data": WARDS}, {"data": "wards.parquet"}, {}):
        with pytest.raises(ArgumentError, match="of protect = nothing is refused: it has no default"):
            dither.protect(**given)


def test_a_throw_away_ledger_is_proposed_beside_a_lasting_one():
    with pytest.raises(ArgumentError) as told:
        dither.protect(WARDS, name="wards", person="ward")
    assert told.value.instead.endswith("; to try things out, ledger=dither.Ledger.temporary(dither.pure(1))")
    with dither.Ledger.temporary(dither.pure(1)) as ledger:
        with pytest.raises(ArgumentError) as told:
            dither.protect(WARDS, name="wards", ledger=ledger)
        assert "temporary" not in told.value.instead
    with pytest.raises(DataError) as refused:
        dither.protect(WARDS, name="wards", person="ward", ledger="clinic.ledger")
    assert "dither.Ledger.temporary(dither.pure(1))" in refused.value.instead


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "remaining",
            "'Dataset' object has no attribute 'remaining': clinic.ledger.remaining(), where clinic is the dataset",
        ),
        ("budget", "clinic.ledger.remaining()"),
        ("query", "clinic.quote('SELECT COUNT(*) AS n FROM visits', epsilon='0.5').release()"),
        ("columns", "clinic.explain()"),
    ],
)
def test_what_a_dataset_does_not_have_says_what_has_it(tmp_path, name, words):
    data = clinic(tmp_path)
    with pytest.raises(AttributeError) as told:
        getattr(data, name)
    assert words in str(told.value)
    assert not hasattr(data, "xyzzy")
    with pytest.raises(AttributeError, match=r"^'Dataset' object has no attribute 'xyzzy'$"):
        _ = data.xyzzy
    data.ledger.remaining()
    data.explain()


def test_bounds_and_keys_say_what_a_column_of_a_csv_file_is(tmp_path, monkeypatch):
    """The declaration alone: a cell that is another thing is missing, as in any column of that type."""
    monkeypatch.chdir(tmp_path)
    rows = [f"p{at},{20 + at % 50}.5,{at % 2},2024-01-{1 + at % 9:02},north,{str(at > 9).lower()}" for at in range(200)]
    (tmp_path / "people.csv").write_text("\n".join(["id,age,sex,day,ward,ill", *rows, "odd,x,x,x,x,x", ""]))
    (tmp_path / "wards.csv").write_text("ward,floor,beds\nnorth,3,4\n")
    facts = {
        "bounds": {"age": (0, 100), "day": ("2024-01-01", "2024-01-31"), "wards.floor": (0, 9), "wards.beds": (0, 9)},
        "keys": {"sex": [0, 1], "ward": ["north"], "ill": [False, True]},
        "public": {"wards": "wards.csv"},
        "types": {"wards.floor": "integer"},
    }
    with dither.Ledger.temporary(dither.pure(10**7)) as ledger:
        people = dither.protect("people.csv", name="people", person="id", max_rows=1, ledger=ledger, **facts)
        kinds = {column.name: column.type.value for column in people.policy.table("people").columns}
        assert kinds == {"id": "text", "age": "float", "sex": "integer", "day": "date", "ward": "text", "ill": "boolean"}
        assert [column.type.value for column in people.policy.table("wards").columns] == ["text", "integer", "float"]
        answer = people.quote("SELECT sex, AVG(age) AS age FROM people GROUP BY sex", epsilon=10**6).release()
        assert answer["sex"] == [0, 1]
        assert [round(age, 2) for age in answer["age"]] == [44.5, 45.5]
    for bounds, keys, kind in (
        ({"age": "auto"}, None, "float"),
        ({"age": (datetime.date(2024, 1, 1), datetime.date(2024, 2, 1))}, None, "date"),
        ({"age": ("2024-01-01T00:00:00", "2024-02-01T00:00:00")}, None, "timestamp"),
        ({"age": (0, 100)}, {"age": [1, 2]}, "integer"),
        (None, {"age": [datetime.date(2024, 1, 1)]}, "date"),
    ):
        with dither.Ledger.temporary(dither.pure(1)) as ledger:
            same = {"name": "people", "person": "id", "max_rows": 1, "ledger": ledger}
            steps = {"age": 1} if bounds == {"age": "auto"} else None
            found = dither.protect("people.csv", bounds=bounds, keys=keys, steps=steps, **same)
            assert found.policy.table("people").column("age").type.value == kind
    text = pyarrow.table({"id": [1], "age": ["7"]})  # a frame declares its types, and no bounds change them
    with dither.Ledger.temporary(dither.pure(1)) as ledger, pytest.raises(PolicyError, match="a text column has no bounds"):
        dither.protect(text, name="people", person="id", max_rows=1, ledger=ledger, bounds={"age": (0, 100)})


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ({"keys": {"age": [0.0, 1.0]}}, "a float column has no keys"),
        ({"keys": {"age": [0, 1.5]}}, "a float column has no keys"),
        ({"keys": {"age": [0, "1"]}}, "keys of a text column are strs"),
        ({"keys": {"age": [0, 1]}, "bounds": {"age": ("2024-01-31", "2024-12-01")}}, "it is a date"),
        ({"types": {"age": "integer"}, "bounds": {"age": ("2024-01-31", "2024-12-01")}}, "it is a date"),
        ({"keys": {"age": ["0", "1"]}, "bounds": {"age": (0, 1)}}, "a float column has no keys"),
        ({"bounds": {"age": (0, "2024-12-01")}}, "it is no date"),
        ({"bounds": {"age": np.array([0, 100])}}, "bounds are two numbers"),
        ({"bounds": {"age": [np.array([1, 2]), 5]}}, "not a number"),
    ],
)
def test_facts_of_several_kinds_are_refused_by_kind(tmp_path, monkeypatch, facts, why):
    """As a number, '2024-01-31' would be 1992."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("id,age\na,1\n")
    with dither.Ledger.temporary(dither.pure(1)) as ledger, pytest.raises(PolicyError, match=why):
        dither.protect("people.csv", name="people", person="id", max_rows=1, ledger=ledger, **facts)


def test_what_failed_inside_is_told(tmp_path, monkeypatch):
    """An AttributeError of ours is not told as a name that a dataset lacks."""

    def broken(*_: object, **__: object) -> None:
        raise AttributeError("the cause")

    monkeypatch.setattr("dither.query.holdings.choose_engine", broken)
    with pytest.raises(AttributeError, match="the cause"):
        _ = clinic(tmp_path).engine
