"""Threads that share transactions: each gets its own result, and nobody waits for one who has gone."""

from __future__ import annotations

import signal
import threading
import time
from contextlib import contextmanager
from fractions import Fraction

import pytest

from dither import Ledger, pure
from dither.errors import BudgetError, ConflictError, InProgressError, LedgerError
from dither.ledger.write_queue import WriteQueue
from tests.ledger.children import fork, wait

TENTH = pure("0.1")


class Desk:
    """Pages that nobody keeps, and a gate that holds the first one up."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.pages: list[int] = []
        self.error: BaseException | None = None

    @contextmanager
    def page(self, *queries):
        self.gate.wait(10)
        self.pages.append(len(queries))
        yield "page"
        if self.error is not None:
            raise self.error


def wait_for(turns: WriteQueue, count: int) -> None:
    """Until so many are in the queue: then the next one comes after them, on any machine."""
    until = time.monotonic() + 10
    while turns.waiting < count and time.monotonic() < until:
        time.sleep(0.001)


def in_threads(turns: WriteQueue, count: int, decide) -> tuple[list[threading.Thread], dict[int, object]]:
    found: dict[int, object] = {}

    def work(number: int) -> None:
        try:
            found[number] = turns.take([("query", (number,))], lambda page: decide(number))
        except BaseException as error:
            found[number] = error

    threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for number, thread in enumerate(threads):
        thread.start()
        wait_for(turns, number + 1)
    return threads, found


def test_those_who_wait_are_served_together():
    desk = Desk()
    turns = WriteQueue(desk.page)
    held, found = in_threads(turns, 100, lambda number: number * number)
    desk.gate.set()
    for thread in held:
        thread.join(10)
    assert found == {number: number * number for number in range(100)}
    assert desk.pages == [1, 64, 35]


def test_the_bell_saves_time_and_decides_nothing(monkeypatch):
    monkeypatch.setattr(WriteQueue, "ring", lambda turns: None)
    desk = Desk()
    held, found = in_threads(WriteQueue(desk.page), 20, lambda number: number * number)
    desk.gate.set()
    for thread in held:
        thread.join(10)
    assert found == {number: number * number for number in range(20)}


def test_a_refusal_is_one_persons_and_a_failure_is_everybodys():
    def decide(number: int) -> int:
        if number == 3:
            raise BudgetError("guarantee", number, "nothing left", "less")
        return number

    desk = Desk()
    turns = WriteQueue(desk.page)
    held, found = in_threads(turns, 6, decide)
    desk.gate.set()
    for thread in held:
        thread.join(10)
    assert isinstance(found.pop(3), BudgetError)
    assert found == {number: number for number in (0, 1, 2, 4, 5)}
    for failure, others in ((KeyboardInterrupt(), LedgerError), (LedgerError("a", "b", "c", "d"), LedgerError)):
        desk = Desk()
        desk.error = failure
        turns = WriteQueue(desk.page)
        held, found = in_threads(turns, 6, decide)
        desk.gate.set()
        for thread in held:
            thread.join(10)
        assert found[0] is failure
        assert isinstance(found.pop(3), BudgetError)
        assert all(error is failure or isinstance(error, others) for error in found.values())
        if not isinstance(failure, LedgerError):
            led = [error is failure for error in found.values()].count(True)
            assert led in (1, 2)  # two led a page; the one who was refused may be the second
        desk.error = None
        assert turns.take([], lambda page: 7) == 7


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # an interrupt inside somebody's finalizer
def test_one_who_is_interrupted_does_not_hold_up_the_rest(tmp_path):
    """A thousand interrupts at any moment, while other threads charge: they all go on, and the books are right."""
    with Ledger.create(tmp_path / "a.ledger", budget=pure(100), domain="clinic") as ledger:
        stop = time.monotonic() + 2
        counts = [0, 0, 0]
        wrong: list[Exception] = []

        def work(number: int) -> None:
            while time.monotonic() < stop:
                try:
                    ledger.reserve(pure("0.001"), f"thread {number} {counts[number]}")
                except Exception as error:
                    if "stopped by" not in str(error):
                        wrong.append(error)
                counts[number] += 1

        armed = [False]

        def press(*_: object) -> None:
            if armed[0]:
                armed[0] = False
                raise KeyboardInterrupt

        threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
        before = signal.signal(signal.SIGALRM, press)
        interrupted = tried = 0
        for thread in threads:
            thread.start()
        while time.monotonic() < stop:
            tried += 1
            try:
                armed[0] = True
                signal.setitimer(signal.ITIMER_REAL, 0.0002 * (1 + tried % 13))
                ledger.reserve(pure("0.001"), f"main {tried}")
                armed[0] = False
            except KeyboardInterrupt:
                interrupted += 1
            except LedgerError as error:
                armed[0] = False
                if "stopped by" not in str(error):
                    wrong.append(error)
        armed[0] = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        for thread in threads:
            thread.join(20)
        assert not any(thread.is_alive() for thread in threads)
        assert interrupted > 100
        assert min(counts) > 20
        assert not wrong
        assert ledger.verify().ok


def test_the_same_question_twice_in_one_transaction_is_charged_once(tmp_path):
    with Ledger.create(tmp_path / "a.ledger", budget=pure(1), domain="clinic") as ledger:
        found: list[object] = []
        start = threading.Barrier(16)

        def work() -> None:
            start.wait()
            for number in range(5):
                try:
                    receipt = ledger.reserve(TENTH, f"question {number}")
                    found.append(ledger.commit(receipt, "42"))
                except InProgressError as error:
                    found.append(error)

        threads = [threading.Thread(target=work) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        assert len(found) == 80
        assert ledger.remaining().totals()[0] == Fraction(5, 10)
        assert ledger.verify().ok


def together(ledger: Ledger, calls: list) -> list[object]:
    """Make calls at the same moment, such that all but the first share one transaction; what came of each."""
    gate, page, sizes = threading.Event(), ledger.handle.page, []

    @contextmanager
    def gated(*queries):
        gate.wait(10)
        sizes.append(len(queries))
        with page(*queries) as opened:
            yield opened

    ledger.queue = WriteQueue(gated)
    found: list[object] = [None] * len(calls)

    def work(number: int) -> None:
        try:
            found[number] = calls[number]()
        except Exception as error:
            found[number] = error

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(calls))]
    for number, thread in enumerate(threads):
        thread.start()
        wait_for(ledger.queue, number + 1)
    gate.set()
    for thread in threads:
        thread.join(10)
    assert len(sizes) == 2
    return found[1:]


def test_within_one_transaction_later_work_sees_earlier_work(ledger):
    first = lambda: ledger.reserve(pure("0.001"), f"first {time.monotonic_ns()}")  # noqa: E731
    same = [lambda number=number: ledger.reserve(TENTH, "question", idempotency_key=f"k{number}") for number in range(6)]
    receipt, *others = together(ledger, [first, *same])
    assert all(isinstance(other, InProgressError) for other in others)
    answers = [lambda number=number: ledger.commit(receipt, f"answer {number}") for number in range(6)]
    assert together(ledger, [first, *answers]) == ["answer 0"] * 6
    keyed = [lambda text=text: ledger.reserve(TENTH, text, idempotency_key="x") for text in ("question", "another")]
    replayed, conflict = together(ledger, [first, *keyed])
    assert replayed.answer == "answer 0"
    assert isinstance(conflict, ConflictError)
    ledger.share("zoe", pure(1))
    mixed = [
        lambda: ledger.reserve(TENTH, "before the share", analyst="zoe"),
        lambda: ledger.share("zoe", pure("0.15")),
        lambda: ledger.reserve(TENTH, "after the share", analyst="zoe"),
    ]
    first = lambda: ledger.reserve(pure("0.001"), f"first {time.monotonic_ns()}", analyst="zoe")  # noqa: E731
    assert isinstance(together(ledger, [first, *mixed])[2], BudgetError)  # what was charged a moment ago counts
    assert ledger.verify().ok
    ledger.share("ana", pure("0.25"))
    shared = [lambda number=number: ledger.reserve(TENTH, f"shared {number}", analyst="ana") for number in range(4)]
    first = lambda: ledger.remaining() and ledger.reserve(pure("0.001"), "last", analyst="ana")  # noqa: E731
    granted = together(ledger, [first, *shared])
    assert [isinstance(each, BudgetError) for each in granted] == [False, False, True, True]
    new = [lambda: ledger.share("bob", pure("0.2")), lambda: ledger.reserve(TENTH, "bob's", analyst="bob")]
    assert together(ledger, [first, *new])[1].attempt == 1  # a share that was set a moment ago
    back = [lambda: ledger.refund(granted[0]), lambda: ledger.commit(granted[0], "late"), lambda: ledger.refund(granted[1])]
    done = together(ledger, [first, *back])
    assert done[0] is None
    assert isinstance(done[1], ConflictError)
    assert done[2] is None
    assert ledger.verify().ok


def test_a_copied_process_does_not_wait_for_threads_that_it_does_not_have(ledger):
    gate, page = threading.Event(), ledger.handle.page

    @contextmanager
    def gated(*queries):
        gate.wait(10)
        with page(*queries) as opened:
            yield opened

    ledger.queue = WriteQueue(gated)
    thread = threading.Thread(target=lambda: ledger.reserve(TENTH, "parent"))
    thread.start()
    time.sleep(0.1)

    def work() -> None:
        signal.alarm(20)  # ends the copy, should it wait for ever
        ledger.reserve(TENTH, "child")

    assert wait([fork(work)]) == [0]
    gate.set()
    thread.join(10)
    assert ledger.remaining().totals()[0] == Fraction(2, 10)
