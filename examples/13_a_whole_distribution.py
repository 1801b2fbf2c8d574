"""Wages of a small town: the whole distribution, its deciles, its mean, made-up rows, and which employers may be named."""

import numpy as np

from dither import density

rng = np.random.default_rng(1)
wages = rng.lognormal(8, 0.5, 4000)  # made up; one row a person
employers = [f"employer {k}" for k in rng.zipf(1.6, 4000) if k < 10**6]

# Running sums, with a band that holds for all of them at once.
bins = density.Bins.even(0, 20_000, 400)
plan = density.cdf(bins, epsilon="0.5")
print(plan.explain().splitlines()[-1])
released = plan.release(bins.count(wages))
middle = released.quantile(0.5)
print(f"median wage, truth {np.median(wages):,.0f}      {middle.estimate:,.0f} ({middle.low:,.0f} to {middle.high:,.0f})")

# Nine deciles at once, on a finer line.
fine = density.Bins.even(0, 20_000, 4000)
deciles = density.Quantiles(bins=fine, qs=[f"0.{k}" for k in range(1, 10)], epsilon="0.5")
print("deciles                       ", [round(cut) for cut in deciles.release(fine.count(wages))])

# Mean and variance: every counter has the whole epsilon.
moments = density.Moments(low=0, high=20_000, degree=2, epsilon="0.5")
summary = moments.release(moments.count(wages))
low, high = summary.mean_interval("0.95")
print(f"mean wage, truth {wages.mean():,.0f}        {summary.mean:,.0f} ({low:,.0f} to {high:,.0f})")

# Made-up rows that are close to the real ones.
coarse = density.Bins.even(0, 20_000, 40)
sampler = density.KolmogorovSmirnov(bins=coarse, rows=4000, points=256, epsilon="0.5")
rows = sampler.synthetic(sampler.release(coarse.count(wages)))
print(f"256 made-up wages, median       {np.median(rows):,.0f}")

# Which employers may be named: nobody listed them beforehand, so one person must not be able to put one on the list.
named = density.keys(epsilon="0.5", delta="1e-6", max_keys=1)
print(named.explain().splitlines()[1])
shown = named.release(named.count(list(enumerate(employers))))
print("employers that may be named   ", len(shown), "of", len(set(employers)))
