"""What every ledger does, on every database."""

from __future__ import annotations

import math
import os
import threading
import time
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

import pytest

from dither import Gaussian, Guarantee, Ledger, Number, Receipt, Unit, approx, bounded_range, gdp, ln, pure, renyi, zcdp
from dither import filter as filters
from dither.errors import (
    BudgetError,
    ConflictError,
    DataError,
    DitherError,
    GuaranteeError,
    InProgressError,
    InputError,
    LedgerError,
    NumberError,
    UnitError,
)
from dither.ledger.history import history_lines, history_table
from dither.ledger.report import about
from dither.ledger.write_queue import WriteQueue
from dither.privacy.guarantee.approx import ApproxEntry
from tests.ledger.children import fork, wait

TENTH = pure("0.1")


def ask(ledger: Ledger, question: str, answer: str = "42", price=TENTH, **options: object) -> str:
    receipt = ledger.reserve(price, question, **options)
    return receipt.answer if receipt.answer is not None else ledger.commit(receipt, answer)


# -- charging --------------------------------------------------------------------------------------------------------


def test_ten_tenths_make_one_and_the_eleventh_is_refused(ledger):
    for number in range(10):
        assert ledger.remaining().like(TENTH) == 10 - number
        ask(ledger, f"question {number}")
    assert str(ledger.remaining()) == "0%: ε = 0 left of ε = 1 (add/remove one person)"
    assert ledger.remaining().totals() == [1, 0]
    assert ledger.remaining().used == 1
    before = ledger.verify().entries
    with pytest.raises(BudgetError, match="ε = 0 left"):
        ledger.reserve(TENTH, "one more")
    with pytest.raises(BudgetError):
        ledger.reserve(pure("1e-99"), "a tiny one")
    assert ledger.verify().entries == before


def test_thirds_and_logarithms_are_exact(location):
    with Ledger.create(location, budget=pure(ln(3)), domain="clinic") as ledger:
        for number in range(3):
            ask(ledger, f"question {number}", price=pure(ln(3) / 3))
        with pytest.raises(BudgetError):
            ledger.reserve(pure("1e-60"), "more")
        assert str(ledger.remaining()).startswith("0%: ε = 0 left")
        assert ledger.verify().ok


@pytest.mark.parametrize("bad", [math.nan, -1, math.inf, "1e999", True, "x", None])
def test_bad_numbers_never_reach_the_ledger(ledger, bad):
    with pytest.raises(NumberError):
        ledger.reserve(pure(bad), "question")
    with pytest.raises(GuaranteeError):
        ledger.reserve(bad, "question")
    assert ledger.verify().entries == 2


@pytest.mark.parametrize("bad", [pure(0), pure(1e-320), pure("1e-101"), approx(0, 0), zcdp(0), approx("0.1", "1e-320")])
def test_prices_of_nothing_are_refused(ledger, bad):
    with pytest.raises(InputError):
        ledger.reserve(bad, "question")
    assert ledger.verify().entries == 2
    assert ledger.remaining().used == 0


def test_what_has_no_price_under_the_budget_is_refused(ledger):
    with pytest.raises(GuaranteeError, match="no price"):
        ledger.reserve(zcdp("0.1"), "a Gaussian under a pure budget")
    with pytest.raises(BudgetError):
        ledger.reserve(approx("0.1", "1e-9"), "a delta under a pure budget")
    with pytest.raises(UnitError, match="add/remove one person"):
        ledger.reserve(pure("0.1", unit=Unit.REPLACE_ONE), "another unit")
    with pytest.raises(GuaranteeError):
        ledger.remaining().like(gdp(1))
    assert ledger.verify().entries == 2


def test_gaussian_questions_cost_what_zcdp_says(location):
    one = Gaussian(sigma=20, l2_sensitivity=1).guarantee
    with Ledger.create(location, budget=approx(3, "1e-6"), domain="clinic") as ledger:
        many = ledger.remaining().like(one)
        # By plain sums of epsilon, at a delta divided among them, the same budget pays for a few dozen.
        plain = math.floor(3 / one.epsilon(Fraction("1e-6") / many))
        assert many > 130
        assert many > 5 * plain
        assert (many * one).rho() <= 3
        assert (many * one).epsilon("1e-6") <= 3
        for number in range(20):
            ask(ledger, f"question {number}", price=one)
        assert ledger.remaining().like(one) == many - 20
        assert Fraction(20, 800) <= ledger.remaining().totals()[0] <= Fraction(20, 799)  # rho = 1/(2 * 20^2), and rounding


