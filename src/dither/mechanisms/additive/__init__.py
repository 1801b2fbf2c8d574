"""Additive noise on numbers: geometric, Laplace, staircase, Gaussian and discrete Gaussian."""
