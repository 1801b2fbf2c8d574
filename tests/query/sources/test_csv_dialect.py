"""CSV files in other dialects: each cell has its value or none, and no line touches another."""

from __future__ import annotations

import csv
import datetime
import io
import itertools
from fractions import Fraction

import duckdb
import pyarrow
import pytest

from dither.errors import DataError, PolicyError, ReleaseError
from dither.query.engines.duckdb.cell_formats import value_sql
from dither.query.engines.duckdb.from_source import from_source, hand_over
from dither.query.policy.cell_format import CellFormat
from dither.query.policy.column import Type, read_column
from dither.query.policy.csv_dialect import CsvDialect
from dither.query.policy.policy import read_policy
from dither.query.policy.table import read_table
from dither.query.sources.csv_encoding import WINDOWS
from dither.query.sources.csv_files import CsvFiles
from dither.query.sources.csv_quotes import misplaced_quote
from dither.query.sources.find_source import find_source
from tests.policies import opened
from tests.query.clinics import clinic as small_clinic
from tests.query.clinics import private_totals
from tests.query.noiseless import BUDGET, released
from tests.seeds import examples

TABLE = read_table("t", {"person": "each row", "columns": {"a": {"type": "text"}, "b": {"type": "text"}}}, "t")
DIALECTS = [(";", '"', "utf-8"), ("\t", "'", "windows-1252"), ("|", "", "utf-16")]
HOSPITAL = {
    "separator": ";",
    "encoding": "latin-1",
    "decimal": ",",
    "thousands": ".",
    "null": ["k.A."],
    "format": {"day": "DD.MM.YYYY"},
    "true": {"private": ["ja", "Ja"]},
    "false": {"private": ["nein"]},
    "types": {"person": "integer", "ward": "text", "cost": "decimal", "day": "date", "private": "boolean"},
    "bounds": {"cost": (0, 2000)},
    "steps": {"cost": "0.01"},
    "keys": {"ward": ["Süd", "Nord"]},
    "complete": [],
}
LINES = ["person;ward;cost;day;private", "1;Süd;1.234,56;22.07.2025;ja", "2;Nord;8,5;29.02.2024;nein", "3;Süd;k.A.;;Ja"]
SQL = """SELECT ward, COUNT(*) AS n, COUNT(cost) AS m, SUM(cost) AS s, COUNT(day) AS d,
  COUNT(CASE WHEN private THEN 1 END) AS p FROM visits GROUP BY ward"""


def clinic(folder, data, **facts):
    """With a budget for answers next to without noise."""
    return small_clinic(folder, data, **{"budget": BUDGET, **facts})


def values(texts, cells, kind):
    """What becomes of texts: in one SELECT, as a column of the type."""
    with duckdb.connect() as engine:
        engine.register("given", pyarrow.table({"x": pyarrow.array(texts, pyarrow.string())}))
        sql = f"SELECT TRY_CAST({value_sql('x', cells, kind=kind, is_id=False)} AS {kind.value}) FROM given"
        return [row[0] for row in engine.execute(sql.replace("decimal)", "DOUBLE)")).fetchall()]


def number(text, decimal, thousands):
    """By hand: the rational that a text says, or None."""
    text = text.strip(" ")
    sign, text = (-1, text[1:]) if text[:1] == "-" else (1, text[text[:1] == "+" :])
    if "e" in text:
        text, _, power = text.partition("e")
        if not (power.removeprefix("-") or "x").isdigit() or len(power.removeprefix("-")) > 4:
            return None
        sign *= Fraction(10) ** int(power)
    whole, _, rest = text.partition(decimal)
    if rest and not rest.isdigit():
        return None
    groups = whole.split(thousands) if thousands else [whole]
    if len(groups) > 1:
        if not (1 <= len(groups[0]) <= 3 and all(len(group) == 3 for group in groups[1:])):
            return None
        whole = "".join(groups)
    if (not whole and not rest) or (whole and not whole.isdigit()):
        return None
    return sign * Fraction(f"{whole or 0}.{rest or 0}")