@pytest.mark.parametrize(
    ("budget", "question", "count"),
    [
        (pure(1), pure("0.25"), 4),
        (pure(1), bounded_range("0.25"), 4),
        (zcdp("0.5"), zcdp("0.1"), 5),
        (zcdp("0.5"), pure(1), 1),
        (zcdp("0.5"), bounded_range(1), 4),
        (zcdp("0.5", delta="1e-6"), approx(1, "4e-7"), 1),
        (approx(1, "1e-6"), pure("0.1"), 10),
        (approx(1, "1e-6"), approx("0.1", "5e-8"), 10),
        (approx(1, "1e-6"), approx("0.01", "5e-7"), 1),
        (filters.gaussian_filter(1), gdp(mu2="1/4"), 4),
        (filters.sum_filter(1, "1e-6"), approx("0.1", "2e-7"), 5),
        (filters.renyi_filter({2: 1, 8: 4}), renyi({2: "0.1", 8: 2}), 2),
    ],
)
def test_every_kind_of_budget(tmp_path, budget, question, count):
    with Ledger.create(tmp_path / "a.ledger", budget=budget, domain="clinic") as ledger:
        assert ledger.remaining().like(question) == count
        for number in range(count):
            ask(ledger, f"question {number}", price=question)
        with pytest.raises(BudgetError):
            ledger.reserve(question, "one more")
        assert ledger.verify().ok
        wanted = budget if not isinstance(budget, filters.Filter) else budget.ceiling
        assert ledger.remaining().ceiling == wanted
    with Ledger(tmp_path / "a.ledger", budget=budget) as again:
        assert again.remaining().like(question) == 0


@pytest.mark.parametrize(
    "bad", [None, 1, "1", pure(0), zcdp(0), renyi({2: 1}), gdp(1), pure(1) + zcdp(1), filters.sum_filter(0), approx(0, 0)]
)
def test_budgets_that_are_none(tmp_path, bad):
    with pytest.raises(DitherError):
        Ledger.create(tmp_path / "a.ledger", budget=bad, domain="clinic")
    assert not (tmp_path / "a.ledger").exists()


def test_many_unlike_prices_stay_small_and_are_never_under_counted(tmp_path):
    with Ledger.create(tmp_path / "a.ledger", budget=pure(10**6), domain="clinic") as ledger:
        exact = Fraction(0)
        for number in range(300):
            price = Fraction(number + 1, 10**9 + 7 + 2 * number)
            exact += price
            ledger.reserve(pure(price), f"question {number}")
        total = ledger.remaining().totals()[0].fraction()
        assert total.denominator.bit_length() <= 4096 < exact.denominator.bit_length()
        assert exact <= total <= exact + Fraction(300, 2**512)
        assert ledger.verify().ok


# -- answers ---------------------------------------------------------------------------------------------------------


def test_the_stored_answer_is_the_one_that_everybody_gets(ledger):
    receipt = ledger.reserve(TENTH, "question")
    assert receipt.answer is None
    assert ledger.commit(receipt, "first") == "first"
    assert ledger.commit(receipt, "second") == "first"
    assert ledger.reserve(TENTH, "question").answer == "first"
    assert ledger.remaining().totals()[0] == Fraction(1, 10)


@pytest.mark.parametrize("text", ["", "\0", "😀", "ε" * 1000, '{"a": 1}', "\\x00'; DROP TABLE entries; --", "%s ? $1"])
def test_every_text_survives(ledger, text):
    key = "?%s"
    receipt = ledger.reserve(TENTH, {"q": text or "x"}, idempotency_key=key)
    assert ledger.commit(receipt, text) == text
    assert ledger.reserve(TENTH, {"q": text or "x"}, idempotency_key=key).answer == text
    assert ledger.verify().ok
    assert list(ledger.history())[-1].answer == text


