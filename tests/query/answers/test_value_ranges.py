"""Impossible numbers are cut, and an interval that is the whole range has no number, in all forms of an answer."""

from __future__ import annotations

import datetime
import itertools
import json
import math
from fractions import Fraction

import pyarrow
import pytest

import dither
from dither.query.answers.interval_table import drawn_columns
from dither.query.counters.value_ranges import cut_interval, cut_number, is_uninformative, shown_columns
from dither.testing import seeded

pytestmark = pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")
INF = math.inf
ENDS = [-INF, *map(Fraction, (-7, -3, 0, 2, 5, 9)), INF]
RANGES = [(low, high) for low, high in itertools.product(ENDS, ENDS) if low <= high and low < INF and high > -INF]


def test_a_cut_interval_holds_all_that_is_possible_and_was_held_and_is_never_empty():
    """On a grid of intervals, ranges and truths: nothing possible that was held is lost, nothing impossible is left."""
    for ends, possible in itertools.product(RANGES, RANGES):
        low, high = cut_interval(ends, possible)
        assert possible[0] <= low <= high <= possible[1]
        for truth in ENDS[1:-1]:
            if possible[0] <= truth <= possible[1] and ends[0] <= truth <= ends[1]:
                assert low <= truth <= high
        middle = [sum(ends) / 2] if all(isinstance(end, Fraction) for end in ends) else []
        for value in middle:  # and it holds the number, whichever side noise took it to
            assert low <= cut_number(value, possible) <= high
            half = (ends[1] - ends[0]) / 2
            assert high - low >= min(half, possible[1] - possible[0])
        inside = possible[0] <= ends[0] and ends[1] <= possible[1]
        assert not inside or (low, high) == ends


def test_an_interval_beyond_what_is_possible_becomes_no_point():
    """It reaches as far from the nearest possible number as it did from its own."""
    assert cut_interval((Fraction(-21), Fraction(-1)), (Fraction(0), INF)) == (0, 10)
    assert cut_interval((Fraction(-10), Fraction(-10)), (Fraction(0), INF)) == (0, 0)  # no noise was in it
    assert cut_interval((Fraction(90), Fraction(200)), (Fraction(0), Fraction(100))) == (45, 100)


@pytest.mark.parametrize(
    ("ends", "possible", "says_nothing"),
    [
        ((0, 100), (0, 100), True),
        ((-5, 120), (0, 100), True),  # whole after it is cut
        ((0.1, 0.7), (Fraction(1, 10), Fraction(7, 10)), True),  # bounds that no double is equal to
        ((0, 99.9), (0, 100), False),
        ((1, 100), (0, 100), False),
        ((0, 0), (0, 100), False),  # the bound is the number, and known
        ((7, 7), (7, 7), False),  # nothing else is possible
        ((0, INF), (0, INF), True),
        ((0, 10**300), (0, INF), False),
        ((-INF, INF), (-INF, INF), True),
        ((-INF, 3), (-INF, INF), False),
        ((10**9, 10**9 + 1), (10**9, 10**9 + 1), True),
        ((10**400, 10**401), (10**400, 10**401), True),  # that no double holds
    ],
)
def test_an_interval_that_is_the_whole_range_says_nothing(ends, possible, says_nothing):
    ends, possible = (tuple(one if one in (INF, -INF) else Fraction(one) for one in pair) for pair in (ends, possible))
    assert is_uninformative(cut_interval(ends, possible), possible) is says_nothing


def test_ends_of_whole_numbers_are_rounded_outward():
    columns, rows = shown_columns(([-7, 3], [-12, -1], [-3, 8]), (Fraction(0), INF), whole=True)
    assert (columns, rows) == (([0, 3], [0, 0], [5, 8]), frozenset())  # the half is 4.5
    assert all(type(cell) is int for column in columns for cell in column)


def test_what_is_infinite_or_inside_is_left_as_it_is():
    columns, rows = shown_columns(([INF, 0.25], [-INF, 0.125], [INF, 0.5]), (-INF, INF), whole=False)
    assert (columns, rows) == (([INF, 0.25], [-INF, 0.125], [INF, 0.5]), frozenset([0]))


# -- answers ---------------------------------------------------------------------------------------------------------------

PEOPLE = 400
DAY = datetime.date(2025, 1, 1)


@pytest.fixture
def flights(tmp_path):
    """One carrier with nearly everybody, one with four people, one with nobody."""
    rows = pyarrow.table(
        {
            "p": list(range(PEOPLE)),
            "carrier": ["A" if person % 100 else "B" for person in range(PEOPLE)],
            "delay": [person % 30 for person in range(PEOPLE)],
            "x": [float(person % 37) for person in range(PEOPLE)],
        }
    )
    return dither.protect(
        rows,
        name="flights",
        person="p",
        max_rows=1,
        bounds={"delay": (-120, 600), "x": (0, 100)},
        keys={"carrier": ["A", "B", "C"]},
        ledger=dither.Ledger.create(tmp_path / "flights.ledger", budget=dither.approx(10**6, "1e-6")),
    )


def ask(data, sql, epsilon="0.3"):
    with seeded(3):
        return data.quote(sql, epsilon=epsilon).release()


