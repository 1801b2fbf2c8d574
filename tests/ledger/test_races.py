"""Many processes at once: never more granted than there is, never two answers for one charge, whoever is killed when."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import threading
import time
from collections import defaultdict
from fractions import Fraction
from pathlib import Path

from dither import Ledger, pure
from dither.errors import BudgetError, InProgressError
from tests.ledger.children import fork, note, wait
from tests.ledger.servers import postgres

UNIT = pure("0.001")


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def check_history(ledger: Ledger, budget: Fraction, seen: list[tuple[str, str]]) -> dict[str, int]:
    """Read everything: at every prefix spent <= budget and answers <= charges; each charge has one answer at most, and
    whatever anybody ever saw for a question is that answer. Gives counts."""
    charges: dict[int, str] = {}
    answers: dict[int, str] = {}
    spent = Fraction(0)
    for entry in ledger.history():
        if entry.kind == "reserved":
            spent += Fraction("0.001")
            assert entry.body["question"] not in charges.values(), "one question was charged twice"
            charges[entry.number] = entry.body["question"]
        if entry.kind == "answered":
            number = entry.body["receipt"]
            assert number in charges
            assert number not in answers, "two answers for one charge"
            assert entry.answer is not None
            answers[number] = entry.answer
        assert entry.state.spent[0] == spent
        assert spent <= budget
        assert len(answers) <= len(charges)
    by_question = {question: answers.get(number) for number, question in charges.items()}
    for question, answer in seen:
        assert by_question[f'"{question}"'] == answer, "somebody saw an answer that is not the stored one"
    result = ledger.verify()
    assert result.ok, str(result)
    return {"charged": len(charges), "answered": len(answers), "seen": len(seen)}


def test_32_processes_race_for_the_budget(location, tmp_path):
    """5,120 attempts at 1,000 units: exactly 1,000 are granted."""
    log = str(tmp_path / "granted")
    with Ledger.create(location, budget=pure(1), domain="clinic") as ledger:
        gate_out, gate_in = os.pipe()

        def work(number: int) -> None:
            os.close(gate_in)
            os.read(gate_out, 1)  # all start together: when the last writer of the gate has gone
            granted = 0
            with Ledger(location) as own:
                for turn in range(160):
                    try:
                        own.reserve(UNIT, f"question {number} {turn}")
                        granted += 1
                    except BudgetError:
                        pass
            note(log, str(granted))

        children = [fork(lambda number=number: work(number)) for number in range(32)]
        os.close(gate_out)
        os.close(gate_in)
        assert wait(children) == [0] * 32
        granted = [int(line) for line in lines(Path(log))]
        assert len(granted) == 32
        assert sum(granted) == 1000
        assert ledger.remaining().totals()[0] == 1
        assert check_history(ledger, Fraction(1), [])["charged"] == 1000


def test_the_last_unit_goes_to_one(location, tmp_path):
    with Ledger.create(location, budget=pure("0.005"), domain="clinic") as ledger:
        for turn in range(5):
            log = str(tmp_path / f"granted {turn}")

            def work(number: int, turn: int = turn, log: str = log) -> None:
                with Ledger(location) as own:
                    try:
                        own.reserve(UNIT, f"question {number} {turn}")
                        note(log, "granted")
                    except BudgetError:
                        note(log, "refused")

            if turn < 4:
                ledger.reserve(UNIT, f"before {turn}")
                continue
            assert wait([fork(lambda number=number: work(number)) for number in range(32)]) == [0] * 32
            assert sorted(lines(Path(log))) == ["granted"] + ["refused"] * 31
        assert ledger.remaining().like(UNIT) == 0


def answer_one(ledger: Ledger, question: str, *, key: str | None, log: str, die: str = "") -> None:
    """What a gateway does with a question: reserve, compute, commit, show; dies on the way where told to."""

    def maybe_die(stage: str) -> None:
        if stage == die:
            os.kill(os.getpid(), signal.SIGKILL)

    while True:
        try:
            receipt = ledger.reserve(UNIT, question, idempotency_key=key, lease=1)
            break
        except InProgressError:
            time.sleep(0.02)
    maybe_die("reserved")
    answer = receipt.answer
    if answer is None:
        ledger.touch(receipt)
        mine = os.urandom(8).hex()  # every computation draws other noise
        maybe_die("computed")
        answer = ledger.commit(receipt, mine)
    maybe_die("committed")
    note(log, f"{question}\t{answer}")


def test_64_callers_with_one_key_see_one_answer(location, tmp_path):
    """8 processes of 8 threads, and every other process dies at some point on its first try."""
    log = str(tmp_path / "seen")
    with Ledger.create(location, budget=pure(1), domain="clinic") as ledger:
        stages = ["", "reserved", "computed", "committed"]

        def work(number: int) -> None:
            with Ledger(location) as own:
                die = stages[number % 4]
                calls = [
                    threading.Thread(target=answer_one, args=(own, "question"), kwargs={"key": "k", "log": log, "die": die})
                    for _ in range(8)
                ]
                for call in calls:
                    call.start()
                for call in calls:
                    call.join()

        children = [fork(lambda number=number: work(number)) for number in range(8)]
        ended = wait(children)
        assert set(ended) <= {0, -9}
        assert ended.count(0) >= 2
        seen = [tuple(line.split("\t")) for line in lines(Path(log))]
        assert len(seen) >= 16
        assert len(set(seen)) == 1
        assert check_history(ledger, Fraction(1), seen) == {"charged": 1, "answered": 1, "seen": len(seen)}


def test_killed_at_any_moment(location, tmp_path, every):
    """Workers are killed, by themselves at the tender moments and by others at any; what is left is always in order."""
    kills = 1000 if every else 100
    log = str(tmp_path / "seen")
    rng = random.Random(7)
    with Ledger.create(location, budget=pure(1000), domain="clinic") as ledger:
        killed = 0
        turn = 0
        while killed < kills:
            # Few questions, so that workers meet at the same ones; new ones come up, so that charges go on.
            questions = [f"question {max(0, turn // 3 - back)}" for back in range(4)]
            stage = ["", "reserved", "computed", "committed"][turn % 4]

            def work(stage: str = stage, questions: list[str] = questions, seed: int = turn) -> None:
                order = random.Random(seed).sample(questions, 4)
                with Ledger(location) as own:
                    for place, question in enumerate(order):
                        key = f"key of {question}" if seed % 2 else None
                        answer_one(own, question, key=key, log=log, die=stage if place == seed % 3 else "")

            pair = [fork(work), fork(lambda work=work, turn=turn: work("", seed=turn + 1))]
            time.sleep(rng.uniform(0, 0.05))
            for child in pair:
                os.kill(child, signal.SIGKILL)
            killed += sum(end == -9 for end in wait(pair))
            turn += 1
            if turn % 40 == 0:
                assert ledger.verify().ok
        time.sleep(1.1)  # the leases of the dead end
        open_questions = {f"question {number}" for number in range(turn // 3 + 1)}
        for question in sorted(open_questions):
            answer_one(ledger, question, key=None, log=log)
        seen = [(line.split("\t")[0], line.split("\t")[1]) for line in lines(Path(log)) if "\t" in line]
        counts = check_history(ledger, Fraction(1000), seen)
        assert counts["charged"] == counts["answered"] == len(open_questions)
        answers: dict[str, set[str]] = defaultdict(set)
        for question, answer in seen:
            answers[question].add(answer)
        assert all(len(found) == 1 for found in answers.values())


def test_a_database_server_that_dies_keeps_what_it_acknowledged(tmp_path):
    """Four workers charge; the server is stopped without a flush; every receipt that was handed out is still there."""
    log = str(tmp_path / "handed out")

    def work(url: str, name: str) -> None:
        with Ledger(url) as own:
            for count in range(10_000):
                receipt = own.reserve(UNIT, f"question {name} {count}")
                note(log, f"{receipt.number} {receipt.fingerprint}")

    with postgres() as server:
        url = f"{server.get_uri()}#crash"
        Ledger.create(url, budget=pure(1000), domain="clinic").close()
        for turn in range(3):
            names = [f"{turn} {number}" for number in range(4)]
            children = [fork(lambda name=name: _quiet(lambda: work(url, name))) for name in names]
            late = time.monotonic() + 120
            while len(lines(Path(log))) <= 60 * (turn + 1) and time.monotonic() < late:
                time.sleep(0.02)
            stop = [str(server.bin_path / "pg_ctl"), "-D", str(server.pgdata), "-m", "immediate", "stop"]
            user = {"user": server.system_user} if server.system_user else {}
            stopped = subprocess.run(stop, capture_output=True, text=True, **user)
            assert stopped.returncode == 0, stopped.stderr
            wait(children)
            server.ensure_postgres_running()
            with Ledger(url) as ledger:
                handed_out = dict(line.split() for line in lines(Path(log)))
                kept = {str(entry.number): entry.body.get("fingerprint") for entry in ledger.history()}
                assert len(handed_out) > 50 * (turn + 1)
                assert all(kept.get(number) == fingerprint for number, fingerprint in handed_out.items())
                assert ledger.verify().ok


def _quiet(work) -> None:
    try:
        work()
    except Exception:
        os._exit(3)
