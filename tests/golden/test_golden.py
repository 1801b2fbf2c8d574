"""Behaviour does not change by the way: every golden record is what it was."""

from __future__ import annotations

import json

import pytest

from tests.golden.clinic import BUDGETS
from tests.golden.records import FOLDER, asked, records


@pytest.mark.parametrize("kind", BUDGETS)
def test_questions_are_understood_priced_told_and_counted_as_before(kind, tmp_path):
    before = json.loads((FOLDER / f"{kind.replace(' ', '_')}.json").read_text())
    found = records(kind, tmp_path)
    assert list(found) == list(before) == [name for name, _, _ in asked(kind)]
    for name, record in found.items():
        for fact, value in record.items():
            assert value == before[name].get(fact), f"{kind}: {name}: {fact}"
        assert set(record) == set(before[name])
