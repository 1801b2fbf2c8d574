"""Gradients of single rows as whole numbers of bounded length, and their sums, exactly.

    g   the gradient of the loss of one row, of all weights, in floats: whatever torch computes
    C   the clip
    v   trunc(g 2^14 (1 - 2^-9) / max(|g|, C)), and 0 where that is longer than 2^14, or no number: steps of 2^-14 C

Theorem. sum v^2 <= 4^14 for every row whatsoever, in whole numbers, and the sum over the rows of a sample is exact in any
order. So one row adds a vector of L2 norm at most 2^14 to what the others add.

Proof. A float that was truncated is a whole number, an infinity or NaN. Let S be the sum of squares of at most 2^12 whole
numbers and s the square of their norm as floats have it: in whatever order, a term is rounded 2^12 + 3 times at most, each
time by a part of 2^-24, so S <= s (1 + 2^-11). A row counts if these add up to no more than 4^14; infinities and NaN compare
as false. Otherwise it counts as zeros. Of a row that counts |v_j| <= 2^14, so floats add up 512 of them exactly, in
any order (2^23 < 2^24), and 64-bit integers the rest.

What is *not* proved is that g does not depend on the other rows of a chunk: kernels of floats may round in another way at
another place (`row_independence.py`).

Rows are taken in chunks of one shape, the last one filled up with zeros that are not added: a kernel never sees another
shape. The 2^-9 is for the norm of g in floats, and for the 2^-11 above: no row becomes zeros by rounding alone, up to 2^15
weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.learn.base.cells import Floats, Integers
from dither.learn.networks.modules import torch_library, trained_names

BITS = 14
LENGTH = 2**BITS
SPARE = 1 - 2.0**-9
MOST_CHUNK = 512
BLOCK, GROWTH = 2**12, 1 + 2.0**-11


class LatticeGradients:
    """Sums of gradients of the cross-entropy of a network, row by row."""

    def __init__(self, network: Any, *, clip: float, chunk: int) -> None:
        torch = torch_library()
        assert 1 <= chunk <= MOST_CHUNK, "sums of a chunk are exact"
        self._torch, self._network, self._clip, self.chunk = torch, network, clip, chunk
        self._rooms: dict[int, Any] = {}
        self._names = trained_names(network)
        found = dict(network.named_parameters())
        self._shapes = [tuple(found[name].shape) for name in self._names]
        self._fixed = {name: value.detach() for name, value in found.items() if name not in self._names}
        self._fixed |= dict(network.named_buffers())
        self.size = sum(int(np.prod(shape)) for shape in self._shapes)
        self._by_row = torch.func.vmap(torch.func.grad(self._loss), in_dims=(None, 0, 0), randomness="error")

    def _loss(self, weights: dict[str, Any], vector: Any, label: Any) -> Any:
        scores = self._torch.func.functional_call(self._network, {**self._fixed, **weights}, (vector[None],))
        return self._torch.nn.functional.cross_entropy(scores, label[None])

    def sums(self, weights: NDArray[np.float32], inputs: NDArray[np.float32], labels: Integers) -> Integers:
        """The sum of v over rows, flat."""
        total = np.zeros(self.size, dtype=np.int64)
        for parts, real in self._chunks(weights, inputs, labels):
            here = [part[:real].sum(axis=0, dtype=np.float32) for part in parts]  # exact below 2^24
            total += np.concatenate(here).astype(np.int64)
        return total

    def rows(self, weights: NDArray[np.float32], inputs: NDArray[np.float32], labels: Integers) -> Integers:
        """v of each row: what `sums` adds up."""
        found = [
            np.concatenate([part[:real] for part in parts], axis=1).astype(np.int64)
            for parts, real in self._chunks(weights, inputs, labels)
        ]
        return np.concatenate([np.zeros((0, self.size), dtype=np.int64), *found])

    def _chunks(self, weights: NDArray[np.float32], inputs: NDArray[np.float32], labels: Integers) -> Any:
        """v of the rows of each chunk, a matrix for each tensor of weights, and how many of the rows are real."""
        torch, chunk = self._torch, self.chunk
        named, at = {}, 0
        for name, shape in zip(self._names, self._shapes, strict=True):
            count = int(np.prod(shape))
            named[name] = torch.from_numpy(weights[at : at + count].reshape(shape).copy())
            at += count
        vectors, classes = np.zeros((chunk, inputs.shape[1]), dtype=np.float32), np.zeros(chunk, dtype=np.int64)
        for start in range(0, len(inputs), chunk):
            real = min(chunk, len(inputs) - start)
            vectors[:real], classes[:real] = inputs[start : start + real], labels[start : start + real]
            vectors[real:], classes[real:] = 0.0, 0
            found = self._by_row(named, torch.from_numpy(vectors), torch.from_numpy(classes))
            yield self._whole([found[name].detach().reshape(chunk, -1) for name in self._names]), real

    def _room(self, place: int, like: Any) -> Any:
        """Memory for v of one tensor of weights; the next chunk has the same: new pages would take half of the time."""
        if place not in self._rooms or self._rooms[place].shape != like.shape:
            self._rooms[place] = self._torch.empty(tuple(like.shape), dtype=self._torch.float32)
        return self._rooms[place]

    def _whole(self, parts: list[Any]) -> list[NDArray[np.float32]]:
        """v of gradients g, given by tensors of weights; valid until the next call."""
        torch = self._torch
        norm = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(part, dim=1) for part in parts]), dim=0)
        factor = (LENGTH * SPARE / torch.clamp(norm, min=self._clip))[:, None]  # clamp keeps NaN
        whole = []
        for place, part in enumerate(parts):
            scaled = torch.mul(part, factor, out=self._room(place, part)).numpy()
            whole.append(np.trunc(scaled, out=scaled))  # ten times as fast as torch's
        kept = self._squares(whole) <= LENGTH**2
        if not kept.all():
            whole = [np.where(kept[:, None], part, np.float32(0)) for part in whole]
        return whole

    def _squares(self, whole: list[NDArray[np.float32]]) -> Floats:
        """What the squares of the norms of rows are at most."""
        torch, total = self._torch, np.zeros(len(whole[0]))
        for part in whole:
            for start in range(0, part.shape[1], BLOCK):
                norm = torch.linalg.vector_norm(torch.from_numpy(part[:, start : start + BLOCK]), dim=1)
                total += norm.numpy().astype(np.float64) ** 2 * GROWTH
        return total