@pytest.mark.parametrize(("decimal", "thousands"), [(",", "."), (",", ""), (".", ","), (".", "'"), (",", " ")])
def test_numbers_are_those_of_the_same_digits(decimal, thousands):
    """All short texts, and groups of three digits."""
    signs = "".join(dict.fromkeys(f"1{decimal}{thousands or '.'}-e "))
    texts = ["".join(text) for length in range(examples(6, 8)) for text in itertools.product(signs, repeat=length)]
    parts = itertools.product(("1", "1234", "12", ""), ("234", "23"), ("567", "5678"), ("", "0", "55"))
    texts += [f"{a}{thousands}{b}{thousands}{c}{decimal}{d}" for a, b, c, d in parts]
    found = values(texts, CellFormat(decimal=decimal, thousands=thousands or None), Type.DECIMAL)
    for text, value in zip(texts, found, strict=True):
        expected = number(text, decimal, thousands)
        assert (value is None) == (expected is None), text
        assert value is None or value in (float("inf"), float("-inf")) or value == float(expected), text


def test_dates_are_those_of_the_calendar():
    cells = read_column("day", {"type": "date", "format": "DD.MM.YYYY"}, "day").cells
    loose = read_column("day", {"type": "date", "format": "D/M/YYYY"}, "day").cells
    cases = list(itertools.product(range(34), range(14), (0, 1, 1900, 2023, 2024, 9999)))

    def day(of, month, year):
        try:
            return datetime.date(year, month, of)
        except ValueError:
            return None

    for format_, shown in ((cells, "{:02}.{:02}.{:04}"), (loose, "{}/{}/{:04}")):
        found = values([shown.format(*case) for case in cases], format_, Type.DATE)
        for case, value in zip(cases, found, strict=True):
            value = None if isinstance(value, str) else value  # a year before 1, which the calendar of cells leaves out
            assert value == day(*case), case
    odd = ["1.02.2024", "01.02.24", "2024-02-01", "01.02.2024 ", " 01.02.2024", "01.02.2024x", "01-02-2024", "٠1.02.2024"]
    odd += ["01.02.2024\n", "01.02.2024\x00", "01.02.02024", ""]
    assert [value is not None for value in values(odd, cells, Type.DATE)] == [False, False, False, True, True, *[False] * 7]


def test_times_to_the_microsecond_and_dates_of_them():
    at = read_column("at", {"type": "timestamp", "format": "DD.MM.YYYY h:mm:ss.f"}, "at").cells
    texts = ["22.07.2025 9:05:07.25", "22.07.2025 24:00:00.0", "22.07.2025 09:60:00.0", "22.07.2025 23:59:59.999999"]
    found = values(texts, at, Type.TIMESTAMP)
    assert found[0] == datetime.datetime(2025, 7, 22, 9, 5, 7, 250000)
    assert found[1:3] == [None, None]
    assert found[3] == datetime.datetime(2025, 7, 22, 23, 59, 59, 999999)
    day = read_column("day", {"type": "date", "format": "DD.MM.YYYY hh:mm"}, "day").cells
    assert values(["22.07.2025 00:00", "22.07.2025"], day, Type.DATE) == [datetime.date(2025, 7, 22), None]


def test_words():
    cells = CellFormat(true=("ja", "it's"), false=("nein",), null=("?",))
    assert values(["ja", " ja ", "JA", "nein", "it's", "?", "true", None, ""], cells, Type.BOOLEAN) == [
        *(True, True, None, False, True),
        *(None, None, None, None),
    ]
    assert values(["?", " ? ", "??", " x "], CellFormat(null=("?",)), Type.TEXT)[2:] == ["??", " x "]


def in_order(text, separator, quote):
    """By hand, one sign at a time: outside, inside, or just after a quote that may close a cell."""
    state, start = "outside", True
    for sign in text if quote else "":
        if state == "outside":
            if sign == quote:
                if not start:
                    return False
                state = "inside"
        elif state == "inside":
            state = "closed" if sign == quote else "inside"
        elif sign == quote:
            state = "inside"
        elif sign in separator + "\n":
            state = "outside"
        else:
            return False
        start = sign in separator + "\n" and state == "outside"
    return state != "inside"