BY = "FROM flights GROUP BY carrier"


@pytest.mark.full("polars")
def test_a_number_that_could_be_anything_is_null_in_polars(flights):
    answer = ask(flights, f"SELECT carrier, AVG(delay) AS a, COUNT(*) AS n {BY}")
    assert answer.to_polars()["a"].is_null().to_list() == [False, True, True]


def test_a_number_that_could_be_anything_is_missing_everywhere(flights):
    answer = ask(flights, f"SELECT carrier, AVG(delay) AS a, COUNT(*) AS n {BY}")
    assert answer.uninformative == {"a": [1, 2]}
    assert answer["a"][0] is not None
    assert (answer["a"][1:], answer["a_low"][1:], answer["a_high"][1:]) == ([None] * 2, [-120.0] * 2, [600.0] * 2)
    assert answer.to_pandas()["a"].isna().tolist() == [False, True, True]
    assert answer.to_pandas()["a_low"].tolist()[1:] == [-120.0, -120.0]  # true, and kept
    assert answer.to_arrow()["a"].null_count == 2
    again = dither.Answer.from_json(answer.to_json())
    assert (again.columns, again.uninformative) == (answer.columns, answer.uninformative)
    assert json.loads(answer.to_json())["columns"]["a"][1:] == [None, None]
    lines = [line.split() for line in str(answer).splitlines()]
    assert sum(line[:4] == [carrier, "–", "–", "–"] for line in lines for carrier in "BC") == 2
    assert "a is missing (–) in 2 of 3 rows: too few rows for this ε" in " ".join(str(answer).split())
    assert ">–</td>" in answer._repr_html_()
    assert answer._repr_html_().count("<svg") == 4
    assert "-120" not in answer.svg("a")  # it sets no scale
    assert drawn_columns(answer.columns, answer.uninformative)["a_low"][1:] == [None, None]
    change = answer.difference(ask(flights, f"SELECT carrier, AVG(delay) AS a {BY}", epsilon=20))
    assert [row["difference"] is None for row in change.rows()] == [False, True, True]


@pytest.mark.parametrize("direction", ["", "DESC"])
@pytest.mark.parametrize(
    "number", ["AVG(delay)", "STDDEV(x)", "MEDIAN(delay)", "AVG(delay) - 1", "SUM(x) / COUNT(*)", "CORR(x, delay)"]
)
def test_what_is_unknown_is_sorted_last_in_either_direction(flights, number, direction):
    for seed in range(3):
        answer = ask(flights, f"SELECT carrier, {number} AS a {BY} ORDER BY a {direction}", epsilon=f"0.3{seed}")
        missing = answer.uninformative.get("a", [])
        assert missing == list(range(3 - len(missing), 3)), seed
        assert [cell is None for cell in answer["a"]] == [row in missing for row in range(3)]
        known = answer["a"][: 3 - len(missing)]
        assert known == sorted(known, reverse=bool(direction))
        first = ask(flights, f"SELECT carrier, {number} AS a {BY} ORDER BY a {direction} LIMIT 1", epsilon=f"0.3{seed}")
        assert first["a"][0] is not None or len(missing) == 3


def test_what_is_computed_from_it_is_missing_too(flights):
    sql = (
        f"SELECT carrier, AVG(delay) AS a, AVG(delay) + COUNT(*) AS b, COALESCE(AVG(delay), 0) AS c, "
        f"COALESCE(NULLIF(COUNT(*), 0), AVG(delay)) AS n, "
        f"SUM(AVG(delay)) OVER () AS total, MAX(AVG(delay)) OVER (PARTITION BY carrier) AS own, "
        f"LAG(AVG(delay)) OVER (ORDER BY carrier) AS before, RANK() OVER (ORDER BY AVG(delay)) AS place {BY}"
    )
    answer = ask(flights, sql)
    assert answer.uninformative["a"] == [1, 2]
    for name in ("b", "c", "own", "place"):
        assert answer.uninformative[name] == [1, 2], name
        assert [cell is None for cell in answer[name]] == [False, True, True], name
    assert answer["place"][0] == 1
    assert answer["total"] == [None] * 3
    assert answer["before"][0] is None  # there is no row before the first, as in SQL
    assert answer.uninformative["before"] == [2]  # of B, which is unknown; of A it is known
    assert "n" not in answer.uninformative  # no count was missing, so that nothing stands in for one


UNKNOWN = "(SELECT AVG(delay) FROM flights WHERE carrier = 'C')"  # of nobody


def test_what_is_computed_from_an_unknown_subquery_is_missing_too(flights):
    """COALESCE puts nothing in its place: there was an interval from 0 to 0 where a number could be anything."""
    sql = f"SELECT COUNT(*) AS n, COUNT(*) + {UNKNOWN} AS b, COALESCE({UNKNOWN}, 0) AS c FROM flights"
    with seeded(1):
        answer = flights.quote(sql, epsilon="0.3").release()
    assert list(answer.constants.values()) == [{"value": None, "low": -120.0, "high": 600.0}]
    assert answer.uninformative == {"b": [0], "c": [0]}
    assert answer["b"] == answer["c"] == [None]
    assert (answer["c_low"], answer["c_high"]) == ([-120], [600])
    assert "b is missing (–)" in answer.note
    assert "None" not in str(answer)


