"""The difference of two policies: every field is looked at, nothing that allows more passes for less, and words are true."""

from __future__ import annotations

import json
import tomllib
from dataclasses import fields, is_dataclass, replace
from datetime import date
from enum import Enum
from fractions import Fraction
from pathlib import Path

import pytest
from typer.testing import CliRunner

import dither
from dither.cli.main import app
from dither.errors import ConflictError, DataError
from dither.query.owner.changes import columns, ledgers, tables
from dither.query.owner.changes.change import NOT_UNDERSTOOD, fact_changes
from dither.query.owner.policy_diff import ANEW, RULES, policy_diff
from dither.query.policy.cell_format import CellFormat
from dither.query.policy.column import Column, Type
from dither.query.policy.csv_dialect import CsvDialect
from dither.query.policy.date_format import DateFormat
from dither.query.policy.engine_facts import EngineFacts
from dither.query.policy.owner import Owner
from dither.query.policy.policy import LedgerFacts, Policy, read_policy
from dither.query.policy.table import Table
from tests.policies import opened

OLD = """
version = 1
domain = "clinic"
data_version = "1"
values_from_data = "accepted"
[engine]
work_mem = "64MB"
[ledger]
location = "clinic.ledger"
identity = "0123"
witness = "elsewhere.witness"
budget = { epsilon = "3", delta = "1e-6" }
shares = { ana = { epsilon = "1", delta = "1e-7" }, bob = { epsilon = "1" } }
[limits]
per_question = { epsilon = "1", delta = "1e-6" }
[tables.visits]
source = "visits.csv"
person = "patient"
max_rows = 6
max_sum = { cost = 9000 }
hard = ["max_rows", "steps.cost"]
min_people = 10
min_group_size = 5
known_from = "law"
separator = ";"
[tables.visits.columns]
patient = { type = "integer" }
day = { type = "date", bounds = [2024-01-01, 2024-12-31], format = "DD.MM.YYYY" }
ward = { type = "text", keys = ["A", "B", "C"], null = ["?"] }
age = { type = "integer", bounds = [0, 100], known_from = "data" }
cost = { type = "decimal", bounds = [0, 2000], step = "0.01", decimal = "," }
smoker = { type = "boolean", true = ["ja"], false = ["nein"], nullable = false }
note = { type = "text" }
[tables.items]
source = "items.csv"
owner = { through = "visits", on = "patient" }
max_groups = 4
max_rows_per_group = 2
[tables.items.columns]
patient = { type = "integer" }
amount = { type = "float", bounds = [0, 1] }
[tables.weather]
public = true
[tables.weather.columns]
day = { type = "date" }
rain = { type = "float" }
"""


def read(text: str) -> Policy:
    return read_policy(tomllib.loads(text))


def edited(*pairs: tuple[str, str]) -> Policy:
    text = OLD
    for before, after in pairs:
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    return read(text)


