"""`dither policy` on CSV files as they are: what is recognised, what is open, what does not look right."""

from __future__ import annotations

import random
import re
from pathlib import Path

import duckdb
import pytest
from typer.testing import CliRunner

from dither.cli.main import app
from dither.errors import ConflictError, DataError
from dither.query.owner.open_lines import open_lines, seen_lines

HEADER = "Patient-Nr;Name;Station;Aufnahme;Kosten (EUR);Privat;Bemerkung"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: object) -> tuple[int, str]:
    """Exit code and output; refusals are raised."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.output


def hospital(rows: int = 300) -> str:
    rng, lines = random.Random(7), [HEADER]
    for _ in range(rows):
        person, cents = rng.randrange(90), rng.randrange(200, 400_000)
        euros = f"{cents // 100:,}".replace(",", ".") + f",{cents % 100:02}"
        cells = [
            f"{person}",
            f"Müller {person}",
            rng.choice(["Süd", "Nord"]),
            f"{rng.randrange(1, 29):02}.{rng.randrange(1, 13):02}.2025",
        ]
        lines.append(";".join([*cells, rng.choice([euros] * 30 + ["k.A."]), rng.choice(["ja", "nein"]), '"isst; schläft"']))
    return "\r\n".join(lines) + "\r\n"


def write_hospital() -> None:
    Path("visits.csv").write_bytes(hospital().encode("latin-1"))


DECISIONS = {
    "FILL IN: one name for all tables that share a person, such as clinic": "clinic",
    "FILL IN: such as 3": "3",
    "FILL IN: such as 1": "1",
}


def decided(text: str) -> str:
    """The draft, decided; bounds and keys as they are known."""
    for mark, decision in DECISIONS.items():
        text = text.replace(mark, decision)
    text = re.sub(r'max_rows = "FILL IN.*"', "max_rows = 10", text)
    text = text.replace('"Station" = { type = "text" }', '"Station" = { type = "text", keys = ["Süd", "Nord"] }')
    return text.replace('{ type = "decimal", null', '{ type = "decimal", bounds = [0, 4000], step = "0.01", null')


def test_from_a_hospital_file_to_a_policy_that_fits():
    write_hospital()
    code, draft = run("policy", "init", "visits.csv", "--read-data")
    assert code == 0
    for line in (
        'separator = ";"',
        'encoding = "windows-1252"',
        'decimal = ","',
        'thousands = "."',
        'person = "Patient-Nr"  # by its name: make sure that it says whose a row is',
        '"Patient-Nr" = { type = "integer" }',
        '# "Name": left out, since it looks like names or addresses',
        '"Aufnahme" = { type = "date", format = "DD.MM.YYYY" }'
        '  # to group by its months, say: bounds = [2025-01-01, 2025-12-31], known_from = "..."',
        '"Privat" = { type = "boolean", true = ["ja"], false = ["nein"] }',
        '# "Bemerkung": left out, since it looks like free text',
    ):
        assert line in draft.splitlines(), line
    assert (
        '"Kosten (EUR)" = { type = "decimal", null = ["k.A."] }  # to add it up: bounds = [LOW, HIGH], known_from = "..."; '
        in draft
    )
    assert "Müller" not in draft
    assert run("policy", "init", "visits.csv", "--read-data", "--out", "policy.toml")[0] == 0
    assert Path("policy.toml").stat().st_mode & 0o077 == 0  # it says what was seen in the data
    code, told = run("policy", "check", "policy.toml")
    assert code == 1
    lines = Path("policy.toml").read_text(encoding="utf-8").splitlines()
    found = {int(number): place for number, place in re.findall(r"line (\d+): ([\w.]+):", told)}
    assert list(found.values()) == ["domain", "ledger.budget", "limits.per_question", "tables.visits.max_rows"]
    assert all("FILL IN" in lines[number - 1] for number in found)
    Path("policy.toml").write_text(decided("\n".join(lines)), encoding="utf-8")
    code, told = run("policy", "check", "policy.toml", "--read-data")
    assert code == 0, told
    assert "caution: lines" in told
    assert "tell what was seen in the data" in told
    cells = {
        line.split("│")[1].strip(): [cell.strip() for cell in line.split("│")[2:4]]
        for line in told.splitlines()
        if "│" in line
    }
    missing = hospital().count("k.A.")
    assert cells["Kosten (EUR)"] == [str(missing), "0"]
    assert cells["Aufnahme"] == ["0", "0"]
    assert cells["Privat"] == ["0", "0"]


def test_without_consent_only_the_first_line_is_read():
    write_hospital()
    code, draft = run("policy", "init", "visits.csv")
    assert code == 0
    assert 'separator = ";"' in draft.splitlines()
    assert "--read-data" in draft
    assert "not public" not in draft
    for word in ("Süd", "windows-1252", "decimal =", "format ="):
        assert word not in draft
    first = Path("visits.csv").read_bytes().split(b"\r\n")[0]
    Path("visits.csv").write_bytes(first + b'\r\n\xff\x00;;"x\r\n')
    assert run("policy", "init", "visits.csv") == (code, draft)


POLICY = """version = 1
domain = "d"
[ledger]
location = "x.ledger"
budget = { epsilon = 1 }
[tables.visits]
source = "visits.csv"
person = "id"
max_rows = 1
DIALECT
[tables.visits.columns]
id = { type = "integer" }
cost = { type = "decimal", bounds = [0, 100] }
day = { type = "date" }
private = { type = "boolean" }
"""


def check(data: bytes, dialect: str = "", *flags: str) -> tuple[int, str]:
    Path("visits.csv").write_bytes(data)
    Path("policy.toml").write_text(POLICY.replace("DIALECT", dialect), encoding="utf-8")
    return run("policy", "check", "policy.toml", *flags)


def test_columns_that_cannot_be_read_are_told_with_what_would_mend_them():
    rows = 'id,cost,day,private\n1,"858,68",22.07.2025,ja\n2,"1.234,50",01.02.2025,nein\n'
    assert check(rows.encode())[0] == 0
    code, told = check(rows.encode(), "", "--read-data")
    assert code == 1
    assert (
        'visits.cost: most cells are no decimal; as they look: "cost" = { type = "decimal", decimal = ",", thousands = "." }'
        in told
    )
    assert 'visits.day: most cells are no date; as they look: "day" = { type = "date", format = "DD.MM.YYYY" }' in told
    code, told = check(
        rows.replace("22.07.", "31.01.").replace("ja", "WAHR").replace("nein", "falsch").encode(), "", "--read-data"
    )
    assert code == 1
    assert '"private" = { type = "boolean", true = ["WAHR", "wahr"], false = ["falsch"] }' in told


def test_semicolons_are_told_before_any_row_is_read():
    with pytest.raises(DataError, match='separator = ";" beside the source'):
        check(b"id;cost;day;private\n1;2;3;4\n")
    Path("visits.csv").write_bytes(b"id;cost\n1;2\n")
    lines = [
        line
        for line in POLICY.replace("DIALECT", "").splitlines()
        if not line.startswith(("id =", "cost", "day", "private"))
    ]
    text = "\n".join([*lines, '"id;cost" = { type = "text" }']).replace('person = "id"', 'person = "id;cost"')
    Path("policy.toml").write_text(text, encoding="utf-8")
    code, told = run("policy", "check", "policy.toml")
    assert code == 1
    assert 'visits: say separator = ";" beside the source' in told
    assert "fits" not in told


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("id,cost,day,private\n1,2,,\n2,3,,jä\n".encode("latin-1"), r'line 3 of .* is not UTF-8: encoding = "windows-1252"'),
        (b"id,cost,day,private\n1,2,,\n2,3\n", r"row 3 of .* has 2 cells, and there are 4 columns\)"),
        (b"id,cost,day,private\n" + b"1,2,,\n2,3\n" * 2, "row 3 of .* has 2 cells.*; other rows that do not fit: 5"),
    ],
)
def test_a_broken_line_is_told_by_its_number(data, words):
    with pytest.raises(DataError, match=words):
        check(data, "", "--read-data")


def test_a_draft_tells_of_rows_that_do_not_fit():
    Path("visits.csv").write_text("id,cost\n1,2\n1\n2,3\n1,2,3\n")
    told = run("policy", "init", "visits.csv", "--read-data")[1]
    assert "# seen in your data, not public: not 2 cells in row 3, 5: no question is answered until that is mended" in told


def test_open_lines_and_seen_lines():
    text = 'a = "FILL IN: x"\n# b = "FILL IN"\n[t."u v"]\nc = { d = "FILL IN", e = "FILL IN: y" }\nf = 1  # FILL IN\n'
    assert [str(one) for one in open_lines(text)] == ["line 1: a: x", "line 4: t.u v.c: a decision", "line 4: t.u v.c: y"]
    assert seen_lines("a = 1  # seen in your data, not public: 3\n# 'seen in your data, not public' is\n") == [1]


def test_a_table_is_named_or_refused():
    Path("visits.csv").write_text("id,cost\n1,2\n")
    duckdb.connect().execute("COPY (SELECT 1 AS id) TO 'visits.parquet'")
    with duckdb.connect("clinic.duckdb") as base:
        base.execute("CREATE TABLE patients(id INTEGER)")
    for file in ("visits.csv", "visits.parquet"):
        assert '[tables."stays"]' in run("policy", "init", file, "--table", "stays")[1]
    assert '[tables."patients"]' in run("policy", "init", "clinic.duckdb", "--table", "patients")[1]
    with pytest.raises(DataError, match=r"--table = 'stays' is refused.*one of: patients"):
        run("policy", "init", "clinic.duckdb", "--table", "stays")
    with pytest.raises(ConflictError, match=r"--table = 'stays' is refused.*\?table=schema\.stays"):
        run("policy", "init", "postgresql://nowhere/clinic?schema=main", "--table", "stays")
