"""The difference of policies on the page: what loosens, what follows, what to run; and texts that are no policy."""

from __future__ import annotations

from html import unescape

import pytest

from tests.server.page.visitor import Visitor


@pytest.fixture
def text(visitor: Visitor) -> str:
    visitor.enter("olga")
    found: str = visitor.gateway.known["clinic"].policy.read_text("utf-8")
    return found


def diff(visitor: Visitor, policy: str) -> str:
    reply = visitor.post("/policy", {"dataset": "clinic", "policy": policy})
    assert reply.status_code == 200
    return unescape(reply.text)


def test_what_loosens_is_said_with_its_consequence_and_what_to_run(visitor: Visitor, text: str):
    page = diff(visitor, text.replace("max_rows = 3", "max_rows = 4"))
    place = visitor.gateway.known["clinic"].policy.with_name("clinic.ledger")
    assert "This loosens." in page
    assert '<td class="bad-word">loosens</td>' in page
    assert "tables.visits.max_rows" in page
    assert f'dither ledger amend {place} --policy new.toml --before old.toml --note "..."' in page
    assert "--tightens" not in page


def test_what_tightens_and_what_no_ledger_hears_of(visitor: Visitor, text: str):
    page = diff(visitor, text.replace("max_rows = 3", "max_rows = 2"))
    assert "This loosens nothing." in page
    assert "--before old.toml --tightens --note" in page
    page = diff(visitor, text.replace('source = "clinic.parquet"', 'source = "moved.parquet"'))
    assert "moved.parquet" in page
    assert "ledger amend" not in page
    assert "The promise stays the same" in page
    assert "The two policies state the same." in diff(visitor, f"{text}\n# a comment\n")


def test_what_is_about_other_people_needs_a_ledger_of_its_own(visitor: Visitor, text: str):
    page = diff(visitor, text.replace('domain = "clinic"', 'domain = "other"'))
    assert "The two are not compatible." in page
    assert "ledger amend" not in page
    assert "dither ledger create --policy new.toml --write" in page


@pytest.mark.parametrize(
    ("policy", "where", "why"),
    [
        ("version = ", "policy", "not TOML"),
        ("", "version", "reads version 1"),
        ("version = 1\nunit = 'x'", "unit", "names no unit"),
        ("version = 1\n[ledger]\nlocation = 3\n[tables.a]\n", "tables.a", ""),
        ('version = 1\n[ledger]\nlocation = "clinic.ledger', "policy", "not TOML"),
        ("a = " + 2000 * "[", "policy", ""),
        ("\0", "policy", "not TOML"),
        ("version = 1\n[tables]\n'\u202e<b>' = 3", "tables", ""),
    ],
)
def test_what_is_no_policy_is_told_where_and_why_and_stays_in_the_field(visitor: Visitor, text: str, policy, where, why):
    reply = visitor.post("/policy", {"dataset": "clinic", "policy": policy})
    assert reply.status_code == 422
    shown = unescape(reply.text)
    assert f"Where: {where}" in shown
    assert why in shown
    assert unescape(reply.text.split("<textarea")[1].split(">", 1)[1].split("</textarea>")[0]) == f"\n{policy}"
    outside = reply.text.partition("<textarea")[0]
    assert "<b>" not in reply.text
    assert "\u202e" not in outside
    assert text  # the owner is logged in


def test_forms_that_are_none_are_refused(visitor: Visitor, text: str):
    for form in ({"dataset": "clinic"}, {"policy": text}, {"dataset": "clinic", "policy": text, "more": "1"}):
        assert visitor.post("/policy", form).status_code == 422
    assert visitor.post("/policy", {"dataset": "none", "policy": text}).status_code == 404
    assert visitor.get("/policy?dataset=none").status_code == 404
