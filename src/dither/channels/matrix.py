"""Stochastic matrices: what may be said for each input, as a matrix whose rows are probabilities, and their algebra.

Entries are exact (fractions, or rational functions of e^epsilon: `rational_function.py`), and then rows add up to one
exactly; or floats, and then rows add up to one within TOLERANCE and what is computed from them is floats as well.

    a.then(b)           b sees only what a says: post-processing, the product of the matrices
    a.product(b)        both on the same input, independently of each other: what is said is a pair
    a.mix(b, weight)    a with this probability, b otherwise, and nobody is told which
    a.push(prior)       how likely each output is
    a.posterior(prior)  for each output that can come, how likely each input then is
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from dither.arguments import argument_errors
from dither.channels.labels import read_labels
from dither.channels.prior import PriorLike, read_prior
from dither.channels.rational_function import Ratio
from dither.errors import DataError, NumberError, SizeError
from dither.numeric.number import NumberLike, rational

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MatrixEntry = Fraction | Ratio
MatrixRow = tuple[MatrixEntry, ...]
MatrixLike: TypeAlias = "Sequence[Sequence[NumberLike | Ratio]] | NDArray[Any]"
TOLERANCE = 1e-9  # of the sum of a row of floats
EXAMPLE = "[['3/4', '1/4'], ['1/4', '3/4']]"


@argument_errors
class StochasticMatrix:
    """Rows that are distributions, with labelled inputs and outputs: what a `Channel` is without its questions."""

    __slots__ = ("__dict__", "floats", "inputs", "outputs", "rows")
    rows: tuple[MatrixRow, ...] | None  # exact entries, or
    floats: NDArray[np.float64] | None  # these
    inputs: tuple[Hashable, ...]
    outputs: tuple[Hashable, ...]

    def __init__(
        self, matrix: MatrixLike, inputs: Iterable[Hashable] | None = None, outputs: Iterable[Hashable] | None = None
    ) -> None:
        self.rows, self.floats = _read(matrix)
        height, width = (len(self.rows), len(self.rows[0])) if self.rows is not None else _shape(self.floats)
        self.inputs = _labels(inputs, height, "inputs")
        self.outputs = _labels(outputs, width, "outputs")

    @classmethod
    def identity(cls, labels: Iterable[Hashable]) -> Self:
        """The identity matrix on these `labels`: it says its input."""
        listed = read_labels(labels, "labels")
        return cls([[Fraction(int(i == j)) for j in range(len(listed))] for i in range(len(listed))], listed, listed)

    @property
    def is_exact(self) -> bool:
        """Whether entries are exact numbers, and not floats."""
        return self.rows is not None

    @cached_property
    def matrix(self) -> NDArray[np.float64]:
        """The entries as floats, the nearest ones or those beside them."""
        import numpy as np

        if self.floats is not None:
            return self.floats
        assert self.rows is not None
        return np.array([[float(entry) for entry in row] for row in self.rows])

    def place(self, label: Hashable, *, output: bool = False) -> int:
        """The row of the input `label`; with `output` the column of that output."""
        known = self.outputs if output else self.inputs
        try:
            return known.index(label)
        except ValueError:
            what = "output" if output else "input"
            raise DataError(what, label, f"this channel has no such {what}", ", ".join(map(repr, known[:4]))) from None

    def row(self, label: Hashable) -> dict[Hashable, MatrixEntry | float]:
        """The distribution of the outputs for the input `label`."""
        at = self.place(label)
        entries: Sequence[Any] = self.rows[at] if self.rows is not None else [float(x) for x in self.matrix[at]]
        return dict(zip(self.outputs, entries, strict=True))

    def entries(self, at: int) -> tuple[MatrixEntry, ...]:
        """The entries of the row `at` this place, floats at their binary value."""
        return self.rows[at] if self.rows is not None else tuple(Fraction(x) for x in self.matrix[at].tolist())

    # -- putting channels together -----------------------------------------------------------------------------

    def then(self, other: Self) -> Self:
        """The `other` channel on what this one says: post-processing."""
        check_channel(other)
        if self.outputs != other.inputs:
            raise DataError("inputs", other.inputs[:4], "they are not what the first channel says", str(self.outputs[:4]))
        if self.rows is None or other.rows is None:
            return type(self)(self.matrix @ other.matrix, self.inputs, other.outputs)
        columns = list(zip(*other.rows, strict=True))
        product = [[_dot(row, column) for column in columns] for row in self.rows]
        return type(self)(product, self.inputs, other.outputs)

    def product(self, other: Self) -> Self:
        """This and the `other` channel on the same input, independently: the output is the pair of outputs."""
        self._same_inputs(other)
        outputs = [(a, b) for a in self.outputs for b in other.outputs]
        if self.rows is None or other.rows is None:
            joined = (self.matrix[:, :, None] * other.matrix[:, None, :]).reshape(len(self.inputs), -1)
            return type(self)(joined, self.inputs, outputs)
        rows = [[a * b for a in row for b in twin] for row, twin in zip(self.rows, other.rows, strict=True)]
        return type(self)(rows, self.inputs, outputs)

    def mix(self, other: Self, weight: NumberLike) -> Self:
        """This channel with probability `weight`, the `other` one otherwise: a convex combination."""
        self._same_inputs(other)
        if self.outputs != other.outputs:
            raise DataError("outputs", other.outputs[:4], "they differ from the first channel's", str(self.outputs[:4]))
        share = rational(weight, name="weight")
        if not 0 <= share <= 1:
            raise NumberError("weight", weight, "it is a probability", "'1/2'")
        if self.rows is None or other.rows is None:
            mixed = float(share) * self.matrix + float(1 - share) * other.matrix
            return type(self)(mixed, self.inputs, self.outputs)
        pairs = zip(self.rows, other.rows, strict=True)
        return type(self)(
            [[a * share + b * (1 - share) for a, b in zip(row, twin, strict=True)] for row, twin in pairs],
            self.inputs,
            self.outputs,
        )

    def _same_inputs(self, other: Self) -> None:
        check_channel(other)
        if self.inputs != other.inputs:
            raise DataError("inputs", other.inputs[:4], "they differ from the first channel's", str(self.inputs[:4]))

    # -- priors ------------------------------------------------------------------------------------------------

    def push(self, prior: PriorLike) -> dict[Hashable, Any]:
        """How likely each output is, for a `prior` of the inputs: prior times matrix."""
        chances = read_prior(prior, self.inputs)
        if self.rows is None:
            import numpy as np

            return dict(zip(self.outputs, (np.array([float(p) for p in chances]) @ self.matrix).tolist(), strict=True))
        columns = zip(*self.rows, strict=True)
        return {output: _dot(chances, column) for output, column in zip(self.outputs, columns, strict=True)}

    def posterior(self, prior: PriorLike) -> dict[Hashable, dict[Hashable, Any]]:
        """The posterior of the inputs for each output that can come, for a `prior` (Bayes' rule)."""
        chances = read_prior(prior, self.inputs)
        found: dict[Hashable, dict[Hashable, Any]] = {}
        for at, (output, total) in enumerate(self.push(chances).items()):
            if total != 0:
                column = self.matrix[:, at].tolist() if self.rows is None else [row[at] for row in self.rows]
                parts = (_times(p, entry) / total for p, entry in zip(chances, column, strict=True))
                found[output] = dict(zip(self.inputs, parts, strict=True))
        return found

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StochasticMatrix):
            return NotImplemented
        if (self.inputs, self.outputs) != (other.inputs, other.outputs) or self.is_exact != other.is_exact:
            return False
        return self.rows == other.rows if self.rows is not None else bool((self.matrix == other.matrix).all())

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        kind = "exact" if self.is_exact else "floats"
        return f"{type(self).__name__}({len(self.inputs)} inputs, {len(self.outputs)} outputs, {kind})"


