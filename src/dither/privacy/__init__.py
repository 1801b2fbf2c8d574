"""Differential privacy: what a guarantee is, and how guarantees add up."""