def test_a_replay_needs_the_same_question_price_policy_and_data(ledger):
    assert ask(ledger, "question", "a") == "a"
    assert ask(ledger, "question", "b", price=pure("0.2")) == "b"
    assert ask(ledger, "question", "c", data_version="2") == "c"
    assert ask(ledger, "question ", "d") == "d"
    assert ask(ledger, {"sql": "question", "bins": [1, 2]}, "e") == "e"
    assert ask(ledger, {"bins": (1, 2), "sql": "question"}, "f") == "e"  # the same, written otherwise
    assert ledger.remaining().totals()[0] == Fraction(6, 10)
    ledger.amend("new", loosens=False, note="tighter bounds")
    assert ask(ledger, "question", "g") == "g"
    assert ask(ledger, "question", "h", analyst="somebody else") == "g"


def test_a_key_stands_for_one_question_of_one_analyst(ledger):
    ask(ledger, "question", idempotency_key="k", analyst="ana")
    assert ask(ledger, "question", "other", idempotency_key="k", analyst="ana") == "42"
    for changed in (
        {"question": "another"},
        {"price": pure("0.2")},
        {"analyst": "bob"},
        {"data_version": "2"},
    ):
        options = {"question": "question", "analyst": "ana", "idempotency_key": "k", **changed}
        with pytest.raises(ConflictError, match="idempotency_key"):
            ask(ledger, **options)
    ledger.amend("new", loosens=True, note="wider bounds")
    with pytest.raises(ConflictError, match="idempotency_key"):
        ask(ledger, "question", idempotency_key="k", analyst="ana")
    assert ledger.remaining().totals()[0] == Fraction(1, 10)


def test_a_key_that_got_a_stored_answer_is_bound_too(ledger):
    ask(ledger, "question")
    assert ask(ledger, "question", idempotency_key="late") == "42"
    with pytest.raises(ConflictError):
        ask(ledger, "another", idempotency_key="late")
    entries = ledger.verify().entries
    assert ask(ledger, "question", idempotency_key="late") == "42"
    assert ledger.verify().entries == entries


def test_while_a_lease_lives_a_retry_hears_in_progress_and_then_may_run_again(ledger):
    first = ledger.reserve(TENTH, "question", idempotency_key="k", lease=1)
    with pytest.raises(InProgressError, match="being computed"):
        ledger.reserve(TENTH, "question", idempotency_key="k")
    with pytest.raises(InProgressError):
        ledger.reserve(TENTH, "question", idempotency_key="another key")
    time.sleep(1.1)
    second = ledger.reserve(TENTH, "question", idempotency_key="k2", lease=1)
    assert (second.number, second.attempt, second.answer) == (first.number, 2, None)
    with pytest.raises(InProgressError):
        ledger.reserve(TENTH, "question", idempotency_key="k")
    with pytest.raises(ConflictError):  # a key that got the right to compute stands for that question
        ledger.reserve(TENTH, "another", idempotency_key="k2")
    assert ledger.remaining().totals()[0] == Fraction(1, 10)
    with pytest.raises(ConflictError, match="no such attempt"):
        ledger.commit(replace(second, attempt=3), "forged")
    assert ledger.commit(first, "slow") == "slow"
    assert ledger.commit(second, "fast") == "slow"
    assert ledger.verify().ok


def test_a_clock_that_is_set_back_locks_nobody_out(tmp_path, monkeypatch):
    with Ledger.create(tmp_path / "a.ledger", budget=pure(1), domain="clinic") as ledger:
        ledger.reserve(TENTH, "question", lease=10**6)
        now = time.time_ns()
        monkeypatch.setattr(time, "time_ns", lambda: now - 10**15)
        assert ledger.reserve(TENTH, "question").attempt == 2
        monkeypatch.setattr(time, "time_ns", lambda: now + 10**16)
        assert ledger.reserve(TENTH, "question").attempt == 3
        assert ledger.verify().ok