def test_what_stands_in_for_a_subquery_that_is_null_keeps_its_interval(flights, monkeypatch):
    """A subquery that was divided by a released zero: the truth may be its quotient, so that the interval holds both."""
    from dither.query.answers import estimates

    monkeypatch.setattr(estimates, "scalar", lambda offer, released, level=None: (None, 20.0, None))
    answer = ask(flights, "SELECT COUNT(*) AS n, COALESCE((SELECT SUM(x) FROM flights), 7) AS c FROM flights", epsilon=1)
    assert (answer["c"], answer["c_low"], answer["c_high"]) == ([7], [7], [None])


def test_a_condition_on_it_is_not_met(flights):
    everything = f"SELECT carrier, AVG(delay) AS a {BY}"
    assert ask(flights, f"{everything} HAVING AVG(delay) >= -120 OR AVG(delay) < -120")["carrier"] == ["A"]
    assert ask(flights, f"{everything} HAVING AVG(delay) IS NULL")["carrier"] == ["B", "C"]
    ratio = f"SELECT carrier, SUM(x) / COUNT(*) AS r {BY}"
    unknown = ask(flights, ratio, epsilon="0.1").uninformative["r"]
    assert unknown
    kept = ask(flights, f"{ratio} HAVING r >= 0", epsilon="0.1")
    assert kept["carrier"] == [carrier for row, carrier in enumerate("ABC") if row not in unknown]
    assert ask(flights, f"{everything} QUALIFY RANK() OVER (ORDER BY AVG(delay)) <= 3")["carrier"] == ["A"]


def test_a_bound_that_is_the_number_is_known(tmp_path):
    """All values at a bound, and next to no noise: the interval is narrow there. A range of one number is known, too."""
    rows = pyarrow.table({"p": list(range(50)), "x": [0] * 50, "y": [7] * 50})
    ledger = dither.Ledger.create(tmp_path / "a.ledger", budget=dither.pure(10**7))
    data = dither.protect(rows, name="t", person="p", max_rows=1, bounds={"x": (0, 9), "y": (7, 8)}, ledger=ledger)
    answer = data.quote("SELECT AVG(x) AS a, MEDIAN(x) AS m, SUM(x) AS s, MIN(y) AS y FROM t", epsilon=10**5).release()
    assert not answer.uninformative
    for end in ("", "_low"):  # noise may take the low end of the average off the bound by a millionth
        assert [answer[name + end][0] for name in "ams"] == pytest.approx([0, 0, 0], abs=0.1)


def test_numbers_and_intervals_stay_within_what_is_possible(flights):
    sql = (
        f"SELECT carrier, COUNT(*) AS n, COUNT(DISTINCT p) AS p, SUM(x) AS s, -SUM(x) AS m, COUNT(*) + 5 AS more, "
        f"SUM(delay) AS d, COUNT(*) * SUM(x) AS t {BY}"
    )
    ranges = {"n": (0, INF), "p": (0, INF), "s": (0, INF), "m": (-INF, 0), "more": (5, INF), "t": (0, INF), "d": (-INF, INF)}
    cut = dict.fromkeys(ranges, 0)
    for seed in range(8):
        answer = ask(flights, sql, epsilon=f"0.05{seed}")
        assert min(answer["d_low"]) < 0  # a sum of values that may be negative
        for name, (least, most) in ranges.items():
            for value, low, high in zip(*(answer[name + end] for end in ("", "_low", "_high")), strict=True):
                assert least <= low <= value <= high <= most, (name, seed)
                cut[name] += value in (least, most)
                assert low < high
    assert [name for name in ranges if not cut[name]] == ["d"]


def test_totals_are_of_the_numbers_before_they_are_cut(tmp_path):
    """A thousand empty groups: the total of what is shown would be far too large, and that of what was released is not."""
    rows = pyarrow.table({"p": [1], "k": [0]})
    keys = {"k": list(range(1000))}
    ledger = dither.Ledger.create(tmp_path / "a.ledger", budget=dither.pure(9))
    data = dither.protect(rows, name="t", person="p", max_rows=1, keys=keys, ledger=ledger)
    with seeded(1):
        answer = data.quote("SELECT k, COUNT(*) AS n, SUM(COUNT(*)) OVER () AS t FROM t GROUP BY k", epsilon=1).release()
    assert min(answer["n"]) == 0
    assert sum(answer["n"]) > answer["t_high"][0] >= 1 >= answer["t_low"][0]


@pytest.mark.parametrize("unknown", [{"b": [0]}, {"a": [9]}, {"a": [True]}, {"a": 0}, [0]])
def test_a_record_with_other_rows_is_refused(flights, unknown):
    record = json.loads(ask(flights, f"SELECT carrier, AVG(delay) AS a {BY}").to_json()) | {"uninformative": unknown}
    with pytest.raises(dither.errors.DataError, match="dither did not write this"):
        dither.Answer.from_json(json.dumps(record))
