"""From where an owner knows what a policy states: words, consent, and what bears on the hash."""

from __future__ import annotations

import copy
import tomllib

import pytest

import dither
from dither.errors import PolicyError
from dither.query.policy.policy import read_policy
from tests.query.clinics import clinic
from tests.query.policy.test_policy import TEXT, put

VISITS, COST = "tables.visits", "tables.visits.columns.cost"
HASH = "d18d68bdc8ac99f52d1aa417d9c40516483738c79bbcb2e55df1669057801a18"  # of TEXT before origins could be stated


def stated() -> dict:
    return tomllib.loads(TEXT)


@pytest.mark.parametrize("origin", ["law", "unit", "questionnaire", "private release 12 of the ledger clinic"])
@pytest.mark.parametrize("place", [COST, VISITS, "tables.visits.columns.ward", "tables.visits.columns.seen"])
def test_an_origin_is_kept_and_changes_the_hash(place, origin):
    plain, told = read_policy(stated()), read_policy(put(stated(), f"{place}.known_from", origin))
    assert told.hash != plain.hash
    assert [known for _, known in told.tables[0].origins if known] == [origin]
    assert [where for where, known in told.tables[0].origins if known] == [f"{place}.known_from"]


def test_each_origin_and_each_place_has_its_own_hash():
    hashes = {
        read_policy({**put(stated(), f"{place}.known_from", origin), "values_from_data": "accepted"}).hash
        for place in (COST, VISITS, "tables.visits.columns.ward")
        for origin in ("law", "unit", "questionnaire", "data", "private release 1", "private release 2")
    }
    assert len(hashes) == 18
    assert read_policy(stated()).hash not in hashes


def test_a_policy_without_origins_has_the_hash_of_old():
    assert read_policy(stated()).hash == HASH


def test_consent_alone_is_no_part_of_the_hash():
    accepted = read_policy({**stated(), "values_from_data": "accepted"})
    assert accepted.values_from_data
    assert accepted.hash == read_policy(stated()).hash


@pytest.mark.parametrize(
    "wrong", ["", "Law", "laws", "private", "private release", "private release ", "data\n", 3, True, ["law"], "x" * 300,
              "private release " + "x" * 200]
)  # fmt: skip
@pytest.mark.parametrize("place", [COST, VISITS])
def test_other_words_are_refused_with_the_list(place, wrong):
    with pytest.raises(PolicyError) as caught:
        read_policy({**put(stated(), f"{place}.known_from", wrong), "values_from_data": "accepted"})
    assert caught.value.where == f"{place}.known_from"
    assert "private release" in caught.value.instead


@pytest.mark.parametrize("place", [COST, VISITS, "tables.visits.columns.age"])
def test_what_was_taken_from_the_data_needs_consent(place):
    facts = put(stated(), f"{place}.known_from", "data")
    with pytest.raises(PolicyError) as caught:
        read_policy(facts)
    assert caught.value.where == f"{place}.known_from"
    for way in ("from outside the data", 'bounds = "auto"', 'values_from_data = "accepted"'):
        assert way in caught.value.instead
    policy = read_policy({**facts, "values_from_data": "accepted"})
    assert policy.values_from_data
    assert ("data" in (policy.tables[0].known_from, *(column.known_from for column in policy.tables[0].columns))) is True


@pytest.mark.parametrize("consent", [True, "yes", "", "Accepted", 1, []])
def test_consent_is_one_word(consent):
    with pytest.raises(PolicyError) as caught:
        read_policy({**put(stated(), f"{COST}.known_from", "data"), "values_from_data": consent})
    assert caught.value.where == "values_from_data"


def test_all_places_are_counted_where_consent_is_missing():
    facts = put(put(stated(), f"{COST}.known_from", "data"), f"{VISITS}.known_from", "data")
    with pytest.raises(PolicyError, match="so in 1 more places"):
        read_policy(facts)