@pytest.mark.parametrize(
    ("separator", "quote", "encoding"), [(";", '"', "utf-8"), ("\t", "'", "windows-1252"), ("|", "", "utf-16")]
)
def test_all_short_files_are_read_as_by_hand_or_fail(tmp_path, separator, quote, encoding):
    """Of two cells a line: against Python's reader."""
    path, rng, engine = tmp_path / "x.csv", itertools.count(), duckdb.connect()
    source = CsvFiles((str(path),), CsvDialect(separator, encoding, quote, ("a", "b")))
    for length in range(1, examples(4, 7)):
        for signs in itertools.product(f"ä{separator}{quote or chr(34)}\n", repeat=length):
            text = "".join(signs)
            path.write_bytes(text.encode(encoding if encoding != "windows-1252" else "cp1252"))
            style = csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE
            fine = in_order(text, separator, quote)
            rows = (
                []
                if not fine
                else [
                    row
                    for row in csv.reader(
                        io.StringIO(text, newline=""), delimiter=separator, quotechar=quote or None, quoting=style
                    )
                    if row
                ]
            )
            fine = fine and all(len(row) >= 2 and not any(row[2:]) for row in rows)  # empty cells at its end do not matter
            try:
                hand_over(source, engine, TABLE, {}, tmp_path / f"decoded{next(rng)}")
                found = engine.execute(f"SELECT * FROM {from_source(source, TABLE)}").fetchall()
            except (DataError, duckdb.Error):
                assert not fine, text
                continue
            assert fine, text
            assert [list(row) for row in found] == [[cell or None for cell in row[:2]] for row in rows], text


@pytest.mark.parametrize("encoding", ["latin-1", "windows-1252"])
def test_every_byte_is_a_letter_of_its_own(tmp_path, encoding):
    data = bytes(byte for byte in range(256) if byte not in b'\r\n;"')
    (tmp_path / "x.csv").write_bytes(b"a;b\xe4\n" + data + b";1\n" + b"\n".join(b"%c;%d" % (byte, byte) for byte in data))
    source = find_source("x.csv", tmp_path, "source", CsvDialect(";", encoding))
    assert source.header() == ["a", "bä"]
    with duckdb.connect() as engine:
        hand_over(source, engine, TABLE, {}, tmp_path / "decoded")
        rows = engine.execute(f"SELECT * FROM {from_source(source, TABLE)}").fetchall()
    expected = data.decode("latin-1") if encoding == "latin-1" else data.decode("latin-1").translate(WINDOWS)
    assert rows[0] == (expected, "1")
    assert len({cell for cell, _ in rows}) == len(rows) == len(data) + 1
    if encoding == "windows-1252":
        assert "€" in expected
        assert "\x81" in expected


def write(folder, lines, encoding="latin-1", name="visits.csv"):
    path = folder / name
    path.write_bytes("\n".join([*lines, ""]).encode(encoding))
    return path


def answers(data, sql=SQL):
    answer = released(data, sql)
    return {name: answer[name] for name in ("ward", "n", "m", "d", "p")}, answer["s"]


EXPECTED = {"ward": ["Nord", "Süd"], "n": [1, 2], "m": [1, 1], "d": [1, 1], "p": [0, 2]}


@pytest.mark.parametrize("encoding", ["latin-1", "windows-1252", "utf-8", "utf-8-sig", "utf-16"])
def test_a_hospital_file_gives_the_right_answer(tmp_path, encoding):
    path = write(tmp_path, LINES, "cp1252" if encoding == "windows-1252" else encoding)
    counts, sums = answers(clinic(tmp_path, path, **HOSPITAL | {"encoding": encoding}))
    assert counts == EXPECTED
    assert sums == pytest.approx([8.5, 1234.56], abs=0.02)