# What is written instead of what; the verdict; the verdict the other way round; a part of the words.
EDITS = [
    ('domain = "clinic"', 'domain = "ward"', "loosens", "loosens", "another budget"),
    ('data_version = "1"', 'data_version = "2"', "changes the meaning", "changes the meaning", "charged anew"),
    ('data_version = "1"', 'data_version = "1"\nmade_up = true', "loosens", "loosens", "not be true"),
    ("64MB", "65MB", "neutral", "neutral", "memory"),
    ('work_mem = "64MB"', 'work_mem = "64MB"\ntime_limit = "9s"', "neutral", "neutral", "charged then"),
    ('work_mem = "64MB"', 'work_mem = "64MB"\nserver_version = 17', "loosens", "tightens", "owner's word"),
    ('work_mem = "64MB"', 'work_mem = "64MB"\nserver_version = 18', "changes the meaning", "changes the meaning", "has run"),
    ('"clinic.ledger"', '"other.ledger"', "neutral", "neutral", "The same ledger"),
    ('identity = "0123"\n', "", "loosens", "tightens", "another budget"),
    ('"0123"', '"4567"', "loosens", "loosens", "another budget"),
    ('witness = "elsewhere.witness"\n', "", "loosens", "tightens", "unnoticed"),
    ('"elsewhere.witness"', '"nowhere.witness"', "loosens", "loosens", "unnoticed"),
    ('epsilon = "3"', 'epsilon = "4"', "loosens", "tightens", "All that may ever be told"),
    ('epsilon = "3", delta', 'rho = "0.1", delta', "loosens", "loosens", "All that may ever be told"),
    ('bob = { epsilon = "1" }', 'bob = { epsilon = "2" }', "loosens", "tightens", "one analyst"),
    (', bob = { epsilon = "1" } }', " }", "neutral", "loosens", "keeps it"),
    ("[limits]\n", "texts = false\n[limits]\n", "neutral", "neutral", "not kept"),
    ('per_question = { epsilon = "1"', 'per_question = { epsilon = "2"', "loosens", "tightens", "one question"),
    ('per_question = { epsilon = "1", delta = "1e-6" }', "", "loosens", "tightens", "one question"),
    ('"visits.csv"', '"other.csv"', "neutral", "neutral", "data_version"),
    ("max_rows = 6", "max_rows = 10", "loosens", "tightens", "grows by a factor of up to 1.67"),
    ("{ cost = 9000 }", "{ cost = 18000 }", "loosens", "tightens", "grows by a factor of up to 2"),
    ("max_sum = { cost = 9000 }\n", "", "loosens", "tightens", "More of what a person"),
    ('["max_rows", "steps.cost"]', '["max_rows"]', "changes the meaning", "changes the meaning", "say so"),
    ('"steps.cost"]', '"steps.cost", "keys.ward"]', "changes the meaning", "changes the meaning", "owner's word"),
    ("public = true", 'public = true\nunique = ["day"]', "changes the meaning", "changes the meaning", "no two rows have"),
    ("min_people = 10", "min_people = 9", "loosens", "tightens", "Smaller groups"),
    ("min_group_size = 5\n", "", "loosens", "tightens", "Smaller groups"),
    ('known_from = "law"', 'known_from = "data"', "loosens", "loosens", "outside the guarantee"),
    ('known_from = "law"', 'known_from = "unit"', "neutral", "neutral", "another origin"),
    ('separator = ";"', 'separator = "|"', "loosens", "loosens", "two people"),
    ('separator = ";"', 'separator = ";"\nencoding = "latin-1"', "loosens", "loosens", "two people"),
    ('"DD.MM.YYYY"', '"MM.DD.YYYY"', "changes the meaning", "changes the meaning", "another way"),
    ("2024-12-31", "2025-12-31", "loosens", "tightens", "further out"),
    ('["A", "B", "C"]', '["A", "B", "C", "D"]', "loosens", "tightens", "'D'"),
    ('["A", "B", "C"]', '["A", "B", "D"]', "loosens", "loosens", "'C'"),
    ('keys = ["A", "B", "C"], null', "null", "loosens", "loosens", "found in the data"),
    ('null = ["?"]', 'null = ["-"]', "changes the meaning", "changes the meaning", "another way"),
    ("bounds = [0, 100]", "bounds = [0, 200]", "loosens", "tightens", "grows by a factor of up to 2"),
    ("bounds = [0, 100]", "bounds = [10, 110]", "loosens", "loosens", "further out"),
    (", bounds = [0, 1] }", " }", "loosens", "loosens", "A bound is gone"),
    ('known_from = "data"', 'known_from = "law"', "loosens", "loosens", "not told so any more"),
    ('step = "0.01"', 'step = "0.1"', "changes the meaning", "changes the meaning", "multiples"),
    ('decimal = ","', 'decimal = "."', "changes the meaning", "changes the meaning", "another way"),
    ('"ja"', '"oui"', "changes the meaning", "changes the meaning", "another way"),
    ("nullable = false", "nullable = true", "loosens", "changes the meaning", "missing cells"),
    ('note = { type = "text" }\n', "", "tightens", "loosens", "any more"),
    ('note = { type = "text" }', 'note = { type = "boolean" }', "changes the meaning", "changes the meaning", "type"),
    ("max_groups = 4\n", "max_groups = 8\n", "loosens", "tightens", "at most 8 before and 16 now"),
    ("max_rows_per_group = 2", "max_rows_per_group = 1", "tightens", "loosens", "shrinks by a factor of up to 2"),
    ("max_groups = 4\n", "max_groups = 4\nmax_rows = 5\n", "tightens", "loosens", "at most 8 before and 5 now"),
    ("max_groups = 4\n", "max_groups = 4\nmax_rows = 8\n", "neutral", "neutral", "As many rows"),
    ("max_groups = 4\n", 'max_groups = 4\nlimits = "auto"\n', "changes the meaning", "changes the meaning", "its price"),
    ("[0, 1] }", "[0, 1], nullable = false }", "changes the meaning", "loosens", "owner's word"),
    ('rain = { type = "float" }', "", "tightens", "loosens", "any more"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "verdict", "back", "told"), EDITS, ids=range(len(EDITS)))
