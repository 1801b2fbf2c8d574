"""Claims to callers: names, and roles by group. Every pair of groups, against the owner's list."""

from __future__ import annotations

from itertools import chain, combinations, product

import pytest

from dither.server.core.oidc_facts import GroupRole, OidcFacts
from dither.server.core.roles import ROLES
from dither.server.oidc.people import read_person
from dither.server.oidc.refusals import NobodyError
from tests.server.oidc.signatures import ISSUER, claims


def facts(*roles, **changes):
    return OidcFacts(ISSUER, "dither", roles or (GroupRole("staff", "analyst", ("clinic",)),), **changes)


def test_a_person_has_a_name_that_no_token_has_by_chance():
    found = read_person(claims(), facts())
    assert (found.name, found.role, found.datasets) == ("oidc:ana", "analyst", ("clinic",))
    assert read_person(claims(), facts(name_prefix="")).name == "ana"
    assert read_person(claims(preferred_username="a"), facts(name_claim="preferred_username")).name == "oidc:a"
    assert read_person(claims(email="a@b", email_verified=True), facts(name_claim="email")).name == "oidc:a@b"


def test_who_somebody_is_for_limits_and_logs_follows_the_subject_alone():
    ids = {read_person(claims(sub=sub), facts()).token_id for sub in ("ana", "bob", "ana", "Ana")}
    assert len(ids) == 3
    assert all(id_.startswith("oidc_") and "ana" not in id_ for id_ in ids)
    other = OidcFacts("https://other.example.org", "dither", facts().roles)
    assert read_person(claims(), other).token_id not in ids


NAMES = [
    "",
    " ",
    " ana",
    "ana ",
    "a\nb",
    "a\0b",
    "\x1b[31mana",
    "a\u202eb",
    "a\u200bb",
    "\ud800",
    "x" * 196,
    None,
    3,
    True,
    ["ana"],
    {},
    ...,
]


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_a_name_that_no_ledger_can_have_is_nobody(name):
    with pytest.raises(NobodyError):
        read_person(claims(sub=name), facts())
    with pytest.raises(NobodyError):
        read_person(claims(login=name), facts(name_claim="login"))


@pytest.mark.parametrize("verified", [False, None, "true", 1, ...])
def test_an_address_that_nobody_verified_is_no_name(verified):
    with pytest.raises(NobodyError):
        read_person(claims(email="ana@example.org", email_verified=verified), facts(name_claim="email"))


NO_GROUPS = [
    ..., None, [], {}, 3, True, "", "staff,other",
    "staff other", "Staff", " staff", "staf", "*", ["Staff"], [["staff"]], [None],
    ["staff", 3], ["staff", None], {"staff": True}, {"groups": ["staff"]}, [{"name": "staff"}], "other", ["other", "staff "],
]  # fmt: skip


@pytest.mark.parametrize("groups", NO_GROUPS, ids=ascii)
def test_without_a_group_that_has_a_role_nobody_gets_in(groups):
    with pytest.raises(NobodyError):
        read_person(claims(groups=groups), facts())


def test_groups_may_be_one_text_a_list_or_inside():
    assert read_person(claims(groups="staff"), facts()).role == "analyst"
    assert read_person(claims(groups=["x", "staff"]), facts()).role == "analyst"
    inside = facts(groups_claim="realm_access.roles")
    assert read_person(claims(groups=..., realm_access={"roles": ["staff"]}), inside).role == "analyst"
    assert read_person(claims(**{"groups": ..., "realm_access.roles": ["staff"]}), inside).role == "analyst"
    for wrong in (
        {"realm_access": ["staff"]},
        {"realm_access": {"roles": {"staff": 1}}},
        {"realm_access": "staff"},
        {"roles": ["staff"]},
    ):
        with pytest.raises(NobodyError):
            read_person(claims(groups=..., **wrong), inside)


def test_nobody_gets_more_than_one_of_her_groups_says():
    """Exactly, for every list of three groups with every role and two datasets, and every set of groups that one is in."""
    names, subsets = ("a", "b", "c"), list(chain.from_iterable(combinations("abc", size) for size in range(4)))
    for roles in product(ROLES, repeat=3):
        listed = [GroupRole(*each) for each in zip(names, roles, (("one",), ("two",), ("one", "two")), strict=True)]
        for mine in subsets:
            if not mine:
                continue
            found = read_person(claims(groups=list(mine)), facts(*listed))
            granted = {(each.role, name) for each in listed if each.group in mine for name in each.datasets}
            assert {(found.role, name) for name in found.datasets} <= granted
            assert found.role == next(each.role for each in listed if each.group in mine)
            assert set(found.datasets) == {name for role, name in granted if role == found.role}
