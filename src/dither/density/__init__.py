"""Whole distributions: histograms, trees, quantiles, unknown keys, private samples, means and variances."""

from __future__ import annotations

from dither.lazy import attach

__all__, __getattr__, __dir__, _LAZY = attach(globals())
