"""Sum wages in whole cents, add exact noise, and go back to a number for the screen."""

import numpy as np

from dither import Lattice
from dither.noise import RoundedGaussian
from dither.numeric.lattice import add

wages = np.array([2310.50, 1875.00, 4120.25, float("nan"), 9e99])
cents = Lattice("0.01")

clamped = np.clip(cents.indices(wages), 0, cents.index(10_000))  # each person counts for 0 to 10,000; NaN is 0
total = int(clamped.sum())  # whole numbers: no order of summation changes this
noise = RoundedGaussian(sigma=cents.index(2_000))  # in cents, like the sum
answer = add(total, noise.sample())

print("An answer to publish:", cents.values([answer])[0])
