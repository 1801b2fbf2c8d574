"""Rows that have one owner by a chain of the policy: of a child and its parent, and of two children of one parent."""

from __future__ import annotations

import pytest

from dither.errors import QuestionError
from dither.query.sql.parse import parse
from tests.query.chain_shop import policy

EXISTS = "SELECT COUNT(*) AS n FROM {} AS a WHERE EXISTS (SELECT 1 FROM {} AS b WHERE {})"


@pytest.mark.parametrize(
    ("left", "right", "on"),
    [
        ("lines", "lines", "a.oid = b.oid"),
        ("parcels", "parcels", "b.who = a.who AND b.oid = a.oid"),
        ("lines", "orders", "a.oid = b.oid"),
        ("orders", "parcels", "a.oid = b.oid AND a.who = b.who"),
    ],
)
def test_a_whole_key_of_a_chain_is_enough(left, right, on):
    assert parse(EXISTS.format(left, right, on), policy()).relation.code == "semi_join"


@pytest.mark.parametrize(
    ("left", "right", "on"),
    [
        ("lines", "lines", "a.ward = b.ward"),
        ("lines", "parcels", "a.oid = b.oid"),  # a parcel's owner hangs on two columns
        ("lines", "returns", "a.ward = b.ward"),
        ("lines", "orders", "a.ward = b.ward"),
        ("orders", "lines", "a.ward = b.ward"),
        ("orders", "orders", "a.oid = b.oid"),  # nobody says that an order is of one person
    ],
)
def test_other_equalities_are_refused(left, right, on):
    with pytest.raises(QuestionError, match="because of other people"):
        parse(EXISTS.format(left, right, on), policy())
