"""The core of the gateway, with real processes: who gets what, what is charged, and what is told."""

from __future__ import annotations

import asyncio
import json
import os
import signal

import pytest

import dither
from dither.server.core.config import Limits
from dither.server.core.gateway import Gateway
from dither.server.core.problems import Problem
from dither.server.core.questions import Asked
from tests.server.gateways import caller, config, count, finished, run, running, write_clinic


@pytest.fixture(scope="module")
def gateway(tmp_path_factory):
    """One gateway for tests that leave no trace in each other's questions."""
    folder = tmp_path_factory.mktemp("gateway")
    os.environ["DITHER_HOME"], before = str(folder / "home"), os.environ["DITHER_HOME"]
    with running(config(folder, "clinic", "shop")) as made:
        yield made
    os.environ["DITHER_HOME"] = before


def problem_of(work) -> Problem:
    with pytest.raises(Problem) as found:
        run(work)
    return found.value


def test_declared_facts_name_no_place_and_no_number_of_rows(gateway):
    facts = run(gateway.datasets(caller(gateway)))
    assert [one["name"] for one in facts] == ["clinic", "shop"]
    table = facts[0]["tables"][0]
    assert table["columns"][1] == {
        **{"name": "ward", "type": "text", "bounds": None, "step": None, "keys": ["A", "B"], "nullable": True},
        "known_from": None,
    }
    assert table["columns"][2]["bounds"] == ["0", "100"]
    assert "parquet" not in json.dumps(facts)
    assert "ledger" not in json.dumps(facts)


def test_a_quote_costs_nothing_and_can_be_asked_by_its_id(gateway):
    who = caller(gateway)
    quote = run(gateway.quote(who, count("age > 1")))
    assert quote["price"] == "ε = 0.1 (add/remove one person)"
    assert not quote["free"]
    assert quote["words"] == "n is off by at most 99.86; about 30 more such questions are left of the budget"
    assert quote["left"] == 30
    question = run(finished(gateway, who, quote["id"]))
    answer = dither.Answer.from_json(question.answer)
    assert (question.state, question.replay, answer.price) == ("done", False, quote["price"])
    assert answer.receipt.name == question.receipt
    assert run(gateway.budget(who, "clinic"))[0]["left"] == "96.6%"
    again = run(finished(gateway, who, count("age > 1")))
    assert (again.replay, dither.Answer.from_json(again.answer).columns) == (True, answer.columns)


def test_somebody_elses_quote_question_and_dataset_are_absent(gateway):
    ana, ben = caller(gateway), caller(gateway, "ben", datasets=["shop"])
    quote = run(gateway.quote(ana, count()))
    question = run(finished(gateway, ana, count()))
    nothing = problem_of(gateway.question(ben, "qy_none")).to_json()
    for work in (
        gateway.ask(ben, quote["id"]),
        gateway.ask(ana, "qt_none"),
        gateway.question(ben, question.id),
        gateway.dataset(ben, "clinic"),
        gateway.dataset(ana, "none"),
        gateway.quote(ben, count()),
        gateway.ask(ben, count()),
        gateway.budget(ben, "clinic"),
        gateway.answers(ben, dataset="clinic"),
        gateway.answer(ben, question.receipt),
        gateway.answer(ana, "none"),
        gateway.ledger(caller(gateway, "eve", "auditor", ["shop"]), "clinic"),
    ):
        assert problem_of(work).to_json() == nothing


def test_roles(gateway):
    auditor, analyst = caller(gateway, "eve", "auditor"), caller(gateway)
    assert problem_of(gateway.ask(auditor, count())).kind == "forbidden"
    assert problem_of(gateway.ledger(analyst, "clinic")).kind == "forbidden"
    assert problem_of(gateway.list_tokens(auditor)).kind == "forbidden"
    assert run(gateway.verify(auditor, "clinic"))["ok"]
    lines = run(gateway.ledger(caller(gateway, "own", "owner"), "clinic", last=3))
    assert lines[-1]["kind"] in ("reserved", "answered", "refused", "replayed")
    some = caller(gateway, "sam", "owner", ["shop"])
    assert problem_of(gateway.create_token(some, name="x", datasets=["*"])).kind == "forbidden"
    assert problem_of(gateway.create_token(some, name="x", datasets=["clinic"])).kind == "absent"
    token, secret = run(gateway.create_token(some, name="x", datasets=["shop"]))
    assert gateway.caller(secret, "").name == "x"
    assert token.id in {one.id for one in run(gateway.list_tokens(some))}
    run(gateway.revoke_token(some, token.id))
    with pytest.raises(Problem, match="valid token"):
        gateway.caller(secret, "")


