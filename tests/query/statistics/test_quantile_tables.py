"""Counts of cells as one table, and the price of intervals in a quote: the same numbers, what is said, what is refused."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import dither
from dither.errors import NumberError, QuestionError
from dither.privacy.unit import Unit
from dither.query.counts import counts_of, exact_table
from dither.query.groups.group_choice import all_groups
from dither.query.pricing import fingerprint
from tests.query.clinics import _reading, clinic, private_counts
from tests.query.statistics.test_quantiles import ASKED, GROUPED, facts_of, hostile, table
from tests.seeds import rounds

SPLIT = "SELECT ward, sex, MEDIAN(cost) AS m FROM visits GROUP BY ward, sex"


@pytest.mark.parametrize("person", ["person", "each row"])
@pytest.mark.parametrize("sql", [ASKED, GROUPED, SPLIT])
@pytest.mark.parametrize("unit", [Unit.ADD_REMOVE, Unit.REPLACE_ONE])
def test_a_table_holds_the_counts_of_single_rows(tmp_path, sql, person, unit):
    """What one person moves is proved and tested of the rows: the table has the same numbers in the same places."""
    for rng in rounds(1, 2, "tables", sql, person):
        rows = hostile(rng, 40)
        quote = clinic(tmp_path, table(rows), **facts_of(person, tmp_path, unit)).quote(sql, epsilon=1)
        count = next(one for one in counts_of(quote.offer, all_groups(quote.offer.question)) if one.packed)
        with _reading(quote, 2) as (run, place):
            ((_, found),) = count.read(run, place)
        assert found.reshape(-1).tolist() == private_counts(quote)


def test_a_table_of_no_rows_and_of_more_than_fits(tmp_path):
    for rows in ([], [(1, "A", "f", 3.0, 1)] * 5):
        quote = clinic(tmp_path, table(rows), **facts_of("each row", tmp_path)).quote(ASKED, epsilon=1)
        made = quote.offer.others[0]
        with _reading(quote, 2) as (run, place):
            select = place.select(made.question, (made.counters,), made.bounding, 3)
            found = exact_table(run, select, made.question, None)
        assert found.max() == min(3, len(rows))
        assert np.count_nonzero(found) == bool(rows)


def test_a_group_that_comes_twice_stops_the_release(tmp_path):
    quote = clinic(tmp_path, table([]), **facts_of("person", tmp_path)).quote(GROUPED, epsilon=1)
    asked = quote.offer.others[0].question
    with pytest.raises(RuntimeError):
        exact_table(lambda _, __: [("A", [5]), ("A", [6])], "", asked, None)


@pytest.mark.parametrize("budget", [dither.pure(100), dither.approx(100, "1e-6")])
def test_the_price_of_the_interval_is_stated(tmp_path, budget):
    whose = clinic(tmp_path, budget=budget)
    asked = "SELECT ward, MEDIAN(cost) AS m, MAX(cost) AS x FROM visits GROUP BY ward"
    plain, half, none = (whose.quote(asked, epsilon=1, intervals=share) for share in (True, "1/2", False))
    assert [quote.offer.others[0].mechanisms[0].ends for quote in (plain, half, none)] == [Fraction(2, 3), Fraction(1, 2), 0]
    assert "which have 1/2 of the price" in half.explain()
    assert "the whole price goes to it, and none to an interval" in none.explain()
    assert list(half.release().columns) == ["ward", "m", "m_low", "m_high", "x", "x_low", "x_high"]
    answer = none.release()
    assert list(answer.columns) == ["ward", "m", "x", "x_low", "x_high"]
    assert all(0 <= row["m"] <= 400 for row in answer)


def test_a_question_is_stored_as_before_where_nothing_is_said(tmp_path):
    whose = clinic(tmp_path)
    plain, same, none = (
        whose.quote(GROUPED, epsilon="0.1", **how) for how in ({}, {"intervals": "2/3"}, {"intervals": False})
    )
    spelled = [fingerprint.question(quote.offer) for quote in (plain, same, none)]
    assert spelled[0] == spelled[1] != spelled[2]
    assert "ends" not in str(spelled[0])


def test_what_is_refused_costs_nothing(tmp_path):
    whose = clinic(tmp_path)
    before = whose.ledger.remaining()
    for share in (1, "-1/2", "2"):
        with pytest.raises(NumberError, match=r"^intervals = .* share of the price"):
            whose.quote(GROUPED, epsilon="0.1", intervals=share)
    with pytest.raises(QuestionError, match="follow from their noise"):
        whose.quote("SELECT COUNT(*) AS n FROM visits", epsilon="0.1", intervals=False)
    assert whose.ledger.remaining() == before
    whose.quote([GROUPED, "SELECT COUNT(*) AS n FROM visits"], epsilon="0.1", intervals=False)  # for those that have some
