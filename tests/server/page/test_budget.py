"""The page of the budget: what is left, in questions and in plain words; and who has which share, for owners alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

import dither
from dither.numeric.enclosure import exp
from dither.privacy.guarantee.definitions import approx, gdp, pure, zcdp
from dither.server.core.gateway import Gateway
from dither.server.core.problems import Problem, unavailable
from dither.server.core.processes.budget_facts import meaning, told_delta
from tests.server.gateways import POLICY, ROWS, caller, config, count, finished, run, running, write_clinic
from tests.server.page.stored import MARKUP, Elements
from tests.server.page.visitor import Visitor


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """A clinic without shares, and one that is shared out."""
    folder = tmp_path_factory.mktemp("budget")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DITHER_HOME", str(folder / "home"))
        write_clinic(folder, "clinic")
        pyarrow.parquet.write_table(pyarrow.table(ROWS), folder / "shares.parquet")
        text = POLICY.format(name="shares", budget='epsilon = "3"')
        shares = '[ledger]\nshares = { ana = { epsilon = "0.5" }, zoe = { epsilon = "1" } }\n'
        (folder / "shares.toml").write_text(text.replace("[ledger]\n", shares), "utf-8")
        dither.create_ledger(folder / "shares.toml", write=True)
        with running(config(folder, "clinic", "shares")) as found:
            yield found


@pytest.fixture
def visitor(gateway: Gateway) -> Visitor:
    made = Visitor(gateway)
    made.add("ana")
    made.add("bob")
    made.add("olga", "owner")
    made.add("aude", "auditor")
    made.add("clara", "owner", ("clinic",))
    return made


def page(visitor: Visitor, who: str, path: str = "/budget") -> Elements:
    visitor.enter(who)
    reply = visitor.get(path)
    assert reply.status_code == 200, reply.text
    return Elements(reply.text)


def test_bars_have_their_words(visitor: Visitor):
    found = page(visitor, "ana", "/budget?dataset=shares")
    assert "Your share" in found.text
    assert "100% left of ε = 0.5 (add/remove one person)" in found.text
    assert "The whole budget" in found.text
    assert [one["value"] for one in found.every("meter")] == ["1.0000", "1.0000"]
    assert all(one["aria-label"] for one in found.every("meter"))
    assert "You have paid for no stored question yet" in found.text


def test_what_is_left_is_counted_in_questions_like_the_last(gateway: Gateway, visitor: Visitor):
    who = caller(gateway, "ana")
    run(finished(gateway, who, count("age > 1", "shares")))
    quote = run(gateway.quote(who, count("age > 2", "shares")))
    found = page(visitor, "ana", "/budget?dataset=shares")
    assert quote["left"] == 4
    assert f"About {quote['left']} more questions like your last one." in found.text
    assert "About 29 more questions like your last one." in found.text  # of the whole
    assert "SELECT COUNT(*) AS n FROM visits WHERE age > 1" in found.text
    assert "You have paid for no stored question yet" in page(visitor, "olga", "/budget?dataset=shares").text  # ana has
    for condition in (3, 4, 5):
        run(finished(gateway, who, count(f"age > {condition}", "shares")))
    assert "About 1 more question like your last one." in page(visitor, "ana").text
    run(finished(gateway, who, count("age > 6", "shares")))
    assert "No more question like your last one." in page(visitor, "ana").text


def test_a_batch_is_counted_by_what_all_of_it_cost(gateway: Gateway, visitor: Visitor):
    asked = count("age > 1")
    several = type(asked)("clinic", [str(asked.sql), "SELECT SUM(age) AS s FROM visits"], {"epsilon": "1"})
    run(finished(gateway, caller(gateway, "bob"), several))
    assert "About 2 more questions like your last one." in page(visitor, "bob", "/budget?dataset=clinic").text


def test_the_portion_of_a_day_is_shown_with_its_next(gateway: Gateway, visitor: Visitor):
    token, secret = gateway.tokens.create(name="ana", role="analyst", datasets=("shares",), daily=pure("0.25").to_json())
    visitor.secrets["ana"], visitor.ids["ana"] = secret, token.id
    found = page(visitor, "ana")
    assert "Today's portion" in found.text
    assert "00:00 UTC" in found.text
    assert len(found.every("meter")) == 3


def test_who_has_no_share_is_told(visitor: Visitor):
    assert "you have no share" in page(visitor, "bob", "/budget?dataset=shares").text
    assert "Nobody has a share of their own" in page(visitor, "bob", "/budget?dataset=clinic").text


def test_shares_are_for_owners_alone(visitor: Visitor, gateway: Gateway):
    for who in ("ana", "bob", "aude"):
        found = page(visitor, who)
        assert "Who has which share" not in found.text
        assert "zoe" not in found.text
        with pytest.raises(Problem) as told:
            run(gateway.shares(gateway.caller(visitor.secrets[who], "127.0.0.1"), "shares"))
        assert told.value.kind == "forbidden"
    found = page(visitor, "olga", "/budget?dataset=shares")
    assert "Who has which share" in found.text
    for name in ("ana", "zoe"):
        assert name in found.words
    assert "bob" not in found.words  # who has none
    with pytest.raises(Problem) as told:
        run(gateway.shares(gateway.caller(visitor.secrets["clara"], "127.0.0.1"), "shares"))
    assert told.value.kind == "absent"


def test_names_of_shares_that_mean_harm_do_none(gateway: Gateway, visitor: Visitor, monkeypatch: pytest.MonkeyPatch):
    async def shares(*_: object) -> dict[str, object]:
        return {"shares": [{"name": f"{MARKUP}\u202e", "budget": MARKUP, "left": "1%", "used": 0.99}]}

    monkeypatch.setattr(gateway, "shares", shares)
    found = page(visitor, "olga", "/budget?dataset=clinic")
    assert f"{MARKUP}⟨U+202E⟩" in found.words
    assert found.every("script") == []


def test_a_dataset_that_cannot_be_asked_does_not_break_the_page(
    gateway: Gateway, visitor: Visitor, monkeypatch: pytest.MonkeyPatch
):
    asked = gateway.desk.ask

    async def ask(task: str, dataset: str, **told: object) -> dict[str, object]:
        if dataset == "clinic":
            raise unavailable()
        return await asked(task, dataset, **told)

    monkeypatch.setattr(gateway.desk, "ask", ask)
    found = page(visitor, "bob")
    assert "cannot be told now" in found.text
    assert len(found.every("meter")) == 1


def test_what_is_not_the_callers_is_absent(visitor: Visitor):
    visitor.enter("clara")
    assert visitor.get("/budget?dataset=shares").content == visitor.get("/budget?dataset=nobodys").content
    assert visitor.get("/budget?dataset=shares").status_code == 404
    visitor.add("nobody", datasets=("nobodys",))
    assert "No dataset is yours" in page(visitor, "nobody").text


def test_the_api_tells_what_it_told_before(gateway: Gateway):
    told = run(gateway.budget(caller(gateway, "ana"), "shares"))[0]
    assert set(told) == {"dataset", "left", "used", "words", "budget", "share", "today"}
    assert set(told["share"]) == {"left", "used", "words", "budget"}
    json.dumps(told)


# -- what an epsilon means -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", ["add/remove one person", "replace one person", "add/remove one row", "replace one row"])
@pytest.mark.parametrize("epsilon", ["0.001", "0.1", "1/3", "1", "3", "13.9"])
def test_how_many_times_as_likely_is_never_too_few(epsilon: str, unit: str):
    for guarantee in (pure(epsilon, unit=unit), approx(epsilon, "1e-6", unit=unit)):
        told = meaning(guarantee, told_delta(guarantee))
        assert told is not None
        true = exp(epsilon)
        assert Fraction(true.upper) <= Fraction(told["times"]) <= Fraction(true.upper) * Fraction(1001, 1000)
        assert Fraction(epsilon) <= Fraction(told["epsilon"]) <= Fraction(epsilon) * Fraction(1001, 1000)


def test_a_rho_is_told_as_an_epsilon_at_a_delta():
    for guarantee in (zcdp("0.01"), zcdp("0.01", delta="1e-6")):
        delta = told_delta(guarantee)
        told = meaning(guarantee, delta)
        assert told is not None
        assert guarantee.delta(told["epsilon"]) <= delta
        assert Fraction(told["delta"]) >= delta > 0


def test_what_says_nothing_is_not_told_as_a_number():
    assert meaning(pure(20), Fraction(0)) == {"epsilon": "20", "delta": None, "times": None}
    assert meaning(gdp(mu=1), Fraction(0)) is None
    assert meaning(pure("0"), Fraction(0)) == {"epsilon": "0", "delta": None, "times": "1"}


def test_the_budget_is_explained_with_its_number(visitor: Visitor, tmp_path: Path):
    found = page(visitor, "bob", "/budget?dataset=clinic")
    assert "any outcome is at most 20.09 times (e^3) as likely with that person in the data as without" in found.text
    assert "Your last question alone: at most 2.719 times." in found.text
