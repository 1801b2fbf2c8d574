"""Noise in every cell: the exact law, the exact error, and running sums."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

from dither import ln
from dither.density import Histogram
from dither.density.histograms.counts import LARGEST_COUNT
from dither.density.histograms.histogram import count_neighbours
from dither.errors import DataError, InputError, NumberError, SizeError, UnitError
from dither.privacy.unit import Unit
from dither.testing import check_mechanism
from tests.density.exact import ADD, REPLACE, UNITS, check_claim


@pytest.mark.parametrize("unit", [ADD, REPLACE])
@pytest.mark.parametrize(("cells", "rate", "cutoff"), [(1, 2, "1e-20"), (2, 4, "1e-14"), (3, 7, "1e-10")])
def test_the_exact_law_keeps_the_promise(cells, rate, cutoff, unit):
    epsilon = rate * (2 if "replace" in unit else 1)
    mechanism = Histogram(cells=cells, epsilon=epsilon, unit=unit)
    if cells == 3:
        check_claim(mechanism, mechanism.release, cutoff=cutoff)
        return
    report = check_mechanism(mechanism, cutoff=cutoff)
    if cells == 2:
        assert report.epsilon == pytest.approx(epsilon, rel=1e-6)  # attained: no smaller one is true


@pytest.mark.parametrize("unit", [ADD, REPLACE])
def test_the_exact_law_keeps_the_promise_with_gaussian_noise(unit):
    check_mechanism(Histogram(cells=2, rho=2, unit=unit), cutoff="1e-12")
    check_mechanism(Histogram(cells=1, rho="0.5", unit=unit))


def test_the_noise_is_that_of_one_or_two_moved_cells():
    for unit in UNITS:
        assert Histogram(cells=5, epsilon=1, unit=unit).noise.sensitivity == (2 if "replace" in unit else 1)
    assert Histogram(cells=5, epsilon=1).noise.sensitivity == 1
    assert Histogram(cells=5, epsilon=1, unit=REPLACE).noise.sensitivity == 2
    assert Histogram(cells=5, rho="0.5").noise.sigma2 == 1
    assert Histogram(cells=5, rho="0.5", unit=REPLACE).noise.sigma2 == 2
    assert Histogram(cells=5, epsilon=ln(3)).guarantee.epsilon() == pytest.approx(math.log(3))
    assert Histogram(cells=5, rho="0.5").guarantee.rho() == pytest.approx(0.5)


def test_neighbours_hold_moves_additions_and_bounds():
    pairs = list(count_neighbours(3, Unit.REPLACE_ONE))
    assert ([0, 0, 0], [0, 1, 0]) in pairs  # a person who was in no cell before
    assert ([3, 4, 3], [3, 3, 4]) in pairs
    assert any(LARGEST_COUNT + 1 in other for _, other in pairs)
    assert not any(sum(one) == sum(other) for one, other in count_neighbours(3, Unit.ADD_REMOVE))


def tail_of_running_sums(law, cells, width):
    """P(some running sum lies beyond the width), by convolution with a wall on both sides."""
    reach = 60
    masses = np.array([float(law.mass(k).upper()) for k in range(-reach, reach + 1)])
    inside = np.zeros(2 * width + 1)
    inside[width] = 1.0
    for _ in range(cells):
        inside = np.convolve(inside, masses)[reach : reach + 2 * width + 1]
    return 1 - inside.sum()


@pytest.mark.parametrize("price", [{"epsilon": 1}, {"epsilon": 3}, {"rho": "0.5"}, {"rho": 8}])
@pytest.mark.parametrize("cells", [1, 2, 7, 30])
def test_all_running_sums_stay_within_their_error(cells, price):
    mechanism = Histogram(cells=cells, **price)
    for confidence in ("0.5", "0.9", "0.95", "0.999"):
        width = mechanism.prefix_error(confidence)
        assert tail_of_running_sums(mechanism.noise.law, cells, width) <= 1 - float(confidence) + 1e-12
    # and not much wider than need be: half of it would not do
    half = mechanism.prefix_error("0.95") // 2
    if half > 2 and price != {"rho": 8}:  # so little noise that its proxy is three times its variance
        assert tail_of_running_sums(mechanism.noise.law, cells, half) > 0.05


@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": "0.5"}])
def test_one_range_and_all_ranges(price):
    mechanism = Histogram(cells=20, **price)
    law, reach = mechanism.noise.law, 80
    masses = np.array([float(law.mass(k).upper()) for k in range(-reach, reach + 1)])
    sums = np.array([1.0])
    for length in range(1, 21):
        sums = np.convolve(sums, masses)
        middle, width = sums.size // 2, mechanism.range_error("0.9", cells=length)
        assert sums[: middle - width].sum() + sums[middle + width + 1 :].sum() <= 0.1
    assert mechanism.range_error("0.9", cells=1) <= mechanism.range_error("0.9", cells=20) <= mechanism.prefix_error("0.9")
    assert mechanism.prefix_error("0.9") <= mechanism.range_error("0.9") <= 2 * mechanism.prefix_error("0.9")
    with pytest.raises(SizeError):
        mechanism.range_error("0.9", cells=21)


def test_one_cell_is_exact_in_every_kind_of_error():
    mechanism = Histogram(cells=1, epsilon=ln(3))
    assert mechanism.error("0.95") == mechanism.prefix_error("0.95") == mechanism.range_error("0.95", cells=1) == 3


def test_variance_is_that_of_the_law():
    q = math.exp(-1)
    assert Histogram(cells=3, epsilon=1).variance == pytest.approx(2 * q / (1 - q) ** 2)
    assert Histogram(cells=3, epsilon=5000).variance == pytest.approx(0)
    assert Histogram(cells=3, rho="0.005").variance == pytest.approx(100 + 1 / 12)


def test_release_truth_and_copies():
    mechanism = Histogram(cells=3, epsilon=1000)
    assert mechanism.release([5, -7, 10**400]).tolist() == [5, 0, LARGEST_COUNT]
    assert mechanism.truth([5, -7, 10**400]) == [5, 0, LARGEST_COUNT]
    assert mechanism.release(np.array([0, 0, 0], dtype=np.uint8)).dtype == np.int64
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism
    assert hash(mechanism) == hash(Histogram(cells=3, epsilon=1000))


@pytest.mark.parametrize(
    ("wrong", "kind"),
    [
        ({"cells": 0, "epsilon": 1}, NumberError),
        ({"cells": 2**25, "epsilon": 1}, SizeError),
        ({"cells": 2.5, "epsilon": 1}, NumberError),
        ({"cells": 3}, NumberError),
        ({"cells": 3, "epsilon": 1, "rho": 1}, NumberError),
        ({"cells": 3, "epsilon": 0}, NumberError),
        ({"cells": 3, "rho": -1}, NumberError),
        ({"cells": 3, "epsilon": float("nan")}, NumberError),
        ({"cells": 3, "epsilon": Fraction(1, 2**70)}, NumberError),
        ({"cells": 3, "epsilon": 1, "unit": "one"}, UnitError),
    ],
)
def test_what_is_refused(wrong, kind):
    with pytest.raises(kind):
        Histogram(**wrong)


def test_refusals_of_counts_go_by_kind_and_shape():
    mechanism = Histogram(cells=2, epsilon=1)
    for wrong in ([1], [1, 2, 3], [[1, 2]], [1.5, 2], [True, False], "ab", None, [math.nan, 1]):
        with pytest.raises((DataError, SizeError)):
            mechanism.release(wrong)
    for confidence in (0, 1, -1, 2, math.nan, "x"):
        with pytest.raises(InputError):
            mechanism.prefix_error(confidence)