def test_a_foreign_or_forged_receipt_is_refused(ledger, tmp_path):
    receipt = ledger.reserve(TENTH, "question")
    with (
        Ledger.create(tmp_path / "other.ledger", budget=pure(1), domain="other") as other,
        pytest.raises(ConflictError, match="another ledger"),
    ):
        other.commit(receipt, "42")
    forged = Receipt(ledger.identity, 1, 1, receipt.fingerprint, TENTH, receipt.head)
    with pytest.raises(ConflictError, match="never made it"):
        ledger.commit(forged, "42")
    missing = Receipt(ledger.identity, 999, 1, receipt.fingerprint, TENTH, receipt.head)
    with pytest.raises(ConflictError, match="never made it"):
        ledger.commit(missing, "42")
    other_question = ledger.reserve(TENTH, "another")
    with pytest.raises(ConflictError, match="never made it"):
        ledger.commit(replace(receipt, fingerprint=other_question.fingerprint), "42")
    for changed in ({"number": "3"}, {"number": 3.0}, {"number": 2**70}, {"number": True}, {"attempt": None}, {"attempt": 0},
                    {"ledger": None}, {"head": None}, {"head": (1,)}, {"guarantee": 1}, {"answer": 3}):  # fmt: skip
        with pytest.raises(DataError):
            replace(receipt, **changed)
    for bad in (None, "receipt", 3):
        with pytest.raises(DataError):
            ledger.commit(bad, "42")
    for bad in (None, 42, b"42", "\ud800", "\ud83d\ude00", type("Text", (str,), {})("42")):
        with pytest.raises(DataError):
            ledger.commit(receipt, bad)
    assert ledger.commit(receipt, "42") == "42"


@pytest.mark.parametrize(
    "bad",
    [
        None,
        "",
        3,
        {},
        {1: 2},
        {"a": 0.5},
        {"a": math.nan},
        {"a": b"x"},
        {"a": {1}},
        "x" * 1_000_001,
        "\ud83d\ude00",
        {"\ud800": 1},
        {"a": 10**5000},
    ],
)
def test_questions_that_have_no_one_spelling(ledger, bad):
    with pytest.raises(DataError, match="question"):
        ledger.reserve(TENTH, bad)
    deep: object = "x"
    for _ in range(60):
        deep = [deep]
    with pytest.raises(DataError, match="nested"):
        ledger.reserve(TENTH, {"a": deep})


@pytest.mark.parametrize(
    "options",
    [
        *({"lease": bad} for bad in (0, -1, 1.5, "1", None, True, 10**8, 10**5000)),
        *({"idempotency_key": bad} for bad in ("", 3, "x" * 201, "a\nb")),
        *({"analyst": bad} for bad in (None, 3, "a\0b")),
        {"data_version": 2},
    ],
)
def test_other_bad_inputs(ledger, options):
    with pytest.raises(InputError):
        ledger.reserve(TENTH, "question", **options)
    assert ledger.verify().entries == 2


# -- refunds ---------------------------------------------------------------------------------------------------------


def test_a_charge_whose_data_was_never_touched_is_given_back_once(ledger):
    receipt = ledger.reserve(TENTH, "question", idempotency_key="k")
    ledger.refund(receipt)
    assert ledger.remaining().totals()[0] == 0
    for verb in (ledger.refund, ledger.touch, lambda given: ledger.commit(given, "42")):
        with pytest.raises(ConflictError):
            verb(receipt)
    again = ledger.reserve(TENTH, "question", idempotency_key="k")
    assert again.number > receipt.number
    assert ledger.commit(again, "42") == "42"
    assert ledger.remaining().totals()[0] == Fraction(1, 10)
    assert ledger.verify([again]).ok


def test_no_refund_once_data_may_have_been_touched(ledger, location):
    touched = ledger.reserve(TENTH, "touched")
    ledger.touch(touched)
    answered = ledger.reserve(TENTH, "answered")
    ledger.commit(answered, "42")
    replay = ledger.reserve(TENTH, "answered")
    lost = ledger.reserve(TENTH, "lost", lease=1)
    elsewhere = ledger.reserve(TENTH, "elsewhere")
    time.sleep(1.1)
    rerun = ledger.reserve(TENTH, "lost")
    for receipt in (touched, answered, replay, rerun, lost):
        with pytest.raises(ConflictError):
            ledger.refund(receipt)
    with Ledger(location) as other:  # another object, but the same process
        other.touch(elsewhere)
    with pytest.raises(ConflictError):
        ledger.refund(elsewhere)
    assert ledger.remaining().totals()[0] == Fraction(4, 10)


