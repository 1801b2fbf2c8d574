"""Refusals on the command line name flags: those that are met by typing, and all that the source of questions holds."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

import dither
from dither import demo
from dither.cli.flags import in_flags, refusal
from dither.cli.main import main
from dither.errors import NumberError
from tests.cli.spelling import python_spelling

SOURCES = Path(dither.__file__).parent
REACHED = ("query", "ledger", "privacy", "numeric", "local", "cli", "extras.py", "table.py")  # by some command
UNREACHED = {  # what has no flag: it is refused to those who write Python, and to nobody else
    "'geometric', or approx('0.5', '1e-6') as the guarantee",
    "approx('0.5', '1e-9'), zcdp('0.01', delta='1e-9'), or 0",
    "dither.Ledger.create('clinic.ledger', budget=dither.approx(3, '1e-6')); "
    "to try things out, dither.Ledger.temporary(dither.pure(1))",
    "clinic.quote(sql, epsilon=1).compare(another)",
    "clinic.quote(sql, epsilon=1).compare(epsilon=[0.1, 0.5])",
    "True if anything more is allowed than before",
    "mu='0.5', or mu2='1/4'",
    "(count * approx(...)).epsilon(delta)",
    "an int, float or Decimal",
    "True or False",
    "scores='uniform', or channel()",
    "bits=32, or longest=8",
    "at most 0, or None for balanced ones",
    "True",
    "True, to put the identity into the file",
    "header=['patient', 'ward', 'cost'], all of them in order",
    "visits/year=2024/a.parquet",  # names of folders
    "year=2024/month=3",
    "clinic.features('SELECT age, cost, ward FROM visits', target='readmitted')",
    "max_rows=0",
    "a value is there twice (True is 1, and False is 0)",  # values on the command line are texts
    "dither.open('policy.toml', spark=session)",  # no command has a session of Spark's
    "a DataFrame that is not a stream",
    "it is no DataFrame of Spark's, or its session is stopped",
    '"spark:clinic.visits", "spark:spark_catalog.clinic.visits" or "spark:parquet:/data/visits"',
}


@pytest.fixture
def clinic(tmp_path, monkeypatch):
    demo.save(tmp_path)
    monkeypatch.chdir(tmp_path)


COUNT, MEDIAN = "SELECT COUNT(*) AS n FROM visits", "SELECT MEDIAN(cost) AS m FROM visits"
DEVIATION, PAIR = "SELECT STDDEV(cost) AS s FROM visits", "SELECT CORR(cost, age) AS r FROM visits"


@pytest.mark.usefixtures("clinic")
@pytest.mark.parametrize("command", ["quote", "query"])
@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ([COUNT], "--epsilon 0.5, --rho 0.01, or --error n=20"),
        ([COUNT, "--epsilon", "1", "--rho", "1"], "--epsilon 0.5, --rho 0.01, or --error n=20"),
        ([COUNT, "--epsilon", "x"], "--epsilon = 'x' is refused"),
        ([COUNT, "--epsilon", "1e-200"], "What would work: 0.5."),
        ([COUNT, "--epsilon", "1", "--confidence", "7"], "--confidence = "),
        ([COUNT, "--epsilon", "1", "--size", "0"], "--size = 0 is refused"),
        ([COUNT, "--epsilon", "1", "--noise", "loud"], "--noise = 'loud' is refused"),
        ([COUNT, "--epsilon", "1", "--bounding", "so"], "--bounding = 'so' is refused"),
        ([COUNT, "--epsilon", "1", "--intervals", "1/2"], "--intervals = '1/2' is refused"),
        ([MEDIAN, "--epsilon", "1", "--intervals", "2"], "--intervals = '2' is refused: it is a share of the price"),
        ([COUNT, "--epsilon", "1", "--limits", "so"], "--limits = 'so' is refused"),
        ([COUNT, "--epsilon", "1", "--bounds", "auto"], "--bounds = 'auto' is refused"),
        ([MEDIAN, "--error", "m=2"], "--epsilon, and the error bars of the answer"),
        (["SELECT AVG(cost) AS a FROM visits", "--error", "a=2"], "--size 1000 beside it"),
        ([DEVIATION, "--error", "s=2"], "--size 1000 and --spread cost=<its standard deviation> beside it"),
        ([PAIR, "--error", "r=1", "--size", "9"], "--spread age=<its standard deviation> --spread cost=<its standard"),
        ([DEVIATION, "--epsilon", "1", "--spread", "cst=3"], "--spread = 'cst' is refused"),
        ([DEVIATION, "--epsilon", "1", "--spread", "cost"], "--spread cost=300"),
        ([DEVIATION, "--epsilon", "1", "--spread", "cost=3", "--spread", "cost=4"], "stated twice for one column"),
        ([DEVIATION, "--epsilon", "1", "--spread", "cost=-1"], "--spread cost = '-1' is refused"),
        ([DEVIATION, "--epsilon", "1", "--spread", "cost=1e9"], "--spread cost = '1e9' is refused"),
        (["SELECT COUNT(*) AS n, SUM(cost) AS s FROM visits", "--error", "n=20"], "--error s=20 besides"),
        ([COUNT, "--epsilon", "1000"], "is refused"),
        (["SELECT * FROM visits", "--epsilon", "1"], "is refused"),
        (["SELECT nothing FROM nowhere", "--epsilon", "1"], "is refused"),
        ([COUNT, "SELECT SUM(cost) AS s FROM visits", "--error", "n=20"], "--epsilon 1 for all of it"),
        ([COUNT, "--epsilon", "1", "--delta", "2"], "--delta = '2' is refused"),
        ([COUNT, "--epsilon", "1", "--other", "rest"], "is refused"),
    ],
)
def test_what_is_typed_wrong_is_refused_in_flags(command, typed, told, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["dither", command, *typed])
    with pytest.raises(SystemExit) as stop:
        main()
    said = capsys.readouterr().err
    assert stop.value.code == 2
    assert told in said
    assert python_spelling(said.split(" is refused: ")[1]) is None, said


@pytest.mark.usefixtures("clinic")
def test_intervals_have_a_flag(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["dither", "quote", MEDIAN, "--epsilon", "1", "--intervals", "0"])
    with pytest.raises(SystemExit):
        main()
    assert "none to an interval" in capsys.readouterr().out


def texts(path: Path):
    """What errors that are raised in a file say would work, and why: their parts that are written out."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id.endswith("Error"):
            for part in node.args[2:]:
                if isinstance(part, ast.JoinedStr):
                    yield "".join(x.value if isinstance(x, ast.Constant) else "0" for x in part.values)
                elif isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield part.value
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value.value


def test_all_refusals_of_questions_can_be_said_in_flags():
    files = [path for place in REACHED for path in (SOURCES / place, *(SOURCES / place).rglob("*.py")) if path.is_file()]
    found = {text for path in files for text in texts(path)}
    assert found >= UNREACHED, "no longer said"
    found -= UNREACHED
    assert len(found) > 500
    assert [text for text in sorted(found) if python_spelling(in_flags(text))] == []
    assert any(in_flags(text) != text for text in found)


def test_what_came_is_shown_as_it_came_and_sql_is_left_alone():
    assert in_flags("WHERE otherwise = 3, or a.size == b.size") == "WHERE otherwise = 3, or a.size == b.size"
    told = refusal(NumberError("where", "epsilon='3'", "it is none", "epsilon='0.5'"))
    assert told == "where = \"epsilon='3'\" is refused: it is none. What would work: --epsilon 0.5."
