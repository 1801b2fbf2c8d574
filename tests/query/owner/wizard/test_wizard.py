"""The wizard as a state machine: from a hospital's file to a policy and an answer; back, stored, resumed."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

import dither
from dither.errors import ConflictError, DataError, PolicyError
from dither.query.owner.open_lines import open_lines, seen_lines
from dither.query.owner.wizard.budget_steps import factor, questions
from dither.query.owner.wizard.wizard import Wizard
from dither.query.policy.policy import load_policy, read_policy
from dither.testing import seeded
from tests.query.owner.wizard.hospital import BLIND, POLICY, REPLIES, rows, walk, write

pytestmark = pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")


@pytest.fixture(autouse=True)
def _inside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write()


def test_from_a_hospital_file_to_a_policy_and_a_right_answer():
    wizard = walk(Wizard("visits.csv"), REPLIES)
    assert wizard.policy == wizard.draft() == POLICY
    Path("policy.toml").write_text(POLICY, encoding="utf-8")
    assert load_policy(Path("policy.toml")).values_from_data is False
    dither.create_ledger("policy.toml", write=True)
    sql = 'SELECT Station, COUNT(*) AS n, AVG("Kosten (EUR)") AS cost FROM visits GROUP BY Station'
    with seeded(11):
        answer = dither.open("policy.toml").quote(sql, epsilon="0.25").release()
    truth = {name: sum(f";{name};" in row for row in rows()) for name in ("Süd", "Nord")}
    assert len(answer) == 2
    for name, low, high in zip(answer["Station"], answer["n_low"], answer["n_high"], strict=True):
        assert low <= truth[name] <= high


def test_without_a_look_the_same_replies_make_the_same_policy():
    assert walk(Wizard("visits.csv"), BLIND).policy == POLICY


def test_a_value_from_the_data_needs_its_own_consent():
    replies = REPLIES | {"visits.Station.known_from": "data"}
    wizard = walk(Wizard("visits.csv"), replies, until="values_from_data")
    assert wizard.step is not None
    for reply in ("yes", "ok", "accept", ""):
        with pytest.raises(PolicyError, match=r"whole word|no default"):
            wizard.answer(reply)
    walk(wizard, replies | {"values_from_data": "accepted", 'visits."Kosten (EUR)".known_from': "DATA"})
    stated = tomllib.loads(str(wizard.policy))
    assert stated["values_from_data"] == "accepted"
    assert stated["tables"]["visits"]["columns"]["Station"]["known_from"] == "data"
    assert stated["tables"]["visits"]["columns"]["Kosten (EUR)"]["known_from"] == "data"  # consent is asked for once
    assert read_policy(stated).values_from_data
    back = Wizard.from_json(wizard.to_json(), read_data=True)
    for _ in range(20):
        back.back()
    assert "values_from_data" not in back.draft() or "data" in back.draft().partition("[tables")[2]


def test_found_privately_and_not_at_all():
    replies = REPLIES | {
        "visits.Station.keys": "no",
        "visits.Aufnahme.bounds": "none",
        'visits."Kosten (EUR)".bounds': "auto",
        "visits.max_rows": "AUTO",
        "ledger.witness": "heads/of/ledgers",
    }
    stated = tomllib.loads(str(walk(Wizard("visits.csv"), replies).policy))
    assert stated["tables"]["visits"]["limits"] == "auto"
    assert stated["ledger"]["witness"] == "heads/of/ledgers"
    columns = stated["tables"]["visits"]["columns"]
    assert columns["Kosten (EUR)"] == {
        "type": "decimal",
        "null": ["k.A."],
        "bounds": "auto",
        "step": "0.01",
        "known_from": "law",
    }
    assert columns["Station"] == {"type": "text"}
    assert read_policy(stated).tables[0].auto


def test_every_draft_on_the_way_is_a_policy_with_open_decisions():
    wizard = Wizard("visits.csv")
    before = None
    while wizard.step is not None:
        text = wizard.draft()
        stated = tomllib.loads(text)
        assert stated["version"] == 1
        places = {one.place for one in open_lines(text)}
        if before is not None:
            assert places <= before or "tables.visits.person" in places - before  # the table appears with the file's facts
        before = places
        assert not seen_lines(text)
        json.dumps(wizard.view())
        assert wizard.view()["draft"] == text
        if wizard.step.key not in ("review", "ledger.location", "ledger.witness"):
            with pytest.raises(PolicyError):
                read_policy(stated)
        wizard.answer(REPLIES.get(wizard.step.key, ""))
    assert before == set()


def test_the_way_back_from_every_step_and_forth_again_gives_the_same():
    wizard = Wizard("visits.csv")
    while wizard.step is not None:
        step, draft, number = wizard.step, wizard.draft(), wizard.number
        reply = REPLIES.get(step.key, "")
        wizard.answer(reply)
        again = wizard.back()
        assert again is not None
        assert (again.key, wizard.draft(), wizard.number) == (step.key, draft, number)
        wizard.answer("yes" if step.key == "look" else "")  # the earlier reply is the default now; consent is given anew
    assert wizard.policy == POLICY
    wizard = walk(Wizard("visits.csv"), REPLIES)
    while wizard.number > 1:
        wizard.back()
    assert wizard.step is not None
    assert wizard.step.key == "look"
    assert wizard.back() == wizard.step
    walk(wizard, {"look": "yes"})
    assert wizard.policy == POLICY


def test_stored_at_any_step_and_resumed_gives_the_same():
    wizard, number = Wizard("visits.csv"), 0
    while wizard.step is not None:
        stored = wizard.to_json()
        assert "look" not in json.loads(stored)["replies"]  # consent is for one run
        other = Wizard.from_json(stored)
        if number % 3 == 0:
            assert walk(other, REPLIES).policy == POLICY
            assert walk(Wizard.from_json(stored, read_data=True), REPLIES).policy == POLICY
        wizard.answer(REPLIES.get(wizard.step.key, ""))
        number += 1
    assert walk(Wizard.from_json(wizard.to_json()), {"look": "no"}).policy == POLICY  # defaults were stored as they were


def test_replies_that_were_taken_back_are_stored_as_defaults():
    wizard = walk(Wizard("visits.csv"), REPLIES)
    while wizard.number > 1:
        wizard.back()
        stored = wizard.to_json()
        resumed = Wizard.from_json(stored)
        assert json.loads(resumed.to_json()) == json.loads(stored)
        if wizard.step.key != "look":
            resumed.answer("yes")
            assert (resumed.step.key, resumed.step.default) == (wizard.step.key, wizard.step.default)
    resumed = Wizard.from_json(stored)
    assert "look" not in json.loads(stored)["earlier"]
    assert walk(resumed, {"look": "yes"}).policy == POLICY
    assert "earlier" not in json.loads(resumed.to_json())


def test_consent_that_somebody_wrote_into_stored_replies_is_none():
    stored = json.dumps({"version": 1, "replies": {"source": "visits.csv", "look": "yes"}})
    assert Wizard.from_json(stored).step.key == "look"


def test_what_no_longer_fits_is_asked_again():
    stored = json.loads(walk(Wizard("visits.csv"), REPLIES, until="visits.max_rows").to_json())
    stored["replies"]["visits.Aufnahme.format"] = "%d.%m.%Y"
    stored["replies"]["nonsense"] = "x"
    wizard = Wizard.from_json(json.dumps(stored), read_data=True)
    assert wizard.step is not None
    assert wizard.step.key == "visits.Aufnahme.format"
    assert walk(wizard, REPLIES).policy == POLICY
    write(["1;2"])
    Path("visits.csv").write_bytes(b"a;b\r\n1;2\r\n")
    wizard = Wizard.from_json(json.dumps(stored), read_data=True)
    assert wizard.step is not None
    assert wizard.step.key == "visits.person"


@pytest.mark.parametrize(
    "stored", ["", "x", "[]", "{}", '{"version": 2, "replies": {}}', '{"version": 1, "replies": {"a": 1}}']
)
def test_what_was_not_stored_by_a_wizard_is_refused(stored):
    with pytest.raises(DataError, match="replies that the wizard stored"):
        Wizard.from_json(stored)


def test_a_source_may_be_asked_for_and_is_refused_as_a_reply_or_as_an_argument():
    wizard = Wizard()
    assert (wizard.step.key, wizard.number, wizard.total, wizard.source) == ("source", 1, None, None)
    with pytest.raises(PolicyError, match="no such file"):
        wizard.answer("visit.csv")
    assert wizard.answer("visits.csv").key == "look"
    assert (wizard.number, wizard.source) == (2, "visits.csv")
    assert wizard.back().key == "source"
    with pytest.raises(DataError, match="no such file"):
        Wizard("visit.csv")
    Path("empty.csv").write_text("")
    with pytest.raises(DataError):
        Wizard("empty.csv", read_data=True)
    wizard = Wizard("empty.csv")
    with pytest.raises(PolicyError, match="it has no line"):
        wizard.answer("yes")
    assert wizard.step.key == "look"


def test_a_finished_wizard_takes_no_reply_and_can_go_back():
    wizard = walk(Wizard("visits.csv"), REPLIES)
    with pytest.raises(ConflictError):
        wizard.answer("")
    assert wizard.back().key == "review"
    assert wizard.policy is None


def test_a_policy_may_be_edited_at_the_end_and_is_read_again():
    wizard = walk(Wizard("visits.csv"), REPLIES, until="review")
    for text in (
        "accepted",
        POLICY.replace("max_rows = 12", "max_rows = 0"),
        POLICY.replace('"hospital"', '"FILL IN"'),
        "a = [",
    ):
        with pytest.raises(PolicyError):
            wizard.answer(text)
    assert wizard.answer(POLICY.replace("max_rows = 12", "max_rows = 9")) is None
    assert "max_rows = 9" in str(wizard.policy)
    assert wizard.back().default == "accept"  # an edited text may be about other replies by now


# -- what presets say ----------------------------------------------------------------------------------------------------


def test_odds_are_rounded_up_and_questions_are_what_a_ledger_would_count():
    assert [factor(epsilon) for epsilon in ("1", "2", "4", "20")] == ["2.8", "7.4", "54.6", "485,165,195.5"]
    with dither.Ledger.temporary(budget=dither.approx(2, "1e-7")) as ledger:
        assert ledger.remaining().like(dither.zcdp("1/1250")) == questions("2", "1e-7")
    assert dither.DiscreteGaussian(sigma2=625, l2_sensitivity=1).error("0.95") <= 50
    assert dither.DiscreteGaussian(sigma2=625, l2_sensitivity=1).guarantee.charge().rho == dither.Number("1/1250")


PEOPLE = [("1", "1e-6"), ("10000", "1e-6"), ("10001", "1e-7"), ("80_000", "1e-7"), ("100000000", "1e-10")]


@pytest.mark.parametrize(("people", "delta"), PEOPLE)
def test_delta_is_at_most_a_hundredth_of_one_over_the_number_of_people(people, delta):
    stated = tomllib.loads(str(walk(Wizard("visits.csv"), REPLIES | {"budget.people": people}).policy))
    assert stated["ledger"]["budget"]["delta"] == delta
    assert dither.Number(delta).fraction() * 100 * int(people) <= 1


def test_a_budget_in_numbers():
    for epsilon, most in (("1.5", "0.375"), ("1/3", "1/12"), ("20", "5")):
        stated = tomllib.loads(str(walk(Wizard("visits.csv"), REPLIES | {"budget.epsilon": epsilon}).policy))
        assert stated["ledger"]["budget"]["epsilon"] == epsilon
        assert stated["limits"]["per_question"]["epsilon"] == most
        read_policy(stated)
