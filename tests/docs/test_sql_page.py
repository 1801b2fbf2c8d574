"""docs/sql.md: every example of its tables is answered as it says, and verdicts are those recorded."""

from __future__ import annotations

import re

import pytest

import dither
from dither.query.free_quote import FreeQuote
from dither.query.statistics.people_beyond import PeopleBeyond
from tests.docs.sql_page import PAGE, written
from tests.query.corpus.tables import TABLES, datasets

ROW = re.compile(r"^\| ([^|]+) \| `(.+?)` \| ([^|]+) \| ([^|]*)\|$", re.MULTILINE)
ROWS = ROW.findall(PAGE.read_text())
WORLDS = {table: world for world, tables in TABLES.items() for table in tables}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("page")
        patch.setenv("DITHER_HOME", str(folder / "home"))
        yield datasets(folder, dither.approx(1000, "1e-6"))


def test_every_row_of_its_tables_is_read():
    tables = PAGE.read_text().partition("## TPC-H")[0]
    heads = tables.count("| construct |")
    assert len(ROWS) == sum(line.startswith("| ") for line in tables.splitlines()) - heads
    assert len(ROWS) > 40


@pytest.mark.parametrize(("construct", "sql", "price", "needs"), ROWS, ids=[row[0] for row in ROWS])
def test_each_example_is_answered_at_its_price(data, construct, sql, price, needs):
    world = next(WORLDS[table] for table in re.findall(r"(?:FROM|,) (\w+)", sql) if table in WORLDS)
    place = [row[1] for row in ROWS].index(sql)
    quote = data[world].quote(sql, epsilon=f"1.{place:03d}")  # at a price of its own, so that it is not asked before
    assert isinstance(quote, FreeQuote) == price.startswith("free")
    if not isinstance(quote, FreeQuote):
        assert (quote.offer.choice is not None) == ("and a δ" in price)
        assert ("share" in price and "shared" not in price) == any(
            not isinstance(one, PeopleBeyond) for one in quote.offer.others
        )
    entries = [len(list(data[world].ledger.history()))]
    for _ in range(2):
        quote.release(threads=1)
        entries.append(len(list(data[world].ledger.history())))
    assert (entries[1] > entries[0]) != price.startswith("free")
    assert entries[2] == entries[1]  # what was asked before is shown again


def test_verdicts_are_those_recorded():
    page = PAGE.read_text()
    assert written(page) == page
