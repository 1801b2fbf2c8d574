"""From a quote to an answer: charged first, stored first, one error after data was touched."""

from __future__ import annotations

import json
import traceback
from fractions import Fraction

import pyarrow
import pytest

import dither
from dither.errors import BudgetError, ConflictError, DataError, GuaranteeError, NumberError, QuestionError, ReleaseError
from dither.query import counts
from dither.query.engines.duckdb.run import Opened
from tests.ledger.clocks import set_clock
from tests.query.clinics import clinic, ledger, visits

COUNT = "SELECT COUNT(*) AS n FROM visits"
BY_WARD = "SELECT ward, COUNT(*) AS n, AVG(cost) AS cost, SUM(age) AS age FROM visits GROUP BY ward"


def truth(sql: str, table: pyarrow.Table) -> list[tuple]:
    import duckdb

    with duckdb.connect() as engine:
        engine.register("visits", table)
        return engine.execute(sql).fetchall()


@pytest.mark.parametrize("budget", [dither.pure(10**7), dither.zcdp(10**13)], ids=["pure", "zcdp"])
@pytest.mark.parametrize("way", [None, "groups"])
def test_with_a_huge_price_the_answer_is_plain_sql(tmp_path, budget, way):
    data = clinic(tmp_path, budget=budget, max_groups=3, max_rows_per_group=3)
    price = {"epsilon": 10**6} if budget == dither.pure(10**7) else {"rho": 10**12}
    few = {"epsilon": 10**6} if "epsilon" in price else {"rho": 10**6}  # people take no weight: no finer units than one
    answer = data.quote(BY_WARD, bounding=way, **price).release()
    expected = {row[0]: row[1:] for row in truth(BY_WARD, visits())}
    assert answer["ward"] == ["A", "B", "C"]
    for row in answer:
        if row["ward"] == "C":
            assert (row["n"], row["age"]) == (0, 0)
            continue
        count, cost, age = expected[row["ward"]]
        assert (row["n"], row["age"]) == (count, age)
        assert row["cost"] == pytest.approx(cost, abs=0.01)
    people = data.quote("SELECT COUNT(DISTINCT person) AS n FROM visits WHERE sex = 'f'", **few).release()
    assert people.scalar() == 10


def test_each_row_a_person(tmp_path):
    data = clinic(tmp_path, person="each row", max_groups=None, max_rows_per_group=None)
    answer = data.quote(BY_WARD, epsilon=10**6).release()
    assert [row["n"] for row in answer] == [34, 26, 0]


def test_the_ledger_pays_once_and_the_stored_answer_comes_again(tmp_path):
    data = clinic(tmp_path, budget=dither.pure(1))
    first = data.quote(BY_WARD, epsilon="0.4").release()
    again = data.quote("select ward, avg(cost) as money, count(*) as many, sum(age) from visits group by 1", epsilon="0.4")
    second = again.release()
    assert second["many"] == first["n"]
    assert second["money"] == first["cost"]
    assert second.receipt.number == first.receipt.number
    assert "0.6 left" in str(data.ledger.remaining())
    assert data.quote(BY_WARD + " ORDER BY n DESC LIMIT 1", epsilon="0.4").release()["n"] == [max(first["n"])]
    data.quote(BY_WARD, epsilon="0.5").release()  # another price is another question
    with pytest.raises(BudgetError):
        data.quote(COUNT, epsilon="0.2").release()


def test_an_idempotency_key_is_for_one_question(tmp_path):
    data = clinic(tmp_path)
    first = data.quote(COUNT, epsilon=1).release(idempotency_key="monday")
    assert data.quote(COUNT, epsilon=1).release(idempotency_key="monday")["n"] == first["n"]
    with pytest.raises(ConflictError):
        data.quote(COUNT, epsilon=2).release(idempotency_key="monday")


def test_a_new_data_version_is_a_new_question(tmp_path):
    book = ledger(tmp_path, dither.pure(10))
    numbers = set()
    for version in ("monday", "tuesday"):
        data = clinic(tmp_path, ledger=book, data_version=version)
        numbers.add(data.quote(COUNT, epsilon=1).release().receipt.number)
    assert len(numbers) == 2


