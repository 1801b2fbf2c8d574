"""Priors: how likely each input is before anything is said, as exact probabilities that add up to one."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Set
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from dither.errors import DataError, SizeError
from dither.numeric.number import NumberLike, rational

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Lists and tuples, since a text would be a sequence of texts.
RowLike: TypeAlias = "list[Any] | tuple[Any, ...] | NDArray[Any]"
PriorLike: TypeAlias = "Literal['uniform'] | Mapping[Any, NumberLike] | RowLike"


def read_prior(prior: PriorLike, inputs: tuple[Hashable, ...]) -> list[Fraction]:
    """Exact probabilities of the inputs: "uniform", a mapping, or a list in the order of the inputs."""
    if isinstance(prior, str) and prior == "uniform":
        return [Fraction(1, len(inputs))] * len(inputs)
    if isinstance(prior, Mapping):
        unknown = [label for label in prior if label not in inputs]
        if unknown:
            raise DataError("prior", unknown[0], "there is no such input", ", ".join(map(repr, inputs[:4])))
        listed = [prior.get(label, 0) for label in inputs]
    elif isinstance(prior, Iterable) and not isinstance(prior, (str, bytes, Set)):
        listed = list(prior)
    else:
        raise DataError("prior", prior, "it is no distribution", "'uniform', or one probability for each input")
    if len(listed) != len(inputs):
        raise SizeError("prior", len(listed), f"there are {len(inputs)} inputs", "one probability for each")
    chances = [rational(p, name="prior", nonnegative=True) for p in listed]
    if sum(chances) != 1:
        why = f"its probabilities add up to {float(sum(chances, start=Fraction(0))):.17g}"
        raise DataError("prior", listed[:4], why, "exact probabilities such as '1/3', which add up to 1")
    return chances
