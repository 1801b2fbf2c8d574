"""The k largest of many declared groups: how far a person moves a score, which way is taken, what is shown."""

from __future__ import annotations

import pytest

import dither
from dither.privacy.unit import Unit
from tests.query.clinics import ledger
from tests.query.shop import each_row, held, shop
from tests.seeds import rounds

MANY = [f"p{at:02d}" for at in range(60)]
TOP = "SELECT product, {} AS n FROM sales GROUP BY product ORDER BY n DESC LIMIT {}"
PURE = dither.pure(10**6)


def facts(**others):
    return {"keys": {"product": MANY}, "max_groups": 40, "budget": PURE, **others}


def some(rng, person=None):
    whose = rng.choice([1, 2, 3, 3, None]) if person is None else person
    return (whose, rng.choice([*MANY[:6], "no key", None]), 0, None, None, "A", rng.choice([0.5, 3.0, 99.0, None]))


@pytest.mark.parametrize("unit", [Unit.ADD_REMOVE, Unit.REPLACE_ONE])
@pytest.mark.parametrize("asked", ["COUNT(*)", "COUNT(cost)", "SUM(cost)", "COUNT(DISTINCT person)"])
def test_a_person_moves_every_score_by_no_more_than_is_claimed_and_all_in_one_direction(tmp_path, asked, unit):
    same, worst = ledger(tmp_path, dither.pure(10**6, unit=unit)), 0
    for rng in rounds(2, 2, "largest groups", asked, unit):
        rows = [some(rng) for _ in range(30)]

        def scores(rows):
            return held(shop(tmp_path, rows, **facts(ledger=same)).quote(TOP.format(asked, 3), epsilon=1))

        quote = shop(tmp_path, rows, **facts(ledger=same)).quote(TOP.format(asked, 3), epsilon=1)
        assert quote.offer.choice.mechanism.monotone == (unit is Unit.ADD_REMOVE)
        whole = held(quote)
        assert {key[0] for key in whole} <= set(MANY)
        for person in (1, 2, 3):
            rest = [row for row in rows if row[0] != person]
            rest += [some(rng, person) for _ in range(8)] if unit is Unit.REPLACE_ONE else []
            less = scores(rest)
            change = [whole.get(key, 0) - less.get(key, 0) for key in {*whole, *less}]
            assert max(map(abs, change)) <= quote.offer.choice.mechanism.sensitivity
            assert unit is Unit.REPLACE_ONE or min(change) >= 0
            worst = max(worst, *map(abs, change))
    assert worst > quote.offer.choice.mechanism.sensitivity / 2


def test_the_largest_are_shown_with_counts_of_their_own(tmp_path):
    rows = [(1000 * key + at, MANY[key], 0, None, None, "A", 1.0) for key in range(9) for at in range(50 + 20 * key)]
    data = shop(tmp_path, rows, **facts())
    quote = data.quote(TOP.format("COUNT(*)", 3), epsilon=1000)
    assert quote.offer.choice is not None
    assert quote.offer.bounding.groups == 3
    assert quote.guarantee.charge().epsilon == 1000
    assert "chosen first" in quote.explain()
    answer = quote.release()
    truth = sorted(MANY, key=lambda key: -sum(1 for row in rows if row[1] == key))[:3]
    assert answer["product"] == truth
    assert answer["n"] == sorted(answer["n"], reverse=True)
    assert data.quote(TOP.format("COUNT(*)", 3), epsilon=1000).release().is_replay
    assert data.quote(TOP.format("COUNT(*)", 3), epsilon=1000).release()["n"] == answer["n"]
    assert data.quote(TOP.format("COUNT(*)", 4), epsilon=1000).question != quote.question


def test_where_rho_counts_the_choice_is_priced_in_rho(tmp_path):
    quote = shop(tmp_path, [], **facts(budget=dither.zcdp(10))).quote(TOP.format("COUNT(*)", 3), rho=1)
    assert quote.offer.choice is not None
    assert quote.guarantee.charge().rho <= 1
    assert quote.guarantee.charge().delta == 0
    assert float(quote.guarantee.charge().rho) > 0.999


def test_the_better_way_is_taken_from_public_facts_and_said(tmp_path):
    few = shop(tmp_path, [], **facts(max_groups=3)).quote(TOP.format("COUNT(*)", 10), epsilon=1)
    assert few.offer.choice is None
    assert "if all are counted" in few.explain()
    assert "chosen first, then counted" not in few.explain()
    rows = each_row(tmp_path, [], keys={"product": MANY}, budget=PURE).quote(TOP.format("COUNT(*)", 3), epsilon=1)
    assert rows.offer.choice is None  # nobody is in two groups


@pytest.mark.parametrize(
    "sql",
    [
        TOP.format("AVG(cost)", 3),
        TOP.format("COUNT(*)", 3).replace(" DESC", ""),
        TOP.format("COUNT(*)", 3).replace("n DESC", "n DESC, product"),
        TOP.format("COUNT(*)", 3).replace("ORDER", "HAVING n > 3 ORDER"),
        TOP.format("COUNT(*)", 60),
        TOP.format("SUM(cost - 5)", 3),
        "SELECT product, COUNT(*) AS n FROM sales GROUP BY product LIMIT 3",
    ],
)
def test_other_questions_count_all_groups(tmp_path, sql):
    assert shop(tmp_path, [], **facts()).quote(sql, epsilon=1).offer.choice is None
