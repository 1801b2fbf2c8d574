"""Weights on totals of people in groups give the whole numbers of weights on their rows."""

from __future__ import annotations

import random

import pytest

from dither.query.engines.duckdb.words import DuckDBWords
from dither.query.engines.templates import totals
from dither.query.engines.templates.totals import totals_sql
from dither.query.engines.words import Words
from tests.query.neighbours import engine_with, random_case, random_row, table_of
from tests.seeds import examples


class Rows(DuckDBWords):
    """Rows are joined with their weights."""

    salt = "12345"
    order = Words.order


class Totals(Rows):
    """Totals are weighed."""

    distributed = True


def differences(rng: random.Random, count: int) -> int:
    found = 0
    for _ in range(count):
        table = table_of([random_row(rng) for _ in range(rng.choice([0, 5, 40, 300]))], rng)
        engine = engine_with(1)
        engine.register("visits", table)
        for _ in range(4):
            case = random_case(rng, "weights")
            asked = case.question, case.strategy.sets, case.bounding, "visits", case.salt
            first, second = (sorted(map(repr, engine.execute(totals_sql(w, *asked)).fetchall())) for w in (Rows(), Totals()))
            found += first != second
    return found


def test_both_forms_give_the_same():
    assert differences(random.Random(1), examples(20, 200)) == 0


@pytest.mark.parametrize(("name", "value"), [("LARGEST", 0), ("SMALL", 0)])
def test_what_does_not_fit_is_wide(monkeypatch, name, value):
    monkeypatch.setattr(totals, name, value)
    assert differences(random.Random(2), 5) == 0


def test_a_planted_bug_is_found(monkeypatch):
    """Rows of one group counted for the weight, not those of all."""
    before = totals._weighted_totals
    monkeypatch.setattr(
        totals, "_weighted_totals", lambda *given: before(*given).replace("sum(n) OVER (PARTITION BY p)", "n")
    )
    assert differences(random.Random(3), 20) > 0


def test_the_join_is_not_written():
    case = random_case(random.Random(4), "weights")
    asked = case.question, case.strategy.sets, case.bounding, "visits", case.salt
    assert "JOIN" in totals_sql(Rows(), *asked)
    assert "JOIN" not in totals_sql(Totals(), *asked)
