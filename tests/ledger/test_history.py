"""The history in words: every kind of entry, as a table, as CSV and as JSON."""

from __future__ import annotations

import csv
import io
import json

import pytest

from dither import Ledger, approx, gdp, pure
from dither.ledger.entries.entry import KINDS
from dither.ledger.history import LONGEST_TEXT, UNTOLD, WORDS, asked, history_csv, history_json, history_lines, history_table
from dither.privacy import calibrate


def lines_of(ledger):
    return history_lines(ledger.history(), ledger.access_log.lines(), ledger.budget)


def test_every_kind_has_its_word():
    assert set(WORDS) == set(KINDS)
    assert len(set(WORDS.values())) == len(WORDS)


def test_a_year_of_a_ledger(location):
    with Ledger.create(location, budget=approx(3, "1e-6"), domain="clinic") as ledger:
        ledger.amend("one", loosens=True, note="before anything was spent", unspent=True)
        first = ledger.reserve(gdp("0.1242"), "q", analyst="ann", text="SELECT 1", idempotency_key="a")
        ledger.commit(first, "42")
        ledger.reserve(gdp("0.1242"), "q", analyst="ann", idempotency_key="b")
        ledger.refund(ledger.reserve(pure("0.1"), "r"))
        ledger.amend("two", loosens=True, note="a new ward")
        ledger.share("ann", approx(1, "1e-6"))
        lines = lines_of(ledger)
    told = [(line.what, line.who, line.question, line.about, line.price, line.left) for line in lines[2:]]
    assert told == [
        ("policy", "", "", "a policy in force: before anything was spent", "", "100%"),
        ("asked", "ann", "SELECT 1", "", "ε = 0.5005 at δ = 1e-06", "95.6%"),
        ("answered", "", "", "entry 4", "", "95.6%"),
        ("answered again", "ann", "", "entry 4, for free", "", "95.6%"),
        ("asked", "", UNTOLD, "", "ε = 0.1", "92.7%"),
        ("given back", "", "", "entry 7", "", "95.6%"),
        ("policy", "", "", "a policy in force, looser than the one before: a new ward", "", "95.6%"),
        ("share set", "ann", "", "a share of (ε = 1, δ = 1e-06) (add/remove one person)", "", "95.6%"),
    ]
    assert all(len(row) <= 80 for row in history_table(lines).splitlines())


def test_a_price_reads_as_it_was_asked(location):
    """Never below what is charged: by the next digit less it would not be proved."""
    stated = ("0.2", "0.5", "1", "0.1234", "1/3", "2.5")
    with Ledger.create(location, budget=approx(30, "1e-6"), domain="clinic") as ledger:
        for epsilon in stated:
            ledger.reserve(gdp(1 / calibrate.gaussian(epsilon, "1e-6")), epsilon)
        prices = [line.price for line in lines_of(ledger) if line.price]
    shown = ["0.2", "0.5", "1", "0.1234", "0.3334", "2.5"]
    assert prices == [f"ε = {told} at δ = 1e-06" for told in shown]


def test_long_questions_are_cut_in_tables_alone(ledger):
    ledger.reserve(pure("0.1"), "q", text="SELECT " + "x, " * 3000, analyst="a" * 40)
    lines = lines_of(ledger)
    shown = history_table(lines)
    assert f"... ({len(lines[-1].question):,} characters; --json has all)" in " ".join(shown.split())
    assert len(shown) < 2 * LONGEST_TEXT
    assert json.loads(history_json(lines[-1]))["question"] == lines[-1].question
    assert "aaaaaaaaaaaaa..." in shown


def test_a_spreadsheet_computes_nothing(ledger):
    """Planted: a cell as it came would be a formula."""
    for text in ("=HYPERLINK(1)", "+1", "-1", "@SUM(1)", "\t=1"):
        ledger.record_refusal(text, "=cmd", analyst="=1+1")
    rows = list(csv.DictReader(io.StringIO(history_csv(lines_of(ledger)))))
    cells = [cell for row in rows for cell in row.values()]
    assert not [cell for cell in cells if cell[:1] in ("=", "+", "-", "@", "\t")]
    assert rows[-1]["who"] == "'=1+1"
    assert list(rows[0]) == ["entry", "when", "what", "who", "question", "about", "price", "left"]


def test_a_clock_that_was_set_back_changes_no_order(ledger, monkeypatch):
    ledger.reserve(pure("0.1"), "a", text="first")
    ledger.record_refusal("second", "no")
    entries = list(ledger.history())
    entries[-1:] = [entries[-1], entries[0]]  # an older time after a later one
    lines = history_lines(entries, ledger.access_log.lines(), ledger.budget)
    assert [line.entry for line in lines if line.entry is not None] == [1, 2, 3, 1]
    assert len(lines) == 5


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("SELECT 1 -- one\n + 2", "SELECT 1 + 2"),
        ("SELECT 1 -- one\r + 2", "SELECT 1 + 2"),  # ends a comment for the parser, too
        ("SELECT 1 /* one */ + 2", "SELECT 1 + 2"),
        ("SELECT '--',  'a  b' /* x */", "SELECT '--', 'a  b'"),
        ('SELECT "--" + 2', 'SELECT "--" + 2'),
        ("SELECT 1 /* /* */ -- */ + 2", "SELECT 1 /* /* */ -- */ + 2"),
        ("SELECT 1 /*/* */ + 2 --*/", "SELECT 1 /*/* */ + 2 --*/"),
        ("SELECT E'\\'--' + 2", "SELECT E'\\'--' + 2"),
        ("SELECT $a$--$a$ + 2", "SELECT $a$--$a$ + 2"),
        ("SELECT 1 {# -- #} + 2", "SELECT 1 {# -- #} + 2"),
    ],
)
def test_no_comment_hides_what_was_asked(text, shown):
    assert asked(text) == shown


def test_names_are_shown_as_they_were_given(ledger):
    """Planted: 'ann--eve' was shown as 'ann'."""
    ledger.reserve(pure("0.1"), "q", analyst="ann--eve")
    ledger.amend("two", loosens=True, note="wards -- all of them")
    assert lines_of(ledger)[-2].who == "ann--eve"
    assert lines_of(ledger)[-1].about.endswith("wards -- all of them")
