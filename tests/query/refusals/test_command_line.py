"""Refusals of questions as the command line tells them: no words of Python, and what would work."""

from __future__ import annotations

import re
import sys

import pytest

from dither import demo
from dither.cli.flags import refusal
from dither.cli.main import main
from tests.query.refusals.questions import questions, refused

PYTHON = re.compile(
    r"(?<![\w-])(epsilon|rho|guarantee|confidence|size|bounding|delta|other|noise|intervals|error|limits|bounds|analyst)='"
    r"|(?<!\w)(pure|approx|zcdp|quote|compare|protect|Ledger|release)\(|dither\.|clinic\.|\bNone\b|\\x|<class|object at"
)


def test_no_refusal_is_told_in_words_of_python():
    found = [(sql, refusal(error)) for sql, policy in questions() if (error := refused(sql, policy)) is not None]
    assert len(found) > 400
    told = {sql: said.partition(" is refused: ")[2] for sql, said in found}  # what came is shown as it came
    assert {sql: said for sql, said in told.items() if PYTHON.search(said)} == {}


ASKED = [
    ("SELECT * FROM visits", "aggregates of the rows, such as their number"),
    ("SELECT COUNT(*) FROM visits WHERE ward = 3", "texts stand in single quotes"),
    (
        "SELECT patient_id, COUNT(*) FROM visits GROUP BY patient_id",
        "the number of people is COUNT(DISTINCT patient_id)",
    ),
    ("SELECT COUNT(*) FROM visit", "did you mean visits?"),
    ("DROP TABLE visits", "only SELECT is answered"),
]


@pytest.mark.parametrize("command", ["quote", "query", "explain"])
@pytest.mark.parametrize(("sql", "told"), ASKED)
def test_the_command_line_says_what_would_work(command, sql, told, tmp_path, monkeypatch, capsys):
    demo.save(tmp_path)
    monkeypatch.chdir(tmp_path)
    price = [] if command == "explain" else ["--epsilon", "0.1"]
    monkeypatch.setattr(sys, "argv", ["dither", command, sql, *price])
    with pytest.raises(SystemExit) as stop:
        main()
    said = capsys.readouterr().err
    assert stop.value.code == 2
    assert told in said
    assert not PYTHON.search(said.partition(" is refused: ")[2]), said
