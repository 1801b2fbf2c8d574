"""Plans in words."""

from __future__ import annotations

import random

from dither.query.plan.describe import describe
from dither.query.sql.parse import parse
from tests.query.neighbours import policy, random_question


def test_every_clause():
    sql = """SELECT ward AS w, EXTRACT(month FROM day) AS m, COUNT(DISTINCT person) AS people,
    AVG(cost * 2 - age) AS a, COUNT(cost) AS c
    FROM visits WHERE (ward LIKE 'A%' OR cost IS NULL) AND age BETWEEN 1 AND 2.5 AND day > DATE '2024-01-01'
    GROUP BY ward, m HAVING people > 3.5 ORDER BY people DESC, w LIMIT 7"""
    assert describe(parse(sql, policy(1, 1))).splitlines() == [
        "Of         visits",
        "Where      ((ward looks like 'A%' or cost is missing) and (age >= 1 and age <= 2.5) and day > 2024-01-01)",
        "By         w: ward, one of 4 keys",
        "By         m: the month of day, one of 12 keys",
        "Asks       people: how many people",
        "Asks       a: the average of ((cost * 2) - age)",
        "Asks       c: how many values of cost",
        "Keeps      rows with people > 3.5",
        "Sorted     by people, largest first",
        "Sorted     by w",
        "Shows      the first 7",
    ]


def test_every_question_has_words():
    rng = random.Random(5)
    for _ in range(100):
        assert describe(parse(random_question(rng, persons=rng.random() < 0.2), policy(1, 1)))
