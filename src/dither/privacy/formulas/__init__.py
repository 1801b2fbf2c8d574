"""Formulas that guarantees and losses share: normal, binomial, randomized response."""
