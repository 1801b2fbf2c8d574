"""Sums of noise: the moments that the bound rests on, and that it holds."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from dither.density.histograms.noise_tails import geometric_cumulant, proxy, single_widths, sum_width, variance
from dither.noise.gaussian import RoundedGaussian
from dither.noise.laplace import DiscreteLaplace
from dither.numeric.number import Number

LEVEL = Fraction(95, 100)


def log_moment(law, s, reach):
    masses = [float(law.mass(k).upper()) for k in range(min(reach, 700 // max(1, math.ceil(s))))]
    return math.log(masses[0] + sum(2 * math.cosh(s * k) * mass for k, mass in enumerate(masses[1:], start=1)))


@pytest.mark.parametrize("rate", [0.25, 1, 4])
def test_the_geometric_moment_is_exact_and_grows_faster_than_squares(rate):
    law = DiscreteLaplace(rate=rate)
    for tilt in (0.05, 0.3, 0.6):
        assert log_moment(law, rate * tilt, 400) == pytest.approx(geometric_cumulant(rate, tilt), rel=1e-6)
    shares = [geometric_cumulant(rate, tilt) / tilt**2 for tilt in np.linspace(0.01, 0.99, 50)]
    assert shares == sorted(shares)


@pytest.mark.parametrize("sigma2", ["0.0001", "0.01", "0.04", "0.1", "0.25", "0.5", "1", "9"])
def test_rounded_gaussian_noise_has_no_heavier_tails_than_its_proxy(sigma2):
    law = RoundedGaussian(sigma2=sigma2)
    for s in (0.001, 0.01, 0.1, 0.5, 1, 2, 4, 8):
        assert log_moment(law, s, 120) <= proxy(law.sigma2) * s * s / 2 * (1 + 1e-9) + 1e-15
    if law.sigma2 >= 1:  # and it is nearly the variance
        assert proxy(law.sigma2) == pytest.approx(float(law.sigma2) + 1 / 12, rel=1e-6)
        assert variance(law) == pytest.approx(float(law.sigma2) + 1 / 12)


@pytest.mark.parametrize(
    "law", [DiscreteLaplace(2), RoundedGaussian(sigma2=4), DiscreteLaplace("0.2"), RoundedGaussian(sigma2="0.02")]
)
@pytest.mark.parametrize("count", [1, 4, 50])
def test_weighted_sums_stay_within_the_width(law, count):
    """Weights of 1 and of one half, on a lattice of halves: the law of the sum by convolution."""
    reach = 60
    whole = np.zeros(4 * reach + 1)
    whole[::2] = [float(law.mass(k).upper()) for k in range(-reach, reach + 1)]
    half = np.array([float(law.mass(k).upper()) for k in range(-reach, reach + 1)])
    sums = np.array([1.0])
    for at in range(count):
        sums = np.convolve(sums, whole if at % 2 else half)
    squares = sum(1.0 if at % 2 else 0.25 for at in range(count))
    places = (np.arange(sums.size) - sums.size // 2) / 2
    for level in (Fraction(1, 2), LEVEL, Fraction(999, 1000)):
        width = sum_width(law, squares=squares, level=level)
        assert sums[np.abs(places) >= width].sum() <= 1 - level + 1e-12


def test_events_and_lists_share_the_missing_probability():
    law = DiscreteLaplace(3)
    assert sum_width(law, squares=4.0, events=10, level=LEVEL) == pytest.approx(
        sum_width(law, squares=np.full(10, 4.0), level=LEVEL), rel=1e-9
    )
    assert sum_width(law, squares=4.0, level=LEVEL) < sum_width(law, squares=np.array([4.0, 1.0]), level=LEVEL)
    assert sum_width(law, squares=np.array([4.0, 1.0]), level=LEVEL) < sum_width(law, squares=4.0, events=2, level=LEVEL)
    wide, narrow = (sum_width(law, squares=v, events=1, level=LEVEL) for v in (1e6, 1e4))
    assert wide == pytest.approx(10 * narrow, rel=0.02)  # a normal variable, from there on
    tiny = 1 - Fraction(1, 10**60)
    assert sum_width(RoundedGaussian(sigma2=1), squares=1.0, level=tiny) == pytest.approx(
        math.sqrt(2 * (1 + 1 / 12) * math.log(2e60)), rel=1e-5
    )


@pytest.mark.parametrize("draws", [1, 2, 7, 40])
@pytest.mark.parametrize("level", ["0.5", "0.8", "0.95", "0.999"])
def test_one_sum_by_itself_is_beyond_its_width_no_more_often_than_is_said(draws, level):
    """Exact laws of sums of geometric noise with weights of 1, by convolution; both sides."""
    law = DiscreteLaplace(rate=Number("0.01"))
    far = 6000
    masses = np.exp(-0.01 * np.abs(np.arange(-far, far + 1)))
    masses *= np.tanh(0.005)
    size = 2 ** int(np.ceil(np.log2(2 * far * draws + 1)))
    total = np.fft.irfft(np.fft.rfft(masses, size) ** draws, size)[: 2 * far * draws + 1]
    (width,) = single_widths(law, squares=np.array([float(draws)]), draws=draws, level=Fraction(level))
    outside = total[np.abs(np.arange(-far * draws, far * draws + 1)) >= width].sum()
    assert outside <= float(1 - Fraction(level)) + 1e-9
    assert draws > 1 or outside >= float(1 - Fraction(level)) / 6


def test_a_normal_sum_has_normal_widths_where_rounding_is_nothing():
    law = RoundedGaussian(sigma2=10**12)
    (width,) = single_widths(law, squares=np.array([4.0]), draws=100, level=Fraction(19, 20))
    assert width == pytest.approx(1.959964 * 2e6, rel=1e-4)
    (rough,) = single_widths(RoundedGaussian(sigma2=1), squares=np.array([4.0]), draws=100, level=Fraction(19, 20))
    assert 1.96 * 2 < rough < 2.9 * 2
    assert np.isfinite(single_widths(law, squares=np.array([1.0]), draws=3, level=1 - Fraction(1, 10**400))).all()
