"""`dither quote`, `dither query`, `dither policy` and `dither demo`, as they are typed."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import subprocess
import sys
from pathlib import Path

import duckdb
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

from dither import demo
from dither.cli.main import app
from dither.errors import BudgetError, ConflictError, DataError, DitherError, NumberError, PolicyError, QuestionError
from dither.testing import seeded
from tests.policies import opened
from tests.query.test_attacks import ESCAPES, UNSAFE

COUNT = "SELECT ward, COUNT(*) AS n, AVG(cost) AS cost FROM visits GROUP BY ward"


def dither(*arguments: object) -> str:
    """What a command prints; its errors are raised."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture
def clinic(tmp_path, monkeypatch) -> Path:
    demo.save(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_needs_no_row_is_free(clinic):
    assert "free: nothing private is read" in dither("quote", "SELECT * FROM visits LIMIT 0")
    for form in ("table", "csv", "html", "json"):
        told = dither("query", "SELECT DISTINCT ward FROM visits", "--format", form, "--explain")
        assert "surgery" in told
    result = CliRunner().invoke(app, ["query", "SELECT DISTINCT ward FROM visits", "--format", "json"])
    assert json.loads(result.stdout)["price"] == "free: nothing private is read"
    assert " 0.0 % used" in dither("ledger", "show", "clinic.ledger")


def test_a_quote_costs_nothing(clinic):
    words = dither("quote", COUNT, "--epsilon", "0.5", "--size", 5000)
    for part in ("Price", "Error", "Clamped", "more questions like this one", "hold the truth"):
        assert part in words
    wished = dither("quote", "SELECT COUNT(*) AS n FROM visits", "--error", "n=100")
    assert 99 < float(wished.split("             n: ")[1].split()[0]) <= 100
    assert " 0.0 % used" in dither("ledger", "show", "clinic.ledger")


def test_guesses_of_a_group_have_flags(clinic):
    asked = ["quote", "SELECT STDDEV(cost) AS s, CORR(cost, age) AS r FROM visits", "--epsilon", "1"]
    assert "(say --size and --spread for a figure)" in " ".join(dither(*asked).split())
    guessed = " ".join(dither(*asked, "--size", 10**6, "--spread", "cost=300", "--spread", "age=20.5").split())
    assert "1,000,000 values with standard deviations 20.5 (age) and 300 (cost)" in guessed


def test_a_value_that_is_no_declared_key_is_named(clinic):
    slip = "SELECT COUNT(*) AS n FROM visits WHERE ward = 'Surgery'"
    for questions in ([slip], [slip, "SELECT COUNT(*) AS n FROM visits"]):
        asked = CliRunner().invoke(app, ["query", *questions, "--epsilon", "0.1"])
        assert "'Surgery' is not among the declared keys of ward" in " ".join(asked.stderr.split())
        assert "Did you mean 'surgery'?" in " ".join(asked.stderr.split())
        assert "Surgery' is not" not in asked.stdout
    right = CliRunner().invoke(app, ["query", slip.replace("Surgery", "surgery"), "--epsilon", "0.1"])
    assert "note:" not in right.stderr


def test_formats(clinic):
    shown = dither("query", COUNT, "--epsilon", "0.5")
    assert "cardiology" in shown
    rows = list(csv.DictReader(io.StringIO(dither("query", COUNT, "--epsilon", "0.5", "--format", "csv").split("left:")[0])))
    dither("query", COUNT, "--epsilon", "0.5", "--format", "json", "--out", "a.json")
    facts = json.loads(Path("a.json").read_text())
    assert facts["statements"] == {"n": "truth", "cost": "truth"}
    dither("query", COUNT, "--epsilon", "0.5", "--format", "parquet", "--out", "a.parquet")
    table = pyarrow.parquet.read_table("a.parquet")
    assert b"truth" in table.schema.metadata[b"dither.statements"]
    assert [row["ward"] for row in rows] == table["ward"].to_pylist() == [row["ward"] for row in facts["rows"]]
    assert [int(row["n"]) for row in rows] == table["n"].to_pylist()  # one answer, paid once
    assert " 4.4 % used" in dither("ledger", "show", "clinic.ledger")
    assert "charged" in dither("query", COUNT, "--rho", "0.01", "--explain")


@pytest.mark.filterwarnings("ignore::dither.errors.NotPrivateWarning")
def test_csv_and_json_say_which_numbers_are_missing_and_which_groups_are_open(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("age,cost\n" + "7,20\n" * 900 + "9,20\n")
    columns = 'columns = { age = { type = "integer", bounds = [7, 9] }, cost = { type = "integer", bounds = [0, 90] } }'
    ledger = 'ledger = { location = "a.ledger", budget = { epsilon = 9 } }'
    table = f'[tables.people]\nsource = "people.csv"\nperson = "each row"\n{columns}\n'
    Path("policy.toml").write_text(f'version = 1\ndomain = "people"\n{ledger}\n{table}')
    dither("ledger", "create", "--policy", "policy.toml", "--write")

    def asked(form, sql="SELECT age, AVG(cost) AS a FROM people GROUP BY age"):
        with seeded(1):
            return dither("query", sql, "--epsilon", "0.5", "--format", form).split("left:")

    facts = json.loads(asked("json")[0])
    missing = [place for place, row in enumerate(facts["rows"]) if row["a"] is None]
    assert missing == [1, 2]
    assert facts["uninformative"] == {"a": missing}
    assert facts["open_keys"] == {"age": {"below": [0], "above": [2]}}
    lines = ["a is missing (–)", "open groups of age: 7 or less, 9 or more"]
    told = " ".join(asked("csv")[1].split())
    assert all(line in facts["note"] for line in lines)
    assert all(line in told for line in lines)
    plain = json.loads(asked("json", "SELECT COUNT(*) AS n FROM people")[0])
    assert not {"note", "uninformative", "open_keys"} & plain.keys()


def test_a_question_is_explained_without_a_price_or_a_ledger(clinic):
    words = dither("explain", COUNT)
    assert "By         ward" in words
    assert "the average of cost" in words
    (clinic / "clinic.ledger").unlink()
    assert dither("explain", COUNT) == words
    assert not (clinic / "clinic.ledger").exists()
    with pytest.raises(QuestionError, match="single rows"):
        dither("explain", "SELECT * FROM visits")


def test_several_questions_are_one_batch(clinic):
    asked = ["SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", "SELECT COUNT(*) AS n FROM visits WHERE age < 30"]
    assert "2 questions, charged and released as one" in dither("quote", *asked, "--epsilon", "0.5")
    shown = dither("query", *asked, "--epsilon", "0.5")
    assert "cardiology" in shown
    assert "age < 30" in shown
    facts = json.loads(dither("query", *asked, "--epsilon", "0.5", "--format", "json").split("left:")[0])
    assert len(facts) == 2
    assert dither("query", *asked, "--epsilon", "0.5", "--format", "html").count("<table>") == 2
    assert "<table>" in dither("query", COUNT, "--epsilon", "0.5", "--format", "html")
    with pytest.raises(DataError, match="one table"):
        dither("query", *asked, "--epsilon", "0.5", "--format", "csv")


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (["SELECT * FROM visits", "--epsilon", "1"], QuestionError, "single rows are never shown"),
        (["SELECT COUNT(*) FROM visits; DROP TABLE visits", "--epsilon", "1"], QuestionError, "one statement"),
        (["SELECT SUM(patient_id) FROM visits", "--epsilon", "1"], QuestionError, "no bounds"),
        (["SELECT SUM(wage) FROM visits", "--epsilon", "1"], QuestionError, "no such column"),
        (["SELECT ward FROM visits", "--epsilon", "1"], QuestionError, "neither an aggregate nor in GROUP BY|at least one"),
        (["SELECT SUM(chr(cost)) FROM visits", "--epsilon", "1"], QuestionError, "not on the list"),
        (["SELECT SUM(ward) FROM visits", "--epsilon", "1"], QuestionError, "cannot be added up"),
        (["SELECT COUNT(*) FROM patients", "--epsilon", "1"], QuestionError, "no table of that name"),
        (["SELECT COUNT(*) FROM visits WHERE age > 'x'", "--epsilon", "1"], QuestionError, "is compared with"),
        (["SELECT " + "(" * 500 + "1" + ")" * 500 + " FROM visits", "--epsilon", "1"], QuestionError, "nested"),
        (["SELECT COUNT(*) FROM visits WHERE " + "age > 1 OR " * 5000 + "age > 2", "--rho", "1"], QuestionError, "longer"),
        (["SELECT COUNT(*) FROM visits", "--epsilon", "nan"], NumberError, "epsilon"),
        (["SELECT COUNT(*) FROM visits", "--epsilon", "-1"], NumberError, "epsilon"),
        (["SELECT COUNT(*) FROM visits"], NumberError, "exactly one way"),
        (["SELECT COUNT(*) FROM visits", "--epsilon", "2"], BudgetError, "the policy allows"),
        (["SELECT COUNT(*) FROM visits", "--epsilon", "1", "--format", "xml"], DataError, "names no format"),
        (["SELECT COUNT(*) FROM visits", "--epsilon", "1", "--format", "parquet"], DataError, "not for the screen"),
        (["SELECT COUNT(*) FROM visits", "--error", "n"], DataError, "names no column"),
        (["SELECT COUNT(*) FROM visits", "--epsilon", "1", "--policy", "none.toml"], PolicyError, "cannot be read"),
    ],
)  # fmt: skip
def test_bad_input_is_a_lesson_and_costs_nothing(clinic, arguments, error, words):
    with pytest.raises(error, match=words):
        dither("query", *arguments)
    if (clinic / "clinic.ledger").exists():
        assert " 0.0 % used" in dither("ledger", "show", "clinic.ledger")


