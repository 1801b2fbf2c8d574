"""A lease that is renewed while a long answer is computed."""

from __future__ import annotations

import time

import pytest

from dither import pure
from dither.errors import InProgressError
from dither.query.release import lease_renewed


def test_nobody_else_begins_while_it_is_renewed(ledger):
    receipt = ledger.reserve(pure("0.1"), "q", lease=2)
    ledger.touch(receipt)
    with lease_renewed(ledger, receipt, lease=3):
        time.sleep(3)
        with pytest.raises(InProgressError):
            ledger.reserve(pure("0.1"), "q", lease=1)
    assert ledger.commit(receipt, "answer") == "answer"
    assert ledger.verify().faults == ()
    assert "renewed" in [entry.kind for entry in ledger.history()]


def test_who_was_overtaken_renews_nothing(ledger):
    receipt = ledger.reserve(pure("0.1"), "q", lease=1)
    time.sleep(1.1)
    second = ledger.reserve(pure("0.1"), "q", lease=60)
    assert second.attempt == 2
    before = len(list(ledger.history()))
    ledger.touch(receipt, lease=60)
    assert len(list(ledger.history())) == before
    ledger.touch(second, lease=60)
    ledger.commit(second, "answer")
    ledger.touch(second, lease=60)  # the answer is there: nothing to renew
    assert ledger.verify().faults == ()


@pytest.mark.parametrize("lease", [0, -1, 10**9, 1.5])
def test_leases_that_are_none(ledger, lease):
    receipt = ledger.reserve(pure("0.1"), "q")
    with pytest.raises((ValueError, TypeError)):
        ledger.touch(receipt, lease=lease)