def test_each_fact_has_its_verdict_both_ways(before, after, verdict, back, told):
    old, new = read(OLD), edited((before, after))
    there, again = policy_diff(old, new), policy_diff(new, old)
    assert [one.verdict for one in there.changes] == [verdict], there.words
    assert [one.verdict for one in again.changes] == [back], again.words
    assert told in there.words
    assert there.loosens is (verdict == "loosens")
    assert there.amends is (old.hash != new.hash)
    assert {verdict, back} != {"tightens"}, "one of two ways allows more"
    assert {verdict, back} != {"tightens", "neutral"}


def test_tables_come_and_go():
    old = read(OLD)
    less = replace(old, tables=old.tables[:1])
    assert {one.verdict for one in policy_diff(old, less).changes} == {"tightens"}
    assert {one.verdict for one in policy_diff(less, old).changes} == {"loosens"}
    private = replace(old.tables[0], public=True, person=None)
    open_now = policy_diff(old, replace(old, tables=(private, *old.tables[1:])))
    assert open_now.loosens
    assert not open_now.compatible
    assert "nobody in them is protected" in open_now.words
    assert not policy_diff(replace(old, tables=(private, *old.tables[1:])), old).loosens


@pytest.mark.parametrize(
    "pairs",
    [
        [('person = "patient"', 'person = "note"')],
        [('owner = { through = "visits", on = "patient" }', 'person = "patient"')],
        [('domain = "clinic"', 'domain = "school"')],
        [("version = 1\ndomain", 'version = 1\nunit = "replace one person"\ndomain')],
    ],
)
def test_other_people_are_never_compatible(pairs):
    old, new = read(OLD), edited(*pairs) if "note" not in pairs[0][1] else replace(read(OLD), tables=_of_note())
    for one in (policy_diff(old, new), policy_diff(new, old)):
        assert one.loosens
        assert not one.compatible
        assert "not compatible" in one.words


def _of_note() -> tuple[Table, ...]:
    visits, *others = read(OLD).tables
    return (replace(visits, person="note"), *others)


def test_cells_that_say_whose_a_row_is():
    new = edited(('patient = { type = "integer" }\nday', 'patient = { type = "integer", null = ["0"] }\nday'))
    for one in (policy_diff(read(OLD), new), policy_diff(new, read(OLD))):
        assert one.loosens
        assert "whose a row is" in one.words
    text = OLD.replace('patient = { type = "integer" }', 'patient = { type = "text" }')
    assert policy_diff(read(text), read(OLD)).loosens
    assert "two people may become one" in policy_diff(read(text), read(OLD)).words


def test_where_one_line_says_another_all_are_said():
    new = edited(('known_from = "data"', 'known_from = "law"'), ("bounds = [0, 100]", "bounds = [0, 90]"))
    assert [one.verdict for one in policy_diff(read(OLD), new).changes] == ["tightens", "tightens"]
    first = OLD.replace('shares = { ana = { epsilon = "1", delta = "1e-7" }, bob = { epsilon = "1" } }\n', "")
    assert {one.verdict for one in policy_diff(read(first), read(OLD)).changes} == {"tightens"}
    assert policy_diff(read(OLD), read(first)).loosens
    assert policy_diff(replace(read(OLD), values_from_data=False), read(OLD)).loosens
    assert not policy_diff(read(OLD), replace(read(OLD), values_from_data=False)).loosens
    assert policy_diff(replace(read(OLD), ledger=None), read(OLD)).loosens
    unnamed = OLD.replace('identity = "0123"', "")
    assert policy_diff(read(unnamed), read(unnamed.replace('"clinic.ledger"', '"other.ledger"'))).loosens
    assert policy_diff(read(OLD), read(OLD)).words == "The two policies state the same."


