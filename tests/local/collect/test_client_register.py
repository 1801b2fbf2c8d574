"""Client ids: one report a client is counted, in one piece, in many, on several machines and in files; sizes of reports."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from dither.cli.main import app
from dither.errors import InputError
from dither.local import ClientRegister, Reports, Tally, files, survey_from_record
from dither.local.collect.client_register import part_of
from dither.local.collect.report_size import SIZES, report_size
from dither.local.registry import KINDS
from dither.local.surveys.direct_encoding import DirectEncoding
from dither.local.surveys.piecewise_and_duchi import Duchi
from dither.local.surveys.unary_encoding import UnaryEncoding
from tests.local.test_files import OTHERS, SURVEYS

SURVEY = DirectEncoding(["a", "b", "c"], epsilon=1)
IDS = [bytes([at % 7]) * 8 + bytes(8) for at in range(20)]  # seven clients, ids with zeros at their ends


def reports(payload, ids, survey=SURVEY):
    return Reports(survey.record, np.array(payload, dtype=survey.dtype)).with_ids(ids)


def test_the_first_report_of_a_client_counts():
    given = reports([0, 1, 2, 0, 1], [IDS[0], IDS[1], IDS[0], IDS[0], IDS[2]])
    tally = SURVEY.tally(given)
    assert (tally.counts.tolist(), tally.people, tally.rejected, tally.duplicates) == ([1, 2, 0], 3, 0, 2)
    assert "3 reports, 0 rejected, 2 duplicates" in repr(tally)
    assert Tally.from_json(tally.to_json()) == tally
    again = Reports.from_bytes(given.to_bytes())
    assert SURVEY.tally(again) == tally
    assert given.to_bytes()[7] == 2
    assert SURVEY.estimate(tally).people == 3


def test_ids_that_differ_in_their_last_byte_are_different():
    names = [bytes(15) + bytes([last]) for last in (1, 2, 1, 2, 3)]
    tally = SURVEY.tally(reports([0, 1, 2, 2, 2], names))
    assert (tally.counts.tolist(), tally.duplicates) == ([1, 1, 1], 2)


def test_a_client_whose_first_report_is_none_is_not_counted_later():
    tally = SURVEY.tally(reports([9, 1, 2], [IDS[0], IDS[0], IDS[1]]))
    assert (tally.counts.tolist(), tally.people, tally.rejected, tally.duplicates) == ([0, 0, 1], 1, 1, 1)


@pytest.mark.parametrize("survey", [SURVEY, UnaryEncoding(20, epsilon=1), Duchi(0, 1, epsilon=1)], ids=repr)
def test_tallies_by_client_do_not_add_up_and_say_what_does(survey):
    one = survey.tally(survey.randomize([0, 1] if survey is not SURVEY else ["a", "b"]).with_ids(IDS[:2]))
    plain = Tally(survey.record, one.counts, one.people)
    for left, right in ((one, one), (one, plain), (plain, one)):
        with pytest.raises(InputError, match=r"client ids.*ClientRegister"):
            left + right


def test_pieces_through_one_register_count_as_one():
    payload = [at % 3 for at in range(20)]
    whole = SURVEY.tally(reports(payload, IDS))
    register, total = ClientRegister(), Tally(SURVEY.record, np.zeros(3, dtype=np.int64), 0)
    for start in range(0, 20, 3):
        total += SURVEY.tally(register.first(reports(payload[start : start + 3], IDS[start : start + 3])))
        register = ClientRegister.from_bytes(register.to_bytes())  # a restart
    assert (total.counts.tolist(), total.people) == (whole.counts.tolist(), 7)
    assert (register.clients, register.duplicates, whole.duplicates) == (7, 13, 13)


def test_machines_with_parts_of_the_ids_add_up_to_one():
    payload = [at % 3 for at in range(20)]
    registers = [ClientRegister(part=part, parts=3) for part in range(3)]
    tallies = [SURVEY.tally(each.first(reports(payload, IDS))) for each in registers]  # all is sent to all
    total = tallies[0] + tallies[1] + tallies[2]
    assert total.counts.tolist() == SURVEY.tally(reports(payload, IDS)).counts.tolist()
    assert sum(each.elsewhere for each in registers) == 40
    assert [part_of(bytes([0] * 7 + [k]) + bytes(8), 3) for k in range(4)] == [0, 1, 2, 0]
    assert "part 2 of 3" in repr(registers[2])


def test_what_is_no_register_and_has_no_ids_is_refused():
    plain = SURVEY.randomize(["a"])
    data = ClientRegister().to_bytes()
    for bad in (
        lambda: ClientRegister().first(plain),
        lambda: ClientRegister(part=2, parts=2),
        lambda: ClientRegister(parts=0),
        lambda: ClientRegister.from_bytes(data[:-1]),
        lambda: ClientRegister.from_bytes(b"x" * 60),
        lambda: ClientRegister.from_bytes(data[:12] + b"\xff" * 32),
        lambda: plain.with_ids([b"short"]),
        lambda: plain.with_ids([b"a" * 16] * 2),
        lambda: plain + plain.with_ids([b"a" * 16]),
        lambda: Reports.from_bytes(b"dither\0"),
    ):
        with pytest.raises(InputError, match="is refused"):
            bad()


@pytest.mark.parametrize("survey", SURVEYS + OTHERS, ids=repr)
def test_a_record_says_how_large_a_report_is(survey):
    assert report_size(json.loads(json.dumps(survey.record))) == survey.dtype.itemsize
    values = ["a", "bc"] if "longest" in survey.record else list(getattr(survey, "domain", (0, 1)))[:2]
    given = survey.randomize(values)
    assert survey.tally(Reports.from_bytes(given.to_bytes())) == survey.tally(given)
    twice = given.with_ids(IDS[:2]) + given.with_ids(IDS[:2])
    found = survey.tally(Reports.from_bytes(twice.to_bytes()[:-1]))
    assert (found.people, found.duplicates, found.rejected) == (2, 1, 1)
    assert survey_from_record(json.dumps(survey.record)).record == survey.record


def test_every_survey_has_a_size_and_a_record_of_nonsense_has_none():
    assert set(SIZES) == set(KINDS)
    nonsense = {"domain": 7, "seeds": "x", "cells": 2, "width": 2**40, "height": 2**40, "steps": -1, "reports": True}
    for kind in set(KINDS) - {"coin flip", "duchi", "heavy hitters"}:
        for more in ({}, {"domain": [], "width": 2**20, "height": 2**20}):
            with pytest.raises(InputError, match="is refused"):
                report_size({"kind": kind, **nonsense, **more})
    with pytest.raises(InputError, match="no survey of that name"):
        report_size({"kind": "census"})


@pytest.mark.parametrize("survey", [SURVEY, UnaryEncoding(20, epsilon=1)], ids=repr)
def test_files_with_ids_count_once_a_client_over_all_of_them(survey, tmp_path):
    values = [survey.domain[at % 3] for at in range(20)]
    given = survey.randomize(values).with_ids(IDS)
    files.write(tmp_path / "a.parquet", [given])
    (tmp_path / "b.reports").write_bytes(given.to_bytes())
    whole = survey.tally(given)
    assert files.tally_file(tmp_path / "a.parquet") == files.tally_file(tmp_path / "b.reports") == whole
    both = files.tally_files(f"{tmp_path}/*")
    assert (both.counts.tolist(), both.people, both.duplicates) == (whole.counts.tolist(), 7, 33)
    register = ClientRegister()
    first = files.tally_file(tmp_path / "a.parquet", survey, register=register)
    second = files.tally_file(tmp_path / "b.reports", survey, register=register)
    assert (first + second).people == 7
    files.write(tmp_path / "c.parquet", [survey.randomize(values)])
    for bad, words in (
        (lambda: files.tally_files([f"{tmp_path}/*.parquet"]), "could count twice"),
        (lambda: files.tally_file(tmp_path / "c.parquet", register=register), "could count twice"),
        (lambda: files.tally_files([tmp_path / "a.parquet", f"{tmp_path}/a*"]), "named twice"),
        (lambda: files.tally_files(f"{tmp_path}/*.csv"), "no file"),
        (lambda: files.tally_files(tmp_path), "a folder"),
        (lambda: files.tally_files([]), "nothing to count"),
    ):
        with pytest.raises(InputError, match=words):
            bad()


def test_rows_without_an_id_are_left_out(tmp_path):
    table = files.to_arrow(reports([0, 1, 2, 1], IDS[:4]))
    strange = [pa.array([0, None, 300, -1], pa.int64()), pa.array([None, IDS[0], IDS[1], IDS[2]], pa.binary(16))]
    path = tmp_path / "reports.parquet"
    pq.write_table(pa.table(strange, names=["report", "client"]).replace_schema_metadata(table.schema.metadata), path)
    assert files.tally_file(path).rejected == 4
    short = pa.table([[0, 1], ["x", "y"]], names=["report", "client"])
    pq.write_table(short.replace_schema_metadata(table.schema.metadata), path)
    assert files.tally_file(path).rejected == 2


def test_a_pattern_on_the_command_line(tmp_path):
    for name in "ab":
        files.write(tmp_path / f"{name}.parquet", [SURVEY.randomize(["a"] * 30)])
    (tmp_path / "c.reports").write_bytes(SURVEY.randomize(["b"] * 30).to_bytes() + b"\x09")
    found = CliRunner().invoke(app, ["local", "estimate", f"{tmp_path}/*", "--json"])
    assert found.exit_code == 0, found.output
    told = json.loads(found.stdout)
    assert (told["people"], told["rejected"]) == (90, 1)
    files.write(tmp_path / "d.parquet", [SURVEY.randomize(["a"] * 3).with_ids([IDS[0]] * 3)])
    found = CliRunner().invoke(app, ["local", "estimate", f"{tmp_path}/d.parquet"])
    assert "2 reports were further ones" in found.output
