"""What all surveys share: many people at once, sizes at the edge of a type, and what strangers send."""

from __future__ import annotations

import json
import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dither import ln
from dither.errors import InputError
from dither.local import files
from dither.local.collect.reports import Reports
from dither.local.collect.tally import Tally
from dither.local.registry import from_record
from dither.local.surveys import hadamard_response as hadamard
from dither.local.surveys import local_hashing as hashing
from dither.local.surveys import subset_selection as subset
from dither.local.surveys import unary_encoding as unary
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
from dither.noise import subsets

CHUNKS = [(hashing, "PART"), (hadamard, "PART"), (unary, "PART"), (subset, "PART"), (subsets, "ROWS")]


@pytest.fixture
def small_chunks(monkeypatch):
    """Work is done piece by piece; here a piece is eight people."""
    for module, name in CHUNKS:
        monkeypatch.setattr(module, name, 8)


@pytest.mark.parametrize(
    "survey",
    [
        DirectEncoding(range(200), epsilon=40),
        UnaryEncoding(range(200), epsilon=60, optimised=False),
        LocalHashing(range(40), epsilon=40),
        HadamardResponse(range(200), epsilon=40),
        SubsetSelection(range(200), epsilon=40),
    ],
    ids=repr,
)
def test_everybody_is_reported_once_and_in_place(survey, small_chunks):
    """With hardly any noise report i supports value i: for everybody, not only for the first piece of people."""
    values = [(k * 37) % len(survey.domain) for k in range(30)]
    reports = survey.randomize(values)
    assert len(reports) == 30
    for at, value in enumerate(values):
        one = survey.tally(Reports(survey.record, reports.payload[at : at + 1]))
        assert survey.estimate(one, method="raw").raw[value] > 0  # below zero for a value without support


@pytest.mark.parametrize("survey", [UnaryEncoding(range(200), epsilon=1), SubsetSelection(range(200), epsilon=1)], ids=repr)
def test_no_two_people_share_their_noise(survey, small_chunks):
    rows = survey.randomize([3] * 400).payload
    assert len({row.tobytes() for row in rows}) == 400


def test_the_seed_of_a_heavy_hitter_says_nothing_about_the_item():
    survey = HeavyHitters(epsilon=2, longest=2, seeds=64)
    for item in ("a", "b", "zz"):
        place = survey.randomize([item] * 40_000).payload.astype(np.int64) // survey.cells
        seen = np.bincount(place, minlength=survey.groups * survey.seeds)
        expected = 40_000 / seen.size
        statistic = float(((seen - expected) ** 2 / expected).sum())
        degrees = seen.size - 1
        assert statistic < degrees + 6 * math.sqrt(2 * degrees)  # a false alarm is rarer than 1e-6


@pytest.mark.parametrize("size", [255, 256, 257, 65536])
def test_sizes_at_the_edge_of_a_type(size):
    surveys = [DirectEncoding(size, epsilon=1), Longitudinal(range(size), first=1, forever=2), LocalHashing(size, epsilon=1)]
    surveys += [HadamardResponse(size, epsilon=1), NoisyNumber(0, 1, epsilon=1, steps=size - 1)]
    surveys += [Piecewise(0, 1, epsilon=1, reports=min(size, 2**15)), Hybrid(0, 1, epsilon=1, reports=min(size, 2**15) - 2)]
    if size in (256, 65536):
        side = math.isqrt(size)
        surveys += [GridResponse(width=side, height=side, epsilon=1, scores=kind) for kind in ("uniform", "distance")]
    for survey in surveys:
        values = list(survey.domain[:3]) if hasattr(survey, "domain") else [0, 1]
        tally = survey.tally(survey.randomize(values))
        assert (tally.people, tally.rejected) == (len(values), 0)


# -- strangers ---------------------------------------------------------------------------------------------------------