@pytest.mark.parametrize(
    ("sql", "terms", "why"),
    [
        ("SELECT * FROM visits", {"epsilon": "1"}, "single rows are never shown"),
        ("SELECT COUNT(*) FROM none", {"epsilon": "1"}, "no table of that name"),
        ("SELECT COUNT(*) AS n FROM visits", {}, "a price is stated"),
        ("SELECT COUNT(*) AS n FROM visits", {"epsilon": "nan"}, "not"),
        ("SELECT COUNT(*) AS n FROM visits", {"epsilon": -1}, ""),
        ("SELECT COUNT(*) AS n FROM visits", {"epsilon": "1", "seed": 7}, "no such term"),
        ("SELECT COUNT(*) AS n FROM visits", {"epsilon": ["1"]}, ""),
        ("SELECT COUNT(*) AS n FROM visits", {"epsilon": "1", "analyst": "ben"}, "no such term"),
    ],
)
def test_refusals_teach_and_cost_nothing(gateway, sql, terms, why):
    who = caller(gateway)
    before = run(gateway.budget(who))
    for work in (gateway.quote(who, Asked("clinic", sql, terms)), finished(gateway, who, Asked("clinic", sql, terms))):
        try:
            problem = run(work).problem
        except Problem as found:
            problem = found
        assert problem.status == 422
        assert why in problem.why
        assert problem.instead
    assert run(gateway.budget(who)) == before


def test_what_is_over_the_budget_is_refused_and_logged(gateway):
    who = caller(gateway)
    question = run(finished(gateway, who, count("age > 2", "shop", epsilon="4")))
    assert (question.state, question.problem.status, question.problem.error) == ("failed", 402, "BudgetError")
    assert run(gateway.budget(who, "shop"))[0]["left"] == "100%"
    last = run(gateway.ledger(caller(gateway, "own", "owner"), "shop", last=1))[0]
    assert (last["kind"], last["who"]) == ("refused", "ana")


def test_a_key_is_one_question_of_one_caller(gateway):
    ana, ben = caller(gateway), caller(gateway, "ben")
    first = run(finished(gateway, ana, count("age > 3"), key="k"))
    assert run(finished(gateway, ana, count("age > 3"), key="k")) is first
    assert problem_of(gateway.ask(ana, count("age > 4"), key="k")).status == 409
    assert run(finished(gateway, ben, count("age > 5"), key="k")).state == "done"
    gateway.questions._by_key.clear()  # as after a restart: the ledger knows the key
    assert run(finished(gateway, ana, count("age > 3"), key="k")).replay
    gateway.questions._by_key.clear()
    assert run(finished(gateway, ana, count("age > 4"), key="k")).problem.status == 409


def test_free_questions_and_batches(gateway):
    who = caller(gateway)
    free = Asked("clinic", "SELECT DISTINCT ward FROM visits", {})
    assert run(gateway.quote(who, free))["free"]
    assert json.loads(run(finished(gateway, who, free)).answer)["columns"] == {"ward": ["A", "B"]}
    several = Asked("clinic", [str(count("age > 20").sql), str(count("age > 40").sql)], {"epsilon": "0.1"})
    quote, question = run(gateway.quote(who, several)), run(finished(gateway, who, several))
    assert len(quote["errors"]) == 2
    assert question.price == quote["price"] == "ε = 0.1 (add/remove one person)"
    assert len(dither.BatchAnswer.from_json(question.answer)) == 2


def test_stored_answers_are_found_by_words_and_own_ones_by_their_asker(gateway):
    who = caller(gateway)
    question = run(finished(gateway, who, Asked("clinic", "SELECT SUM(age) AS years FROM visits", {"epsilon": "0.1"})))
    found = run(gateway.answers(caller(gateway, "ben"), words="YEARS sum"))
    assert [one["id"] for one in found] == [question.receipt]
    assert run(gateway.answer(caller(gateway, "ben"), question.receipt)).answer == question.answer
    assert run(gateway.answers(who, words="100%")) == []


