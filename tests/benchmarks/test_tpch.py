"""The TPC-H benchmark on tiny made-up tables: what limits leave out, the law of errors, the tables that it prints."""

from __future__ import annotations

import datetime
import math
import random
import sys
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from benchmarks import __main__ as command
from benchmarks.tpch import errors, example, times
from benchmarks.tpch.draws import draw, law, law_of, trimmed_mean
from benchmarks.tpch.queries import LINES_OF_CUSTOMER, QUERIES

import dither
from dither import Gaussian, Geometric

START = datetime.date(1992, 1, 1)


def make(folder, *, orders=60, customers=10):
    """The tables that tpchgen-cli would make, in so far as they are read; customer 0 has about half of all orders."""
    rng = random.Random(orders)
    parts = [(part, supplier) for part in range(6) for supplier in (part % 3, 3)]
    dates = [START + datetime.timedelta(days=rng.randrange(2400)) for _ in range(orders)]
    lines = [(order, *rng.choice(parts)) for order in range(orders) for _ in range(rng.randint(1, 7))]
    flags = [rng.choice(["AF", "NF", "NO", "RF"]) for _ in lines]
    tables = {
        "nation": {"n_nationkey": [0, 1]},
        "supplier": {"s_suppkey": [0, 1, 2, 3], "s_nationkey": [0, 1, 0, 1]},
        "customer": {"c_custkey": list(range(customers)), "c_nationkey": [one % 2 for one in range(customers)]},
        "partsupp": {"ps_partkey": [part for part, _ in parts], "ps_suppkey": [supplier for _, supplier in parts]},
        "orders": {
            "o_orderkey": list(range(orders)),
            "o_custkey": [0 if order % 2 else rng.randrange(customers) for order in range(orders)],
            "o_orderdate": dates,
        },
        "lineitem": {
            "l_orderkey": [order for order, _, _ in lines],
            "l_partkey": [part for _, part, _ in lines],
            "l_suppkey": [supplier for _, _, supplier in lines],
            "l_shipdate": [dates[order] + datetime.timedelta(days=rng.randint(1, 121)) for order, _, _ in lines],
            "l_quantity": [Decimal(rng.randint(1, 50)) for _ in lines],
            "l_extendedprice": [Decimal(rng.randint(90_000, 10_494_950)) / 100 for _ in lines],
            "l_returnflag": [flag[0] for flag in flags],
            "l_linestatus": [flag[1] for flag in flags],
        },
    }
    for name, columns in tables.items():
        pyarrow.parquet.write_table(pyarrow.table(columns), folder / f"{name}.parquet")
    return tables


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("DITHER_HOME", str(tmp_path / "home"))
    made = tmp_path / "tables"
    made.mkdir()
    return made


def test_true_totals_are_those_of_the_tables(folder):
    tables = make(folder)
    orders, lines = tables["orders"], tables["lineitem"]
    pairs = zip(lines["l_orderkey"], lines["l_shipdate"], strict=True)
    early = sum(
        orders["o_orderdate"][order] < datetime.date(1997, 1, 1) and shipped > datetime.date(1994, 1, 1)
        for order, shipped in pairs
    )
    count = len(lines["l_orderkey"])
    wanted = {"Q3": early, "Q10": 60, "Q18": sum(lines["l_quantity"]), "Q12": count, "Q20": count}
    assert {query.name: errors.truth_of(query, folder) for query in QUERIES} == wanted
    assert 0 < early < count


def test_tables_are_printed_and_hard_limits_leave_nothing_out(folder, tmp_path, capsys, monkeypatch):
    make(folder)
    errors.main(folder, tmp_path, draws=20, whole=False)
    printed = capsys.readouterr().out
    rows = {row.split("│")[1].split(",")[0].strip(): row.split("│") for row in printed.splitlines() if row.startswith("│ Q")}
    assert set(rows) == {query.name for query in QUERIES}
    assert printed.partition("Cap found")[0].count("│ 0        │") == len(QUERIES)
    assert printed.count("truth") >= len(QUERIES)
    assert "Cap found privately: mean absolute error" in printed
    assert "limits (times)" in printed
    example.main(folder, tmp_path, draws=20, whole=False)
    printed = capsys.readouterr().out
    assert printed.count("│ 0.00 ") == 2 * 6 + 2 * 2  # left out in six groups of two budgets; two groups have no rows
    assert printed.count("says truth") == 2
    assert "Bounded by clip sum" in printed
    monkeypatch.setattr(times, "TURNS", 1)
    times.main(folder, tmp_path)
    assert "prices by" in capsys.readouterr().out


