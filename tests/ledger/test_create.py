"""A ledger is made by an explicit step alone; a temporary one leaves nothing behind."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path

import pytest

from dither import Ledger, pure
from dither.errors import ConflictError, DitherError, LedgerError
from tests.ledger.children import fork, wait

TENTH = pure("0.1")


def test_a_ledger_is_made_by_an_explicit_step_alone(location, home):
    with pytest.raises(LedgerError, match="no ledger") as told:
        Ledger(location, budget=pure(1), domain="clinic")
    assert "Ledger.create" in str(told.value)
    for wrong in ({"domain": ""}, {"policy_hash": 3}, {"shares": {"ana": 1}}):  # said before anything is made
        with pytest.raises(DitherError):
            Ledger.create(location, budget=pure(1), **wrong)
    assert not home.exists() or not list(home.rglob("*.key"))
    Ledger.create(location, budget=pure(1), domain="clinic").close()
    with pytest.raises(ConflictError, match="a ledger already"):
        Ledger.create(location, budget=pure(1), domain="clinic")


def test_a_temporary_ledger_is_gone_when_it_is_closed(home):
    with Ledger.temporary(pure(1), domain="class") as ledger:
        place = Path(ledger.location)
        receipt = ledger.reserve(TENTH, "question")
        assert receipt.ledger.startswith("temporary-")
        assert receipt.name.startswith("temporary-")
        assert "temporary-" in receipt.to_json()
        ledger.commit(receipt, "42")
        assert ledger.verify([receipt]).ok
        with Ledger.temporary(pure(1), domain="class") as other:
            assert other.remaining().like(TENTH) == 10
            assert other.identity != ledger.identity
    assert not place.parent.exists()
    assert not home.exists() or not [path for path in home.rglob("*") if path.is_file()]  # nothing is left behind


def test_a_temporary_ledger_is_gone_with_whoever_had_it_and_with_the_program():
    held = [Ledger.temporary(pure(1))]
    place = Path(held[0].location)
    child = fork(lambda: held[0].close())  # a copy of the process closes its own connections alone
    assert wait([child]) == [0]
    assert place.exists()
    held.clear()
    gc.collect()
    assert not place.parent.exists()
    script = "import dither; print(dither.Ledger.temporary(dither.pure(1)).location)"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not Path(told.stdout.strip()).parent.exists()


def test_a_ledger_in_memory_is_refused_with_the_throw_away(tmp_path):
    for call in (Ledger, lambda place: Ledger.create(place, budget=pure(1))):
        with pytest.raises(LedgerError, match="would forget what was spent") as told:
            call(":memory:")
        assert "to try things out, Ledger.temporary(pure(1))" in told.value.instead
    with Ledger.temporary(pure(1), domain="class") as ledger:
        assert ledger.reserve(pure("0.1"), "how many?").name.startswith("temporary-")
