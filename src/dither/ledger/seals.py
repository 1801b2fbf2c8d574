"""Receipts that were made here and not used: as long as the seal is whole, no data was touched for them.

A seal is in the memory of the process that made the receipt; a copy of the process (fork) has none.
"""

from __future__ import annotations

import os

_whole: set[tuple[str, int]] = set()  # ledger, number of the charge


def seal(ledger: str, number: int) -> None:
    """A charge was made here, for an answer that nobody has begun to compute."""
    _whole.add((ledger, number))


def break_seal(ledger: str, number: int) -> bool:
    """Data is about to be touched, or the charge to be given back; whether the seal was whole until now."""
    try:
        _whole.remove((ledger, number))  # one step: of two threads, one gets it
    except KeyError:
        return False
    return True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_whole.clear)