def test_what_fails_after_data_was_touched_is_charged_and_says_nothing(tmp_path, monkeypatch):
    canary = "Conversion Error: could not convert 'CANARY' to INT32"

    def broken(*_, **__):
        raise ValueError(canary)

    data = clinic(tmp_path, budget=dither.pure(1))
    monkeypatch.setattr(Opened, "read", broken)
    with pytest.raises(ReleaseError) as caught:
        data.quote(COUNT, epsilon="0.5").release()
    told = "".join(traceback.format_exception(caught.value)) + str(caught.value.__context__) + str(caught.value.__cause__)
    assert "CANARY" not in told
    assert caught.value.__context__ is None
    assert "0.5 left" in str(data.ledger.remaining())


def test_a_question_that_failed_cannot_be_given_back(tmp_path, monkeypatch):
    """The ledger was told that data is about to be read, before it was."""
    data = clinic(tmp_path)
    receipts = []

    def broken(*_, **__):
        with pytest.raises(ConflictError):
            data.ledger.refund(receipts[0])
        receipts.append("refused")
        raise ValueError

    reserve = data.ledger.reserve
    monkeypatch.setattr(data.ledger, "reserve", lambda *a, **k: receipts.append(reserve(*a, **k)) or receipts[0])
    monkeypatch.setattr(Opened, "read", broken)
    with pytest.raises(ReleaseError):
        data.quote(COUNT, epsilon=1).release()
    assert receipts[1] == "refused"


def test_each_release_has_a_salt_of_its_own(tmp_path, monkeypatch):
    seen = []
    real = Opened.read
    monkeypatch.setattr(Opened, "read", lambda *given: seen.append(given[2]) or real(*given))
    data = clinic(tmp_path)
    for place in range(3):
        data.quote(f"{COUNT} WHERE age > {place}", epsilon=1).release()
    assert len(set(seen)) == 3
    assert max(seen) > 2**40


def test_what_is_refused_before_costs_nothing(tmp_path):
    data = clinic(tmp_path, visits().drop_columns(["age"]), bounds={"cost": (0, 400)}, complete=[], budget=dither.pure(1))
    with pytest.raises(QuestionError):
        data.quote("SELECT SUM(age) FROM visits", epsilon="0.1")
    with pytest.raises(BudgetError):
        data.quote(COUNT, epsilon=2).release()
    for threads in (0, 1025):
        with pytest.raises(DataError, match="threads"):
            data.quote(COUNT, epsilon="0.1").release(threads=threads)
    assert "ε = 1 left" in str(data.ledger.remaining())


@pytest.mark.parametrize("bad", [float("nan"), -1, 0, float("inf"), "1e999", True, "x", None, 1e-320, [1]])
def test_bad_prices_are_refused_and_nothing_is_charged(tmp_path, bad):
    data = clinic(tmp_path, budget=dither.approx(1, "1e-6"))
    with pytest.raises((NumberError, GuaranteeError)):
        data.quote(COUNT, epsilon=bad).release()
    with pytest.raises((NumberError, GuaranteeError)):
        data.quote(COUNT, rho=bad).release()
    assert data.ledger.remaining().used == 0


def test_the_currency_is_the_ledgers(tmp_path):
    pure = clinic(tmp_path, budget=dither.pure(1))
    with pytest.raises(GuaranteeError, match="does not count rho"):
        pure.quote(COUNT, rho="0.1")
    with pytest.raises(GuaranteeError, match="Gaussian noise"):
        pure.quote(COUNT, guarantee=dither.zcdp("0.1"))
    zcdp = clinic(tmp_path, budget=dither.zcdp(1))
    with pytest.raises(GuaranteeError, match="without a delta"):
        zcdp.quote(COUNT, epsilon="0.1")
    assert zcdp.quote(COUNT, guarantee=dither.pure("0.1")).guarantee.charge().epsilon == dither.Number("0.1")
    approx = clinic(tmp_path, budget=dither.approx(1, "1e-6"))
    quote = approx.quote(BY_WARD, epsilon="0.5")
    assert 0.4999 < quote.guarantee.epsilon("1e-6") <= 0.5
    assert quote.guarantee.within(dither.approx("0.5", "1e-6"))
    assert approx.quote(COUNT, guarantee=dither.gdp("0.1")).guarantee.rho() <= 0.005 * (1 + 1e-12)
    with pytest.raises(GuaranteeError, match="no noise here"):
        approx.quote(COUNT, guarantee=dither.zcdp("0.1", delta="1e-7"))
    with pytest.raises(NumberError, match="exactly one way"):
        approx.quote(COUNT, epsilon=1, rho=1)
    with pytest.raises(NumberError, match="exactly one way"):
        approx.quote(COUNT)


