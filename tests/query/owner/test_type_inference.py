"""What cells in text seem to be."""

from __future__ import annotations

import pytest

from dither.errors import DataError
from dither.query.owner.csv_draft import draft_from_rows, person_by_name
from dither.query.owner.csv_sniffer import first_rows, sniff
from dither.query.owner.type_inference import Inferred, common_style, infer
from dither.query.policy.column import Type
from dither.query.policy.csv_dialect import CsvDialect

CASES = [
    (["1", "2", "-3", ""], Type.INTEGER, {}),
    (["007", "012", "3"], Type.TEXT, {}),
    (["1.5", "2"], Type.DECIMAL, {}),
    (["1,5", "2", "NA"], Type.DECIMAL, {"decimal": ",", "null": ["NA"]}),
    (["1.234,5", "2", "12.345"], Type.DECIMAL, {"decimal": ",", "thousands": "."}),
    (["1,234.5", "2"], Type.DECIMAL, {"thousands": ","}),
    (["1'234.5", "2"], Type.DECIMAL, {"thousands": "'"}),
    (["2024-01-31", "2023-12-01", "?"], Type.DATE, {"null": ["?"]}),
    (["2024-01-31 10:00:00"], Type.TIMESTAMP, {}),
    (["31.01.2024", "01.02.2024"], Type.DATE, {"format": "DD.MM.YYYY"}),
    (["1.2.2024", "31.12.2024"], Type.DATE, {"format": "D.M.YYYY"}),
    (["31.01.2024 10:00", "01.02.2024 23:59"], Type.TIMESTAMP, {"format": "DD.MM.YYYY hh:mm"}),
    (["12/31/2024", "01/02/2024"], Type.DATE, {"format": "MM/DD/YYYY"}),
    (["ja", "Nein", "nein"], Type.BOOLEAN, {"true": ["ja"], "false": ["Nein", "nein"]}),
    (["true", "False"], Type.BOOLEAN, {}),
    (["j", "n"], Type.BOOLEAN, {"true": ["j"], "false": ["n"]}),
    (["j", "j"], Type.TEXT, {}),
    (["A", "B", "-"], Type.TEXT, {}),
    (["", " "], Type.TEXT, {}),
    ([*["5"] * 99, "x"], Type.INTEGER, {}),
    ([*["5"] * 9, "x"], Type.TEXT, {}),
]


@pytest.mark.parametrize(("cells", "kind", "facts"), CASES)
def test_types_and_how_they_are_written(cells, kind, facts):
    found = infer(cells)
    assert (found.type, found.facts) == (kind, facts)


def test_what_fits_two_formats_is_left_to_the_owner(tmp_path):
    assert infer(["01/02/2024", "03/04/2024"]).formats == ("DD/MM/YYYY", "MM/DD/YYYY")
    (tmp_path / "x.csv").write_text("id,day\n1,01/02/2024\n2,03/04/2024\n")
    assert 'format = "FILL IN: DD/MM/YYYY or MM/DD/YYYY"' in draft_from_rows(tmp_path / "x.csv", tmp_path)


def test_one_style_of_numbers_for_a_table():
    assert common_style([infer(["1.234", "2.345"]), infer(["8,5"])]) == (",", ".")
    assert common_style([infer(["1", "2"])]) == (".", "")


@pytest.mark.parametrize(
    ("data", "dialect"),
    [
        (b"a,b\n1,2\n", CsvDialect()),
        (b'a;b\n"1;2";3\n', CsvDialect(";")),
        (b"a\tb\n1\t2\n", CsvDialect("\t")),
        (b"a;b\n'1;2';3\n'4;5';6\n", CsvDialect(";", quote="'")),
        (b'a;b\n1;5"\n2;"6\n', CsvDialect(";", quote="")),
        (b"1;2\n3;4\n", CsvDialect(";", names=("column_1", "column_2"))),
        ("a;ü\n1;2\n".encode("latin-1"), CsvDialect(";", "windows-1252")),
        ("a;ü\n1;2\n".encode("utf-16"), CsvDialect(";", "utf-16")),
        ("a;ü\n1;2\n".encode("utf-8-sig"), CsvDialect(";")),
        (b"a;b\n" + "ü;1\n".encode() * 300_000, CsvDialect(";")),
        (b"a\n1\n2\n", CsvDialect()),
    ],
)
def test_dialects(tmp_path, data, dialect):
    (tmp_path / "x.csv").write_bytes(data)
    assert sniff(str(tmp_path / "x.csv")) == dialect
    assert len(first_rows(str(tmp_path / "x.csv"), dialect, 1)[0]) == (1 if data.startswith(b"a\n") else 2)


def test_only_csv_is_looked_at(tmp_path):
    (tmp_path / "x.csv").write_text("")
    with pytest.raises(DataError, match="no line"):
        draft_from_rows(tmp_path / "x.csv", tmp_path)
    (tmp_path / "x.duckdb").write_bytes(b"")
    with pytest.raises(DataError, match="known without its rows"):
        draft_from_rows(tmp_path / "x.duckdb", tmp_path)


@pytest.mark.parametrize(
    ("names", "person"),
    [
        (["Patient-Nr", "cost"], "Patient-Nr"),
        (["Pat.-Nr.", "cost"], "Pat.-Nr."),
        (["user", "user_agent"], "user"),
        (["Patients", "ward"], "Patients"),
        (["mrn", "ward"], "mrn"),
        (["customer_id", "customer_rating"], "customer_id"),
        (["customer_rating", "cost"], None),
        (["personal_income", "ward"], None),
        (["user_agent", "day"], None),
        (["patient_id", "customer_id"], None),
    ],
)
def test_a_column_is_the_person_if_its_name_is_that_of_an_id(names, person, tmp_path):
    assert person_by_name({name: Inferred(Type.TEXT) for name in names}) == person
    (tmp_path / "rows.csv").write_text(",".join(names) + "\na1,b2\nc3,d4\n")
    offered = "  # by its name: make sure" in draft_from_rows(tmp_path / "rows.csv", tmp_path)
    assert offered is (person is not None)
