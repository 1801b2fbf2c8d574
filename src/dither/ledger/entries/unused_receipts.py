"""Receipts that were made here and not used: as long as the seal is whole, no data was touched for them.

A seal is in the memory of the process that made the receipt; a copy of the process (fork) has none. A charge whose refund
failed half-way is in doubt: its refund may be tried again, but nothing else takes it for untouched.
"""

from __future__ import annotations

import os

_whole: set[tuple[str, int]] = set()  # ledger, number of the charge
_doubtful: set[tuple[str, int]] = set()


def seal(ledger: str, number: int) -> None:
    """A charge was made here, for an answer that nobody has begun to compute."""
    _whole.add((ledger, number))


def break_seal(ledger: str, number: int) -> bool:
    """Data is about to be touched; whether the seal was whole until now."""
    return _taken(_whole, (ledger, number))


def begin_refund(ledger: str, number: int) -> bool:
    """A charge is about to be given back; whether it may be."""
    return _taken(_whole, (ledger, number)) or _taken(_doubtful, (ledger, number))


def in_doubt(ledger: str, number: int) -> None:
    """It is not certain whether the charge was given back."""
    _doubtful.add((ledger, number))


def _taken(seals: set[tuple[str, int]], one: tuple[str, int]) -> bool:
    try:
        seals.remove(one)  # one step: of two threads, one gets it
    except KeyError:
        return False
    return True


def _forget() -> None:
    _whole.clear()
    _doubtful.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
