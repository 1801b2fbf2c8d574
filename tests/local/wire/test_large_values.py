"""Values that a double does not hold: a parser of JSON that rounds them still finds each value in its place."""

from __future__ import annotations

import json

import pytest

from dither.local import CoinFlip, DirectEncoding, Duchi, Reports, survey_from_record
from dither.local.portable_survey import LARGEST_EXACT
from dither.local.survey import LARGEST_LABEL
from tests.local.wire import vectors
from tests.local.wire.reference_client import Client, as_double

LARGE = [2**53, 2**53 + 1, 2**53 + 2, -(2**53) - 1, -(2**53), LARGEST_LABEL - 1, 1 - LARGEST_LABEL, LARGEST_EXACT, 0]
DOMAINS = [
    LARGE,
    [(value, 1) for value in LARGE],
    [*map(str, LARGE[:3]), *LARGE[:3], (2**53, 2**53 + 1), (2**53 + 1, 2**53)],
]


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: str(domain[0]))
def test_every_value_has_its_own_place_for_a_parser_that_rounds(domain):
    survey = DirectEncoding(domain, epsilon=1)
    table = survey.client_table()
    rounded = json.loads(table, parse_int=as_double)
    assert rounded == json.loads(table), "no number outside the record is rounded"
    assert rounded["dither_client_table"] == 2, "who reads values from the record refuses it"
    client = Client(json.dumps(rounded))
    places = [client._place(list(value) if isinstance(value, tuple) else value) for value in domain]
    assert places == list(range(len(domain)))
    with pytest.raises(ValueError, match="not in list"):
        client._place(2**53 + 3)


@pytest.mark.parametrize(
    "survey",
    [
        DirectEncoding([LARGEST_EXACT, -LARGEST_EXACT, "9007199254740993", (0, LARGEST_EXACT)], epsilon=1),
        DirectEncoding([True, False], epsilon=1),
        CoinFlip(),
        Duchi(0, 2**53 + 1, epsilon=1),
    ],
    ids=repr,
)
def test_a_table_whose_values_doubles_hold_is_of_version_1(survey):
    table = json.loads(survey.client_table(), parse_int=as_double)
    assert table["dither_client_table"] == 1
    assert "domain" not in table
    assert json.loads(table["record"], parse_int=as_double) == survey.record


def test_records_are_what_they_were():
    survey = DirectEncoding([2**53, 2**53 + 1], epsilon=1)
    text = json.loads(survey.client_table())["record"]
    assert text.startswith('{"domain": [9007199254740992, 9007199254740993], ')
    assert survey_from_record(text).domain == survey.domain
    found = Reports.from_bytes(survey.randomize([2**53, 2**53 + 1]).to_bytes())
    assert survey.tally(found).people == 2


def test_some_vectors_need_exact_values():
    """Who rounds has another place for one value at least, and so another report."""
    kinds = {each["table"]["kind"] for each in json.loads(vectors.PATH.read_text())["surveys"] if "domain" in each["table"]}
    assert kinds == {"direct", "hadamard", "longitudinal"}
    for survey, clients in vectors.surveys():
        if json.loads(survey.client_table())["dither_client_table"] == 2:
            rounding = Client(survey.client_table())
            listed = json.loads(json.dumps(rounding.domain), parse_int=as_double)
            values = [vectors.given(value, survey) for client in clients for value in client]
            found = [listed.index(json.loads(json.dumps(value), parse_int=as_double)) for value in values]
            assert found != [rounding._place(value) for value in values], survey
