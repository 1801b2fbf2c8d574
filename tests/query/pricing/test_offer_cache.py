"""Offers that a dataset keeps: one that is found is the one that would be made, and what differs is made anew."""

from __future__ import annotations

import datetime
import threading
from decimal import Decimal
from fractions import Fraction

import pyarrow
import pyarrow.parquet
import pytest

import dither
from dither.errors import BudgetError, NumberError, QuestionError
from dither.query import dataset
from dither.query.pricing import offer_cache
from dither.query.pricing.ask import Ask
from dither.query.pricing.make_offer import make_offer
from dither.query.pricing.offer_cache import OfferCache
from dither.query.quote import Quote
from tests.query.clinics import clinic

COUNT = "SELECT COUNT(*) AS n FROM visits"
ASKED = [
    (COUNT, {"epsilon": 1}),
    ("SELECT ward, COUNT(*) AS n, AVG(cost) AS c FROM visits WHERE age > 30 GROUP BY ward", {"epsilon": "0.5", "size": 20}),
    ("SELECT STDDEV(cost) AS s FROM visits", {"epsilon": 1, "size": 99, "spread": {"cost": 9}}),
    ("SELECT STDDEV(cost) AS s FROM visits", {"epsilon": 1, "size": 99, "spread": {"cost": 8}}),
    ("SELECT MEDIAN(cost) AS m FROM visits", {"rho": "0.01", "intervals": "1/2"}),
    ("SELECT COUNT(DISTINCT person) AS n FROM visits", {"error": {"n": 20}, "confidence": "90%"}),
    ("SELECT ward, SUM(age) AS s FROM visits GROUP BY ward ORDER BY s DESC LIMIT 1", {"epsilon": 2, "noise": "geometric"}),
]
TERMS = [
    *({"epsilon": 1}, {"epsilon": "1"}, {"epsilon": 1.0}, {"epsilon": Fraction(1)}, {"epsilon": Decimal("1.0")}),
    *({"epsilon": Decimal("1.00")}, {"rho": 1}, {"epsilon": 1, "confidence": "0.9"}, {"epsilon": 1, "size": 7}),
    *({"epsilon": 1, "bounding": "weights"}, {"epsilon": 1, "noise": "geometric"}, {"epsilon": 1, "limits": "hard"}),
    *({"error": {"n": 20}}, {"error": {"n": 30}}, {"error": {"n": "20"}}),
]


@pytest.fixture
def data(tmp_path):
    return clinic(tmp_path, budget=dither.approx(10**6, "1e-6"), hard=["max_groups", "max_rows_per_group", "bounds.cost"])


def told(quote: Quote) -> object:
    """All that a quote says, and what a ledger would be told."""
    return quote.explain(), quote.describe(), quote.errors, quote.price, quote.question, str(quote.guarantee), repr(quote)


@pytest.mark.parametrize(("sql", "terms"), ASKED)
def test_a_hit_is_what_a_miss_makes(data, monkeypatch, sql, terms):
    made = data.quote(sql, **terms)
    monkeypatch.setattr(dataset, "make_quote", lambda *_: pytest.fail("it is known"))
    monkeypatch.setattr(dataset, "free_quote", lambda *_: pytest.fail("it is known not to be free"))
    found = data.quote(sql, **terms)
    assert found.offer is made.offer
    ask = Ask(text=sql, **terms)
    assert told(found) == told(made) == told(Quote(make_offer(ask, data), data, ask))
    assert found.ask == ask


def test_whatever_differs_is_made_anew(data):
    """Also terms that are equal as numbers: 1 and True are, and a quote shows what was stated."""
    offers = [data.quote(COUNT, **terms).offer for terms in TERMS] + [data.quote(f"{COUNT} ", epsilon=1).offer]
    assert len({id(offer) for offer in offers}) == len(offers)
    assert [data.quote(COUNT, **terms).offer for terms in TERMS] == offers[:-1]
    with pytest.raises(NumberError):
        data.quote(COUNT, epsilon=True)


def test_another_policy_is_another_dataset(tmp_path):
    """Its bounds are wider, and so is the noise; the ledger, the text and the price are the same."""
    sql = "SELECT SUM(cost) AS s FROM visits"
    first = clinic(tmp_path)
    errors = [
        (data.quote(sql, epsilon=1).errors, data.quote(sql, epsilon=1).errors)
        for data in (first, clinic(tmp_path, ledger=first.ledger, bounds={"cost": (0, 800), "age": (0, 120)}), first)
    ]
    assert all(one == other for one, other in errors)
    assert errors[0] == errors[2]
    assert errors[1][0]["s"] > 1.9 * errors[0][0]["s"]


def test_another_budget_is_asked_anew(data, tmp_path):
    cache, ask = OfferCache(), Ask(text=COUNT, epsilon=1)
    offer = data.quote(COUNT, epsilon=1).offer
    cache.keep(ask, offer)
    assert cache.find(ask, data.ledger.budget) is offer
    other = clinic(tmp_path, budget=dither.approx(10**6, "1e-9"))
    assert cache.find(ask, other.ledger.budget) is None
    assert other.quote(COUNT, epsilon=1).errors != data.quote(COUNT, epsilon=1).errors  # less delta, more noise