def test_tallies_of_strangers():
    survey = DirectEncoding(range(3), epsilon=1)
    good = {"record": survey.record, "counts": [1, 2, 3], "people": 6, "rejected": 0}
    assert Tally.from_json(json.dumps(good)).people == 6
    for change in (
        {"counts": [1.9, 2.9, 3.9]},
        {"counts": [[1, 2, 3]]},
        {"counts": [True, 2, 3]},
        {"counts": [-1, 2, 3]},
        {"counts": [2**63 - 1, 0, 0]},
        {"counts": [10**400, 0, 0]},
        {"people": 6.9},
        {"people": "6"},
        {"people": 10**400},
        {"people": -1},
        {"rejected": None},
        {"record": 5},
        {"record": [["kind", "direct"], [1, 2]]},
    ):
        with pytest.raises(InputError, match="is refused"):
            Tally.from_json(json.dumps({**good, **change}))
    with pytest.raises(InputError, match="is refused"):
        Tally.from_json("[" * 100_000)
    short = Tally.from_json(json.dumps({**good, "counts": [5]}))
    with pytest.raises(InputError, match="keeps 3 counts"):
        survey.estimate(short)
    with pytest.raises(InputError, match="keeps 3 counts"):
        Tally.from_json(json.dumps(good)) + short
    wild = survey.estimate(Tally(survey.record, np.array([2**53, 0, 0]), 1))
    assert wild.frequency.tolist() == [1, 0, 0]
    assert Tally.from_json(json.dumps(good)) != Tally(survey.record, np.array([1]), 6)
    most = Tally(survey.record, np.array([2**53, 0, 0]), 2**53)
    with pytest.raises(InputError, match="is refused"):
        most + most


def test_reports_of_strangers(tmp_path):
    survey = DirectEncoding([0, 1], epsilon=1)
    with pytest.raises(InputError, match="another survey"):
        survey.tally(Reports({**survey.record, "x": None}, survey.randomize([0]).payload))
    with pytest.raises(InputError, match="another survey"):
        survey.tally(DirectEncoding([False, True], epsilon=1).randomize([True]))
    with pytest.raises(InputError, match="is refused"):
        survey.tally(Reports(survey.record, np.array([0.5, 1.5])))
    path = tmp_path / "r.parquet"
    files.write(path, [survey.randomize([0, 1] * 2000)])
    data = path.read_bytes()
    for start in range(4, len(data) - 8, max(1, len(data) // 40)):
        path.write_bytes(data[:start] + bytes(x ^ 255 for x in data[start : start + 16]) + data[start + 16 :])
        try:
            found = files.tally_file(path, survey)
        except InputError:
            continue
        assert found.people + found.rejected <= 10**7
    metadata = {files.KEY: json.dumps(survey.record, sort_keys=True)}
    for strange in ([0.4, 1.0, 0.6], ["0", "1", "0x1"], [True, False, True], [b"0", b"1", b"0"]):
        pq.write_table(pa.table({"report": strange}).replace_schema_metadata(metadata), path)
        assert (files.tally_file(path).people, files.tally_file(path).rejected) == (0, 3)
    pq.write_table(pa.table({"report": [0, 1, 2, -1, 300, None]}).replace_schema_metadata(metadata), path)
    assert (files.tally_file(path).people, files.tally_file(path).rejected) == (2, 4)
    many = pa.table({"report": [5] * 300 + [1] * 200}).replace_schema_metadata(metadata)
    pq.write_table(many, path)
    assert (files.tally_file(path).people, files.tally_file(path).rejected) == (200, 300)
    pq.write_table(pa.table([[0], [1]], names=["report", "Report"]).replace_schema_metadata(metadata), path)
    assert files.tally_file(path).counts.tolist() == [1, 0]


def test_small_files_that_would_be_large(tmp_path):
    """Not read at all, or kept in one group: what a stranger packed tightly."""
    path = tmp_path / "r.parquet"
    bits, few = UnaryEncoding(range(40), epsilon=1), DirectEncoding(range(3), epsilon=1)
    large = pa.table({"report": pa.array([b"q" * 2000] * 20_000, pa.binary())})
    pq.write_table(large.replace_schema_metadata({files.KEY: json.dumps(bits.record)}), path, compression="zstd")
    assert files.tally_file(path, bits).rejected == 20_000
    many = pa.table({"report": pa.array(np.arange(300_000))}).replace_schema_metadata({files.KEY: json.dumps(few.record)})
    pq.write_table(many, path)
    found = files.tally_file(path, few)
    assert (found.people, found.rejected) == (3, 299_997)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\nx\n" + "\n" * 70_000 + "y\n", ["x", *[None] * 70_000, "y"]),
        ("a,b\nx,1\n" + "\n" * 140_000 + "y,2\n", ["x", "y"]),
        ("\ufeffa\r\nx\r\n", ["x"]),
    ],
    ids=["one column", "two columns", "a mark at the start"],
)
def test_lines_of_a_csv_file(tmp_path, text, expected):
    path = tmp_path / "in.csv"
    path.write_text(text, newline="", encoding="utf-8")
    assert [value for batch in files.read_values(path, "a") for value in batch] == expected


