"""Ten typical questions have the same whole numbers on both engines: of 10^6 rows in the long form, of a few otherwise."""

from __future__ import annotations

import pytest
from benchmarks.engines import purchases
from benchmarks.engines.questions import QUESTIONS
from benchmarks.engines.sides import DuckDBSide, PostgresSide

from dither.query.engines.postgres.words import PostgresWords

pytestmark = pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")


@pytest.fixture(scope="module")
def sides(tmp_path_factory, address, request):
    folder = tmp_path_factory.mktemp("purchases")
    path = purchases.make(folder, 10**6 if request.config.getoption("--all") else 2000)
    purchases.load(address, path)
    return DuckDBSide(folder, path), PostgresSide(folder, address)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda one: f"{one.name} {one.price}")
def test_the_same_whole_numbers(question, sides):
    first, second = (side.totals(question) for side in sides)
    assert first
    assert first == second


def test_another_rounding_is_found(sides, monkeypatch):
    def rounded_up(_: PostgresWords, sql: str, by: str) -> str:
        return f"CAST(ceil(CAST({sql} AS numeric) / {by}) AS bigint)"

    monkeypatch.setattr(PostgresWords, "divide", rounded_up)
    weights = QUESTIONS[1]
    assert sides[0].totals(weights) != sides[1].totals(weights)
