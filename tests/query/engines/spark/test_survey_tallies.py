"""Tallies of survey reports that Spark counts are those of one machine, whatever stands in the cells."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dither.errors import DataError
from dither.local import (
    CoinFlip,
    DirectEncoding,
    Duchi,
    GridResponse,
    HadamardResponse,
    HeavyHitters,
    Hybrid,
    LocalHashing,
    Longitudinal,
    NoisyNumber,
    Piecewise,
    SubsetSelection,
    Tally,
    UnaryEncoding,
    files,
    spark_tally,
)
from dither.testing import seeded
from tests.seeds import examples

pytestmark = pytest.mark.filterwarnings("ignore")  # PySpark's own
WORDS = ["oak", "elm", "ash", "fir", "yew"]
NUMBERS = [
    DirectEncoding(range(300), epsilon=1),
    LocalHashing(range(50), epsilon=1, seeds=16),
    HeavyHitters(epsilon=2, longest=3),
    Piecewise("-1/2", 1, epsilon=2, reports=50),
]
MORE_NUMBERS = [
    CoinFlip(heads="1/3"),
    HadamardResponse(WORDS, epsilon="0.5"),
    LocalHashing(WORDS, epsilon=1),
    GridResponse(width=3, height=2, epsilon=1),
    Longitudinal(WORDS, first="0.5", forever=2),
    Duchi(0, 10, epsilon=1),
    Hybrid(0, 1, epsilon=3),
    NoisyNumber(0, 100, epsilon=1, steps=20),
]
BYTES = [SubsetSelection(range(12), epsilon=1), UnaryEncoding(range(20), epsilon=2, optimised=False)]
SURVEYS = NUMBERS + BYTES + (MORE_NUMBERS if examples(0, 1) else [])


def reports(survey, size=70):
    kind = survey.record["kind"]
    values = ["a", "bc"] if kind == "heavy hitters" else list(getattr(survey, "domain", [1, 0]))
    with seeded(size):
        return survey.randomize([values[at % len(values)] for at in range(size)])


def hostile(survey, table: pa.Table) -> pa.Table:
    """The same type, with cells that are no report: missing, and the largest and least of the type."""
    columns = {}
    for field in table.schema:
        if pa.types.is_fixed_size_binary(field.type):
            width = field.type.byte_width
            cells = [None, b"\xff" * width, b"\x00" * width]
        else:
            cells = [None, 2**field.type.bit_width - 1, 0]
        columns[field.name] = pa.concat_arrays([table[field.name].combine_chunks(), pa.array(cells * 3, field.type)])
    return pa.table(columns, schema=table.schema)


@pytest.mark.parametrize("survey", SURVEYS, ids=repr)
def test_the_same_counts_as_on_one_machine(session, survey, tmp_path):
    check_counts(session, survey, tmp_path)


@pytest.mark.parametrize("survey", SURVEYS if examples(0, 1) else NUMBERS[:1] + BYTES[:1], ids=repr)
def test_the_same_counts_by_spark_connect(remote, survey, tmp_path):
    check_counts(remote, survey, tmp_path)


def check_counts(session, survey, tmp_path):
    """Of files that one machine wrote; they are added to a tally of one machine."""
    folder = tmp_path / "reports"
    folder.mkdir()
    files.write(folder / "one.parquet", [reports(survey)])
    pq.write_table(hostile(survey, files.to_arrow(reports(survey, 11))), folder / "two.parquet")
    one, two = (files.tally_file(folder / name, survey) for name in ("one.parquet", "two.parquet"))
    assert two.rejected > 0
    found = files.tally_spark(session.read.parquet(str(folder)), survey)
    assert found == one + two
    assert Tally.from_json(found.to_json()) + one == one + one + two


def test_other_numbers_and_other_lengths(session):
    """A frame of Spark's own: numbers with a sign, beyond the range, of another type; bytes of any length."""
    survey = DirectEncoding(WORDS, epsilon=1)
    cells = ", ".join(f"({cell})" for cell in ("0", "4", "4", "5", "-1", "255", "256", f"{2**62}", f"{-(2**63)}", "NULL"))
    found = files.tally_spark(session.sql(f"SELECT CAST(x AS BIGINT) AS report FROM VALUES {cells} AS v(x)"), survey)
    assert (found.counts.tolist(), found.people, found.rejected) == ([1, 0, 0, 0, 2], 3, 7)
    for kind, cell in (("text", "'4'"), ("a double", "4D"), ("bytes", "X'04'")):
        found = files.tally_spark(session.sql(f"SELECT {cell} AS report FROM VALUES (1), (2) AS v(x)"), survey)
        assert (found.people, found.rejected) == (0, 2), kind
    pieces = UnaryEncoding(range(8), epsilon=1)
    cells = "(X'81'), (X''), (X'8181'), (NULL), (X'01')"
    found = files.tally_spark(session.sql(f"SELECT x AS report FROM VALUES {cells} AS v(x)"), pieces)
    assert (found.people, found.rejected) == (2, 3)
    assert int(found.counts.sum()) == 3
    assert files.tally_spark(session.sql("SELECT 'x' AS report"), pieces).rejected == 1
    nobody = files.tally_spark(session.sql("SELECT X'01' AS report FROM range(0)"), pieces)
    assert (nobody.people, nobody.rejected, int(nobody.counts.sum())) == (0, 0, 0)


