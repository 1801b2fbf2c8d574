"""SmartNoise's metadata as a policy draft: what is there comes along, what is not is told, nothing is guessed."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dither.errors import ConflictError, PolicyError
from dither.query.owner.smartnoise import import_smartnoise
from dither.query.policy.policy import MARK, load_policy, read_policy
from tests.cli.test_query import dither

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed: pip install 'dither[yaml]'")

PUMS = """
"":
  PUMS:
    PUMS:
      max_ids: 4
      rows: 1000
      censor_dims: True
      clamp_counts: False
      shoe_size: 43
      pid: {type: int, private_id: True}
      age: {type: int, lower: 0, upper: 100, nullable: False}
      income: {type: float, lower: 0.5, upper: 5.0e+5, sensitivity: 3}
      sex: {type: string, cardinality: 2}
      married: {type: boolean}
      born: {type: datetime, lower: 2020-01-01}
      debt: {type: float, upper: 10}
      odd: {type: unknown}
      "a \\"b\\" 🎲": {type: int, missing_value: -1}
"""


def imported(folder: Path, text: str) -> str:
    path = folder / "metadata.yaml"
    path.write_text(text, encoding="utf-8")
    return import_smartnoise(path)


def decided(draft: str) -> dict[str, Any]:
    """What an owner makes of it: every mark is decided."""
    for mark, decision in [
        ("one name[^\"]*", "clinic"), ("such as clinic.ledger", "clinic.ledger"), ("such as \\d", "1"),
        ("a .parquet[^\"]*", "pums.csv"), ("the column[^\"]*", "each row"),
    ]:  # fmt: skip
        draft = re.sub(f'"{MARK}: {mark}"', f'"{decision}"', draft)
    return tomllib.loads(draft)


def test_what_has_a_counterpart(tmp_path):
    draft = imported(tmp_path, PUMS)
    with pytest.raises(PolicyError, match="not decided"):
        read_policy(tomllib.loads(draft))
    (table,) = read_policy(decided(draft)).tables
    assert (table.name, table.person, table.max_groups, table.max_rows_per_group) == ("PUMS", "pid", 4, 1)
    told = {column.name: (column.type.value, column.lower, column.upper, column.nullable) for column in table.columns}
    assert told == {
        "pid": ("integer", None, None, True),
        "age": ("integer", 0, 100, False),
        "income": ("float", 0.5, 500_000, True),
        "sex": ("text", None, None, True),
        "married": ("boolean", None, None, True),
        "born": ("timestamp", None, None, True),
        "debt": ("float", None, None, True),
        'a "b" 🎲': ("integer", None, None, True),
    }


def test_what_has_none_is_told(tmp_path):
    comments = [line for line in imported(tmp_path, PUMS).splitlines() if line.startswith("#")]
    for fact in ["rows: 1000", "censor_dims: true", "clamp_counts: false", "shoe_size: 43: not known"]:
        assert any(fact in line for line in comments), fact
    for fact in [
        "income, sensitivity: 3",
        "sex, cardinality: 2",
        "born: ",
        "debt: ",
        '"odd": its type is unknown',
        "missing_value: -1",
    ]:
        assert any(fact in line for line in comments), fact


def test_every_fact_of_the_file_is_in_the_draft(tmp_path):
    draft = imported(tmp_path, PUMS)
    (facts,) = yaml.safe_load(PUMS)[""]["PUMS"].values()
    for name, part in facts.items():
        assert name.replace('"', '\\"') in draft
        if isinstance(part, dict):
            extra = set(part) - {"type", "lower", "upper", "private_id", "nullable"}
            assert all(f"{fact}: " in draft for fact in extra)


SMALL = '"": {s: {t: {%s, x: {type: int}}}}'


def test_persons(tmp_path):
    each = imported(tmp_path, SMALL % "row_privacy: true")
    assert read_policy(decided(each)).tables[0].person is None
    both = imported(tmp_path, SMALL % "row_privacy: true, p: {type: int, private_id: true}")
    assert 'person = "each row"  # row_privacy: true, although "p" is a private_id' in both
    assert read_policy(decided(both)).tables[0].max_groups == 1
    nobody = imported(tmp_path, SMALL % "rows: 3")
    assert f'person = "{MARK}' in nobody
    assert "max_ids is not stated, and SmartNoise takes 1 then" in nobody
    many = imported(tmp_path, SMALL % "max_contrib: 7, p: {type: string, private_id: true}")
    assert read_policy(decided(many)).tables[0].max_groups == 7


def test_several_tables(tmp_path):
    two = '"": {s: {t: {p: {type: int, private_id: true}}, u: {p: {type: int, private_id: true}}}}'
    assert [table.name for table in read_policy(decided(imported(tmp_path, two))).tables] == ["t", "u"]
    with pytest.raises(PolicyError, match="two schemas"):
        imported(tmp_path, '"": {s: {t: {p: {type: int}}}, r: {T: {p: {type: int}}}}')


REFUSED = [
    ("", "mapping"),
    ("3", "mapping"),
    ("{}", "no table"),
    ('"": 3', "mapping"),
    ('"": {s: [1]}', "mapping"),
    ('"": {s: {t: 3}}', "mapping"),
    ('"": {s: {t: {rows: 3}}}', "no columns"),
    ('"": {s: {1: {x: {type: int}}}}', "a name is a text"),
    ('"": {s: {t: {yes: {type: int}}}}', "a name is a text"),
    ('"": {s: {t: {"a\\nb": {type: int}}}}', "a name is a text"),
    (SMALL % "y: {}", "names no type"),
    (SMALL % "y: {type: decimal}", "names no type"),
    (SMALL % "y: {type: [int]}", "names no type"),
    (SMALL % "y: {type: int, lower: 5, upper: 5}", "not below"),
    (SMALL % "y: {type: int, lower: 0.5, upper: 5}", "whole"),
    (SMALL % "y: {type: float, lower: .nan, upper: 5}", "not a number"),
    (SMALL % "y: {type: float, lower: 0, upper: .inf}", "not a number"),
    (SMALL % "y: {type: float, lower: true, upper: 5}", "not a number"),
    (SMALL % "y: {type: float, lower: '0', upper: 5}", "not a number"),
    (SMALL % "y: {type: int, private_id: 1}", "truth value"),
    (SMALL % "y: {type: int, nullable: maybe}", "truth value"),
    (SMALL % "row_privacy: 3", "truth value"),
    (SMALL % "max_ids: 0", "whole number from 1"),
    (SMALL % "max_ids: true", "whole number from 1"),
    (SMALL % "max_ids: 1.5", "whole number from 1"),
    (SMALL % "max_ids: 99999999", "whole number from 1"),
    (SMALL % "max_ids: 1, max_contrib: 2", "whole number from 1"),
    (SMALL % "p: {type: int, private_id: true}, q: {type: int, private_id: true}", "more than one column"),
    (SMALL % "y: {type: int}, y: {type: float}", "stated twice"),
    (SMALL % "y: {type: int, type: float}", "stated twice"),
    ("a: &a {b: 1}\nc: *a", "reference"),
    ("!!python/object/apply:os.system ['true']", "not YAML"),
    ("a: [", "not YAML"),
    ("{[1]: 2}", "not YAML"),
    ("[" * 5000, "not YAML"),
    ("x" * 1_000_001, "longer"),
    ("a: \x01", "not YAML"),
]


@pytest.mark.parametrize(("text", "why"), REFUSED, ids=[text[:60] for text, _ in REFUSED])
def test_refusals(tmp_path, text, why):
    with pytest.raises(PolicyError, match=why):
        imported(tmp_path, text)


def test_files_that_are_none(tmp_path):
    with pytest.raises(PolicyError, match="cannot be read"):
        import_smartnoise(tmp_path / "nothing.yaml")
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(PolicyError, match="not YAML"):
        import_smartnoise(tmp_path / "bytes.yaml")


NAMES = st.sampled_from(["type", "lower", "upper", "max_ids", "x", "rows", "é\n#"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(["int", "string"]),
    lambda inner: st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_any_metadata_is_a_draft_or_a_refusal(tmp_path_factory, value):
    """And what is a draft is TOML with nothing in it but what we wrote: no text of the file leaves its comment."""
    folder = tmp_path_factory.getbasetemp()
    try:
        draft = imported(folder, yaml.safe_dump({"": {"s": {"t": value}}}))
    except PolicyError:
        return
    found = tomllib.loads(draft)
    assert set(found) == {"version", "domain", "unit", "data_version", "ledger", "limits", "tables"}
    assert set(found["tables"]["t"]) <= {"source", "person", "max_groups", "max_rows_per_group", "columns"}


def test_on_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("pums.yaml").write_text(PUMS, encoding="utf-8")
    printed = dither("policy", "import", "pums.yaml")
    assert printed == import_smartnoise(Path("pums.yaml"))
    assert "wrote policy.toml" in dither("policy", "import", "pums.yaml", "-o", "policy.toml")
    assert Path("policy.toml").read_text(encoding="utf-8") == printed
    with pytest.raises(ConflictError):
        dither("policy", "import", "pums.yaml", "-o", "policy.toml")
    with pytest.raises(PolicyError, match="not decided"):
        load_policy(Path("policy.toml"))
    with pytest.raises(AssertionError, match=r"5 decisions of policy\.toml are open"):
        dither("policy", "check", "policy.toml")