def test_what_is_left_is_never_kept(tmp_path):
    data = clinic(tmp_path, budget=dither.pure(3))
    first = data.quote(COUNT, epsilon=1)
    assert first.affordable == 3
    assert "about 3 more questions" in first.explain()
    for age in (30, 40):
        data.quote(f"{COUNT} WHERE age > {age}", epsilon=1).release()
    again = data.quote(COUNT, epsilon=1)
    assert again.offer is first.offer
    assert (first.affordable, again.affordable) == (1, 1)
    assert again.explain() == first.explain()
    data.quote(f"{COUNT} WHERE age > 50", epsilon=1).release()
    with pytest.raises(BudgetError):
        data.quote(COUNT, epsilon=1).release()


def test_numbers_of_public_tables_are_computed_each_time(tmp_path):
    """The number stands in the text: other public rows, another question."""
    path = tmp_path / "prices.parquet"

    def write(*prices: int) -> None:
        pyarrow.parquet.write_table(pyarrow.table({"price": prices}), path)

    write(10, 20)
    data = clinic(tmp_path, public={"prices": str(path)})
    sql = f"{COUNT} WHERE cost > (SELECT AVG(price) FROM prices)"
    first = data.quote(sql, epsilon=1)
    assert data.quote(sql, epsilon=1).offer is first.offer
    write(100, 200, 300)
    second = data.quote(sql, epsilon=1)
    assert ("15" in first.describe(), "200" in second.describe()) == (True, True)
    free = "SELECT SUM(price) AS s FROM prices"
    assert data.quote(free).release()["s"] == [600]
    write(1)
    assert data.quote(free).release()["s"] == [1]


@pytest.mark.parametrize(
    ("sql", "terms"),
    [
        (f"{COUNT} WHERE cost > (SELECT AVG(cost) FROM visits)", {"epsilon": 1}),
        (COUNT, {"epsilon": 1, "limits": "auto"}),
        (COUNT, {"guarantee": dither.pure(1)}),
        (COUNT, {"epsilon": dither.ln(3)}),
        (f"{COUNT} WHERE age IN ({', '.join(map(str, range(1000)))})", {"epsilon": 1}),
        ("SELECT day, COUNT(*) AS n FROM visits GROUP BY day", {"epsilon": 1}),
        (f"{COUNT} LIMIT 0", {}),
        ("SELECT DISTINCT ward FROM visits", {}),
    ],
)
def test_what_is_not_kept(tmp_path, sql, terms):
    """What remembers releases, what takes memory, what may be written in several ways, and what is free."""
    days = [datetime.date(2020, 1, 1) + datetime.timedelta(days=place) for place in range(1001)]
    data = clinic(tmp_path, keys={"ward": ["A", "B"], "day": days})
    first, second = data.quote(sql, **terms), data.quote(sql, **terms)
    assert len(data._offers) == 0
    if terms:
        assert first.offer is not second.offer
        assert first.question == second.question


def test_refusals_are_not_kept(data):
    for _ in range(2):
        with pytest.raises(QuestionError, match="line 1, column 8"):
            data.quote("SELECT nothing FROM visits", epsilon=1)
        for nothing in (None, 5, "", b"SELECT 1"):
            with pytest.raises(QuestionError, match="it is not SQL"):
                data.quote(nothing, epsilon=1)
        with pytest.raises(NumberError):
            data.quote(COUNT, epsilon=-1)
    assert len(data._offers) == 0


def test_the_last_ones_are_kept(data, monkeypatch):
    monkeypatch.setattr(offer_cache, "MOST_OFFERS", 2)
    first, second = data.quote(COUNT, epsilon=1).offer, data.quote(COUNT, epsilon=2).offer
    assert data.quote(COUNT, epsilon=1).offer is first  # now it is the last that was used
    data.quote(COUNT, epsilon=3)
    assert len(data._offers) == 2
    assert data.quote(COUNT, epsilon=1).offer is first
    assert data.quote(COUNT, epsilon=2).offer is not second


def test_several_threads_find_equal_offers(data, monkeypatch):
    monkeypatch.setattr(offer_cache, "MOST_OFFERS", 2)
    expected = {price: told(data.quote(COUNT, epsilon=price)) for price in (1, 2, 3, 4)}
    wrong: list[object] = []

    def ask() -> None:
        for turn in range(12):
            price = 1 + turn % 4
            if told(data.quote(COUNT, epsilon=price)) != expected[price]:
                wrong.append(price)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert 1 <= len(data._offers) <= 2


def test_an_offer_that_is_kept_holds_no_rows(tmp_path):
    """It is made of public facts, and has no way to the dataset."""
    data = clinic(tmp_path, pyarrow.table({"person": [1], "ward": ["A"], "sex": ["f"], "cost": [1.0], "age": [30]}))
    offer = data.quote(COUNT, epsilon=1).offer
    values, seen = [offer], set[int]()
    while values:
        value = values.pop()
        if id(value) in seen or isinstance(value, (str, int, type)):
            continue
        seen.add(id(value))
        assert not isinstance(value, (pyarrow.Table, dither.Ledger, dither.Dataset))
        values += value if isinstance(value, (tuple, list)) else list(getattr(value, "__dict__", {}).values())
