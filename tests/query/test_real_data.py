"""Answers about real data hold the truth within their error bars as often as they say, over 200 releases each.

The rows are read once; noise is drawn 200 times. An interval that fails in 5 of 100 cases fails in more than 31 of 200 with
a probability below 1e-7 (binomial), so that is what is allowed to each column.
"""

from __future__ import annotations

import pytest

import dither
from tests.policies import opened
from tests.query.clinics import clinic, ledger, repeated
from tests.query.real_data import DATA, needs_data, plainly, read

RUNS, MOST = 200, 31
APPROX = dither.approx(10**4, "1e-6")
pytestmark = [
    needs_data,
    pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning"),
]


def misses(quote, truth, seed):
    """How often the truth of the first group lies outside, for each column."""
    outside = dict.fromkeys(truth, 0)
    with dither.testing.seeded(seed):
        for answer in repeated(quote, RUNS):
            for name, true in truth.items():
                low, high = answer[f"{name}_low"][0], answer[f"{name}_high"][0]
                outside[name] += not low - 1e-9 <= true <= high + 1e-9
    return outside


def truth_of(table, sql):
    """The first row of the same question, asked without privacy."""
    return plainly(table, sql)[0]


PUMS = {"name": "pums", "person": "pid", "max_groups": 16, "max_rows_per_group": 4, "complete": []}
PUMS |= {"bounds": {"age": (0, 100), "income": (0, 500_000)}, "steps": {}, "keys": {"educ": list(range(1, 17))}}
ASKED = {
    "SELECT COUNT(*) AS n, COUNT(age) AS known, SUM(age) AS years, AVG(age) AS age FROM pums": "",
    "SELECT educ, COUNT(*) AS n, AVG(income) AS income FROM pums GROUP BY educ": " AND educ = 1",
    "SELECT STDDEV_POP(age) AS spread, AVG(age) AS age, COUNT(*) AS n FROM pums": "",
    "SELECT MEDIAN(age) AS age, QUANTILE(income, 0.9) AS most FROM pums": "",
}
PLAIN = {"MEDIAN(age)": "quantile_disc(age, 0.5)", "QUANTILE(income, 0.9)": "quantile_disc(income, 0.9)"}
PLAIN |= {
    "AVG(income)": "AVG(CASE WHEN income > 500000 THEN 500000 ELSE income END)",
    "FROM pums": "FROM rows WHERE pid IS NOT NULL",
}


@pytest.mark.parametrize("budget", [dither.pure(10**4), APPROX], ids=["pure", "approx"])
@pytest.mark.parametrize("sql", ASKED)
def test_pums_with_missing_values_and_several_rows_a_person(tmp_path, sql, budget):
    """Limits that nobody exceeds, so that nothing but noise is between answer and truth; rows without person are nobody's"""
    data = read("PUMS_null.csv")
    quote = clinic(tmp_path, data, ledger=ledger(tmp_path, budget), **PUMS).quote(sql, epsilon=20)
    asked = sql
    for ours, plain in PLAIN.items():
        asked = asked.replace(ours, plain)
    asked = asked.replace("IS NOT NULL", f"IS NOT NULL{ASKED[sql]}")
    truth = truth_of(data, asked)
    truth.pop("educ", None)
    outside = misses(quote, truth, seed=7)
    assert max(outside.values()) <= MOST, outside


@pytest.mark.parametrize("budget", [dither.pure(10**4), APPROX], ids=["pure", "approx"])
def test_the_medical_join(tmp_path, budget):
    """Two protected tables joined on the person, by outcome; texts as persons."""
    policy = f"""
version = 1
domain = "hospital"
unit = "add/remove one person"
[ledger]
location = "hospital.ledger"
budget = {{ {"epsilon = 10000" if budget is not APPROX else 'epsilon = 10000, delta = "1e-6"'} }}
[tables.people]
source = "{DATA / "data_demographic.csv"}"
person = "ID"
max_groups = 1
max_rows_per_group = 1
columns = {{ ID = {{ type = "text" }}, Age = {{ type = "integer", bounds = [0, 120] }} }}
[tables.care]
source = "{DATA / "data_medical.csv"}"
person = "ID"
max_groups = 1
max_rows_per_group = 1
columns = {{ ID = {{ type = "text" }}, Outcome = {{ type = "text", keys = ["intensive care", "recovered", "unchanged"] }} }}
"""
    (tmp_path / "policy.toml").write_text(policy)
    joined = "{} p JOIN {} c ON p.ID = c.ID"
    sql = f"SELECT Outcome, COUNT(*) AS n, AVG(p.Age) AS age FROM {joined.format('people', 'care')} GROUP BY Outcome"
    hospital = opened(tmp_path / "policy.toml")
    quote = hospital.quote(sql, epsilon=1)
    files = [f"read_csv('{DATA / name}')" for name in ("data_demographic.csv", "data_medical.csv")]
    plain = sql.replace(joined.format("people", "care"), joined.format(*files))
    truth = truth_of(read("PUMS.csv"), plain.replace("GROUP BY Outcome", "GROUP BY Outcome ORDER BY Outcome"))
    assert truth.pop("Outcome") == "intensive care"
    assert truth["n"] > 1000
    outside = misses(quote, truth, seed=8)
    assert max(outside.values()) <= MOST, outside
    hospital.ledger.close()


@pytest.mark.parametrize("budget", [dither.pure(10**4), APPROX], ids=["pure", "approx"])
def test_restaurant_visits(tmp_path, budget):
    """Visitors who come on several days: by day, with counts of people, medians, and a batch of ranges."""
    columns = 'VisitorId AS visitor, "Time spent (minutes)" AS minutes, "Money spent (euros)" AS euros, Day AS day'
    data = read("restaurant_week_data.csv", columns)
    facts = {"name": "visits", "person": "visitor", "max_groups": 7, "max_rows_per_group": 7, "complete": []}
    facts |= {"bounds": {"minutes": (0, 240), "euros": (0, 100)}, "steps": {}, "keys": {"day": list(range(1, 8))}}
    week = clinic(tmp_path, data, ledger=ledger(tmp_path, budget), **facts)
    sql = "SELECT day, COUNT(*) AS n, COUNT(DISTINCT visitor) AS people, AVG(euros) AS euros FROM visits GROUP BY day"
    truth = truth_of(data, sql.replace("visits", "rows") + " ORDER BY day")
    assert truth.pop("day") == 1
    outside = misses(week.quote(sql, epsilon=5), truth, seed=9)
    assert max(outside.values()) <= MOST, outside
    median = week.quote("SELECT MEDIAN(minutes) AS minutes FROM visits", epsilon=5)
    assert (
        misses(median, truth_of(data, "SELECT quantile_disc(minutes, 0.5) AS minutes FROM rows"), seed=10)["minutes"] <= MOST
    )
    ranges = [f"SELECT COUNT(*) AS n FROM visits WHERE minutes BETWEEN {low} AND {low + 29}" for low in range(0, 120, 30)]
    batch = week.quote([*ranges, "SELECT COUNT(*) AS n FROM visits WHERE minutes < 60"], epsilon=5)
    for place, one in enumerate(batch):
        assert misses(one, truth_of(data, one.sql.replace("visits", "rows")), seed=11 + place)["n"] <= MOST