def test_csv_files_that_are_refused(tmp_path):
    path = tmp_path / "in.csv"
    for text in ('b,a\n"bad,x\n1,y\n2,z\n', "a,a\n1,2\n", "b\n1\n", ""):
        path.write_text(text)
        with pytest.raises(InputError, match="is refused"):
            list(files.read_values(path, "a"))
    path.write_bytes(b"a\n\xff\xfe\n")
    with pytest.raises(InputError, match="is refused"):
        list(files.read_values(path, "a"))
    twice = tmp_path / "in.parquet"
    pq.write_table(pa.table([[1], [2]], names=["a", "a"]), twice)
    with pytest.raises(InputError, match="is refused"):
        list(files.read_values(twice, "a"))


def test_extreme_epsilons_and_sizes_are_refused_in_words():
    survey = DirectEncoding(range(2), epsilon=1)
    for bad in (
        lambda: DirectEncoding(range(3), epsilon="1e-17"),
        lambda: DirectEncoding(range(3), epsilon=1e9),
        lambda: Duchi(0, 1, epsilon=1e9),
        lambda: HeavyHitters(epsilon="1e-300", longest=3),
        lambda: DirectEncoding(10**11, epsilon=1),
        lambda: DirectEncoding([0, 2**61 - 1], epsilon=1),
        lambda: LocalHashing(2**20, epsilon=1, seeds=2**20),
        lambda: DirectEncoding(range(3), epsilon=1).error(10**400),
        lambda: DirectEncoding(range(3), epsilon=1).estimate(
            DirectEncoding(range(3), epsilon=1).randomize([1]), confidence="0.99999999999999999999"
        ),
        lambda: DirectEncoding.for_error(1, people=10, half_width=1),
        lambda: DirectEncoding(np.bool_(1), epsilon=1),
        lambda: DirectEncoding(np.float64(3), epsilon=1),
        lambda: Reports.from_bytes(survey.randomize([0]).to_bytes(), size=0),
        lambda: Reports.from_bytes(survey.randomize([0]).to_bytes(), size=-1),
        lambda: survey.estimate(survey.randomize([0])).top(-1),
        lambda: files.to_arrow([0, 1]),
        lambda: DirectEncoding(range(10**30), epsilon=1),
        lambda: UnaryEncoding(range(3), epsilon=100),
        lambda: CoinFlip(heads="1e-18"),
        lambda: Longitudinal(range(3), first="1e-17", forever=1),
        lambda: Longitudinal(range(3), first=1, forever=2).client("[" * 5000 + "]" * 5000),
        lambda: Longitudinal(range(3), first=1, forever=2).client('{"record":{},"memo":[[Infinity,1]]}'),
        lambda: survey.tally(Reports({**survey.record, "x": object()}, survey.randomize([0]).payload)),
        lambda: from_record({**UnaryEncoding(range(3), epsilon=1).record, "epsilon": "1000000000"}),
        lambda: from_record({**Longitudinal(range(3), first=1, forever=2).record, "epsilon": "200000000"}),
    ):
        with pytest.raises(InputError, match="is refused"):
            bad()
    assert DirectEncoding.for_error(100, people=10, half_width=10**30).error(10) <= 10**30
    assert DirectEncoding(np.int64(3), epsilon=1).record == DirectEncoding(3, epsilon=1).record
    assert [len(survey.estimate(survey.randomize([0])).top(count)) for count in (0, 1, 5)] == [0, 1, 2]


def test_a_value_that_comes_back_is_not_covered_by_the_number_of_values():
    """(a, b, a) and (a, b, c) have two and three values, and reports that share one show it: more than 3 forever."""
    survey = Longitudinal(range(50), first=ln("29/10"), forever=ln(3))
    first = survey.permanent_response.channel().rows
    fresh = survey.fresh_response.channel().rows
    same = sum(first[0][m] * fresh[m][0] ** 2 for m in range(50))  # reports 1 and 3 are both "0", from one permanent answer
    apart = sum(first[0][m] * fresh[m][0] for m in range(50)) * sum(first[2][m] * fresh[m][0] for m in range(50))
    assert same / apart > 27
    client = survey.client()
    for value in (0, 1, 0):
        client.report(value)
    assert client.distinct == 2
    assert "public which reports share one" in type(client).guarantee.__doc__
