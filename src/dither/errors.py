"""Every error that dither raises on purpose, in one tree.

DitherError
├── InputError (also a ValueError)     something you gave is refused; nothing has happened yet
│   ├── ArgumentError (also a TypeError) a call without an argument that is needed, or with one that is not known
│   ├── NumberError                    not an exact number, or outside the range that is allowed here
│   ├── SizeError                      a size or shape that no array can have
│   ├── DataError                      an array or a list of the wrong kind
│   ├── UnitError                      guarantees about different neighbours, or a change of unit that proves nothing
│   ├── BudgetError                    what was asked for is used up, or costs more than is left
│   ├── ConflictError                  it contradicts what the ledger holds: another question, domain, policy or place
│   ├── PolicyError                    an owner's policy that says too little, too much, or two things at once
│   ├── QuestionError                  SQL that dither does not answer, with its place
│   └── GuaranteeError                 a theorem that does not apply, or a promise that does not have what was asked
├── MissingExtraError (also an ImportError) a library beyond the base is not installed; nothing has happened yet
├── EntropyError (also a RuntimeError) the operating system gave no randomness; nothing was drawn
├── PrecisionError (also a RuntimeError) a bound could not be certified, so it is not given
├── InProgressError (also a RuntimeError) the answer is being computed elsewhere; ask again in a while
├── ReleaseError (also a RuntimeError) a question failed after data was touched: charged, and the cause is not told
├── LedgerError (also a RuntimeError)  the ledger cannot be read or kept
│   └── TamperError                    the ledger is not what it was: changed, cut or put back
├── GatewayError (also a RuntimeError) a gateway cannot be reached, does not take the token, or replies what is no answer
└── BrokenPromise (also an AssertionError) a check found that a mechanism does not do what it says

NotPrivateWarning (a UserWarning)      noise comes from a seed: whoever knows the seed can take it away again

Each error says where, what came, why it is refused and what would work; the four parts are also attributes.
"""

from __future__ import annotations

from typing import Self

__all__ = [
    "ArgumentError",
    "BrokenPromise",
    "BudgetError",
    "ConflictError",
    "DataError",
    "DitherError",
    "EntropyError",
    "GatewayError",
    "GuaranteeError",
    "InProgressError",
    "InputError",
    "LedgerError",
    "MissingExtraError",
    "NotPrivateWarning",
    "NumberError",
    "PolicyError",
    "PrecisionError",
    "QuestionError",
    "ReleaseError",
    "SizeError",
    "TamperError",
    "UnitError",
]

LONGEST_SHOWN = 60


def show(value: object) -> str:
    """A short text for any value: never longer than a line, and never an error itself."""
    try:
        text = repr(value)
    except Exception:  # a huge integer or a hostile __repr__ must not hide the refusal
        text = f"<{type(value).__name__}>"
    if len(text) > LONGEST_SHOWN:
        text = text[: LONGEST_SHOWN - 3] + "..."
    return text


class DitherError(Exception):
    """The root: catch this to catch everything that dither refuses."""

    def __init__(self, where: str, came: object, why: str, instead: str) -> None:
        self.where = where
        self.came = came
        self.why = why
        self.instead = instead
        super().__init__(f"{where} = {show(came)} is refused: {why}. What would work: {instead}.")

    def __reduce__(self) -> tuple[type[DitherError], tuple[str, str, str, str]]:
        # Errors cross process borders (worker pools); the offending value itself stays behind.
        return type(self).from_text, (self.where, show(self.came), self.why, self.instead)  # type: ignore[return-value]

    @classmethod
    def from_text(cls, where: str, came: str, why: str, instead: str) -> Self:
        """An error about what is described in words: a value of another process, or one that was left out."""
        return cls(where, _Shown(came), why, instead)


class _Shown:
    """Stands for a value that has words of its own: one of another process, or one that was left out."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def stated(**given: object) -> object:
    """What came of several parameters of which one is needed, for an error: nothing, or those that are not None."""
    found = [f"{name}={show(value)}" for name, value in given.items() if value is not None]
    return _Shown(" and ".join(found) or "nothing")


class InputError(DitherError, ValueError):
    """Something given by the caller is refused before anything happened."""


class ArgumentError(InputError, TypeError):
    """A call without an argument that is needed, or with one too many, or of a name or a kind that is not known."""


class NumberError(InputError):
    """Not an exact number, or a number outside the range that is allowed here."""


class SizeError(InputError):
    """A size or shape that no array can have."""


class DataError(InputError):
    """An array or a list of the wrong kind."""


class UnitError(InputError):
    """Guarantees about different neighbours do not add up, and not every unit follows from every other."""


class BudgetError(InputError):
    """What was asked for is used up, or costs more than is left."""


class ConflictError(InputError):
    """What was given contradicts what the ledger holds."""


class PolicyError(InputError):
    """A policy that says too little, too much, or two things at once; `where` is the place in it."""


class QuestionError(InputError):
    """SQL that dither does not answer; `where` is its place, `instead` names ways in words, or as a template with gaps.

    No other question is proposed: what means the same is answered.
    """


class GuaranteeError(InputError):
    """A theorem does not apply here, or a promise does not have what was asked of it."""


class MissingExtraError(DitherError, ImportError):
    """A library beyond the base installation is not there; `instead` is the command that installs it."""


class EntropyError(DitherError, RuntimeError):
    """The operating system gave no randomness, so nothing was drawn."""


class PrecisionError(DitherError, RuntimeError):
    """A bound could not be certified; dither refuses rather than estimates."""


class InProgressError(DitherError, RuntimeError):
    """Somebody computes this answer now; it will be stored, or may be computed again when the lease has ended."""


class ReleaseError(DitherError, RuntimeError):
    """A question failed after data was touched; it stays charged. One text for every cause, since a cause may be a row."""


class LedgerError(DitherError, RuntimeError):
    """The ledger cannot be read or kept, so nothing is granted."""


class TamperError(LedgerError):
    """The ledger is not what it was: an entry changed, the end was cut, or an older copy was put back."""


class GatewayError(DitherError, RuntimeError):
    """A gateway cannot be reached, does not take the token, has too much to do, or replies what is no answer."""


class BrokenPromise(DitherError, AssertionError):  # noqa: N818 - it is what happened
    """A check found a mechanism that does not do what it says."""


class NotPrivateWarning(UserWarning):
    """Noise is being drawn from a seed. Anyone who knows the seed can subtract it."""