def test_watch_tells_states_and_whole_seconds(gateway):
    who = caller(gateway)

    async def work():
        question = await gateway.ask(who, count("age > 7"), wait=0)
        return [event async for event in gateway.watch(who, question.id)]

    events = run(work())
    assert events[-1]["state"] == "done"
    assert {name for event in events for name in event} == {"state", "seconds"}


def test_long_questions_are_refused_by_their_length(gateway):
    assert problem_of(gateway.quote(caller(gateway), count("age > 1 " * 4000))).status == 413


# -- with a gateway of their own ---------------------------------------------------------------------------------------


def test_a_gateway_that_cannot_open_a_dataset_says_why(tmp_path):
    made = config(tmp_path)
    (tmp_path / "clinic.ledger").unlink()
    with pytest.raises(dither.errors.LedgerError):
        Gateway(made)


def test_a_worker_that_is_killed_is_one_failure_and_another_takes_its_place(tmp_path):
    with running(config(tmp_path)) as gateway:
        who = caller(gateway)

        async def work():
            handle = gateway.workers.handles[0]
            os.kill(handle.pid, signal.SIGSTOP)  # so that the question is surely under way
            asked = asyncio.create_task(gateway.ask(who, count(), wait=30))
            while not gateway.questions.under_way():
                await asyncio.sleep(0.01)
            os.kill(handle.pid, signal.SIGKILL)
            failed = await asked
            again = await gateway.ask(who, count(), wait=30)
            return failed, again

        failed, again = run(work())
        assert (failed.state, failed.problem.status) == ("failed", 500)
        assert again.state == "done"
        assert run(gateway.verify(caller(gateway, "own", "owner"), "clinic"))["ok"]


def test_a_desk_that_is_killed_is_started_again(tmp_path):
    with running(config(tmp_path)) as gateway:
        who = caller(gateway)
        os.kill(gateway.desk._handle.pid, signal.SIGKILL)
        for _ in range(3):  # the first may still meet the one that is gone
            try:
                found = run(gateway.quote(who, count()))["left"]
            except Problem as problem:
                found = problem.kind
            if found == 30:
                break
            assert found == "unavailable"
        assert found == 30


def test_a_source_that_is_gone_is_told_without_its_place(tmp_path):
    path = write_clinic(tmp_path)
    with running(config(tmp_path)) as gateway:
        (tmp_path / "clinic.parquet").unlink()
        who = caller(gateway)
        assert run(gateway.quote(who, count()))["left"] == 30  # quotes read nothing
        problem = run(finished(gateway, who, count())).problem
        assert problem.kind in ("unavailable", "failed")
        assert str(path.parent) not in json.dumps(problem.to_json())


def test_own_answers_are_seen_by_who_asked_and_by_owners(tmp_path):
    with running(config(tmp_path, answers="own")) as gateway:
        ana, ben, own = caller(gateway), caller(gateway, "ben"), caller(gateway, "own", "owner")
        question = run(finished(gateway, ana, count()))
        assert [len(run(gateway.answers(who))) for who in (ana, ben, own)] == [1, 0, 1]
        assert problem_of(gateway.answer(ben, question.receipt)).status == 404


def test_an_answer_leaves_when_its_slot_ends_and_not_before(tmp_path):
    with running(config(tmp_path, slots=(0.5, 2.0))) as gateway:
        who = caller(gateway)
        quote = run(gateway.quote(who, Asked("clinic", count().sql, {"epsilon": "0.1"}, slot=0.6)))
        assert quote["slot"] == 2.0

        async def work():
            loop = asyncio.get_running_loop()
            began = loop.time()
            question = await gateway.ask(who, quote["id"], wait=30)
            return question, loop.time() - began

        question, seconds = run(work())
        assert question.state == "done"
        assert seconds >= 2.0
        assert problem_of(gateway.quote(who, Asked("clinic", count().sql, {"epsilon": "0.1"}, slot=9))).status == 422


def test_too_many_questions_are_refused(tmp_path):
    limits = Limits(under_way=1, queries_per_second=1e5, quotes_per_second=1e5)
    with running(config(tmp_path, limits=limits)) as gateway:
        who = caller(gateway)

        async def work():
            first = await gateway.ask(who, count("age > 1"), wait=0)
            with pytest.raises(Problem) as found:
                await gateway.ask(who, count("age > 2"), wait=0)
            await first.ended.wait()
            return found.value, first

        problem, first = run(work())
        assert (problem.status, problem.retry_after, first.state) == (429, 1, "done")