def test_attacks_on_the_command_line(clinic):
    """A6, A7, A18, A20 and A21 as somebody would type them: refused, nothing charged, no file changed."""
    dither("quote", COUNT, "--epsilon", "0.5")  # makes the ledger
    before = {
        file.name: file.read_bytes() for file in clinic.iterdir() if file.suffix != ".ledger" and "ledger-" not in file.name
    }
    tries = [[escape.format(folder=clinic), "--epsilon", "0.1"] for escape in ESCAPES]
    tries += [[f"SELECT COUNT(*) FROM visits WHERE {guard}", "--epsilon", "0.1"] for guard in UNSAFE]
    tries += [
        ["SELECT COUNT(*) FROM visits", "--epsilon", bad] for bad in ("nan", "-1", "0", "inf", "1e-320", "1e999", "True")
    ]
    for arguments in tries:
        with pytest.raises(DitherError):
            dither("query", *arguments)
    assert {name: (clinic / name).read_bytes() for name in before} == before
    assert not {file.name for file in clinic.iterdir() if "ledger" not in file.name} - set(before)
    assert " 0.0 % used" in dither("ledger", "show", "clinic.ledger")


def test_an_exhausted_budget(clinic):
    text = (clinic / "policy.toml").read_text().replace('budget = { epsilon = "3"', 'budget = { epsilon = "0.01"')
    (clinic / "policy.toml").write_text(text.replace("clinic.ledger", "small.ledger"))
    opened(clinic / "policy.toml").ledger.close()
    before = hashlib.sha256((clinic / "visits.parquet").read_bytes()).hexdigest()
    with pytest.raises(BudgetError):
        dither("query", "SELECT COUNT(*) FROM visits", "--epsilon", "0.5")
    assert hashlib.sha256((clinic / "visits.parquet").read_bytes()).hexdigest() == before