def test_what_was_decoded_is_gone_when_the_read_is_over(tmp_path, monkeypatch):
    """In a folder of this user alone, while somebody reads; and the engine reads nothing else."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    path, seen = write(tmp_path, LINES), []
    data = clinic(tmp_path, path, **HOSPITAL)
    place = data.engine.table(data.policy.tables[0], data.sources["visits"])
    (tmp_path / "other.csv").write_text("x\n")
    with data.engine.reading([place]) as run:
        assert run(f"SELECT count(*) FROM {place.relation}", lambda _: True) == [(3,)]
        seen = list(tmp_path.glob("dither-*/decoded/*-0-decoded.csv"))
        assert [file.parents[1].stat().st_mode & 0o777 for file in seen] == [0o700]
        with pytest.raises(RuntimeError):
            run(f"SELECT * FROM read_csv('{tmp_path}/other.csv', columns = {{'x': 'VARCHAR'}})", lambda _: True)
    assert not seen[0].exists()
    assert not list(tmp_path.glob("dither-*"))


def test_the_same_from_a_policy_and_without_a_header(tmp_path):
    rows = [line.split(";") for line in LINES[1:]]
    write(tmp_path, ["|".join([row[0], "a name", *row[1:]]) for row in rows], "utf-16", "visits.txt")
    text = """version = 1
