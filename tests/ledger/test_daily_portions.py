"""Daily portions: exactly, for every short course of charges, refunds and clocks; then on both databases."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import pytest

from dither import Ledger, approx, pure, zcdp
from dither.errors import BudgetError, ConflictError, DataError, GuaranteeError, TamperError, UnitError
from dither.ledger.entries import decisions
from dither.ledger.entries.budget import read_ceiling
from dither.ledger.entries.charge_request import read_request
from dither.ledger.entries.daily_portions import DAY, must_fit_today, spent_today
from dither.ledger.entries.entry import digest
from tests.ledger.children import fork, note, wait
from tests.ledger.clocks import set_clock
from tests.seeds import examples

UNIT = pure("0.1")
PORTION = pure("0.3")
THREE = read_ceiling(PORTION)
PRICES = {1: pure("0.1"), 2: pure("0.2")}


# -- every short course ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Course:
    """What an analyst did so far: a page of a ledger in plain tuples."""

    entries: tuple[SimpleNamespace, ...] = ()
    days: tuple[int, ...] = ()  # the clock at each step
    now: int = 0
    state: SimpleNamespace = field(default_factory=lambda: SimpleNamespace(shares=True))

    def backward(self, _tag: str, _value: str) -> Iterator[SimpleNamespace]:
        return reversed(self.entries)

    def with_entry(self, kind: str, **body: object) -> Course:
        entry = SimpleNamespace(kind=kind, number=len(self.entries) + 1, time=self.now, body=body)
        return Course((*self.entries, entry), self.days, self.now)

    def standing(self) -> list[tuple[int, int]]:
        """Day and units of each charge that was not given back."""
        returned = {entry.body["receipt"] for entry in self.entries if entry.kind == "refunded"}
        charges = [entry for entry in self.entries if entry.kind == "reserved" and entry.number not in returned]
        return [(entry.time // DAY, entry.body["units"]) for entry in charges]

    def step(self, day: int, deed: str) -> Course:
        """The same after one more deed on that day: at its first moment, or at its last."""
        moment = day * DAY if len(self.days) % 2 else day * DAY + DAY - 1
        here = Course(self.entries, (*self.days, day), moment)
        if deed == "share":
            return here.with_entry("share")
        if deed == "refund":
            returned = {entry.body["receipt"] for entry in self.entries if entry.kind == "refunded"}
            open_ = [entry for entry in self.entries if entry.kind == "reserved" and entry.number not in returned]
            return here.with_entry("refunded", receipt=open_[0].number) if open_ else here
        units = int(deed)
        try:
            must_fit_today(here, "ana", PRICES[units], THREE)
        except BudgetError:
            here.check_refusal(units)
            return here
        return here.with_entry("reserved", guarantee=PRICES[units].to_json(), units=units)

    @property
    def steady(self) -> bool:
        """Whether the clock was never set back."""
        return list(self.days) == sorted(self.days)

    def check_refusal(self, units: int) -> None:
        """A refusal is right: with this charge, a day would have more than its portion."""
        today = self.days[-1]
        if self.steady:
            assert sum(paid for day, paid in self.standing() if day == today) + units > 3

    def check(self) -> None:
        paid = Counter[int]()
        for day, units in self.standing():
            paid[day] += units
        dated = {entry.time // DAY for entry in self.entries if entry.kind == "reserved"}
        assert paid.total() <= 3 * len(dated)
        if self.steady:
            assert all(units <= 3 for units in paid.values())
            told = spent_today(self, "ana", THREE)
            assert told.totals()[0] == Fraction(paid[self.days[-1]], 10)
            assert told.next_begins == datetime(1970, 1, 2 + self.days[-1], tzinfo=UTC)


def test_every_short_course_keeps_its_portions():
    """Three days in any order, charges of one and two tenths, refunds of the first that stands, shares that are changed."""
    steps = [(day, deed) for day in range(3) for deed in ("1", "2", "refund", "share")]
    level = [Course()]
    for _ in range(examples(4, 5)):
        level = [course.step(day, deed) for course in level for day, deed in steps]
        for course in level:
            course.check()
        level = list({(course.entries and repr(course.entries), course.days): course for course in level}.values())
    assert len(level) > 10_000


# -- on both databases -----------------------------------------------------------------------------------------------------


@pytest.fixture
def clock(location, monkeypatch):
    """The clock of whichever database the test has."""
    server = location.partition("#")[0] if "://" in location else None
    with set_clock(monkeypatch, server) as found:
        yield found


@pytest.fixture
def shared(location, clock):
    with Ledger.create(location, budget=pure(10), domain="clinic", shares={"ana": pure(5), "bob": pure(5)}) as made:
        yield made


def ask(ledger: Ledger, question: str, *, price=UNIT, analyst="ana", daily=PORTION, **more):
    return ledger.reserve(price, question, analyst=analyst, daily=daily, **more)


def refused(ledger: Ledger, question: str, **more) -> str:
    before = ledger.head
    with pytest.raises(BudgetError) as told:
        ask(ledger, question, **more)
    assert ledger.head == before  # nothing is written
    return str(told.value)


def test_midnight(shared, clock):
    clock.set(datetime(2030, 5, 17, tzinfo=UTC))  # the first moment of a day
    ask(shared, "1")
    clock.set(datetime(2030, 5, 17, 23, 59, 59, 999_999, tzinfo=UTC))  # and the last
    ask(shared, "2", price=pure("0.2"))
    told = refused(shared, "3")
    assert "the portion of this day of ana has 0% left" in told
    assert "from 2030-05-18 00:00 UTC on" in told
    assert shared.remaining_today("ana", PORTION).next_begins == datetime(2030, 5, 18, tzinfo=UTC)
    assert shared.remaining_today("bob", PORTION).used == 0  # each her own
    ask(shared, "3", analyst="bob")
    clock.move(microseconds=1)
    assert shared.remaining_today("ana", PORTION).like(UNIT) == 3
    for turn in range(3):
        ask(shared, f"next {turn}")
    refused(shared, "no more")
    assert shared.remaining("ana").totals()[0] == Fraction(6, 10)  # the share itself is spent, day by day
    assert shared.verify().ok


def test_a_portion_is_never_more_than_the_share(location, clock):
    with Ledger.create(location, budget=pure(10), domain="clinic", shares={"ana": pure("0.4")}) as ledger:
        for turn in range(4):
            ask(ledger, f"{turn}")
            clock.move(hours=13)
        clock.move(days=100)  # nothing is filled up again
        assert "the share of ana has" in refused(ledger, "5")


def test_what_was_not_spent_is_not_kept_for_later(shared, clock):
    clock.move(days=30)
    for turn in range(3):
        ask(shared, f"{turn}")
    refused(shared, "3")


def test_a_replay_is_free_and_a_refusal_costs_nothing(shared, clock):
    for turn in range(3):
        receipt = ask(shared, f"{turn}", idempotency_key=f"key {turn}")
        shared.commit(receipt, f"answer {turn}")
    refused(shared, "3")
    before = shared.head.entries
    assert ask(shared, "1").answer == ask(shared, "1", idempotency_key="key 1").answer == "answer 1"
    assert ask(shared, "2", analyst="bob", idempotency_key="of bob").answer == "answer 2"
    assert shared.recall(UNIT, "0", analyst="ana").answer == "answer 0"
    assert shared.head.entries == before + 1  # what the key of bob stands for
    refused(shared, "3")


def test_a_rerun_is_free(shared, clock):
    for turn in range(3):
        ask(shared, f"{turn}", lease=10)
    clock.move(seconds=11)
    assert ask(shared, "0", lease=10).attempt == 2


def test_a_refund_gives_back_what_was_spent_today(shared, clock):
    receipt = ask(shared, "1", price=pure("0.2"))
    ask(shared, "2")
    refused(shared, "3")
    shared.refund(receipt)
    ask(shared, "3")
    ask(shared, "4")
    refused(shared, "5")
    assert shared.verify().ok


def test_a_refund_of_yesterday_is_not_a_portion_of_today(shared, clock):
    receipt = ask(shared, "1", price=pure("0.3"))
    clock.move(days=1)
    shared.refund(receipt)
    for turn in range(3):
        ask(shared, f"{turn} today")
    refused(shared, "4")


def test_a_clock_that_is_set_back_and_forth_gives_nothing(shared, clock):
    ask(shared, "1")
    clock.move(days=1)
    ask(shared, "2")
    clock.move(days=-1)
    ask(shared, "3")  # with that of the day ahead: three
    refused(shared, "4")
    clock.move(days=1)
    for turn in range(3):
        ask(shared, f"{turn} of the second day")
    refused(shared, "5")
    clock.move(days=-1)
    refused(shared, "6")  # two days, two portions: 0.6
    clock.move(days=-1)
    told = refused(shared, "7")
    assert "from 2030-05-19 00:00 UTC on" in told  # the day ahead must be over
    assert shared.remaining("ana").totals()[0] == Fraction(6, 10)


def test_a_share_that_is_changed_in_the_middle_of_a_day(shared, clock):
    ask(shared, "1")
    shared.share("ana", approx(2, "1e-6"))  # counts otherwise; what she spent today is what she spent today
    ask(shared, "2")
    shared.share("ana", pure(3))
    assert shared.remaining_today("ana", PORTION).totals()[0] == Fraction(2, 10)
    ask(shared, "3")
    refused(shared, "4")
    assert shared.verify().ok


def test_two_tokens_of_one_name_count_together(shared, clock):
    ask(shared, "1", daily=pure("0.2"))
    ask(shared, "2", daily=pure("0.5"))
    refused(shared, "3", daily=pure("0.2"))
    ask(shared, "3", daily=pure("0.5"))
    ask(shared, "4", daily=None)
    assert shared.remaining_today("ana", pure("0.5")).like(UNIT) == 1
    assert shared.remaining_today("ana", pure("0.2")).like(UNIT) == 0


def test_on_one_page(shared, clock):
    """What several threads decide in one transaction is seen by the next of them, also where the database is distant."""
    granted = 0
    with shared.handle.page() as page:
        for turn in range(5):
            told = {"data_version": "", "analyst": "ana", "key": None}
            asked = read_request(shared.budget, UNIT, f"{turn}", in_force="", policy_hash=None, **told)
            try:
                decisions.reserve(page, shared.budget, asked, 300, THREE)
                granted += 1
            except BudgetError:
                assert granted == 3
    assert granted == 3
    assert shared.remaining("ana").totals()[0] == Fraction(3, 10)


def test_processes_race_for_the_portion(location, monkeypatch, tmp_path):
    log = tmp_path / "granted"
    server = location.partition("#")[0] if "://" in location else None
    with set_clock(monkeypatch, server) as clock:
        Ledger.create(location, budget=pure(10), domain="clinic", shares={"ana": pure(5)}).close()

        def work(number: int) -> None:
            with Ledger(location) as own:
                for turn in range(4):
                    try:
                        ask(own, f"{number} {turn}", daily=pure("0.7"))
                        note(str(log), "granted")
                    except BudgetError:
                        note(str(log), "refused")

        for day in range(2):
            assert wait([fork(lambda day=day, number=number: work(10 * day + number)) for number in range(6)]) == [0] * 6
            assert Counter(Path(log).read_text().split()) == {"granted": 7 * (day + 1), "refused": 17 * (day + 1)}
            clock.move(days=1)
        with Ledger(location) as ledger:
            assert ledger.remaining("ana").totals()[0] == Fraction(14, 10)
            assert ledger.verify().ok


def test_many_charges_of_a_day_are_all_counted(tmp_path, monkeypatch):
    """More than one look at the table finds them: the sizes of looks are passed."""
    with (
        set_clock(monkeypatch, None) as clock,
        Ledger.create(tmp_path / "l", budget=pure(9), domain="clinic", shares={"ana": pure(5)}) as ledger,
    ):
        for turn in range(3):
            ask(ledger, f"yesterday {turn}")
        clock.move(days=1)
        for turn in range(30):
            ask(ledger, f"{turn}", price=pure("0.01"), daily=pure("0.3"))
            assert ledger.remaining_today("ana", pure("0.3")).totals()[0] == Fraction(turn + 1, 100)
        refused(ledger, "30", price=pure("0.01"))


def test_a_rotated_key_does_not_hide_what_was_spent(shared, clock):
    ask(shared, "1", price=pure("0.2"))
    shared.rotate_key()
    ask(shared, "2")
    refused(shared, "3")


# -- refusals --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def steady(monkeypatch):
    """No midnight comes in between."""
    with set_clock(monkeypatch, None) as found:
        yield found


@pytest.fixture
def small(tmp_path, steady):
    with Ledger.create(tmp_path / "small", budget=pure(10), domain="clinic", shares={"ana": pure(5)}) as made:
        yield made


def test_a_price_above_the_portion_is_said_to_be_so(small):
    told = refused(small, "1", price=pure("0.4"))
    assert "ana may spend ε = 0.3" in told
    assert "What would work: a question of ε = 0.3 or less." in told
    assert "UTC" not in told


def test_a_portion_is_of_a_share(tmp_path):
    with Ledger.create(tmp_path / "l", budget=pure(1), domain="clinic") as ledger:
        with pytest.raises(ConflictError, match="part of a share"):
            ask(ledger, "1")
        assert ledger.remaining().used == 0


def test_a_name_without_a_share(small):
    with pytest.raises(ConflictError, match="no share of that name"):
        ask(small, "1", analyst="eve")


@pytest.mark.parametrize("daily", ["0.3", 0.3, 1, {"ana": 1}], ids=repr)
def test_a_portion_is_a_guarantee(small, daily):
    with pytest.raises(GuaranteeError, match="the portion of a day is a guarantee"):
        ask(small, "1", daily=daily)
    with pytest.raises(GuaranteeError):
        small.remaining_today("ana", daily)


def test_portions_that_cannot_count(small):
    with pytest.raises(UnitError):
        ask(small, "1", daily=pure(1, unit="replace one person"))
    with pytest.raises(DataError):
        small.remaining_today("", PORTION)


def test_a_portion_counts_what_was_paid_today(tmp_path, steady):
    budget = approx(3, "1e-6")
    with Ledger.create(tmp_path / "l", budget=budget, domain="clinic", shares={"ana": approx(1, "1e-7")}) as ledger:
        with pytest.raises(GuaranteeError, match="no price"):
            ask(ledger, "1", price=zcdp("0.001"), daily=PORTION)
        ask(ledger, "1", price=zcdp("0.001"), daily=zcdp("0.002"))
        ask(ledger, "2", daily=None, price=pure("0.01"))  # costs rho = 0.01 tanh(0.005) < 0.00005
        with pytest.raises(ConflictError, match="no price under it"):
            ask(ledger, "3", daily=PORTION)
        with pytest.raises(BudgetError, match="the portion of this day"):
            ask(ledger, "3", price=zcdp("0.001"), daily=zcdp("0.002"))
        ask(ledger, "3", price=zcdp("0.0009"), daily=zcdp("0.002"))


def test_a_charge_of_today_that_was_changed_is_found(small):
    """Also where it was read before: what is kept in mind is an entry as it was stored, to the letter."""
    for turn in range(2):
        ask(small, f"{turn}")
    with closing(sqlite3.connect(small.location)) as link:
        link.execute("DROP TRIGGER entries_no_update")
        first = "SELECT number, record FROM entries WHERE fingerprint IS NOT NULL ORDER BY number LIMIT 1"
        number, record = link.execute(first).fetchone()
        forged = record.replace('"time":', '"time":-')  # dated long ago; its hash too: none needs the key
        link.execute("UPDATE entries SET record = ?, hash = ? WHERE number = ?", (forged, digest(forged), number))
        link.commit()
    with pytest.raises(TamperError):
        ask(small, "3", price=pure("0.01"))
