"""Channels without their matrix give what the matrix gives."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dither import Flat, Geometric, Number, ln
from dither.channels.kernels import FlatKernel, GeometricKernel, GridKernel
from dither.errors import InputError


def agree(kernel, matrix):
    rng = np.random.default_rng(1)
    assert np.allclose(matrix.sum(axis=1), 1)
    vectors = rng.random((3, len(matrix)))
    assert np.allclose(kernel.push(vectors), vectors @ matrix, rtol=1e-12, atol=1e-14)
    assert np.allclose(kernel.pull(vectors), vectors @ matrix.T, rtol=1e-12, atol=1e-14)
    assert np.allclose(kernel.push_squares(vectors), vectors @ matrix**2, rtol=1e-11, atol=1e-14)
    assert np.allclose(kernel.push(vectors[0]), vectors[0] @ matrix, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("epsilon", [Number("0.05"), ln(2), Number(3), Number(800)])
def test_flat_and_geometric(epsilon):
    for size in (2, 3, 6, 7):
        agree(
            GeometricKernel(size, epsilon), Geometric(epsilon=epsilon, sensitivity=1, bounds=(0, size - 1)).channel().matrix
        )
        agree(FlatKernel(size, epsilon), Flat(list(range(size)), epsilon=epsilon).channel().matrix)
    place = np.arange(1000)
    a = math.exp(-float(epsilon))
    scale = np.where((place == 0) | (place == 999), 1 / (1 + a), (1 - a) / (1 + a))
    agree(GeometricKernel(1000, epsilon), a ** np.abs(place[:, None] - place) * scale)


def test_one_place_is_certain():
    assert GeometricKernel(1, Number(1)).push([0.25]).tolist() == [0.25]


@pytest.mark.parametrize(("width", "height"), [(1, 1), (5, 1), (4, 3), (7, 10)])
def test_grid(width, height):
    cells = np.array([(row, column) for row in range(height) for column in range(width)], dtype=float)
    far = np.hypot(*(cells[:, None] - cells[None]).transpose(2, 0, 1))
    weights = np.exp(-0.4 * far)
    agree(GridKernel(width, height, Number("0.4")), weights / weights.sum(axis=1, keepdims=True))


def test_bad_input_is_refused_with_words():
    for bad in (
        lambda: FlatKernel(1, 1),
        lambda: FlatKernel(3, 0),
        lambda: GeometricKernel(0, 1),
        lambda: GeometricKernel(3, float("nan")),
        lambda: GridKernel(3, 0, 1),
        lambda: GridKernel(3, 3, -1),
        lambda: GeometricKernel(3, 1).push([1, 2]),
        lambda: GeometricKernel(3, 1).push(1),
        lambda: GeometricKernel(3, 1).push("abc"),
        lambda: GeometricKernel(3, 1).push([1, 2, math.nan]),
        lambda: GeometricKernel(3, 1).push([[1], [1, 2]]),
    ):
        with pytest.raises(InputError, match="is refused"):
            bad()


@pytest.mark.parametrize("epsilon", ["1e-9", "0.001", "0.3", "20", "800"])
@pytest.mark.parametrize("size", [31, 32, 33, 64, 65, 2047, 2049, 70_001])
def test_long_rows_are_what_two_running_sums_give(size, epsilon):
    """f(i) = v(i) + a f(i - 1), step by step, from the left and from the right."""
    v, a = np.random.default_rng(2).random(size), math.exp(-float(epsilon))
    left, right = v.tolist(), v.tolist()
    for at in range(1, size):
        left[at] += a * left[at - 1]
        right[-1 - at] += a * right[-at]
    kernel = GeometricKernel(size, epsilon)
    ends = np.full(size, math.tanh(float(epsilon) / 2))
    ends[[0, -1]] = 1 / (1 + a)
    assert np.allclose(kernel.push(v), (np.array(left) + np.array(right) - v) * ends, rtol=1e-11, atol=0)
    assert kernel.push(v).sum() == pytest.approx(v.sum(), rel=1e-11)
    assert kernel.pull(np.ones(size)) == pytest.approx(1, rel=1e-11)