def check_channel(value: object) -> None:
    """Refuse what is not a channel."""
    if not isinstance(value, StochasticMatrix):
        raise DataError("channel", value, "it is not a channel", f"Channel({EXAMPLE})")


def _dot(left: Iterable[MatrixEntry], right: Iterable[MatrixEntry]) -> MatrixEntry:
    total: MatrixEntry = Fraction(0)
    for a, b in zip(left, right, strict=True):
        total = total + a * b
    return total


def _times(chance: Fraction, entry: Any) -> Any:
    return float(chance) * entry if isinstance(entry, float) else entry * chance


# -- reading -----------------------------------------------------------------------------------------------------------


def _read(matrix: MatrixLike) -> tuple[tuple[MatrixRow, ...] | None, Any]:
    import numpy as np

    if isinstance(matrix, np.ndarray) and matrix.dtype.kind == "f":
        return None, _checked_floats(matrix)
    if isinstance(matrix, np.ndarray):
        matrix = matrix.tolist()
    if not isinstance(matrix, Sequence) or isinstance(matrix, (str, bytes)) or not matrix:
        raise DataError("matrix", matrix, "a channel is a matrix with at least one row", EXAMPLE)
    listed: list[list[Any]] = [
        list(row) if isinstance(row, Iterable) and not isinstance(row, (str, bytes)) else [] for row in matrix
    ]
    if not listed[0] or any(len(row) != len(listed[0]) for row in listed):
        raise SizeError("matrix", [len(row) for row in listed[:4]], "its rows must have one length, above zero", EXAMPLE)
    if any(isinstance(entry, float) for row in listed for entry in row):
        floats = [[e if isinstance(e, float) else float(rational(e, name="matrix")) for e in row] for row in listed]
        return None, _checked_floats(np.array(floats))
    rows = tuple(
        tuple(e if isinstance(e, Ratio) else rational(e, name=f"matrix[{i}][{j}]") for j, e in enumerate(row))
        for i, row in enumerate(listed)
    )
    for i, row in enumerate(rows):
        for j, entry in enumerate(row):
            if entry < 0:
                raise NumberError(f"matrix[{i}][{j}]", entry, "a probability is not below zero", "'1/4'")
        total = _dot(row, [Fraction(1)] * len(row))
        if total != 1:
            why = f"it adds up to {float(total):.9g}, and an exact row must add up to exactly 1"
            raise DataError(f"matrix[{i}]", [str(e) for e in row[:4]], why, EXAMPLE)
    return rows, None


