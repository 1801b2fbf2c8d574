"""`dither local`, as it is typed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dither.errors import DataError, InputError
from dither.local import GridResponse, Reports, files
from tests.cli.test_query import dither

ANSWERS = ["yes"] * 600 + ["no"] * 300 + ["unsure"] * 100


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table({"answer": ANSWERS, "n": [k % 50 for k in range(1000)], "b": [True] * 1000}), "in.parquet")
    Path("in.csv").write_text("answer\n" + "\n".join(ANSWERS))
    return tmp_path


@pytest.mark.parametrize("survey", ["best", "direct", "unary", "hashing", "hadamard", "subset"])
def test_randomize_and_estimate(folder, survey):
    said = dither("local", "randomize", "in.parquet", "--column", "answer", "--epsilon", 3, "--values", "yes,no,unsure",
                  "--survey", survey)  # fmt: skip
    assert "1000 reports in reports.parquet" in said
    assert "replace one person" in said
    shown = dither("local", "estimate", "reports.parquet")
    assert "█" in shown
    assert "from 1000 reports" in shown
    lines = shown.strip().splitlines()
    assert lines[0].split() == ["value", "frequency", "raw", "low", "to", "high"]
    rows = json.loads(dither("local", "estimate", "reports.parquet", "--json"))["values"]
    told = {line.split()[0]: line.split()[2] for line in lines[2:5]}
    assert told == {row["value"]: f"{row['raw']:z.4f}" for row in rows}
    once = dither("local", "estimate", "reports.parquet", "--method", "raw")
    assert once.strip().splitlines()[0].split() == ["value", "frequency", "low", "to", "high"]
    assert max(map(len, lines[:5])) <= 80
    assert "from the raw estimate; frequencies by 'simplex' may lie outside" in " ".join(shown.split())
    Path("reports-2.parquet").write_bytes(Path("reports.parquet").read_bytes())
    facts = json.loads(dither("local", "estimate", "reports*.parquet", "--json", "--confidence", "0.9999999"))
    assert facts["people"] == 2000
    for row, truth in zip(facts["values"], (0.6, 0.3, 0.1), strict=True):
        assert abs(row["raw"] - truth) < 8 * row["deviation"]
    assert dither("local", "estimate", "reports.parquet", "--top", 1, "--method", "raw").count("█") > 0


def test_the_line_says_where_numbers_were_cut(folder):
    """Nobody says "never": the low end of its interval is below zero."""
    dither("local", "randomize", "in.parquet", "--column", "answer", "--epsilon", 1, "--values", "yes,no,unsure,never")
    said = " ".join(dither("local", "estimate", "reports.parquet", "--confidence", "0.9999999").split())
    assert "intervals are cut to 0 to 1" in said
    assert "people by" not in said  # the command has no such column


def test_other_sources(folder):
    dither("local", "randomize", "in.csv", "--column", "answer", "--epsilon", "ln(3)", "--values", "yes, no, unsure")
    dither("local", "randomize", "in.parquet", "--column", "n", "--epsilon", "1", "--count", 50, "--out", "n.parquet")
    assert "... and 30 more" in dither("local", "estimate", "n.parquet")
    Path("values.txt").write_text("yes\nno\nunsure\n")
    dither(
        "local", "randomize", "in.parquet", "--column", "answer", "--epsilon", "1", "--values-from", "values.txt", "--force"
    )
    dither("local", "randomize", "in.parquet", "--column", "b", "--epsilon", "1", "--values", "true,false", "--force")
    said = dither(
        "local", "randomize", "in.parquet", "--column", "n", "--epsilon", 2, "--low", 0, "--high", 49, "--out", "m.parquet"
    )
    assert "1000 reports" in said
    assert "from 1000 reports" in dither("local", "estimate", "m.parquet")
    assert 0 < json.loads(dither("local", "estimate", "m.parquet", "--json"))["mean"] < 49
    with pytest.raises(DataError, match="one way"):
        dither("local", "estimate", "m.parquet", "--method", "raw")
    assert "survey" in dither("local", "choose", "--count", 1000, "--epsilon", 1, "--people", 10000).lower()


def test_places_are_chosen_and_estimated(folder):
    said = " ".join(dither("local", "choose", "--grid", "5x4", "--epsilon", 2, "--people", 1000, "--shape", "point").split())
    assert "Take 'uniform': if people live in one cell" in said
    assert "total variation" in dither("local", "choose", "--grid", "4x4", "--epsilon", 2, "--people", 1000)
    for wrong in (["--grid", "5"], ["--grid", "5x"], ["--count", 5, "--grid", "5x4"], [], ["--count", 5, "--shape", "flat"]):
        with pytest.raises(DataError, match=r"--grid 10x10"):
            dither("local", "choose", *wrong, "--epsilon", 2, "--people", 1000)
    with pytest.raises(DataError, match="clusters, point, flat"):
        dither("local", "choose", "--grid", "5x4", "--shape", "", "--epsilon", 2, "--people", 1000)
    survey = GridResponse(width=7, height=7, epsilon=2)
    files.write(Path("r.parquet"), [survey.randomize([(2, 2)] * 800)])
    first, _, head, *_ = dither("local", "estimate", "r.parquet").strip().splitlines()
    assert first.startswith("Every share has an error above 1")
    assert head.split() == ["value", "frequency", "low", "to", "high"]
    files.write(Path("one.parquet"), [Reports(survey.record, np.full(800, 24, dtype=survey.dtype))])
    assert "no share fits (noise)" in dither("local", "estimate", "one.parquet", "--method", "simplex")
    rows = json.loads(dither("local", "estimate", "one.parquet", "--json", "--method", "simplex"))["values"]
    assert {(row["low"] is None, row["high"] is None) for row in rows} == {(True, True), (False, False)}


def test_no_other_file_is_touched(folder):
    """Not the true answers, not a file that happens to be there, and not one whose name looks like a pattern."""
    Path("in.parquet").rename("truth.parquet.part")
    good = ["--column", "answer", "--epsilon", "1", "--values", "yes,no,unsure"]
    dither("local", "randomize", "truth.parquet.part", *good, "--out", "truth.parquet")
    assert pq.read_table("truth.parquet.part").num_rows == 1000
    with pytest.raises(DataError, match="a file of that name"):
        dither("local", "randomize", "truth.parquet.part", *good, "--out", "truth.parquet")
    with pytest.raises(DataError, match="a file of that name"):
        dither("local", "randomize", "truth.parquet.part", *good, "--out", "truth.parquet.part", "--force")
    pq.write_table(pa.table({"answer": ["yes"] * 7}), "v[1].parquet")
    pq.write_table(pa.table({"answer": ["no"] * 1000}), "v1.parquet")
    assert "7 reports" in dither("local", "randomize", "v[1].parquet", *good, "--out", "r[1].parquet")
    dither("local", "randomize", "v1.parquet", *good, "--out", "r1.parquet")
    assert json.loads(dither("local", "estimate", "r[1].parquet", "--json"))["people"] == 7
    Path("dates.csv").write_text("answer,more\n01/02/2024,x\nTRUE,y\n00501,z\n1.0\n")
    said = dither("local", "randomize", "dates.csv", "--column", "answer", "--epsilon", 1,
                  "--values", "01/02/2024,TRUE,00501,1.0", "--out", "d.parquet")  # fmt: skip
    assert "4 reports" in said
    with pytest.raises(DataError, match="is refused"):  # the last row has no such cell
        dither("local", "randomize", "dates.csv", "--column", "more", "--epsilon", 1, "--values", "x,y,z")
    assert sorted(path.name for path in Path().glob(".dither-*")) == []


def test_the_name_that_is_proposed_is_free(folder):
    good = ["local", "randomize", "in.parquet", "--column", "answer", "--epsilon", "1", "--values", "yes,no,unsure"]
    dither(*good)
    for name in ("reports-2.parquet", "reports-3.parquet"):
        with pytest.raises(DataError, match=f"a file of that name. What would work: --out {name}, or --force"):
            dither(*good)
        dither(*good, "--out", name)
    dither(*good, "--force")
    for there in ("in.parquet", Path("in.parquet").resolve()):
        with pytest.raises(DataError, match=r"the true answers. What would work: --out .*in-2\.parquet\.$"):
            dither(*good, "--out", there, "--force")
    Path("my folder").mkdir()
    dither(*good, "--out", "my folder/r.parquet")
    with pytest.raises(DataError, match=r"--out 'my folder/r-2\.parquet', or --force"):
        dither(*good, "--out", "my folder/r.parquet")
    for name in ("my folder", "no such/r.parquet"):
        with pytest.raises(DataError, match=r"written there. What would work: --out reports-4\.parquet"):
            dither(*good, "--out", name)


def test_what_is_refused_of_reports_names_their_file(folder):
    good = ["local", "randomize", "in.parquet", "--column", "answer", "--values", "yes,no,unsure"]
    dither(*good, "--epsilon", 1, "--out", "a.parquet")
    dither(*good, "--epsilon", 2, "--out", "b.parquet")
    with pytest.raises(DataError, match=r"^file = 'b.parquet' is refused: they answer another survey.*files of one survey"):
        dither("local", "estimate", "a.parquet", "b.parquet")
    table = pq.read_table("a.parquet")
    for record, words in (("xx", "not JSON"), ('{"no": 1}', "no `kind`"), ('{"kind": "guess"}', "guess")):
        pq.write_table(table.replace_schema_metadata({"dither.survey": record}), "c.parquet")
        with pytest.raises(DataError, match=f"^file = 'c.parquet' is refused: .*{words}"):
            dither("local", "estimate", "c.parquet")
    for data, words in ((b"dither\x00", "do not begin"), (b"dither\x00\x09" + b"\x00" * 9, "versions 1 and 2")):
        Path("d.reports").write_bytes(data)
        with pytest.raises(DataError, match=f"^file = 'd.reports' is refused: .*{words}"):
            dither("local", "estimate", "d.reports")


def test_bad_input_is_refused_with_words(folder):
    good = ["local", "randomize", "in.parquet", "--column", "answer", "--epsilon", "1", "--values", "yes,no,unsure"]
    for change, error in (
        (["--values", "yes,no"], DataError),
        (["--values", "yes"], InputError),
        (["--column", "no such"], DataError),
        (["--epsilon", "0"], InputError),
        (["--epsilon", "lots"], InputError),
        (["--count", "3"], DataError),
        (["--survey", "guess"], DataError),
        (["--survey", "hybrid"], DataError),
        (["--low", "0"], DataError),
        (["--low", "0", "--high", "3"], DataError),
        (["--out", "in.parquet"], DataError),
    ):
        with pytest.raises(error, match="is refused"):
            dither(*good, *change)
        assert not Path("reports.parquet").exists()
        assert not Path("reports.parquet.part").exists()
    with pytest.raises(DataError, match="not there"):
        dither("local", "randomize", "nothing.parquet", *good[3:])
    Path("text.parquet").write_text("this is no Parquet file")
    with pytest.raises(DataError, match="no Parquet file"):
        dither("local", "randomize", "text.parquet", *good[3:])
    with pytest.raises(DataError, match="no Parquet file"):
        dither("local", "estimate", "text.parquet")
    with pytest.raises(DataError, match="carries no survey"):
        dither("local", "estimate", "in.parquet")
    assert pq.read_table("in.parquet").num_rows == 1000