def test_a_question_may_not_cost_more_than_the_policy_allows(tmp_path):
    data = clinic(tmp_path, per_question=dither.pure("0.5"))
    data.quote(COUNT, epsilon="0.5")
    with pytest.raises(BudgetError, match="the policy allows"):
        data.quote(COUNT, epsilon="0.500001")


@pytest.mark.parametrize("budget", [dither.pure(10**6), dither.zcdp(10**6)], ids=["pure", "zcdp"])
def test_a_wished_error_is_met_and_not_by_much(tmp_path, budget):
    data = clinic(tmp_path, budget=budget)
    for wished in ({"n": 20}, {"n": "3.5"}, {"n": 1000}):
        quote = data.quote("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", error=wished)
        assert quote.errors["n"] <= float(wished["n"])
        assert quote.errors["n"] > 0.99 * float(wished["n"])
    both = data.quote("SELECT COUNT(*) AS n, SUM(cost) AS c FROM visits", error={"n": 20, "c": 9000})
    assert both.errors["n"] <= 20
    assert both.errors["c"] <= 9000
    mean = data.quote("SELECT AVG(cost) AS c FROM visits", error={"c": 10}, size=1000)
    assert 9.9 < mean.errors["c"] <= 10
    for wished, words in (
        ({"c": 10}, "depends on how many rows"),
        ({"x": 10}, "no aggregate"),
        ({}, "not a wish"),
        (5, "not a wish"),
    ):
        with pytest.raises(QuestionError, match=words):
            data.quote("SELECT AVG(cost) AS c FROM visits", error=wished)
    with pytest.raises(QuestionError, match="says nothing about"):
        data.quote("SELECT COUNT(*) AS n, SUM(cost) AS c FROM visits", error={"n": 20})


def test_stored_answers_are_integers_and_nothing_else(tmp_path):
    data = clinic(tmp_path)
    receipt = data.quote(BY_WARD, epsilon=1).release().receipt
    (entry,) = [entry for entry in data.ledger.history() if entry.kind == "answered"]
    stored = json.loads(entry.answer)
    assert stored["dither"] == 1
    numbers = [number for family in stored["released"] for cell in family for number in cell]
    assert numbers
    assert all(type(number) is int for number in numbers)
    assert receipt.number < entry.number


def test_questions_that_look_alike_are_told_apart(tmp_path):
    """Texts of an analyst are never spelled like numbers or dates."""
    data = clinic(tmp_path)
    pairs = [("10 < 9", "'Fraction 10' < 'Fraction 9'"), ("age > 1", "age > 1.5"), ("ward = '1'", "ward = '1.0'")]
    pairs += [("day > DATE '2024-01-01'", "ward > '2024-01-01'"), ("ward = 'A'", "ward LIKE 'A'")]
    for one, other in pairs:
        first, second = (data.quote(f"{COUNT} WHERE {where}", epsilon=1).question for where in (one, other))
        assert first != second
    ways = [data.quote(BY_WARD, epsilon=1, bounding=way).question for way in ("weights", "groups")]
    assert ways[0] != ways[1]
    both = "SELECT COUNT(*) AS n, SUM(age) AS s FROM visits"
    splits = [data.quote(both, error={"n": n, "s": s}).question for n, s in ((20, 5000), (50, 2000))]
    assert splits[0] != splits[1]
    many = [f"{place:04}" for place in range(2000)]
    wide = [clinic(tmp_path, keys={"ward": keys}).quote(BY_WARD, epsilon=1).question for keys in (many, [*many[:-1], "x"])]
    assert wide[0] != wide[1]


