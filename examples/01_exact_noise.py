"""Add noise to a count, and know beforehand how large it will be."""

from dither import ln
from dither.noise import DiscreteLaplace

visits = 128  # what the clinic knows and does not publish
law = DiscreteLaplace(rate=ln(3))  # epsilon = ln 3: a person's presence changes any probability by a factor of 3 at most

low, high = law.quantile("0.975")
print(f"95% of the time the noise is at most ±{high}; the chance of none at all is {law.pmf(0).upper:.3f}.")
print("An answer to publish:", visits + law.sample())
