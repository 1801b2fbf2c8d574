"""Means, variances and covariances from counters."""