def test_a_replay_says_so(tmp_path):
    data = clinic(tmp_path)
    first, again = (data.quote(COUNT, epsilon=1).release() for _ in range(2))
    assert (first.is_replay, again.is_replay) == (False, True)
    assert "charged" in str(first)
    assert "nothing charged now" in str(again)
    assert "nothing was charged now" in again.explain()


def test_numbers_beyond_reason(tmp_path):
    data = clinic(tmp_path)
    for wrong in ({"size": 10**400}, {"confidence": 1 - Fraction(1, 10**400)}, {"confidence": "100%"}, {"confidence": 0}):
        with pytest.raises(NumberError):
            data.quote(COUNT, epsilon=1, **wrong)
    with pytest.raises(NumberError, match="cannot be drawn"):
        data.quote("SELECT COUNT(DISTINCT person) AS n FROM visits", epsilon=10**8)
    assert data.quote(COUNT, epsilon=1, confidence="99.9%").errors["n"] > data.quote(COUNT, epsilon=1).errors["n"]
    approx = clinic(tmp_path, budget=dither.approx(3, "1e-6"))
    assert approx.quote(COUNT, epsilon="0.2").price == "(ε = 0.2, δ = 1e-06) (add/remove one person)"


def test_ctrl_c_stops_the_engine_and_is_passed_on(tmp_path, monkeypatch):
    """The charge stays: nobody can tell how far it came."""
    data = clinic(tmp_path, budget=dither.pure(1))
    slow = "SELECT count(*)::HUGEINT FROM range(100000000000) a"
    monkeypatch.setattr(counts, "totals_sql", lambda *a: slow if a[4] != "rehearsal" else "SELECT 1")

    def press(_: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        data.quote(COUNT, epsilon="0.5").release(progress=press)
    assert "0.5 left" in str(data.ledger.remaining())


def test_progress_and_threads(tmp_path):
    seen: list[float] = []
    data = clinic(tmp_path)
    answer = data.quote(COUNT, epsilon=10**6).release(threads=1, progress=seen.append)
    assert answer.scalar() == 60
    assert all(0 <= part <= 1 for part in seen)
    assert data.quote(COUNT, epsilon=10**6).release(threads=1024).scalar() == 60  # as many as there may be


class Panic(BaseException):
    """As libraries in Rust raise it: no Exception."""


def test_a_panic_tells_as_little_as_any_failure(tmp_path, monkeypatch, capfd):
    data = clinic(tmp_path, visits().to_pandas().drop(columns=["day"]))
    quote = data.quote(COUNT, epsilon="0.5")

    def panic(*_, **__):
        raise Panic("the row of alice")

    monkeypatch.setattr("dither.query.sources.frames.Frame.arrow", panic)
    with pytest.raises(ReleaseError) as told:
        quote.release()
    assert "alice" not in "".join(traceback.format_exception(told.value))
    monkeypatch.undo()
    monkeypatch.setattr("dither.query.engines.duckdb.run._rows", panic)
    with pytest.raises(ReleaseError):
        clinic(tmp_path).quote(COUNT, epsilon="0.5").release()
    assert "alice" not in "".join(capfd.readouterr())


def test_a_portion_of_a_day_is_kept_by_every_kind_of_quote(tmp_path, monkeypatch):
    with set_clock(monkeypatch, None):
        data = clinic(tmp_path, budget=dither.pure(5))
        data.ledger.share("ana", dither.pure(4))
        how = {"analyst": "ana", "daily": dither.pure(1)}
        first = data.quote(COUNT, epsilon="0.6").release(**how)
        with pytest.raises(BudgetError, match="the portion of this day of ana has 40"):
            data.quote([COUNT], epsilon="0.5").release(**how)
        data.quote([COUNT], epsilon="0.4").release(**how)
        with pytest.raises(BudgetError, match="the portion of this day"):
            data.quote(COUNT, epsilon="0.1").release(**how)
        again = data.quote(COUNT, epsilon="0.6").release(**how)
        assert (again.receipt.number, again["n"]) == (first.receipt.number, first["n"])  # free, although it is used up
        data.quote("SELECT DISTINCT ward FROM visits").release(**how)
        assert data.ledger.remaining("ana").totals()[0] == 1
