"""Files of reports: written piece by piece, tallied by GROUP BY, and nothing in them crashes a collector."""

from __future__ import annotations

import contextlib
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dither import ln
from dither.errors import InputError
from dither.local import files
from dither.local.collect.reports import Reports
from dither.local.registry import from_record
from dither.local.surveys.coin_flip import CoinFlip
from dither.local.surveys.direct_encoding import DirectEncoding
from dither.local.surveys.grid_response import GridResponse
from dither.local.surveys.hadamard_response import HadamardResponse
from dither.local.surveys.heavy_hitters import HeavyHitters
from dither.local.surveys.hybrid import Hybrid
from dither.local.surveys.local_hashing import LocalHashing
from dither.local.surveys.longitudinal import Longitudinal
from dither.local.surveys.noisy_number import NoisyNumber
from dither.local.surveys.piecewise_and_duchi import Duchi, Piecewise
from dither.local.surveys.subset_selection import SubsetSelection
from dither.local.surveys.unary_encoding import UnaryEncoding

WORDS = ["oak", "elm", "ash", "fir", "yew"]
SURVEYS = [
    CoinFlip(heads="1/3"),
    DirectEncoding(WORDS, epsilon=1),
    DirectEncoding(range(300), epsilon=ln(3)),
    UnaryEncoding(WORDS, epsilon=1),
    UnaryEncoding(range(20), epsilon=2, optimised=False),
    LocalHashing(range(50), epsilon=1, seeds=16),
    HadamardResponse(WORDS, epsilon="0.5"),
    LocalHashing(WORDS, epsilon=1),
    SubsetSelection(range(12), epsilon=1),
    GridResponse(width=3, height=2, epsilon=1),
    Longitudinal(WORDS, first="0.5", forever=2),
]
OTHERS = [
    Duchi(0, 10, epsilon=1),
    Piecewise("-1/2", 1, epsilon=2, reports=50),
    Hybrid(0, 1, epsilon=3),
    NoisyNumber(0, 100, epsilon=1, steps=20),
    HeavyHitters(epsilon=2, longest=3),
    HeavyHitters(epsilon=2, bits=16, seeds=64),
]


@pytest.mark.parametrize("survey", SURVEYS, ids=repr)
def test_a_file_is_tallied_as_its_reports_are(survey, tmp_path):
    path = tmp_path / "reports.parquet"
    parts = [survey.randomize([survey.domain[at % len(survey.domain)] for at in range(size)]) for size in (70, 1, 400)]
    assert files.write(path, iter(parts)) == 471
    whole = survey.tally(parts[0]) + survey.tally(parts[1]) + survey.tally(parts[2])
    assert files.tally_file(path) == whole
    assert files.tally_file(path, survey) == whole
    assert files.survey_of(path).record == survey.record
    assert from_record(json.loads(json.dumps(survey.record))).record == survey.record
    with pytest.raises(InputError, match="another survey"):
        files.tally_file(path, DirectEncoding(["x", "y"], epsilon=1))
    seen = []
    files.tally_file(path, progress=lambda done, rows: seen.append((done, rows)))
    assert all(rows == 471 for _, rows in seen)


@pytest.mark.parametrize("survey", OTHERS, ids=repr)
def test_numbers_and_heavy_hitters_in_files(survey, tmp_path):
    path = tmp_path / "reports.parquet"
    values = ["a", "bc"] * 50 if "longest" in survey.record else [1, 0] * 50
    reports = survey.randomize(values)
    files.write(path, [reports, reports])
    assert files.tally_file(path) == survey.tally(reports) + survey.tally(reports)
    assert from_record(json.loads(json.dumps(survey.record))).record == survey.record


@pytest.mark.parametrize("survey", SURVEYS, ids=repr)
def test_rows_that_are_no_reports_are_counted_and_left_out(survey, tmp_path):
    path = tmp_path / "reports.parquet"
    table = files.to_arrow(survey.randomize(list(survey.domain[:2]) * 5))
    strange = [None, "", "x", "-1", "99999999999999999999", "1e3", "\x00" * 7, "2.5"]
    text = pa.table({name: pa.array(strange) for name in table.column_names})
    pq.write_table(text.replace_schema_metadata(table.schema.metadata), path)
    found = files.tally_file(path)
    assert found.people + found.rejected == len(strange)
    assert found.rejected >= 5
    blobs = pa.table({name: pa.array([b"", b"\xff" * 300, None]) for name in table.column_names})
    pq.write_table(blobs.replace_schema_metadata(table.schema.metadata), path)
    assert files.tally_file(path).rejected == 3
    pq.write_table(pa.table({"other": [1]}).replace_schema_metadata(table.schema.metadata), path)
    with pytest.raises(InputError, match="no column"):
        files.tally_file(path)


def test_broken_files_are_refused_with_words(tmp_path):
    path = tmp_path / "reports.parquet"
    survey = UnaryEncoding(range(200), epsilon=1)
    files.write(path, [survey.randomize(list(range(200)) * 20)])
    data = path.read_bytes()
    for broken in (b"", b"PAR1", data[: len(data) // 2], data[:-8] + b"\x00" * 8):
        path.write_bytes(broken)
        with pytest.raises(InputError, match="is refused"):
            files.tally_file(path)
    middle = len(data) // 2
    path.write_bytes(data[:middle] + bytes(64) + data[middle + 64 :])
    with contextlib.suppress(InputError):  # a page may be wrong without being unreadable: then its rows are counted
        assert files.tally_file(path).people <= 4000
    pq.write_table(pa.table({"report": [1, 2]}), path)
    with pytest.raises(InputError, match="carries no survey"):
        files.survey_of(path)
    with pytest.raises(InputError, match="nothing to write"):
        files.write(path, [])
    with pytest.raises(InputError, match="is refused"):
        files.tally_file(tmp_path / "nowhere.parquet")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
NAMES = "domain epsilon unit seeds optimised heads yes more kind low width first hash"
KEYS = st.sampled_from(NAMES.split())


@given(st.sampled_from(SURVEYS + OTHERS), st.dictionaries(KEYS, JSON, min_size=1, max_size=2))
def test_whatever_a_record_says_it_is_read_or_refused(survey, changes):
    record = {**survey.record, **changes}
    try:
        found = from_record(record)
    except InputError:
        return
    assert found.record == record


def test_bytes_of_strangers():
    survey = DirectEncoding(WORDS, epsilon=1)
    data = survey.randomize(WORDS).to_bytes()
    for bad in (data[:4], b"", b"dither\x00\x03" + data[8:], data[:8] + b"\xff\xff\xff\xff" + data[12:]):
        with pytest.raises(InputError, match="is refused"):
            Reports.from_bytes(bad, size=1)