def test_what_another_process_touched_is_not_given_back(ledger):
    receipt = ledger.reserve(TENTH, "question", idempotency_key="k", lease=1)
    child = fork(lambda: ledger.touch(Receipt.from_json(receipt.to_json())))
    assert wait([child]) == [0]
    with pytest.raises(ConflictError):
        ledger.refund(receipt)
    with pytest.raises(InProgressError):
        ledger.reserve(TENTH, "question", idempotency_key="k")
    time.sleep(1.1)
    assert ledger.reserve(TENTH, "question", idempotency_key="k").attempt == 2
    assert ledger.verify([receipt]).ok


def test_a_refund_gives_back_what_was_charged_whatever_the_receipt_says(ledger):
    receipt = ledger.reserve(TENTH, "question")
    ledger.refund(replace(receipt, guarantee=pure(50)))
    assert ledger.remaining().totals()[0] == 0
    other = ledger.reserve(TENTH, "another")
    with pytest.raises(ConflictError, match="never made it"):
        ledger.refund(replace(other, fingerprint=receipt.fingerprint))
    assert ledger.verify().ok


def test_a_refund_that_failed_can_be_tried_again(ledger, monkeypatch):
    receipt = ledger.reserve(TENTH, "question")
    with monkeypatch.context() as broken:
        broken.setattr(ledger.handle, "page", lambda *queries: 1 / 0)
        broken.setattr(ledger, "queue", WriteQueue(_failing))
        with pytest.raises(LedgerError):
            ledger.refund(receipt)
    ledger.refund(receipt)
    assert ledger.remaining().totals()[0] == 0


def _failing(*queries: object):
    raise LedgerError("ledger", "here", "the disk is full", "a larger one")


def test_a_guarantee_that_promises_less_than_nothing(ledger):
    part = replace(TENTH.parts[0], entries=(ApproxEntry(Number("-5"), Fraction(0), 1),))
    with pytest.raises(InputError):
        ledger.reserve(Guarantee(TENTH.unit, (part,)), "question")
    assert ledger.verify().entries == 2


def test_a_copied_process_cannot_give_back_what_its_parent_may_use(ledger):
    receipt = ledger.reserve(TENTH, "question")

    def work() -> None:
        with pytest.raises(ConflictError):
            ledger.refund(receipt)

    assert wait([fork(work)]) == [0]
    ledger.refund(receipt)


# -- shares ----------------------------------------------------------------------------------------------------------


def test_shares_limit_analysts_under_the_ceiling(location):
    shares = {"ana": pure("0.3"), "bob": pure("0.9")}
    with Ledger.create(location, budget=pure(1), domain="clinic", shares=shares) as ledger:
        for number in range(3):
            ask(ledger, f"ana {number}", analyst="ana")
        with pytest.raises(BudgetError, match="share of ana"):
            ask(ledger, "ana more", analyst="ana")
        for number in range(7):
            ask(ledger, f"bob {number}", analyst="bob")
        assert str(ledger.remaining("bob")) == "22.2%: ε = 0.2 left of ε = 0.9 (add/remove one person)"
        with pytest.raises(BudgetError, match="the ledger"):  # the ceiling holds, whatever the shares say
            ask(ledger, "bob more", analyst="bob")
        for stranger in ("", "eve"):
            with pytest.raises(ConflictError, match="no share"):
                ask(ledger, "question", analyst=stranger)
        assert ask(ledger, "bob 1", analyst="ana") == "42"  # a stored answer costs nobody anything
        with pytest.raises(DataError):
            ledger.remaining("eve")
        assert ledger.verify().ok
    with Ledger(location, shares=shares) as again:
        assert again.remaining("ana").like(TENTH) == 0
    with pytest.raises(ConflictError, match="ana has a share"):
        Ledger(location, shares={"ana": pure("0.5")})


def test_a_share_set_later_counts_what_was_spent(ledger):
    for number in range(3):
        ask(ledger, f"question {number}", analyst="ana")
    given_back = ledger.reserve(TENTH, "never used", analyst="ana")
    ask(ledger, "another's", analyst="bob")
    ledger.share("ana", pure("0.5"))
    assert ledger.remaining("ana").totals()[0] == Fraction(4, 10)
    ledger.refund(given_back)
    assert ledger.remaining("ana").totals()[0] == Fraction(3, 10)
    ledger.share("ana", pure("0.2"))
    assert str(ledger.remaining("ana")) == "0%: ε = 0 left of ε = 0.2 (add/remove one person)"
    with pytest.raises(BudgetError):
        ask(ledger, "more", analyst="ana")
    with pytest.raises(UnitError):
        ledger.share("ana", pure(1, unit=Unit.REPLACE_ONE))
    with pytest.raises(GuaranteeError):
        ledger.share("ana", 3)
    assert ledger.verify().ok