def test_a_share_is_what_is_left(tmp_path):
    with running(config(tmp_path)) as gateway:
        owner = caller(gateway, "own", "owner")
        _, secret = run(gateway.create_token(owner, name="ana", datasets=["clinic"], share={"epsilon": "0.25"}))
        ana = gateway.caller(secret, "")
        quote = run(gateway.quote(ana, count()))
        assert quote["words"] == "n is off by at most 99.86; about 2 more such questions are left of the share of ana"
        assert run(gateway.budget(ana))[0]["share"]["words"] == "100% of your share"
        ends = [run(finished(gateway, ana, count(f"age > {k}"))) for k in range(3)]
        assert [end.state for end in ends] == ["done", "done", "failed"]
        assert ends[2].problem.status == 402
        assert run(finished(gateway, caller(gateway, "ben"), count("age > 9"))).problem.status == 402


def test_wrong_tokens_of_one_address_are_few_a_minute_and_a_right_one_passes(tmp_path):
    with running(config(tmp_path, limits=Limits(wrong_tokens_per_minute=2))) as gateway:
        secret = gateway.tokens.create(name="ana")[1]
        statuses = []
        for wrong in ("", "dth_x", f"{secret[:-1]}A", None):
            with pytest.raises(Problem) as found:
                gateway.caller(wrong, "127.0.0.1")
            statuses.append(found.value.status)
        assert statuses == [401, 401, 429, 429]
        assert 0 < found.value.retry_after <= 30
        assert gateway.caller(secret, "127.0.0.1").name == "ana"
        with pytest.raises(Problem, match="unauthorized"):
            gateway.caller("dth_x", "127.0.0.2")


def test_a_token_asks_so_often_and_no_more(tmp_path):
    with running(config(tmp_path, limits=Limits(quotes_per_second=0.01, queries_per_second=0.01))) as gateway:
        ana, ben = caller(gateway), caller(gateway, "ben")
        for who in (ana, ben):
            assert run(gateway.quote(who, count()))["left"] == 30
            assert problem_of(gateway.quote(who, count())).status == 429
        first = run(finished(gateway, ana, count()))
        assert 0 < problem_of(gateway.ask(ana, count("age > 1"))).retry_after <= 100
        assert first.state == "done"


@pytest.mark.parametrize(
    ("share", "where"),
    [
        ({"epsilon": "1", "rho": "1"}, "epsilon, rho"),
        ({"epsilon": "-1"}, "epsilon"),
        ({"epsilon": "NaN"}, "epsilon"),
        ({"epsilon": "1", "delta": "2"}, "delta"),
        ({"rho": "1e999"}, "rho"),
        ({"delta": "1e-7"}, "delta"),
        ({"daily": "0.1"}, "daily"),
        ({"epsilon": "1", "daily": "2"}, "daily"),
    ],
)
def test_a_share_that_is_none_makes_no_token_and_no_share(gateway, share, where):
    owner = caller(gateway, "own", "owner")
    before = len(run(gateway.list_tokens(owner)))
    problem = problem_of(gateway.create_token(owner, name="bob", datasets=["clinic", "shop"], share=share))
    assert (problem.status, problem.where) == (422, where)
    assert len(run(gateway.list_tokens(owner))) == before
    assert run(gateway.budget(caller(gateway, "bob")))[0]["share"] is None


def test_a_portion_of_a_day_is_kept_by_the_ledger(tmp_path):
    with running(config(tmp_path)) as gateway:
        owner = caller(gateway, "own", "owner")
        share = {"epsilon": "1", "daily": "0.2"}
        _, secret = run(gateway.create_token(owner, name="ana", datasets=["clinic"], share=share))
        ana = gateway.caller(secret, "")
        ends = [run(finished(gateway, ana, count(f"age > {k}"))) for k in range(3)]
        # should midnight fall between them, the third would be paid from the next day's portion
        assert [end.state for end in ends[:2]] == ["done", "done"]
        assert ends[2].state == "done" or "portion" in ends[2].problem.why
        told = run(gateway.budget(ana))[0]
        assert told["share"]["left"] in ("80%", "70%")
        assert told["today"]["next"].endswith("+00:00")