def test_what_a_limit_leaves_out_is_seen(folder, tmp_path):
    make(folder, orders=240)  # customer 0 has more than 100 of them, which was called impossible
    query = next(query for query in QUERIES if query.name == "Q10")
    have = pyarrow.parquet.read_table(folder / "orders.parquet")["o_custkey"].to_pylist().count(0)
    found = draw(errors.declared(query, folder, tmp_path), 5, 1)
    assert have > 100
    assert errors.truth_of(query, folder) - found.counted[0][0] == have - 100


def test_draws_are_seeded_and_follow_the_law(folder, tmp_path):
    make(folder)
    quote = errors.declared(QUERIES[0], folder, tmp_path)
    truth = errors.truth_of(QUERIES[0], folder)
    found, again = (draw(quote, 2_000, 5) for _ in range(2))
    assert found == again
    measured, (trimmed, mean) = found.errors(0, truth), law(quote)
    assert mean == pytest.approx(300 / 0.8, rel=1e-6)
    assert measured.trimmed == pytest.approx(trimmed, rel=0.15)
    assert measured.mean == pytest.approx(mean, rel=0.15)
    assert measured.worst >= measured.mean
    assert measured.held > 0.9


@pytest.mark.parametrize(("epsilon", "sensitivity"), [(2, 1), ("0.8", 1), ("0.8", 7), ("0.1", 3)])
def test_law_of_geometric_noise(epsilon, sensitivity):
    noise = Geometric(epsilon=epsilon, sensitivity=sensitivity)
    rate = float(noise.epsilon) / sensitivity
    beyond = [min(1.0, 2 * math.exp(-rate * k) / (1 + math.exp(-rate))) for k in range(1, 3000)]  # P(|X| >= k)
    trimmed = sum(min(0.6, max(0.0, one - 0.2)) for one in beyond) / 0.6
    assert law_of(noise) == pytest.approx((trimmed, sum(beyond)))


def test_law_of_gaussian_noise():
    noise = Gaussian(rho="0.00001", l2_squared=1, integers=True)
    sigma = math.sqrt(float(noise.sigma2))
    size = np.sort(np.abs(np.random.default_rng(3).normal(0, sigma, 10**6)))
    assert law_of(noise) == pytest.approx((size[200_000:800_000].mean(), size.mean()), rel=0.01)


def test_trimmed_as_r2t_does():
    assert trimmed_mean([100, 3, 2, 5, 4, 7, 6, 9, 8, 1]) == (3 + 4 + 5 + 6 + 7 + 8) / 6  # of ten runs, two at either end


def test_verdicts():
    assert errors.verdict([21, 20], 20) == "reached"
    assert errors.verdict([19, 19.9], 20) == "MISSED"
    assert errors.verdict([19.5, 21.2], 20) == "MISSED, reached by law"
    assert errors.verdict([20.5, 19.2], 20) == "reached, MISSED by law"
    assert errors.verdict([20.5], 20) == "reached"


def test_tables_that_are_not_the_published_ones_are_refused(folder, tmp_path):
    make(folder)
    with pytest.raises(ValueError, match=r"Q3: .* where R2T has 2,888,656"):
        errors.main(folder, tmp_path, draws=1, whole=True)
    with pytest.raises(ValueError, match="not those of the published answers"):
        example.truths(folder, whole=True)


def test_limits_that_are_not_hard_do_not_say_truth(folder, tmp_path):
    make(folder)
    query = QUERIES[0]
    soft = replace(query, owner=replace(query.owner, facts={**query.owner.facts, "hard": []}))
    ((_, statistic, place),) = errors.declared(soft, folder, tmp_path).offer.columns
    assert statistic.statement(place).value == "at least"


def test_by_hand_is_the_plain_answer_where_nobody_is_beyond_the_limits(folder):
    make(folder)
    asked = [(query.owner, query.plain) for query in QUERIES] + [(LINES_OF_CUSTOMER, example.PLAIN)]
    for owner, sql in asked:
        assert sorted(times.plain(folder, times.by_hand(owner, sql))) == sorted(times.plain(folder, sql))


def test_caps_stay_as_they_were_fixed():
    limits = {query.name: query.owner.facts["max_rows"] for query in QUERIES}
    assert limits == {"Q3": 300, "Q10": 100, "Q18": 300, "Q12": 7, "Q20": 1_500}
    assert LINES_OF_CUSTOMER.facts["max_sum"] == {"l_quantity": 10_000, "l_extendedprice": 10**7}
    assert {query.owner.facts["hard"][0] for query in QUERIES} == {"max_rows"}
    assert dither.pure("0.8") == dither.pure(errors.EPSILON)


@pytest.mark.parametrize("words", [["noise", "--scale", "0.1"], ["nothing"], ["tpch", "--scale", "no"], []])
def test_command_refuses_what_it_does_not_know(words, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["benchmarks", *words])
    with pytest.raises(SystemExit) as ended:
        command.main()
    assert ended.value.code == 2
    assert "usage" in capsys.readouterr().err
