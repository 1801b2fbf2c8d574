"""Readers of privacy parameters, epsilon, rho and delta, and of the exact numbers in stored records."""

from __future__ import annotations

import math
import re
from fractions import Fraction

from dither.errors import DataError, GuaranteeError, InputError, NumberError, stated
from dither.numeric.number import Number, NumberLike, exact, rational

MOST_COPIES = 10**18  # of one guarantee in a sum


def refuse_newer(name: str, version: object, newest: int, error: type[InputError] = DataError) -> None:
    """Refuse what a later dither wrote, before anything else of it is looked at; other faults are the reader's to name."""
    if type(version) is int and version > newest:
        raise error(name, version, f"a newer dither wrote it; this one reads up to version {newest}", "a newer dither")


def read_epsilon(epsilon: NumberLike) -> Number:
    """An epsilon as an argument: an exact number above zero."""
    return exact(epsilon, name="epsilon", positive=True)


def read_rho(rho: NumberLike) -> Fraction:
    """A rho as an argument: a rational above zero."""
    return rational(rho, name="rho", positive=True)


def check_price(epsilon: NumberLike | None, rho: NumberLike | None) -> None:
    """Refuse an epsilon together with a rho, and neither of them."""
    if (epsilon is None) == (rho is None):
        came = stated(epsilon=epsilon, rho=rho)
        raise NumberError("price", came, "exactly one of epsilon and rho is needed", "epsilon=1, or rho='0.1'")


def read_price(epsilon: NumberLike | None, rho: NumberLike | None) -> tuple[Number | None, Fraction | None]:
    """An epsilon or a rho, whichever was given: exactly one of them."""
    check_price(epsilon, rho)
    return read_epsilon_if_any(epsilon), read_rho_if_any(rho)


def read_epsilon_if_any(epsilon: NumberLike | None) -> Number | None:
    """An epsilon, or None: then there is a rho."""
    return None if epsilon is None else read_epsilon(epsilon)


def read_rho_if_any(rho: NumberLike | None) -> Fraction | None:
    """A rho, or None: then there is an epsilon."""
    return None if rho is None else read_rho(rho)


def read_delta(delta: NumberLike) -> Fraction:
    """A delta as an argument: a rational, at least 0 and below 1."""
    value = rational(delta, name="delta", nonnegative=True)
    if value >= 1:
        why = "it is a probability below 1: with a delta of 1 or more nothing is promised"
        raise NumberError("delta", delta, why, "a small probability such as '1e-6'")
    return value


def finite_epsilon(epsilon: float, delta: NumberLike | None, promise: str) -> float:
    """An epsilon that was found at a delta, or at none: then it is refused where it is infinite, since a delta is wanted."""
    if delta is None and epsilon == math.inf:
        why = f"{promise} has no epsilon without a delta"
        raise GuaranteeError.from_text("delta", "nothing", why, ".epsilon('1e-6'); .epsilon(0) is inf")
    return epsilon


# -- stored records: dither wrote them, but somebody else may have touched them -------------------------------------


def stored_list(value: object) -> list[list[object]]:
    if not isinstance(value, list) or not value:
        raise ValueError("a list with something in it")
    return value


def stored_fraction(value: object) -> Fraction:
    """A rational at least zero, written as digits or digits/digits: no exponents, so no surprises in size."""
    if not isinstance(value, str) or not re.fullmatch(r"[0-9]+(/[0-9]+)?", value):
        raise ValueError("a rational")
    return Fraction(value)


def stored_delta(value: object) -> Fraction:
    delta = stored_fraction(value)
    if delta > 1:
        raise ValueError("a probability")
    return delta


def stored_count(value: object) -> int:
    if type(value) is not int or not 1 <= value <= MOST_COPIES:
        raise ValueError("a count")
    return value


def stored_number(value: object) -> Number:
    number = Number.from_json(value)
    if number.sign() < 0:
        raise ValueError("not negative")
    return number
