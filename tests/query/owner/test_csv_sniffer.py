"""How a CSV file is written, from its first lines; and which line of a broken one is told to its owner."""

from __future__ import annotations

import tomllib

import pytest

from dither.errors import DataError, PolicyError
from dither.query.owner.csv_checks import broken_line
from dither.query.owner.csv_draft import draft_from_rows
from dither.query.owner.csv_sniffer import sniff
from dither.query.owner.draft import draft
from dither.query.owner.inspect import inspect
from dither.query.policy.cell_format import read_words
from dither.query.policy.column import read_column
from dither.query.policy.csv_dialect import CsvDialect, read_csv_dialect
from dither.query.policy.date_format import read_date_format
from dither.query.policy.table import read_table
from dither.query.sources.csv_files import CsvFiles
from dither.query.sources.find_source import find_source

TABLE = read_table("t", {"person": "p", "max_rows": 1, "columns": {"p": {"type": "integer"}, "x": {"type": "text"}}}, "t")


def write(folder, data, name="x.csv"):
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


@pytest.mark.parametrize("lines", [2, 3, 7])
def test_a_cell_that_is_cut_at_the_last_line_looked_at_does_not_hide_its_quotes(tmp_path, lines):
    """Of cells of several lines, the 1000th line is in the middle of one."""
    cell = "\n".join(["a; b"] * lines)
    path = write(tmp_path, "Patient;x;note\n" + "".join(f'{at};{at % 5};"{cell}"\n' for at in range(2000)))
    assert sniff(str(path)) == CsvDialect(";")


def test_a_cell_too_long_for_the_reader_does_not_hide_the_separator(tmp_path):
    path = write(tmp_path, "Patient;t\n1;" + "y" * 200_000 + "\n2;x\n")
    assert sniff(str(path)) == CsvDialect(";")


def test_an_apostrophe_that_closes_nothing_is_no_quote(tmp_path):
    rows = "".join(f"{at};{chr(39) if at == 5 else ''}s;x\n" for at in range(1500))
    assert sniff(str(write(tmp_path, "a;b;c\n" + rows))) == CsvDialect(";")


@pytest.mark.parametrize("data", ["\nPatient;x\n1;2\n", "\n\n;\n", "\r\n\r\na,b\r\n"])
def test_a_first_line_without_names_is_refused_in_words(tmp_path, data):
    with pytest.raises(DataError):
        draft_from_rows(write(tmp_path, data), tmp_path)


@pytest.mark.parametrize(
    "first",
    ["17;Maria Huber;3,5", "Maria Huber;22.07.2025", "17,Maria Huber,-3.5", "17;17;Maria Huber", "Maria Huber,2025-07-22"],
)
def test_a_first_line_that_looks_like_a_row_is_not_written_into_a_draft(tmp_path, first):
    path = write(tmp_path, f"{first}\n{first}\n")
    with pytest.raises(DataError) as refused:
        draft(path, tmp_path)
    assert "Huber" not in str(refused.value)
    assert "17" not in str(refused.value).replace(str(tmp_path), "")


def test_names_with_digits_and_years_are_names(tmp_path):
    path = write(tmp_path, "country,2019,2020,1st visit,24h\nA,1,2,3,4\n")
    assert '"2019"' in draft(path, tmp_path)
    assert sniff(str(path)) == CsvDialect()


@pytest.mark.parametrize("of", [draft, draft_from_rows])
def test_a_draft_is_toml_whatever_the_names_are(tmp_path, of):
    path = write(tmp_path, 'Patient,\U0001f48a Kosten,"a""b\\c"\n1,2,3\n', "pille\U0001f48a\U0001d4b3.csv")
    drafted = tomllib.loads(of(path, tmp_path))
    assert [*drafted["tables"]["pille_\U0001d4b3"]["columns"]] == ["Patient", "\U0001f48a Kosten", 'a"b\\c']
    assert drafted["tables"]["pille_\U0001d4b3"]["source"] == path.name


BROKEN = {
    "p,x\n1,a\n2,b\r\n3,c\n": "line 3 of .* ends in another way than the first: CRLF, not LF",
    "p,x\r\n1,a\r\n2,b\n": "line 3 of .*: LF, not CRLF",
    'p,x\n1,"a\r\nb"\n2,b\r3,c\n': "line 4 of .*: CR, not LF",
    'p,x\n1,a\n2,b"c\n': "a quote in line 3 is out of order",
    'p,x\r1,a\r2,"b\r': "a quote in line 3 is out of order",
    "p,x\n1,a\n2\n": "row 3 of .* has 1 cells",
}


@pytest.mark.parametrize(("data", "told"), BROKEN.items(), ids=range(len(BROKEN)))
def test_which_line_is_broken_is_told_to_the_owner(tmp_path, data, told):
    source = CsvFiles((str(write(tmp_path, data)),))
    with pytest.raises(DataError, match=told):
        inspect(TABLE, source)


def test_the_line_of_a_quote_is_that_of_the_file_as_it_is(tmp_path):
    """And not of the one in UTF-8 that the engine reads, where bytes stand elsewhere."""
    source = CsvFiles((str(write(tmp_path, 'p,x\n1,ä\n2,ä"\n'.encode("latin-1"))),), CsvDialect(encoding="latin-1"))
    with pytest.raises(DataError, match="a quote in line 3 is out of order"):
        inspect(TABLE, source)


@pytest.mark.parametrize(
    "data", ["p,x\n1,a\n2,b", 'p,x\r\n1,"a\n\nb"\r\n2,"\r"\r\n', "p,x\n\n1,a\n", "p,x\n1," + "y" * 2_100_000]
)
def test_files_that_are_read_have_no_broken_line(tmp_path, data):
    source = CsvFiles((str(write(tmp_path, data)),))
    assert broken_line(source) == ""
    assert inspect(TABLE, source).rows >= 1


def test_dates_that_can_be_read_in_two_ways_have_no_format():
    for text in ("DMYYYY", "MDYYYY", "YYYYMD", "D.M.YYYYhf"):
        with pytest.raises(PolicyError, match="side by side"):
            read_date_format(text, "format", time="h" in text)
    for text in ("DMMYYYY", "D.M.YYYY h:mm", "YYYYMMDDhhmmssf"):
        assert read_date_format(text, "format", time="h" in text).text == text


def test_facts_of_other_kinds_are_refused_in_words(tmp_path):
    for stated in ([";"], {}, 5):
        with pytest.raises(PolicyError, match="no sign that separates"):
            read_csv_dialect({"separator": stated}, (), "t")
    for fact in ("null", "true"):
        with pytest.raises(PolicyError, match="half a character"):
            read_words(["\ud800"], fact)
    with pytest.raises(DataError, match=r"it cannot be looked at|there is no such file"):
        find_source("x" * 5000 + ".csv", tmp_path, "source")


def test_keys_that_are_no_text_are_refused_in_a_list_of_any_length():
    for keys in (["a", "\ud800"], [*map(str, range(2000)), "x\udcff"]):
        with pytest.raises(PolicyError, match="half a character"):
            read_column("ward", {"type": "text", "keys": keys}, "ward")