domain = "clinic"
ledger = { location = "x.ledger", budget = { epsilon = "100000000" } }
[tables.visits]
source = "visits.txt"
separator = "|"
encoding = "UTF-16"
quote = ""
header = ["person", "name", "ward", "cost", "day", "private"]
decimal = ","
thousands = "."
person = "person"
max_rows = 5
[tables.visits.columns]
person = { type = "integer" }
ward = { type = "text", keys = ["Süd", "Nord"] }
cost = { type = "decimal", bounds = [0, 2000], step = "0.01", null = ["k.A."] }
day = { type = "date", format = "DD.MM.YYYY" }
private = { type = "boolean", true = ["ja", "Ja"], false = ["nein"] }
"""
    (tmp_path / "policy.toml").write_text(text, encoding="utf-8")
    data = opened(tmp_path / "policy.toml")
    assert "day: date, written DD.MM.YYYY" in data.policy.explain()
    assert answers(data)[0] == EXPECTED
    (tmp_path / "visits.txt").write_bytes("\n".join(LINES[1:]).encode("utf-16"))
    plain = (
        text.replace('"|"', '";"')
        .replace('["person", "name", "ward", "cost", "day", "private"]', "false")
        .replace("x.led", "y.led")
    )
    (tmp_path / "policy.toml").write_text(plain, encoding="utf-8")
    assert answers(opened(tmp_path / "policy.toml"))[0] == EXPECTED


# -- neighbours ----------------------------------------------------------------------------------------------------------

CELLS = [
    "",
    "k.A.",
    "1.234,56",
    "1,234.56",
    "12.5",
    "1e400",
    "-1e400",
    "nan",
    "Infinity",
    "-",
    ",",
    ".",
    "0x1",
    "9" * 400,
    "é" * 1999,
]
CELLS += [
    "\x00",
    "1\x002",
    "\x80\x9d",
    "\x1a",
    "\x85",
    "22.07.2025",
    "31.02.2024",
    "00.00.0000",
    "01.01.9999",
    "ja",
    "JA",
    " ja",
]
CELLS += [
    "1",
    "2",
    "01",
    "1.000",
    "+1",
    " 1",
    '"1"',
    '"a;b"',
    '"x\ny"',
    '"x\r\ny;1;2;3;4"',
    '"a""b"',
    '""',
    "'",
    "\\",
    "#1",
    "Nord",
]


@pytest.mark.parametrize("unit", ["add/remove", "replace"])
def test_one_person_moves_totals_by_at_most_what_is_claimed(tmp_path, unit):
    """Every hostile cell in every column of one row: all other rows count as before, in all counters."""
    sql = "SELECT ward, COUNT(*) AS n, SUM(cost) AS s FROM visits WHERE day IS NOT NULL OR private GROUP BY ward"
    facts = HOSPITAL | {"max_groups": 1, "max_rows_per_group": 1}

    def totals(lines):
        return private_totals(clinic(tmp_path, write(tmp_path, lines), **facts).quote(sql, epsilon=1), threads=1)[0]

    row = ["7", "Süd", "5,00", "01.01.2024", "ja"]
    before = totals(LINES if unit == "add/remove" else [*LINES, ";".join(row)])
    steps = 200_000  # between the bounds
    every = examples(2, len(CELLS))
    for place, (column, cell) in enumerate(itertools.product(range(5), CELLS)):
        if place % len(CELLS) % (len(CELLS) // every + 1) and every < len(CELLS):
            continue
        hostile = [*row[:column], cell, *row[column + 1 :]]
        after = totals([*LINES[:2], ";".join(hostile), *LINES[2:]])
        moved = [abs(one - other) for one, other in zip(before, after, strict=True)]
        assert sum(moved) <= (steps + 1) * (1 if unit == "add/remove" else 2), (column, cell)


def test_hostile_cells_of_all_columns_in_one_file(tmp_path):
    """The other rows are read as if these were not there: ids of their own, and none is one of the others'."""
    rows = [
        [f"{100 + 40 * column + at}", "West", "5,00", "01.01.2024", "ja"]
        for column in range(1, 5)
        for at in range(len(CELLS))
    ]
    for at, row in enumerate(rows):
        row[1 + at // len(CELLS)] = CELLS[at % len(CELLS)]
    lines = [*LINES[:2], *(";".join(row) for row in rows if row[1] not in ("Nord", '"Nord"')), *LINES[2:]]
    counts, sums = answers(clinic(tmp_path, write(tmp_path, lines), **HOSPITAL))
    assert counts == EXPECTED
    assert sums == pytest.approx([8.5, 1234.56], abs=0.02)


BROKEN = ['7;"Süd;1;;', "7;Süd", "7;Süd;1;;;7", '7;"Süd"x;1;;', '7;S"üd;1;;\n8;"Süd;1;;', "7;Süd;1;;x\r8;Süd;1;;"]


@pytest.mark.parametrize("line", BROKEN)
def test_a_broken_line_fails_the_file_and_not_a_part_of_it(tmp_path, line):
    with pytest.raises(ReleaseError):
        answers(clinic(tmp_path, write(tmp_path, [*LINES, line, *LINES[1:]]), **HOSPITAL))


def test_without_quotes_a_stray_one_is_a_letter_of_its_cell(tmp_path):
    lines = [*LINES[:2], '7;"Süd;1;;', '8;W"est;"1;";"', *LINES[2:]]
    counts, _ = answers(clinic(tmp_path, write(tmp_path, lines), **HOSPITAL | {"quote": ""}))
    assert counts == EXPECTED


@pytest.mark.parametrize("data", ["a;b\nx;1\n".encode("utf-16") + b"\x00", "a;b\n".encode("utf-16") + b"\x00\xd8;\x00"])
def test_half_a_character_fails_the_file(tmp_path, data):
    (tmp_path / "x.csv").write_bytes(data)
    facts = {
        "types": {"a": "text"},
        "separator": ";",
        "encoding": "utf-16",
        "bounds": {},
        "steps": {},
        "keys": {},
        "complete": [],
    }
    with pytest.raises(ReleaseError):
        clinic(tmp_path, tmp_path / "x.csv", person="a", **facts).quote(
            "SELECT COUNT(*) AS n FROM visits", epsilon=1
        ).release()


def test_two_spellings_of_an_id_stay_two_people(tmp_path):
    """Thousands marks and decimal signs are not taken out of ids; words for missing are nobody."""
    rows = ["1.000;Süd;1;;", "1000;Süd;1;;", "k.A.;Süd;1;;", "1000,0;Süd;1;;"]
    for kind, people in (("integer", 1), ("text", 3)):
        path = write(tmp_path, [LINES[0], *rows])
        data = clinic(tmp_path, path, **HOSPITAL | {"types": HOSPITAL["types"] | {"person": kind}})
        counted = released(data, "SELECT COUNT(*) AS n, COUNT(DISTINCT person) AS people FROM visits").rows()[0]
        assert (round(counted["n"]), round(counted["people"])) == (people, people)


# -- refusals ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"separator": ";;"}, "separates cells"),
        ({"encoding": "utf-7"}, "no such encoding"),
        ({"quote": "`"}, "it is no quote"),
        ({"header": False}, "names of the columns are nowhere"),
        ({"header": ["a", "A"]}, "one name in SQL"),
        ({"header": "a"}, "lists the names"),
        ({"decimal": ";"}, "no decimal sign"),
        ({"decimal": ",", "thousands": ","}, "the decimal sign as well"),
        ({"thousands": "_"}, "no thousands mark"),
        ({"format": {"day": "%d.%m.%Y"}}, '"DD.MM.YYYY"'),
        ({"format": {"day": "%d %b %Y"}}, "not in the signs of strptime"),
        ({"format": {"day": "DD.MM.YY"}}, "does not say its century"),
        ({"format": {"day": "dd.mm.yyyy"}}, "in these letters"),
        ({"format": {"day": "DD.mm.YYYY"}}, "it has no month"),
        ({"format": {"day": "DD.DD.YYYY"}}, "stands in it twice"),
        ({"format": {"day": "DD#MM"}}, "is no part of a date"),
        ({"format": {"day": 5}}, "no format of a date"),
        ({"format": {"ward": "DD.MM.YYYY"}}, "a text column has none"),
        ({"true": {"private": ["ja"]}, "false": {}}, "words for false belong beside it"),
        ({"true": {"private": ["ja"]}, "false": {"private": ["ja"]}}, "two meanings"),
        ({"true": {"private": "ja"}}, "it lists at most"),
        ({"null": [""]}, "the empty cell is missing anyway"),
        ({"null": [" x"]}, "blanks around a cell"),
        ({"encoding": "utf-8"}, "its first line is not UTF-8"),
        ({"encoding": "utf-16"}, "its first line is not UTF-16"),
        ({"separator": ","}, 'separator = ";" beside the source'),
    ],
)
def test_what_cannot_be_meant_is_refused_before_any_charge(tmp_path, facts, words):
    path = write(tmp_path, [LINES[0] + ";ö", *(line + ";" for line in LINES[1:])])
    with pytest.raises((PolicyError, DataError)) as refusal:
        clinic(tmp_path, path, **HOSPITAL | facts)
    assert words in str(refusal.value)


