"""Silly inputs, typed and in Python: each is answered by words that name what would work, and none by a traceback."""

from __future__ import annotations

import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

import dither
from dither.cli.main import main
from dither.errors import DitherError
from tests.cli.spelling import python_spelling

POLICY = """\
version = 1
domain = "clinic"
ledger = { location = "clinic.ledger", budget = { epsilon = "3", delta = "1e-6" } }
[tables.visits]
source = "visits.parquet"
person = "patient_id"
max_rows = 6
[tables.visits.columns]
patient_id = { type = "integer" }
ward = { type = "text", keys = ["a", "b"] }
cost = { type = "decimal", bounds = [0, 2000], step = "0.01" }
"Kosten (EUR)" = { type = "integer", bounds = [0, 2000] }
"""
ROWS = {"patient_id": [1, 2, 2], "ward": ["a", "a", "b"], "cost": [1.5, 2.0, 3.0], "Kosten (EUR)": [1, 2, 3]}
COUNT = "SELECT COUNT(*) AS n FROM visits"
NUMBER = "a number such as 0.1, 1/3, 1e-6 or ln(3)"
DRAFT = "dither policy init"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("silly")
    pyarrow.parquet.write_table(pyarrow.table(ROWS), made / "visits.parquet")
    (made / "policy.toml").write_text(POLICY)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DITHER_HOME", str(made / "home"))
        dither.create_ledger(made / "policy.toml", write=True)
    (made / "words.toml").write_text("this is no TOML [")
    (made / "empty.toml").write_text("")
    (made / "list.toml").write_text("version = 1\ndomain = 3\n[tables.visits]\nsource = 'visits.parquet'\n")
    (made / "gone.toml").write_text(POLICY.replace("visits.parquet", "visit.parquet"))
    (made / "empty.csv").write_text("")
    (made / "notes.txt").write_text("hello")
    (made / "meta.yaml").write_bytes(b"\xff\xfe\x00")
    return made


