"""Quantiles and private bounds."""
