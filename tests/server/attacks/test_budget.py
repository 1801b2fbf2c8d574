"""Many clients, one budget: it is never exceeded, and short by less than one price, whoever asks and however."""

from __future__ import annotations

import asyncio
import os
from collections import Counter

import pytest

from dither.server.core.problems import Problem
from dither.server.core.questions import Asked
from tests.server.attacks.hostile_clinic import gateway, hostile_clinic
from tests.server.gateways import caller, count, run

PRICE, GRANTED = "0.07", 14  # of a budget of 1: what is left is 0.02
CLIENTS = 32
BAD = [
    -1,
    0,
    1e-320,
    "1e999",
    True,
    "nan",
    "-inf",
    float("nan"),
    float("inf"),
    float("-inf"),
    "0x1",
    "1e-400",
    [1],
    {"a": 1},
    None,
]


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """A gateway with two workers, over several small budgets."""
    folder = tmp_path_factory.mktemp("budget")
    os.environ["DITHER_HOME"], before = str(folder / "home"), os.environ["DITHER_HOME"]
    names = ("race", "numbers", "keys", "other", "failure")
    datasets = [hostile_clinic(folder / name, name, budget='{ epsilon = "1" }') for name in names]
    events = [["age > 77", "read", "raise"], ["age > 66", "read", "sleep 0.4"]]
    with gateway(folder, datasets, workers=2, lease=1, events=events) as made:
        made.folder = folder  # type: ignore[attr-defined]
        yield made
    os.environ["DITHER_HOME"] = before


async def outcomes(gateway, callers, asks) -> Counter[str]:
    """What became of each question, all put at once."""
    several = await asyncio.gather(*(gateway.ask(who, asked, wait=30) for who, asked in zip(callers, asks, strict=True)))
    assert all(one.ended.is_set() for one in several)
    return Counter("replay" if one.replay else one.problem.kind if one.problem else "done" for one in several)


async def problem_of(work) -> Problem:
    """Why a question has no answer, told at once or in the end."""
    try:
        return (await work).problem
    except Problem as problem:
        return problem


def used(gateway, who, name: str) -> float:
    return run(gateway.budget(who, name))[0]["used"]


def test_32_clients_race_for_one_budget(found):
    clients = [caller(found, f"client-{place % 8}") for place in range(CLIENTS)]  # a token each, four for a name
    asks = [count(f"age > {place}", "race", epsilon=PRICE) for place in range(CLIENTS)]
    ends = run(outcomes(found, clients, asks))
    assert ends == {"done": GRANTED, "budget": CLIENTS - GRANTED}
    assert 1 - float(PRICE) < used(found, clients[0], "race") <= 1

    # Who was refused stays so: by a second token, as somebody else, in other words; what was answered is free for all.
    late = [caller(found, "client-0"), caller(found, "somebody"), caller(found, "olga", "owner")]
    for who in late:
        for sql in (
            "SELECT COUNT(*) AS n FROM visits WHERE age > 90",
            "select count(*) as m from visits as v where v.age>90",
        ):
            question = run(found.ask(who, Asked("race", sql, {"epsilon": PRICE}), wait=30))
            assert question.problem.kind == "budget"
    again = run(outcomes(found, clients, asks))
    assert again == {"replay": GRANTED, "budget": CLIENTS - GRANTED}
    assert run(found.verify(late[-1], "race"))["ok"]
    lines = run(found.ledger(late[-1], "race", last=10_000))
    assert (
        Counter(line["kind"] for line in lines)["reserved"] == Counter(line["kind"] for line in lines)["answered"] == GRANTED
    )


def test_a_restart_forgets_neither_charges_nor_keys(tmp_path):
    """Each of two gateways in turn takes part of the budget; together they take no more than there is."""
    dataset = hostile_clinic(tmp_path / "race", "race", budget='{ epsilon = "1" }')
    asks = [count(f"age > {place}", "race", epsilon="0.15") for place in range(9)]
    with gateway(tmp_path, [dataset]) as made:
        ana = caller(made, "ana")
        first = run(made.ask(ana, asks[0], key="k", wait=30))
        assert run(outcomes(made, 3 * [ana], asks[1:4])) == {"done": 3}
    with gateway(tmp_path, [dataset]) as made:
        ana, bob = caller(made, "ana"), caller(made, "bob")
        assert run(made.ask(ana, asks[5], key="k", wait=30)).problem.kind == "conflict"
        same, theirs = (run(made.ask(who, asks[0], key="k", wait=30)) for who in (ana, bob))
        assert run(outcomes(made, 8 * [ana], asks[1:])) == {"replay": 3, "done": 2, "budget": 3}
        assert used(made, ana, "race") == pytest.approx(0.9)
        assert run(made.verify(caller(made, "olga", "owner"), "race"))["ok"]
    assert first.receipt == same.receipt == theirs.receipt
    assert (first.replay, same.replay, theirs.replay) == (False, True, True)


