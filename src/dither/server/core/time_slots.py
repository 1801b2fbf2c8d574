"""Time slots: where the owner wants it, an answer leaves a fixed time after its question began to be computed.

The slot is chosen in the quote, from public facts alone: the caller's wish, or the middle of the owner's list. What is not
ready when the slot ends is the one fixed failure, and stays charged. So the time of a reply tells one bit: ready or not.
What no row was read for (refusals, free answers, stored answers whose own slot is over) does not wait; somebody else's same
answer, found before that one's slot is over, does.
"""

from __future__ import annotations

from dither.errors import DataError, NumberError


def choose_slot(slots: tuple[float, ...], wish: float | None) -> float | None:
    """The slot of a question, in seconds; None where the owner has none."""
    if wish is not None and (isinstance(wish, bool) or not isinstance(wish, (int, float))):
        raise DataError("slot", wish, "it is not a number of seconds", "one of the dataset's slots, such as 5")
    if not slots:
        if wish is not None:
            raise DataError("slot", wish, "answers of this dataset leave as soon as they are there", "no slot")
        return None
    if wish is None:
        return slots[len(slots) // 2]
    found = next((slot for slot in slots if slot >= float(wish)), None)
    if found is None:
        raise NumberError("slot", wish, "it is longer than any of the owner's", f"at most {slots[-1]:g} seconds")
    return found
