"""Texts in double quotes, which are names in SQL: the refusal says so, and what it proposes is answered."""

from __future__ import annotations

import pytest

from dither.errors import QuestionError
from tests.query.clinics import clinic

ROWS = "SELECT COUNT(*) AS n FROM visits WHERE "
MEANT = {
    'ward = "surgery"': "ward = 'surgery'",
    '"A" <> ward': "'A' <> ward",
    'ward IN ("X y", \'A\', "B")': "ward IN ('X y', 'A', 'B')",
    'ward = "it\'s"': "ward = 'it''s'",
}


@pytest.mark.parametrize(("asked", "meant"), MEANT.items())
def test_what_is_proposed_has_single_quotes(tmp_path, asked, meant):
    data = clinic(tmp_path)
    with pytest.raises(QuestionError, match="texts stand in single quotes") as told:
        data.quote(ROWS + asked, epsilon=1)
    assert told.value.instead.startswith("'")
    assert told.value.instead.endswith("or one of its columns: person, ward, sex, cost, age, day")
    data.quote(ROWS + meant, epsilon=1)


@pytest.mark.parametrize("asked", ["ward = surgery", "\"wrad\" = 'A'", 'visits."surgery" = ward', '"surgery" + 1 > 2'])
def test_names_are_names(tmp_path, asked):
    """Without quotes, near to a column, behind the name of a table, or in a calculation."""
    with pytest.raises(QuestionError, match="no such column") as told:
        clinic(tmp_path).quote(ROWS + asked, epsilon=1)
    assert "single quotes" not in str(told.value)


def test_a_column_in_double_quotes_is_one(tmp_path):
    clinic(tmp_path).quote(f'{ROWS}"cost" > "age"', epsilon=1)


@pytest.mark.parametrize("text", ["\x1b[31mred", "a\u202eb", "two\nlines", "x" * 5000])
def test_what_a_terminal_would_obey_is_not_repeated(tmp_path, text):
    with pytest.raises(QuestionError) as found:
        clinic(tmp_path).quote(f'SELECT COUNT(*) AS n FROM visits WHERE ward = "{text}"', epsilon=1)
    assert text not in str(found.value)
    assert "texts stand in single quotes" in found.value.instead


def test_a_column_is_not_compared_with_itself(tmp_path):
    with pytest.raises(QuestionError) as found:
        clinic(tmp_path).quote("SELECT COUNT(*) AS n FROM visits WHERE ward = wardx", epsilon=1)
    assert "ward = ward" not in str(found.value)