def _checked_floats(array: Any) -> Any:
    import numpy as np

    if array.ndim != 2 or array.size == 0:
        raise SizeError("matrix", array.shape, "a channel is a matrix with at least one row and one column", EXAMPLE)
    found = np.array(array, dtype=np.float64)
    if not np.isfinite(found).all():
        raise NumberError("matrix", "nan or inf", "a probability is a number", EXAMPLE)
    if (found < 0).any():
        raise NumberError("matrix", float(found.min()), "a probability is not below zero", EXAMPLE)
    sums = found.sum(axis=1)
    worst = int(np.argmax(np.abs(sums - 1)))
    if abs(sums[worst] - 1) > TOLERANCE:
        why = f"row {worst} adds up to {sums[worst]:.9g}; floats may be off by {TOLERANCE:g}"
        raise DataError("matrix", found[worst][:4].tolist(), why, EXAMPLE)
    found.setflags(write=False)
    return found


def _shape(floats: Any) -> tuple[int, int]:
    return floats.shape[0], floats.shape[1]


def _labels(labels: Iterable[Hashable] | None, size: int, name: str) -> tuple[Hashable, ...]:
    listed = tuple(range(size)) if labels is None else read_labels(labels, name)
    if len(listed) != size:
        raise SizeError(name, len(listed), f"the matrix has {size}", f"{size} labels")
    return listed