def test_missing_and_broken_files(clinic):
    whole = (clinic / "visits.parquet").read_bytes()
    (clinic / "visits.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match="does not end as a Parquet file does"):
        dither("query", "SELECT COUNT(*) FROM visits", "--epsilon", "0.5")
    (clinic / "visits.parquet").unlink()
    with pytest.raises(DataError, match="no such file"):
        dither("query", "SELECT COUNT(*) FROM visits", "--epsilon", "0.5")


def test_a_refusal_on_the_command_line_is_one_sentence(clinic):
    command = [sys.executable, "-m", "dither", "query", "SELECT * FROM visits", "--epsilon", "1"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert result.returncode == 2
    assert result.stderr.startswith("dither: ")
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


# -- policies -----------------------------------------------------------------------------------------------------------


def test_a_draft_must_be_decided(clinic):
    draft = dither("policy", "init", "visits.parquet")
    assert draft.count("FILL IN") >= 6
    dither("policy", "init", "visits.parquet", "--out", "mine.toml")
    with pytest.raises(ConflictError, match="a file already"):
        dither("policy", "init", "visits.parquet", "--out", "mine.toml")
    decisions = [
        ('"FILL IN: one name for all tables that share a person, such as clinic"', '"clinic"'),
        ('"FILL IN: such as 3"', '"3"'),
        ('"FILL IN: such as 1"', '"1"'),
        ('"FILL IN: the column that says whose a row is, or: each row"', '"patient_id"'),
        ('"FILL IN: how many rows of one person count in an answer, such as 10"', "10"),
    ]
    text = Path("mine.toml").read_text()
    for before, after in decisions:
        assert before in text
        assert CliRunner().invoke(app, ["policy", "check", "mine.toml"]).exit_code == 1
        text = text.replace(before, after)
        Path("mine.toml").write_text(text)
    assert "fits" in dither("policy", "check", "mine.toml")


def test_a_draft_of_csv_says_no_types(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text("id,cost\n1,2\n")
    assert dither("policy", "init", "rows.csv").count("FILL IN: one of integer") == 2


def test_a_check_reads_rows_only_when_it_is_asked(clinic, monkeypatch):
    (clinic / "clinic.ledger").unlink()
    words = dither("policy", "check", "policy.toml", "--read-data")
    assert "NOT PRIVATE" in words
    assert "30,000 rows" in words
    monkeypatch.setattr("dither.query.engines.duckdb.run.Opened.read", lambda *_, **__: pytest.fail("rows were read"))
    words = dither("policy", "check", "policy.toml")
    assert "NOT PRIVATE" not in words
    assert "policy hash" in words
    assert not (clinic / "clinic.ledger").exists()


def test_what_a_check_counts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text(f"id,cost,ward\n1,5,A\n1,700,A\n,x,B\n2,,\nz,1e999,A\n3,{'0' * 2001},{'A' * 2001}\n")
    Path("policy.toml").write_text(
        """version = 1
domain = "d"
[ledger]
location = "x.ledger"
budget = { epsilon = 1 }
[tables.rows]
source = "rows.csv"
person = "id"
max_groups = 1
max_rows_per_group = 1
[tables.rows.columns]
id = { type = "integer" }
cost = { type = "float", bounds = [0, 100] }
ward = { type = "text", keys = ["A"] }
"""
    )
    lines = dither("policy", "check", "policy.toml", "--read-data").splitlines()
    assert "6 rows, 2 without a person, 3 people" in lines
    assert "  without GROUP BY: 1 rows of 1 people are beyond the limits (1 rows)" in lines
    assert "  GROUP BY ward: 1 rows of 1 people are beyond the limits (1 rows)" in lines
    cells = {line.split("│")[1].strip(): [cell.strip() for cell in line.split("│")[2:-1]] for line in lines if "│" in line}
    assert cells == {"id": ["1", "1", "0", "0", "0"], "cost": ["1", "1", "2", "0", "1"], "ward": ["1", "0", "0", "2", "1"]}


@pytest.mark.parametrize(
    ("hard", "kind", "words"),
    [
        ('["max_rows"]', "integer", "the data violates max_rows, on which answers rely"),
        ('["bounds.cost"]', "integer", "the data violates bounds.cost, on which answers rely"),
        ("[]", "date", "rows.cost: most cells are no date"),
    ],
)
def test_a_check_fails_where_the_data_contradicts_the_policy(tmp_path, monkeypatch, hard, kind, words):
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text("id,cost\n1,5\n1,700\n2,3\n")
    bounds = "" if kind == "date" else ", bounds = [0, 100]"
    Path("policy.toml").write_text(
        f"""version = 1
domain = "d"
[ledger]
location = "x.ledger"
budget = {{ epsilon = 1 }}
[tables.rows]
source = "rows.csv"
person = "id"
max_rows = 1
hard = {hard}
[tables.rows.columns]
id = {{ type = "integer" }}
cost = {{ type = "{kind}"{bounds} }}
"""
    )
    result = CliRunner().invoke(app, ["policy", "check", "policy.toml", "--read-data"])
    assert result.exit_code == 1
    assert words in result.output
    assert CliRunner().invoke(app, ["policy", "check", "policy.toml"]).exit_code == 0  # rows were not asked for


def test_a_check_finds_keys_and_rows_that_the_policy_says_are_not_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text("id,ward\n1,A\n2,B\n3,\n")
    Path("wards.csv").write_text("ward,site,floor\nA,x,1\nA,y,1\n,x,2\n,x,2\n")
    policy = """version = 1
domain = "d"
[tables.rows]
source = "rows.csv"
person = "id"
max_rows = 1
hard = ["keys.ward"]
[tables.rows.columns]
id = { type = "integer" }
ward = { type = "text", keys = ["A", "B"] }
[tables.wards]
source = "wards.csv"
public = true
unique = ["ward", "site"]
[tables.wards.columns]
ward = { type = "text" }
site = { type = "text" }
"""
    for old, new, told in (
        ("", "", []),
        ('["A", "B"]', '["A"]', ["rows: the data violates keys.ward, on which answers rely"]),
        ('["ward", "site"]', '["ward"]', ["wards: the data violates unique, on which answers rely"]),
    ):
        Path("policy.toml").write_text(policy.replace(old, new))
        found = CliRunner().invoke(app, ["policy", "check", "policy.toml", "--read-data"])
        assert found.exit_code == len(told)
        assert [line for line in found.output.splitlines() if "violates" in line] == told


def test_what_is_broken_is_told_to_the_owner(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    policy = """version = 1
domain = "d"
[ledger]
location = "x.ledger"
budget = { epsilon = 1 }
[tables."[/x]"]
source = "rows.csv"
person = "each row"
[tables."[/x]".columns]
id = { type = "integer" }
"""
    Path("policy.toml").write_text(policy)
    for broken, words in (("id,x\n1,2\n3\n", "read to its end"), ('id,x\n1,"2\n3,4\n', "quote in line 2")):
        Path("rows.csv").write_text(broken)
        assert "fits" in dither("policy", "check", "policy.toml")
        with pytest.raises(DataError, match=words):
            dither("policy", "check", "policy.toml", "--read-data")


def test_a_draft_names_its_file_from_where_it_lies(clinic):
    (clinic / "sub").mkdir()
    dither("policy", "init", "visits.parquet", "--out", "sub/mine.toml")
    assert 'source = "../visits.parquet"' in Path("sub/mine.toml").read_text()


def test_a_draft_of_a_duckdb_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with duckdb.connect("x.duckdb") as engine:
        engine.execute("CREATE TABLE visits (id BIGINT, tags VARCHAR[])")
    assert '[tables."visits".columns]' in dither("policy", "init", "x.duckdb")
    assert "lists, structures" in dither("policy", "init", "x.duckdb")
    with duckdb.connect("x.duckdb") as engine:
        engine.execute("CREATE TABLE other (id BIGINT)")
    with pytest.raises(DataError, match="--table, one of: other, visits"):
        dither("policy", "init", "x.duckdb")
    assert '[tables."other".columns]' in dither("policy", "init", "x.duckdb", "--table", "other")


def test_a_policy_that_changed_after_something_was_spent(clinic):
    dither("quote", COUNT, "--epsilon", "0.5")
    text = (clinic / "policy.toml").read_text()
    (clinic / "policy.toml").write_text(text.replace("max_rows = 6", "max_rows = 7"))
    dither("query", COUNT, "--epsilon", "0.5")  # nothing was spent yet: a correction
    (clinic / "policy.toml").write_text(text.replace("max_rows = 6", "max_rows = 8"))
    with pytest.raises(ConflictError, match="dither ledger amend"):
        dither("query", COUNT, "--epsilon", "0.5")
    dither("ledger", "amend", "clinic.ledger", "--policy", "policy.toml", "--note", "five wards")
    dither("query", COUNT, "--epsilon", "0.5")


def test_where_to_write_is_looked_at_before_anything_is_paid(clinic):
    dither("quote", COUNT, "--epsilon", "0.5")
    for place in ("nowhere/a.csv", "."):
        with pytest.raises(DataError, match="no file can be written there"):
            dither("query", COUNT, "--epsilon", "0.5", "--format", "csv", "--out", place)
    with pytest.raises(DataError, match="stated twice"):
        dither("quote", COUNT, "--error", "n=1", "--error", "n=2")
    assert " 0.0 % used" in dither("ledger", "show", "clinic.ledger")


def test_keys_that_nobody_declared(clinic):
    by_day = "SELECT day, COUNT(*) AS n FROM visits GROUP BY day"
    told = dither("quote", by_day, "--epsilon", "0.5", "--delta", "1e-8")
    assert "δ = 1e-08" in told
    assert "fewer than 2 people hold is never shown" in told
    answer = json.loads(dither("query", by_day, "--epsilon", 1, "--other", "rest", "--format", "json").split("left:")[0])
    assert answer["rows"][-1]["day"] is None
    with pytest.raises(NumberError, match="all keys of this question are declared"):
        dither("quote", COUNT, "--epsilon", "0.5", "--delta", "1e-8")


def test_explain_refuses_options_that_contradict_the_policy(clinic):
    for option in ("privacy_unit_column = age", "max_groups_contributed = 77"):
        with pytest.raises(QuestionError, match="policy"):
            dither("explain", f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS({option}) COUNT(*) AS n FROM visits")


def test_no_traceback_for_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("x")
    command = [sys.executable, "-m", "dither", "demo", "--save", str(tmp_path / "file" / "x")]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stderr.count("\n")) == (2, 1)


# -- the demonstration --------------------------------------------------------------------------------------------------


def test_demo(tmp_path):
    shown = dither("demo", "--save", tmp_path / "clinic", "--epsilon", "0.4")
    for part in ("cardiology", "before paying", "budget", "What to try next", "█", "●"):
        assert part in shown
    visits = pyarrow.parquet.read_table(tmp_path / "clinic" / "visits.parquet")
    assert f"{len(visits):,} visits of {len(set(visits['patient_id'].to_pylist())):,} patients" in shown
    assert {file.name for file in (tmp_path / "clinic").iterdir()} >= {
        "visits.parquet",
        "policy.toml",
        "ask.py",
        "answer.svg",
    }
    for bad in ("nan", "-1", "0", "1e999999999", ""):
        with pytest.raises(DitherError):
            dither("demo", "--epsilon", bad)


def test_the_demonstration_writes_over_nothing(tmp_path):
    (tmp_path / "policy.toml").write_text("mine")
    with pytest.raises(ConflictError, match="another file of that name"):
        dither("demo", "--save", tmp_path)
    assert (tmp_path / "policy.toml").read_text() == "mine"


def test_ask_runs_as_it_is_saved(clinic):
    result = subprocess.run([sys.executable, "ask.py"], capture_output=True, text=True, timeout=60, cwd=clinic)
    assert result.returncode == 0, result.stderr
    assert "Price" in result.stdout
    assert "cardiology" in result.stdout


def test_a_demo_that_was_saved_is_kept_and_it_says_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = dither("demo", "--save", "made")
    assert "is kept" not in first
    policy, rows = (
        (tmp_path / "made/policy.toml").read_text(encoding="utf-8"),
        (tmp_path / "made/visits.parquet").read_bytes(),
    )
    dither("query", "SELECT COUNT(*) AS n FROM visits", "--epsilon", "0.5", "--policy", "made/policy.toml")
    again = " ".join(dither("demo", "--save", "made").split())
    assert again.startswith("made has a clinic already, which is kept: visits.parquet, policy.toml, ask.py, and the ledger")
    assert (tmp_path / "made/policy.toml").read_text(encoding="utf-8") == policy
    assert (tmp_path / "made/visits.parquet").read_bytes() == rows
    assert " 4.4 % used" in dither("ledger", "show", "made/clinic.ledger")
    assert "(asked of a copy: the ledger in made was not charged)" in again


def test_a_demo_overwrites_no_data_of_somebody_else(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "visits.parquet").write_bytes(b"mine")
    with pytest.raises(ConflictError, match="there is another file of that name"):
        dither("demo", "--save", ".")
    assert (tmp_path / "visits.parquet").read_bytes() == b"mine"
    assert [one.name for one in tmp_path.iterdir()] == ["visits.parquet"]


def test_a_demo_whose_ledger_is_missing_or_that_is_no_text_is_not_kept(tmp_path):
    demo.save(tmp_path / "made")
    (tmp_path / "made" / "clinic.ledger").unlink()
    with pytest.raises(ConflictError, match="nobody knows what was spent"):
        demo.save(tmp_path / "made")
    (tmp_path / "bytes").mkdir()
    (tmp_path / "bytes" / "ask.py").write_bytes(b"\xff\xfe")
    with pytest.raises(ConflictError, match="another file of that name"):
        demo.save(tmp_path / "bytes")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "clinic.ledger").write_bytes(b"somebody's")
    with pytest.raises(ConflictError, match="another file of that name"):
        demo.save(tmp_path / "other")
    assert [path.name for path in (tmp_path / "other").iterdir()] == ["clinic.ledger"]