def test_another_order_is_another_hash_and_no_more():
    old = read(OLD)
    new = replace(old, tables=tuple(reversed(old.tables)))
    found = policy_diff(old, new)
    assert [one.verdict for one in found.changes] == ["neutral"]
    assert found.lines[-1] == ANEW


def test_passwords_are_not_shown():
    old = edited(('"clinic.ledger"', '"postgresql://u:secret@host/a?password=secret"'))
    new = edited(('"clinic.ledger"', '"postgresql://u:secret@[host/a"'))
    assert "postgresql://u@host/a" in policy_diff(old, new).words
    assert "secret" not in policy_diff(old, new).words


# -- every field ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("part", "rules", "unstated"),
    [
        (Policy, RULES, set()),
        (LedgerFacts, ledgers.LEDGER_RULES, set()),
        (EngineFacts, ledgers.ENGINE_RULES, set()),
        (Table, tables.RULES, {"alone", "drops_people", "drops_rows", "clamps_values", "shares_rows"}),
        (Table, tables.SHARED_RULES, set()),
        (Column, columns.RULES, {"clamped"}),
        (CellFormat, columns.CELL_RULES, set()),
        (CellFormat, columns.CELL_RULES_OF_PEOPLE, set()),
    ],
)
def test_every_field_has_a_rule(part, rules, unstated):
    assert set(rules) == {one.name for one in fields(part)} - unstated


ABSENT = {  # what stands where nothing did, by field
    "max_rows": 3,
    "owner": Owner("visits", (("patient", "patient"),)),
    "dialect": CsvDialect("|"),
    "date": DateFormat("YYYY", "x", "y"),
    "keys": ("A",),
    "server_version": 17,
    "step": Fraction(1),
    "lower": Fraction(1),
    "upper": Fraction(1),
    "max_sum": (("cost", Fraction(1)),),
}


def other(value: object, name: str) -> object:
    """A value of the same kind that is another one."""
    if value is None or value == ():
        return ABSENT.get(name, "other" if value is None else ("other",))
    if isinstance(value, bool):
        return not value
    if isinstance(value, Enum):
        return next(one for one in type(value) if one is not value)
    if isinstance(value, (int, Fraction)):
        return value + 1
    if isinstance(value, date):
        return value.replace(year=value.year + 1)
    assert isinstance(value, (str, frozenset)), value
    return value + "x" if isinstance(value, str) else value | {"other"}


def variants(value: object, name: str = "") -> list[object]:
    """The same value with one field another, for every field of every part."""
    if isinstance(value, dither.Guarantee):
        return [dither.approx(7, "1e-5", unit=value.unit)]
    if is_dataclass(value) and not isinstance(value, type):
        return [
            replace(value, **{one.name: changed})
            for one in fields(value)
            if one.compare
            for changed in variants(getattr(value, one.name), one.name)
        ]
    if isinstance(value, tuple) and value:
        return [(*value[:at], changed, *value[at + 1 :]) for at, part in enumerate(value) for changed in variants(part)]
    return [other(value, name)]


KNOWN = {Policy, LedgerFacts, EngineFacts, Table, Column, CellFormat, CsvDialect, DateFormat, Owner, dither.Guarantee}


def parts(value: object) -> set[type]:
    """The classes of which a policy is made."""
    found = set[type]()
    if is_dataclass(value):
        found |= {type(value)}
        if not isinstance(value, dither.Guarantee):
            found |= set().union(*(parts(getattr(value, one.name)) for one in fields(value)))
    if isinstance(value, tuple):
        found |= set().union(*map(parts, value))
    return found


def test_no_field_of_any_part_can_change_in_silence():
    old = read(OLD)
    assert parts(old) == KNOWN, "a new part of a policy: it needs rules, and a line in the policy of this test"
    found = variants(old)
    assert len(found) > 250
    for new in found:
        diff = policy_diff(old, new)
        assert diff.changes, new
        if any(one.consequence == NOT_UNDERSTOOD for one in diff.changes):
            assert diff.loosens
        if old.hash != new.hash:
            assert diff.lines[-1] == ANEW


