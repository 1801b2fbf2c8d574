"""The premise of networks: the gradient of a row does not depend on the other rows, nor on its place among them.

    v_i(S)   what row i of the sample S adds, on the lattice (`lattice_gradients.py`)
    t        the slack, declared, in steps of the lattice

Premise. For every sample S and row x, |sum over i in S of v_i(S with x) - v_i(S)|_2 <= t.

Theorem. Under the premise one row more or less moves the sum over the sample by at most s = 2^14 + t in L2 norm.

Proof. The difference is v_x, of norm at most 2^14, and the sum of the premise.

The program hands torch one row at a time (`vmap` of a function of one row), so in real numbers the premise holds with t = 0
for every network without a state of its own. Floats are another matter: a kernel may add in another order where a row stands
at another place of its chunk. That cannot be proved; it is tried at each fit before the charge, on made-up rows and two sets
of weights, and is refused where more than the slack was seen. docs/known-limits.md says so.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import DataError
from dither.learn.base.cells import Integers
from dither.learn.networks.lattice_gradients import LatticeGradients
from dither.learn.networks.modules import flat_weights, torch_library

MOST_NUMBERS = 2**24  # of gradients of made-up rows: more than a chunk of them where the network is not large
WAYS = "layers that look at one row alone, a larger slack, or chunk=1"


def check_network(network: Any, gradients: LatticeGradients, *, width: int, classes: int, slack: int) -> int:
    """How far one made-up row moved what others add, in steps; refused where it is more than the slack."""
    inputs, labels = made_up_rows(width, classes, _count(gradients))
    start = flat_weights(network)
    buffers = [value.clone() for value in network.buffers()]
    _check_output(network, inputs, classes)
    rng, worst = np.random.default_rng(1), 0
    for weights in (start, start + rng.normal(0, 0.1, start.shape).astype(np.float32)):
        try:
            moved = largest_move(gradients, weights, inputs, labels)
        except Exception as error:  # made-up rows alone: whatever is told is public
            told = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
            why = f"torch cannot compute the gradient of one row of it: {told}"
            raise DataError("network", type(network).__name__, why, WAYS) from error
        worst = max(worst, moved)
    if any(not bool((one == other).all()) for one, other in zip(buffers, network.buffers(), strict=True)):
        raise DataError("network", type(network).__name__, "it keeps a state that rows change", WAYS)
    if worst > slack:
        why = f"one row moved what others add by {worst} steps of the lattice, and the slack is {slack}"
        raise DataError("network", type(network).__name__, why, WAYS)
    return worst


def _count(gradients: LatticeGradients) -> int:
    return max(3, min(gradients.chunk + gradients.chunk // 2 + 1, MOST_NUMBERS // gradients.size))


def largest_move(gradients: LatticeGradients, weights: NDArray[np.float32], inputs: Any, labels: Integers) -> int:
    """The largest L2 norm by which what others add moved, rounded up, over rows that were removed or replaced."""
    everybody, count = np.arange(len(inputs)), len(inputs)
    full = gradients.rows(weights, inputs, labels)
    moves = [full - gradients.rows(weights, inputs, labels)]  # the same again: a state would show
    for gone in sorted({0, count // 2, count - 1}):
        kept = everybody != gone
        moves.append(full[kept] - gradients.rows(weights, inputs[kept], labels[kept]))
        for value in (np.nan, np.float32(3e38), 0.0):
            other = inputs.copy()
            other[gone] = value
            moves.append((full - gradients.rows(weights, other, labels))[kept])
    moves.append(full[:1] - gradients.rows(weights, inputs[:1], labels[:1]))  # one row beside nobody
    moves.append(full[::-1] - gradients.rows(weights, inputs[::-1].copy(), labels[::-1].copy()))
    square = max(int((move.sum(axis=0).astype(object) ** 2).sum()) for move in moves)
    return int(np.ceil(np.sqrt(square)))


def made_up_rows(width: int, classes: int, count: int) -> tuple[NDArray[np.float32], Integers]:
    """Rows within the bounds, corners among them, the same at every fit."""
    rng = np.random.default_rng(7)
    inputs = rng.uniform(-1, 1, (count, width))
    inputs[1::5] = np.sign(inputs[1::5])
    return inputs.astype(np.float32), np.arange(count, dtype=np.int64) % classes


def _check_output(network: Any, inputs: NDArray[np.float32], classes: int) -> None:
    torch = torch_library()
    try:
        with torch.no_grad():
            shape = tuple(network(torch.from_numpy(inputs[:1].copy())).shape)
    except Exception as error:
        told = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        why = f"it does not take one row of {inputs.shape[1]} numbers: {told}"
        raise DataError("network", type(network).__name__, why, "torch.nn.Unflatten first, for images") from error
    if shape != (1, classes):
        why = f"it gives shape {shape} for one row, and there are {classes} classes"
        raise DataError("network", type(network).__name__, why, f"a last layer of {classes} outputs")