@pytest.fixture(autouse=True)
def _inside(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("DITHER_HOME", str(folder / "home"))


def ask(*typed: str) -> list[str]:
    return ["quote", *typed]


TYPED: list[tuple[list[str], str]] = [
    # the price
    (ask(COUNT), "--epsilon 0.5, --rho 0.01, or --error n=20"),
    (ask(COUNT, "--epsilon", "0"), "a positive number such as 0.5"),
    (ask(COUNT, "--epsilon", "-1"), "a positive number such as 0.5"),
    (ask(COUNT, "--epsilon", "one"), NUMBER),
    (ask(COUNT, "--epsilon", "inf"), NUMBER),
    (ask(COUNT, "--epsilon", "nan"), NUMBER),
    (ask(COUNT, "--epsilon", ""), NUMBER),
    (ask(COUNT, "--epsilon", "0,5"), NUMBER),
    (ask(COUNT, "--epsilon", "1e999999999"), "What would work"),
    (ask(COUNT, "--epsilon", "9" * 2000), "What would work"),
    (ask(COUNT, "--epsilon", "1", "--rho", "1"), "--epsilon 0.5, --rho 0.01, or --error n=20"),
    (ask(COUNT, "--epsilon"), "requires an argument"),
    (ask(COUNT, "--epsilom", "1"), "--epsilon"),
    (ask(COUNT, "--error", "so small"), "--error n=20"),
    (ask(COUNT, "--error", "n=so small"), "--error n = 'so small' is refused: it does not read as a number"),
    (ask(COUNT, "--error", "20"), "--error n=20"),
    (ask(COUNT, "--error", "m=20"), "What would work: n"),
    (ask(COUNT, "--error", "n=-5"), "a positive number"),
    (ask(COUNT, "--epsilon", "1", "--confidence", "certain"), NUMBER),
    (ask(COUNT, "--epsilon", "1", "--confidence", "100%"), "strictly between 0 and 1. What would work: 0.95"),
    (ask(COUNT, "--epsilon", "1", "--size", "many"), "valid integer"),
    (ask(COUNT, "--epsilon", "1", "--size", "-3"), "--size = -3 is refused"),
    # the question
    (ask("how many patients are there?", "--epsilon", "1"), "one SELECT with an aggregate"),
    (ask("", "--epsilon", "1"), "one SELECT with an aggregate"),
    (ask(";", "--epsilon", "1"), "one SELECT with an aggregate"),
    (ask("visits", "--epsilon", "1"), "one SELECT with an aggregate"),
    (ask(f"{COUNT}; DROP TABLE visits", "--epsilon", "1"), "one SELECT, with no semicolon before its end"),
    (ask("SELECT SUM(Kosten (EUR)) FROM visits", "--epsilon", "1"), '"Kosten (EUR)" in double quotes'),
    (ask("SELECT SUM(Kosten EUR) FROM visits", "--epsilon", "1"), "names with spaces or signs in double quotes"),
    (ask("SELECT SUM('cost') FROM visits", "--epsilon", "1"), "a text cannot be added up"),
    (ask("SELECT COUNT(*) FROM visit", "--epsilon", "1"), "one of visits"),
    (ask("SELECT SUM(costs) FROM visits", "--epsilon", "1"), "did you mean cost?"),
    (ask("SELECT COUNT(* FROM visits", "--epsilon", "1"), "one SELECT in plain SQL"),
    (ask("SELECT", "--epsilon", "1"), "FROM with one of visits"),
    (ask("SELECT * FROM visits", "--epsilon", "1"), "What would work"),
    (ask("(" * 500, "--epsilon", "1"), "What would work"),
    # the policy
    (ask(COUNT, "--epsilon", "1", "--policy", "visits.parquet"), "perhaps the data itself. What would work: a file"),
    (ask(COUNT, "--epsilon", "1", "--policy", "polcy.toml"), DRAFT),
    (ask(COUNT, "--epsilon", "1", "--policy", "."), DRAFT),
    (ask(COUNT, "--epsilon", "1", "--policy", "words.toml"), DRAFT),
    (ask(COUNT, "--epsilon", "1", "--policy", "empty.toml"), "version = 1"),
    (ask(COUNT, "--epsilon", "1", "--policy", "list.toml"), "What would work"),
    (ask(COUNT, "--epsilon", "1", "--policy", "gone.toml"), "there is no such file"),
    (["policy", "wizard", "nothing.csv", "--out", "new.toml"], "a .parquet, .csv or .duckdb file"),
    (["policy", "wizard", "visits.parquet", "--out", "no/such/folder.toml"], "a file in a folder that you may write to"),
    (["policy", "wizard", "visits.parquet", "--out", "policy.toml"], "another name"),
    (["policy", "wizard", "visits.parquet", "--out", "new.toml", "--read-data"], "leaving it out"),
    (["policy", "wizard", "--out", "new.toml", "--resume"], "leaving it out, or the --out of that run"),
    (["policy", "init", "nothing.csv"], "a .parquet, .csv or .duckdb file"),
    (["policy", "init", "."], "a directory of .parquet files"),
    (["policy", "init", "notes.txt"], "a .parquet, .csv or .duckdb file"),
    (["policy", "init", "empty.csv"], "CSV with a header line"),
    (["policy", "init", "visits.parquet", "--out", "no/such/folder.toml"], "a file in a folder that exists"),
    (["policy", "init", "visits.parquet", "--out", "policy.toml"], "another name"),
    (["policy", "check", "visits.parquet"], DRAFT),
    (["policy", "check"], "dither policy check --help"),
    (["policy", "import", "nothing.yaml"], "a file such as PUMS.yaml"),
    # answers and ledgers
    (["query", COUNT, "--epsilon", "1", "--out", "no/such/a.csv"], "--out answer.csv"),
    (["query", COUNT, "--epsilon", "1", "--format", "excel"], "table, csv, json, html, parquet"),
    (["query", COUNT, "--epsilon", "1", "--key", ""], "--key = '' is refused"),
    (["ledger", "show", "nothing.ledger"], "dither ledger create"),
    (["ledger", "show", "policy.toml"], "a file that is a ledger, or a name that is free"),
    (["ledger", "show", "."], "clinic.ledger"),
    (["ledger", "create", "a.ledger", "--domain", "x"], "--epsilon 3 --delta 1e-6"),
    (["ledger", "create", "a.ledger", "--domain", "x", "--epsilon", "3", "--delta", "2"], "a probability below 1"),
    (["ledger", "create", "a.ledger", "--domain", "x", "--epsilon", "3", "--unit", "patient"], "'add/remove one person'"),
    (["ledger", "create", "a.ledger", "--domain", "", "--epsilon", "3"], "--domain = '' is refused"),
    (["ledger", "create", "no/such/a.ledger", "--domain", "x", "--epsilon", "3"], "in a folder that exists"),
    (["ledger", "create", "a.ledger", "--domain", "x", "--epsilon", "0"], "more than 0"),
    (["ledger", "verify", "nothing.ledger"], "dither ledger create"),
    (["ledger", "move", "nothing.ledger", "new.ledger"], "dither ledger create"),
    (["ledger", "shwo", "x"], "Did you mean 'show'?"),
    (["quot", COUNT], "Did you mean 'quote'?"),
    (["demo", "--save", "policy.toml"], "a name that is free"),
    (["demo", "--epsilon", "one"], NUMBER),
    (["local", "choose", "--count", "0", "--epsilon", "1", "--people", "10"], "What would work"),
    (["local", "estimate", "visits.parquet"], "What would work"),
]  # fmt: skip


@pytest.mark.parametrize(("typed", "words"), TYPED, ids=lambda each: " ".join(each)[:60] if isinstance(each, list) else "")
def test_what_is_typed_is_refused_with_what_would_work(typed, words, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["dither", *typed])
    monkeypatch.setenv("COLUMNS", "400")
    with pytest.raises(SystemExit) as stop:
        main()
    out, said = capsys.readouterr()
    assert stop.value.code == 2, out
    assert words in said.replace("│", "")
    assert "Traceback" not in said
    assert python_spelling(said.partition(" is refused: ")[2].partition("The whole question")[0]) is None


def protected(data: object = None, **facts: object) -> dither.Dataset:
    ledger = dither.Ledger.__new__(dither.Ledger)  # what is refused here is refused before a ledger is looked at
    return dither.protect(data, **{"name": "visits", "person": "patient_id", "ledger": ledger, **facts})


count = dither.Geometric(epsilon=1, sensitivity=1)
WRITTEN = {
    "Geometric(1)": (lambda: dither.Geometric(1), "Geometric(epsilon=1, sensitivity=1)"),
    "Gaussian(sensitivity=1)": (lambda: dither.Gaussian(sensitivity=1), "l2_sensitivity=1"),
    "Laplace(1, 1)": (lambda: dither.Laplace(1, 1), "Laplace(epsilon=1, sensitivity=1)"),
    "Laplace(eps=1)": (lambda: dither.Laplace(eps=1, sensitivity=1), "epsilon"),
    "a sensitivity of 0": (lambda: dither.Laplace(epsilon=1, sensitivity=-1), "What would work"),
    "epsilon=0": (lambda: dither.Geometric(epsilon=0, sensitivity=1), "a positive number such as '0.5'"),
    "epsilon=[]": (lambda: dither.Geometric(epsilon=[], sensitivity=1), "'0.1', '1/3', '1e-6', 'ln(3)'"),
    "approx(1)": (lambda: dither.approx(1), "approx(epsilon=1, delta='1e-6')"),
    "approx(1, 2)": (lambda: dither.approx(1, 2), "a small probability such as '1e-6'"),
    "approx in the wrong order": (lambda: dither.approx("1e-6", 3), "a small probability such as '1e-6'"),
    "pure()": (lambda: dither.pure(), "pure(epsilon='0.5')"),
    "pure('one')": (lambda: dither.pure("one"), "'1/3'"),
    "pure(nan)": (lambda: dither.pure(float("nan")), "it is not finite"),
    "pure(inf)": (lambda: dither.pure(float("inf")), "it is not finite"),
    "pure(-1)": (lambda: dither.pure(-1), "zero or a positive number"),
    "pure(True)": (lambda: dither.pure(True), "1 or 0, if that is what was meant"),
    "pure(10**10000)": (lambda: dither.pure(10**10000), "a number that people use"),
    "pure(1j)": (lambda: dither.pure(1j), "'1/3'"),
    "pure(NaN of Decimal)": (lambda: dither.pure(Decimal("NaN")), "it is not finite"),
    "pure(unit='patient')": (lambda: dither.pure(1, unit="patient"), "'add/remove one person'"),
    "pure(1) + 1": (lambda: dither.pure(1) + 1, "pure('0.5') + pure(1)"),
    "0.5 * pure(1)": (lambda: 0.5 * dither.pure(1), "2 * pure('0.5')"),
    "pure(1) * Fraction": (lambda: dither.pure(1) * Fraction(1, 2), "What would work"),
    "zcdp(1).epsilon()": (lambda: dither.zcdp(1).epsilon(), ".epsilon('1e-6')"),
    "compose(pure(1), pure(2))": (lambda: dither.compose(dither.pure(1), dither.pure(2)), "compose([pure(1), gdp(1)"),
    "compose([])": (lambda: dither.compose([]), "What would work"),
    "compose([1])": (lambda: dither.compose([1]), "pure(1)"),
    "Unit('person')": (lambda: dither.Unit("person"), "'add/remove one person'"),
    "release('a')": (lambda: count.release("a"), "int(value) if it is whole"),
    "release(None)": (lambda: count.release(None), "What would work"),
    "error(2)": (lambda: count.error(2), "0.95"),
    "error('95')": (lambda: count.error("95"), "0.95"),
    "open()": (lambda: dither.open(), "dither policy init"),
    "open('')": (lambda: dither.open(""), "dither policy init"),
    "open('nothing.toml')": (lambda: dither.open("nothing.toml"), "dither policy init"),
    "open('visits.parquet')": (lambda: dither.open("visits.parquet"), "dither policy init"),
    "open(3)": (lambda: dither.open(3), "'policy.toml'"),
    "open('.', 'r')": (lambda: dither.open(".", "r"), "open(path='.');"),
    "protect([..])": (lambda: dither.protect([1, 2]), "pyarrow.Table.from_pylist(data) of a list of dicts; or a .parquet"),
    "protect a list": (lambda: protected([{"a": 1}]), "pyarrow.Table.from_pylist(data)"),
    "protect a dict": (lambda: protected({"a": [1]}), "pyarrow.table(data)"),
    "protect None": (lambda: protected(None), "an Arrow table"),
    "protect a misspelt file": (lambda: protected("visit.parquet"), "a .parquet, .csv or .duckdb file"),
    "protect without a ledger": (lambda: dither.protect("visits.parquet", name="v", person="p", ledger=3), "Ledger.create("),
    "protect with max_row": (lambda: protected("visits.parquet", max_row=3), "did you mean max_rows?"),
    "Ledger()": (lambda: dither.Ledger(), "Ledger(location='clinic.ledger')"),
    "Ledger.create(budget=3)": (lambda: dither.Ledger.create("b.ledger", budget=3), "approx(3, '1e-6')"),
    "Ledger(buget=..)": (lambda: dither.Ledger("b.ledger", buget=dither.pure(1)), "did you mean budget?"),
    "Ledger of a folder": (lambda: dither.Ledger.create(".", budget=dither.pure(1)), "clinic.ledger"),
    "Ledger that is not there": (lambda: dither.Ledger("b.ledger"), "budget="),
    "ln(0)": (lambda: dither.ln(0), "a positive number"),
    "Bins(10)": (lambda: dither.density.Bins(10), "What would work"),
    "uniform(0)": (lambda: dither.noise.uniform(0), "What would work"),
    "Exponential of no candidates": (lambda: dither.Exponential(epsilon=1, sensitivity=1, candidates=[]), "What would work"),
}  # fmt: skip


@pytest.mark.parametrize("written", WRITTEN)
def test_what_is_written_is_refused_with_what_would_work(written):
    call, words = WRITTEN[written]
    with pytest.raises(DitherError) as told:
        call()
    assert words in str(told.value)
    assert "What would work: " in str(told.value)
    assert told.value.instead.strip(" .")


def test_questions_in_python():
    clinic = dither.open("policy.toml")
    silly = {
        "epsilon": [(COUNT, 0.5), {}, "quote(sql="],
        "epsilom": [(COUNT,), {"epsilom": 1}, "did you mean epsilon?"],
        "error": [(COUNT,), {"error": "so small"}, "{'n': 20}"],
        "error of a list": [(COUNT,), {"error": [20]}, "What would work"],
        "a number": [(3,), {"epsilon": 1}, "one SELECT with an aggregate"],
        "nothing": [(None,), {"epsilon": 1}, "one SELECT with an aggregate"],
        "an empty list": [([],), {"epsilon": 1}, "What would work"],
        "no question": [(), {"epsilon": 1}, "sql"],
    }
    for given, named, words in silly.values():
        with pytest.raises(DitherError) as told:
            clinic.quote(*given, **named)
        assert words in str(told.value), str(told.value)
    clinic.ledger.close()


def answer() -> dither.Answer:
    clinic = dither.open("policy.toml")
    clinic.ledger.close()
    return clinic.quote("SELECT COUNT(*) AS n FROM visits LIMIT 0").release()


@pytest.mark.parametrize(
    ("library", "call"),
    [
        ("altair", lambda: dither.plot.density(dither.noise.DiscreteLaplace(3))),
        (
            "pandas",
            lambda: answer().to_pandas(),
        ),
        (
            "polars",
            lambda: answer().to_polars(),
        ),
        ("psycopg", lambda: dither.Ledger("postgresql://nowhere.invalid/x")),
    ],
)
def test_a_library_that_is_missing_is_named_with_the_command_that_installs_it(library, call, monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == library]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(dither.errors.MissingExtraError, match=r"What would work: pip install '"):
        call()


@pytest.mark.skipif(sys.platform == "win32", reason="rights are others there")
def test_a_folder_without_rights(folder, monkeypatch, capsys):
    denied = PermissionError(13, "Permission denied", "policy.toml")
    monkeypatch.setattr(Path, "read_bytes", lambda *_, **__: (_ for _ in ()).throw(denied))
    with pytest.raises(dither.errors.PolicyError, match="Permission denied"):
        dither.open("policy.toml")
    monkeypatch.setattr(sys, "argv", ["dither", "policy", "init", "visits.parquet", "--out", "new.toml"])
    monkeypatch.setattr(Path, "write_text", lambda *_, **__: (_ for _ in ()).throw(denied))
    with pytest.raises(SystemExit):
        main()
    assert "a place that this user may read and write" in capsys.readouterr().err