@pytest.mark.parametrize(
    ("facts", "found"),
    [
        ({"type": "text"}, ()),
        ({"type": "boolean"}, ()),
        ({"type": "boolean", "keys": [True]}, ("keys",)),
        ({"type": "integer", "bounds": "auto"}, ()),
        ({"type": "integer", "bounds": [0, "auto"]}, ("bounds",)),
        ({"type": "integer", "bounds": ["auto", 9]}, ("bounds",)),
        ({"type": "integer", "bounds": [0, 9]}, ("bounds",)),
        ({"type": "integer", "bounds": [0, 9], "step": 3}, ("bounds", "step")),
        ({"type": "decimal", "bounds": "auto", "step": "0.01"}, ("step",)),
        ({"type": "float", "bounds": [0, 1]}, ("bounds",)),
        ({"type": "float", "bounds": [0, 1], "step": "0.5"}, ("bounds", "step")),
        ({"type": "date", "bounds": ["2024-01-01", "2024-12-31"]}, ("bounds",)),
        ({"type": "timestamp", "nullable": False}, ("completeness",)),
        ({"type": "integer", "keys": [1, 2], "nullable": False}, ("keys", "completeness")),
    ],
)
def test_facts_of_a_column(facts, found):
    """What its type implies, and what is found privately, is no fact that could come from somewhere."""
    column = read_policy(put(stated(), COST, facts)).tables[0].column("cost")
    assert column.facts == found
    named = put(stated(), COST, {**facts, "known_from": "law"})
    if found:
        assert read_policy(named).tables[0].column("cost").known_from == "law"
        return
    with pytest.raises(PolicyError, match="nothing is stated here") as caught:
        read_policy(named)
    assert caught.value.instead == "leaving it out"


@pytest.mark.parametrize(
    ("facts", "found"),
    [
        ({"person": "each row"}, ()),
        ({"person": "each row", "hard": ["bounds.cost"]}, ("hard limits",)),
        ({"person": "patient_id", "limits": "auto"}, ()),
        ({"person": "patient_id", "limits": "auto", "max_rows": 50}, ("limits",)),
        ({"person": "patient_id", "limits": "auto", "max_sum": {"cost": 5000}}, ("limits",)),
        ({"person": "patient_id", "max_rows": 50}, ("limits",)),
        ({"person": "patient_id", "max_rows": 50, "hard": ["max_rows"]}, ("limits", "hard limits")),
    ],
)
def test_facts_of_a_table(facts, found):
    plain = stated()
    plain["tables"]["visits"] = {**facts, "columns": plain["tables"]["visits"]["columns"]}
    assert read_policy(plain).tables[0].facts == found
    named = put(plain, f"{VISITS}.known_from", "unit")
    if found:
        assert read_policy(named).tables[0].known_from == "unit"
        return
    with pytest.raises(PolicyError, match="nothing is stated here"):
        read_policy(named)


def test_a_public_table_has_no_origin():
    facts = stated()
    wards = {"public": True, "columns": {"ward": {"type": "text", "keys": ["A"]}}}
    for place in ("tables.wards.known_from", "tables.wards.columns.ward.known_from"):
        facts["tables"]["wards"] = copy.deepcopy(wards)
        with pytest.raises(PolicyError) as caught:
            read_policy(put(facts, place, "law"))
        assert caught.value.where == place


def test_keywords_of_protect(tmp_path):
    words = {"known_from": {"cost": "law", "ward": "data"}, "limits_known_from": "unit"}
    with pytest.raises(PolicyError, match="the guarantee does not cover it"):
        clinic(tmp_path, keys={"ward": ["A", "B"]}, **words)
    (tmp_path / "again").mkdir()
    policy = clinic(tmp_path / "again", keys={"ward": ["A", "B"]}, **words, values_from_data="accepted").policy
    table = policy.table("visits")
    assert (table.known_from, table.column("cost").known_from, table.column("ward").known_from) == ("unit", "law", "data")
    assert policy.values_from_data
    for wrong in ({"known_from": {"nobody": "law"}}, {"known_from": "law"}, {"limits_known_from": "laws"}):
        with pytest.raises(dither.errors.PolicyError):
            clinic(tmp_path, **wrong)