def test_only_text_has_a_format_and_only_csv_a_separator(tmp_path):
    table = pyarrow.table({"person": [1], "day": [datetime.date(2024, 1, 1)], "cost": [1.5], "note": ["2,5"]})
    plain = {"bounds": {}, "steps": {}, "keys": {}, "complete": []}
    with pytest.raises(DataError, match="only CSV files have"):
        clinic(tmp_path, table, separator=";", **plain)
    for facts in ({"format": {"day": "DD.MM.YYYY"}}, {"decimal": ","}):
        with pytest.raises(DataError, match="is about cells in text"):
            clinic(tmp_path, table, **plain, **facts).quote("SELECT COUNT(*) AS n FROM visits", epsilon=1).release()
    facts = {
        "types": {"note": "decimal"},
        "decimal": {"note": ","},
        **plain,
        "bounds": {"note": (0, 10)},
        "steps": {"note": "0.5"},
    }
    data = clinic(tmp_path, table, **facts)
    assert released(data, "SELECT SUM(note) AS s FROM visits").scalar() == pytest.approx(2.5, abs=0.01)


def test_what_a_file_is_written_in_is_in_the_hash(tmp_path):
    columns = {"a": {"type": "text"}, "b": {"type": "decimal"}}

    def hashed(**facts):
        table = {"person": "each row", "columns": columns} | facts
        return read_policy({"version": 1, "domain": "x", "tables": {"t": table}}).hash

    plain = hashed()
    assert hashed(separator=",", encoding="utf8", quote='"', header=True) == plain
    other = [
        {"separator": ";"},
        {"encoding": "latin-1"},
        {"quote": ""},
        {"header": False},
        {"decimal": ","},
        {"null": ["x"]},
    ]
    other += [{"columns": columns | {"b": {"type": "decimal", "thousands": ","}}}]
    hashes = [hashed(**facts) for facts in other]
    assert len({plain, *hashes}) == len(other) + 1
    assert hashed(encoding="latin-1") == hashed(encoding="iso-8859-1")


def test_quotes_of_another_dialect(tmp_path):
    path = write(tmp_path, ["a;b", "'x;y';1", "it''s;2"], "utf-8")
    assert misplaced_quote(str(path), ";", "'") == 14
    assert misplaced_quote(str(path), ";", "") is None