# -- whose ledger it is ----------------------------------------------------------------------------------------------


def test_a_ledger_belongs_to_one_domain_and_policy(location):
    with Ledger.create(location, budget=pure(1)) as unbound:
        with pytest.raises(ConflictError, match="whom this ledger is about"):
            unbound.reserve(TENTH, "question")
        unbound.bind("clinic", "policy 1")
        unbound.bind("clinic", "policy 1")
        ask(unbound, "question")
    for bad in ({"domain": "alias"}, {"policy_hash": "policy 2"}, {"budget": pure(2)}, {"budget": zcdp(1)},
                {"budget": pure(1, unit=Unit.REPLACE_ONE)}, {"identity": "0" * 32}):  # fmt: skip
        with pytest.raises(ConflictError):
            Ledger(location, **bad)
    with Ledger(location, budget=pure(1), domain="clinic", policy_hash="policy 1") as same:
        assert same.remaining().totals()[0] == Fraction(1, 10)
        with Ledger(location, identity=same.identity) as named:
            named.amend("policy 2", loosens=True, note="wards added")
            with pytest.raises(ConflictError, match="policy was changed"):
                ask(same, "question 2")
            ask(named, "question 2")
    entry = next(entry for entry in Ledger(location).history() if entry.kind == "policy")
    assert entry.body == {"policy": "policy 2", "before": "policy 1", "loosens": True, "note": "wards added"}
    for bad in (None, "", 3):
        with pytest.raises(DataError):
            Ledger(location).amend(bad, loosens=True, note="x")
    with pytest.raises(DataError):
        Ledger(location).amend("p", loosens=1, note="x")


def test_opening_what_is_not_there(location):
    with pytest.raises(LedgerError, match="no ledger"):
        Ledger(location)
    with pytest.raises(LedgerError, match="is not there"):
        Ledger(location, budget=pure(1), identity="0" * 32)


@pytest.mark.parametrize(
    "bad",
    [None, 3, "", ":memory:", "mysql://host/db", b"path", "a\0b", "postgresql://h/db#Bad-Name", "~nobody-here/x", "x" * 5000,
     "/\ud800/x", "/tmp/\udcff.ledger", "postgresql://[bad/db"],
)  # fmt: skip
def test_places_that_are_none(bad):
    with pytest.raises(LedgerError):
        Ledger.create(bad, budget=pure(1), domain="clinic")


def test_a_second_ledger_object_and_other_threads_share_one_budget(ledger, location):
    granted = []

    def work(number: int) -> None:
        with Ledger(location) as own:
            for turn in range(5):
                with_mine = ledger if turn % 2 else own
                try:
                    ask(with_mine, f"question {number} {turn}")
                    granted.append(1)
                except BudgetError:
                    pass

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(granted) == 10
    assert ledger.remaining().totals()[0] == 1
    assert ledger.verify().ok


def test_history_tells_everything_in_order(ledger):
    receipt = ledger.reserve(TENTH, "SELECT 1", analyst="ana", idempotency_key="k")
    ledger.commit(receipt, "42")
    entries = list(ledger.history())
    assert [entry.kind for entry in entries] == ["created", "bound", "reserved", "answered"]
    assert [entry.number for entry in entries] == [1, 2, 3, 4]
    assert entries[2].body["question"] == '"SELECT 1"'
    assert entries[2].body["analyst"] == "ana"
    assert entries[3].answer == "42"
    assert abs(entries[3].when.timestamp() - time.time()) < 60
    assert [entry.number for entry in ledger.history(2, 3)] == [2, 3]
    assert receipt.head == entries[2].head
    assert Receipt.from_json(receipt.to_json()) == receipt
    assert "clinic" in repr(ledger)
    for bad in ("", "{}", "[]", "null", receipt.to_json().replace('"receipt":1', '"receipt":2'),
                receipt.to_json().replace('"number":3', '"number":"3"')):  # fmt: skip
        with pytest.raises(InputError):
            Receipt.from_json(bad)


