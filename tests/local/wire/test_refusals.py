"""What a stranger's client gets wrong first: refusals show what came and name the page; the rest shows in the counts."""

from __future__ import annotations

import json

import pytest

from dither.errors import DataError
from dither.local import DirectEncoding, Reports, files
from dither.local.collect.reports import same_survey

SURVEY = DirectEncoding(["yes", "no", "unsure"], epsilon=1)


def message(payload=b"\0", version=1, **other):
    text = json.dumps({**SURVEY.record, **other}).encode()
    return b"dither\0" + bytes([version]) + len(text).to_bytes(4, "little") + text + payload


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"epsilon": 1}, "their epsilon is 1 and that of this survey '1'"),
        ({"domain": ["yes", "no", "Unsure"]}, r"their domain\[2\] is 'Unsure' and that of this survey 'unsure'"),
        ({"domain": ["yes", "no"]}, r"their domain is \['yes', 'no'\] and that"),
        ({"domain": ["yes", "no", 1]}, r"their domain\[2\] is 1 and"),
        ({"more": 1}, "their more is 1 and that of this survey missing"),
    ],
)
def test_what_differs_is_shown_with_its_quotes(other, words):
    with pytest.raises(DataError, match=words) as refused:
        SURVEY.tally(Reports.from_bytes(message(**other)))
    assert "docs/wire-format.md" in str(refused.value)


def test_a_field_that_is_missing_is_said_to_be():
    came = {name: value for name, value in SURVEY.record.items() if name != "unit"}
    with pytest.raises(DataError, match="their unit is missing and that of this survey 'replace one person'"):
        same_survey(came, SURVEY.record, "reports")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"garbage of some length",
        bytearray(b"garbage"),
        message()[:11],
        message()[:30],
        b"dither\0\1\2\0\0\0{}",
        b"dither\0\1\2\0\0\0zz",
    ],
)
def test_bytes_that_are_no_message_name_the_page(data):
    with pytest.raises(DataError, match=r"What would work: .*docs/wire-format\.md"):
        Reports.from_bytes(data)


def test_a_length_in_the_wrong_order_of_bytes_is_told(tmp_path):
    good = message()
    wrong = good[:8] + good[8:12][::-1] + good[12:]
    with pytest.raises(DataError, match=r"length of the record = .*little-endian"):
        Reports.from_bytes(wrong)
    path = tmp_path / "day.reports"
    path.write_bytes(b"hello")
    with pytest.raises(DataError, match=r"no Parquet file.*nor a message of the wire format, .*docs/wire-format\.md"):
        files.tally_files(str(tmp_path / "*.reports"))


def test_a_value_that_is_there_twice_is_shown():
    with pytest.raises(DataError, match=r"domain = \['f', 'f'\]"):
        DirectEncoding(["a", "b", "c", "d", "e", "f", "f"], epsilon=1)
    with pytest.raises(DataError, match=r"domain = \[1, True\]"):
        DirectEncoding([0, 1, True], epsilon=1)


def test_records_are_compared_as_json_without_normalisation():
    survey = DirectEncoding(["\u00e9", "no"], epsilon=1)
    plain = json.dumps(survey.record, ensure_ascii=False, sort_keys=False, indent=1).encode()
    head = b"dither\0\1" + len(plain).to_bytes(4, "little")
    assert survey.tally(Reports.from_bytes(head + plain + b"\0")).people == 1
    apart = plain.replace("\u00e9".encode(), "e\u0301".encode())
    with pytest.raises(DataError, match="another survey"):
        survey.tally(Reports.from_bytes(b"dither\0\1" + len(apart).to_bytes(4, "little") + apart + b"\0"))


def test_mistakes_that_only_the_counts_show_are_what_the_page_says():
    """Two messages in one, and a wrong version: no refusal, as a stranger could then spoil a whole file by one report."""
    one = message(bytes([0, 2]))
    found = SURVEY.tally(Reports.from_bytes(one + one))
    inside = sum(byte < 3 for byte in one[:-2])
    assert inside > 0
    assert (found.people, found.rejected) == (4 + inside, len(one) - 2 - inside)
    found = SURVEY.tally(Reports.from_bytes(message(bytes([0, 2, 1]) * 10, version=2)))
    assert (found.people + found.duplicates, found.rejected) == (1, 1)