@pytest.mark.parametrize("number", BAD, ids=str)
def test_prices_that_are_none_are_refused_and_cost_nothing(found, number):
    who = caller(found, "ana")
    for name in ("epsilon", "rho", "size"):
        if number is None and name == "size":
            continue  # as if it was left out
        terms = {"epsilon": "0.1", name: number} if name == "size" else {name: number}
        asked = Asked("numbers", "SELECT COUNT(*) AS n, AVG(age) AS a FROM visits", terms)
        with pytest.raises(Problem) as refused:
            run(found.quote(who, asked))
        assert refused.value.kind == "refused", name
        assert run(problem_of(found.ask(who, asked, wait=30))).kind == "refused", name
    assert used(found, who, "numbers") == 0


class TestKeys:
    """An Idempotency-Key stands for one question of one caller about one dataset, for ever."""

    def test_across_callers_datasets_and_questions(self, found):
        ana, bob = caller(found, "ana"), caller(found, "bob")
        first = run(found.ask(ana, count("age > 1", "keys", epsilon="0.1"), key="k", wait=30))
        assert (first.state, first.replay) == ("done", False)
        for who, asked in (
            (bob, count("age > 2", "keys", epsilon="0.1")),  # bob's own key, and another question
            (ana, count("age > 2", "other", epsilon="0.1")),  # her key at another ledger
        ):
            question = run(found.ask(who, asked, key="k", wait=30))
            assert (question.state, question.replay) == ("done", False)
        for asked in (count("age > 2", "keys", epsilon="0.1"), count("age > 1", "keys", epsilon="0.2")):
            with pytest.raises(Problem) as refused:
                run(found.ask(ana, asked, key="k", wait=30))
            assert refused.value.kind == "conflict"
        assert used(found, ana, "keys") == pytest.approx(0.2)
        assert used(found, ana, "other") == pytest.approx(0.1)

    def test_names_and_keys_do_not_run_into_each_other(self, found):
        """The ledger knows one name for a key; no two callers can make the same of theirs."""
        for name, key in (
            ("a", "b/c"),
            ("a/b", "c"),
            ('a", "b', "c"),
            ("a", 'b", "c'),
            ("a", 200 * "k"),
            (190 * "n", 200 * "k"),
        ):
            who = caller(found, name)
            asked = count(f"age > 30 AND age < {len(name) + 31} AND cost > {len(key)}", "keys", epsilon="0.001")
            question = run(found.ask(who, asked, key=key, wait=30))
            assert question.state == "done", (name, key)

    def test_while_it_runs(self, found):
        """One question, however often it is put: one charge, one answer; another question meanwhile is a conflict."""
        ana = caller(found, "ana")
        asked = count("age > 66", "keys", epsilon="0.05")  # which takes a while

        async def several():
            waiting = [asyncio.ensure_future(found.ask(ana, asked, key="slow", wait=30)) for _ in range(8)]
            await asyncio.sleep(0)
            with pytest.raises(Problem) as refused:
                await found.ask(ana, count("age > 4", "keys", epsilon="0.05"), key="slow")
            return refused.value.kind, await asyncio.gather(*waiting)

        before = used(found, ana, "keys")
        kind, questions = run(several())
        assert kind == "conflict"
        assert len({question.id for question in questions}) == 1
        assert len({question.answer for question in questions}) == 1
        assert used(found, ana, "keys") == pytest.approx(before + 0.05)

    def test_after_a_failure_it_is_paid_once_and_stays_bound(self, found):
        ana = caller(found, "ana")
        asked = count("age > 77", "failure", epsilon="0.1")  # fails after the charge
        kinds = [run(found.ask(ana, asked, key="fails", wait=30)).problem.kind for _ in range(3)]
        assert kinds[0] == "failed"
        assert set(kinds) <= {"failed", "in-progress"}
        question = run(found.ask(ana, count("age > 7", "failure", epsilon="0.1"), key="fails", wait=30))
        assert question.problem.kind == "conflict"
        assert used(found, ana, "failure") == pytest.approx(0.1)