def test_reading_while_others_write_is_no_false_alarm(ledger):
    """A snapshot may be older than what another thread has seen since; that is not an old copy."""
    stop = time.monotonic() + 1.0
    wrong: list[Exception] = []

    def write(name: str) -> None:
        number = 0
        while time.monotonic() < stop:
            number += 1
            try:
                ledger.reserve(pure("1e-9"), f"{name} {number}")
            except Exception as error:
                wrong.append(error)

    def read() -> None:
        while time.monotonic() < stop:
            try:
                ledger.remaining()
            except Exception as error:
                wrong.append(error)

    threads = [threading.Thread(target=write, args=(f"thread {n}",)) for n in range(3)]
    threads += [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert ledger.verify().ok


def test_many_who_make_the_same_ledger_at_once(location, home):
    def work() -> None:
        with suppress(ConflictError):  # one of them makes it
            Ledger.create(location, budget=pure(1)).close()
        with Ledger(location, domain="clinic") as own:
            own.reserve(pure("0.05"), f"question {os.getpid()}")

    assert wait([fork(work) for _ in range(10)]) == [0] * 10
    with Ledger(location) as ledger:
        assert [entry.kind for entry in ledger.history()].count("created") == 1
        assert ledger.remaining().totals()[0] == Fraction(1, 2)
        assert ledger.verify().ok
    assert len(list((home / "keys").iterdir())) == 1


def test_threads_that_come_and_go_leave_no_connections(ledger, location):
    def work(number: int) -> None:
        ledger.reserve(pure("0.001"), f"question {number}")
        ledger.remaining()

    for number in range(150):
        thread = threading.Thread(target=work, args=(number,))
        thread.start()
        thread.join()
    assert ledger.handle.database.pool.idle <= 4
    assert ledger.remaining().like(pure("0.001")) == 850


def test_long_prices_can_be_shared_out_and_given_back(tmp_path):
    with Ledger.create(tmp_path / "a.ledger", budget=pure(10**6), domain="clinic") as ledger:
        receipts = []
        for number in range(120):
            price = Fraction(1, 2**127 - 1 - 2 * number) + Fraction(1, 10**30 + 57 + 2 * number)
            receipts.append(ledger.reserve(pure(price), f"question {number}", analyst="ana"))
        ledger.share("ana", pure(10**6))
        for receipt in receipts:
            ledger.refund(receipt)
        left = ledger.remaining().totals()[0]
        assert 0 <= left <= Fraction(1, 2**500)  # rounding is upwards, so a little may stay
        assert ledger.verify().ok


@pytest.mark.parametrize(
    "options",
    [
        *({"shares": bad} for bad in (3, ["a"], {"": pure(1)}, {"a": 1}, {3: pure(1)}, {"a": pure(0)})),
        *({"domain": bad} for bad in ("", 3, "a\nb")),
        *({"policy_hash": bad} for bad in (3, "a\0")),
        *({"key": bad} for bad in (3, "", "~nobody-here/key", b"x")),
        *({"moved": bad} for bad in ("no", 1, None)),
        *({"identity": bad} for bad in ("", 3)),
    ],
)
def test_bad_options_leave_no_ledger_behind(tmp_path, options):
    with pytest.raises(DitherError):
        Ledger(tmp_path / "a.ledger", **{"budget": pure(1), "domain": "clinic", **options})
    assert not (tmp_path / "a.ledger").exists()


def test_other_calls_with_nonsense(ledger):
    for call in (
        lambda: list(ledger.history("x")),
        lambda: list(ledger.history(1, "x")),
        lambda: list(ledger.history(0)),
        lambda: ledger.verify(5),
        lambda: ledger.verify([3]),
        lambda: ledger.verify(progress=3),
        lambda: ledger.share("ana", 3),
        lambda: ledger.share("", pure(1)),
        lambda: ledger.touch("x"),
        lambda: ledger.refund(None),
        lambda: ledger.remaining(3),
        lambda: ledger.bind(3),
        lambda: ledger.amend("p", loosens=True, note=3),
    ):
        with pytest.raises(DitherError):
            call()
    assert list(ledger.history(2**70)) == []
    ledger.share("ana", pure(10**400))
    assert ledger.remaining("ana").used == 0
    assert ledger.verify().ok


def test_a_policy_needs_a_domain(tmp_path):
    with pytest.raises(ConflictError, match="domain= beside it"):
        Ledger.create(tmp_path / "a.ledger", budget=pure(1), policy_hash="p")
    with Ledger(tmp_path / "a.ledger") as ledger, pytest.raises(ConflictError, match="whom"):
        ledger.amend("p", loosens=False, note="x")


def test_a_policy_is_put_in_force_only_if_nothing_is_spent(ledger):
    """Looked at and decided in one transaction: who spends first wins."""
    for policy in ("one", "two"):
        ledger.amend(policy, loosens=True, note="a correction", unspent=True)
    with pytest.raises(ConflictError, match="policy was changed"):
        ledger.reserve(pure("0.1"), "count", policy_hash="one")
    ledger.reserve(pure("0.1"), "count", policy_hash="two")
    with pytest.raises(ConflictError, match="spent under another policy"):
        ledger.amend("three", loosens=True, note="too late", unspent=True)
    assert ledger.policy_hash == "two"


def test_refusals_and_exports_are_written_down_and_cost_nothing(location, tmp_path):
    with Ledger.create(location, budget=pure(1), domain="clinic") as ledger:
        before = ledger.remaining()
        ledger.record_refusal("SELECT name FROM visits", "rows are not shown", analyst="ann", door="http")
        receipt = ledger.reserve(pure("0.1"), "how many", text="SELECT COUNT(*)\nFROM visits", door="http")
        with pytest.raises(ConflictError, match="no answer yet"):
            ledger.record_export(receipt, "csv")
        ledger.commit(receipt, "42")
        ledger.record_export(receipt, "csv", analyst="ann", door="http")
        told = [(entry.kind, about(entry)) for entry in ledger.history()][2:]
        assert told == [("reserved", "SELECT COUNT(*) FROM visits"), ("answered", "entry 3")]
        lines = history_lines(ledger.history(), ledger.access_log.lines(), ledger.budget)
        assert [(line.entry, line.what, line.who, line.question, line.about, line.left) for line in lines[2:]] == [
            (None, "refused", "ann", "SELECT name FROM visits", "nothing was charged: rows are not shown", ""),
            (3, "asked", "", "SELECT COUNT(*) FROM visits", "", "90%"),
            (4, "answered", "", "", "entry 3", "90%"),
            (None, "handed out", "ann", "", "the answer of entry 3, as csv", ""),
        ]
        assert ledger.verify([receipt]).ok
        assert str(before) != str(ledger.remaining())
        again = ledger.reserve(pure("0.1"), "how many", text="another text", door="python")
        assert again.answer == "42"  # text and door decide nothing
        for bad in ({"text": 1}, {"text": "x" * 1_000_001}, {"door": "a\nb"}):
            with pytest.raises(DataError):
                ledger.reserve(pure("0.1"), "how many", **bad)


def test_what_somebody_asked_is_shown_without_what_a_terminal_obeys_and_without_comments(location):
    with Ledger.create(location, budget=pure(1), domain="clinic") as ledger:
        ledger.reserve(pure("0.1"), "a", text="/* all is harmless */ SELECT SUM(x) -- really\n FROM t /* \x1b[2J")
        ledger.reserve(pure("0.1"), "b", text="SELECT '\x1b]0;owned\x07\u202e'")
        ledger.reserve(pure("0.1"), "c", text="SELECT COUNT(*) FROM t WHERE a = '--' AND \"--\" > '/*' AND b > 90 -- end")
        ledger.record_refusal("SELECT 1", "no\nsuch \x1b[1m column")
        told = [about(entry) for entry in ledger.history()][2:]
        lines = history_lines(ledger.history(), ledger.access_log.lines(), ledger.budget)
    assert told[:2] == ["SELECT SUM(x) FROM t", "SELECT '\\x1b]0;owned\\x07\\u202e'"]
    assert lines[4].question == "SELECT COUNT(*) FROM t WHERE a = '--' AND \"--\" > '/*' AND b > 90", "all that counts"
    assert [line.question for line in lines[2:4]] == told[:2]
    assert lines[-1].about == "nothing was charged: no such \\x1b[1m column"
    assert history_table(lines).replace("\n", "").isprintable()