@pytest.mark.parametrize("which", ["session", "remote"])
def test_what_is_no_frame_of_reports_is_refused(request, which):
    session, survey = request.getfixturevalue(which), DirectEncoding(WORDS, epsilon=1)
    for columns in ("1 AS other", "1 AS report, 2 AS report", "1 AS report, 2 AS Report", "1 AS REPORT"):
        with pytest.raises(DataError, match="no column 'report'"):
            files.tally_spark(session.sql(f"SELECT {columns}"), survey)
    with pytest.raises(DataError, match="would count twice"):
        files.tally_spark(session.sql("SELECT 1 AS report, X'00' AS client"), survey)
    once = session.sql("SELECT 1 AS report, X'00' AS client FROM range(3)").dropDuplicates(["client"]).drop("client")
    assert files.tally_spark(once, survey).people == 1
    with pytest.raises(DataError, match="no DataFrame"):
        files.tally_spark(pa.table({"report": [1]}), survey)
    with pytest.raises(DataError, match="no end"):
        files.tally_spark(session.readStream.format("rate").load(), survey)
    fails = session.sql("SELECT CAST(raise_error('canary') AS BIGINT) AS report")
    with pytest.raises(DataError, match="could not count") as caught:
        files.tally_spark(fails, survey)
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize("which", ["session", "remote"])
def test_executors_without_dither_are_told(request, which, monkeypatch):
    session = request.getfixturevalue(which)

    def missing(record):
        def part(batches):
            raise ModuleNotFoundError("No module named 'dither'")

        return part

    monkeypatch.setattr(spark_tally, "part_counts", missing)
    with pytest.raises(DataError, match="has no dither"):
        files.tally_spark(session.sql("SELECT X'01' AS report"), UnaryEncoding(range(8), epsilon=1))


def count_twice(batches_of):
    """A bug: the counts of a part are handed over twice."""

    def part(record):
        def counted(batches):
            found = list(batches_of(record)(batches))
            yield from found + found

        return counted

    return part


def test_planted_bugs_are_found(session, monkeypatch, tmp_path):
    with monkeypatch.context() as patch:
        patch.setattr(spark_tally, "part_counts", count_twice(spark_tally.part_counts))
        with pytest.raises(AssertionError):
            check_counts(session, BYTES[0], tmp_path)
    monkeypatch.setattr(spark_tally, "largest_numbers", lambda survey: {"report": 2**63 - 1})
    monkeypatch.setattr(spark_tally, "tally_groups", lambda survey, columns, times: times.size)
    groups = files.tally_spark(session.sql("SELECT id AS report FROM range(1000)"), NUMBERS[0])
    assert groups == 1000  # what a stranger could make grow; as it is, all that is out of range is one group
    monkeypatch.undo()
    assert files.tally_spark(session.sql("SELECT id AS report FROM range(1000)"), NUMBERS[0]).rejected == 700
