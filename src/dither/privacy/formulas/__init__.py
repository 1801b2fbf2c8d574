"""Formulas that promises and losses share."""