def test_what_nobody_has_thought_of_loosens():
    old = Column("a", Type.TEXT)
    (found,) = fact_changes(old, replace(old, nullable=False), {"name": columns.RULES["name"]}, "tables.t.columns.a")
    assert (found.where, found.verdict, found.consequence) == ("tables.t.columns.a.nullable", "loosens", NOT_UNDERSTOOD)
    first, *others = read(OLD).tables
    assert policy_diff(read(OLD), replace(read(OLD), tables=(replace(first, drops_rows=True), *others))).loosens
    with pytest.raises(DataError, match="not a policy"):
        policy_diff("policy.toml", read(OLD))


# -- the words are true --------------------------------------------------------------------------------------------------


CLINIC = """
version = 1
domain = "clinic"
[ledger]
location = "clinic.ledger"
budget = { rho = "1" }
[tables.visits]
source = "visits.csv"
person = "patient"
max_rows = 6
[tables.visits.columns]
patient = { type = "integer" }
cost = { type = "integer", bounds = [0, 2000] }
"""


def test_noise_grows_as_it_is_said(tmp_path):
    (tmp_path / "visits.csv").write_text("patient,cost\n1,2\n")
    sql = "SELECT COUNT(*) AS n, SUM(cost) AS s FROM visits"
    errors = []
    for most in (6, 10):
        (tmp_path / "policy.toml").write_text(CLINIC.replace("max_rows = 6", f"max_rows = {most}"))
        errors.append(opened(tmp_path / "policy.toml").quote(sql, rho="0.01").errors)
    told = policy_diff(read(CLINIC), read(CLINIC.replace("max_rows = 6", "max_rows = 10"))).words
    assert "grows by a factor of up to 1.67" in told
    for name in ("n", "s"):
        assert float(errors[1][name]) / float(errors[0][name]) == pytest.approx(10 / 6, rel=0.02)


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output if result.exit_code == 0 else f"exit code {result.exit_code}: {result.output}"


def test_commands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("visits.csv").write_text("patient,cost\n1,2\n")
    Path("policy.toml").write_text(CLINIC)
    opened("policy.toml")
    old = Path("policy.toml").read_text()
    Path("old.toml").write_text(old)
    Path("looser.toml").write_text(old.replace("max_rows = 6", "max_rows = 10"))
    Path("tighter.toml").write_text(old.replace("max_rows = 6", "max_rows = 3"))
    Path("others.toml").write_text(old.replace('person = "patient"\nmax_rows = 6', 'person = "each row"'))
    assert run("policy", "diff", "old.toml", "old.toml", "--strict") == "The two policies state the same.\n"
    told = run("policy", "diff", "old.toml", "looser.toml")
    assert told.startswith("1 fact differs: 1 loosens\nloosens: tables.visits.max_rows: 6 -> 10.")
    assert run("policy", "diff", "old.toml", "looser.toml", "--strict").startswith("exit code 1")
    stated = json.loads(run("policy", "diff", "old.toml", "tighter.toml", "--json"))
    assert (stated["loosens"], stated["compatible"], stated["amends"]) == (False, True, True)
    assert stated["changes"][0]["verdict"] == "tightens"
    amend = ["ledger", "amend", "clinic.ledger", "--note", "limits", "--policy"]
    with pytest.raises(ConflictError, match="allows more than the one in force"):
        run(*amend, "looser.toml", "--before", "old.toml", "--tightens")
    with pytest.raises(ConflictError, match="other people are protected"):
        run(*amend, "others.toml", "--before", "old.toml")
    with pytest.raises(ConflictError, match="the policy in force has the hash"):
        run(*amend, "looser.toml", "--before", "tighter.toml")
    with dither.Ledger("clinic.ledger") as ledger:
        assert ledger.policy_hash == read(old).hash  # nothing that was refused is in force
    assert "shrinks by a factor of up to 2" in run(*amend, "tighter.toml", "--before", "old.toml", "--tightens")
    assert "in force: policy" in run(*amend, "looser.toml", "--before", "tighter.toml")
    with dither.Ledger("clinic.ledger") as ledger:
        assert [entry.body["loosens"] for entry in ledger.history() if entry.kind == "policy"][-2:] == [False, True]
