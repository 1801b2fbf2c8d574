"""Unused receipts: charges of this process for which no data was read yet, which alone can be refunded.

The seal of a receipt is a mark in the memory of the process that made it; a copy of the process (fork) has none. A
charge whose refund failed half-way is in doubt: its refund may be tried again, but nothing else takes it for untouched.
"""

from __future__ import annotations

import os

_whole: set[tuple[str, int]] = set()  # ledger, number of the charge
_doubtful: set[tuple[str, int]] = set()


def seal(ledger: str, number: int) -> None:
    """Mark a charge that was made here, for an answer that nobody has begun to compute."""
    _whole.add((ledger, number))


def break_seal(ledger: str, number: int) -> bool:
    """Remove the mark, since data is about to be read; whether there was one."""
    return _taken(_whole, (ledger, number))


def begin_refund(ledger: str, number: int) -> bool:
    """Remove the mark, or the doubt, since a charge is about to be given back; whether there was one."""
    return _taken(_whole, (ledger, number)) or _taken(_doubtful, (ledger, number))


def in_doubt(ledger: str, number: int) -> None:
    """Mark a charge of which it is not certain whether it was given back."""
    _doubtful.add((ledger, number))


def _taken(seals: set[tuple[str, int]], one: tuple[str, int]) -> bool:
    try:
        seals.remove(one)  # one step: of two threads, one gets it
    except KeyError:
        return False
    return True


def forget() -> None:
    """Forget all receipts, as a copy of the process must: data may be touched for them elsewhere."""
    _whole.clear()
    _doubtful.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=forget)
